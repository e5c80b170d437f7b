"""PCA against its equations and scikit-learn; chunks, weights, sparse data and errors."""

from __future__ import annotations

import itertools
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn import decomposition
from sklearn.exceptions import NotFittedError

from eigenscape import PCA, KernelPCA
from eigenscape.eigenfunctions import Eigenfunctions
from eigenscape.exceptions import DegenerateSpectrumWarning
from eigenscape.solvers import EigenPairs

some = settings(max_examples=25, deadline=None, derandomize=True)


def rows(n: int, d: int, offset: float = 0.0, seed: int = 0) -> np.ndarray:
    """Return rows with a decaying spectrum around an offset."""
    rng = np.random.default_rng(seed)
    rank = min(n, d)
    return (
        rng.standard_normal((n, rank)) @ (0.9 ** np.arange(rank)[:, None] * rng.standard_normal((rank, d)))
        + offset
    )


def few_counts(n: int, d: int, seed: int = 0) -> sparse.csr_array:
    """Return sparse rows of counts over a few topics."""
    rng = np.random.default_rng(seed)
    topics = sparse.random_array((8, d), density=min(0.1, 100 / d), random_state=rng)
    shares = rng.dirichlet(np.full(8, 0.2), n)
    return sparse.csr_array(
        sparse.csr_array(shares) @ topics
        + sparse.random_array((n, d), density=min(0.01, 100 / d), random_state=rng)
    )


def between(A: np.ndarray, B: np.ndarray) -> float:
    """Return the sine of the largest angle between the row spaces of ``A`` and ``B``."""
    return float(np.linalg.norm(A - (A @ B.T) @ B, 2))


def same_up_to_sign(A: np.ndarray, B: np.ndarray, atol: float) -> None:
    signs = np.sign(np.sum(A * B, axis=-1, keepdims=True))
    assert_allclose(A * signs, B, atol=atol)


# --- literal transcription of the equations -----------------------------------------------------------------


def literal_pca(X: np.ndarray, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute variances and directions of ``C = 1/m sum (x - mu)(x - mu)'`` (Burges sec. 1.1.2)."""
    mean = sum(X) / len(X)
    C = sum(np.outer(x - mean, x - mean) for x in X) / len(X)
    values, vectors = np.linalg.eigh(C)
    return values[::-1][:q], vectors[:, ::-1][:, :q].T


@pytest.mark.parametrize("shape", [(60, 7), (12, 30)])
def test_directions_and_variances_of_the_covariance(shape: tuple[int, int]) -> None:
    X = rows(*shape, offset=3)
    variances, directions = literal_pca(X, 4)
    model = PCA(4).fit(X)
    assert_allclose(model.eigenvalues_ / len(X), variances, rtol=1e-10)
    same_up_to_sign(model.components_, directions, 1e-9)
    projected = (X - X.mean(axis=0)) @ model.components_.T
    assert_allclose(
        projected.T @ projected, np.diag(model.eigenvalues_), atol=1e-10 * model.eigenvalues_[0]
    )  # sec. 1.1.3


@pytest.mark.parametrize("shape", [(60, 7), (12, 30)])
def test_transform_is_the_nystrom_formula(shape: tuple[int, int]) -> None:
    X, Y = rows(*shape, offset=2), rows(9, shape[1], seed=1)
    model = PCA(3).fit(X)
    values, vectors = np.linalg.eigh(model.kernel_(X))
    pairs = EigenPairs(values[::-1][:3], vectors[:, ::-1][:, :3], np.zeros(3), "dense")
    functions = Eigenfunctions(model.kernel_, pairs)(Y)  # Bengio eq. 20
    same_up_to_sign(model.eigenfunctions(Y).T, functions.T, 1e-8)
    same_up_to_sign(model.transform(Y).T, (functions * np.sqrt(pairs.values / len(X))).T, 1e-8)


def test_it_is_kernel_pca_with_a_linear_kernel() -> None:
    X, Y = rows(80, 6, offset=5), rows(10, 6, seed=1)
    linear, model = KernelPCA(3, kernel="linear").fit(X), PCA(3).fit(X)
    assert_allclose(model.eigenvalues_, linear.eigenvalues_, rtol=1e-10)
    same_up_to_sign(model.embedding_.T, linear.embedding_.T, 1e-9)
    same_up_to_sign(model.transform(Y).T, linear.transform(Y).T, 1e-9)
    assert model.loss() == pytest.approx(linear.loss(), rel=1e-8)
    assert model.loss(Y) == pytest.approx(linear.loss(Y), rel=1e-8)


def test_the_reconstruction_error_is_the_discarded_variance() -> None:
    X = rows(70, 9, offset=1)
    model = PCA(4).fit(X)
    again = model.inverse_transform(model.transform(X))
    direct = sum(float((x - y) @ (x - y)) for x, y in zip(X, again, strict=True)) / len(X)  # Burges eq. 1.4
    assert model.reconstruction_error(X) == pytest.approx(direct, rel=1e-10)
    assert model.reconstruction_error(X) == pytest.approx(literal_pca(X, 9)[0][4:].sum(), rel=1e-10)
    assert model.reconstruction_error(sparse.csr_array(X)) == pytest.approx(direct, rel=1e-10)
    assert PCA(5).fit(X).reconstruction_error(X) < direct


def test_the_entropy_kept_is_that_of_the_projected_gaussian() -> None:
    model = PCA(3).fit(rows(70, 9))
    gaussian = multivariate_normal(np.zeros(3), np.diag(model.explained_variance_))
    assert model.entropy_ == pytest.approx(
        gaussian.entropy() / np.log(2), rel=1e-12
    )  # Burges eq. 1.6, in bits


# --- comparison with scikit-learn ---------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos"])
@pytest.mark.parametrize("shape", [(400, 30), (90, 700), (50, 50)])
def test_the_subspace_is_scikit_learns(shape: tuple[int, int], solver: str) -> None:
    X = rows(*shape, offset=4)
    model, peer = PCA(10, eigen_solver=solver).fit(X), decomposition.PCA(10, svd_solver="full").fit(X)
    assert between(model.components_, peer.components_) < 1e-10
    for name in (
        "mean_",
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "n_components_",
    ):
        assert_allclose(getattr(model, name), getattr(peer, name), rtol=1e-9, err_msg=name)
    directions = (
        min(shape) - 10,
        shape[1] - 10,
    )  # scikit-learn spreads the noise over those that n rows can have, eq. 1.9 over all
    assert_allclose(model.noise_variance_, peer.noise_variance_ * directions[0] / directions[1], rtol=1e-9)
    same_up_to_sign(model.transform(X).T, peer.transform(X).T, 1e-8)


@pytest.mark.long
@pytest.mark.parametrize("shape", [(3000, 2500), (2500, 3000)])
def test_few_components_of_a_large_matrix_are_iterated_for(shape: tuple[int, int]) -> None:
    X = few_counts(*shape)
    model, peer = PCA(4).fit(X), decomposition.PCA(4, svd_solver="arpack", random_state=0).fit(X)
    assert model.solver_ == "lanczos"
    assert between(model.components_, peer.components_) < 1e-10
    dense = PCA(4).fit(X.toarray())
    assert dense.solver_ == "lanczos"
    assert_allclose(dense.components_, model.components_, atol=1e-9)


@pytest.mark.parametrize("share", [0.3, 0.8, 0.95, 0.9999])
def test_a_ratio_of_the_variance(share: float) -> None:
    X = rows(100, 12)
    model = PCA(share).fit(X)
    assert model.n_components_ == decomposition.PCA(share).fit(X).n_components_
    kept = PCA(None).fit(X).explained_variance_ratio_.cumsum()
    assert kept[model.n_components_ - 1] >= share
    assert model.n_components_ == 1 or kept[model.n_components_ - 2] < share


@pytest.mark.parametrize("q", [1, 3, 6])
def test_the_evidence_finds_the_dimension(q: int) -> None:
    rng = np.random.default_rng(q)
    X = rng.standard_normal((400, q)) @ rng.standard_normal((q, 10)) * 2 + 0.3 * rng.standard_normal(
        (400, 10)
    )
    assert PCA("mle").fit(X).n_components_ == decomposition.PCA("mle").fit(X).n_components_ == q


# --- precision ----------------------------------------------------------------------------------------------


def test_an_offset_costs_no_precision() -> None:
    X = rows(200, 8)
    near, far = PCA(4).fit(X), PCA(4).fit(X + 2.0**27)
    assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-6)  # the rows themselves are rounded at 3e-8
    assert between(far.components_, near.components_) < 1e-6


@pytest.mark.parametrize("shape", [(60, 8), (9, 40)])
def test_small_variances_are_precise(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((size, 6)))[0] for size in shape)
    left -= left.mean(axis=0)
    left = np.linalg.qr(left)[0]
    roots = 10.0 ** -np.arange(6)  # variances down to 1e-10 of the largest
    model = PCA(6).fit(left * roots @ right.T)
    assert model.solver_ == "svd"
    assert_allclose(model.singular_values_, roots, rtol=1e-9)
    same_up_to_sign(model.components_, right.T, 1e-9)


def test_float32_is_computed_in_double_precision() -> None:
    X = rows(300, 20, offset=100).astype(np.float32)
    single, double = PCA(5).fit(X), PCA(5).fit(X.astype(np.float64))
    assert (
        single.embedding_.dtype
        == single.transform(X).dtype
        == single.inverse_transform(single.embedding_).dtype
        == np.float32
    )
    assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-10)
    assert_allclose(single.components_, double.components_, atol=1e-9)


# --- weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(40, 6), (12, 50)])
def test_a_weight_equals_repeated_rows(shape: tuple[int, int], make: Any) -> None:
    X, times = rows(*shape, offset=1), np.random.default_rng(1).integers(0, 4, shape[0])
    times[0] = 2
    weighted, repeated = (
        PCA(3).fit(make(X), sample_weight=times),
        PCA(3).fit(make(np.repeat(X, times, axis=0))),
    )
    for name in (
        "mean_",
        "components_",
        "eigenvalues_",
        "explained_variance_",
        "noise_variance_",
        "n_samples_seen_",
        "entropy_",
    ):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-8, atol=1e-10, err_msg=name)
    assert weighted.loss() == pytest.approx(repeated.loss(), rel=1e-8)
    assert weighted.loss(X) == pytest.approx(repeated.loss(X), rel=1e-8)
    assert_allclose(weighted.embedding_, weighted.transform(X), atol=1e-9)
    K = np.sqrt(times[:, None] * times) * weighted.kernel_(make(X))
    assert_allclose(np.linalg.eigvalsh(K)[::-1][:3], weighted.eigenvalues_, rtol=1e-9)


# --- whitening ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(80, 6), (12, 50)])
def test_whitened_coordinates_have_unit_covariance(shape: tuple[int, int]) -> None:
    X = rows(*shape, offset=2)
    model, plain = PCA(4, whiten=True).fit(X), PCA(4).fit(X)
    assert_allclose(np.cov(model.embedding_.T), np.eye(4), atol=1e-9)
    assert_allclose(model.transform(X) * np.sqrt(model.explained_variance_), plain.transform(X), atol=1e-9)
    assert_allclose(
        model.inverse_transform(model.transform(X)), plain.inverse_transform(plain.transform(X)), atol=1e-9
    )


def test_all_components_give_the_rows_back() -> None:
    X = rows(50, 7, offset=3)
    model = PCA(None).fit(X)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)
    assert model.noise_variance_ == 0


# --- sparse -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(200, 40), (40, 200)])
@pytest.mark.parametrize("solver", ["dense", "lanczos"])
def test_sparse_and_dense_rows_agree(shape: tuple[int, int], solver: str) -> None:
    X = few_counts(*shape)
    thin, full = (PCA(3, eigen_solver=solver).fit(part) for part in (X, X.toarray()))
    assert_allclose(thin.components_, full.components_, atol=1e-9)
    assert_allclose(thin.embedding_, full.embedding_, atol=1e-9)
    assert_allclose(thin.kernel_(X[:5]), full.kernel_(X[:5].toarray()), atol=1e-9)
    assert thin.loss(X[:9]) == pytest.approx(full.loss(X[:9].toarray()), rel=1e-8)


@pytest.mark.long
def test_sparse_rows_are_never_made_dense() -> None:
    X = few_counts(3000, 60_000)
    PCA(3).fit(X[:100])  # imports and compiled code
    tracemalloc.start()
    PCA(3).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.shape[0] * X.shape[1] / 4


# --- chunks -------------------------------------------------------------------------------------------------


def in_chunks(X: Any, cuts: list[int], model: PCA, weights: np.ndarray | None = None) -> PCA:
    ends = sorted({0, *cuts, X.shape[0]})
    for first, last in itertools.pairwise(ends):
        model.partial_fit(X[first:last], sample_weight=None if weights is None else weights[first:last])
    return model


@pytest.mark.long
@some
@given(st.lists(st.integers(1, 59), max_size=8), st.sampled_from([0.0, 1e6]), st.booleans())
def test_the_result_does_not_depend_on_the_chunks(cuts: list[int], offset: float, thin: bool) -> None:
    X: Any = rows(60, 5, offset)
    X = sparse.csr_array(X) if thin and offset == 0 else X
    whole, parts = PCA(3).fit(X), in_chunks(X, cuts, PCA(3))
    assert_allclose(parts.mean_, whole.mean_, rtol=1e-12, atol=1e-12)
    assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    same_up_to_sign(parts.components_, whole.components_, 1e-7)
    for name in ("explained_variance_ratio_", "noise_variance_", "n_samples_seen_"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-7)
    assert parts.loss() == pytest.approx(whole.loss(), rel=1e-6)
    assert parts.loss(X[:7]) == pytest.approx(whole.loss(X[:7]), rel=1e-6)


def test_single_rows_and_weights_in_chunks() -> None:
    X, weights = rows(30, 4), np.random.default_rng(0).integers(1, 4, 30).astype(float)
    parts, whole = in_chunks(X, list(range(30)), PCA(2), weights), PCA(2).fit(X, sample_weight=weights)
    assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    same_up_to_sign(parts.components_, whole.components_, 1e-9)
    assert np.sign(parts.components_[np.arange(2), np.abs(parts.components_).argmax(axis=1)]).tolist() == [
        1,
        1,
    ]


def test_partial_fit_continues_after_fit_and_pickling() -> None:
    X = rows(90, 6, offset=7)
    model = PCA(3).fit(X[:40])
    model.partial_fit(X[40:60])
    model = pickle.loads(pickle.dumps(model)).partial_fit(X[60:])
    whole = PCA(3).fit(X)
    assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    same_up_to_sign(model.components_, whole.components_, 1e-9)
    with pytest.raises(AttributeError, match="kernel_ is not available: partial_fit"):
        _ = model.kernel_
    assert "embedding_" not in vars(model)
    model.fit(X[:40])  # forgets the stream
    assert model.n_samples_seen_ == 40
    assert model.embedding_.shape == (40, 3)


def test_too_few_rows_do_not_determine_a_model() -> None:
    X = rows(10, 5)
    model = PCA(3).partial_fit(X[:1]).partial_fit(X[1:3])
    with pytest.raises(NotFittedError, match="n_components=3 components; call partial_fit on more samples"):
        model.transform(X)
    assert model.partial_fit(X[3:]).transform(X).shape == (10, 3)
    with pytest.raises(ValueError, match="4 features"):
        model.partial_fit(X[:, :4])


# --- properties ---------------------------------------------------------------------------------------------


@some
@given(st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 30))
def test_projections_are_orthogonal_ordered_and_optimal(seed: int, n: int, d: int) -> None:
    X = rows(n, d, offset=1, seed=seed)
    q = max(1, min(n - 1, d) // 2)
    model = PCA(q).fit(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(q), atol=1e-8)
    assert (np.diff(model.eigenvalues_) <= 1e-9 * model.eigenvalues_[0]).all()
    other = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, q)))[0]
    centred = X - X.mean(axis=0)
    assert model.eigenvalues_.sum() >= np.square(centred @ other).sum() * (
        1 - 1e-9
    )  # no other plane keeps more
    assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max())


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_components", "message"),
    [
        (0, "n_components=0 must be an integer of at least 1"),
        (True, "n_components=True"),
        (1.5, "n_components=1.5 is a ratio of the variance and must be between 0 and 1"),
        ("all", "n_components='all' must be an integer of at least 1, 'mle' or None"),
        (
            6,
            "n_components=6 needs at least 7 samples and 6 features, got n_samples=20, n_features=5;"
            " lower n_components",
        ),
    ],
)
def test_a_wrong_number_of_components(n_components: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PCA(n_components).fit(rows(20, 5))


def test_more_components_than_the_data_have() -> None:
    X = rows(20, 2) @ np.ones((2, 5))
    message = "n_components=3, but the data have only rank 1 around their mean; the last 2 coordinates are"
    with pytest.warns(DegenerateSpectrumWarning, match=message):
        model = PCA(3, whiten=True).fit(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-14)
    assert_allclose(model.embedding_[:, 1:], 0, atol=1e-12)
    assert_allclose(model.eigenvalues_[1:], 0, atol=0)
    assert_allclose(model.transform(X.copy()), model.embedding_, atol=1e-12)
    assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-12)
    assert_allclose(model.eigenfunctions(X)[:, 1:], 0, atol=0)
    assert PCA(None).fit(X).n_components_ == 1
    with pytest.raises(ValueError, match="20 rows are equal"):
        PCA(1).fit(np.ones((20, 3)))
    with pytest.raises(ValueError, match="'mle' needs more samples than features"):
        PCA("mle").fit(rows(5, 20))


def test_weights_are_checked() -> None:
    X = rows(10, 3)
    with pytest.raises(ValueError, match="sum of sample_weight must exceed 1, got 1"):
        PCA(2).fit(X, sample_weight=np.full(10, 0.1))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        PCA(2).fit(X, sample_weight=np.arange(10) - 1)
    with pytest.raises(ValueError, match="n_components=2 needs at least 3 samples"):
        PCA(2).fit(X, sample_weight=np.array([3, 4] + [0] * 8))


def test_coordinates_of_another_model_raise() -> None:
    model = PCA(2).fit(rows(10, 3))
    with pytest.raises(ValueError, match="X has 3 coordinates, but PCA has 2 components"):
        model.inverse_transform(np.ones((4, 3)))


def test_signs_are_deterministic_for_ties() -> None:
    X = np.array([[-1.0, 1.0], [1.0, -1.0], [0.1, 0.1], [-0.1, -0.1]])
    model = PCA(2).fit(X)
    assert_array_equal(PCA(2).fit(X).embedding_, model.embedding_)
    assert (model.components_[:, 0] > 0).all()  # of two entries that are equally large the first one decides


def test_signs_are_those_of_streams_and_of_scikit_learn() -> None:
    X = rows(60, 5)
    whole, stream = PCA(3).fit(X), PCA(3).partial_fit(X[:30]).partial_fit(X[30:])
    assert_allclose(whole.transform(X), stream.transform(X), atol=1e-10)
    assert_allclose(whole.embedding_, decomposition.PCA(3).fit_transform(X), atol=1e-10)


def test_a_failed_fit_leaves_no_model() -> None:
    X = rows(60, 5)
    model = PCA(2).fit(X)
    with pytest.raises(ValueError, match="lower n_components"):
        model.set_params(n_components=40).fit(X[:10])
    with pytest.raises(NotFittedError):
        model.transform(X)
    assert model.set_params(n_components=2).partial_fit(X[:10]).n_samples_seen_ == 10
    fresh = PCA(40)
    with pytest.raises(ValueError, match="lower n_components"):
        fresh.fit(X)
    with pytest.raises(NotFittedError):
        fresh.transform(X)


def test_set_output_survives_a_fit() -> None:
    X = rows(20, 5)
    model = PCA(2).set_output(transform="pandas").fit(X)
    assert list(model.fit(X).transform(X).columns) == ["pca0", "pca1"]


@pytest.mark.parametrize("weight", [0.01, 1 / 60])
def test_a_total_weight_of_at_most_one_determines_no_variance(weight: float) -> None:
    X = rows(60, 5)
    model = PCA(2, whiten=True).partial_fit(X, sample_weight=np.full(60, weight))
    with pytest.raises(NotFittedError, match="do not determine"):
        model.transform(X)
    assert (model.partial_fit(X).explained_variance_ > 0).all()


def test_chunks_of_low_rank_do_not_determine_a_model() -> None:
    flat = np.outer([0, 1, 2, 3.0], np.arange(5))
    model = PCA(2).partial_fit(flat).partial_fit(flat)
    assert model.n_samples_seen_ == 8
    with pytest.raises(NotFittedError, match="which do not determine n_components=2"):
        model.transform(flat)
    X = rows(20, 5)
    expected = PCA(2).fit(np.concatenate([flat, flat, X]))
    assert_allclose(model.partial_fit(X).explained_variance_, expected.explained_variance_)


def test_an_invalid_chunk_changes_nothing() -> None:
    X = rows(20, 5)
    model = PCA(2).partial_fit(X)
    before = model.transform(X)
    with pytest.raises(ValueError, match="lower n_components"):
        model.set_params(n_components=9).partial_fit(X)
    assert model.n_samples_seen_ == 20
    assert_array_equal(model.transform(X), before)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_column_is_no_direction(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((300, 3)), np.full(300, 101325.3)])
    weights = rng.uniform(0.5, 2, 300) if weighted else None
    assert PCA(None).fit(X, sample_weight=weights).n_components_ == 3
    with pytest.warns(DegenerateSpectrumWarning, match="rank 3"):
        model = PCA(4, whiten=True).fit(X, sample_weight=weights)
    assert_allclose(model.embedding_[:, 3], 0, atol=1e-9)


def test_a_small_unit_beside_a_large_offset_is_a_direction() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.standard_normal(300), rng.standard_normal(300) + 1e6, 1e-11 * rng.standard_normal(300)]
    )
    assert_allclose(np.cov(PCA(3, whiten=True).fit_transform(X).T), np.eye(3), atol=1e-6)


@pytest.mark.parametrize("fit", [PCA.fit, PCA.partial_fit])
def test_whiten_is_true_or_false(fit: Any) -> None:
    with pytest.raises(ValueError, match="whiten='False' must be True or False"):
        fit(PCA(2, whiten="False"), rows(20, 5))


def test_the_evidence_needs_two_features() -> None:
    with pytest.raises(
        ValueError, match="n_components='mle' needs at least 2 features, got n_samples=20, n_features=1"
    ):
        PCA("mle").fit(rows(20, 1))
