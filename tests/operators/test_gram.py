"""Gram matrices: each pair evaluated once, and products of thin matrices that are not formed."""

import sys
import tracemalloc
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import sparse

from eigenscape import KernelPCA, LaplacianEigenmaps, SpectralClustering
from eigenscape._native.loops import exponential_tile
from eigenscape.graph.components import component_labels
from eigenscape.kernels import Gaussian
from eigenscape.kernels.pairwise import Cosine, Linear, PairwiseKernel
from eigenscape.operators import BlockedOperator, DenseOperator, FactoredOperator, gram
from eigenscape.operators.gram import check_finite
from eigenscape.pieces.split import affinity_components
from eigenscape.solvers import SolverConfig, principal
from eigenscape.solvers.krylov import block_krylov


def grouped_rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return non-negative rows in five groups."""
    rng = np.random.default_rng(seed)
    return np.abs(rng.standard_normal((n, d))) + 3 * np.eye(d)[rng.integers(5, size=n)]


@dataclass(frozen=True)
class Counted(PairwiseKernel):
    """A Gaussian that counts its evaluations between training rows."""

    counts: list = field(default_factory=list)

    def evaluate(self, Y, X):
        return Gaussian(0.1).evaluate(Y, X)

    def tiles(self, X):
        inner = Gaussian(0.1).tiles(X)

        def tile(rows, columns, out):
            self.counts.append(out.size)
            inner(rows, columns, out)

        return tile


def test_exponentials_equal_numpy_to_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    exponents = -np.abs(rng.standard_normal((7, 1001))) * rng.choice([1e-9, 1.0, 100.0], 1001)
    left, right = rng.uniform(0, 2, 7), rng.uniform(0, 2, 1001)
    values = exponents.copy()
    exponential_tile(values.reshape(-1), 1001, left, right)
    expected = np.exp(exponents - left[:, None] - right)
    np.testing.assert_allclose(values, expected, rtol=5e-16, atol=0)


def test_exponentials_of_large_distances_are_zero_and_of_rounding_errors_one():
    values = np.array([[0.0, 1e-12, -707.9, -709.0, -1e6, -1e300]])
    exponential_tile(values.reshape(-1), 6, np.zeros(1), np.zeros(6))
    assert values[0, :2].tolist() == [1.0, 1.0]
    assert values[0, 2] == pytest.approx(np.exp(-707.9), rel=1e-14)
    assert values[0, 3:].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("m", [1, 2, 65, 513, 1100])
def test_dense_products_are_those_of_numpy_for_any_number_of_threads(m):
    rng = np.random.default_rng(0)
    K = rng.standard_normal((m, m))
    K += K.T
    for columns in (0, 1, 2, 4, 5, 12, 13, 40):
        V = rng.standard_normal((m, columns))
        found = DenseOperator(K, n_jobs=1).matmat(V)
        np.testing.assert_allclose(found, K @ V, rtol=0, atol=1e-13 * m)
        np.testing.assert_array_equal(DenseOperator(K, n_jobs=2).matmat(V), found)
        np.testing.assert_allclose(DenseOperator(np.asfortranarray(K)).matmat(V), found, rtol=1e-12)
        single = K.astype(np.float32)
        np.testing.assert_allclose(
            DenseOperator(single).matmat(V), single.astype(np.float64) @ V, rtol=0, atol=1e-13 * m
        )


@pytest.mark.parametrize("storage", ["auto", "blocked"])
def test_each_pair_of_points_is_evaluated_once(storage):
    X = np.random.default_rng(0).standard_normal((2000, 5))
    kernel = Counted()
    operator = gram(kernel.bind(X), storage)
    operator.matmat(np.ones((2000, 3)))
    assert 2000 * 2000 / 2 <= sum(kernel.counts) <= 2000 * (2000 + 512) / 2


def test_blocked_products_are_those_of_the_stored_matrix_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    X, V = rng.standard_normal((1300, 8)), rng.standard_normal((1300, 4))
    kernel = Gaussian(0.1).bind(X)
    one, two = (gram(kernel, "blocked", n_jobs).matmat(V) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, gram(kernel).matrix() @ V, rtol=0, atol=1e-11)
    assert isinstance(gram(kernel, "blocked"), BlockedOperator)


@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_gram_matrices_are_symmetric_and_equal_the_kernel(n_jobs):
    X = 5 + np.random.default_rng(0).standard_normal((1100, 6))
    for kernel in (Gaussian(0.2), Linear(around_mean=True), Cosine()):
        bound = kernel.bind(X)
        array = gram(bound, n_jobs=n_jobs, factored=False).matrix()
        np.testing.assert_array_equal(array, array.T)
        np.testing.assert_allclose(array, bound(X), rtol=0, atol=1e-13 * np.abs(array).max())


THIN = {
    "kernel PCA, cosine": lambda **kw: KernelPCA(4, kernel="cosine", **kw),
    "kernel PCA, linear": lambda **kw: KernelPCA(4, kernel="linear", **kw),
    "eigenmaps, cosine": lambda **kw: LaplacianEigenmaps(3, affinity="cosine", **kw),
    "eigenmaps, linear": lambda **kw: LaplacianEigenmaps(3, affinity="linear", **kw),
    "clustering, cosine": lambda **kw: SpectralClustering(5, affinity="cosine", **kw),
}


def rows_of_kind(kind: str) -> object:
    if kind == "dense":
        return grouped_rows(900, 20)
    X = grouped_rows(900, 600)
    X[X < 1.0] = 0.0
    return sparse.csr_array(X)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", THIN)
def test_thin_factors_give_the_map_of_the_dense_matrix(name, kind):
    X = rows_of_kind(kind)
    model = THIN[name]().fit(X)
    dense = THIN[name](eigen_solver="dense").fit(X)
    assert (model.solver_, dense.solver_) == ("factored", "dense")
    np.testing.assert_allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-10)
    scale = np.abs(dense.embedding_).max()
    np.testing.assert_allclose(model.embedding_, dense.embedding_, rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=0, atol=1e-10 * scale)
    new = X[:50] * 0.5 + X[100:150] * 0.5
    np.testing.assert_allclose(model.transform(new), dense.transform(new), rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(
        model.transform(new[7:8]), model.transform(new)[7:8], rtol=0, atol=1e-12 * scale
    )


@pytest.mark.parametrize("name", THIN)
def test_no_matrix_of_all_pairs_is_formed_for_thin_rows(name):
    n = 6000
    X = grouped_rows(n, 20)
    THIN[name]().fit(X[:700]).transform(X[:5])  # compiled, imported
    tracemalloc.start()
    THIN[name]().fit(X).transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 10


def test_components_of_thin_rows_are_those_of_their_products():
    rng = np.random.default_rng(1)
    X = np.zeros((60, 12))
    for i, group in enumerate(rng.integers(4, size=60)):
        X[i, 3 * group + rng.integers(3, size=2)] = rng.uniform(0.1, 1, 2)
    operator = gram(Cosine().bind(X))
    assert isinstance(operator, FactoredOperator)
    np.testing.assert_array_equal(
        component_labels(operator.links()), component_labels(sparse.csr_array(X @ X.T))
    )


def test_rows_with_negative_entries_are_judged_by_all_their_products():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 5))
    with pytest.raises(ValueError, match="must not be negative"):
        LaplacianEigenmaps(2, affinity="cosine").fit(X)
    far = X * 0.1 + 1.0  # no angle above 90 degrees
    far[0, 0] = -0.01
    assert LaplacianEigenmaps(2, affinity="cosine").fit(far).embedding_.shape == (700, 2)


def test_lanczos_does_not_accept_one_vector_of_a_multiple_eigenvalue():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((400, 400)))[0]
    spectrum = np.concatenate([[9.0, 9.0, 9.0, 5.0, 4.0], np.linspace(1, 0, 395)])
    A = (basis * spectrum) @ basis.T
    A = (A + A.T) / 2
    pairs = principal(DenseOperator(A), 5, "value", SolverConfig())
    np.testing.assert_allclose(pairs.values, spectrum[:5], rtol=1e-12)
    known = basis[:, :2]
    result = block_krylov(lambda V: A @ V, 400, 2, tol=1e-11, noise=0.0, known=known)
    assert result.converged
    np.testing.assert_allclose(result.values, [9.0, 5.0], rtol=1e-12)


def test_few_pairs_of_500_points_are_iterated_and_many_are_not():
    X = np.random.default_rng(0).standard_normal((500, 6))
    few, many = (KernelPCA(count, gamma=0.1).fit(X) for count in (2, 40))
    assert (few.solver_, many.solver_) == ("lanczos", "dense")
    np.testing.assert_allclose(few.eigenvalues_, many.eigenvalues_[:2], rtol=1e-12)


def test_the_row_of_a_value_that_is_not_finite_is_counted_from_the_first_of_all_blocks():
    values = np.zeros((4, 3))
    values[2, 1] = np.nan
    for given in (values, sparse.csr_array(values)):
        with pytest.raises(ValueError, match=r"row 12 of the Gram matrix"):
            check_finite(given, 10)


def test_rounding_errors_of_a_kernel_leave_the_matrix_symmetric():
    class Rounded(PairwiseKernel):
        """Inner products with an error of rounding that depends on the order of the arguments."""

        def evaluate(self, Y, X):
            return Y @ X.T * (1 + 1e-15 * np.sin(1e3 * (Y[:, :1] - 2 * X[:, 0])))

    X = np.random.default_rng(0).normal(size=(300, 3))
    K = gram(Rounded().bind(X)).matrix()
    one = Rounded().evaluate(X, X)
    assert (one != one.T).any()
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, (one + one.T) / 2, rtol=1e-15)


@pytest.mark.parametrize("rows", [1, 4, 30])
def test_components_and_the_lowest_value_from_blocks(rows, monkeypatch):
    monkeypatch.setattr(sys.modules[BlockedOperator.__module__], "BLOCK_BYTES", 24 * 30 * rows)
    group = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [15, 10, 5]))
    X = group + np.linspace(0, 0.3, 30)

    @dataclass(frozen=True)
    class Near(PairwiseKernel):
        """Zero between groups, negative for one pair of rows."""

        def evaluate(self, Y, X):
            values = np.maximum(0.5 - np.abs(Y - X.T), 0.0)
            values[np.ix_(Y[:, 0] == start, X[:, 0] == start)] = -0.25
            return values

    start = X[3]
    lowest, labels = affinity_components(BlockedOperator(Near().bind(X[:, None]), None, 1))
    assert lowest == -0.25
    assert len(set(zip(labels, group, strict=True))) == 3
    assert len(set(labels)) == 3
