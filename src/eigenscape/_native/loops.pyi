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
