"""Embedding of graphs: directly (Brand eq. 1-7), or through a description ``z`` of each vertex (eq. 8-12).

With edge weights ``W``, degrees ``D`` and a basis ``Z`` (n, p), one row a vertex, the small problem is ``Z'WZ
v = l Z'DZ v``. It is solved for the smallest ``1 - l``, as ``Z'(D - W)Z v = (1 - l) Z'DZ v``, since that is
what tells maps apart."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from scipy import sparse

from eigenscape._memory import BLOCK_BYTES, row_blocks
from eigenscape._progress import stage
from eigenscape.exceptions import PoleWarning, RankError, UndefinedMapError
from eigenscape.methods.laplacian import next_to_trivial
from eigenscape.methods.mixture import divided
from eigenscape.operators import DividedOperator, as_operator, materialized
from eigenscape.quality.edge_distortion import laplacian_form, remove_loops
from eigenscape.solvers import EigenPairs, SemidefiniteProblem, SolverConfig, generalized_eigh, whiten
from eigenscape.solvers.generalized import GeneralizedPairs, relative_residuals
from eigenscape.solvers.pairs import canonical_signs

Correction = Literal["raw", "affine", "reweighted", "stochastic"]

#: Directions of ``Z'DZ`` (unit diagonal) below this, for each vertex, are left out, but at least below the
#: second. The rounding of ``Z'(D - W)Z`` is divided by it and must stay below the smallest ``1 - l``, which
#: falls like 1/n.
_RANK_TOL = 1e-15, 1e-12


class Basis(Protocol):
    """The matrix ``Z`` (n, n_columns), seen in blocks of rows."""

    @property
    def n_columns(self) -> int:
        """p."""
        ...

    @property
    def order(self) -> np.ndarray:
        """The rows in an order in which those near one another fill the same columns."""
        ...

    def block(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Dense rows (b, c) and the columns (c,) they fill; all others are zero."""
        ...

    def apply(self, V: np.ndarray) -> np.ndarray:
        """``Z V`` (n, c)."""
        ...


@dataclass(frozen=True, eq=False)
class FeatureBasis:
    """``Z`` given as it is: features of the vertices, dense or sparse; row i multiplied by ``scale`` (n,) if
    there is one."""

    Z: Any
    scale: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        return self.Z.shape[1]

    @property
    def order(self) -> np.ndarray:
        return np.arange(self.Z.shape[0])

    def block(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Z = self.Z[rows]
        Z = Z.toarray() if sparse.issparse(Z) else Z
        return Z if self.scale is None else Z * self.scale[rows, None], np.arange(self.n_columns)

    def apply(self, V: np.ndarray) -> np.ndarray:
        values = self.Z @ V
        return values if self.scale is None else values * self.scale[:, None]


@dataclass(frozen=True, eq=False)
class Forms:
    """``laplacian`` = ``Z'(D - W)Z`` and ``degree`` = ``Z'DZ``, both (p, p), ``mean`` = ``Z'D1 / volume``
    (p,), ``volume`` = ``1'D1``.

    ``size`` (p,) are the D-norms of the columns before any centring: what is rounding is judged in their
    units, or the rounding left of a column that was constant would pass for a direction."""

    laplacian: np.ndarray
    degree: np.ndarray
    mean: np.ndarray
    volume: float
    size: np.ndarray

    def centered(self) -> Forms:
        """With the D-mean of every column removed; ``D - W`` does not see it."""
        return replace(
            self,
            degree=self.degree - self.volume * np.outer(self.mean, self.mean),
            mean=np.zeros_like(self.mean),
        )


def quadratic_forms(basis: Basis, W: sparse.csr_array, degree: np.ndarray) -> Forms:
    """The matrices of eq. 8, added up over blocks of vertices that fill few columns of ``Z``.

    ``Z'WZ`` is ``H + H'`` with ``H`` from the edges that lead upwards in the basis' order. The diagonal of
    ``W`` is in ``Z'DZ`` alone: it cancels in ``D - W``, and would leave its rounding. No more than about 64
    MB of dense rows exist at a time, whatever the graph."""
    n, p, order = W.shape[0], basis.n_columns, basis.order
    edges = remove_loops(W)
    between, loops = np.asarray(edges.sum(axis=1)).ravel(), W.diagonal()
    upward = sparse.csr_array(sparse.triu(edges[order][:, order], 1))
    size, half, mean = np.zeros((p, p)), np.zeros((p, p)), np.zeros(p)
    looped = np.zeros((p, p)) if loops.any() else None
    most_rows = max(64, min(768, BLOCK_BYTES // (32 * p)))
    with stage("assembly", total=n) as advance:
        for rows in row_blocks(n, 1, most_rows):
            Z, columns = basis.block(order[rows])
            size[np.ix_(columns, columns)] += _weighted_square(Z, between[order[rows]])
            if looped is not None:
                looped[np.ix_(columns, columns)] += _weighted_square(Z, loops[order[rows]])
            mean[columns] += degree[order[rows]] @ Z
            for second, piece in _edge_blocks(upward[rows], 16 * most_rows):
                Z_second, other = basis.block(order[second])
                half[np.ix_(columns, other)] += Z.T @ (piece @ Z_second)
            advance(rows.stop - rows.start)
    volume = float(degree.sum())
    whole = size if looped is None else size + looped
    return Forms(size - half - half.T, whole, mean / volume, volume, np.sqrt(np.diagonal(whole)))


def _weighted_square(Z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    root = np.sqrt(weight)[:, None] * Z
    return root.T @ root


def _edge_blocks(edges: sparse.csr_array, most: int) -> Iterator[tuple[np.ndarray, sparse.csr_array]]:
    """The edges in blocks of at most ``most``: where they lead, and their weights (b, where they lead)."""
    row = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    for some in row_blocks(edges.nnz, 1, most):
        second, column = np.unique(edges.indices[some], return_inverse=True)
        yield (
            second,
            sparse.csr_array((edges.data[some], (row[some], column)), shape=(edges.shape[0], len(second))),
        )


@dataclass(frozen=True, eq=False)
class Transformation:
    """The linear operator ``G`` of a transformational embedding, ``y = G'z [/ u'z] + constant``.

    ``coefficients`` G (p, d); ``uniform`` u (p,) where a correction divides by it, else None; ``eigenvalues``
    (d,) largest first; ``gaps`` = ``1 - l``; ``residuals`` of the small problem relative to ``|Z'DZ| |v|``;
    its ``rank``."""

    coefficients: np.ndarray
    uniform: np.ndarray | None
    constant: np.ndarray
    gaps: np.ndarray
    residuals: np.ndarray
    rank: int

    @property
    def eigenvalues(self) -> np.ndarray:
        return 1 - self.gaps

    def turned(self, Y: np.ndarray) -> Transformation:
        """With the signs that make the largest entry of each coordinate ``Y`` (n, d) of the vertices
        positive."""
        signs = np.sign((canonical_signs(Y) * Y).sum(axis=0))
        return replace(self, coefficients=self.coefficients * signs, constant=self.constant * signs)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """``y(x) = G'(x - origin) [/ u'x] + constant`` for features ``x``, dense or sparse (which have no origin
    but zero)."""

    answer: Transformation
    origin: np.ndarray | None = None

    def __call__(self, X: Any) -> np.ndarray:
        values = (X if self.origin is None else X - self.origin) @ self.answer.coefficients
        if self.answer.uniform is not None:
            values = divided(values, (X @ self.answer.uniform)[:, None])
        return values + self.answer.constant

    def jacobian(self, X: Any) -> np.ndarray:
        """``dy/dx`` (n, d, D)."""
        slope = np.broadcast_to(self.answer.coefficients.T, (X.shape[0], *self.answer.coefficients.T.shape))
        if self.answer.uniform is None:
            return slope.copy()
        value = self(X) - self.answer.constant
        return divided(
            slope - value[:, :, None] * self.answer.uniform, (X @ self.answer.uniform)[:, None, None]
        )


def feature_map(
    Z: Any, W: sparse.csr_array, degree: np.ndarray, n_components: int, correction: Correction
) -> FeatureMap:
    """Transformational embedding of a graph whose vertices have the features ``Z`` (eq. 8)."""
    origin = None
    if correction == "affine" and not sparse.issparse(
        Z
    ):  # the D-mean: the span is the same, and an offset costs no digits
        origin = degree @ Z / degree.sum()
        Z = Z - origin
    answer = transformation(FeatureBasis(Z), W, degree, n_components, correction)
    return FeatureMap(answer.turned(FeatureMap(answer)(Z)), origin)


def affine_transformation(
    basis: Basis, W: sparse.csr_array, degree: np.ndarray, n_components: int
) -> Transformation:
    """``Z`` with a uniform row appended (Brand sec. 2.1), that is with the D-mean removed; scaled to ``Y'DY =
    n``.

    Where a uniform row is in the span of ``Z`` already, all corrections come to this.
    """
    forms = quadratic_forms(basis, W, degree).centered()
    pairs = solved(basis, W, degree, forms, n_components, centered=True)
    G = np.sqrt(W.shape[0]) * pairs.vectors
    constant = -(degree @ basis.apply(G)) / forms.volume
    return Transformation(G, None, constant, pairs.values, pairs.residuals, pairs.rank)


def raw_transformation(
    basis: Basis, W: sparse.csr_array, degree: np.ndarray, n_components: int
) -> tuple[Transformation, np.ndarray]:
    """Eq. 8 as it stands: ``v_2 .. v_{d+1}``, and ``v_1`` scaled so that ``v_1'z`` is one where it is
    uniform."""
    forms = quadratic_forms(basis, W, degree)
    pairs = solved(basis, W, degree, forms, n_components + 1)
    uniform = pairs.vectors[:, 0] * np.sqrt(forms.volume)
    uniform = uniform * (1.0 if uniform @ forms.mean >= 0 else -1.0)
    G = np.sqrt(W.shape[0]) * pairs.vectors[:, 1:]
    zero = np.zeros(n_components)
    return Transformation(G, None, zero, pairs.values[1:], pairs.residuals[1:], pairs.rank), uniform


def transformation(
    basis: Basis,
    W: sparse.csr_array,
    degree: np.ndarray,
    n_components: int,
    correction: Correction,
    plain: Any = None,
) -> Transformation:
    """Transformational embedding with one of the treatments of the lost uniform eigenvector (Brand sec. 2.1).

    ``plain`` is the basis by which points are divided, if it is not ``basis`` itself: multiples of its rows
    serve as well, and may be at hand without underflow. It needs a field ``scale``."""
    if correction == "affine":
        return affine_transformation(basis, W, degree, n_components)
    raw, uniform = raw_transformation(basis, W, degree, n_components)
    if correction == "raw":
        return raw
    plain = basis if plain is None else plain
    below = plain.apply(uniform[:, None])[:, 0]
    if np.abs(below).min() <= 1e-12 * np.abs(below).max():
        raise UndefinedMapError(
            f"correction={correction!r} divides by v_1'z(x), which vanishes at vertex {int(np.argmin(np.abs(below)))}; use"
            " correction='affine'"
        )
    other_side = int(min((below < 0).sum(), (below > 0).sum()))
    if other_side:
        warnings.warn(
            f"correction={correction!r} divides by v_1'z(x), which has the other sign at {other_side} of the {len(below)} vertices: the map"
            " has a pole between them and the others; use correction='affine'",
            PoleWarning,
            stacklevel=2,
        )
    if correction == "reweighted":
        return replace(raw, uniform=uniform)
    reweighted = replace(plain, scale=1 / below)  # eq. 12: Z K, whose span holds the uniform row
    return replace(affine_transformation(reweighted, W, degree, n_components), uniform=uniform)


def solved(
    basis: Basis,
    W: sparse.csr_array,
    degree: np.ndarray,
    forms: Forms,
    count: int,
    centered: bool = False,
    fewer: bool = False,
) -> GeneralizedPairs:
    """The ``count`` smoothest directions of the small problem (eq. 9-11 with a rank guard), polished on the
    vertices themselves.

    Too low a rank is an error, or with ``fewer`` gives as many as there are.
    """
    whitener = whiten(forms.degree, max(_RANK_TOL[0] * W.shape[0], _RANK_TOL[1]), forms.size).whitener
    rank = whitener.shape[1]
    count = min(count, rank) if fewer else count
    if rank < count:
        wanted = count if centered else count - 1
        raise RankError(
            f"n_components={wanted} needs a description of the vertices that spans at least {count} dimensions, but it spans only {rank};"
            " lower n_components or describe the vertices by more"
        )
    pairs = generalized_eigh(forms.laplacian, forms.degree, count, "smallest", whitener)
    Y = basis.apply(pairs.vectors)
    if centered:
        Y = Y - degree @ Y / forms.volume
    weighted = degree[:, None] * Y
    polished = generalized_eigh(laplacian_form(Y, W), Y.T @ weighted, count, "smallest")
    if len(polished.values) < count:
        raise RankError(
            f"n_components={count}: the coordinates of the vertices depend on each other; lower n_components"
        )
    vectors = pairs.vectors @ polished.vectors
    residuals = relative_residuals(forms.laplacian, forms.degree, polished.values, vectors)
    return GeneralizedPairs(polished.values, vectors, residuals, rank)


def direct_embedding(
    W: Any, degree: np.ndarray, n_components: int, solver: SolverConfig
) -> tuple[np.ndarray, EigenPairs]:
    """``v_2 .. v_{d+1}`` of ``W v = l D v`` (eq. 1, 4) by its symmetric form (eq. 7), scaled to ``Y'DY = n``;
    and all pairs found."""
    edges = remove_loops(W)
    between = np.asarray(edges.sum(axis=1)).ravel()
    share = float(
        (between / degree).max()
    )  # below one where all vertices have loops: 1 - l is solved for in units of it
    laplacian = sparse.diags_array(between) - edges
    end = SemidefiniteProblem(
        materialized(DividedOperator(as_operator(sparse.csr_array(laplacian)), share * degree)),
        np.sqrt(degree / degree.sum()),
        2.0,
    )
    pairs = next_to_trivial(end, n_components, solver)
    pairs = replace(pairs, values=1 - share * (1 - pairs.values), residuals=share * pairs.residuals)
    return np.sqrt(W.shape[0]) * pairs.vectors[:, 1:] / np.sqrt(degree)[:, None], pairs
