"""Type aliases for arrays, and a test for sparse arrays that type checkers understand."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from typing_extensions import TypeIs

#: A dense or sparse matrix, such as a block of kernel values.
Matrix: TypeAlias = np.ndarray | sparse.csr_array
#: Samples, one per row: a dense or sparse matrix, or a one-dimensional array of arbitrary objects.
Rows: TypeAlias = np.ndarray | sparse.csr_array


def is_sparse(X: object) -> TypeIs[sparse.csr_array]:
    """Return True if ``X`` is a SciPy sparse array or matrix, in the code base always of CSR format."""
    return sparse.issparse(X)
