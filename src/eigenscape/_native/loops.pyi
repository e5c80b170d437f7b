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
