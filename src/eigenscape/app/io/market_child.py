"""Reading of Matrix Market files, for a child process."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from scipy.io import mmread

from eigenscape.app.io.child import Answer
from eigenscape.app.io.sparse_checks import checked_csr


def answer(path: str) -> Answer:
    """Return a dense matrix, or the data, indices and pointers of CSR and the shape."""
    with open(path, "rb") as file, warnings.catch_warnings():
        # An array or a matrix: it changes in SciPy 1.20 and cannot be chosen in 1.13. Both are read.
        warnings.filterwarnings("ignore", "The default value for `spmatrix`")
        matrix = mmread(file)
    if not sparse.issparse(matrix):
        return Answer({"shape": None}, [np.asarray(matrix)])
    csr = checked_csr(matrix)
    return Answer({"shape": list(csr.shape)}, [csr.data, csr.indices, csr.indptr])
