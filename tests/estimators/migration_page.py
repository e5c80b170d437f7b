"""Write docs/migration.md from the signatures of both libraries.

Run ``python tests/estimators/migration_page.py`` in the folder of the repository.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn import cluster, decomposition, manifold

import eigenscape
from eigenscape.options import SKLEARN_SOLVERS

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
THEIRS: dict[str, Any] = {
    "Isomap": manifold.Isomap,
    "LocallyLinearEmbedding": manifold.LocallyLinearEmbedding,
    "LaplacianEigenmaps": manifold.SpectralEmbedding,
    "KernelPCA": decomposition.KernelPCA,
    "SpectralClustering": cluster.SpectralClustering,
    "PCA": decomposition.PCA,
    "FactorAnalysis": decomposition.FactorAnalysis,
}
if hasattr(manifold, "ClassicalMDS"):  # since scikit-learn 1.8
    THEIRS["ClassicalMDS"] = manifold.ClassicalMDS
_SEARCH = "use graph=KNNGraph(search='exact') or 'approximate'"
_SOLVER = {"tol": "use eigen_solver=Solver(tol=...)", "max_iter": "use eigen_solver=Solver(max_iter=...)"}
_FASTEST = "leave it out: the fastest method is chosen"
_NOT_NEEDED = "leave it out: it is not needed here"
_KERNEL = "pass a function of two samples as kernel"

#: For each class, parameters that only scikit-learn's class has, and what to do instead.
PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "Isomap": {
        "path_method": _FASTEST,
        "neighbors_algorithm": _SEARCH,
        "radius": "use graph=RadiusGraph(...)",
        "metric_params": "use graph=KNNGraph(metric_params=...)",
        "p": "use graph=KNNGraph(metric='minkowski', metric_params={'p': ...})",
        **_SOLVER,
    },
    "LocallyLinearEmbedding": {
        "neighbors_algorithm": _SEARCH,
        "hessian_tol": _NOT_NEEDED,
        "modified_tol": _NOT_NEEDED,
        **_SOLVER,
    },
    "LaplacianEigenmaps": {"eigen_tol": _SOLVER["tol"]},
    "KernelPCA": {
        "fit_inverse_transform": "leave it out: inverse_transform is always available",
        "alpha": "use inverse=Inverse('ridge', alpha=...)",
        "kernel_params": _KERNEL,
        "iterated_power": _NOT_NEEDED,
        "remove_zero_eig": "leave it out: zero eigenvalues are always removed",
        "copy_X": "leave it out: X is never modified",
        **_SOLVER,
    },
    "SpectralClustering": {
        "eigen_tol": _SOLVER["tol"],
        "kernel_params": "pass a kernel of eigenscape as affinity",
        "degree": "pass a kernel of eigenscape as affinity",
        "coef0": "pass a kernel of eigenscape as affinity",
    },
    "ClassicalMDS": {"dissimilarity": "use metric='precomputed'"},
    "FactorAnalysis": {
        "svd_method": _NOT_NEEDED,
        "iterated_power": _NOT_NEEDED,
        "copy": "leave it out: X is never modified",
        "noise_variance_init": "leave it out: the start is chosen",
        "rotation": "rotate components_ afterwards",
    },
    "PCA": {
        "svd_solver": "use eigen_solver",
        "copy": "leave it out: X is never modified",
        "iterated_power": _NOT_NEEDED,
        "n_oversamples": _NOT_NEEDED,
        "power_iteration_normalizer": _NOT_NEEDED,
        "tol": _SOLVER["tol"],
    },
}
#: Fitted attributes of scikit-learn with another name here; those not listed have the same or none.
ATTRIBUTES: dict[str, dict[str, tuple[str, str]]] = {
    "Isomap": {
        "kernel_pca_": ("eigenvalues_", "the spectrum"),
        "dist_matrix_": ("kernel_", "`kernel_(X)` are the centred `-d^2 / 2`; the distances are not stored"),
    },
    "LocallyLinearEmbedding": {"reconstruction_error_": ("reconstruction_error", "a method")},
    "KernelPCA": {"eigenvectors_": ("embedding_", "scaled by the roots of `eigenvalues_`")},
}
HEAD = f"""# From scikit-learn

Parameters, defaults and attributes of scikit-learn {sklearn.__version__} and their equivalents in eigenscape.
Objects such as `KNNGraph` and `Solver` are in `eigenscape.options`.
[eigenscape.accel](accel.md) needs no change at all. Written by `python tests/estimators/migration_page.py`.

"""


def parameters(name: str) -> list[str]:
    """Return the table of parameters of one class."""
    ours = inspect.signature(getattr(eigenscape, name)).parameters
    rows = [f"| parameter of `sklearn` `{THEIRS[name].__name__}` | default | here |", "| --- | --- | --- |"]
    for parameter, theirs in inspect.signature(THEIRS[name]).parameters.items():
        if parameter in ours:
            same = ours[parameter].default == theirs.default
            here = "the same" if same else f"default `{ours[parameter].default!r}`"
        else:
            here = PARAMETERS[name][parameter]
        rows.append(f"| `{parameter}` | `{theirs.default!r}` | {here} |")
    return rows


def attributes(name: str) -> list[str]:
    """Return the table of fitted attributes of one class."""
    X = np.random.default_rng(0).standard_normal((40, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = THEIRS[name]().fit(X), getattr(eigenscape, name)().fit(X)
    rows = ["| fitted attribute | here |", "| --- | --- |"]
    for attribute in sorted(a for a in vars(theirs) if a.endswith("_") and not a.startswith("_")):
        renamed = ATTRIBUTES.get(name, {}).get(attribute)
        if hasattr(ours, attribute):
            here = "the same name"
        elif renamed is not None:
            assert hasattr(ours, renamed[0]), (name, renamed)
            here = f"`{renamed[0]}`: {renamed[1]}"
        else:
            here = "none"
        rows.append(f"| `{attribute}` | {here} |")
    return rows


def page() -> str:
    """Return the text of the page."""
    solvers = [
        f"| `{theirs!r}` | `{' or '.join(map(repr, ours))}` |" for theirs, ours in SKLEARN_SOLVERS.items()
    ]
    parts = [
        "| `eigen_solver` of scikit-learn | here, where the class accepts it |",
        "| --- | --- |",
        *solvers,
    ]
    for name in THEIRS:
        parts += ["", f"## {name}", "", *parameters(name), "", *attributes(name)]
    return HEAD + "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
