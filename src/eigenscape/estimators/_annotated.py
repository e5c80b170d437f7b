"""AnnData objects as input of estimators: their ``X``, with genes matched by name.

They are recognised without importing anndata.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from eigenscape._extras import optional_import
from eigenscape._numbers import checked_sparse
from eigenscape._typing import is_sparse
from eigenscape.distributed import is_collection

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def is_annotated(X: Any) -> bool:
    """Return whether ``X`` is an AnnData object."""
    module = sys.modules.get("anndata")
    return module is not None and isinstance(X, module.AnnData)


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The matrix of an AnnData object, and an empty table with the names of its genes as columns."""

    values: Any
    table: Any


def named_rows(estimator: BaseEstimator, X: Any, reset: bool) -> Any:
    """Return the matrix and gene names of an AnnData object, anything else as it is.

    Genes of new cells are brought into the order of training (unless ``reset``); genes that were not there
    are left out.
    """
    if not is_annotated(X):
        return X
    pandas = optional_import("pandas", "AnnData objects")  # a dependency of anndata
    values, names = checked_sparse(_matrix(estimator, X), "X"), X.var_names
    trained = None if reset else getattr(estimator, "feature_names_in_", None)
    if trained is None:
        check_unique(X)
    else:
        order, names = gene_positions(X, trained, reference=type(estimator).__name__), trained
        if len(order) != X.n_vars or (order != np.arange(X.n_vars)).any():
            values = (sparse.csr_array(values) if is_sparse(values) else values)[:, order]
    return NamedRows(values, pandas.DataFrame(columns=[str(name) for name in names], dtype=np.float64))


def _matrix(estimator: BaseEstimator, X: Any) -> Any:
    """Return ``X.X``, read from its file if necessary."""
    values = X.X
    if is_collection(values):
        raise TypeError(
            "the X of the AnnData object is a dask array; pass adata.X itself, or adata.to_memory() if it"
            " fits in memory"
        )
    if values is None or getattr(values, "dtype", np.dtype(object)).kind not in "biuf":
        known = ", ".join(f"adata.obsm[{key!r}]" for key in X.obsm) or "adata.obsm[...]"
        found = "None" if values is None else f"of the dtype {getattr(values, 'dtype', '?')}"
        raise ValueError(
            f"{type(estimator).__name__} uses the X of an AnnData object, which is {found}; pass an array of"
            f" numbers instead, such as {known} or adata.layers[...]"
        )
    if isinstance(values, np.ndarray) or sparse.issparse(values):
        return values
    return values.to_memory() if hasattr(values, "to_memory") else np.asarray(values[...])


def gene_positions(X: Any, names: Any, what: str = "X", reference: str = "the model") -> np.ndarray:
    """Return the positions of genes among the ``var_names`` of an AnnData object, or raise ValueError."""
    check_unique(X, what)
    if len(set(names)) < len(names):
        raise ValueError(f"{reference}.var_names are not unique; call var_names_make_unique()")
    positions = X.var_names.get_indexer(names)
    missing = np.flatnonzero(positions < 0)
    if len(missing):
        few = ", ".join(repr(str(names[i])) for i in missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise ValueError(
            f"{what} lacks {len(missing)} of the {len(names)} genes of {reference} in its var_names: {few};"
            " use the same genes for both"
        )
    return positions


def check_unique(X: Any, what: str = "X") -> None:
    """Raise ValueError if names of genes are not unique."""
    if not X.var_names.is_unique:
        repeated = X.var_names[X.var_names.duplicated()]
        raise ValueError(
            f"{what}.var_names are not unique ({len(repeated)} repeated, such as {str(repeated[0])!r}); call"
            " var_names_make_unique()"
        )
