"""The laws that every estimator obeys, each tested on every case of ``cases.CASES`` in double precision.

Work is done in double precision whatever comes in, so the laws are tested in single precision on one case of
each estimator and one of each kind of data.

Ties in the spectrum are harmless here: instead of comparing vectors, the tests ask that the reported
functions are orthonormal eigenvectors of the Gram matrix and that their eigenvalues are the leading ones."""

from __future__ import annotations

import functools
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import declared
import joblib
import numpy as np
import pytest
from cases import CASES, MAPS, PREDICTORS, PROJECTIONS, WITHOUT_KERNEL, Case, among_new, disconnected, load
from declared import Value
from scipy import sparse
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    FastMap,
    Isomap,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    NeighborEmbedding,
    OrdinalMDS,
    ParametricMap,
    PotentialMap,
    SpectralClustering,
    save,
)
from eigenscape import load as read_model
from eigenscape.dictionary.low_rank import LowRankKernel
from eigenscape.eigenfunctions import Part
from eigenscape.estimators._rows import check_input
from eigenscape.exceptions import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    IsolatedPointWarning,
    ModelFileError,
    UndefinedKernelError,
)
from eigenscape.kernels.pairwise import PairwiseKernel as Kernels
from eigenscape.operators.similarity import gram as gram_operator
from eigenscape.options import GRAPH_NAMES, KNNGraph, Option, RadiusGraph, SpanningTree
from eigenscape.solvers import EigenPairs

CASE = {case.id: case for case in CASES}
EVERY = [*CASES, *WITHOUT_KERNEL, *MAPS]
WORK = 1e-8  # relative error allowed to work in double precision
#: float32 results are double ones rounded once: half a unit in the last place each, and two of them are
#: compared.
ROUNDED = WORK + 2 * float(np.finfo(np.float32).eps)
TOLERANCE = {"float64": WORK, "float32": ROUNDED}

EACH = [
    (case.id, dtype) for case in CASES for dtype in TOLERANCE if (case.data, dtype) != ("words", "float32")
]


def first_cases(cases: list[Case]) -> list[Case]:
    """The first case of each estimator, and of each kind of data."""
    estimators = {type(case.make()): case.id for case in reversed(cases)}
    kinds = {case.data: case.id for case in reversed(cases)}
    return [case for case in cases if case.id in {*estimators.values(), *kinds.values()}]


FIRST = {case.id for case in first_cases(CASES)}


def each_but(*classes: type) -> Any:
    """Every case but those of estimators to which a law does not apply; some in single precision too."""
    pairs = [
        (name, dtype)
        for name, dtype in EACH
        if not isinstance(CASE[name].make(), classes) and (dtype == "float64" or name in FIRST)
    ]
    return pytest.mark.parametrize(("name", "dtype"), pairs, ids=["-".join(pair) for pair in pairs])


every_case = each_but()
each_eigenvector = each_but(*PROJECTIONS)


def cases_where(test: Any) -> Any:
    """The cases whose unfitted estimator passes ``test``, in double precision."""
    return pytest.mark.parametrize("name", [case.id for case in CASES if test(case.make())])


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Small matrices gain nothing from threads, and the workers of a parallel test run would fight for the
    cores."""
    with threadpool_limits(1):
        yield


# --- help ---------------------------------------------------------------------------------------------------


@contextmanager
def expecting(case: str | Case) -> Iterator[None]:
    """Disconnected data may leave points without affinity to the training points in use: announced, and
    expected here."""
    with warnings.catch_warnings():
        if disconnected((CASE[case] if isinstance(case, str) else case).data):
            warnings.simplefilter("ignore", IsolatedPointWarning)
        yield


def data(name: str, dtype: str = "float64") -> tuple[Any, Any]:
    return load(CASE[name].data, np.dtype(dtype).type)


def fit(name: str, model: Any, X: Any) -> Any:
    """Fit; disconnected data must be announced, and nothing else may be."""
    return fit_case(CASE[name], model, X)


def fit_case(case: Case, model: Any, X: Any) -> Any:
    if not disconnected(case.data):
        return model.fit(X, **case.given(X))
    with pytest.warns(DisconnectedGraphWarning), expecting(case):
        return model.fit(X, **case.given(X))


def unfitted(model: Any) -> Any:
    """A copy of the estimator, with the embedder that was fitted before if that is a parameter."""
    copy = clone(model)
    return copy.set_params(embedder=model.embedder) if getattr(model, "prefit", False) else copy


@functools.cache
def fitted(name: str, dtype: str = "float64") -> Any:
    """The fitted estimator of a case. Tests only read it."""
    return fit(name, CASE[name].make(), data(name, dtype)[0])


@functools.cache
def fitted_map(case: Case, dtype: str = "float64") -> Any:
    """The fitted map without a kernel of a case. Tests only read it."""
    X, model = load(case.data, np.dtype(dtype).type)[0], case.make()
    before = joblib.hash(model.get_params()), joblib.hash(X)
    fit_case(case, model, X)
    assert (joblib.hash(model.get_params()), joblib.hash(X)) == before  # law 6
    return model


def take(X: Any, rows: Any) -> Any:
    return [X[i] for i in rows] if isinstance(X, list) else X[rows]


def count(X: Any) -> int:
    return len(X) if isinstance(X, list) else X.shape[0]


def copied(X: Any) -> list[Any]:
    """New objects with the values of ``X``: in another memory order, not contiguous, or with indices that are
    wide or not sorted."""
    if sparse.issparse(X):
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        last_first = np.lexsort((-X.indices.astype(np.int64), row))
        wide = X.copy()
        wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        parts = X.data[last_first], X.indices[last_first], X.indptr.copy()
        return [wide, sparse.csr_array(parts, shape=X.shape)]
    if isinstance(X, list) or X.dtype == object:
        return [pickle.loads(pickle.dumps(X))]
    spread = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan, dtype=X.dtype)
    spread[1::2, ::3] = X
    return [np.array(X, order="F"), spread[1::2, ::3]]


def dense(values: Any) -> np.ndarray:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def together(X: Any, Y: Any) -> Any:
    if isinstance(X, list):
        return X + Y
    return sparse.csr_array(sparse.vstack([X, Y])) if sparse.issparse(X) else np.concatenate([X, Y])


def assert_close(actual: np.ndarray, expected: np.ndarray, dtype: str) -> None:
    """Every coordinate within the tolerance, relative to its own largest value."""
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype == np.dtype(dtype)
    allowed = TOLERANCE[dtype] * np.abs(expected).max(axis=0)
    assert (np.abs(actual.astype(float) - expected) <= allowed).all()


def n_trivial(model: Any) -> int:
    """How many leading functions are not coordinates."""
    dropped = (
        isinstance(model, (LaplacianEigenmaps, DiffusionMap, LocallyLinearEmbedding))
        or getattr(model, "assign_labels", "") == "threshold"
        or getattr(model, "normalization", "") == "divisive"
    )
    return int(dropped)


def n_asked(model: Any) -> float:
    if isinstance(model, SpectralClustering):
        return 1 if model.assign_labels == "threshold" else model.n_components or model.n_clusters_
    if isinstance(model.n_components, str):  # estimated
        return len(model.eigenvalues_)
    return np.inf if model.n_components is None else model.n_components


def own_points(model: Any, X: Any) -> Any:
    """The training points of the kernel: samples, or given points."""
    if isinstance(model, LandmarkMDS) and np.ndim(model.landmarks_) == 2:
        return model.landmarks_
    if isinstance(model, LandmarkMDS) and np.asarray(model.landmarks_).dtype.kind == "O":
        return list(model.landmarks_)
    return take(X, own_rows(model, X))


def own_rows(model: Any, X: Any) -> np.ndarray:
    """The samples that the kernel has as training points.

    Graph methods take equal rows once, and "largest" takes one component; where there are landmarks, they are
    these."""
    if hasattr(model, "landmarks_"):
        return model.landmarks_
    rows = np.arange(count(X))
    affinity = model.get_params().get("affinity")
    on_graph = isinstance(model, (Isomap, LocallyLinearEmbedding)) or (
        isinstance(affinity, Option) or (isinstance(affinity, str) and affinity in GRAPH_NAMES)
    )
    if on_graph and sparse.issparse(X) and model._is_precomputed():
        # A table of neighbours: points at stored distance 0 with the same other neighbours are one.
        stored = sparse.coo_array(X)
        table = np.full(X.shape, np.inf)
        table[stored.row, stored.col] = stored.data
        np.fill_diagonal(table, 0)
        rows = np.sort(np.unique(table, axis=0, return_index=True)[1])
    elif on_graph:
        rows = np.sort(np.unique(dense(X), axis=0, return_index=True)[1])
    if getattr(model, "on_disconnected", "") == "largest":
        rows = rows[model.component_labels_[rows] == 0]
    return rows


def of_a_copy(name: str, kernel: Any) -> np.ndarray:
    """The kernel between a copy of its training points, evaluated in another order, and these points."""
    order = np.random.default_rng(1).permutation(kernel.X.shape[0])
    with expecting(name):
        values = dense(kernel(copied(kernel.X[order])[-1]))
    return values[np.argsort(order)]


def gram(name: str, model: Any) -> np.ndarray:
    """The Gram matrix by the code that serves new points, which must be symmetric."""
    K = of_a_copy(name, model.kernel_)
    assert K.shape[0] == K.shape[1]
    assert np.abs(K - K.T).max() <= 1e-11 * np.abs(K).max()
    return (K + K.T) / 2


@functools.cache
def fitted_gram(name: str, dtype: str = "float64") -> np.ndarray:
    """The Gram matrix of a case. Tests only read it."""
    K = gram(name, fitted(name, dtype))
    K.flags.writeable = False
    return K


def blocks(model: Any, K: np.ndarray) -> list[np.ndarray]:
    """The training points of each piece: all of them, or the components where each has its own spectrum."""
    if model.eigenvalues_.ndim == 1:
        return [np.arange(len(K))]
    label = model.component_labels_
    if len(label) > len(K):  # the kernel has columns for the landmarks alone
        label = label[model.landmarks_]
    assert (K[label[:, None] != label] == 0).all()
    return [np.flatnonzero(label == number) for number in range(label.max() + 1)]


def spectrum(model: Any, K: np.ndarray, piece: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues by LAPACK: those that belong to coordinates, and those discarded (not the trivial one)."""
    values = np.linalg.eigvalsh(K)
    by_magnitude = getattr(model, "order", "value") == "magnitude"
    values = values[np.argsort(-np.abs(values) if by_magnitude else -values, kind="stable")]
    usable = len(K) - n_trivial(model) if len(K) > 1 else 0
    if not isinstance(
        model, (LaplacianEigenmaps, DiffusionMap, LocallyLinearEmbedding, SpectralClustering)
    ):  # no coordinate without a root
        size = np.abs(values) if by_magnitude else values
        usable = int((size > 1e-12 * np.abs(values).max(initial=0)).sum())
    kept = int(min(n_asked(model), usable))
    first = n_trivial(model) if len(K) > 1 else 0
    if getattr(model, "independent", False):  # some were passed over
        which = first + (model.kept_[piece] if isinstance(model.kept_, list) else model.kept_)
        return values[which], np.delete(values, [0, *which])
    return values[first : first + kept], values[first + kept :]


# --- law 1: transform(X_train) is the embedding -------------------------------------------------------------


@every_case
def test_training_points_get_their_embedding(name: str, dtype: str) -> None:
    model, (X, _) = fitted(name, dtype), data(name, dtype)
    order = np.random.default_rng(0).permutation(count(X))
    with expecting(name):
        for points in copied(take(X, order)):
            assert_close(model.transform(points), model.embedding_[order], dtype)


def in_other_axes(X: np.ndarray) -> np.ndarray:
    """Rows turned to other axes and back."""
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1], X.shape[1])))[0]
    return X @ axes @ axes.T


def with_nine_digits(values: np.ndarray) -> np.ndarray:
    """Numbers as a text file stores them."""
    return np.array([float(f"{value:.9g}") for value in values.ravel()]).reshape(values.shape)


#: Changes of numbers that are no changes of the points, and their relative sizes.
ROUNDINGS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "factor": (lambda values: values * (1 + 1e-12), 1e-12),
    "single precision": (lambda values: values.astype(np.float32).astype(np.float64), 2.0**-24),
    "nine digits": (with_nine_digits, 5e-9),
    "other axes": (in_other_axes, 1e-14),
}


def rounded(X: Any, change: Callable[[np.ndarray], np.ndarray], table: bool) -> Any:
    """Training points with rounding errors. In a sparse table of distances each is near itself, not equal."""
    if not sparse.issparse(X):
        return change(X)
    values = X.copy()
    values.data = change(X.data)
    return sparse.csr_array(values + sparse.diags_array(np.full(X.shape[0], 1e-12))) if table else values


def recognises_rounded_rows(case: Case) -> bool:
    """Words have no rounding errors, and without a graph the rows of a table are recognised by equality."""
    model = case.make()
    no_graph = isinstance(model, OrdinalMDS) or not getattr(model, "include_diagonal", True)
    return case.data != "words" and not (no_graph and model._is_precomputed())


ROUNDED_CASES = [case for case in EVERY if recognises_rounded_rows(case)]


@pytest.mark.parametrize("case", ROUNDED_CASES, ids=[case.id for case in ROUNDED_CASES])
def test_training_points_with_rounding_errors_get_their_embedding(case: Case) -> None:
    """They move by no more than fifty times the error, in units of the map."""
    (X, _), model = load(case.data), fitted(case.id) if case.id in CASE else fitted_map(case)
    expected = model.transform(X) if case in MAPS else model.embedding_
    is_table = model._is_precomputed()
    table = is_table and sparse.issparse(X) and model._precomputed_kind() == "distance"
    for name, (change, size) in ROUNDINGS.items():
        if change is in_other_axes and (is_table or sparse.issparse(X) or case.data == "gaps"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IsolatedPointWarning)
            moved = np.abs(model.transform(rounded(X, change, table)) - expected)
        assert (moved <= (WORK + 50 * size) * np.abs(expected).max(axis=0)).all(), name


@pytest.mark.parametrize(
    "model",
    [
        LaplacianEigenmaps(),
        LaplacianEigenmaps(affinity=RadiusGraph(25.0)),
        LaplacianEigenmaps(affinity=SpanningTree()),
        LocallyLinearEmbedding(),
        Isomap(graph=KNNGraph(symmetrize="shared")),
        NeighborEmbedding(),
        PotentialMap(),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
def test_a_pipeline_places_one_training_row_as_all_of_them(model: Any) -> None:
    """Principal components of one row differ from those of the same row among others by rounding."""
    X = load_digits().data[:200]
    pipeline = make_pipeline(decomposition.PCA(20), model).fit(X)
    alone = np.concatenate([pipeline.transform(X[[row]]) for row in range(0, 200, 9)])
    expected = pipeline[-1].embedding_[::9]
    assert np.abs(alone - expected).max() <= WORK * np.abs(expected).max()


@cases_where(lambda model: isinstance(model, SpectralClustering))
def test_training_points_get_their_label(name: str) -> None:
    model, (X, Y) = fitted(name), data(name)
    order = np.random.default_rng(0).permutation(count(X))
    with expecting(name):
        for points in copied(take(X, order)):
            np.testing.assert_array_equal(model.predict(points), model.labels_[order])
        assert set(model.predict(Y)) <= set(range(model.n_clusters_))
    assert -1e-14 <= model.ncut_ <= model.n_clusters_


# --- the order of the rows does not matter, also where distances tie ----------------------------------------

#: Descent amplifies rounding errors; kernels and clusters begin with random rows.
CHAOTIC = ("NeighborEmbedding", "KernelEigenmap", "SpectralClustering")
METHODS = {type(case.make()).__name__: type(case.make()) for case in [*CASES, *WITHOUT_KERNEL, *MAPS]}
GRAPHS = [
    cls(2, n_neighbors=8)
    for name, cls in METHODS.items()
    if "n_neighbors" in cls._get_param_names() and name not in CHAOTIC
]


@pytest.mark.parametrize("kind", ["integers", "grid"])
@pytest.mark.parametrize("model", [*GRAPHS, LaplacianEigenmaps(2, affinity=SpanningTree())], ids=repr)
def test_the_order_of_the_rows_permutes_the_map_where_distances_tie(model: Any, kind: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 4)).astype(float)
    if kind == "grid":  # with holes: a map of a symmetric grid may break the symmetry either way
        grid = np.stack(np.meshgrid(np.arange(23.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
        X = rng.permutation(grid)[:190]
    order = rng.permutation(len(X))
    one, two = (clone(model).fit(rows).embedding_ for rows in (X, X[order]))
    two *= np.sign((one[order] * two).sum(axis=0))
    np.testing.assert_allclose(two, one[order], rtol=0, atol=1e-6 * np.abs(one).max())


# --- law 2: points do not see one another -------------------------------------------------------------------


@every_case
def test_a_point_alone_is_placed_as_in_company(name: str, dtype: str) -> None:
    model, (X, Y) = fitted(name, dtype), data(name, dtype)
    points = together(Y, take(X, range(5)))
    some = [0, 1, 2, count(Y) - 1, count(Y)]  # of every group, and a training point
    with expecting(name):
        alone = np.concatenate([model.transform(take(points, [i])) for i in some])
        company = model.transform(copied(points)[0])
    assert np.abs(company).max() > 0
    allowed = TOLERANCE[dtype] * np.abs(company).max(axis=0)
    assert (np.abs(alone.astype(float) - company[some]) <= allowed).all()


# --- law 3: eigenpairs of the Gram matrix -------------------------------------------------------------------


@each_but(FastMap)
def test_eigenvalues_are_the_leading_ones_of_the_gram_matrix(name: str, dtype: str) -> None:
    model = fitted(name, dtype)
    K = fitted_gram(name, dtype)
    expected = [
        spectrum(model, K[np.ix_(block, block)], number)[0] for number, block in enumerate(blocks(model, K))
    ]
    found = np.atleast_2d(model.eigenvalues_)
    assert len(found) == len(expected)
    for values, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(
            values[: len(wanted)], wanted, rtol=1e-9, atol=1e-11 * np.abs(K).sum(axis=1).max()
        )
        assert (values[len(wanted) :] == 0).all()


@each_eigenvector
def test_eigenfunctions_are_orthonormal_eigenvectors_on_training_points(name: str, dtype: str) -> None:
    model, (X, _) = fitted(name, dtype), data(name, dtype)
    K = fitted_gram(name, dtype)
    with expecting(name):
        values = model.eigenfunctions(copied(own_points(model, X))[0]).astype(float)
    assert len(values) == len(K)
    for block, lambdas in zip(blocks(model, K), np.atleast_2d(model.eigenvalues_), strict=True):
        vectors = values[block][:, lambdas != 0] / np.sqrt(len(block))  # Bengio eq. 21
        lambdas = lambdas[lambdas != 0]
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(lambdas)), atol=TOLERANCE[dtype])
        residuals = np.linalg.norm(K[np.ix_(block, block)] @ vectors - vectors * lambdas, axis=0)
        norm = np.linalg.norm(K[np.ix_(block, block)], 2)
        assert (
            residuals <= 1e-9 * np.abs(lambdas) + 1e-13 * norm + (dtype == "float32") * ROUNDED * norm
        ).all()


def with_bases(kernel: Any) -> Iterator[Any]:
    """A kernel and the kernels that it is made of."""
    yield kernel
    pieces = getattr(kernel, "pieces", [kernel.piece] if hasattr(kernel, "piece") else [])
    inner = [piece.embedding.kernel for piece in pieces if piece.embedding is not None]
    for base in [*inner, kernel.base] if hasattr(kernel, "base") else inner:
        yield from with_bases(base)


@cases_where(lambda _: True)
def test_the_gram_matrix_of_a_fit_is_the_kernel_of_a_copy(name: str) -> None:
    for kernel in with_bases(fitted(name).kernel_):
        expected = of_a_copy(name, kernel)
        with expecting(name):
            stored, factored = gram_operator(kernel, factored=False), gram_operator(kernel)
            for operator in (stored, factored):
                found = operator.matmat(np.eye(len(expected)))
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@every_case
def test_reported_residuals_are_small(name: str, dtype: str) -> None:
    model = fitted(name, dtype)
    scale = np.abs(fitted_gram(name, dtype)).sum(axis=1).max()
    assert model.residuals_.shape == model.eigenvalues_.shape
    assert (model.residuals_ >= 0).all()
    assert (model.residuals_ <= 1e-10 * np.abs(model.eigenvalues_) + 1e-13 * scale).all()


# --- law 4: rows in, rows out -------------------------------------------------------------------------------


@every_case
def test_one_finite_row_out_for_each_row_in(name: str, dtype: str) -> None:
    model, (X, Y) = fitted(name, dtype), data(name, dtype)
    width = 2 if n_asked(model) == 2 else model.embedding_.shape[1]
    assert model.embedding_.shape == (count(X), width)
    assert model.embedding_.dtype == np.dtype(dtype)
    with expecting(name):
        for values in (model.transform(Y), model.eigenfunctions(Y)):
            assert values.shape == (count(Y), width)
            assert values.dtype == np.dtype(dtype)
            assert np.isfinite(values).all()
    assert np.isfinite(model.embedding_).all()
    assert len(model.get_feature_names_out()) == width


TWINS = [pair for pair in EACH if CASE[pair[0]].data.startswith("twin")]


@pytest.mark.parametrize(("name", "dtype"), TWINS, ids=["-".join(pair) for pair in TWINS])
def test_identical_rows_get_identical_coordinates(name: str, dtype: str) -> None:
    model, (X, _) = fitted(name, dtype), data(name, dtype)
    _, first, group = np.unique(dense(X), axis=0, return_index=True, return_inverse=True)
    assert len(first) < count(X)
    twin = first[group.ravel()]
    assert_close(model.embedding_, model.embedding_[twin], dtype)
    placed = model.transform(X)
    assert_close(placed, placed[twin], dtype)


# --- law 5: the same result every time ----------------------------------------------------------------------


@every_case
def test_the_largest_value_of_a_function_is_positive_and_none_is_constant(name: str, dtype: str) -> None:
    model, (X, _) = fitted(name, dtype), data(name, dtype)
    with expecting(name):
        values = model.eigenfunctions(own_points(model, X)).astype(float)
    whole = model.eigenvalues_.ndim == 1
    pieces = [np.arange(len(values))] if whole else blocks(model, fitted_gram(name, dtype))
    for piece in pieces:
        # The axes of principal components decide their signs, since rows of a stream are not kept.
        mine = model.components_.T if type(model) is PCA else values[piece]
        assert (mine.max(axis=0) >= (1 - 2e-6) * np.abs(mine).max(axis=0)).all()
    spread = np.ptp(model.embedding_.astype(float), axis=0)
    assert (spread > 1e-3 * np.abs(model.embedding_).max(axis=0)).all()
    if model.eigenvalues_.ndim == 2:  # nor within a component, but for the zeros of a point alone
        for number in range(model.n_connected_components_):
            mine = model.embedding_[model.component_labels_ == number].astype(float)
            assert ((np.ptp(mine, axis=0) > 1e-3 * np.abs(mine).max(axis=0)) | (mine == 0).all(axis=0)).all()


# --- law 6: nothing given is changed, nothing learnt is lost ------------------------------------------------


@every_case
def test_a_copy_fits_alike_for_any_number_of_jobs_and_changes_nothing(name: str, dtype: str) -> None:
    model, (X, Y), among = fitted(name, dtype), data(name, dtype), among_new(CASE[name].data)
    with expecting(name):
        expected = model.transform(Y)
    copy = clone(model)
    with pytest.raises(AttributeError):
        _ = copy.embedding_
    if "n_jobs" in model.get_params():  # law 5; the default is all cores
        copy.set_params(n_jobs=1 if joblib.cpu_count() > 1 else 2)
    params = copy.get_params(deep=False)
    before = joblib.hash((params, X, Y, among))
    fit(name, copy, X)
    np.testing.assert_array_equal(copy.embedding_, model.embedding_)
    np.testing.assert_array_equal(copy.eigenvalues_, model.eigenvalues_)
    with expecting(name):
        np.testing.assert_array_equal(copy.transform(Y), expected)
        if not isinstance(model, LocallyLinearEmbedding):
            copy.loss(Y, among)
    after = copy.get_params(deep=False)
    assert all(after[key] is value for key, value in params.items())
    assert joblib.hash((after, X, Y, among)) == before


@every_case
def test_a_pickle_gives_the_same_map_and_a_reset_none(name: str, dtype: str) -> None:
    model, (_, Y) = fitted(name, dtype), data(name, dtype)
    thawed = pickle.loads(pickle.dumps(model))
    with expecting(name):
        np.testing.assert_array_equal(thawed.transform(Y), model.transform(Y))
    np.testing.assert_array_equal(thawed.embedding_, model.embedding_)
    thawed._reset()  # a fit that fails must leave nothing of an earlier one
    assert set(vars(thawed)) <= set(model.get_params(deep=False))


#: Writing a file takes longer than the other laws: one case of each estimator before each commit.
SAVED_FIRST = {type(case.make()): case.id for case in reversed(EVERY)}.values()


def has_code(model: Any) -> bool:
    """Whether a parameter is a user-defined function or object."""
    return any(
        (callable(value) and not isinstance(value, Kernels)) or hasattr(value, "kneighbors")
        for value in model.get_params().values()
    )


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.id, marks=[] if case.id in SAVED_FIRST else pytest.mark.long)
        for case in EVERY
    ],
)
def test_a_saved_model_places_points_as_before(case: Case, tmp_path: Path) -> None:
    X, Y = load(case.data)
    model = fitted(case.id) if case.id in CASE else fitted_map(case)
    if has_code(model):
        with pytest.raises(ModelFileError, match=r"user-defined (callables|objects)"):
            save(model, tmp_path / "m")
        return
    save(model, tmp_path / "m")
    thawed = read_model(tmp_path / "m")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedPointWarning)
        for points in (X, Y):
            expected = model.transform(points)
            # To the last bit, but for kernels whose negative part is projected out: the file does without
            # these n x n vectors.
            clipped = getattr(model, "indefinite", "keep") == "clip"
            allowed = 1e-13 * np.abs(expected).max() if clipped else 0.0
            np.testing.assert_allclose(thawed.transform(points), expected, rtol=0, atol=allowed)
    if case not in MAPS:  # which keep no coordinates
        np.testing.assert_array_equal(thawed.embedding_, model.embedding_)
    assert joblib.hash(parameters_of(thawed)) == joblib.hash(parameters_of(model))


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters and the fields of options, with a fitted model replaced by what it has learnt."""
    parameters = {name: value for name, value in model.get_params().items() if not isinstance(value, Option)}
    return {
        name: getattr(value, "dictionary_", getattr(value, "embedding_", value))
        for name, value in parameters.items()
    }


# --- law 7: the loss is the discarded spectrum --------------------------------------------------------------


def with_components(model: Any, n: int) -> Any:
    """The estimator with ``n`` coordinates (clusters: from three on, for the data may have three
    components, and two coordinates)."""
    if isinstance(model, SpectralClustering):
        given = model.n_components is not None
        return model.set_params(**({"n_components": n + 1} if given else {"n_clusters": n + 2}))
    return model.set_params(n_components=n)


def discarded(model: Any, K: np.ndarray) -> float:
    rest = [
        spectrum(model, K[np.ix_(block, block)], number)[1] for number, block in enumerate(blocks(model, K))
    ]
    return float(np.square(np.concatenate(rest)).sum()) / len(K) ** 2


@each_eigenvector
def test_loss_is_the_discarded_spectrum(name: str, dtype: str) -> None:
    model = fitted(name, dtype)
    K = fitted_gram(name, dtype)
    rounding = 1e-11 * np.square(K).mean()
    assert model.loss() == pytest.approx(discarded(model, K), rel=1e-8, abs=rounding)
    curve = model.loss_curve()
    assert curve[-1] == pytest.approx(model.loss(), rel=1e-12)
    assert (np.diff(curve) <= 0).all()


def same_kernel_for_any_count(model: Any) -> bool:
    """Not where the tangent planes have the dimension of the map, nor for a cut in two, nor where that says
    how many landmarks."""
    landmarks = getattr(model, "n_landmarks", None), getattr(getattr(model, "approximation", None), "n", None)
    if isinstance(model, PROJECTIONS) or "auto" in landmarks:
        return False
    return (
        getattr(model, "method", "standard") == "standard"
        and getattr(model, "assign_labels", "") != "threshold"
    )


@pytest.mark.long  # the loss of two components is tested above
@cases_where(same_kernel_for_any_count)
def test_loss_falls_with_more_components(name: str) -> None:
    X, _ = data(name)
    models = [fit(name, with_components(CASE[name].make(), n), X) for n in (1, 3)]
    K = gram(name, models[0])
    losses = np.array([model.loss() for model in models])
    np.testing.assert_allclose(
        losses, [discarded(model, K) for model in models], rtol=1e-8, atol=1e-11 * np.square(K).mean()
    )
    assert (np.diff(losses) <= 1e-11 * np.square(K).mean()).all()
    assert losses[-1] < losses[0]


# --- law 8: the kernel is one function of any two points, and so is its error -------------------------------

each_defined_kernel = cases_where(lambda model: not isinstance(model, LocallyLinearEmbedding))


def kernel_to(model: Any, Z: Any, Y: Any, table: Any) -> np.ndarray:
    """The kernel (n_Y, n_Z) between any points."""
    return dense(model.kernel_.to(Z)(Y, table))


def new_points(name: str) -> Any:
    """New points in the form in which the kernel takes them."""
    return check_input(fitted(name), data(name)[1], reset=False)


def training_table(model: Any, Y: Any) -> Any:
    """Of rows of tables, the columns of the training points of the kernel."""
    if not model._is_precomputed():
        return None
    which = np.asarray(model._model_.columns) if Y.shape[1] > model.kernel_.X.shape[0] else slice(None)
    return Y[:, which]


@each_defined_kernel
def test_a_kernel_between_any_points_is_that_to_the_training_points(name: str) -> None:
    model, Y = fitted(name), new_points(name)
    X, table = model.kernel_.X, training_table(model, Y)
    with expecting(name):
        expected = dense(model.kernel_(Y))
        allowed = WORK * np.abs(expected).max()
        np.testing.assert_allclose(kernel_to(model, X, Y, table), expected, rtol=0, atol=allowed)
        turned = None if table is None else sparse.csr_array(table.T) if sparse.issparse(table) else table.T
        np.testing.assert_allclose(kernel_to(model, Y, X, turned), expected.T, rtol=0, atol=allowed)


@each_defined_kernel
def test_a_kernel_between_new_points_does_not_depend_on_others(name: str) -> None:
    model, Y, among = fitted(name), new_points(name), among_new(CASE[name].data)
    with expecting(name):
        K = kernel_to(model, Y, Y, among)
        # A divided kernel is infinite between similar points without affinity to the training points.
        allowed = WORK * np.abs(K[np.isfinite(K)]).max()
        np.testing.assert_allclose(K, K.T, rtol=0, atol=allowed)
        for i in (0, 5, len(K) - 1):
            some = None if among is None else among[[i]][:, [3, i]]
            alone = kernel_to(model, Y[[3, i]], Y[[i]], some)
            np.testing.assert_allclose(alone[0], K[i, [3, i]], rtol=0, atol=allowed)


@each_defined_kernel
def test_held_out_loss_is_the_literal_double_sum(name: str) -> None:
    model, Y, among = fitted(name), new_points(name), among_new(CASE[name].data)
    low_rank = isinstance(model.kernel_, LowRankKernel)
    with expecting(name):
        # The approximation by a dictionary is part of the error; tests/quality/test_loss.py has the sums.
        K = dense(model.kernel_.exact_to(Y)(Y, among)) if low_rank else kernel_to(model, Y, Y, among)
        literal = literal_losses(K, parts_of(model, Y), np.shape(model.eigenvalues_)[-1])
        rounding = 1e-13 * np.square(K).mean()
        assert model.loss(data(name)[1], among) == pytest.approx(literal[-1], rel=1e-7, abs=rounding)
        curve = model.loss_curve(data(name)[1], among)
    np.testing.assert_allclose(curve, literal, rtol=1e-7, atol=rounding)


def parts_of(model: Any, Y: Any) -> list[Part]:
    """The points and eigenfunctions of each piece. PCA has no model but its axes."""
    if not isinstance(model, PCA):
        return list(model._model_.parts(Y))
    pairs = EigenPairs(model.eigenvalues_, model.embedding_, model.residuals_, "")
    return [Part(PrincipalFunctions(model, pairs), 0, Y, np.arange(count(Y)))]


class PrincipalFunctions(NamedTuple):
    """The eigenfunctions of PCA."""

    model: PCA
    pairs: EigenPairs

    @property
    def n_train(self) -> int:
        return len(self.model.embedding_)

    def __call__(self, Y: Any) -> np.ndarray:
        return self.model.eigenfunctions(Y)


def literal_losses(K: np.ndarray, parts: list[Part], n_components: int) -> list[float]:
    """Bengio sec. 4: mean of ``(k(x, y) - sum_r lambda_r f_r(x) f_r(y))^2`` over pairs of different points.

    The functions are the trivial one, if there is one, and those of the coordinates up to each in turn. They
    are zero at points of other pieces."""
    errors = [K.copy() for _ in range(n_components)]
    for part in parts:
        f, lambdas = part.functions(part.points), part.functions.pairs.values / part.functions.n_train
        for last, error in enumerate(errors):
            kept = slice(part.trivial + last + 1)
            for a, i in enumerate(part.which):
                error[i, part.which] -= f[:, kept] @ (lambdas[kept] * f[a, kept])
    different = ~np.eye(len(K), dtype=bool)
    return [np.square(error[different]).mean() for error in errors]


@cases_where(lambda model: isinstance(model, LocallyLinearEmbedding))
def test_lle_has_no_kernel_between_new_points(name: str) -> None:
    model, (_, Y) = fitted(name), data(name)
    with (
        expecting(name),
        pytest.raises(UndefinedKernelError, match=r"zero between\s+them by definition"),
    ):
        model.loss(Y)
    assert np.isfinite(model.loss())


# --- a fit without a seed -----------------------------------------------------------------------------------

#: A case of each class that has a seed.
SEEDED = {
    type(case.make()): case
    for case in (*CASES, *WITHOUT_KERNEL, *MAPS, *PREDICTORS)
    if hasattr(case.make(), "random_state")
}


@pytest.mark.parametrize("case", SEEDED.values(), ids=lambda case: case.id)
def test_a_fit_without_a_seed_is_as_good(case: Case) -> None:
    X = load(case.data)[0]
    model = fit_case(case, case.make().set_params(random_state=None), X)
    assert model.random_state is None
    answer = next(name for name in ("transform", "score_samples", "predict") if hasattr(model, name))
    assert np.isfinite(getattr(model, answer)(X)).all()


# --- maps without a kernel: laws 1, 2, 4, 5 and 6 -----------------------------------------------------------

without_kernel = pytest.mark.parametrize(
    ("case", "dtype"),
    [(case, "float64") for case in WITHOUT_KERNEL]
    + [(case, "float32") for case in first_cases(WITHOUT_KERNEL) if case.data != "words"],
    ids=lambda value: getattr(value, "id", value),
)


@without_kernel
def test_a_map_without_a_kernel_is_one_function_for_all_points(case: Case, dtype: str) -> None:
    model, (X, Y) = fitted_map(case, dtype), load(case.data, np.dtype(dtype).type)
    order = np.random.default_rng(0).permutation(count(X))
    for points in copied(take(X, order)):
        assert_close(model.transform(points), model.embedding_[order], dtype)  # law 1
    company = model.transform(Y)
    alone = np.concatenate([model.transform(take(Y, [i])) for i in range(count(Y))])
    assert_close(alone, company, dtype)  # law 2
    assert np.isfinite(company).all()  # law 4
    values = model.embedding_.astype(float)
    if isinstance(model, ParametricMap):  # has the signs of its embedder, decided by eigenvectors
        assert (np.einsum("ij,ij->j", values, model.embedder_.embedding_) > 0).all()
    else:
        assert (values.max(axis=0) >= (1 - 2e-6) * np.abs(values).max(axis=0)).all()  # law 5: signs


@without_kernel
def test_a_map_without_a_kernel_is_found_again_and_kept(case: Case, dtype: str) -> None:
    model, (X, Y) = fitted_map(case, dtype), load(case.data, np.dtype(dtype).type)
    for other in (fit_case(case, unfitted(model), X), pickle.loads(pickle.dumps(model))):  # laws 5 and 6
        np.testing.assert_array_equal(other.embedding_, model.embedding_)
        np.testing.assert_array_equal(other.transform(Y), model.transform(Y))


# --- maps without a kernel: the laws that are left ----------------------------------------------------------

each_map = pytest.mark.parametrize("case", MAPS, ids=[case.id for case in MAPS])
in_both_precisions = pytest.mark.parametrize("dtype", TOLERANCE)


@each_map
@in_both_precisions
def test_a_map_places_each_point_by_itself(case: Any, dtype: str) -> None:
    model, (X, Y) = fitted_map(case, dtype), load(case.data, np.dtype(dtype).type)
    points = np.concatenate([Y, X[:5]])
    company = model.transform(points)
    alone = np.concatenate([model.transform(points[[i]]) for i in range(len(points))])
    assert company.shape == (len(points), model.components_.shape[-2])
    assert len(model.get_feature_names_out()) == company.shape[1]
    assert company.dtype == np.dtype(dtype)
    assert np.isfinite(company).all()
    assert np.abs(company).max() > 0
    assert_close(alone, company, dtype)
    order = np.random.default_rng(0).permutation(len(X))
    expected = case.make().fit_transform(X)[order]
    for copy in copied(X[order]):
        assert_close(model.transform(copy), expected, dtype)


@each_map
def test_a_map_is_the_same_after_another_fit_and_after_pickling(case: Any) -> None:
    model, (X, Y) = fitted_map(case), load(case.data)
    expected = model.transform(Y)
    params, before = model.get_params(), (joblib.hash(X), joblib.hash(Y))
    for again in (clone(model).fit(X), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.transform(Y), expected)
        assert again.get_params() == params
    assert (joblib.hash(X), joblib.hash(Y)) == before


@each_map
def test_a_map_makes_the_largest_coordinate_positive(case: Any) -> None:
    model, (X, _) = fitted_map(case), load(case.data)
    labels = model.predict(X) if case.id.startswith("Mixture") else np.zeros(len(X), dtype=int)
    for number in np.unique(labels):
        mine = model.transform(X)[labels == number]
        assert (mine.max(axis=0) >= (1 - 2e-6) * np.abs(mine).max(axis=0)).all()


# --- graphs that are refused --------------------------------------------------------------------------------

GRAPH_METHODS = [
    cls
    for cls in declared.classes()
    if Value(cls.__name__, "on_disconnected", "'raise'") in declared.values(cls)
    and cls.__name__ not in declared.OTHER_INPUT
]


@pytest.mark.parametrize("cls", GRAPH_METHODS)
def test_a_disconnected_graph_is_refused_when_asked(cls: type) -> None:
    with pytest.raises(DisconnectedGraphError, match="3 connected components of 40, 25, 14 points"):
        cls(on_disconnected="raise", n_neighbors=8).fit(load("split")[0])


@pytest.mark.parametrize("kind", ["split similarities", "split sparse similarities", "split graph"])
@pytest.mark.parametrize("cls", [LaplacianEigenmaps, SpectralClustering])
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
def test_an_affinity_without_distances_cannot_be_connected(cls: type, kind: str) -> None:
    params: dict[str, object] = {"affinity": "precomputed"}
    if kind == "split graph":
        params = {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 5}
    model = cls(on_disconnected="connect", **params)
    with pytest.raises(DisconnectedGraphError, match="3 connected components"):
        model.fit(load(kind)[0])


def test_distances_that_are_not_stored_are_not_zero() -> None:
    """Classical MDS needs every distance: a sparse table without some of them must be refused, not filled
    with zeros."""
    with pytest.raises((ValueError, TypeError), match=r"sparse|stored|missing"):
        ClassicalMDS(metric="precomputed").fit(load("graph")[0].maximum(load("graph")[0].T))


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DegenerateSpectrumWarning")
def test_more_components_than_clusters_are_refused() -> None:
    with pytest.raises(DisconnectedGraphError, match="more than n_clusters=2"):
        SpectralClustering(n_clusters=2, on_disconnected="per_component").fit(load("split")[0])
