"""Parameters of dictionaries: invalid ones and their errors, and dictionaries given by the user."""

from __future__ import annotations

import pickle
import re
from functools import partial

import numpy as np
import pytest
from cases import curve, shared_letters
from cases import words as some_words
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from eigenscape import (
    GreedySpectralEmbedding,
    KernelPCA,
    LaplacianEigenmaps,
    SpectralClustering,
    load,
    save,
)
from eigenscape.exceptions import RankError, ToleranceWarning
from eigenscape.options import Dictionary, RadiusGraph

either = pytest.mark.parametrize("sum_to_one", [True, False], ids=["hull", "span"])


# --- kernels that have no dictionary ------------------------------------------------------------------------


def thresholded(X: np.ndarray) -> np.ndarray:
    K = np.exp(-0.7 * cdist(X, X, "sqeuclidean"))
    return np.where(K > 0.6, K, 0.0)


@either
@pytest.mark.parametrize("n", [150, 600])
@pytest.mark.parametrize("order", [1, -1])
def test_an_indefinite_kernel_is_refused(n, order, sum_to_one):
    """Be it found by a later block or within the first."""
    X = curve(n)[::order]
    K = thresholded(X)
    middle = np.eye(n) - 1 / n
    assert np.linalg.eigvalsh(middle @ K @ middle)[0] < -1
    with pytest.raises(ValueError, match="not positive semi-definite"):
        GreedySpectralEmbedding(
            kernel="precomputed", sum_to_one=sum_to_one, dictionary=Dictionary(tol=1e-3)
        ).fit(K)


@pytest.mark.parametrize("n", [150, 600])
@pytest.mark.parametrize("dictionary", [Dictionary(tol=1e-3), Dictionary(20)])
def test_indefinite_kernels_are_refused_by_every_method(n, dictionary):
    X = curve(n)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        LaplacianEigenmaps(affinity="precomputed", approximation=dictionary).fit(
            sparse.csr_array(thresholded(X))
        )
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelPCA(kernel="sigmoid", gamma=2.0, coef0=-1.0, approximation=dictionary).fit(X)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelPCA(kernel="precomputed", approximation=dictionary).fit(-cdist(20 * X, 20 * X, "sqeuclidean"))


@either
def test_an_indefinite_kernel_is_refused_in_a_stream(sum_to_one):
    def within_reach(x, y):
        value = float(np.exp(-0.7 * ((x - y) ** 2).sum()))
        return value if value > 0.6 else 0.0

    with pytest.raises(ValueError, match="not positive semi-definite"):
        GreedySpectralEmbedding(
            kernel=within_reach, sum_to_one=sum_to_one, dictionary=Dictionary(tol=1e-3)
        ).partial_fit(curve(150))


def test_a_kernel_that_is_not_finite_is_refused():
    def broken(x, y):
        return np.nan if min(x[0], y[0]) > 0.95 else float(np.exp(-((x - y) ** 2).sum()))

    with pytest.raises(ValueError, match="not finite"):
        GreedySpectralEmbedding(kernel=broken, dictionary=Dictionary(tol=1e-2)).fit(curve(80))


def test_a_size_that_stops_short_of_the_tolerance_is_announced():
    X = curve(600)
    with pytest.warns(ToleranceWarning, match="size=10 is reached"):
        model = GreedySpectralEmbedding(gamma=1.0, dictionary=Dictionary(10, tol=1e-6)).fit(X)
    assert len(model.dictionary_) == 10


# --- invalid parameters -------------------------------------------------------------------------------------

X_80 = curve(80)


def fields(name: str = "dictionary", **values):
    """Return a parameter whose option is made in the test, where its error is expected."""
    return {name: values}


def made(cls, params):
    """Return an estimator with the dictionary of the given fields."""
    return cls(
        **{name: Dictionary(**value) if isinstance(value, dict) else value for name, value in params.items()}
    )


GREEDY = [
    (fields(tol=-1e-3), ["tol=-0.001", "at least 0"]),
    (fields(tol=np.nan), ["tol=nan", "at least 0"]),
    (fields(tol="small"), ["tol='small'", "number"]),
    (fields(tol=True), ["tol=True", "number"]),
    (fields(size=0), ["size=0", "at least 1"]),
    (fields(size=2.5), ["size=2.5", "integer"]),
    (fields(size=81), ["size=81", "lower size"]),
    (fields(size=81, selection="random"), ["size=81", "80 distinct points", "lower size"]),
    (
        fields(selection="best"),
        ["selection='best'", "'greedy', 'rpcholesky', 'random', 'maxmin', 'kmeans'"],
    ),
    (fields(selection="random"), ["selection='random'", "size"]),
    (fields(selection=[0, 80]), ["[80]", "rows 0 to 79"]),
    (fields(selection=[-1, 5]), ["[-1]", "rows 0 to 79"]),
    (fields(selection=[]), ["selection=[]", "row indices"]),
    (fields(points=np.zeros((4, 2))), ["points has 2 features", "X has 3"]),
    (fields(points=np.full((4, 3), np.nan)), ["NaN"]),
    (fields(points=[0, 1]), ["points must be", "(m, n_features)"]),
    (fields(points=X_80, selection="random"), ["selection='random'", "leave it 'greedy'"]),
    (fields(selection=[True, False]), ["selection=[True, False]", "row indices"]),
    (fields(selection=X_80), ["row indices", "pass points as points"]),
    ({"normalization": "both"}, ["normalization='both'", "'additive', 'divisive'"]),
    ({"averages": "all"}, ["averages='all'", "'implicit', 'dictionary', 'random'"]),
    ({"sum_to_one": "yes"}, ["sum_to_one='yes'", "True, False or None"]),
    ({"n_components": 0}, ["n_components=0", "at least 1"]),
    (fields(tol=0.1) | {"n_components": 200}, ["200", "lower"]),
    ({"gamma": -1.0}, ["gamma=-1.0", "positive"]),
    ({"kernel": "gauss"}, ["kernel='gauss'", "'rbf'"]),
    ({"n_jobs": 0}, ["n_jobs=0", "nonzero"]),
    ({"kernel": "linear", "normalization": "divisive"}, ["negative", "use a similarity"]),
]


@pytest.mark.parametrize(("params", "words"), GREEDY, ids=[str(params)[1:40] for params, _ in GREEDY])
def test_what_makes_no_sense_is_refused_with_argument_value_and_remedy(params, words):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        made(GreedySpectralEmbedding, params).fit(X_80)
    for word in words:
        assert word in str(refusal.value)


few = partial(fields, "approximation")
METHODS = [
    (KernelPCA, few(), {}, ["needs size, tol or points"]),
    (KernelPCA, few(size=9, selection="random"), {}, ["selection='random'", "leave it 'greedy'"]),
    (KernelPCA, few(tol=-1.0), {}, ["tol=-1.0", "at least 0"]),
    (KernelPCA, few(size=81), {}, ["size=81", "80 distinct points", "lower"]),
    (KernelPCA, few(tol=0.1), {"order": "magnitude"}, ["order='magnitude'", "use order='value'"]),
    (KernelPCA, few(size=3), {"n_components": 5}, ["5", "3", "n_components"]),
    (LaplacianEigenmaps, few(size=9), {}, ["affinity='rbf'", "graph KNNGraph()"]),
    (
        LaplacianEigenmaps,
        few(tol=0.1),
        {"affinity": RadiusGraph(1.0)},
        ["affinity='rbf'", "RadiusGraph(1.0)"],
    ),
    (
        LaplacianEigenmaps,
        few(size=9),
        {"affinity": "rbf", "include_diagonal": False},
        ["include_diagonal=False", "leave it True"],
    ),
    (LaplacianEigenmaps, few(tol=0.1), {"affinity": "linear"}, ["negative", "use a similarity"]),
    (SpectralClustering, few(tol="x"), {"affinity": "rbf"}, ["tol='x'"]),
    (SpectralClustering, few(size=99), {"affinity": "rbf"}, ["size=99", "80 distinct points"]),
    (
        SpectralClustering,
        few(size=9),
        {"affinity": "rbf", "n_clusters": 2, "assign_labels": "threshold"},
        ["assign_labels='threshold'", "use 'kmeans'"],
    ),
]


@pytest.mark.parametrize(("cls", "dictionary", "params", "words"), METHODS)
def test_methods_refuse_it_with_argument_value_and_remedy(cls, dictionary, params, words):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        made(cls, dictionary | params).fit(X_80)
    for word in words:
        assert word in str(refusal.value)


# --- given dictionaries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(approximation=Dictionary(tol=1e-2)),
        KernelPCA(kernel="linear", approximation=Dictionary(tol=1e-6)),
        KernelPCA(kernel="poly", approximation=Dictionary(12)),
        LaplacianEigenmaps(affinity="rbf", approximation=Dictionary(30)),
        SpectralClustering(3, affinity="laplacian", gamma=0.7, approximation=Dictionary(tol=1e-2)),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("form", ["model", "points", "sparse"])
def test_a_given_dictionary_gives_the_model_it_was_selected_for(model, form):
    X, Y = curve(300), curve(20, seed=1)
    expected = clone(model).fit(X)
    points = expected.dictionary_
    given = {"model": expected, "points": points.tolist(), "sparse": sparse.csr_array(points)}[form]
    found = clone(clone(model).set_params(approximation=Dictionary(points=given))).fit(X)  # keeps the model
    np.testing.assert_array_equal(found.dictionary_, points)
    assert (found.dictionary_indices_ == -1).all()
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-7)
    scale = np.abs(expected.embedding_).max()
    np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-6 * scale)
    np.testing.assert_allclose(found.transform(Y), expected.transform(Y), atol=1e-6 * scale)
    np.testing.assert_allclose(found.projection_error(Y), expected.projection_error(Y), atol=1e-8)


@pytest.mark.parametrize("frozen", [False, True])
def test_the_dictionary_of_a_greedy_model_serves_other_methods(frozen):
    X = curve(300)
    greedy = GreedySpectralEmbedding(gamma=0.7, dictionary=Dictionary(tol=1e-2)).fit(X)
    given = FrozenEstimator(greedy) if frozen else greedy
    for model in (
        KernelPCA(gamma=0.7, approximation=Dictionary(points=given)),
        GreedySpectralEmbedding(gamma=0.7, dictionary=Dictionary(points=given)),
    ):
        model.fit(X)
        np.testing.assert_array_equal(model.dictionary_, greedy.dictionary_)
        np.testing.assert_allclose(model.eigenvalues_, greedy.eigenvalues_, rtol=1e-7)
    clusters = SpectralClustering(2, affinity="rbf", gamma=0.7, approximation=Dictionary(points=given)).fit(X)
    np.testing.assert_array_equal(clusters.dictionary_, greedy.dictionary_)


def test_a_given_dictionary_survives_pickling_and_saving(tmp_path):
    X = curve(200)
    greedy = GreedySpectralEmbedding(gamma=0.7, dictionary=Dictionary(tol=1e-2)).fit(X)
    model = KernelPCA(gamma=0.7, approximation=Dictionary(points=greedy)).fit(X)
    save(model, tmp_path / "a.model")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "a.model")):
        np.testing.assert_array_equal(copy.transform(X[:9]), model.transform(X[:9]))
        np.testing.assert_allclose(clone(copy).fit(X).eigenvalues_, model.eigenvalues_, rtol=1e-9)


GREEDY_80 = GreedySpectralEmbedding(gamma=0.7, dictionary=Dictionary(tol=1e-2)).fit(X_80)
GIVEN = [
    (few(points=GREEDY_80), {"gamma": 0.5}, ["gamma=0.7", "gamma=0.5", "points=model.dictionary_"]),
    (few(points=GREEDY_80), {"kernel": "linear"}, ["Gaussian", "Linear", "same kernel parameters"]),
    (few(points=GREEDY_80, size=9), {}, ["size=9", "leave them None"]),
    (few(points=GREEDY_80, tol=0.1), {}, ["tol=0.1", "leave them None"]),
    (few(points=GreedySpectralEmbedding()), {}, ["without a dictionary", "fit"]),
    (few(points=KernelPCA().fit(X_80)), {}, ["KernelPCA without a dictionary"]),
    (few(points=KernelPCA), {}, ["must be a fitted model", "KernelPCA"]),
    (few(points=X_80[:9, :2]), {}, ["points has 2 features", "X has 3"]),
    (few(points=np.full((4, 3), np.nan)), {}, ["NaN"]),
    (few(points=[0, 1, 2]), {}, ["points must be", "(m, n_features)"]),
    (few(points=X_80[:0]), {}, ["points must be"]),
    (few(points=X_80[:9]), {"kernel": "precomputed"}, ["points need a kernel of two rows"]),
]


@pytest.mark.parametrize(("dictionary", "params", "words"), GIVEN)
def test_an_unsuitable_dictionary_is_refused(dictionary, params, words):
    X = np.eye(80) if params.get("kernel") == "precomputed" else X_80
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        made(KernelPCA, dictionary | params).fit(X)
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.IsolatedPointWarning")
def test_a_dictionary_far_from_the_samples_is_refused_for_divided_kernels():
    with pytest.raises(ValueError, match=r"kernel is zero between the dictionary.*smaller gamma"):
        LaplacianEigenmaps(affinity="rbf", gamma=0.5, approximation=Dictionary(points=X_80 + 100)).fit(X_80)


def test_a_given_dictionary_needs_a_full_kernel():
    with pytest.raises(ValueError, match="affinity='rbf'"):
        LaplacianEigenmaps(approximation=Dictionary(points=GREEDY_80)).fit(X_80)
    with pytest.raises(ValueError, match="assign_labels='threshold'"):
        SpectralClustering(
            2, affinity="rbf", assign_labels="threshold", approximation=Dictionary(points=X_80[:9])
        ).fit(X_80)


# --- ranks and sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "name"), [(GreedySpectralEmbedding, "dictionary"), (KernelPCA, "approximation")]
)
def test_equal_rows_count_once(cls, name):
    X = np.repeat(curve(10), 5, axis=0)
    assert len(cls(gamma=0.7, **{name: Dictionary(10)}).fit(X).dictionary_) == 10
    with pytest.raises(ValueError, match=r"size=11.*10 .*lower size"):
        cls(gamma=0.7, **{name: Dictionary(11)}).fit(X)


def test_a_size_beyond_the_rows_is_refused_before_any_long_work():
    calls = []

    def kernel(x, y):
        calls.append(1)
        return float(np.exp(-((x - y) ** 2).sum()))

    with pytest.raises(ValueError, match=r"size=41 of the dictionary, but there are only 40 distinct points"):
        GreedySpectralEmbedding(kernel=kernel, dictionary=Dictionary(41)).fit(curve(40))
    assert not calls


def test_a_dictionary_without_rank_is_told_so():
    with pytest.raises(ValueError, match=r"size=40.*, but only 4 of the points are independent"):
        GreedySpectralEmbedding(kernel="linear", dictionary=Dictionary(40)).fit(curve(300))
    with pytest.raises(RankError, match="lower the tolerance or n_components"):
        GreedySpectralEmbedding(n_components=5, gamma=0.1, dictionary=Dictionary(tol=0.9)).fit(curve(300))
    points = 1e-3 * np.random.default_rng(0).standard_normal((20, curve(300).shape[1]))
    with pytest.raises(RankError, match=r"only \d of the given points are, as for points of one cluster"):
        KernelPCA(15, gamma=1e-2, approximation=Dictionary(points=points)).fit(curve(300))
    with pytest.raises(RankError, match="kernel is zero"):
        GreedySpectralEmbedding(kernel="precomputed", normalization=None).fit(np.zeros((20, 20)))


def test_points_for_a_kernel_of_words_are_refused():
    with pytest.raises(ValueError, match="points need a kernel of two rows"):
        GreedySpectralEmbedding(kernel=shared_letters, dictionary=Dictionary(points=np.zeros((3, 2)))).fit(
            some_words(20)
        )


def test_a_precomputed_kernel_has_no_projection_error_of_new_points():
    """Their similarity to themselves is not known."""
    X = curve(100)
    K = np.exp(-0.7 * cdist(X, X, "sqeuclidean"))
    model = KernelPCA(kernel="precomputed", approximation=Dictionary(tol=1e-3)).fit(K)
    with pytest.raises((TypeError, AttributeError), match="of a new point"):
        model.projection_error(K[:3])
    assert not hasattr(KernelPCA().fit(X), "projection_error")


# --- streams that cannot be ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"dictionary": Dictionary(9), "normalization": "divisive"}, "set tol"),
        (
            {"dictionary": Dictionary(9, selection="maxmin")},
            "Dictionary(size=9, selection='maxmin') needs all",
        ),
        ({"averages": "random"}, "use 'implicit' or 'dictionary'"),
        ({"kernel": "precomputed"}, "kernel='precomputed' is a matrix"),
    ],
)
def test_parameters_that_need_all_data_refuse_a_stream(params, words):
    X = curve(300)
    assert not hasattr(GreedySpectralEmbedding(**params), "partial_fit")
    with pytest.raises(AttributeError) as refusal:
        GreedySpectralEmbedding(**params).partial_fit(X)
    assert words in str(refusal.value)
    if "kernel" not in params:
        with pytest.raises((AttributeError, ValueError), match=re.escape(words)):
            GreedySpectralEmbedding(**params).fit(iter([X]))


@pytest.mark.parametrize(
    "params", [{"normalization": "divisive"}, {"kernel": "linear"}, {"sum_to_one": False}]
)
def test_a_stream_keeps_its_kernel_and_normalisation(params):
    X = curve(300)
    model = GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-3)).partial_fit(X)
    with pytest.raises(ValueError, match=next(iter(params))):
        model.set_params(**params).partial_fit(X)


def test_a_second_pass_that_is_refused_leaves_the_model_as_it_was():
    X = curve(300)
    model = GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-3)).fit(X)
    placed, values = model.transform(X[:9]), model.eigenvalues_
    for bad, words in (
        (X[:1], "equal in feature space"),
        (X[:, :2], "2 features"),
        ([X[:0]], "empty"),
        ([X, np.full((2, 3), np.nan)], r"NaN in 6 cell\(s\), the first in row 300, column 0"),
    ):
        with pytest.raises(ValueError, match=words):
            model.second_pass(bad)
        assert (model.n_samples_seen_, model.n_passes_) == (300, 2)
        np.testing.assert_array_equal(model.eigenvalues_, values)
        np.testing.assert_array_equal(model.transform(X[:9]), placed)
    np.testing.assert_array_equal(
        model.partial_fit(X[:9]).eigenvalues_,
        GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-3)).fit(X).partial_fit(X[:9]).eigenvalues_,
    )


def test_a_tolerance_is_for_the_greedy_choice_alone():
    with pytest.raises(ValueError, match=r"tol=0\.01 is for selection='greedy'"):
        GreedySpectralEmbedding(dictionary=Dictionary(9, tol=1e-2, selection="random")).fit(curve(50))


def test_similarities_that_vanish_are_not_divided_by():
    distances = cdist(*2 * [np.random.default_rng(0).standard_normal((25, 2))])
    K = np.where(np.eye(25, dtype=bool), 1.0, 10.0 ** (-200 - 20 * distances))
    with pytest.raises(ValueError, match="too small to be divided by; raise the size of the dictionary"):
        GreedySpectralEmbedding(
            2, kernel="precomputed", normalization="divisive", dictionary=Dictionary(4)
        ).fit(K)
