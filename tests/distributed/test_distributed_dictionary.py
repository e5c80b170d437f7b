"""Dictionaries of dask collections: the numbers of one machine, for any partitioning."""

from __future__ import annotations

import warnings
from functools import cache

import dask
import dask.array as da
import numpy as np
import pytest
from covering import MANY_EXAMPLES, PRODUCT
from dask.delayed import delayed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from eigenscape import GreedySpectralEmbedding, KernelPCA, LaplacianEigenmaps, SpectralClustering
from eigenscape.dictionary import partitions
from eigenscape.distributed import dictionary
from eigenscape.exceptions import ToleranceWarning
from eigenscape.options import Dictionary
from eigenscape.quality import aligned_error

pytestmark = pytest.mark.dask

N = 1500
#: Three directions of different length, so that no two eigenvalues are equal.
X = np.random.default_rng(0).uniform(size=(N, 3)) * [3.0, 1.5, 0.5]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def cut(X, *ends):
    """The rows as a collection of so many partitions, which may be empty."""
    pieces = np.split(X, ends)
    return da.concatenate([da.from_array(piece, chunks=piece.shape) for piece in pieces]) if len(X) else None


def ragged(X, sizes):
    return da.from_array(X, chunks=(tuple(sizes), X.shape[1]))


CASES = {
    "greedy-tol": GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(tol=1e-3)),
    "greedy-divisive": GreedySpectralEmbedding(
        gamma=0.5, normalization="divisive", dictionary=Dictionary(tol=1e-3)
    ),
    "greedy-plain": GreedySpectralEmbedding(gamma=0.5, normalization=None, dictionary=Dictionary(tol=1e-3)),
    "greedy-dictionary-averages": GreedySpectralEmbedding(
        gamma=0.5, averages="dictionary", dictionary=Dictionary(tol=1e-4)
    ),
    "greedy-linear": GreedySpectralEmbedding(kernel="linear", dictionary=Dictionary(tol=1e-9)),
    "kernel-pca": KernelPCA(approximation=Dictionary(tol=1e-3)),
    "kernel-pca-size": KernelPCA(approximation=Dictionary(25)),
    "laplacian": LaplacianEigenmaps(affinity="rbf", gamma=0.5, approximation=Dictionary(tol=1e-4)),
    "clustering": SpectralClustering(3, affinity="rbf", gamma=0.5, approximation=Dictionary(tol=1e-4)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_collection_gives_the_map_of_its_rows(name):
    alone = clone(CASES[name]).fit(X)
    model = clone(CASES[name]).fit(ragged(X, [400, 1, 599, 500]))
    assert isinstance(model.embedding_, da.Array)
    assert model.embedding_.chunks[0] == (400, 1, 599, 500)
    assert aligned_error(model.embedding_.compute(), alone.embedding_) < 1e-3
    np.testing.assert_allclose(model.eigenvalues_, alone.eigenvalues_, rtol=1e-3)
    assert model.gram_error_bound_ < 1.5 * alone.gram_error_bound_ + 1e-9  # the same level of error
    assert (X[model.dictionary_indices_] == model.dictionary_).all()
    if "gamma_" in vars(alone):
        assert model.gamma_ == alone.gamma_
    # Laws 1 and 6: rows in memory have the same places, and the model survives without the collection.
    np.testing.assert_allclose(model.transform(X), model.embedding_.compute(), atol=1e-12)


@pytest.mark.parametrize("normalization", ["additive", "divisive", None])
@pytest.mark.parametrize("sizes", [[N], [300] * 5, [1, 2, 3, N - 6]])
def test_sums_for_one_dictionary_are_those_of_one_machine(normalization, sizes):
    members = X[::30]
    model = GreedySpectralEmbedding(
        gamma=0.5, normalization=normalization, dictionary=Dictionary(points=members)
    )
    alone, model = clone(model).fit(X)._state_, model.fit(ragged(X, sizes))._state_
    for found, expected in ((model.moments, alone.moments), (model.weighted_moments, alone.weighted_moments)):
        assert (found is None) == (expected is None)
        if found is not None:
            np.testing.assert_allclose(
                found.second, expected.second, atol=1e-10 * np.abs(expected.second).max()
            )
            np.testing.assert_allclose(
                found.first, expected.first, atol=1e-10 * np.abs(expected.second).max()
            )
            assert (found.count, found.n_isolated) == (expected.count, expected.n_isolated)
            assert found.max_error == pytest.approx(expected.max_error, rel=1e-8, abs=1e-12)
    np.testing.assert_allclose(model.mean_feature(), alone.mean_feature(), atol=1e-10)


@pytest.fixture
def parts_are_asked(monkeypatch):
    """Few rows are at hand, and few come together at once: so do ten million with the usual numbers."""
    monkeypatch.setattr(partitions, "_MIN_HEAD", 64)
    monkeypatch.setattr(partitions, "_HEAD_FRACTION", 10**9)
    monkeypatch.setattr(partitions, "_MIN_ROWS", 16)

    def together(count):
        monkeypatch.setattr(dictionary, "pool_size", lambda _: count)

    together(200)
    return together


@pytest.fixture
def surveys(monkeypatch):
    """The questions that were asked: each is a pass over some partitions."""
    asked, ask = [], dictionary.BlockPartitions.screen

    def counting(self, searched, question, first, last):
        asked.append(last - first)
        return ask(self, searched, question, first, last)

    monkeypatch.setattr(dictionary.BlockPartitions, "screen", counting)
    return asked


EXACT = {
    **{name: CASES[name] for name in CASES if name != "greedy-linear"},  # whose rank rounding decides
    "size": GreedySpectralEmbedding(gamma=2.0, dictionary=Dictionary(30)),
    "size-divisive": GreedySpectralEmbedding(gamma=2.0, normalization="divisive", dictionary=Dictionary(30)),
    "size-plain": GreedySpectralEmbedding(
        kernel="laplacian", gamma=1.0, normalization=None, dictionary=Dictionary(30)
    ),
}


@pytest.mark.parametrize("order", ["as they come", "sorted"])
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("together", [12, 200, N - 1] if PRODUCT else [200])
def test_the_dictionary_is_that_of_one_machine(name, order, together, parts_are_asked, surveys):
    parts_are_asked(together)
    Y = X if order == "as they come" else X[np.argsort(X[:, 0])]
    alone, model = clone(EXACT[name]).fit(Y), clone(EXACT[name]).fit(ragged(Y, [400, 1, 0, 599, 500]))
    assert surveys
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)
    np.testing.assert_array_equal(model.dictionary_, alone.dictionary_)
    np.testing.assert_allclose(model.eigenvalues_, alone.eigenvalues_, rtol=1e-8)
    assert model.gram_error_bound_ == pytest.approx(
        alone.gram_error_bound_, rel=1e-6, abs=1e-9
    )  # roots of errors that are 1e-16 or 0
    assert aligned_error(model.embedding_.compute(), alone.embedding_) < 1e-8


@cache
def fitted_alone(name):
    """The model of a case fitted on one machine. Tests only read it."""
    return clone(EXACT[name]).fit(X)


@settings(
    max_examples=25 if MANY_EXAMPLES else 6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.integers(0, N), min_size=0, max_size=9),
    st.sampled_from(["greedy-tol", "greedy-divisive", "kernel-pca-size", "size"]),
    st.integers(1, 2000),
)
def test_how_rows_are_cut_changes_nothing(parts_are_asked, ends, name, together):
    parts_are_asked(together)
    alone = fitted_alone(name)
    model = clone(EXACT[name]).fit(cut(X, *sorted(ends)))
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)
    assert aligned_error(model.embedding_.compute(), alone.embedding_) < 1e-8
    # Proposition 1 for all rows, not for those at hand alone.
    assert model.projection_error(X).max() <= alone.projection_error(X).max() * (1 + 1e-6)


@pytest.mark.parametrize(("name", "passes"), [("greedy-tol", 3), ("size", 10)])
def test_shuffled_rows_take_few_passes(name, passes, parts_are_asked, surveys):
    clone(EXACT[name]).fit(ragged(X, [100] * 15))
    assert 1 <= len(surveys) <= passes


def test_parts_that_are_all_new_are_not_asked_over_and_over(parts_are_asked, surveys):
    """Each part is far from those before it, and fills what may come together: looks at parts are few times
    their number, not squared."""
    parts, rows = 24, 30
    Y = np.repeat(10.0 * np.arange(parts), rows)[:, None] + np.random.default_rng(2).uniform(
        size=(parts * rows, 3)
    )
    parts_are_asked(rows)
    model = GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(tol=1e-2))
    alone, model = clone(model).fit(Y), model.fit(ragged(Y, [rows] * parts))
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)
    assert sum(surveys) < 8 * parts


def test_empty_partitions_among_parts_that_are_new(parts_are_asked):
    """What a filter leaves: ranges of partitions without a row are not asked."""
    parts_are_asked(20)
    Y = X[np.argsort(X[:, 0])] * [25, 1, 1]
    sizes = [0, 375, 375, 0, 0, 0, 0, 375, 375, *[0] * 9]
    estimator = GreedySpectralEmbedding(gamma=1.0, dictionary=Dictionary(tol=0.2))
    alone, model = clone(estimator).fit(Y), estimator.fit(ragged(Y, sizes))
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)


def test_a_row_is_chosen_once(parts_are_asked):
    """A narrow kernel, more members wanted than there are different rows: distances of members are rounding,
    and larger than none."""
    few = np.random.default_rng(3).uniform(size=(100, 3))
    twins = few[np.random.default_rng(4).integers(0, 100, 3000)]
    with pytest.raises(
        ValueError, match="size=120 of the dictionary, but there are only 100 distinct points"
    ):
        KernelPCA(gamma=1e4, approximation=Dictionary(120)).fit(ragged(twins, [1000] * 3))
    model = KernelPCA(gamma=1e4, approximation=Dictionary(200)).fit(ragged(X[:300], [100] * 3))
    assert len(np.unique(model.dictionary_indices_)) == 200


@pytest.mark.parametrize("kernel", ["poly", "rbf", "laplacian"])
@pytest.mark.parametrize(
    ("cls", "name"), [(GreedySpectralEmbedding, "dictionary"), (KernelPCA, "approximation")]
)
def test_open_parameters_of_kernels_are_those_of_one_machine(cls, name, kernel):
    estimator = cls(kernel=kernel, **{name: Dictionary(8)})
    alone, model = clone(estimator).fit(X), estimator.fit(ragged(X, [500, 1000]))
    assert model.gamma_ == pytest.approx(alone.gamma_, rel=1e-12)
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)


def test_dense_and_sparse_partitions_in_any_order():
    S = sparse.random_array((600, 40), density=0.1, random_state=np.random.default_rng(0), format="csr")
    alone = KernelPCA(kernel="cosine", approximation=Dictionary(30)).fit(S)
    for kinds in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        parts = [kind(part.toarray()) for kind, part in zip(kinds, (S[:250], S[250:]), strict=True)]
        nodes = [da.from_delayed(delayed(part, traverse=False), part.shape, float) for part in parts]
        model = KernelPCA(kernel="cosine", approximation=Dictionary(30)).fit(da.concatenate(nodes))
        np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)


def test_the_size_is_a_cap_on_the_tolerance(parts_are_asked):
    """The first members, as on one machine."""
    estimator = KernelPCA(gamma=2.0, approximation=Dictionary(70, tol=1e-6))
    with pytest.warns(ToleranceWarning, match="size=70 is reached"):
        model = clone(estimator).fit(ragged(X, [500] * 3))
    with pytest.warns(ToleranceWarning, match="size=70 is reached"):
        alone = clone(estimator).fit(X)
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)


def test_more_members_than_digits_allow(parts_are_asked):
    """Rows that are beyond the tolerance for want of digits are passed over, and not asked for again and
    again."""
    parts_are_asked(20)
    estimator = GreedySpectralEmbedding(kernel="poly", degree=2, gamma=1.0, dictionary=Dictionary(tol=1e-13))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceWarning)
        model, alone = clone(estimator).fit(ragged(100 * X, [500] * 3)), clone(estimator).fit(100 * X)
    assert abs(len(model.dictionary_) - len(alone.dictionary_)) <= 1
    assert aligned_error(model.embedding_.compute(), alone.embedding_) < 1e-6


def test_too_large_a_size_is_refused_as_on_one_machine():
    twins = np.repeat(X[:10], 30, axis=0)
    with pytest.raises(ValueError, match="size=11 of the dictionary, but there are only 10 distinct points"):
        KernelPCA(approximation=Dictionary(11)).fit(ragged(twins, [100, 200]))
    with pytest.raises(ValueError, match="1 sample"):
        KernelPCA(gamma=1.0, approximation=Dictionary(tol=0.1)).fit(ragged(twins[:1], [1]))
    with pytest.raises(ValueError, match="all 20 rows are equal"):
        KernelPCA(gamma=1.0, approximation=Dictionary(tol=0.1)).fit(ragged(twins[:20], [5, 15]))
    flat = np.pad(X[:, :1], ((0, 0), (0, 2)))  # three points span a line, and no more
    with pytest.raises(
        ValueError, match="size=4 of the dictionary, but only 2 of the points are independent"
    ):
        KernelPCA(kernel="linear", approximation=Dictionary(4)).fit(ragged(flat, [700, 800]))


def test_unknown_lengths_and_dataframes():
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=4)
    model = KernelPCA(approximation=Dictionary(tol=1e-3)).fit(frame)
    alone = KernelPCA(approximation=Dictionary(tol=1e-3)).fit(X)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.gamma_ == alone.gamma_
    assert aligned_error(model.embedding_.compute(), alone.embedding_) < 1e-3


def test_float32_rows_come_out_as_float32():
    model = KernelPCA(approximation=Dictionary(50)).fit(ragged(X.astype(np.float32), [700, 800]))
    assert model.embedding_.dtype == model.embedding_.compute().dtype == np.float32


def test_sparse_blocks():
    S = sparse.random_array((600, 40), density=0.1, random_state=np.random.default_rng(0), format="csr")
    blocks = da.from_array(S.toarray(), chunks=(200, 40)).map_blocks(sparse.csr_array)
    model = KernelPCA(kernel="cosine", approximation=Dictionary(tol=0.3)).fit(blocks)
    alone = KernelPCA(kernel="cosine", approximation=Dictionary(tol=0.3)).fit(S)
    assert aligned_error(model.transform(S), alone.embedding_) < 0.05
    assert model.projection_error(S).max() <= 0.3 * (1 + 1e-9)


def test_clusters_of_a_collection_are_those_of_its_rows():
    centres = np.array([[0, 0, 0], [5, 0, 0], [0, 5, 0]])
    Y = centres[np.arange(900) % 3] + 0.5 * np.random.default_rng(1).standard_normal((900, 3))
    estimator = SpectralClustering(3, affinity="rbf", gamma=0.3, approximation=Dictionary(tol=1e-4))
    alone, model = clone(estimator).fit(Y), estimator.fit(ragged(Y, [100, 500, 300]))
    labels = model.labels_.compute()
    assert labels.dtype == np.int64
    assert len({(a, b) for a, b in zip(labels, alone.labels_, strict=True)}) == 3
    assert model.ncut_ == pytest.approx(alone.ncut_, rel=1e-3)
    assert (model.predict(Y) == labels).all()


def test_a_stream_may_begin_with_one_row():
    alone, model = (
        GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(tol=1e-3)),
        GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(tol=1e-3)),
    )
    for some in (X[:1], X[1:200]):
        alone.partial_fit(some)
        model.partial_fit(ragged(some, [len(some)]))
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)


@pytest.mark.parametrize("averages", ["implicit", "dictionary"])
@pytest.mark.parametrize("normalization", ["additive", "divisive", None])
def test_a_stream_goes_on_with_collections(normalization, averages, parts_are_asked):
    estimator = GreedySpectralEmbedding(
        gamma=0.5, normalization=normalization, averages=averages, dictionary=Dictionary(tol=1e-3)
    )
    alone, model = clone(estimator), clone(estimator)
    for some, sizes in ((X[:500], [100, 400]), (X[500:], [300, 0, 700])):
        alone.partial_fit(some)
        model.partial_fit(ragged(some, sizes))
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)
    assert (model.n_samples_seen_, model.n_passes_) == (N, 1)
    assert (
        aligned_error(model.transform(X), alone.transform(X)) < 0.02
    )  # one machine knows less of the first rows
    exact = clone(estimator).fit(X)
    assert aligned_error(model.transform(X), exact.embedding_) < 0.02
    with pytest.raises(ValueError, match="partition 1 of X"):
        model.partial_fit(ragged(np.where(np.arange(10)[:, None] == 7, np.nan, X[:10]), [5, 5]))
    assert model.n_samples_seen_ == N
    model.second_pass(ragged(X, [700, 800]))
    alone.second_pass(X)
    np.testing.assert_allclose(model.transform(X), alone.transform(X), atol=1e-9)


def test_a_stream_may_end_with_a_pass_over_a_collection():
    estimator = GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(tol=1e-3))
    for start in range(0, N, 500):
        estimator.partial_fit(X[start : start + 500])
    alone = clone(estimator)
    for start in range(0, N, 500):
        alone.partial_fit(X[start : start + 500])
    alone.second_pass(X)
    estimator.second_pass(ragged(X, [100, 1400]))
    np.testing.assert_allclose(estimator.transform(X), alone.transform(X), atol=1e-10)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (GreedySpectralEmbedding(averages="random"), "averages='random' needs all data in memory"),
        (
            GreedySpectralEmbedding(dictionary=Dictionary(5, selection="kmeans")),
            "selection='kmeans' needs all data in memory",
        ),
        (
            KernelPCA(kernel="precomputed", approximation=Dictionary(5)),
            "kernel='precomputed' needs the whole matrix",
        ),
        (LaplacianEigenmaps(approximation=Dictionary(5)), "needs a kernel between all samples"),
        (
            LaplacianEigenmaps(affinity="linear", approximation=Dictionary(2)),
            "an affinity must not be negative",
        ),
        (GreedySpectralEmbedding(kernel="sigmoid", coef0=-1.0, gamma=1.0), "not positive semi-definite"),
    ],
)
def test_what_a_collection_cannot_give_is_refused(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(ragged(X - 1.0, [500, 1000]))
    assert not [name for name in vars(estimator) if name == "eigenvalues_"]


def test_members_given_by_their_row_numbers():
    numbers = [1400, 3, 700, 250, 900, 60]
    model = GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(selection=numbers)).fit(
        ragged(X, [400, 0, 600, 500])
    )
    alone = GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(selection=numbers)).fit(X)
    signs = np.sign(
        (model.embedding_.compute() * alone.embedding_).sum(axis=0)
    )  # the largest entry of few members decides
    np.testing.assert_allclose(model.embedding_.compute() * signs, alone.embedding_, atol=1e-10)
    np.testing.assert_array_equal(model.dictionary_indices_, alone.dictionary_indices_)
    with pytest.raises(ValueError, match=r"contains \[1500\] as a row index, but X has rows 0 to 1499"):
        GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(selection=[3, 1500])).fit(
            ragged(X, [700, 800])
        )
    with pytest.raises(ValueError, match="must be a name or row indices; pass points as points"):
        Dictionary(selection=[1.5, 2, 3])


def test_nan_is_named_by_its_partition():
    Y = X.copy()
    Y[1203, 1] = np.nan
    with pytest.raises(ValueError, match="partition 2 of X"):
        KernelPCA(gamma=1.0, approximation=Dictionary(20)).fit(ragged(Y, [500, 500, 500]))
