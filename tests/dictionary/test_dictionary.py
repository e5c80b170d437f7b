"""Greedy dictionaries against the literal algorithms and propositions of Ouimet, and against the exact
methods."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import reference
from cases import curve
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from eigenscape import GreedySpectralEmbedding, KernelPCA, LaplacianEigenmaps, SpectralClustering
from eigenscape.dictionary.landmarks import farthest_first, greedy_pivots, nearest_to_centers
from eigenscape.dictionary.span import Span
from eigenscape.exceptions import IsolatedPointWarning, ToleranceWarning
from eigenscape.options import Dictionary

few = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

KERNELS = {
    "rbf": ({"gamma": 0.7}, lambda Y, X: np.exp(-0.7 * cdist(Y, X, "sqeuclidean"))),
    "laplacian": ({"gamma": 0.2}, lambda Y, X: np.exp(-0.2 * cdist(Y, X, "cityblock"))),
    "poly": ({"gamma": 0.3, "degree": 3, "coef0": 1.0}, lambda Y, X: (0.3 * Y @ X.T + 1) ** 3),
}
rbf = KERNELS["rbf"][1]
either = pytest.mark.parametrize("sum_to_one", [True, False], ids=["hull", "span"])


def cloud(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, d)) * 2


def centred(K: np.ndarray) -> np.ndarray:
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def up_to_sign(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``A`` with its columns turned to those of ``B``."""
    return A * np.sign(np.einsum("ir,ir->r", A, B))


def same_map(A: np.ndarray, B: np.ndarray, tolerance: float = 1e-9) -> None:
    assert_allclose(up_to_sign(A, B), B, atol=tolerance * np.abs(B).max())


# --- the dictionary is that of the literal algorithms -------------------------------------------------------


@either
@pytest.mark.parametrize(
    ("kernel", "tol"),
    [("rbf", 0.3), ("rbf", 1e-2), ("rbf", 1e-4), ("laplacian", 0.3), ("poly", 1.0), ("poly", 1e-2)],
)
def test_the_dictionary_is_that_of_algorithm_1(kernel, tol, sum_to_one):
    """More rows than one block, so that a member taken from one block explains rows of later ones."""
    params, function = KERNELS[kernel]
    X = curve(1300)
    expected, _ = reference.greedy_dictionary(function(X, X), tol, sum_to_one)
    for n_jobs in (None, 2):
        model = GreedySpectralEmbedding(
            1, kernel=kernel, sum_to_one=sum_to_one, n_jobs=n_jobs, **params, dictionary=Dictionary(tol=tol)
        ).fit(X)
        assert_array_equal(model.dictionary_indices_, expected)
        assert_array_equal(model.dictionary_, X[expected])


@either
@pytest.mark.parametrize(
    ("kernel", "size"),
    [("rbf", 3), ("rbf", 17), ("rbf", 60), ("laplacian", 20), ("laplacian", 150), ("poly", 12)],
)
def test_the_dictionary_is_that_of_algorithm_2(kernel, size, sum_to_one):
    params, function = KERNELS[kernel]
    X = curve(320)
    K = function(X, X)
    expected = reference.greedy_dictionary_of_size(
        K, size, sum_to_one, first_tol=float(np.diagonal(K)[:256].max())
    )
    for n_jobs in (None, 2):
        model = GreedySpectralEmbedding(
            1, kernel=kernel, sum_to_one=sum_to_one, n_jobs=n_jobs, **params, dictionary=Dictionary(size)
        ).fit(X)
        assert_array_equal(model.dictionary_indices_, expected)


def test_rows_that_the_first_members_explain_ask_for_no_others():
    """More members than are looked at together, and a block of which none is left after the first of them."""
    Z = np.random.default_rng(5).normal(size=(300, 2))
    X = np.concatenate([Z, np.repeat(Z[:1], 2000, axis=0)])
    model = GreedySpectralEmbedding(1, kernel="laplacian", dictionary=Dictionary(tol=1e-2)).fit(X)
    assert len(model.dictionary_) > 128
    assert model.dictionary_indices_.max() < 300


def test_every_size_is_reached_up_to_the_number_of_points():
    """The last tolerance of algorithm 2 was tried with a smaller dictionary and need not lead to the size any
    more."""
    X = np.random.default_rng(0).random((300, 20))
    for size in (34, 43, 63, 82):
        model = GreedySpectralEmbedding(1, gamma=0.01, dictionary=Dictionary(size)).fit(X)
        assert len(model.dictionary_) == size


@pytest.mark.long
@either
def test_blocks_longer_than_a_core_takes_at_a_time_choose_alike(sum_to_one):
    """With 150 members a block has more than 1024 rows, which go to several cores."""
    X = cloud(3000)
    expected, _ = reference.greedy_dictionary(KERNELS["laplacian"][1](X, X), 0.03, sum_to_one)
    assert len(expected) > 140
    models = [
        GreedySpectralEmbedding(
            kernel="laplacian", gamma=0.2, sum_to_one=sum_to_one, n_jobs=jobs, dictionary=Dictionary(tol=0.03)
        ).fit(X)
        for jobs in (1, 2)
    ]
    for model in models:
        assert_array_equal(model.dictionary_indices_, expected)
        assert_array_equal(model.embedding_, models[0].embedding_)


@pytest.mark.long
@either
def test_any_source_of_the_same_kernel_gives_the_same_dictionary(sum_to_one):
    X = curve(250)
    K = rbf(X, X)
    expected, _ = reference.greedy_dictionary(K, 1e-2, sum_to_one)
    sources = [
        ("precomputed", K),
        ("precomputed", sparse.csr_array(K)),
        (lambda x, y: np.exp(-0.7 * ((x - y) ** 2).sum()), X),
        ("rbf", sparse.csr_array(X)),
    ]
    for kernel, data in sources:
        model = GreedySpectralEmbedding(
            kernel=kernel, gamma=0.7, sum_to_one=sum_to_one, dictionary=Dictionary(tol=1e-2)
        ).fit(data)
        assert_array_equal(model.dictionary_indices_, expected)


# --- eigenfunctions and normalisations ----------------------------------------------------------------------


@either
@pytest.mark.parametrize("normalization", ["additive", "divisive", None])
@pytest.mark.parametrize("kernel", KERNELS)
def test_eigenfunctions_are_those_of_the_generalised_problem(kernel, normalization, sum_to_one):
    """``A'A u = l M^-1 u`` (algorithm 1, steps 22 to 24), normalised by proposition 2; a new point is ``A(x)
    u``."""
    params, function = KERNELS[kernel]
    X, Y = np.abs(curve(300)), np.abs(curve(20, seed=1))
    model = GreedySpectralEmbedding(
        3,
        kernel=kernel,
        normalization=normalization,
        sum_to_one=sum_to_one,
        **params,
        dictionary=Dictionary(tol=1e-2),
    ).fit(X)
    members = X[model.dictionary_indices_]
    M = function(members, members)
    A = reference.projection_weights(function(X, members), M, sum_to_one)
    A_new = reference.projection_weights(function(Y, members), M, sum_to_one)
    assert_allclose(model.kernel_.span.weights(Y), A_new, atol=1e-6)
    tilde, tilde_new = (
        reference.normalised_weights(rows, A.mean(axis=0), M, len(X), normalization) for rows in (A, A_new)
    )
    values, u = eigh(tilde.T @ tilde, np.linalg.inv(M))
    values, u = values[::-1], u[:, ::-1]
    trivial = normalization == "divisive"
    wanted = slice(trivial, trivial + 3)
    scale = np.sqrt(len(X) / values[wanted]) if trivial else 1.0  # v = A u has length sqrt(l)
    assert_allclose(model.eigenvalues_, values[wanted], rtol=1e-8)
    turned = up_to_sign(u[:, wanted], tilde.T @ model.embedding_)
    assert_allclose(model.embedding_, tilde @ turned * scale, atol=1e-7)
    assert_allclose(model.transform(Y), tilde_new @ turned * scale, atol=1e-7)


@either
@pytest.mark.parametrize("normalization", ["additive", "divisive"])
def test_proposition_2_is_the_dense_normalisation(normalization, sum_to_one):
    X = curve(60)
    model = GreedySpectralEmbedding(
        gamma=0.7, normalization=normalization, sum_to_one=sum_to_one, dictionary=Dictionary(tol=0.05)
    ).fit(X)
    A, M = model.kernel_.span.weights(X), rbf(model.dictionary_, model.dictionary_)
    K_hat = A @ M @ A.T
    dense = centred(K_hat) if normalization == "additive" else reference.divided_gram(K_hat)
    assert_allclose(model.kernel_(X), dense, atol=1e-10)


@pytest.mark.parametrize("averages", ["dictionary", "random"])
def test_averages_over_some_points_are_those_of_the_dense_kernel(averages):
    """A thousand points at random are all of fewer than a thousand."""
    X = curve(200)
    model = GreedySpectralEmbedding(gamma=0.7, averages=averages, dictionary=Dictionary(tol=1e-8)).fit(X)
    some = model.dictionary_ if averages == "dictionary" else X
    K = rbf(X, X) - rbf(X, some).mean(axis=1) - rbf(X, some).mean(axis=1)[:, None] + rbf(some, some).mean()
    assert_allclose(model.kernel_(X), K, atol=1e-6)


# --- proposition 1 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_proposition_1_where_it_holds(kernel, tol):
    params, function = KERNELS[kernel]
    X = curve(500)
    K = function(X, X)
    free = GreedySpectralEmbedding(
        kernel=kernel,
        normalization=None,
        sum_to_one=False,
        n_components=1,
        **params,
        dictionary=Dictionary(tol=tol),
    ).fit(X)
    assert np.abs(free.kernel_(X) - K).max() <= tol * (1 + 1e-6)
    assert free.gram_error_bound_ <= tol
    hull = GreedySpectralEmbedding(
        kernel=kernel,
        normalization="additive",
        sum_to_one=True,
        n_components=1,
        **params,
        dictionary=Dictionary(tol=tol),
    ).fit(X)
    assert np.abs(centred(K) - hull.kernel_(X)).max() <= hull.gram_error_bound_ + 1e-13 * K.max()  # rounding
    assert hull.gram_error_bound_ <= 4 * tol


def uncentred(model, X) -> np.ndarray:
    span = model.kernel_.span
    return span.features(span.coordinates(X))


@pytest.mark.long
@few
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 60),
    d=st.integers(1, 4),
    gamma=st.sampled_from([0.05, 0.5, 5.0]),
    tol=st.sampled_from([0.5, 0.1, 1e-3, 1e-6]),
    normalization=st.sampled_from(["additive", "divisive", None]),
    sum_to_one=st.booleans(),
    kernel=st.sampled_from(["rbf", "laplacian", "poly"]),
)
def test_no_entry_of_the_gram_matrix_is_farther_than_the_bound(
    seed, n, d, gamma, tol, normalization, sum_to_one, kernel
):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.standard_normal((n, d)))[rng.integers(0, n, n + n // 2)]
    model = GreedySpectralEmbedding(
        None,
        kernel=kernel,
        gamma=gamma,
        normalization=normalization,
        sum_to_one=sum_to_one,
        dictionary=Dictionary(tol=tol),
    )
    try:
        model.fit(X)
    except ValueError as error:  # points all alike, or as good as alike at this tolerance
        assume("alike" not in str(error) and "equal" not in str(error))
        raise
    function = {
        "rbf": lambda: np.exp(-gamma * cdist(X, X, "sqeuclidean")),
        "laplacian": lambda: np.exp(-gamma * cdist(X, X, "cityblock")),
    }
    K = function.get(kernel, lambda: (gamma * X @ X.T + 1) ** 3)()
    p = uncentred(model, X)
    error = centred(K - p @ p.T) if normalization == "additive" else K - p @ p.T
    assert np.abs(error).max() <= model.gram_error_bound_ * (1 + 1e-9) + 1e-10 * K.max()


def test_the_bound_holds_after_one_pass_too():
    """Points seen before the dictionary gained a direction are averaged without it; the centre is off by
    that."""
    X = np.concatenate([np.zeros(1), np.full(1000, 0.3), [10.0], np.full(50, 4.0)])[:, None]
    model = GreedySpectralEmbedding(1, kernel="linear", dictionary=Dictionary(tol=0.1))
    for start in range(0, len(X), 101):
        model.partial_fit(X[start : start + 101])
    features = model.kernel_.features(X)
    assert np.abs(features @ features.T - centred(X @ X.T)).max() <= model.gram_error_bound_


# --- the exact method is the limit --------------------------------------------------------------------------


def agrees_with_exact(approximate, exact, X, Y) -> None:
    """The same eigenvalues and, up to sign, the same coordinates of training points and new ones."""
    approximate.fit(X), exact.fit(X)
    assert_allclose(approximate.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    signs = np.sign(np.einsum("ir,ir->r", exact.embedding_, approximate.embedding_))
    size = np.abs(exact.embedding_).max()
    assert_allclose(approximate.embedding_, exact.embedding_ * signs, atol=1e-6 * size)
    assert_allclose(approximate.transform(Y), exact.transform(Y) * signs, atol=1e-6 * size)


@pytest.mark.parametrize(
    "params",
    [{"gamma": 4.0}, {"kernel": "laplacian"}, {"kernel": "linear"}, {"kernel": "poly"}, {"kernel": "cosine"}],
)
def test_tolerance_zero_reproduces_kernel_pca(params):
    X, Y = curve(80), curve(15, seed=1)
    agrees_with_exact(KernelPCA(2, **params, approximation=Dictionary(tol=0.0)), KernelPCA(2, **params), X, Y)
    agrees_with_exact(
        GreedySpectralEmbedding(2, **params, dictionary=Dictionary(tol=0.0)), KernelPCA(2, **params), X, Y
    )


@pytest.mark.parametrize(
    "params", [{"affinity": "rbf", "gamma": 3.0}, {"affinity": "laplacian", "gamma": 2.0}]
)
def test_tolerance_zero_reproduces_laplacian_eigenmaps_and_spectral_clustering(params):
    X, Y = curve(80), curve(15, seed=1)
    agrees_with_exact(
        LaplacianEigenmaps(3, **params, approximation=Dictionary(tol=0.0)),
        LaplacianEigenmaps(3, **params),
        X,
        Y,
    )
    approximate, exact = (
        SpectralClustering(3, **params, approximation=Dictionary(tol=0.0)),
        SpectralClustering(3, **params),
    )
    agrees_with_exact(approximate, exact, X, Y)
    assert_allclose(approximate.ncut_, exact.ncut_, rtol=1e-6)
    same = approximate.predict(Y)[:, None] == approximate.predict(Y)
    assert_array_equal(same, exact.predict(Y)[:, None] == exact.predict(Y))


def test_an_offset_of_the_data_costs_a_linear_dictionary_no_digits():
    X = curve(200)
    near, far = (
        KernelPCA(2, kernel="linear", approximation=Dictionary(tol=1e-6)).fit(data) for data in (X, X + 1e6)
    )
    assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-6)


# --- distances from the span --------------------------------------------------------------------------------


@either
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_projection_error_is_delta(kernel, sum_to_one):
    params, function = KERNELS[kernel]
    X, Y = curve(300), np.concatenate([curve(20, seed=1), curve(3) + 3])
    model = GreedySpectralEmbedding(
        1, kernel=kernel, sum_to_one=sum_to_one, **params, dictionary=Dictionary(tol=1e-2)
    ).fit(X)
    members = model.dictionary_
    inverse = np.linalg.inv(function(members, members))
    expected = [
        reference.projection(
            function(y[None], members)[0], function(y[None], y[None])[0, 0], inverse, sum_to_one
        )[2]
        for y in Y
    ]
    scale = function(Y, Y).max()
    assert_allclose(model.projection_error(Y), expected, atol=1e-8 * scale)
    assert_allclose(model.projection_error(members), 0, atol=1e-12 * scale)
    assert 0 <= model.projection_error(X).min() <= model.projection_error(X).max() <= 1e-2


def test_a_point_like_nothing_seen_is_as_far_as_it_is_long():
    X = curve(300)
    model = GreedySpectralEmbedding(gamma=0.7, sum_to_one=False, dictionary=Dictionary(tol=1e-2)).fit(X)
    assert_allclose(model.projection_error(X[:3] + 100), 1.0)


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(gamma=0.7),
        LaplacianEigenmaps(affinity="rbf", gamma=0.7),
        SpectralClustering(3, affinity="rbf", gamma=0.7),
    ],
)
def test_a_projection_error_comes_only_with_a_dictionary(model):
    X = curve(100)
    assert not hasattr(model.fit(X), "projection_error")
    assert not hasattr(model, "dictionary_")
    model.set_params(approximation=Dictionary(tol=1e-3)).fit(X)
    assert model.projection_error(X).max() <= 1e-3
    assert_array_equal(model.dictionary_, X[model.dictionary_indices_])
    model.set_params(approximation=None).fit(X)
    assert not hasattr(model, "projection_error")
    assert not hasattr(model, "dictionary_")


@either
def test_the_error_level_of_a_size_hardly_depends_on_the_order(sum_to_one):
    X = cloud(1200)
    levels = []
    for seed in range(6):
        rows = X[np.random.default_rng(seed).permutation(len(X))]
        levels.append(
            GreedySpectralEmbedding(gamma=1.0, sum_to_one=sum_to_one, dictionary=Dictionary(25))
            .fit(rows)
            .projection_error(X)
            .max()
        )
    chance = (
        GreedySpectralEmbedding(
            gamma=1.0, sum_to_one=sum_to_one, dictionary=Dictionary(25, selection="random")
        )
        .fit(X)
        .projection_error(X)
    )
    assert max(levels) < 2.5 * min(levels)
    assert max(levels) < chance.max() / 2


# --- the end of double precision ----------------------------------------------------------------------------


@either
@pytest.mark.parametrize("tol", [0.0, 1e-15, 1e-12, 1e-8])
def test_near_duplicates_leave_the_dictionary_independent(tol, sum_to_one):
    rng = np.random.default_rng(0)
    X = np.repeat(curve(60), 4, axis=0) + 1e-9 * rng.standard_normal((240, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceWarning)
        model = GreedySpectralEmbedding(
            3, gamma=0.7, sum_to_one=sum_to_one, dictionary=Dictionary(tol=tol)
        ).fit(X)
    values, vectors = reference.principal(centred(rbf(X, X)), 3)
    assert_allclose(model.eigenvalues_, values, rtol=1e-7)
    same_map(model.embedding_, vectors * np.sqrt(values), 1e-6)
    assert np.diagonal(model.kernel_.span.factor).min() > 0
    assert np.abs(rbf(X, X) - uncentred(model, X) @ uncentred(model, X).T).max() < 1e-6


@either
def test_a_tolerance_beyond_double_precision_is_announced_with_the_error_reached(sum_to_one):
    X = cloud(600, d=2)
    with pytest.warns(
        ToleranceWarning, match="1e-15 was not reached.*double precision; the largest projection error is"
    ) as caught:
        model = GreedySpectralEmbedding(
            3, gamma=0.2, sum_to_one=sum_to_one, dictionary=Dictionary(tol=1e-15)
        ).fit(X)
    reached = float(str(caught[0].message).rsplit(" ", 1)[1])
    assert 1e-15 < reached < 1e-11
    assert_allclose(reached, model.projection_error(X).max(), rtol=0.5)
    assert_allclose(
        model.eigenvalues_,
        reference.principal(centred(np.exp(-0.2 * cdist(X, X, "sqeuclidean"))), 3)[0],
        rtol=1e-9,
    )


# --- points without a place ---------------------------------------------------------------------------------


def test_new_points_whose_average_is_not_positive_are_announced_and_put_at_the_origin():
    X = np.random.default_rng(0).standard_normal((500, 2))
    Y = 4 * np.random.default_rng(1).standard_normal((300, 2))
    model = GreedySpectralEmbedding(
        2, normalization="divisive", gamma=0.3, dictionary=Dictionary(tol=0.3)
    ).fit(X)
    lost = model.kernel_.degrees(Y) <= 0
    assert model.kernel_.degrees(Y).min() < -1e-3
    with pytest.warns(IsolatedPointWarning, match=rf"^{lost.sum()} point.*at the origin"):
        placed = model.transform(Y)
    assert_array_equal((placed == 0).all(axis=1), lost)
    assert np.isfinite(placed).all()


@pytest.mark.parametrize("cls", [GreedySpectralEmbedding, LaplacianEigenmaps])
def test_training_points_whose_average_is_not_positive_are_announced_and_put_at_the_origin(cls):
    X = np.concatenate([curve(300), [[100.0, 0, 0], [0, 200, 0]]])
    if cls is GreedySpectralEmbedding:
        model = cls(
            2, normalization="divisive", gamma=0.7, dictionary=Dictionary(selection=np.arange(0, 300, 5))
        )
    else:
        model = cls(2, affinity="rbf", gamma=0.7, approximation=Dictionary(6, tol=1e-3))
        X = np.concatenate([X[:300:50], X])  # the dictionary is full before the far points come
    with pytest.warns((IsolatedPointWarning, ToleranceWarning)) as caught:
        model.fit(X)
    assert any(
        issubclass(warning.category, IsolatedPointWarning) and "2 point(s)" in str(warning.message)
        for warning in caught
    )
    assert_array_equal(model.embedding_[-2:], 0)
    assert np.isfinite(model.embedding_).all()
    assert (model.embedding_[:-2] != 0).all()


# --- quality ------------------------------------------------------------------------------------------------


def spiral(n: int, rng: np.random.Generator) -> np.ndarray:
    t = rng.random(n)
    return (0.3 + t)[:, None] * np.column_stack(
        [np.cos(3 * np.pi * t), np.sin(3 * np.pi * t)]
    ) + 0.01 * rng.standard_normal((n, 2))


def regression_error(A: np.ndarray, B: np.ndarray) -> float:
    """Mean squared difference to ``B`` once ``A`` is aligned with it by linear regression (Ouimet sec. 5)."""
    A = np.column_stack([A, np.ones(len(A))])
    return float(np.square(A @ np.linalg.lstsq(A, B)[0] - B).sum(axis=1).mean())


@pytest.mark.long
@pytest.mark.parametrize("normalization", ["additive", "divisive"])
def test_greedy_beats_random_and_both_beat_plain_nystrom(normalization):
    """The order of Ouimet's figure 4, at the smaller sizes where it shows."""
    rng = np.random.default_rng(0)
    errors = []
    for seed in range(5):
        train, test, others = (spiral(600, rng) for _ in range(3))
        common = {"normalization": normalization, "gamma": 1.0}
        both = np.concatenate([test, others])
        truth = (
            GreedySpectralEmbedding(2, **common, dictionary=Dictionary(tol=1e-9))
            .fit(both)
            .embedding_[: len(test)]
        )
        row = []
        for selection in ("greedy", "random"):
            model = GreedySpectralEmbedding(
                2, random_state=seed, **common, dictionary=Dictionary(9, selection=selection)
            ).fit(train)
            row.append(regression_error(model.transform(test), truth))
        some = train[rng.permutation(len(train))[:9]]
        nystrom = GreedySpectralEmbedding(2, **common, dictionary=Dictionary(tol=0.0)).fit(some)
        errors.append([*row, regression_error(nystrom.transform(test), truth)])
    greedy, chance, plain = np.exp(np.log(errors).mean(axis=0))
    assert 1.5 * greedy < chance
    assert 3 * chance < plain


def test_the_default_tolerance_stops_at_a_budget(monkeypatch):
    """Rows in many dimensions are not spanned by one another: all would be selected."""
    monkeypatch.setattr("eigenscape.estimators.greedy_spectral_embedding._DEFAULT_SIZE", 40)
    X = np.random.default_rng(0).standard_normal((300, 60))
    with pytest.warns(ToleranceWarning, match="raise size or tol.*size=40 is reached"):
        model = GreedySpectralEmbedding().fit(X)
    assert len(model.dictionary_) == 40
    assert_array_equal(model.dictionary_indices_, np.arange(40))
    assert len(GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-3)).fit(X).dictionary_) > 250


def test_no_rows_are_projected_once_the_dictionary_is_complete(monkeypatch):
    blocks = []
    bounds = Span.error_bounds

    def counted(self, Y, indices, tol):
        blocks.append(len(indices))
        return bounds(self, Y, indices, tol)

    monkeypatch.setattr(Span, "error_bounds", counted)
    with pytest.warns(ToleranceWarning):
        GreedySpectralEmbedding(dictionary=Dictionary(10, tol=1e-6)).fit(cloud(5000, 8))
    assert sum(blocks) <= 256


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_equal_points_are_landmarks_once_each():
    equal = np.zeros((4, 2))
    assert sorted(farthest_first(lambda _: np.zeros(4), 4, 4, 0)) == [0, 1, 2, 3]
    pairs = np.array([[0.0], [0.0], [1.0], [1.0]])
    for X in (equal, pairs):
        assert sorted(nearest_to_centers(X, 4, 0)) == [0, 1, 2, 3]


def test_greedy_landmarks_are_the_pivots_of_a_cholesky_factorisation():
    X = np.random.default_rng(0).normal(size=(12, 3))
    squares = np.square(X[:, None] - X).sum(axis=2)
    chosen = greedy_pivots(lambda i: squares[i], 12, 4, 5)
    assert chosen[0] == 5
    for count in (2, 3):  # the next one is farthest from the affine hull of those before
        hull = X[chosen[:count]]
        directions = np.linalg.qr((hull[1:] - hull[0]).T)[0]
        offset = X - hull[0]
        rest = np.linalg.norm(offset - offset @ directions @ directions.T, axis=1)
        assert chosen[count] == np.argmax(rest)
