"""Type aliases for arrays, and the test for sparse arrays in a form that type checkers understand."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import sparse

#: A dense or sparse matrix, such as a block of kernel values.
Matrix: TypeAlias = np.ndarray | sparse.csr_array
#: Samples, one per row: a dense or sparse matrix, or a one-dimensional array of arbitrary objects.
Rows: TypeAlias = np.ndarray | sparse.csr_array

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    def is_sparse(X: object) -> TypeIs[sparse.csr_array]:
        """Return True if ``X`` is a SciPy sparse array or matrix, in the code base always of CSR format."""

else:
    is_sparse = sparse.issparse
