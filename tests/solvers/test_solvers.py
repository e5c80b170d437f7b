"""Solvers and operators against numpy's dense results."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import fft, sparse

from eigenscape import ClassicalMDS, LaplacianEigenmaps
from eigenscape.exceptions import DegenerateSpectrumWarning, DisconnectedGraphWarning, NotConvergedError
from eigenscape.kernels import Gaussian
from eigenscape.operators import (
    BlockedOperator,
    CenteredOperator,
    ComplementOperator,
    DenseOperator,
    DividedOperator,
    as_operator,
    gram,
)
from eigenscape.quality.spectra import _quadrature, is_euclidean, lowest_eigenvalue, negative_fraction
from eigenscape.solvers import EigenPairs, SolverConfig, principal, smallest
from eigenscape.solvers.direct import inverse_on_complement
from eigenscape.solvers.pairs import canonical_signs
from eigenscape.solvers.solve import SemidefiniteProblem
from eigenscape.solvers.width import _breadth_first

RNG = np.random.default_rng


def with_spectrum(values, seed=0):
    """Return a dense symmetric matrix with the given eigenvalues."""
    Q = np.linalg.qr(RNG(seed).standard_normal((len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


def random_psd(m):
    B = RNG(1).standard_normal((m, m))
    return B @ B.T / m


MATRICES = {
    "random": random_psd(120),
    "low rank": with_spectrum(np.r_[9.0, 7.0, 4.0, 2.0, np.zeros(116)]),
    "indefinite": with_spectrum(np.linspace(-30, 20, 120) ** 3 / 1e3),
    "multiple": with_spectrum(np.r_[5.0, 5.0, 5.0, 5.0, 5.0, np.linspace(0, 3, 115)]),
    "near multiple": with_spectrum(np.r_[5.0, 5.0 - 1e-9, 5.0 - 2e-9, np.linspace(0, 3, 117)]),
    "decades": with_spectrum(10.0 ** -np.linspace(0, 20, 120)),
    "all negative": with_spectrum(-np.linspace(1, 5, 120)),
    "tiny": 1e-12 * random_psd(120),
    "huge": 1e12 * random_psd(120),
}


def check_pairs(pairs: EigenPairs, A, expected):
    """Check eigenvalues, orthonormality of the vectors, and reported residuals."""
    norm = np.abs(np.linalg.eigvalsh(A)).max()
    assert_allclose(pairs.values, expected, rtol=1e-9, atol=1e-12 * norm)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(len(pairs)), atol=1e-10)
    residuals = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert_allclose(pairs.residuals, residuals, atol=1e-13 * norm)
    assert np.all(residuals <= 1e-10 * np.abs(pairs.values) + 1e-12 * norm)


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos"])
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("name", MATRICES)
def test_principal_by_value(name, count, solver):
    A = MATRICES[name]
    pairs = principal(as_operator(A), count, "value", SolverConfig(solver))
    check_pairs(pairs, A, np.sort(np.linalg.eigvalsh(A))[::-1][:count])


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos"])
@pytest.mark.parametrize("name", ["random", "indefinite", "low rank", "multiple", "all negative"])
def test_principal_by_magnitude(name, solver):
    A = MATRICES[name]
    values = np.linalg.eigvalsh(A)
    expected = values[np.argsort(-np.abs(values), kind="stable")][:4]
    check_pairs(principal(as_operator(A), 4, "magnitude", SolverConfig(solver)), A, expected)


def test_magnitude_order_mixes_signs():
    A = with_spectrum(np.r_[-8.0, 6.0, -4.0, 3.0, np.linspace(-1, 1, 60)])
    for solver in ("dense", "lanczos"):
        assert_allclose(
            principal(as_operator(A), 4, "magnitude", SolverConfig(solver)).values, [-8, 6, -4, 3], rtol=1e-9
        )


@pytest.mark.parametrize("solver", ["dense", "lanczos"])
def test_the_whole_spectrum(solver):
    A = random_psd(12)
    check_pairs(principal(as_operator(A), 12, "value", SolverConfig(solver)), A, np.linalg.eigvalsh(A)[::-1])


def test_principal_above_the_dense_limit():
    m = 700
    A = with_spectrum(np.r_[50.0, 40.0, 30.0, RNG(2).random(m - 3)])
    pairs = principal(as_operator(A), 3, "value", SolverConfig())
    assert pairs.solver == "lanczos"
    check_pairs(pairs, A, [50, 40, 30])


def test_auto_falls_back_to_dense_where_krylov_does_not_converge():
    A = with_spectrum(np.linspace(0.999, 1.0, 600))
    pairs = principal(as_operator(A), 3, "value", SolverConfig(max_iter=2))
    assert pairs.solver == "dense"
    check_pairs(pairs, A, np.linspace(0.999, 1.0, 600)[::-1][:3])


def test_principal_of_a_zero_matrix():
    pairs = principal(as_operator(np.zeros((20, 20))), 3, "value", SolverConfig("lanczos"))
    assert_allclose(pairs.values, 0.0, atol=0)


# Smallest eigenvalues


def ring(n):
    step = np.arange(n)
    W = sparse.coo_array((np.ones(n), (step, (step + 1) % n)), shape=(n, n))
    return sparse.csr_array(W + W.T)


def chain(n):
    W = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    return sparse.csr_array(W)


def random_graph(n):
    W = sparse.random_array((n, n), density=8 / n, random_state=RNG(3))
    return sparse.csr_array(W + W.T + chain(n))


GRAPHS = {
    "ring": ring(101),
    "chain": chain(90),
    "random": random_graph(110),
    "complete": sparse.csr_array(np.ones((60, 60)) - np.eye(60)),
}


def laplacian(W):
    """``I - S^-1/2 W S^-1/2`` and its null vector."""
    S = np.asarray(W.sum(axis=1)).ravel()
    root = sparse.diags_array(1 / np.sqrt(S))
    return sparse.csr_array(sparse.eye_array(len(S)) - root @ W @ root), np.sqrt(S / S.sum())


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos", "shift-invert", "multilevel"])
@pytest.mark.parametrize("name", GRAPHS)
def test_smallest_of_graph_laplacians(name, solver):
    L, null = laplacian(GRAPHS[name])
    pairs = smallest(SemidefiniteProblem(as_operator(L), null, 2.0), 4, SolverConfig(solver))
    A = L.toarray()
    check_pairs(pairs, A, np.linalg.eigvalsh(A)[1:5])
    assert_allclose(null @ pairs.vectors, 0, atol=1e-10)


@pytest.mark.parametrize("solver", ["auto", "shift-invert", "lanczos", "multilevel"])
@pytest.mark.parametrize("graph", [chain, random_graph])
def test_smallest_above_the_dense_limit(graph, solver):
    L, null = laplacian(graph(600 if solver != "lanczos" else 150))
    pairs = smallest(SemidefiniteProblem(as_operator(L), null, 2.0), 3, SolverConfig(solver))
    check_pairs(pairs, L.toarray(), np.linalg.eigvalsh(L.toarray())[1:4])


@pytest.mark.parametrize("features", [2, 10, 30])
def test_default_solver_on_clouds_of_any_dimension(features):
    """Neighbourhood graphs of many features are expanders, whose eigenvalues are close together."""
    X = RNG(0).standard_normal((1000, features))
    model = LaplacianEigenmaps(2).fit(X)
    assert np.all(model.residuals_ <= 1e-10)


def test_a_long_chain_climbs_to_the_inverse():
    n = 3000
    L, null = laplacian(chain(n))
    pairs = smallest(SemidefiniteProblem(as_operator(L), null, 2.0), 2, SolverConfig())
    assert pairs.solver == "shift-invert"
    assert_allclose(pairs.values, 1 - np.cos(np.pi * np.arange(1, 3) / (n - 1)), rtol=1e-7)


def test_smallest_of_a_dense_operator():
    L, null = laplacian(GRAPHS["random"])
    for solver in ("auto", "dense", "lanczos"):
        pairs = smallest(SemidefiniteProblem(as_operator(L.toarray()), null, 2.0), 3, SolverConfig(solver))
        check_pairs(pairs, L.toarray(), np.linalg.eigvalsh(L.toarray())[1:4])


def test_as_many_as_there_are():
    L, null = laplacian(ring(9))
    for solver in ("dense", "lanczos", "shift-invert"):
        pairs = smallest(SemidefiniteProblem(as_operator(L), null, 2.0), 8, SolverConfig(solver))
        assert_allclose(pairs.values, np.linalg.eigvalsh(L.toarray())[1:], atol=1e-12)


def test_shift_invert_needs_a_sparse_matrix():
    L, null = laplacian(ring(20))
    with pytest.raises(ValueError, match=r"multilevel.*sparse"):
        smallest(SemidefiniteProblem(as_operator(L.toarray()), null, 2.0), 2, SolverConfig("multilevel"))
    with pytest.raises(ValueError, match="sparse"):
        smallest(SemidefiniteProblem(as_operator(L.toarray()), null, 2.0), 2, SolverConfig("shift-invert"))
    with pytest.raises(ValueError, match="shift-invert"):
        principal(as_operator(L), 2, "value", SolverConfig("shift-invert"))


# Errors and warnings


@pytest.mark.parametrize("max_iter", [1, 3])
def test_not_converged_names_residual_and_remedy(max_iter):
    A = with_spectrum(np.linspace(0.9, 1.0, 300))
    with pytest.raises(NotConvergedError, match=r"angle .* residual .*max_iter.*tol.*dense") as caught:
        principal(as_operator(A), 3, "value", SolverConfig("lanczos", max_iter=max_iter))
    assert isinstance(caught.value, RuntimeError)
    assert len(caught.value.residuals) == 3
    assert caught.value.embedding_.shape == (300, 3)
    assert max(caught.value.residuals) > 1e-10


def test_not_converged_smallest_eigenvalues():
    L, null = laplacian(chain(400))
    with pytest.raises(NotConvergedError, match="residual"):
        smallest(SemidefiniteProblem(as_operator(L), null, 2.0), 2, SolverConfig("lanczos", max_iter=3))


@pytest.mark.parametrize("max_iter", [0, -1])
def test_no_steps_at_all_is_refused_in_words(max_iter):
    with pytest.raises((ValueError, NotConvergedError), match="max_iter"):
        principal(as_operator(random_psd(50)), 2, "value", SolverConfig("lanczos", max_iter=max_iter))


def test_unknown_solver_and_bad_tolerance():
    with pytest.raises(ValueError, match="eigen_solver='arpack'"):
        SolverConfig("arpack")
    with pytest.raises(ValueError, match="tol=-1"):
        SolverConfig(tol=-1)
    with pytest.raises(ValueError, match="tol=nan"):
        SolverConfig(tol=float("nan"))


@pytest.mark.parametrize("seed", range(6))
def test_degenerate_spectrum_is_announced(seed):
    """Four separate rings have more null vectors than the two coordinates requested."""
    W = sparse.csr_array(sparse.block_diag([ring(9)] * 4))
    L, null = laplacian(W)
    for solver in ("dense", "lanczos", "shift-invert"):
        with pytest.warns(DegenerateSpectrumWarning, match="not determined"):
            smallest(SemidefiniteProblem(as_operator(L), null, 2.0), 2, SolverConfig(solver, seed=seed))


def test_a_resolved_null_space_is_not_announced():
    """Three separate rings have two further null vectors, as many as coordinates requested."""
    W = sparse.csr_array(sparse.block_diag([ring(9)] * 3))
    L, null = laplacian(W)
    for solver in ("dense", "lanczos", "shift-invert"):
        pairs = smallest(SemidefiniteProblem(as_operator(L), null, 2.0), 2, SolverConfig(solver))
        assert_allclose(pairs.values, 0, atol=1e-12)


# Signs


def test_signs_are_canonical():
    V = RNG(4).standard_normal((30, 6))
    fixed = canonical_signs(V)
    largest = np.abs(fixed).argmax(axis=0)
    assert np.all(fixed[largest, np.arange(6)] > 0)
    assert_allclose(canonical_signs(V * [1, -1, 1, -1, -1, 1]), fixed, atol=0)
    assert_allclose(np.abs(fixed), np.abs(V), atol=0)


def test_the_first_of_equal_entries_decides():
    noise = 1e-12 * RNG(5).standard_normal((4, 20))
    V = np.array([-1.0, 1.0, 1.0, -1.0])[:, None] / 2 + noise
    assert np.all(canonical_signs(V)[0] > 0)
    assert_allclose(canonical_signs(np.zeros((3, 1))), 0, atol=0)


def test_the_seed_does_not_change_the_answer():
    A = as_operator(with_spectrum(np.r_[9.0, 7.0, 5.0, np.linspace(0, 1, 200)]))
    first, second = (principal(A, 3, "value", SolverConfig("lanczos", seed=seed)) for seed in (0, 1))
    assert_allclose(first.vectors, second.vectors, atol=1e-9)


# Operators


def check_operator(operator, expected):
    V = RNG(6).standard_normal((len(expected), 3))
    assert operator.shape == expected.shape
    scale = np.abs(expected).max()
    assert_allclose(operator.matmat(V), expected @ V, atol=1e-12 * scale * len(expected))
    assert_allclose(operator.diagonal(), np.diag(expected), atol=1e-12 * scale)
    matrix = operator.matrix()
    if matrix is not None:
        assert_allclose(matrix.toarray() if sparse.issparse(matrix) else matrix, expected, atol=1e-12 * scale)


BASES = {"dense": random_psd(25), "sparse": random_graph(25)}


def explicit(base):
    return base.toarray() if sparse.issparse(base) else base


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_plain_operator(base):
    check_operator(as_operator(base), explicit(base))


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_centered_operator(base):
    for c in (np.full(25, 1 / 25), np.r_[3.0, -2.0, np.zeros(23)], np.eye(25)[4]):
        P = np.eye(25) - np.outer(np.ones(25), c)  # Burges sec. 2.2.1
        check_operator(CenteredOperator(as_operator(base), c), P @ explicit(base) @ P.T)


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_divided_operator(base):
    sums = RNG(7).random(25) + 0.5
    check_operator(
        DividedOperator(as_operator(base), sums), explicit(base) / np.sqrt(np.outer(sums, sums))
    )  # Bengio eq. 11


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
@pytest.mark.parametrize("c", [0.0, 1.0, 2.5])
def test_complement_operator(base, c):
    check_operator(ComplementOperator(as_operator(base), c), c * np.eye(25) - explicit(base))


def test_operators_leave_their_bases_alone():
    A = random_psd(10)
    before = A.copy()
    base = as_operator(A)
    ComplementOperator(base).matrix()
    CenteredOperator(base, np.full(10, 0.1)).matrix()
    DividedOperator(base, A.sum(axis=1) ** 2 + 1).matrix()
    assert np.array_equal(A, before)


@pytest.mark.parametrize("rows", [1, 7, 25, 100])
def test_blocked_operator(rows, monkeypatch):
    X = RNG(8).standard_normal((25, 3))
    kernel = Gaussian(0.5).bind(X)
    monkeypatch.setattr(sys.modules[BlockedOperator.__module__], "BLOCK_BYTES", 24 * 25 * rows)
    operator = BlockedOperator(kernel)
    assert len(list(operator.blocks())) == -(-25 // rows)
    assert operator.matrix() is None
    check_operator(operator, kernel(X))
    centred = CenteredOperator(operator, np.full(25, 1 / 25))
    assert centred.matrix() is None
    P = np.eye(25) - 1 / 25
    check_operator(centred, P @ kernel(X) @ P)


def test_blocked_and_dense_solve_alike():
    X = RNG(9).standard_normal((60, 3))
    kernel = Gaussian(0.5).bind(X)
    stored, blocked = gram(kernel), gram(kernel, "blocked")
    assert isinstance(stored, DenseOperator)
    assert isinstance(blocked, BlockedOperator)
    for one in ("auto", "lanczos"):
        assert_allclose(
            principal(blocked, 3, "value", SolverConfig(one)).vectors,
            principal(stored, 3, "value", SolverConfig()).vectors,
            atol=1e-8,
        )


def test_a_kernel_that_is_not_finite_names_its_row():
    class Broken:
        X = np.arange(8.0)[:, None]

        def __call__(self, Y):
            return np.where(Y == 5.0, np.nan, 1.0) * np.ones(8)

    with pytest.raises(ValueError, match="row 5"):
        gram(Broken())


# Spectra without the whole matrix


class Rotated:
    """A large dense matrix with a given spectrum, in the basis of signed cosines, with fast products."""

    def __init__(self, values):
        self.values = values
        self.signs = RNG(10).choice([-1.0, 1.0], size=len(values))
        self.shape = (len(values), len(values))

    def matmat(self, V):
        inside = fft.dct(self.signs[:, None] * V, axis=0, norm="ortho")
        return self.signs[:, None] * fft.idct(self.values[:, None] * inside, axis=0, norm="ortho")

    def magnitude(self):
        return float(np.abs(self.values).max())

    def matrix(self):
        return None


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_estimated_negative_fraction(seed):
    """Stochastic quadrature against exact sums, at a size at which it is used."""
    values = np.r_[np.linspace(1, 100, 1200), -np.linspace(0.1, 20, 2400)]
    exact = np.maximum(-values, 0).sum() / np.abs(values).sum()
    assert negative_fraction(Rotated(values), seed) == pytest.approx(exact, abs=0.01)
    _, weights = _quadrature(Rotated(values), seed)
    assert weights.sum() == pytest.approx(3600, rel=1e-9)


def test_exact_negative_fraction():
    values = np.r_[np.linspace(1, 100, 20), -np.linspace(0.1, 20, 40)]
    exact = np.maximum(-values, 0).sum() / np.abs(values).sum()
    assert negative_fraction(as_operator(with_spectrum(values))) == pytest.approx(exact, rel=1e-9)


def test_quadrature_is_exact_for_a_multiple_of_the_identity_and_for_low_degree():
    nodes, weights = _quadrature(as_operator(3.0 * np.eye(50)), 0)
    assert weights @ nodes == pytest.approx(150, rel=1e-9)
    assert weights @ np.abs(nodes) == pytest.approx(150, rel=1e-9)


def test_quadrature_of_a_low_rank_indefinite_matrix():
    """The Krylov spaces of the probes are exhausted after three steps; later steps must not count."""
    A = with_spectrum(np.r_[4.0, -2.0, np.zeros(398)], seed=3)
    nodes, weights = _quadrature(as_operator(A), 0)
    probes = RNG(0).choice([-1.0, 1.0], size=(400, 12))
    Q = np.linalg.eigh(A)[1][:, [0, -1]]
    expected = np.square(Q.T @ probes).mean(axis=1)
    assert weights @ np.maximum(-nodes, 0) == pytest.approx(2 * expected[0], rel=1e-8)
    assert weights @ np.maximum(nodes, 0) == pytest.approx(4 * expected[1], rel=1e-8)


@pytest.fixture
def small_limit(monkeypatch):
    monkeypatch.setattr("eigenscape.quality.spectra._EXACT_POINTS", 50)


def test_lowest_eigenvalue_above_the_exact_limit(small_limit):
    values = np.r_[np.linspace(1, 100, 80), -np.linspace(0.1, 20, 80)]
    A = as_operator(with_spectrum(values))
    assert lowest_eigenvalue(A) == pytest.approx(-20, rel=1e-5)
    assert not is_euclidean(A)
    assert lowest_eigenvalue(as_operator(random_psd(120))) == 0.0


def test_euclidean_above_the_exact_limit(small_limit):
    """The lowest eigenvalue of Euclidean distances is zero, with a residual at rounding of the *largest*."""
    assert is_euclidean(as_operator(with_spectrum(np.r_[3.0, 2.0, 1.0, np.zeros(100)])))
    model = ClassicalMDS(2).fit(RNG(11).standard_normal((120, 3)))
    assert model.is_euclidean_
    assert model.negative_fraction_ == pytest.approx(0, abs=1e-10)


def torus(side):
    """Return the graph of a periodic square lattice, whose eigenvalues have multiplicities of 4 and 8."""
    ring_graph = sparse.csr_array(
        sparse.diags_array([1.0, 1.0, 1.0, 1.0], offsets=[-1, 1, side - 1, 1 - side], shape=(side, side))
    )
    return sparse.csr_array(sparse.kronsum(ring_graph, ring_graph))


@pytest.mark.parametrize("seed", range(5))
def test_lanczos_finds_multiple_eigenvalues(seed):
    L, null = laplacian(torus(20))
    problem = SemidefiniteProblem(as_operator(L), null, 2.0)
    pairs = smallest(problem, 12, SolverConfig("lanczos", seed=seed))
    assert_allclose(pairs.values, np.linalg.eigvalsh(L.toarray())[1:13], atol=1e-12)
    assert pairs.residuals.max() < 1e-12


def test_a_missed_eigenvector_is_noticed():
    from eigenscape.solvers.lanczos import smallest_beside

    L, _ = laplacian(torus(20))
    values, vectors = np.linalg.eigh(L.toarray())
    assert smallest_beside(L, 2.0, vectors[:, :13], seed=0) >= values[13]
    assert smallest_beside(L, 2.0, np.delete(vectors[:, :13], 3, axis=1), seed=0) < values[8]


def test_lanczos_gives_up_a_path_but_not_a_cloud():
    """The eigenvalues of a path of 3000 vertices are below 1e-5, too close for 40 vectors."""
    from eigenscape.solvers.lanczos import thick_restart_lanczos

    path = sparse.csr_array(sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(3000, 3000)))
    options = {"wanted": 2, "tol": 1e-12, "max_restarts": 40, "give_up": True, "rng": RNG(0)}
    L, null = laplacian(path)
    slow = thick_restart_lanczos(L, 2.0, 3, null[:, None], **options)
    assert not slow.converged
    assert slow.n_iter < 40
    W = RNG(1).random((300, 300)) < 0.1
    L, null = laplacian(sparse.csr_array((W | W.T).astype(float)))
    fast = thick_restart_lanczos(L, 2.0, 3, null[:, None], **options)
    assert fast.converged
    assert_allclose(fast.values[:2], np.linalg.eigvalsh(L.toarray())[1:3], rtol=1e-12)
    residuals = np.linalg.norm(L @ fast.vectors - fast.vectors * fast.values, axis=0)
    assert residuals[:2].max() < 1e-12


@pytest.mark.long
def test_solvers_of_wide_graphs():
    """Points in many dimensions, and clusters of them that are joined by single edges."""
    rng = RNG(0)
    cloud = rng.standard_normal((1200, 30))
    clusters = cloud + 40 * rng.standard_normal((6, 30))[np.repeat(np.arange(6), 200)]
    for X in (cloud, clusters):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            model = LaplacianEigenmaps(4).fit(X)
            exact = LaplacianEigenmaps(4, eigen_solver="dense").fit(X)
        assert model.solver_ == "lanczos"
        assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)


def test_gram_matrix_of_tiles_is_symmetric_and_the_kernel():
    X = RNG(0).standard_normal((1300, 7)) + 100
    kernel = Gaussian(0.1).bind(X)
    K = gram(kernel).matrix()
    assert (K == K.T).all()
    assert_allclose(K, kernel(X), rtol=1e-10)
    V = RNG(1).standard_normal((1300, 5))
    assert_allclose(DenseOperator(K).matmat(V), K @ V, rtol=1e-10)
    assert (DenseOperator(K, 1).matmat(V) == DenseOperator(K, 2).matmat(V)).all()


def test_taken_pairs_have_their_own_residuals():
    pairs = EigenPairs(np.array([3.0, 2.0, 1.0]), np.eye(3), np.array([0.3, 0.2, 0.1]), "dense", 4)
    some = pairs.take(np.array([2, 0]))
    assert_array_equal(some.values, [1.0, 3.0])
    assert_array_equal(some.residuals, [0.1, 0.3])
    assert_array_equal(some.vectors, np.eye(3)[:, [2, 0]])
    assert_array_equal(pairs.take(slice(1, None)).residuals, [0.2, 0.1])


def test_the_inverse_is_orthogonal_to_the_null_vector_on_both_sides():
    """A part of the null vector that is left is divided by a shift at rounding level."""
    L, null = laplacian(ring(60))
    V = RNG(0).standard_normal((60, 3)) + null[:, None]
    exact = np.linalg.pinv(L.toarray(), hermitian=True) @ V
    for thin in (True, False):
        found = inverse_on_complement(L, null, thin)(V)
        assert np.abs(null @ found).max() < 1e-14 * np.abs(found).max()
        assert_allclose(found, exact, atol=1e-9 * np.abs(exact).max())


def test_vertices_of_other_components_are_last_in_a_search():
    edge = sparse.coo_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    order, depth, widest = _breadth_first(sparse.csr_array(sparse.block_diag([edge, edge])))
    assert order.tolist() == [0, 1, 2, 3]
    assert depth.tolist() == [0, 1, -1, -1]
    assert widest == 1
