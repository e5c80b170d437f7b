"""Embedding of graphs: directly (Brand eq. 1-7), or through features ``z`` of each vertex (Brand eq. 8-12).

With edge weights ``W``, degrees ``D`` and a basis ``Z`` (n, p), one row per vertex, the reduced eigenproblem
is ``Z'WZ v = l Z'DZ v``. It is solved for the smallest ``1 - l``, as ``Z'(D - W)Z v = (1 - l) Z'DZ v``,
because the ``1 - l`` have the relative accuracy that distinguishes maps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg, sparse

from eigenscape import _memory
from eigenscape._warnings import warn
from eigenscape.exceptions import PoleWarning, RankError, UndefinedMapError
from eigenscape.methods.iterative_reduction import IterativeOptions, solve_iteratively
from eigenscape.methods.laplacian import next_to_trivial
from eigenscape.methods.mixture import safe_divide
from eigenscape.methods.quadratic_forms import Basis, FeatureBasis, QuadraticForms, quadratic_forms
from eigenscape.operators import DividedOperator, as_operator, materialized
from eigenscape.quality.edge_distortion import laplacian_form, remove_loops
from eigenscape.solvers import EigenPairs, SemidefiniteProblem, SolverConfig, generalized_eigh, whiten
from eigenscape.solvers.generalized import GeneralizedPairs, relative_residuals
from eigenscape.solvers.pairs import column_signs

Correction = Literal["raw", "affine", "reweighted", "stochastic"]


@dataclass(frozen=True, eq=False)
class Transformation:
    """The linear operator ``G`` of a transformational embedding, ``y = G'z [/ u'z] + constant``."""

    _shapes: ClassVar = {"coefficients": "d r", "uniform": "d", "constant": "r"}
    coefficients: np.ndarray  # G (p, d)
    uniform: np.ndarray | None  # u (p,) if a correction divides by it
    constant: np.ndarray  # (d,)
    gaps: np.ndarray  # 1 - l (d,), smallest first
    residuals: np.ndarray  # (d,) of the reduced eigenproblem, relative to |Z'DZ| |v|
    rank: int  # of Z'DZ
    n_iter: int = 1  # of an iterative solver

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues ``l`` (d,), largest first."""
        return 1 - self.gaps

    def with_signs_of(self, Y: np.ndarray) -> Transformation:
        """Flip coordinates so that the largest entry of each column of ``Y`` (n, d) would become positive."""
        signs = column_signs(Y)
        return replace(self, coefficients=self.coefficients * signs, constant=self.constant * signs)


def affine_transformation(
    basis: Any,
    W: sparse.csr_array,
    degree: np.ndarray,
    n_components: int,
    iterative: IterativeOptions | None = None,
) -> Transformation:
    """Solve with a constant column appended to ``Z`` (Brand sec. 2.1), that is with the D-mean removed.

    Scaled to ``Y'DY = n``. If the constant is in the span of ``Z``, all corrections are equivalent to this.
    It may then be solved by iteration, for a basis that can be stored sparse.
    """
    if iterative is None:
        forms = quadratic_forms(basis, W, degree).centered()
        pairs = solve_reduced(basis, W, degree, forms, n_components, centered=True)
    else:
        pairs = solve_iteratively(basis, W, degree, n_components, iterative)
    _check_rank(pairs, n_components, n_components)
    G = np.sqrt(W.shape[0]) * pairs.vectors
    constant = -(degree @ basis.apply(G)) / degree.sum()
    return Transformation(G, None, constant, pairs.values, pairs.residuals, pairs.rank, pairs.n_iter)


def raw_transformation(
    basis: Basis, W: sparse.csr_array, degree: np.ndarray, n_components: int
) -> tuple[Transformation, np.ndarray]:
    """Solve Brand eq. 8: ``v_2 .. v_{d+1}``, and ``v_1`` scaled to ``v_1'z = 1`` if it is uniform."""
    pairs = solve_reduced(basis, W, degree, quadratic_forms(basis, W, degree), n_components + 1)
    _check_rank(pairs, n_components + 1, n_components)
    uniform = pairs.vectors[:, 0] * np.sqrt(degree.sum())
    uniform = uniform * (1.0 if degree @ basis.apply(uniform[:, None])[:, 0] >= 0 else -1.0)
    G = np.sqrt(W.shape[0]) * pairs.vectors[:, 1:]
    zero = np.zeros(n_components)
    return Transformation(G, None, zero, pairs.values[1:], pairs.residuals[1:], pairs.rank), uniform


def solve_transformation(
    basis: Any,
    W: sparse.csr_array,
    degree: np.ndarray,
    n_components: int,
    correction: Correction,
    divisor: Any = None,
) -> Transformation:
    """Solve for a transformational embedding with a correction for the uniform eigenvector (Brand sec. 2.1).

    ``divisor`` is the basis in which points are divided by ``v_1'z(x)``, if it is not ``basis``: its rows may
    be any multiples of the rows of ``basis``, for example multiples that do not underflow. It is a dataclass
    with a field ``scale``.
    """
    if correction == "affine":
        return affine_transformation(basis, W, degree, n_components)
    raw, uniform = raw_transformation(basis, W, degree, n_components)
    if correction == "raw":
        return raw
    divisor = basis if divisor is None else divisor
    denominator = divisor.apply(uniform[:, None])[:, 0]
    _check_denominator(denominator, correction)
    if correction == "reweighted":
        return replace(raw, uniform=uniform)
    reweighted = replace(divisor, scale=1 / denominator)  # Brand eq. 12
    return replace(affine_transformation(reweighted, W, degree, n_components), uniform=uniform)


def _check_denominator(denominator: np.ndarray, correction: Correction) -> None:
    """Raise if ``v_1'z`` vanishes at a vertex; warn if it changes its sign between vertices."""
    divides = f"correction={correction!r} divides by v_1'z(x), which"
    if np.abs(denominator).min() <= 1e-12 * np.abs(denominator).max():
        raise UndefinedMapError(
            f"{divides} vanishes at vertex {int(np.argmin(np.abs(denominator)))}; use correction='affine'"
        )
    n_other_sign = int(min((denominator < 0).sum(), (denominator > 0).sum()))
    if n_other_sign:
        warn(
            f"{divides} has the opposite sign at {n_other_sign} of the {len(denominator)} vertices: the map"
            " has a pole between them and the others; use correction='affine'",
            PoleWarning,
        )


def solve_reduced(
    basis: Basis,
    W: sparse.csr_array,
    degree: np.ndarray,
    forms: QuadraticForms,
    count: int,
    centered: bool = False,
) -> GeneralizedPairs:
    """Return at most ``count`` smoothest directions of the reduced eigenproblem (Brand eq. 9-11).

    Directions that ``Z'DZ`` does not determine are dropped first. The result is refined by a second, small
    eigenproblem that is assembled from the coordinates of the vertices.
    """
    # Columns have different units (coordinates and constants), so each is scaled by its own norm.
    size = np.where(forms.size > 0, forms.size, 1.0)[:, None]
    scaled = forms.degree / size / size.T
    # Directions with smaller eigenvalues of Z'DZ (unit diagonal) are dropped: the rounding error of
    # Z'(D - W)Z is divided by the eigenvalue and must stay below the smallest 1 - l, which falls like 1/n.
    rank_tol = max(1e-15 * W.shape[0], 1e-12)
    whitener = whiten(scaled, rank_tol, np.ones(len(size))).whitener / size
    pairs = generalized_eigh(forms.laplacian, forms.degree, count, "smallest", whitener)
    if pairs.rank == 0:
        return pairs
    Y = basis.apply(pairs.vectors)
    if centered:
        Y = Y - degree @ Y / forms.volume
    refined = generalized_eigh(laplacian_form(Y, W), Y.T @ (degree[:, None] * Y), count, "smallest")
    vectors = pairs.vectors @ refined.vectors
    residuals = relative_residuals(forms.laplacian, forms.degree, refined.values, vectors)
    return GeneralizedPairs(refined.values, vectors, residuals, pairs.rank)


def _check_rank(pairs: GeneralizedPairs, count: int, n_components: int) -> None:
    """Raise RankError if there are fewer than ``count`` pairs."""
    if pairs.rank < count:
        raise RankError(
            f"n_components={n_components} needs features of the vertices that span at least {count}"
            f" dimensions, but they span only {pairs.rank}; lower n_components or use more features",
            n_components - (count - pairs.rank),
        )
    if len(pairs.values) < count:
        raise RankError(
            f"n_components={n_components}: the coordinates of the vertices are linearly dependent; lower"
            " n_components"
        )


def direct_embedding(
    W: sparse.csr_array, degree: np.ndarray, n_components: int, solver: SolverConfig
) -> tuple[np.ndarray, EigenPairs]:
    """Solve ``W v = l D v`` (Brand eq. 1, 4) in its symmetric form (eq. 7).

    Returns ``v_2 .. v_{d+1}``, scaled to ``Y'DY = n``, and the eigenpairs including the trivial one.
    """
    edges = remove_loops(W)
    edge_degree = np.asarray(edges.sum(axis=1)).ravel()
    scale = float((edge_degree / degree).max())  # below 1 if all vertices have loops: the unit of 1 - l
    laplacian = as_operator(sparse.csr_array(sparse.diags_array(edge_degree) - edges))
    operator = materialized(DividedOperator(laplacian, scale * degree))
    problem = SemidefiniteProblem(operator, np.sqrt(degree / degree.sum()), 2.0)
    pairs = next_to_trivial(problem, n_components, solver)
    pairs = replace(pairs, values=1 - scale * (1 - pairs.values), residuals=scale * pairs.residuals)
    return np.sqrt(W.shape[0]) * pairs.vectors[:, 1:] / np.sqrt(degree)[:, None], pairs


# --- more features than vertices: the span of the rows of Z ------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowSpan:
    """Orthonormal basis ``U`` of the values ``Z v``, and the eigenvalues of ``Z Z'`` that belong to it."""

    basis: Basis
    vectors: np.ndarray  # U (n, r)
    values: np.ndarray  # (r,)

    def coefficients(self, C: np.ndarray) -> np.ndarray:
        """Return the shortest ``V`` (p, c) with ``Z V = U C``."""
        V = self.basis.apply_transpose(self.vectors @ (C / self.values[:, None]))
        for _ in range(2):  # iterative refinement: a step divides the error of Z V by about 1e-12 / eps
            error = C - self.vectors.T @ self.basis.apply(V)
            V = V + self.basis.apply_transpose(self.vectors @ (error / self.values[:, None]))
        return V


def row_span(basis: Basis, n: int) -> RowSpan:
    """Decompose the inner products of the ``n`` rows.

    With ``p > n`` columns the rank of ``Z`` is at most ``n``, and the values ``y = Z v`` determine ``v`` only
    up to directions that no vertex has. Among all ``v`` with the same values the shortest is ``v = Z'a``, so
    that new points are placed by inner products with the rows: ``z(x)'v = sum_i a_i z(x)'z_i``. The columns
    keep their units: scaled to unit norm, columns that hardly vary would count as much as the others.
    """
    _memory.require(4 * 8.0 * n * n, f"the inner products of {n} rows", "use fewer samples or fewer features")
    values, vectors = linalg.eigh(basis.row_gram())
    kept = values > 1e-12 * max(values[-1], np.finfo(float).tiny)
    return RowSpan(basis, np.ascontiguousarray(vectors[:, kept]), values[kept])


def solve_by_rows(
    basis: Basis,
    W: sparse.csr_array,
    degree: np.ndarray,
    n_components: int,
    correction: Correction,
    scale: np.ndarray | None = None,
) -> Transformation:
    """Solve the problem of :func:`solve_transformation` in the span of the rows.

    ``scale`` (n,) multiplies the rows in the eigenproblem, but not where points are divided by ``v_1'z(x)``.
    """
    span = row_span(basis, W.shape[0])
    values = FeatureBasis(span.vectors)
    solution = solve_transformation(
        replace(values, scale=scale), W, degree, n_components, correction, divisor=values
    )
    C, uniform = solution.coefficients, solution.uniform
    if uniform is not None:
        uniform = span.coefficients(uniform[:, None])[:, 0]
    return replace(solution, coefficients=span.coefficients(C), uniform=uniform)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """``y(x) = G'(x - origin) [/ u'x] + constant`` for features ``x``; ``origin`` is None for sparse ones."""

    _shapes: ClassVar = {"origin": "d", "transformation.coefficients": "d r"}
    transformation: Transformation
    origin: np.ndarray | None = None

    def __call__(self, X: Any) -> np.ndarray:
        """Return the coordinates (n, d) of the rows of ``X``."""
        values = (X if self.origin is None else X - self.origin) @ self.transformation.coefficients
        if self.transformation.uniform is not None:
            values = safe_divide(values, (X @ self.transformation.uniform)[:, None])
        return values + self.transformation.constant

    def jacobian(self, X: Any) -> np.ndarray:
        """Return ``dy/dx`` (n, d, D)."""
        G, uniform = self.transformation.coefficients, self.transformation.uniform
        slope = np.broadcast_to(G.T, (X.shape[0], *G.T.shape))
        if uniform is None:
            return slope.copy()
        value = self(X) - self.transformation.constant
        return safe_divide(slope - value[:, :, None] * uniform, (X @ uniform)[:, None, None])


def feature_map(
    Z: Any, W: sparse.csr_array, degree: np.ndarray, n_components: int, correction: Correction
) -> FeatureMap:
    """Return the transformational embedding of a graph with vertex features ``Z`` (Brand eq. 8)."""
    origin = None
    if correction == "affine" and not sparse.issparse(Z):  # same span, but less cancellation
        origin = degree @ Z / degree.sum()
        Z = Z - origin
    solve = solve_by_rows if Z.shape[1] > Z.shape[0] else solve_transformation
    transformation = solve(FeatureBasis(Z), W, degree, n_components, correction)
    return FeatureMap(transformation.with_signs_of(FeatureMap(transformation)(Z)), origin)
