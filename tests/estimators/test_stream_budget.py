"""Streams with a dictionary of fixed size: members are replaced, with a bound of the error of projections."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from cases import curve
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

import eigenscape
from eigenscape import GreedySpectralEmbedding
from eigenscape.dictionary.budget import choose_members
from eigenscape.options import Dictionary

every_weighting = pytest.mark.parametrize("sum_to_one", [True, False])
GAMMA = 0.7


def model_of(size: int | None = 12, tol: float | None = None, **params) -> GreedySpectralEmbedding:
    return GreedySpectralEmbedding(
        **{"n_components": 2, "gamma": GAMMA, "dictionary": Dictionary(size, tol=tol), **params}
    )


def chunks_of(X, length: int):
    return [X[start : start + length] for start in range(0, len(X), length)]


def streamed(X, length: int, size: int = 12, **params) -> GreedySpectralEmbedding:
    model = model_of(size, **params)
    for chunk in chunks_of(X, length):
        model.partial_fit(chunk)
    return model


def gram(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-GAMMA * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def centered(K: np.ndarray) -> np.ndarray:
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


class Literal:
    """Features of a finite set of points as vectors, and projections on spans (hulls) of some of them."""

    def __init__(self, X: np.ndarray, sum_to_one: bool) -> None:
        values, vectors = np.linalg.eigh(gram(X, X))
        self.phi = vectors * np.sqrt(np.maximum(values, 0))  # (n, n), phi_i . phi_j = k(x_i, x_j)
        self.sum_to_one = sum_to_one

    def project(self, points: np.ndarray, members: np.ndarray) -> np.ndarray:
        base = self.phi[members[0]] if self.sum_to_one else np.zeros(self.phi.shape[1])
        directions = (self.phi[members] - base)[int(self.sum_to_one) :]
        weights = np.linalg.lstsq(directions.T, (points - base).T, rcond=1e-10)[0]
        return base + weights.T @ directions


@every_weighting
@pytest.mark.parametrize("size", [6, 15])
def test_the_moments_are_those_of_all_projections_followed_literally(sum_to_one, size):
    X = np.random.default_rng(0).random((90, 3)) * 3
    literal, psi = Literal(X, sum_to_one), np.empty((0, 90))
    model, kept, ratios = model_of(size, sum_to_one=sum_to_one), np.empty(0, dtype=int), []
    for start in range(0, 90, 30):  # one block each
        rows = np.arange(start, start + 30)
        model.partial_fit(X[rows])
        # All rows of the block are members for a while: their projections are the rows themselves.
        before, kept = kept, model.dictionary_indices_
        assert set(kept) <= set(before) | set(rows)
        psi = literal.project(np.concatenate([psi, literal.phi[rows]]), kept)
        error = np.square(literal.phi[: len(psi)] - psi).sum(axis=1).mean()
        ratios.append(model.stream_error_bound_ / error)
    assert_allclose(ratios[0], 1, rtol=1e-6)  # no earlier points: squared errors add
    assert min(ratios) > 1 - 1e-6
    assert max(ratios) < 8
    expected = np.linalg.eigvalsh(centered(psi @ psi.T))[::-1][:2]
    assert_allclose(model.eigenvalues_, expected, rtol=1e-6)
    assert len(kept) == size
    assert 0 < (kept < 30).sum() < size  # some were replaced


@every_weighting
def test_each_member_kept_is_the_one_that_moves_the_points_least(sum_to_one):
    X = np.random.default_rng(3).random((40, 2)) * 3
    model = GreedySpectralEmbedding(
        1, gamma=GAMMA, sum_to_one=sum_to_one, dictionary=Dictionary(tol=0.3)
    ).fit(X)
    # After fit, the moments are those of points projected on the linear span.
    span, moments = model._state_.span, model._state_.moments
    literal = Literal(model.dictionary_, sum_to_one)
    points = span.coordinates(X)
    if sum_to_one:
        points = span.weights(X) @ span.factor
        moments = eigenscape.dictionary.budget.moments_on_hull(span, moments)
    literal.phi = span.factor
    chosen: list[int] = []
    for _ in range(5):

        def moved(j, chosen=chosen):
            return np.square(points - literal.project(points, np.array([*chosen, j]))).sum()

        chosen.append(min(set(range(span.size)) - set(chosen), key=moved))
        assert_array_equal(choose_members(span, moments, len(chosen)), np.sort(chosen))


@pytest.mark.long
@every_weighting
@pytest.mark.parametrize("normalization", ["additive", None])
def test_eigenvalues_and_entries_are_within_the_stated_bounds(sum_to_one, normalization):
    X = np.random.default_rng(1).random((400, 3)) * 2
    model = streamed(X, 64, 20, n_components=5, sum_to_one=sum_to_one, normalization=normalization)
    K = centered(gram(X, X)) if normalization else gram(X, X)
    exact = np.linalg.eigvalsh(K)[::-1][:5]
    difference = np.abs(np.sqrt(exact / 400) - np.sqrt(model.eigenvalues_ / 400))
    assert (difference <= np.sqrt(model.stream_error_bound_)).all()
    assert (difference < 0.1 * np.sqrt(exact / 400)).all()
    assert model.projection_error(X).mean() <= model.stream_error_bound_  # of the nearest points of the span
    assert model.stream_error_bound_ < np.trace(K) / 400  # the error of an empty dictionary


@every_weighting
def test_without_replacement_it_is_fit(sum_to_one):
    """With room for all rows nothing is lost: the exact kernel PCA of the rows."""
    X = np.random.default_rng(2).random((60, 4)) * 3
    model = streamed(X, 25, 60, sum_to_one=sum_to_one)
    expected = np.linalg.eigvalsh(centered(gram(X, X)))[::-1][:2]
    assert_allclose(model.eigenvalues_, expected, rtol=1e-9)
    assert model.stream_error_bound_ < 1e-7
    whole = model_of(60, sum_to_one=sum_to_one).fit(X)
    assert_allclose(np.abs(model.transform(X)), np.abs(whole.embedding_), atol=1e-8)


@pytest.mark.long
def test_replaced_members_are_better_than_the_first_and_near_those_of_several_passes():
    X = load_digits().data / 16
    one, two = (GreedySpectralEmbedding(10, gamma=0.02, dictionary=Dictionary(100)) for _ in range(2))
    for chunk in chunks_of(X, 200):
        one.partial_fit(chunk)
    two.fit(X)
    first = GreedySpectralEmbedding(10, gamma=0.02, dictionary=Dictionary(selection=np.arange(100))).fit(X)
    errors = [model.projection_error(X).mean() for model in (one, two, first)]
    assert errors[0] < 1.05 * errors[1]
    assert errors[0] < 0.9 * errors[2]
    assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=0.05)


@pytest.mark.long
def test_a_stream_whose_distribution_changes_is_followed():
    rng = np.random.default_rng(0)
    early, late = rng.normal(0, 0.3, (600, 2)), rng.normal(5, 0.3, (600, 2))
    model = streamed(np.concatenate([early, late]), 100, 8)
    assert (model.dictionary_indices_ >= 600).any()
    assert model.projection_error(late).mean() < 0.1
    assert model.projection_error(early).mean() < 0.1


@pytest.mark.long
@every_weighting
def test_the_dictionary_never_exceeds_its_size_and_chunks_may_be_of_any_length(sum_to_one):
    X, model, start = curve(300), model_of(9, sum_to_one=sum_to_one), 0
    for length in (1, 2, 30, 1, 100, 7, 159):
        model.partial_fit(X[start : start + length])
        start += length
        assert model.n_samples_seen_ == start
        assert model._state_.dictionary.size <= 9
    assert_array_equal(model.dictionary_, X[model.dictionary_indices_])
    factor = model._state_.span.factor
    shifted = gram(model.dictionary_, model.dictionary_) + model._state_.span.shift
    assert_allclose(factor @ factor.T, shifted, atol=1e-12)
    assert_array_equal(model.transform(X)[:5], model.transform(X[:5]))


def test_equal_rows_and_kernels_of_small_rank_need_fewer_members():
    X = np.random.default_rng(0).random((200, 3))
    model = GreedySpectralEmbedding(2, kernel="linear", dictionary=Dictionary(30))
    for chunk in chunks_of(X, 50):
        model.partial_fit(chunk)
    assert len(model.dictionary_) == 4  # an affine basis
    assert model.stream_error_bound_ < 1e-6
    assert_allclose(model.eigenvalues_, np.linalg.svd(X - X.mean(axis=0))[1][:2] ** 2, rtol=1e-6)
    same = streamed(np.repeat(curve(20), 10, axis=0), 50, 30)
    assert len(same.dictionary_) == 20


@pytest.mark.long
def test_the_same_chunks_give_the_same_model_for_any_number_of_threads():
    X = curve(400)
    one, two = (streamed(X, 90, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_array_equal(one.transform(X), two.transform(X))
    assert one.stream_error_bound_ == two.stream_error_bound_


@pytest.mark.long
def test_an_iterator_is_read_once_with_a_size_alone():
    X = curve(300)
    model = model_of().fit(iter(chunks_of(X, 100)))
    expected = streamed(X, 100)
    assert model.n_passes_ == 1
    assert_array_equal(model.transform(X), expected.transform(X))
    assert model.stream_error_bound_ == expected.stream_error_bound_


def test_a_second_pass_projects_all_points_on_the_final_dictionary():
    X = curve(300)
    model = streamed(X, 100)
    given = model_of(dictionary=Dictionary(selection=model.dictionary_indices_)).fit(X)
    model.second_pass(X)
    assert_allclose(model.eigenvalues_, given.eigenvalues_, rtol=1e-9)
    assert not hasattr(model, "stream_error_bound_")
    assert_allclose(model.projection_error(X), given.projection_error(X), atol=1e-9)


@every_weighting
def test_a_stream_continues_after_fit_with_a_bound(sum_to_one):
    X = np.random.default_rng(4).random((300, 3)) * 2
    model = model_of(sum_to_one=sum_to_one).fit(X[:200])
    assert not hasattr(model, "stream_error_bound_")
    known = model.projection_error(X[:200]).mean()
    model.partial_fit(X[200:])
    assert model.n_samples_seen_ == 300
    assert len(model.dictionary_) == 12
    assert model.stream_error_bound_ >= model.projection_error(X).mean()
    assert model.stream_error_bound_ < 5 * known


@pytest.mark.parametrize("error", ["NaN", "interrupt"])
def test_a_chunk_that_fails_changes_nothing(error):
    def kernel(x, y):
        if min(x[0], y[0]) > 50:
            if error == "interrupt":
                raise KeyboardInterrupt
            return np.nan
        return float(np.exp(-GAMMA * ((x - y) ** 2).sum()))

    X = curve(120)
    model, unharmed = (model_of(6, kernel=kernel, gamma=None).partial_fit(X[:60]) for _ in range(2))
    bad = X[60:].copy()
    bad[-2:] += 100
    with pytest.raises((ValueError, KeyboardInterrupt)):
        model.partial_fit(bad)
    assert model.n_samples_seen_ == 60
    for same in (model, unharmed):
        same.partial_fit(X[60:70])
    assert_array_equal(model.transform(X[:9]), unharmed.transform(X[:9]))
    assert model.stream_error_bound_ == unharmed.stream_error_bound_


@pytest.mark.long
def test_models_are_saved_pickled_and_continued(tmp_path):
    X = curve(300)
    model = streamed(X[:200], 100)
    eigenscape.save(model, tmp_path / "a.eigenscape")
    copies = [eigenscape.load(tmp_path / "a.eigenscape"), pickle.loads(pickle.dumps(model))]
    expected = model.partial_fit(X[200:]).transform(X)
    for copy in copies:
        assert_array_equal(copy.partial_fit(X[200:]).transform(X), expected)
        assert copy.stream_error_bound_ == model.stream_error_bound_


@pytest.mark.long
def test_what_a_fixed_size_does_not_support_is_refused_with_the_remedy():
    X = curve(200)
    with pytest.raises(AttributeError, match=r"normalization='divisive'.*set tol or normalize_first=True"):
        model_of(normalization="divisive").partial_fit(X)
    with pytest.raises(ValueError, match=r"normalization='divisive'.*set tol or normalize_first=True"):
        model_of(normalization="divisive").fit(iter([X]))
    model = streamed(X, 100)
    model.dictionary = Dictionary(tol=1e-2)
    with pytest.raises(ValueError, match=r"tol=0.01\), but the stream began without a tolerance.*second_"):
        model.partial_fit(X)
    grown = model_of(None, tol=1e-2).partial_fit(X)
    grown.set_params(dictionary__tol=None, dictionary__size=12)
    with pytest.raises(ValueError, match=r"size=12\), but the stream began with a tolerance"):
        grown.partial_fit(X)
    grown.second_pass(X).partial_fit(X)
    assert grown.n_samples_seen_ == 400


def test_a_kernel_divided_first_supports_a_fixed_size():
    X = np.random.default_rng(0).random((400, 2))
    common = {"normalization": "divisive", "normalize_first": True}
    whole = model_of(None, tol=1e-6, **common).fit(X)
    model = streamed(X[np.random.default_rng(1).permutation(400)], 100, 40, **common)
    assert model.stream_error_bound_ >= model.projection_error(X).mean()
    assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=0.05)


def test_a_dask_collection_is_refused_with_the_remedy():
    array = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"a size without tol.*set tol, call fit"):
        model_of().partial_fit(array.from_array(curve(200), chunks=(100, 3)))


@pytest.mark.parametrize(
    ("dictionary", "words"),
    [
        (Dictionary(12), "chunk (at most 12 members)"),
        (Dictionary(tol=0.01), "chunk (tolerance 0.01, any number of members)"),
        (None, "chunk (tolerance 0.001, at most 2000 members)"),
    ],
)
def test_verbose_shows_the_limits(dictionary, words, capsys):
    GreedySpectralEmbedding(2, gamma=GAMMA, verbose=True, dictionary=dictionary).partial_fit(curve(200))
    assert words in capsys.readouterr().err
