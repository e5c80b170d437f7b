"""Checks of sparse matrices from files, before any compiled code uses their indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._numbers import check_indices
from eigenscape.graph.row_index import canonical_csr

#: A matrix with more rows must have a byte of its file for every 64 of them.
_MANY_EMPTY_ROWS = 2**20


def checked_csr(matrix: Any) -> sparse.csr_array:
    """Return a sparse matrix from a file in CSR format, with sorted indices and without repeated entries.

    Raises
    ------
    ValueError
        If indices are out of range.
    """
    check_indices(matrix)
    return canonical_csr(matrix)


def check_market(head: bytes, n_bytes: int) -> int:
    """Check the sizes declared by a Matrix Market file.

    Parameters
    ----------
    head : bytes
        The beginning of the file, with the line of sizes.
    n_bytes : int
        Size of the file.

    Returns
    -------
    int
        Bytes of memory that the matrix needs.

    Raises
    ------
    ValueError
        If the file is too short for the declared number of entries, or if almost all of a large number of
        rows are empty, which take memory and time although the file has no data for them.
    """
    lines = head.split(b"\n")
    if not lines[0].lower().startswith(b"%%matrixmarket"):
        raise ValueError("the first line does not begin with %%MatrixMarket")
    is_sparse = b"coordinate" in lines[0].lower()
    sizes = next((line for line in lines[1:] if line.strip() and not line.startswith(b"%")), b"")
    numbers = [int(word) for word in sizes.split()]
    if len(numbers) != (3 if is_sparse else 2) or min(numbers) < 0:
        raise ValueError(f"the line of sizes is {sizes.decode(errors='replace')[:60]!r}")
    entries = numbers[2] if is_sparse else int(np.prod(numbers, dtype=object))
    symmetric = any(word in lines[0].lower() for word in (b"symmetric", b"hermitian"))
    stored = entries if is_sparse or not symmetric else entries // 2
    pattern = b"pattern" in lines[0].lower()
    shortest = (4 if pattern else 6) if is_sparse else 2  # bytes of an entry: "1 1 1\n", "1\n"
    if stored * shortest > n_bytes + 2:
        raise ValueError(f"{entries} entries are declared, more than {n_bytes} bytes can contain")
    if is_sparse and numbers[0] > max(_MANY_EMPTY_ROWS, 64 * n_bytes):
        raise ValueError(f"{numbers[0]} rows are declared, almost all of them empty ({entries} entries)")
    return 24 * entries + 8 * (numbers[0] + numbers[1]) if is_sparse else 8 * entries
