"""Loops over points, compiled ahead of time; the comments of the C sources describe each."""

from typing import Any

LANES: int
#: Sets of loops that this processor runs, the fastest first.
variants: tuple[str, ...]
#: The types of the arguments of each loop, as in kernels.h.
arguments: dict[str, str]

def select(name: str) -> str: ...
def set_blas(sgemm: Any) -> None: ...

# rows.c
def kth_in_rows(indptr: Any, data: Any, k: int, kth: Any) -> int: ...

# cells.c
def find_candidates(
    queries: Any, centers: Any, start: Any, points: Any, sizes: Any, offsets: Any, visits: int, count: int,
    near: Any, place: Any,
) -> int: ...  # fmt: skip

# rerank.c
def rerank(
    Y: Any, X: Any, which: Any, candidates: Any, near: Any, count: int, rest_of_query: Any,
    rest_of_point: Any, doubt_of_query: Any, doubt_of_point: Any, reach: Any, rank: Any, length: Any,
    number: Any, found: Any, row: Any, column: Any, within: Any,
) -> int: ...  # fmt: skip

# nearest.c
def nearest_exact(
    Y: Any, X: Any, rough: Any, base: Any, slack: Any, rank: Any, length: Any, number: Any
) -> int: ...
def nearest_or_within(
    Y: Any, X: Any, rough: Any, base: Any, slack: Any, rank: Any, radii: Any, k: int, first: int,
    indptr: Any, column: Any, near: Any,
) -> int: ...  # fmt: skip
def closest_to_groups(
    Y: Any, X: Any, rough: Any, base: Any, slack: Any, starts: Any, length: Any, near: Any, far: Any
) -> int: ...

# select.c
def smallest_values_in_rows(values: Any, length: Any, number: Any) -> int: ...
def update_smallest(values: Any, first: int, filled: int, smallest: Any, number: Any) -> int: ...
def closest_between_groups(
    values: Any, rows: Any, row_group: Any, group: Any, length: Any, near: Any, far: Any
) -> int: ...

# ranks.c
def count_below(rows: Any, values: Any, counts: Any) -> int: ...

# descent.c
def forces(
    first: int,
    last: int,
    points: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    nodes: Any,
    lower: Any,
    step: float,
    repulsion: Any,
    slopes: Any,
    pulls: Any,
) -> int: ...
def move(
    points: Any,
    slopes: Any,
    pulls: Any,
    push: float,
    pull: float,
    rate: float,
    momentum: float,
    longest: float,
    gains: Any,
    moves: Any,
) -> int: ...

# fuzzy.c
def fuzzy_widths(lengths: Any, offsets: Any, target: float, widths: Any) -> int: ...
def concordance(first: Any, second: Any, start: int, stop: int, before: Any, after: Any) -> int: ...

# hashing.c
def column_multipliers(multipliers: Any) -> int: ...
def hash_dense(bits: Any, multipliers: Any, hashes: Any) -> int: ...
def hash_sparse(indptr: Any, indices: Any, bits: Any, multipliers: Any, hashes: Any) -> int: ...

# layout.c
def place_on_map(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    points: Any,
    nodes: Any,
    lower: Any,
    step: float,
    flat: bool,
    tol: float,
    max_iter: int,
    places: Any,
) -> int: ...

# majorize.c
def place_at_distances(targets: Any, points: Any, places: Any, tol: float, max_iter: int) -> int: ...

# mixtures.c
def count_members(exponents: Any, threshold: float, top: Any, total: Any, counts: Any) -> int: ...
def fill_members(
    exponents: Any,
    threshold: float,
    top: Any,
    totals: Any,
    indptr: Any,
    columns: Any,
    shares: Any,
    kept: Any,
) -> int: ...
def mix_affine(
    X: Any, indptr: Any, columns: Any, shares: Any, centers: Any, slopes: Any, offsets: Any, out: Any
) -> int: ...
def mark_members(rows: Any, indptr: Any, columns: Any, marked: Any) -> int: ...
def local_coordinates(
    rows: Any,
    X: Any,
    indptr: Any,
    columns: Any,
    shares: Any,
    centers: Any,
    projections: Any,
    plain: bool,
    slot: Any,
    out: Any,
) -> int: ...

# parzen.c
def parzen_log_densities(
    Y: Any,
    X: Any,
    variances: Any,
    directions: Any,
    dimensions: Any,
    noises: Any,
    log_volumes: Any,
    out: Any,
) -> int: ...

# splines.c
def spread(points: Any, lower: Any, step: float, mass: Any) -> int: ...
def spline_values(nodes: Any, lower: Any, step: float, points: Any, values: Any) -> int: ...

# graphs.c
def sorted_lists(length: Any, number: Any, shortest: float, indices: Any, data: Any) -> int: ...
def transpose_columns(
    indptr: Any, indices: Any, data: Any, first: int, last: int, place: Any, out_indices: Any, out_data: Any
) -> int: ...
def breadth_first(indptr: Any, indices: Any, start: int, order: Any, depth: Any, widest: Any) -> int: ...
def count_union(
    indptr: Any, indices: Any, other_indptr: Any, other_indices: Any, first: int, last: int, count: Any
) -> int: ...
def merge_rows(
    indptr: Any,
    indices: Any,
    data: Any,
    other_indptr: Any,
    other_indices: Any,
    other_data: Any,
    first: int,
    last: int,
    out_indptr: Any,
    out_indices: Any,
    out_data: Any,
) -> int: ...

# paths.c
def shortest_paths(
    indptr: Any,
    indices: Any,
    lengths: Any,
    seed_start: Any,
    seed_vertex: Any,
    seed_length: Any,
    distance: Any,
) -> int: ...
def update_nearest_source(
    indptr: Any, indices: Any, lengths: Any, source: int, step: float, nearest: Any
) -> int: ...
def shortest_through(indptr: Any, indices: Any, lengths: Any, onward: Any, out: Any) -> int: ...
def store_rows(distance: Any, rank: Any, rows: Any, out: Any) -> int: ...
def half_square_products(
    indptr: Any, indices: Any, lengths: Any, distance: Any, V: Any, single: int, out: Any
) -> int: ...

# elimination.c
def minimum_degree(indptr: Any, indices: Any, max_cost: float, near: Any, order: Any, count: Any) -> int: ...
def depth_first(
    near: Any, order: Any, start: Any, new_order: Any, rank: Any, new_start: Any, up: Any
) -> int: ...
def eliminate(
    indptr: Any,
    indices: Any,
    lengths: Any,
    order: Any,
    rank: Any,
    start: Any,
    up: Any,
    weight: Any,
    core: Any,
) -> int: ...
def sweep(
    start: Any,
    up: Any,
    weight: Any,
    core: Any,
    seed_start: Any,
    seed_vertex: Any,
    seed_length: Any,
    distance: Any,
) -> int: ...

# dense_paths.c
def eliminate_within(w: Any, begin: int, end: int) -> int: ...
def eliminate_from(w: Any, begin: int, end: int, first: int, last: int, tile: int) -> int: ...
def later_edges(w: Any, begin: int, end: int, start: Any, via: Any, length: Any) -> int: ...
def distances_to(
    d: Any, begin: int, end: int, start: Any, via: Any, length: Any, left: int, right: int, block: int
) -> int: ...
def distances_within(d: Any, begin: int, end: int, start: Any, via: Any, length: Any) -> int: ...

# hierarchy.c
def reorder_rows(
    indptr: Any,
    indices: Any,
    data: Any,
    order: Any,
    rank: Any,
    first: int,
    last: int,
    out_indptr: Any,
    out_indices: Any,
    out_data: Any,
) -> int: ...
def group_vertices(indptr: Any, indices: Any, data: Any, strength: float, group: Any) -> int: ...
def product_size(a_indptr: Any, a_indices: Any, b_indptr: Any, first: int, last: int) -> int: ...
def multiply_sparse(
    a_indptr: Any,
    a_indices: Any,
    a_data: Any,
    b_indptr: Any,
    b_indices: Any,
    b_data: Any,
    n_columns: int,
    first: int,
    last: int,
    count: Any,
    indices: Any,
    data: Any,
) -> int: ...
def smooth_rows(indptr: Any, indices: Any, data: Any, group: Any, values: Any, step: Any) -> int: ...
def first_residual(
    indptr: Any, indices: Any, data: Any, step: Any, B: Any, first: int, last: int, out: Any
) -> int: ...
def correct_rows(
    indptr: Any, indices: Any, data: Any, step: Any, B: Any, Y: Any, first: int, last: int, out: Any
) -> int: ...
def relax_rows(
    indptr: Any, indices: Any, data: Any, step: Any, B: Any, X: Any, first: int, last: int, out: Any
) -> int: ...

# gradients.c
def products_with(K: Any, Z: Any, R: Any, S: Any, first: int, last: int, out: Any) -> int: ...
def next_direction(K: Any, Z: Any, inside: Any, forward: Any, first: int, last: int, P: Any) -> int: ...
def subtract_scaled(P: Any, values: Any, first: int, last: int, Q: Any) -> int: ...
def advance_solution(
    K: Any, P: Any, Q: Any, inside: Any, length: Any, first: int, last: int, X: Any, R: Any, S: Any, out: Any
) -> int: ...
def divide_columns(B: Any, scale: Any, first: int, last: int, out: Any) -> int: ...
def multiply_columns(B: Any, scale: Any, first: int, last: int, out: Any) -> int: ...

# lanczos.c
def multiply_shifted(
    indptr: Any, indices: Any, data: Any, bound: float, V: Any, row: int, length: float, w: Any, products: Any
) -> int: ...
def project_out(V: Any, count: int, w: Any, parts: Any, square: Any) -> int: ...

# products.c
def multiply_rows(indptr: Any, indices: Any, data: Any, V: Any, first: int, last: int, out: Any) -> int: ...

# dense_products.c
def multiply_dense(K: Any, V: Any, first: int, last: int, out: Any) -> int: ...

# tiles.c
def exponential_tile(flat: Any, stride: int, left: Any, right: Any) -> int: ...

# kmeans.c
def seed_centers(X: Any, weights: Any, uniform: Any, centers: Any) -> int: ...
def improve_centers(X: Any, weights: Any, centers: Any, max_iter: int, tol: float, inertia: Any) -> int: ...
