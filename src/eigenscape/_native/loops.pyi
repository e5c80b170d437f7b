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
    rest_of_point: Any, doubt_of_query: Any, doubt_of_point: Any, reach: Any, length: Any, number: Any,
    found: Any, row: Any, column: Any, within: Any,
) -> int: ...  # fmt: skip

# nearest.c
def nearest_exact(Y: Any, X: Any, rough: Any, base: Any, slack: Any, length: Any, number: Any) -> int: ...
def nearest_and_within(
    Y: Any, X: Any, rough: Any, base: Any, slack: Any, radii: Any, first: int, length: Any, number: Any,
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
