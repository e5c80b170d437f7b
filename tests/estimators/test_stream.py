"""Dictionaries from streams: chunks, files, interruptions, memory; and what is refused, with which words."""

from __future__ import annotations

import pickle
import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest
from cases import curve
from covering import MANY_EXAMPLES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenscape import GreedySpectralEmbedding, read
from eigenscape.exceptions import RankError
from eigenscape.options import Dictionary

few = settings(
    max_examples=10 if MANY_EXAMPLES else 6,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
every_normalization = pytest.mark.parametrize("normalization", ["additive", "divisive", None])


def model_of(tol: float | None = 1e-3, size: int | None = None, **params) -> GreedySpectralEmbedding:
    return GreedySpectralEmbedding(
        **{"n_components": 2, "gamma": 0.7, "dictionary": Dictionary(size, tol=tol), **params}
    )


def cut(X, *lengths):
    """``X`` in chunks of these lengths, over and over."""
    start, turn = 0, 0
    while start < X.shape[0]:
        stop = start + lengths[turn % len(lengths)]
        yield X[start:stop]
        start, turn = stop, turn + 1


def streamed(chunks, **params) -> GreedySpectralEmbedding:
    model = model_of(**params)
    for chunk in chunks:
        model.partial_fit(chunk)
    return model


def up_to_sign(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A * np.sign(np.einsum("ir,ir->r", A, B))


def same_model(model, expected, Y, rtol: float = 1e-9) -> None:
    assert_array_equal(model.dictionary_indices_, expected.dictionary_indices_)
    assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=rtol)
    placed = expected.transform(Y)
    assert_allclose(up_to_sign(model.transform(Y), placed), placed, atol=rtol * np.abs(placed).max() * 10)


class Chunks:
    """A user's own source that can be gone through again; it counts what it hands out."""

    def __init__(self, X, *lengths):
        self.X, self.lengths, self.given = X, lengths, 0

    def __iter__(self):
        for chunk in cut(self.X, *self.lengths):
            self.given += 1
            yield chunk


# --- one pass -----------------------------------------------------------------------------------------------


@pytest.mark.long
@few
@given(lengths=st.lists(st.integers(1, 200), min_size=1, max_size=4), sum_to_one=st.booleans())
def test_any_chunks_give_the_same_dictionary(lengths, sum_to_one):
    X = curve(250)
    one_by_one = chosen_one_by_one(sum_to_one)
    model = streamed(cut(X, *lengths), tol=1e-2, sum_to_one=sum_to_one)
    assert_array_equal(model.dictionary_indices_, one_by_one)
    assert_array_equal(model.dictionary_, X[one_by_one])
    assert model.n_samples_seen_ == len(X)
    assert model.n_passes_ == 1


@cache
def chosen_one_by_one(sum_to_one):
    return streamed(cut(curve(250), 1), tol=1e-2, sum_to_one=sum_to_one).dictionary_indices_


@every_normalization
def test_an_interrupted_stream_goes_on_as_if_it_had_not_been(normalization):
    X, Y = curve(2000), curve(20, seed=1)
    whole, broken = model_of(normalization=normalization), model_of(normalization=normalization)
    for chunk in cut(X, 300, 70):
        whole.partial_fit(chunk)
        broken = pickle.loads(pickle.dumps(broken)).partial_fit(chunk)
    assert_array_equal(broken.dictionary_indices_, whole.dictionary_indices_)
    assert_array_equal(broken.eigenvalues_, whole.eigenvalues_)
    assert_array_equal(broken.transform(Y), whole.transform(Y))
    assert_array_equal(broken.projection_error(Y), whole.projection_error(Y))


@pytest.mark.long
@pytest.mark.parametrize(
    ("normalization", "tolerance"), [("additive", 0.02), (None, 0.02), ("divisive", 0.35)]
)
def test_one_pass_is_near_two(normalization, tolerance):
    """Less so where points are divided by averages that were not known yet when they came."""
    X = curve(3000)
    one, two = (
        streamed(cut(X, 200), normalization=normalization, tol=1e-4),
        model_of(normalization=normalization, tol=1e-4).fit(X),
    )
    assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=tolerance)
    placed = two.transform(X)
    assert np.abs(up_to_sign(one.transform(X), placed) - placed).max() < tolerance * np.abs(placed).max()


@every_normalization
@pytest.mark.parametrize(
    "again", [lambda X: Chunks(X, 170), lambda X: X, lambda X: list(cut(X, 400)), lambda X: cut(X, 170)]
)
def test_a_second_pass_gives_what_fit_gives(normalization, again):
    X, Y = curve(800), curve(20, seed=1)
    model = streamed(cut(X, 111), normalization=normalization)
    if normalization == "divisive" and not hasattr(again(X), "__len__") and not isinstance(again(X), Chunks):
        with pytest.raises(ValueError, match="iterator can be read only once; pass the chunks again"):
            model.second_pass(again(X))
        return
    model.second_pass(again(X))
    same_model(model, model_of(normalization=normalization).fit(X), Y)
    assert (model.n_passes_, model.n_samples_seen_) == (2, len(X))


@every_normalization
def test_a_stream_goes_on_after_fit_as_after_partial_fit(normalization):
    """What ``fit`` knows of its points weighs as much as they are many."""
    X, Y = curve(2000), curve(20, seed=1)
    model = model_of(normalization=normalization).fit(X)
    before = model.transform(Y)
    model.partial_fit(X[:3])
    assert model.n_samples_seen_ == 2003
    assert np.abs(up_to_sign(model.transform(Y), before) - before).max() < 0.02 * np.abs(before).max()


def test_after_a_second_pass_over_other_data_no_old_embedding_is_left():
    X = curve(600)
    model = model_of().fit(X)
    model.second_pass(X[:100])
    if hasattr(model, "embedding_"):
        assert_allclose(model.embedding_, model.transform(X[:100]))


# --- sources ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def expected():
    return model_of().fit(curve(1500))


@pytest.fixture(scope="module")
def expected_by_size():
    return model_of(tol=None, size=20).fit(curve(1500))


def source(kind: str, X: np.ndarray, tmp_path):
    if kind == "memmap":
        X.tofile(tmp_path / "rows.bin")
        return np.memmap(tmp_path / "rows.bin", dtype=X.dtype, mode="r", shape=X.shape)
    if kind == "npy":
        np.save(tmp_path / "rows.npy", X)
        return read(tmp_path / "rows.npy", stream=True).array
    if kind == "list":
        return list(cut(X, 400))
    if kind == "list of sparse":
        return [sparse.csr_matrix(chunk) for chunk in cut(X, 400)]
    if kind == "dense and sparse":
        return [sparse.csr_matrix(chunk) if place % 2 else chunk for place, chunk in enumerate(cut(X, 90))]
    if kind == "frames":
        return [pd.DataFrame(chunk, columns=["a", "b", "c"]) for chunk in cut(X, 400)]
    if kind == "with empty chunks":
        return [X[:0], X[:700], X[:0], X[700:], X[:0]]
    if kind == "iterable":
        return Chunks(X, 400)
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")

    def write(rows, name):
        parquet.write_table(
            arrow.table({f"x{i}": column for i, column in enumerate(rows.T)}),
            tmp_path / name,
            row_group_size=130,
        )

    if kind == "parquet":
        write(X, "rows.parquet")
        return read(tmp_path / "rows.parquet", stream=True).array
    for place, chunk in enumerate(cut(X, 600)):
        write(chunk, f"part{place}.parquet")
    return read(tmp_path, stream=True).array


KINDS = [
    "memmap",
    "npy",
    "list",
    "list of sparse",
    "dense and sparse",
    "frames",
    "with empty chunks",
    "iterable",
    "parquet",
    "folder",
]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", KINDS)
def test_every_source_gives_what_an_array_gives(kind, expected, expected_by_size, tmp_path):
    X = curve(1500)
    model = model_of().fit(source(kind, X, tmp_path))
    same_model(model, expected, X)
    assert (model.n_passes_, model.n_samples_seen_, model.n_features_in_) == (2, 1500, 3)
    assert_allclose(model.embedding_, model.transform(X), atol=1e-12)
    by_size = model_of(tol=None, size=20).fit(source(kind, X, tmp_path))
    assert_array_equal(by_size.dictionary_indices_, expected_by_size.dictionary_indices_)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_names_of_features_are_kept_and_must_stay():
    X = curve(400)
    frames = [pd.DataFrame(chunk, columns=["a", "b", "c"]) for chunk in cut(X, 100)]
    model = streamed(frames)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frames[0].rename(columns={"a": "z"}))


def test_an_iterator_is_gone_through_once(expected):
    X = curve(1500)
    model = model_of().fit(cut(X, 400))
    same_model(model, streamed(cut(X, 400)), X)
    assert_array_equal(model.dictionary_indices_, expected.dictionary_indices_)
    assert model.n_passes_ == 1
    with pytest.raises(AttributeError, match="call transform"):
        _ = model.embedding_


def test_single_precision_stays_single():
    X = curve(500).astype(np.float32)
    model = model_of().fit(list(cut(X, 200)))
    assert model.embedding_.dtype == np.float32
    assert_allclose(model.embedding_, model_of().fit(X).embedding_, atol=1e-5)


@pytest.mark.long
def test_a_model_of_a_stream_is_pickled_without_the_data(tmp_path):
    """They may be larger than memory, or a source that cannot be pickled at all."""
    X = curve(20000)
    for kind in ("memmap", "list", "iterable"):
        chunks = source(kind, X, tmp_path)
        if kind == "iterable":
            chunks.handle = (row for row in X)
        model = model_of(tol=0.05).fit(chunks)
        kept = pickle.dumps(model)
        assert len(kept) < X.nbytes / 2
        assert_array_equal(pickle.loads(kept).transform(X[:5]), model.transform(X[:5]))


def test_a_user_source_is_not_gone_through_more_often_than_needed():
    """Selecting is one pass, the moments another, the averages to divide by a third; the first chunk may be
    looked at once more."""
    for normalization, passes in (("additive", 2), ("divisive", 3)):
        chunks = Chunks(curve(1000), 200)
        model_of(normalization=normalization).fit(chunks)
        assert chunks.given <= 5 * passes + 1


def test_a_path_is_no_stream(tmp_path):
    with pytest.raises(TypeError, match=r"pass read\(path, stream=True\)\.array"):
        model_of().fit(str(tmp_path / "rows.npy"))


def test_columns_of_parquet_files_are_matched_by_name(tmp_path):
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    X = curve(600)
    for name, rows, order in (("a", X[:300], "xyz"), ("b", X[300:], "zyx")):
        table = dict(zip("xyz", rows.T, strict=True))
        parquet.write_table(arrow.table({key: table[key] for key in order}), tmp_path / f"{name}.parquet")
    same_model(model_of().fit(read(tmp_path, stream=True).array), model_of().fit(X), X)


# --- memory -------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_memory_does_not_grow_with_the_stream(tmp_path):
    peaks = []
    for n in (60_000, 120_000):
        rows = np.memmap(tmp_path / f"{n}.bin", dtype=np.float64, mode="w+", shape=(n, 10))
        rows[:] = np.random.default_rng(0).random((n, 10))
        model = GreedySpectralEmbedding(3, gamma=0.2, dictionary=Dictionary(tol=0.06))
        tracemalloc.start()
        model.fit(rows)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert 60 < len(model.dictionary_) < 160
        del rows
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 40e6


# --- what ends a stream -------------------------------------------------------------------------------------


def ending(X, error):
    yield from cut(X, 250)
    raise error


@pytest.mark.parametrize(
    "error", [OSError("the disk is gone"), KeyboardInterrupt()], ids=["error", "interrupt"]
)
@every_normalization
def test_a_stream_that_is_killed_leaves_what_was_learnt(error, normalization):
    X = curve(1000)
    model = model_of(normalization=normalization)
    with pytest.raises(type(error)):
        model.fit(ending(X, error))
    uninterrupted = streamed(cut(X, 250), normalization=normalization)
    assert_array_equal(model.transform(X[:9]), uninterrupted.transform(X[:9]))
    more = curve(300, seed=2)
    assert_array_equal(
        model.partial_fit(more).transform(X[:9]), uninterrupted.partial_fit(more).transform(X[:9])
    )


def state(model) -> bytes:
    return pickle.dumps(dict(sorted(vars(model).items())))


@every_normalization
def test_a_chunk_that_is_refused_leaves_the_model_as_it_was(normalization):
    X = curve(900)
    model = streamed(cut(X[:600], 300), normalization=normalization)
    before = state(model)
    bad = X[600:].copy()
    bad[[4, 17], 1] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"NaN in 1 cell\(s\), the first in row 604, column 1; replace"):
        model.partial_fit(bad)
    for chunk, words in (
        (sparse.csr_array(bad), "row 604"),
        (X[:, :2], "2 features"),
        (np.full((2, 3), "a"), "string"),
        (X[:0], "0 sample"),
    ):
        with pytest.raises(ValueError, match=words):
            model.partial_fit(chunk)
    assert state(model) == before
    same_model(
        model.partial_fit(X[600:]), streamed(cut(X, 300), normalization=normalization), X[:9], rtol=1e-14
    )


@every_normalization
@pytest.mark.parametrize("error", ["NaN", "interrupt"])
def test_a_kernel_that_fails_within_a_chunk_leaves_the_model_as_it_was(normalization, error):
    """After several blocks of the chunk have gone well."""

    def kernel(x, y):
        if min(x[0], y[0]) > 50:
            if error == "interrupt":
                raise KeyboardInterrupt
            return np.nan
        return float(np.exp(-0.3 * ((x - y) ** 2).sum()))

    X = curve(1000)
    model, unharmed = (
        model_of(kernel=kernel, tol=0.2, normalization=normalization).partial_fit(X[:300]) for _ in range(2)
    )
    bad = X[300:].copy()
    bad[-5:] += 100
    with pytest.raises((ValueError, KeyboardInterrupt)):
        model.partial_fit(bad)
    assert model.n_samples_seen_ == 300
    for same in (model, unharmed):
        same.partial_fit(X[300:310])
    assert_array_equal(model.eigenvalues_, unharmed.eigenvalues_)
    assert_array_equal(model.transform(X[:9]), unharmed.transform(X[:9]))


def test_rows_that_are_not_finite_are_named_in_fit_too():
    X = curve(900)
    X[777, 2] = np.nan
    model = model_of()
    with pytest.raises(ValueError, match=r"NaN in 1 cell.*the first in row 777, column 2"):
        model.fit(list(cut(X, 300)))
    assert model.n_samples_seen_ == 600
    assert_array_equal(model.transform(X[:9]), streamed(cut(X[:600], 300)).transform(X[:9]))


@pytest.mark.parametrize("chunks", [iter([]), [np.empty((0, 3))], Chunks(np.empty((0, 3)), 5)])
@pytest.mark.parametrize("params", [{}, {"size": 5}, {"normalization": "divisive"}])
def test_an_empty_stream_is_refused(chunks, params):
    with pytest.raises(ValueError, match="the stream is empty"):
        model_of(**params).fit(chunks)


def test_a_stream_may_begin_with_few_rows():
    X = curve(500)
    model = streamed([X[:1], X[1:2], X[2:]])
    assert_array_equal(model.dictionary_indices_, streamed([X]).dictionary_indices_)
    assert not hasattr(streamed([X[:1]]), "eigenvalues_")
    with pytest.raises(ValueError, match="gamma"):
        model_of(gamma=None).partial_fit(X[:1])
    with pytest.raises(
        RankError,
        match=r"1 row\(s\) gave a dictionary of 1 point.*lower tol or n_components, or pass more rows",
    ):
        model_of().fit(iter([X[:1]]))


@pytest.mark.parametrize("normalization", ["additive", None])
def test_a_stream_may_begin_with_points_that_have_no_length(normalization):
    X = curve(500)
    model = streamed([np.zeros((5, 3)), X], kernel="linear", gamma=None, normalization=normalization)
    expected = streamed(
        [np.concatenate([np.zeros((5, 3)), X])], kernel="linear", gamma=None, normalization=normalization
    )
    assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
