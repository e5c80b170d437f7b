"""Parameters and values of scikit-learn's classes, with their equivalents here.

An error names only what the class at hand accepts (``tests/estimators/test_migration.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

#: Classes of which eigenscape.accel has scikit-learn's interface; the others are imported from scikit-learn.
_ACCELERATED = (
    "ClassicalMDS",
    "Isomap",
    "KernelPCA",
    "LaplacianEigenmaps",
    "LocallyLinearEmbedding",
    "SpectralClustering",
)
_DROP_IN = "or use eigenscape.accel for scikit-learn's own interface"
_SEARCH = "use neighbors='exact' or 'approximate'"
_FASTEST = "leave it out: the fastest method is chosen"
_NOT_NEEDED = "leave it out: it is not needed here"
_KERNEL = "pass a function of two samples as kernel"

#: For each class, parameters that only scikit-learn's class has, and what to do instead.
PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "Isomap": {
        "path_method": _FASTEST,
        "neighbors_algorithm": _SEARCH,
        "p": "use metric='minkowski' and metric_params={'p': ...}",
    },
    "LocallyLinearEmbedding": {
        "neighbors_algorithm": _SEARCH,
        "hessian_tol": _NOT_NEEDED,
        "modified_tol": _NOT_NEEDED,
    },
    "LaplacianEigenmaps": {"eigen_tol": "use tol"},
    "KernelPCA": {
        "fit_inverse_transform": "leave it out: inverse_transform is always available",
        "alpha": "use inverse_alpha, with inverse='ridge'",
        "kernel_params": _KERNEL,
        "iterated_power": _NOT_NEEDED,
        "remove_zero_eig": "leave it out: zero eigenvalues are always removed",
        "copy_X": "leave it out: X is never modified",
    },
    "SpectralClustering": {
        "eigen_tol": "use tol",
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
    },
}

#: Eigensolvers of scikit-learn with the equivalents here, the closest first.
SOLVERS: Mapping[str, Sequence[str]] = {
    "arpack": ("shift-invert", "lanczos"),
    "lobpcg": ("lanczos",),
    "amg": ("multilevel", "lanczos"),
    "randomized": ("lanczos",),
}


def explain_parameters(estimator: type) -> None:
    """Let a class raise TypeError for parameters that only scikit-learn's class has.

    The error names the equivalent here. Other unknown parameters are left to Python's own error.
    """
    name = estimator.__name__
    hints, create = PARAMETERS.get(name), vars(estimator)["__init__"]
    if hints is None:
        return

    @functools.wraps(create)
    def checked(self: Any, *args: Any, **parameters: Any) -> None:
        for parameter in parameters:
            if parameter in hints:
                other = _DROP_IN if name in _ACCELERATED else "or import the class from scikit-learn"
                raise TypeError(
                    f"{parameter} is a parameter of scikit-learn's class; {hints[parameter]}, {other}"
                )
        create(self, *args, **parameters)

    setattr(estimator, "__init__", checked)  # noqa: B010, type checkers refuse the assignment


def check_solver(value: object, accepted: Sequence[str]) -> None:
    """Raise ValueError if ``value`` is the name of an eigensolver of scikit-learn only, naming ours."""
    for ours in SOLVERS.get(value, ()) if isinstance(value, str) else ():
        if ours in accepted and value not in accepted:
            raise ValueError(
                f"eigen_solver={value!r} is scikit-learn's name; the equivalent here is {ours!r}, {_DROP_IN}"
            )
