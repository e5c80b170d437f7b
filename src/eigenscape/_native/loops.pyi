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
