"""Work that grows with the square of the number of samples, estimated before it begins.

What does not fit in memory is refused, and what takes long begins with a warning.
"""

from __future__ import annotations

from typing import Any

from eigenscape import _memory
from eigenscape._threads import n_threads
from eigenscape._warnings import warn
from eigenscape.exceptions import LongComputationWarning
from eigenscape.kernels.base import Kernel, n_columns, n_points
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.kernels.pairwise import CallableKernel, PairwiseKernel, Precomputed
from eigenscape.kernels.variable import VariableGaussian
from eigenscape.operators.gram import is_stored

#: Seconds above which a warning is issued.
_LONG = 180.0
#: Seconds of a value of a kernel, more for each column, of a function of two points, of a product with a
#: stored value, and of an entry of a matrix times its order in LAPACK: measured, as are the products.
_VALUE, _COLUMN, _CALL, _STORED, _DENSE = 6e-9, 1e-10, 2e-6, 1e-9, 2e-10
#: Times of a distance other than the Euclidean one, relative to it.
_OTHER_METRIC = 5
#: Products of the eigensolver with the matrix of a centred and of a divided kernel.
CENTERED_PRODUCTS, DIVIDED_PRODUCTS = 10, 70


def warn_if_long(seconds: float, purpose: str, remedy: str) -> None:
    """Warn that ``purpose`` takes minutes, hours or days, if the estimate is more than a few minutes."""
    if seconds > _LONG:
        unit = "minutes" if seconds < 3600 else "hours" if seconds < 86400 else "days"
        message = f"{purpose} will take {unit}, by an estimate from the number of samples; {remedy}"
        warn(message, LongComputationWarning)


def check_kernel_work(
    estimator: Any,
    kernel: Kernel,
    X: Any,
    products: int,
    remedy: str,
    *,
    whole: bool = False,
    direct: bool = False,
) -> None:
    """Estimate the work of an eigenproblem of a kernel between all samples, before it is bound to them.

    Raise NotEnoughMemoryError if the method needs the ``whole`` matrix and it does not fit in memory. Warn if
    the products with it will take long, or its decomposition by a ``direct`` solver.
    """
    if isinstance(kernel, Precomputed) or getattr(kernel, "metric", "") == "precomputed":
        return
    if not isinstance(kernel, (PairwiseKernel, VariableGaussian)):  # its values may be sparse
        return
    if isinstance(kernel, PairwiseKernel) and _has_factors(kernel, X):
        return
    m, name = n_points(X), type(estimator).__name__
    solver = estimator._solver()
    stored = is_stored(m, solver.storage)
    purpose = f"{name} with a kernel between all {m} samples"
    direct = direct or solver.method == "dense"
    if (whole or direct) and solver.storage == "auto":
        _memory.require(16.0 * m * m, f"{purpose} (the whole matrix)", remedy)
    seconds = m * m * _pair_seconds(kernel, X) * (1 if stored else products)
    seconds += m * m * _STORED * products + (_DENSE * m**3 if direct else 0)
    threads = 1 if _is_function(kernel) else n_threads(estimator.n_jobs)
    detail = "" if stored else " that is not stored, as it does not fit in memory,"
    warn_if_long(seconds / threads, f"{purpose}{detail}", remedy)


def _has_factors(kernel: PairwiseKernel, X: Any) -> bool:
    """Return whether the values are a product of two thin matrices, as for a linear kernel."""
    return not _is_function(kernel) and kernel.factors(X[:1], X[:1]) is not None


def _pair_seconds(kernel: Kernel, X: Any) -> float:
    """Return the estimated seconds of one value of a kernel."""
    if _is_function(kernel):
        return _CALL
    plain = not isinstance(kernel, HalfSquaredDistance) or kernel.metric in ("euclidean", "l2")
    return (_VALUE + _COLUMN * n_columns(X)) * (1 if plain else _OTHER_METRIC)


def check_search_work(metric: Any, n: int) -> None:
    """Warn if a metric that is a function will be called for all pairs of very many samples."""
    if callable(metric):
        purpose = f"the search for neighbours of {n} samples by a metric that is a Python function"
        warn_if_long(_CALL * n * n, purpose, "name a metric, or fit a sample and transform the rest")


def _is_function(kernel: Kernel) -> bool:
    return isinstance(kernel, CallableKernel) or (
        isinstance(kernel, HalfSquaredDistance) and callable(kernel.metric)
    )
