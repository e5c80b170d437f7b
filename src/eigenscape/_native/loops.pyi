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
