"""Reading of AnnData files, for a child process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.app.io.child import Answer
from eigenscape.app.io.sparse_checks import checked_csr


def answer(path: str) -> Answer:
    """Return ``X`` (dense, or the data, indices and pointers of CSR), the columns of ``obs``, and names."""
    import anndata

    data = anndata.read_h5ad(Path(path))
    if data.X is None:
        raise ValueError("it has no X, only annotations")
    rows: Any = data.X
    if sparse.issparse(rows):
        csr = checked_csr(rows)
        parts = [csr.data, csr.indices, csr.indptr]
    else:
        parts = [np.asarray(rows)]
    columns = [_to_array(data.obs[name]) for name in data.obs.columns]
    names = [_to_array(data.obs_names), _to_array(data.var_names)]
    header = {
        "n_parts": len(parts),
        "shape": list(data.shape),
        "columns": [str(name) for name in data.obs.columns],
    }
    return Answer(header, [*parts, *columns, *names])


def _to_array(column: Any) -> np.ndarray:
    values = np.asarray(column)
    return values if values.dtype.kind in "fiub" else np.array([str(value) for value in values], dtype=str)
