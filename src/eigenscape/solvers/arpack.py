"""ARPACK's Lanczos iteration for the leading eigenpairs, where a product with one vector is cheap."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigenscape._progress import stage
from eigenscape.solvers.config import Order
from eigenscape.solvers.krylov import KrylovOptions, KrylovResult, Product, block_krylov

#: Number of vectors of the Krylov space for few eigenpairs, as in SciPy.
_VECTORS = 20
#: Maximum number of restarts. A spectrum that needs more is left to the block iteration.
_RESTARTS = 30
#: Steps of the iteration that searches for an eigenvalue which was missed.
_CHECK_STEPS = 8


def arpack_lanczos(
    product: Product,
    m: int,
    count: int,
    *,
    order: Order = "value",
    tol: float,
    noise: float,
    seed: int,
    known: np.ndarray | None = None,
) -> KrylovResult:
    """Compute the ``count`` leading eigenpairs of a symmetric operator, orthogonal to the columns ``known``.

    One vector at a time needs fewer products than block iteration, and is faster if the matrix is in the
    cache or sparse. A Krylov space of one vector contains only one eigenvector of a multiple eigenvalue:
    the result is not converged if a short iteration on the orthogonal complement of the vectors found
    has a larger eigenvalue than the last of them. Neither is it if a residual exceeds ``2 tol |l|`` plus
    ``noise`` times the largest eigenvalue.
    """
    known = np.zeros((m, 0)) if known is None else known
    products = 0

    def multiply(x: np.ndarray) -> np.ndarray:
        nonlocal products
        products += 1
        image = product(x.reshape(m, 1))
        return (image - known @ (known.T @ image))[:, 0]

    n_vectors = min(max(_VECTORS, 2 * count + 1), m)
    start = np.random.default_rng(seed).standard_normal(m)
    with stage("eigen-solve"):
        try:
            values, vectors = eigsh(
                LinearOperator((m, m), matvec=multiply, dtype=np.float64),
                k=count,
                which="LM" if order == "magnitude" else "LA",
                v0=start - known @ (known.T @ start),
                ncv=n_vectors,
                maxiter=_RESTARTS,
                tol=tol,
            )
        except ArpackNoConvergence as error:
            return KrylovResult(error.eigenvalues, error.eigenvectors, False, products)
    leading = np.argsort(-np.abs(values) if order == "magnitude" else -values, kind="stable")
    values, vectors = values[leading], vectors[:, leading]
    # ARPACK's own criterion is absolute for eigenvalues below 4e-11.
    residuals = np.linalg.norm(product(vectors) - vectors * values, axis=0)
    allowed = 2 * tol * np.abs(values) + noise * np.abs(values).max()
    if not (residuals <= allowed).all():
        return KrylovResult(values, vectors, False, products)
    found = np.column_stack([known, vectors])
    options = KrylovOptions(order, max_iter=_CHECK_STEPS, seed=seed, guard=0, head_start=_CHECK_STEPS)
    other = block_krylov(product, m, 1, options, known=found).values[0]
    size = (abs(other), abs(values[-1])) if order == "magnitude" else (other, values[-1])
    is_complete = bool(size[0] <= size[1] + 1e-6 * abs(size[1]))
    return KrylovResult(values, vectors, is_complete, products)
