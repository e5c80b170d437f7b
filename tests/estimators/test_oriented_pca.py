"""Oriented PCA against its equations (Burges eq. 1.16, 1.17), and the generalised solver below it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape import OrientedPCA
from eigenscape.exceptions import RankError, SingularNoiseWarning
from eigenscape.solvers import generalized_eigh, whiten


def covariance(X: np.ndarray) -> np.ndarray:
    """Compute Burges eq. 1.16 term by term."""
    C = np.zeros((X.shape[1], X.shape[1]))
    for x in X:
        C += np.outer(x - X.mean(axis=0), x - X.mean(axis=0)) / len(X)
    return C


def correlation(X: np.ndarray, versions: list[np.ndarray]) -> np.ndarray:
    """Compute Burges eq. 1.17 term by term."""
    R = np.zeros((X.shape[1], X.shape[1]))
    for version in versions:
        for x, distorted in zip(X, version, strict=True):
            R += np.outer(distorted - x, distorted - x) / (len(X) * len(versions))
    return R


def sample(
    m: int = 120, d: int = 6, n_versions: int = 3, seed: int = 0
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a signal and distorted versions with correlated noise of nonzero mean."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)
    mix, shift = rng.standard_normal((d, d)), 0.5 * rng.standard_normal(d)
    return X, [X + rng.standard_normal((m, d)) @ mix + shift for _ in range(n_versions)]


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def assert_same_directions(first: np.ndarray, second: np.ndarray, atol: float = 1e-8) -> None:
    cosine = np.abs(np.sum(unit(first) * unit(second), axis=1))
    np.testing.assert_allclose(cosine, 1, atol=atol)


# --- the equations ------------------------------------------------------------------------------------------


def test_the_generalised_equation_of_the_paper() -> None:
    X, versions = sample()
    model = OrientedPCA(n_components=None).fit(X, distorted=versions)
    C, R = covariance(X), correlation(X, versions)
    expected = np.sort(linalg.eigvals(np.linalg.solve(R, C)).real)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, expected, rtol=1e-10)
    N = model.components_.T
    left, right = C @ N, R @ N * model.eigenvalues_
    assert np.linalg.norm(left - right) <= 1e-10 * np.linalg.norm(left)
    assert (model.residuals_ <= 1e-10 * model.eigenvalues_[0]).all()
    assert model.regularization_ == 0


def test_directions_are_conjugate_in_both_matrices() -> None:
    X, versions = sample()
    model = OrientedPCA(n_components=None).fit(X, distorted=versions)
    N = model.components_.T
    np.testing.assert_allclose(N.T @ correlation(X, versions) @ N, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(
        N.T @ covariance(X) @ N, np.diag(model.eigenvalues_), atol=1e-10 * model.eigenvalues_[0]
    )
    np.testing.assert_allclose(model.patterns_ @ N, np.eye(6), atol=1e-10)


def test_the_first_direction_has_the_largest_quotient() -> None:
    X, versions = sample()
    C, R = covariance(X), correlation(X, versions)
    model = OrientedPCA(n_components=1).fit(X, distorted=versions)
    rivals = np.random.default_rng(1).standard_normal((2000, 6))
    rivals = np.concatenate([rivals, model.components_ + 0.01 * np.linalg.norm(model.components_) * rivals])
    quotients = np.einsum("ri,ij,rj->r", rivals, C, rivals) / np.einsum("ri,ij,rj->r", rivals, R, rivals)
    assert quotients.max() <= model.eigenvalues_[0]
    assert quotients.max() > 0.99 * model.eigenvalues_[0]


def test_a_constant_distortion_is_noise() -> None:
    """The covariance of the noise would be zero here; its correlation is not (Burges sec. 1.4)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) * [3, 2, 1]
    versions = [X + np.array([5.0, 0, 0]), X + 0.1 * rng.standard_normal((300, 3))]
    model = OrientedPCA(n_components=3).fit(X, distorted=versions)
    assert np.abs(unit(model.components_)[0, 0]) < 0.05
    assert np.abs(unit(model.components_)[2, 0]) > 0.95


def test_pure_noise_on_top_of_the_spectrum_is_ignored() -> None:
    rng = np.random.default_rng(0)
    clean = rng.standard_normal((400, 1)) @ [[0.0, 1, 1, 0, 0]]
    nuisance = np.array([10.0, 0.1, 0.1, 0.1, 0.1])
    X, version = (clean + rng.standard_normal((400, 5)) * nuisance for _ in range(2))
    first_principal = np.linalg.svd(X - X.mean(axis=0))[2][0]
    assert np.abs(first_principal[0]) > 0.99
    model = OrientedPCA(n_components=1).fit(X, distorted=[version])
    assert np.abs(unit(model.components_)[0, 0]) < 0.01
    assert np.abs(np.corrcoef(model.embedding_[:, 0], clean[:, 1])[0, 1]) > 0.99


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    signal=st.sampled_from([1e-6, 0.1, 10.0, 1e5]),
    noise=st.sampled_from([1e-5, 0.1, 10.0, 1e6]),
)
def test_scaling_either_side_leaves_the_directions(seed: int, signal: float, noise: float) -> None:
    X, (version,) = sample(60, 4, 1, seed)
    Z = version - X
    plain = OrientedPCA(n_components=4).fit(X, noise=Z)
    scaled = OrientedPCA(n_components=4).fit(signal * X, noise=noise * Z)
    np.testing.assert_allclose(scaled.eigenvalues_, plain.eigenvalues_ * (signal / noise) ** 2, rtol=1e-7)
    gaps = np.abs(np.diff(plain.eigenvalues_)) / plain.eigenvalues_[:-1]
    if gaps.min() > 1e-3:  # equal quotients have no directions of their own
        assert_same_directions(plain.components_, scaled.components_)


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_linear_change_of_variables_changes_nothing_but_the_variables(seed: int) -> None:
    X, (version,) = sample(80, 4, 1, seed)
    units = np.diag([1e-4, 1.0, 1e3, 50.0])
    plain = OrientedPCA(n_components=4).fit(X, noise=version - X)
    other = OrientedPCA(n_components=4).fit(X @ units, noise=(version - X) @ units)
    assert other.regularization_ == 0
    np.testing.assert_allclose(other.eigenvalues_, plain.eigenvalues_, rtol=1e-7)
    if (np.abs(np.diff(plain.eigenvalues_)) > 1e-3 * plain.eigenvalues_[:-1]).all():
        np.testing.assert_allclose(
            other.embedding_, plain.embedding_, atol=1e-6 * np.abs(plain.embedding_).max()
        )


# --- sources of noise ---------------------------------------------------------------------------------------


def test_noise_vectors_and_distorted_versions_are_the_same_source() -> None:
    X, versions = sample()
    by_version = OrientedPCA(n_components=3).fit(X, distorted=versions)
    by_noise = OrientedPCA(n_components=3).fit(X, noise=np.concatenate([version - X for version in versions]))
    by_cube = OrientedPCA(n_components=3).fit(X, distorted=np.array(versions))
    for other in (by_noise, by_cube):
        np.testing.assert_allclose(other.components_, by_version.components_, atol=1e-10)
    one = OrientedPCA(n_components=3).fit(X, distorted=versions[0])
    frames = OrientedPCA(n_components=3).fit(pd.DataFrame(X), distorted=[pd.DataFrame(versions[0])])
    np.testing.assert_allclose(
        one.components_, frames.components_, rtol=1e-11
    )  # columns are summed in another order


def test_groups_give_the_directions_of_a_discriminant_analysis() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(5), 30)
    X = 3 * rng.standard_normal((5, 4))[group] + rng.standard_normal((150, 4)) @ rng.standard_normal((4, 4))
    model = OrientedPCA(n_components=4).fit(X, np.array(list("abcde"))[group])
    means = np.array([X[group == g].mean(axis=0) for g in range(5)])[group]
    np.testing.assert_allclose(
        model.eigenvalues_,
        np.sort(linalg.eigh(covariance(X), correlation(means, [X]), eigvals_only=True))[::-1],
        rtol=1e-9,
    )
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, group)
    assert_same_directions(model.components_, lda.scalings_.T[:4])


def test_without_groups_of_two_there_is_no_noise() -> None:
    X, _ = sample()
    with pytest.raises(ValueError, match="group of its own"):
        OrientedPCA().fit(X, np.arange(len(X)))


def test_exactly_one_source_of_noise_is_required() -> None:
    X, versions = sample()
    with pytest.raises(ValueError, match=r"requires y to be passed.*noise= or distorted="):
        OrientedPCA().fit(X)
    with pytest.raises(ValueError, match="one source, got noise and distorted"):
        OrientedPCA().fit(X, noise=X, distorted=versions)
    with pytest.raises(ValueError, match="one source, got y and noise"):
        OrientedPCA().fit(X, np.zeros(len(X)), noise=X)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ({"distorted": []}, "is empty"),
        ({"distorted": [np.ones((120, 5))]}, r"distorted\[0\] has shape \(120, 5\), but X has \(120, 6\)"),
        ({"distorted": [np.full((120, 6), np.nan)]}, r"distorted\[0\] contains NaN"),
        ({"noise": np.ones((9, 5))}, "noise has 5 features, but X has 6"),
        ({"noise": np.ones((0, 6))}, "0 sample"),
        ({"y": np.zeros(7)}, "inconsistent numbers of samples"),
        ({"y": np.r_[np.nan, np.zeros(119)]}, "y contains NaN"),
    ],
)
def test_invalid_noise_raises(noise: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OrientedPCA().fit(sample()[0], **noise)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 7}, "n_components=7 needs at least 8 samples and 7 features"),
        ({"regularization": -1.0}, "regularization=-1.0"),
        ({"regularization": "some"}, "regularization='some' must be a number of at least 0 or 'auto'"),
        ({"regularization": True}, "regularization=True"),
    ],
)
def test_invalid_parameters_raise(params: dict, message: str) -> None:
    X, versions = sample()
    with pytest.raises(ValueError, match=message):
        OrientedPCA(**params).fit(X, distorted=versions)


def test_more_components_than_the_signal_has_raise() -> None:
    X, versions = sample()
    flat = X @ np.diag([1.0, 1, 0, 0, 0, 0])
    with pytest.raises(
        RankError, match=r"n_components=3, but the signal of 120 samples varies along only 2 direction\(s\)"
    ):
        OrientedPCA(n_components=3).fit(flat, noise=versions[0] - X)
    assert OrientedPCA(n_components=None).fit(flat, noise=versions[0] - X).n_components_ == 2
    with pytest.raises(RankError, match="120 samples of the signal are all equal; pass samples that vary"):
        OrientedPCA(n_components=1).fit(np.ones_like(X), noise=versions[0] - X)


# --- singular noise -----------------------------------------------------------------------------------------


def test_singular_noise_is_regularised_with_a_warning() -> None:
    X, _ = sample()
    Z = np.random.default_rng(1).standard_normal((200, 6)) @ np.diag([1.0, 2, 1, 0, 1, 1])
    with pytest.warns(SingularNoiseWarning, match=r"rank 5 in 6 variables, from 200 noise vectors"):
        model = OrientedPCA(n_components=2).fit(X, noise=Z)
    assert 1e-6 <= model.regularization_ < 0.1
    R = Z.T @ Z / len(Z)
    R += model.regularization_ * np.trace(R) / 6 * np.eye(6)
    N = model.components_.T
    assert np.linalg.norm(covariance(X) @ N - R @ N * model.eigenvalues_) <= 1e-10 * np.linalg.norm(
        covariance(X) @ N
    )
    assert (
        np.abs(unit(model.components_)[0, 3]) > 0.5
    )  # the variable without noise carries the first direction
    with pytest.warns(SingularNoiseWarning):
        louder = OrientedPCA(n_components=2).fit(X, noise=10 * Z)
    assert louder.regularization_ == pytest.approx(model.regularization_)
    assert_same_directions(model.components_, louder.components_)


def test_a_single_noise_vector_suffices() -> None:
    X, _ = sample()
    with pytest.warns(SingularNoiseWarning):
        model = OrientedPCA(n_components=5).fit(X, noise=np.eye(6)[:1])
    assert model.regularization_ == pytest.approx(1e-6)
    assert (np.abs(unit(model.components_)[:, 0]) < 1e-2).all()
    assert np.isfinite(model.embedding_).all()


def test_directions_without_signal_and_noise_need_no_regularisation() -> None:
    X, versions = sample()
    padded = np.column_stack([X, np.full(len(X), 7.0)])
    model = OrientedPCA(n_components=6).fit(
        padded, distorted=[np.column_stack([versions[0], np.full(len(X), 7.0)])]
    )
    assert model.regularization_ == 0
    np.testing.assert_allclose(
        model.eigenvalues_, OrientedPCA(n_components=6).fit(X, distorted=versions[:1]).eigenvalues_, rtol=1e-9
    )


def test_noise_at_rounding_level_counts_as_zero() -> None:
    X, versions = sample()
    Z = versions[0] - X
    Z[:, 0] = 1e-16 * np.random.default_rng(0).standard_normal(len(Z))
    with pytest.warns(SingularNoiseWarning):
        model = OrientedPCA(n_components=2).fit(X, noise=Z)
    assert model.eigenvalues_[0] < 1e9


def test_regularisation_can_be_chosen() -> None:
    X, versions = sample()
    Z = versions[0] - X
    R = Z.T @ Z / len(Z)
    model = OrientedPCA(n_components=6, regularization=0.5).fit(X, noise=Z)
    assert model.regularization_ == 0.5
    expected = linalg.eigh(covariance(X), R + 0.5 * np.trace(R) / 6 * np.eye(6), eigvals_only=True)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, expected, rtol=1e-10)
    Z[:, 0] = 0
    with pytest.raises(
        RankError, match=r"regularization=0.0, but the noise correlation is singular \(rank 5"
    ):
        OrientedPCA(regularization=0.0).fit(X, noise=Z)
    with pytest.raises(RankError, match="all noise vectors are zero"):
        OrientedPCA().fit(X, noise=0 * Z)


# --- more variables than rows -------------------------------------------------------------------------------


def test_many_variables_are_solved_in_the_span() -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((12, 60)) + 3, rng.standard_normal((15, 60))
    model = OrientedPCA(n_components=5, regularization=0.1).fit(X, noise=Z)
    R = Z.T @ Z / 15
    R += 0.1 * np.trace(R) / 60 * np.eye(60)
    values, vectors = linalg.eigh(covariance(X), R)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:5], rtol=1e-9)
    assert_same_directions(model.components_, vectors[:, ::-1][:, :5].T)
    np.testing.assert_allclose(model.patterns_, model.components_ @ R, atol=1e-10)
    with pytest.warns(SingularNoiseWarning):
        automatic = OrientedPCA(n_components=None).fit(X, noise=Z)
    assert automatic.n_components_ == 11
    assert automatic.components_.shape == (11, 60)


# --- inverse transform --------------------------------------------------------------------------------------


def test_inverse_transform() -> None:
    X, versions = sample()
    everything = OrientedPCA(n_components=6).fit(X, distorted=versions)
    np.testing.assert_allclose(everything.inverse_transform(everything.transform(X)), X, atol=1e-9)
    model = OrientedPCA(n_components=2).fit(X, distorted=versions)
    T = model.transform(X[:7])
    back = model.inverse_transform(T)
    np.testing.assert_allclose(model.transform(back), T, atol=1e-10)
    # It is the nearest to the mean, in units of the noise, of all points with these coordinates.
    R, others = correlation(X, versions), linalg.null_space(model.components_)
    assert np.abs((back - model.mean_) @ np.linalg.solve(R, others)).max() < 1e-9
    with pytest.raises(ValueError, match="3 coordinates, but OrientedPCA has 2"):
        model.inverse_transform(np.ones((4, 3)))


def test_float32_in_and_out() -> None:
    X, versions = sample()
    model = OrientedPCA().fit(X.astype(np.float32), distorted=[versions[0].astype(np.float32)])
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        model.transform(X), OrientedPCA().fit(X, distorted=versions[:1]).embedding_, atol=1e-4
    )


def test_in_a_pipeline_with_groups() -> None:
    X, versions = sample()
    rows, group = np.concatenate([X, *versions]), np.tile(np.arange(len(X)), 4)
    pipe = make_pipeline(StandardScaler(), OrientedPCA()).fit(rows, group)
    assert pipe.transform(X).shape == (120, 2)
    assert list(pipe.get_feature_names_out()) == ["orientedpca0", "orientedpca1"]


# --- the solver ---------------------------------------------------------------------------------------------


def spd(d: int, rank: int, decades: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0][:, :rank]
    return (Q * np.logspace(0, -decades, rank)) @ Q.T


@pytest.mark.parametrize("order", ["value", "smallest", "magnitude"])
def test_generalised_pairs(order: str) -> None:
    A = spd(9, 9, 1, 1) - 0.3 * np.eye(9)
    B = spd(9, 9, 3)
    pairs = generalized_eigh(A, B, 4, order)
    values = linalg.eigh(A, B, eigvals_only=True)
    wanted = {"value": values[::-1], "smallest": values, "magnitude": values[np.argsort(-np.abs(values))]}[
        order
    ][:4]
    np.testing.assert_allclose(pairs.values, wanted, rtol=1e-9)
    np.testing.assert_allclose(pairs.vectors.T @ B @ pairs.vectors, np.eye(4), atol=1e-11)
    assert (pairs.residuals <= 1e-13 * np.abs(values).max()).all()
    assert pairs.rank == 9


def test_the_null_space_is_omitted() -> None:
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((4, 50))
    Z = np.concatenate([Z, Z[:2] + Z[2:]])  # six rows, of rank four
    weights = rng.random((50, 50))
    W = weights + weights.T
    D = np.diag(W.sum(axis=1))
    pairs = generalized_eigh(Z @ W @ Z.T, Z @ D @ Z.T)
    reduced = linalg.eigh(Z[:4] @ W @ Z[:4].T, Z[:4] @ D @ Z[:4].T, eigvals_only=True)[::-1]
    assert pairs.rank == 4
    np.testing.assert_allclose(pairs.values, reduced, rtol=1e-10)


def test_units_do_not_affect_the_rank() -> None:
    units = np.logspace(0, -12, 5)
    B = spd(5, 5, 1) * units * units[:, None]
    whitener, null = whiten(B)
    assert null.shape == (5, 0)
    np.testing.assert_allclose(whitener.T @ B @ whitener, np.eye(5), atol=1e-10)
    whitener, null = whiten(spd(5, 3, 2))
    assert (whitener.shape, null.shape) == ((5, 3), (5, 2))
    assert np.abs(spd(5, 3, 2) @ null).max() < 1e-14


def test_a_matrix_of_zeros_has_no_pairs() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs = generalized_eigh(np.eye(3), np.zeros((3, 3)))
    assert (len(pairs.values), pairs.vectors.shape, pairs.rank) == (0, (3, 0), 0)


def test_a_failed_fit_leaves_no_model() -> None:
    X = np.random.default_rng(0).standard_normal((60, 5))
    for model in (OrientedPCA(2).fit(X, noise=X), OrientedPCA()):
        with pytest.raises(ValueError, match="lower n_components"):
            model.set_params(n_components=40).fit(X, noise=X)
        for ask in (model.transform, model.eigenfunctions, model.loss):
            with pytest.raises(NotFittedError):
                ask(X)


def test_columns_in_another_order_raise() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "c"])
    noise = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "c"])
    turned = noise[["c", "a", "b"]]
    with pytest.raises(ValueError, match=r"noise has the columns .* in the same order"):
        OrientedPCA(1).fit(X, noise=turned)
    for distorted in (turned, [noise, turned]):
        with pytest.raises(ValueError, match=r"distorted\[[01]\] has the columns .* in the same order"):
            OrientedPCA(1).fit(X, distorted=distorted)
    named = OrientedPCA(1).fit(X, noise=noise).components_
    np.testing.assert_array_equal(OrientedPCA(1).fit(X, noise=noise.to_numpy()).components_, named)
    np.testing.assert_array_equal(OrientedPCA(1).fit(X.to_numpy(), noise=noise).components_, named)


@pytest.mark.parametrize("distorted", [3, np.array(3.0)])
def test_distorted_must_be_a_list(distorted: object) -> None:
    with pytest.raises(ValueError, match=r"distorted=.* must be a list of arrays of the shape of X"):
        OrientedPCA(1).fit(np.eye(5), distorted=distorted)
