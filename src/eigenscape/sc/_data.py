"""Fields of AnnData objects: checks, the representation of cells, and where results are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from eigenscape._extras import optional_import
from eigenscape._numbers import check_numbers, checked_sparse
from eigenscape._parameters import check_count
from eigenscape._threads import kept_threads
from eigenscape._typing import is_sparse
from eigenscape.distributed import is_collection
from eigenscape.estimators._types import Seed
from eigenscape.solvers import SolverConfig

Parameters = ParamSpec("Parameters")
#: Entries to write, by the name of the field.
Fields = dict[str, dict[str, Any]]


def check_annotated(adata: Any, name: str = "adata") -> Any:
    """Return an AnnData object that has cells, or raise an error."""
    anndata = optional_import("anndata", "eigenscape.sc")
    if not isinstance(adata, anndata.AnnData):
        raise TypeError(
            f"{name} must be an AnnData object, got {type(adata).__name__}; use the estimators of eigenscape"
            " for arrays and tables"
        )
    if adata.n_obs == 0:
        raise ValueError(f"{name} has no cells (shape {adata.shape}); a filter may have removed all of them")
    return adata


def annotates(function: Callable[Parameters, Fields]) -> Callable[Parameters, Any]:
    """Decorate a function that returns entries of ``obs``, ``obsm``, ``obsp`` and ``uns``: write them.

    The frame of every function here: ``adata`` is checked, ``n_jobs`` is the number of threads, and with
    ``copy`` the entries are written to a copy, which is returned. A view becomes an object of its own, so
    that nothing is written to its parent.
    """

    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Any:
        given = signature(function).bind(*args, **kwargs)
        given.apply_defaults()
        options = given.arguments
        adata, copy = check_annotated(options["adata"]), options["copy"]
        if adata.isbacked and (copy or adata.is_view):
            kind = "copy=True" if copy else "a view of a backed object"
            raise ValueError(f"adata is backed by a file, so {kind} is not supported; pass adata.to_memory()")
        options["adata"] = adata = adata.copy() if copy else adata
        with kept_threads(options["n_jobs"]):
            fields = function(*given.args, **given.kwargs)
        if adata.is_view:
            adata._init_as_actual(adata.copy())
        for field, entries in fields.items():
            for name, value in entries.items():
                getattr(adata, field)[name] = _without_none(value)
        return adata if copy else None

    return call


def _without_none(value: Any) -> Any:
    """Return a value without the entries of dictionaries that are None, which h5ad files cannot store."""
    if not isinstance(value, dict):
        return value
    return {name: _without_none(each) for name, each in value.items() if each is not None}


def in_memory(values: Any, field: str = "a matrix of adata") -> Any:
    """Return a matrix that may be a table, lazy (dask) or on disk (h5py, backed sparse) as an array."""
    if is_collection(values):
        values = values.compute()
    elif hasattr(values, "to_memory"):
        values = values.to_memory()
    elif hasattr(values, "to_numpy"):  # a table in obsm
        values = values.to_numpy()
    if is_sparse(values):
        return sparse.csr_array(checked_sparse(values, field))
    return values if isinstance(values, np.ndarray) else np.asarray(values[...])


def numeric_rows(values: Any, field: str) -> Any:
    """Return a representation of cells as finite numbers, dense or sparse."""
    rows = in_memory(values, field)
    if rows.dtype.kind not in "biuf":
        raise ValueError(
            f"{field} has the dtype {rows.dtype}, which is not numeric; pass use_rep= with the name of an"
            " array of numbers"
        )
    rows = check_array(rows, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
    check_numbers(rows, field)
    return rows


def representation_field(adata: Any, use_rep: str | None, n_pcs: int | None) -> str:
    """Return the name of the rows that represent cells, "X" or a key of ``obsm``, without reading them.

    By default these are, as in scanpy, ``obsm["X_pca"]`` if there are more than 50 genes, and ``X`` otherwise
    or if ``n_pcs=0``.
    """
    if n_pcs is not None:
        check_count("n_pcs", n_pcs, minimum=0)
    if use_rep is None:
        use_rep = "X" if n_pcs == 0 or adata.n_vars <= 50 else "X_pca"
    if use_rep == "X" and n_pcs:
        raise ValueError(f"n_pcs={n_pcs} is for a representation in obsm, got use_rep='X'; leave it out")
    if use_rep == "X" and adata.X is None:
        raise ValueError("adata.X is None; pass use_rep= with the name of a key of obsm")
    if use_rep != "X" and use_rep not in adata.obsm:
        known = ", ".join(map(repr, ["X", *adata.obsm]))
        hint = "run scanpy.pp.pca first, or " if use_rep == "X_pca" else ""
        raise ValueError(f"adata.obsm has no {use_rep!r}; {hint}choose use_rep among {known}")
    return use_rep


def representation(adata: Any, use_rep: str | None, n_pcs: int | None) -> tuple[Any, str]:
    """Return the rows that represent cells (``n_pcs`` of their columns), and the name of their field."""
    use_rep = representation_field(adata, use_rep, n_pcs)
    if use_rep == "X":
        return numeric_rows(adata.X, "adata.X"), "X"
    rows = numeric_rows(adata.obsm[use_rep], f"adata.obsm[{use_rep!r}]")
    if n_pcs and n_pcs > rows.shape[1]:
        raise ValueError(
            f"n_pcs={n_pcs}, but adata.obsm[{use_rep!r}] has {rows.shape[1]} columns; lower n_pcs"
        )
    return (rows[:, :n_pcs] if n_pcs else rows), use_rep


def map_fields(
    key: str, coordinates: np.ndarray, values: np.ndarray, params: dict[str, Any], **arrays: Any
) -> Fields:
    """Return coordinates, eigenvalues and what places new cells, in types that h5ad files can store."""
    uns = {f"{key}_evals": values, key: {"params": params, **arrays}}
    return {"obsm": {f"X_{key}": coordinates}, "uns": uns}


def solver_config(random_state: Seed) -> SolverConfig:
    """Return the default eigensolver with a seed."""
    return SolverConfig(seed=int(check_random_state(random_state).randint(2**31 - 1)))


def check_components(n_comps: int, n_obs: int, trivial: int = 0) -> int:
    """Return ``n_comps`` if there are enough cells; ``trivial`` of them are counted in addition."""
    needed = check_count("n_comps", n_comps) + trivial
    if needed > n_obs:
        raise ValueError(f"n_comps={n_comps} needs at least {needed} cells, got {n_obs}; lower n_comps")
    return n_comps
