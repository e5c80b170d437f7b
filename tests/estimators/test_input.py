"""What goes in: bad input gets a clear error before long work, good input in any form gives the same
result."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import kneighbors_graph

from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    Isomap,
    KernelEigenmap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    LocallyLinearEmbedding,
    MetricMap,
    NeighborEmbedding,
    PotentialMap,
    SpectralClustering,
    _memory,
    estimators,
)
from eigenscape.exceptions import (
    DegenerateSpectrumWarning,
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    LongComputationWarning,
    NotEnoughMemoryError,
    UndefinedKernelError,
)
from eigenscape.options import Inverse, KNNGraph, Landmarks, Ordinal, RadiusGraph, Solver

ESTIMATORS = {
    "kernel_pca": KernelPCA,
    "mds": ClassicalMDS,
    "laplacian": LaplacianEigenmaps,
    "clustering": SpectralClustering,
    "isomap": Isomap,
    "lle": LocallyLinearEmbedding,
    "landmark_mds": LandmarkMDS,
    "metric_map": MetricMap,
}
GRAPH = ["laplacian", "clustering", "isomap", "lle"]
SPARSE = sorted(set(ESTIMATORS) - {"lle"})


def make(name, **params):
    defaults = {"n_clusters": 3} if name == "clustering" else {}
    return ESTIMATORS[name](**{**defaults, **params})


def data(n=40, features=4, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, features))


_FITTED = {}


def fitted(name, rows, **params):
    """The model of dense rows, which those of all other forms must equal; tests only read it."""
    key = name, rows, str(params)
    if key not in _FITTED:
        _FITTED[key] = make(name, **params).fit(rows())
    return _FITTED[key]


def close(a, b, tol=1e-8):
    np.testing.assert_allclose(a, b, atol=tol * np.abs(b).max())


@pytest.fixture
def no_work(monkeypatch):
    """Long work raises: searches for neighbours, kernel matrices, eigen-solves."""

    def refuse(*args, **kwargs):
        raise AssertionError("long work was started")

    modules = (
        "estimators._graph.neighbor_index",
        "methods.kernel_pca.gram",
        "methods.mds.gram",
        "methods.laplacian.gram",
    )
    more = (
        "pieces.split.gram",
        "methods.pivots.gram",
        "estimators._landmarks.choose_points",
        "methods.kernel_pca.principal",
        "methods.laplacian.smallest",
        "methods.laplacian.principal",
    )
    for place in (*modules, *more):
        monkeypatch.setattr(f"eigenscape.{place}", refuse)


# --- the data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: np.where(X[3, 1] == X, np.nan, X), "NaN"),
        (lambda X: np.where(X[3, 1] == X, np.inf, X), "infinity"),
        (lambda X: np.where(X[3, 1] == X, -np.inf, X), "infinity"),
        (lambda X: X[:1], r"n_samples ?= ?1|1 sample"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:, :0], r"0 feature"),
        (lambda X: X[:, 0], "1D array|Reshape"),
        (lambda X: X[None], "dim 3|dimension"),
        (lambda X: X + 1j, "[Cc]omplex"),
        (lambda X: np.full(X.shape, "word"), "string|convert"),
        (lambda _: [["a", "b"], ["c", "d"]], "string|convert"),
        (lambda _: None, "None|array"),
        (lambda _: "text", "text|array|scalar"),
    ],
    ids=[
        "nan",
        "inf",
        "-inf",
        "one",
        "empty",
        "no columns",
        "1d",
        "3d",
        "complex",
        "text",
        "nested text",
        "none",
        "str",
    ],
)
def test_bad_data(name, change, message, no_work):
    with pytest.raises((ValueError, TypeError), match=message):
        make(name).fit(change(data()))


@pytest.mark.parametrize("name", SPARSE)
def test_nan_in_sparse_data(name, no_work):
    X = sparse.random_array((40, 6), density=0.5, random_state=0, format="csr")
    X.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        make(name).fit(X)


EQUAL = {
    "kernel_pca": [
        {},
        {"kernel": "linear"},
        {"kernel": "poly"},
        {"kernel": "sigmoid"},
        {"kernel": "cosine"},
        {"gamma": 1.0},
    ],
    "mds": [{}, {"metric": "manhattan"}, {"indefinite": "shift"}, {"indefinite": "clip"}],
    "landmark_mds": [{}, {"n_landmarks": 5}, {"approximation": Landmarks(None, [0, 1, 2])}],
    "metric_map": [{}, {"n_landmarks": 5}],
    "laplacian": [{}, {"affinity": "rbf"}, {"affinity": "rbf", "gamma": 1.0}, {"affinity": "cosine"}],
    "clustering": [{}, {"affinity": "rbf"}, {"affinity": "rbf", "gamma": 1.0}],
    "isomap": [{}, {"graph": RadiusGraph(1.0)}],
    "lle": [{}, {"method": "ltsa"}],
}


@pytest.mark.parametrize("value", [0.0, 0.1])
@pytest.mark.parametrize(
    ("name", "params"), [(name, params) for name, many in EQUAL.items() for params in many]
)
def test_equal_rows(name, params, value):
    """An error that tells what is the matter, not a rank or a solver that did not converge."""
    with pytest.raises(ValueError, match="equal"):
        make(name, **params).fit(np.full((12, 3), value))


def test_equal_rows_as_distances():
    with pytest.raises(ValueError, match="equal"):
        ClassicalMDS(2, metric="precomputed").fit(np.zeros((6, 6)))


@pytest.mark.parametrize("offset", [1e4, 1e6])
@pytest.mark.parametrize("name", ["kernel_pca", "mds"])
def test_an_offset_does_not_stop_linear_methods(name, offset):
    """Centred methods do not see where the origin of the data is."""
    X = data(40, 3) * [4, 2, 1]
    params = {"kernel": "linear"} if name == "kernel_pca" else {}
    moved = make(name, **params).fit(X + offset)
    close(moved.embedding_, make(name, **params).fit(X).embedding_, 1e-15 * offset**2)  # what a product keeps


# --- the parameters -----------------------------------------------------------------------------------------

COUNTS = [0, -1, 2.5, True, "5", np.nan]


@pytest.mark.parametrize("value", COUNTS)
@pytest.mark.parametrize("name", GRAPH)
def test_bad_n_neighbors(name, value, no_work):
    with pytest.raises(ValueError, match=rf"n_neighbors={value!r} must be an integer of at least 1"):
        make(name, n_neighbors=value).fit(data())


@pytest.mark.parametrize("value", [*COUNTS, 1.5])
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_bad_n_components(name, value, no_work):
    parameter = "n_clusters" if name == "clustering" else "n_components"
    with pytest.raises(ValueError, match=rf"{parameter}={value!r} must be an integer of at least 1"):
        make(name, **{parameter: value}).fit(data())


@pytest.mark.parametrize("name", GRAPH)
def test_too_many_neighbours(name, no_work):
    with pytest.raises(
        ValueError, match=r"n_neighbors=40 needs at least 41 samples, got n_samples=40.*lower n_neighbors"
    ):
        make(name, n_neighbors=40).fit(data())


@pytest.mark.parametrize("name", GRAPH)
def test_too_many_neighbours_because_of_duplicates(name, no_work):
    X = np.repeat(data(10), 4, axis=0)
    with pytest.raises(ValueError, match=r"n_neighbors=10 .* 11 distinct samples, got 10; lower n_neighbors"):
        make(name, n_neighbors=10).fit(X)


@pytest.mark.parametrize("name", GRAPH)
def test_as_many_neighbours_as_there_are(name):
    X = np.repeat(data(10), 4, axis=0)
    assert np.isfinite(make(name, n_neighbors=9).fit(X).embedding_).all()


@pytest.mark.parametrize("params", [{}, {"affinity": "rbf"}])
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_too_many_components_for_the_samples(name, params):
    if params and name not in ("laplacian", "clustering"):
        params = {}
    parameter = "n_clusters" if name == "clustering" else "n_components"
    message = rf"{parameter}=50 needs at least \d+ .*samples, got (n_samples=)?40; lower {parameter}"
    with pytest.raises(ValueError, match=message):
        make(name, **{parameter: 50}, **params).fit(data())


@pytest.mark.parametrize("name", ["kernel_pca", "mds", "laplacian", "isomap", "lle"])
def test_one_component_too_many_for_the_samples(name):
    with pytest.raises(ValueError, match="n_components=40 needs at least 41"):
        make(name, n_components=40, **({"n_neighbors": 5} if name in GRAPH else {})).fit(data())


def test_too_many_components_for_the_rank():
    flat = data(30, 2) @ np.array([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]])
    for model in (ClassicalMDS(3), KernelPCA(3, kernel="linear")):
        with pytest.warns(DegenerateSpectrumWarning, match=r"n_components=3.*2 positive.*lower n_components"):
            model.fit(flat)


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_more_tangent_directions_than_features(method):
    """A plane has no third tangent direction; local coordinates made of rounding errors are no answer."""
    with pytest.raises(ValueError, match="n_components=3"):
        LocallyLinearEmbedding(3, n_neighbors=12, method=method).fit(data(60, 2))


NAMES = {
    "kernel_pca": ["kernel", "order", "eigen_solver"],
    "mds": ["order", "indefinite", "eigen_solver"],
    "laplacian": ["affinity", "on_disconnected", "eigen_solver"],
    "clustering": ["affinity", "on_disconnected", "eigen_solver", "assign_labels"],
    "isomap": ["on_disconnected", "order", "indefinite", "eigen_solver"],
    "lle": ["method", "on_disconnected", "eigen_solver"],
    "landmark_mds": ["order", "indefinite", "eigen_solver"],
    "metric_map": ["order", "eigen_solver"],
}


@pytest.mark.parametrize("value", ["nonsense", 3, ["nonsense"]])
@pytest.mark.parametrize(
    ("name", "parameter"), [(name, parameter) for name, many in NAMES.items() for parameter in many]
)
def test_unknown_names(name, parameter, value, no_work):
    with pytest.raises(ValueError, match=parameter) as caught:
        make(name, **{parameter: value}).fit(data())
    assert repr(value) in str(caught.value)
    assert "choose" in str(caught.value)


@pytest.mark.parametrize("value", ["nonsense", 3, ["nonsense"]])
@pytest.mark.parametrize(
    ("option", "field"),
    [
        (Solver, "storage"),
        (KNNGraph, "weights"),
        (KNNGraph, "symmetrize"),
        (Ordinal, "ties"),
        (Inverse, "method"),
    ],
)
def test_unknown_names_of_options(option, field, value):
    with pytest.raises(ValueError, match=field) as caught:
        option(**{field: value})
    assert repr(value) in str(caught.value)
    assert "choose" in str(caught.value)


@pytest.mark.parametrize("value", ["nonsense", 3, ["nonsense"]])
@pytest.mark.parametrize("name", ["mds", *GRAPH])
def test_unknown_metrics(name, value):
    with pytest.raises(ValueError, match="metric") as caught:
        make(name, metric=value).fit(data())
    assert repr(value) in str(caught.value)
    assert "euclidean" in str(caught.value)  # what there is to choose from


@pytest.mark.parametrize("name", ["kernel_pca", "mds"])
def test_a_solver_that_cannot_serve_is_refused_before_the_kernel_matrix(name, no_work):
    with pytest.raises(ValueError, match=r"eigen_solver='shift-invert'.*use"):
        make(name, eigen_solver="shift-invert").fit(data())


@pytest.mark.parametrize("value", [-1e-3, -np.inf, np.nan, "small"])
def test_bad_tol(value):
    with pytest.raises(ValueError, match=rf"tol={value!r} must be a number of at least 0 or None"):
        Solver(tol=value)


@pytest.mark.parametrize("value", [0, -3, 1.5, "many", True])
def test_bad_max_iter(value):
    with pytest.raises(ValueError, match=rf"max_iter={value!r} must be an integer of at least 1 or None"):
        Solver(max_iter=value)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "scale"])
@pytest.mark.parametrize(
    ("name", "params"),
    [("kernel_pca", {}), ("laplacian", {"affinity": "rbf"}), ("clustering", {"affinity": "rbf"})],
)
def test_bad_gamma(name, params, value, no_work):
    with pytest.raises(ValueError, match=rf"gamma={value!r}"):
        make(name, gamma=value, **params).fit(data())


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "wide", True])
def test_bad_width(value):
    with pytest.raises(ValueError, match=rf"width={value!r} must be a positive number or None"):
        KNNGraph(weights="heat", width=value)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "wide", True])
def test_bad_radius(value):
    with pytest.raises(ValueError, match=rf"radius={value!r} must be a positive number"):
        RadiusGraph(value)


@pytest.mark.parametrize("value", [1, 1.0, 0.5, -2, np.nan, np.inf, "large"])
def test_bad_c(value, no_work):
    with pytest.raises(ValueError, match=rf"c={value!r} must be"):
        LocallyLinearEmbedding(c=value).fit(data())


@pytest.mark.parametrize("value", [0, 0.0, -1e-3, np.nan, np.inf, None, "small"])
def test_bad_reg(value, no_work):
    with pytest.raises(ValueError, match=rf"reg={value!r} must be a positive number"):
        LocallyLinearEmbedding(reg=value).fit(data())


@pytest.mark.parametrize(
    ("method", "d", "least"), [("hessian", 2, 5), ("hessian", 3, 9), ("modified", 4, 4), ("ltsa", 4, 5)]
)
def test_too_few_neighbours_for_the_method(method, d, least, no_work):
    with pytest.raises(
        ValueError,
        match=rf"method='{method}' with n_components={d} needs at least {least} neighbours .*got {least - 1}",
    ):
        LocallyLinearEmbedding(d, method=method, n_neighbors=least - 1).fit(data(40, 6))


@pytest.mark.parametrize(("method", "least"), [("hessian", 5), ("modified", 3), ("ltsa", 6)])
def test_just_enough_neighbours_for_the_method(method, least):
    model = LocallyLinearEmbedding(2, method=method, n_neighbors=least).fit(data(30, 2))
    close(model.transform(data(30, 2)), model.embedding_, 1e-7)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.full(39, 1 / 39), r"shape \(40,\), got \(39,\)"),
        (np.full((40, 1), 1 / 40), r"\(40, 1\)"),
        (np.ones(40), "sum to 1, got 40; divide"),
        (np.zeros(40), "sum to 1, got 0"),
        (np.full(40, np.nan), "nan"),
        ("mean", "centering"),
        (0.5, "centering"),
    ],
)
def test_bad_centering(value, message, no_work):
    with pytest.raises(ValueError, match=message):
        ClassicalMDS(centering=value).fit(data())


def test_threshold_cuts_in_two(no_work):
    with pytest.raises(ValueError, match="assign_labels='threshold' gives two clusters, got n_clusters=3"):
        SpectralClustering(3, assign_labels="threshold").fit(data())


@pytest.mark.parametrize("value", [0, -1, 1.5, "five"])
def test_bad_n_init(value, no_work):
    with pytest.raises(ValueError, match="n_init"):
        SpectralClustering(3, n_init=value).fit(data())


@pytest.mark.parametrize("name", ["isomap", "laplacian", "mds"])
@pytest.mark.parametrize("metric", ["euclidean", "minkowski"])
def test_arguments_that_a_metric_does_not_know(name, metric):
    params = {"metric": metric, "metric_params": {"q": 3}}
    graph = {"isomap": "graph", "laplacian": "affinity"}.get(name)
    model = make(name, **({graph: KNNGraph(**params)} if graph else params))
    with pytest.raises((ValueError, TypeError)):
        model.fit(data())


# --- precomputed --------------------------------------------------------------------------------------------

DISTANCES = [
    ("mds", {"metric": "precomputed"}),
    ("isomap", {"metric": "precomputed"}),
    ("laplacian", {"affinity": "precomputed_nearest_neighbors"}),
    ("clustering", {"affinity": "precomputed_nearest_neighbors"}),
]
SIMILARITIES = [
    ("kernel_pca", {"kernel": "precomputed"}),
    ("laplacian", {"affinity": "precomputed"}),
    ("clustering", {"affinity": "precomputed"}),
]


def table(kind, n=40):
    D = cdist(data(n), data(n))
    return D if kind == "distance" else np.exp(-D)


PRECOMPUTED = [("distance", *case) for case in DISTANCES] + [("affinity", *case) for case in SIMILARITIES]


@pytest.mark.parametrize(("kind", "name", "params"), PRECOMPUTED)
def test_precomputed_tables_must_be_square(kind, name, params, no_work):
    with pytest.raises(ValueError, match=r"square.*\(40, 39\)"):
        make(name, **params).fit(table(kind)[:, :39])


@pytest.mark.parametrize(("kind", "name", "params"), PRECOMPUTED)
def test_precomputed_tables_must_be_symmetric(kind, name, params, no_work):
    X = table(kind)
    X[3, 5] += 0.5
    with pytest.raises(ValueError, match=r"symmetric.*0\.5"):
        make(name, **params).fit(X)


@pytest.mark.parametrize(
    ("kind", "name", "params"), [case for case in PRECOMPUTED if case[1] != "kernel_pca"]
)
def test_precomputed_tables_must_not_be_negative(kind, name, params, no_work):
    X = table(kind)
    X[3, 5] = X[5, 3] = -0.25
    with pytest.raises(ValueError, match=r"negative.*-0\.25"):
        make(name, **params).fit(X)


@pytest.mark.parametrize(("name", "params"), DISTANCES)
def test_distances_of_a_point_to_itself_are_zero(name, params, no_work):
    with pytest.raises(ValueError, match=r"diagonal.*similarities"):
        make(name, **params).fit(table("affinity"))


@pytest.mark.parametrize(("kind", "name", "params"), PRECOMPUTED)
def test_precomputed_tables_for_new_points(kind, name, params):
    X = table(kind)
    model = make(name, **params).fit(X)
    close(model.transform(X[5:9]), model.embedding_[5:9])
    with pytest.raises(ValueError, match=r"39.*40|40.*39"):
        model.transform(X[:3, :39])
    bad = X[:3].copy()
    bad[1, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.transform(bad)
    if name != "kernel_pca":
        with pytest.raises(ValueError, match="negative"):
            model.transform(-X[:3])


@pytest.mark.parametrize("name", ["laplacian", "clustering"])
def test_metric_precomputed_is_understood_or_refused(name, no_work):
    """``metric="precomputed"`` with a table that is none must not end in an index error."""
    with pytest.raises(ValueError, match=r"precomputed|square"):
        make(name, metric="precomputed").fit(data())


def test_mds_of_a_sparse_graph_is_refused():
    """A missing distance is not a distance of zero."""
    graph = kneighbors_graph(data(), 5, mode="distance")
    with pytest.raises((ValueError, TypeError), match=r"sparse|dense|missing|Isomap|symmetric"):
        ClassicalMDS(metric="precomputed").fit(graph)
    with pytest.raises((ValueError, TypeError), match=r"sparse|dense|missing|Isomap"):
        ClassicalMDS(metric="precomputed").fit(graph.maximum(graph.T))


@pytest.mark.parametrize("name", ["laplacian", "clustering"])
def test_zero_row_sums(name):
    K = np.ones((6, 6))
    K[2] = K[:, 2] = 0.0
    with pytest.raises(DisconnectedGraphError, match=r"2 connected components.*on_disconnected"):
        make(name, affinity="precomputed").fit(K)


def test_negative_affinities():
    for model in (
        LaplacianEigenmaps(affinity="linear"),
        SpectralClustering(2, affinity=lambda a, b: float(a @ b)),
    ):
        with pytest.raises(ValueError, match="affinity must not be negative, got -"):
            model.fit(data() - 0.5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
@pytest.mark.parametrize(
    ("name", "parameter"),
    [("kernel_pca", "kernel"), ("laplacian", "affinity"), ("mds", "metric"), ("isomap", "metric")],
)
def test_functions_that_are_not_finite(name, parameter, bad):
    def function(a, b):
        return bad if a[0] > 0.9 else float(np.exp(-np.abs(a - b).sum()))

    with pytest.raises(ValueError, match=r"finite|NaN|infinite"):
        make(name, **{parameter: function}).fit(data())


@pytest.mark.parametrize(("name", "parameter"), [("kernel_pca", "kernel"), ("mds", "metric")])
def test_functions_that_are_not_symmetric(name, parameter):
    """The reason is the function, not the solver."""
    with pytest.raises(ValueError, match="symmetric"):
        make(name, **{parameter: lambda a, b: float(a[0] * b[1] + b[2] ** 2)}).fit(data())


# --- sparse, and other forms --------------------------------------------------------------------------------


def thin_data(n=40):
    X = data(n, 8)
    return np.where(X < 0.5, 0.0, X)


def long_indices(X):
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def messy(X):
    """Unsorted columns, stored zeros and entries in two parts."""
    X = sparse.coo_array(X)
    row, column = np.concatenate([X.row[::-1], X.row, [0, 1]]), np.concatenate([X.col[::-1], X.col, [0, 1]])
    parts = sparse.coo_array(
        (np.concatenate([X.data[::-1] / 2, X.data / 2, [0.0, 0.0]]), (row, column)), shape=X.shape
    )
    order = np.argsort(parts.row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(parts.row, minlength=X.shape[0]))])
    return sparse.csr_array((parts.data[order], parts.col[order], indptr), shape=X.shape)


FORMS = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "64-bit": long_indices,
    "messy": messy,
}
THIN = {
    "kernel_pca": [
        {},
        {"kernel": "linear"},
        {"kernel": "poly"},
        {"kernel": "laplacian"},
        {"kernel": "cosine"},
        {"kernel": "sigmoid"},
    ],
    "mds": [{}, {"metric": "manhattan"}, {"metric": "cosine"}, {"indefinite": "shift"}],
    "laplacian": [{}, {"affinity": "rbf"}, {"metric": "manhattan"}, {"metric": "cosine"}],
    "clustering": [{}, {"affinity": "rbf"}],
    "isomap": [{}, {"metric": "cosine"}, {"graph": RadiusGraph(1.4)}],
}


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize(
    ("name", "params"), [(name, params) for name, many in THIN.items() for params in many]
)
def test_sparse_rows_give_the_same_result(name, params, form):
    X, new = thin_data(), thin_data(60)[40:]
    dense = fitted(name, thin_data, **params)
    thin = make(name, **params).fit(FORMS[form](X))
    close(thin.embedding_, dense.embedding_, 1e-7)
    close(thin.transform(FORMS[form](new)), dense.transform(new), 1e-7)
    close(thin.transform(FORMS[form](X)), thin.embedding_, 1e-7)


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_input_is_left_as_it_was(name, form):
    X = FORMS[form](thin_data())
    X = X.tocsr() if form.startswith("c") and not form.startswith("csr") else X
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    make(name).fit(X).transform(X)
    for now, then in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("form", ["csr_matrix", "csr_array", "csc_array", "coo_array", "64-bit"])
@pytest.mark.parametrize(("name", "params"), SIMILARITIES)
def test_sparse_similarities_give_the_same_result(name, params, form):
    K = np.where(table("affinity") < 0.5, 0.0, table("affinity"))
    dense, thin = make(name, **params).fit(K), make(name, **params).fit(FORMS[form](K))
    close(thin.embedding_, dense.embedding_, 1e-7)
    close(thin.transform(FORMS[form](K[:7])), dense.transform(K[:7]), 1e-7)


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


ARRAYS = {
    "read-only": read_only,
    "fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: X[::-1].copy()[::-1],
    "list": lambda X: X.tolist(),
    "tuple of rows": lambda X: tuple(map(tuple, X)),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
    "object": lambda X: X.astype(object),
    "big-endian": lambda X: X.astype(">f8"),
    "longdouble": lambda X: X.astype(np.longdouble),
}


@pytest.mark.parametrize("form", sorted(ARRAYS))
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_the_form_of_an_array_does_not_matter(name, form):
    X, new = data(), data(5, seed=3)
    truth, model = fitted(name, data), make(name).fit(ARRAYS[form](X))
    close(model.embedding_, truth.embedding_)
    close(model.transform(ARRAYS[form](new)), truth.transform(new))
    assert model.embedding_.dtype == np.float64


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_memory_mapped_input(name, tmp_path):
    X = data()
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = make(name).fit(mapped)
    close(model.embedding_, make(name).fit(X).embedding_)
    close(model.transform(mapped), model.embedding_)


@pytest.mark.parametrize("name", SPARSE)
def test_read_only_sparse_input(name):
    X = sparse.csr_array(thin_data())
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    close(make(name).fit(X).embedding_, make(name).fit(thin_data()).embedding_, 1e-7)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, bool, np.float16, np.float32])
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_kinds_of_numbers(name, dtype):
    X = (
        np.random.default_rng(0).integers(0, 2, size=(60, 9))
        if dtype is bool
        else np.random.default_rng(0).integers(0, 50, size=(60, 4))
    )
    truth, model = make(name).fit(X.astype(float)), make(name).fit(X.astype(dtype))
    close(model.embedding_, truth.embedding_, 1e-5 if dtype == np.float32 else 1e-8)
    assert model.embedding_.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert model.transform(X.astype(dtype)).dtype == model.embedding_.dtype
    close(model.transform(X.astype(dtype)), model.embedding_, 1e-5 if dtype == np.float32 else 1e-8)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_columns_of_new_points(name):
    model = make(name).fit(data())
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 4 features"):
        model.transform(data(5, 3))
    with pytest.raises(ValueError, match="NaN"):
        model.transform(np.full((2, 4), np.nan))
    with pytest.raises(ValueError, match=r"1D|Reshape"):
        model.transform(data()[0])
    for method in (model.eigenfunctions, model.loss):
        with pytest.raises(ValueError, match="3 features"):
            method(data(5, 3))


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_column_names_of_new_points(name):
    X = pd.DataFrame(data(), columns=list("abcd"))
    model = make(name).fit(X)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcd"))
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X[list("dcba")])


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_unfitted_use(name):
    model = make(name)
    calls = [
        model.transform,
        model.eigenfunctions,
        model.loss,
        *([model.predict] if name == "clustering" else []),
    ]
    for call in calls:
        with pytest.raises(NotFittedError):
            call(data())
    if name in ("mds", "isomap"):
        for attribute in ("negative_fraction_", "is_euclidean_"):
            with pytest.raises((NotFittedError, AttributeError)):
                getattr(model, attribute)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_fit_changes_neither_data_nor_parameters(name):
    X = data()
    before, model = X.copy(), make(name)
    params = model.get_params()
    model.fit(X).transform(X)
    if name == "lle":
        with pytest.raises(UndefinedKernelError, match="pairs of new points"):
            model.loss(X)
    else:
        model.loss(X)
    np.testing.assert_array_equal(X, before)
    assert model.get_params() == params


@pytest.mark.parametrize(("kind", "name", "params"), PRECOMPUTED)
def test_fit_does_not_change_tables(kind, name, params):
    X = table(kind)
    before = X.copy()
    make(name, **params).fit(X).transform(X)
    np.testing.assert_array_equal(X, before)


# --- objects ------------------------------------------------------------------------------------------------

WORDS = [
    "spectral",
    "spectra",
    "kernel",
    "kernels",
    "vessel",
    "map",
    "maps",
    "mapping",
    "graph",
    "graphs",
    "gram",
    "grandeur",
]


def different_letters(a, b):
    return float(len(set(a) ^ set(b)))


def common_letters(a, b):
    return 1.0 + len(set(a) & set(b))


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda words: np.array(words, dtype=object)])
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("mds", {"metric": different_letters}),
        ("mds", {"metric": different_letters, "indefinite": "clip"}),
        ("mds", {"metric": different_letters, "indefinite": "shift"}),
        ("kernel_pca", {"kernel": common_letters}),
        ("laplacian", {"affinity": common_letters}),
        ("laplacian", {"affinity": common_letters, "include_diagonal": False}),
        ("clustering", {"affinity": common_letters}),
    ],
)
def test_objects_with_a_function(name, params, form):
    model = make(name, **params).fit(form(WORDS))
    function = params.get("metric") or params.get("kernel") or params.get("affinity")
    values = np.array([[function(a, b) for b in WORDS] for a in WORDS])
    parameter = next(key for key, value in params.items() if value is function)
    by_table = make(name, **{**params, parameter: "precomputed"}).fit(values)
    close(model.embedding_, by_table.embedding_)
    close(model.transform(form(WORDS)), model.embedding_)
    placed = model.transform(form(["colonel", "sparse"]))
    close(
        placed, by_table.transform(np.array([[function(a, b) for b in WORDS] for a in ("colonel", "sparse")]))
    )


@pytest.mark.parametrize("name", ["isomap", "lle"])
def test_objects_and_neighbour_graphs(name):
    """Rows are told apart by value and LLE needs differences, so objects are refused; the error says what to
    pass instead."""
    with pytest.raises((ValueError, TypeError), match=r"precomputed|numbers|numeric"):
        make(name, n_neighbors=4, metric=different_letters).fit(WORDS)


def test_objects_without_a_function():
    for model in (KernelPCA(2), ClassicalMDS(2), Isomap(2)):
        with pytest.raises(ValueError, match=r"function|string|convert"):
            model.fit(WORDS)


def test_one_object():
    with pytest.raises(ValueError, match="at least 2 samples, got n_samples=1"):
        ClassicalMDS(1, metric=different_letters).fit(["word"])


def test_functions_get_rows():
    X = data(15, 3)
    by_function = ClassicalMDS(2, metric=lambda a, b: np.abs(a - b).sum()).fit(X)
    close(by_function.embedding_, ClassicalMDS(2, metric="manhattan").fit(X).embedding_)
    by_function = KernelPCA(2, kernel=lambda a, b: float(a @ b)).fit(X)
    close(by_function.embedding_, KernelPCA(2, kernel="linear").fit(X).embedding_)


# --- memory -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("kernel_pca", {}),
        ("kernel_pca", {"kernel": "linear"}),
        ("mds", {}),
        ("laplacian", {"affinity": "rbf"}),
        ("clustering", {"affinity": "rbf"}),
    ],
)
@pytest.mark.parametrize("n", [60, 560])
def test_little_memory_means_blocks(name, params, n, monkeypatch):
    X = data(n, 3) * [4, 2, 1]
    truth = make(name, **params).fit(X)
    monkeypatch.setattr(_memory, "available_bytes", lambda: 10_000)
    model = make(name, **params).fit(X)
    close(model.embedding_, truth.embedding_, 1e-6)
    close(model.eigenvalues_, truth.eigenvalues_)
    close(model.transform(X + 0.1), truth.transform(X + 0.1), 1e-6)


@pytest.mark.parametrize("name", ["kernel_pca", "mds"])
@pytest.mark.parametrize("n", [60, 560])
def test_blocks_on_request(name, n):
    X = data(n, 3) * [4, 2, 1]
    close(
        make(name, eigen_solver=Solver(storage="blocked")).fit(X).embedding_,
        make(name).fit(X).embedding_,
        1e-6,
    )


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("isomap", {}),
        ("mds", {"indefinite": "clip"}),
        ("mds", {"indefinite": "shift"}),
        ("laplacian", {"eigen_solver": "dense"}),
    ],
)
def test_too_little_memory_is_told(name, params, monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 10_000)
    with pytest.raises(NotEnoughMemoryError, match=r"needs about .* of memory, but only .*B are free; "):
        make(name, **params).fit(data(60))


def test_too_little_memory_is_told_before_the_work(monkeypatch, no_work):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 10_000)
    with pytest.raises(NotEnoughMemoryError, match="Isomap of 60 points"):
        Isomap().fit(data(60))


def distance_by_function(x, y):
    return float(np.abs(x - y).sum())


FULL = [
    (KernelPCA(), "Dictionary"),
    (KernelPCA(kernel="poly"), "Dictionary"),
    (ClassicalMDS(), "LandmarkMDS"),
    (ClassicalMDS(metric="cityblock"), "LandmarkMDS"),
    (LaplacianEigenmaps(affinity="rbf"), "nearest_neighbors"),
    (DiffusionMap(affinity="gaussian"), "nearest_neighbors"),
    (SpectralClustering(2, affinity="rbf"), "nearest_neighbors"),
    (LaplacianEigenmaps(metric=distance_by_function), "name a metric"),
]


@pytest.mark.parametrize(("estimator", "remedy"), FULL, ids=lambda _: None)
def test_long_work_is_told_before_it_begins(estimator, remedy, monkeypatch, no_work):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 2**33)
    monkeypatch.setattr("eigenscape.kernels.bandwidth.nearest_distances", None)
    X = np.arange(200_000.0)[:, None]
    estimator = clone(estimator).set_params(n_jobs=1)
    told = rf"200000 samples.* will take (minutes|hours|days).*{remedy}"
    started = pytest.raises((AssertionError, TypeError), match=r"long work|not callable")
    with pytest.warns(LongComputationWarning, match=told), started:
        estimator.fit(X)


@pytest.mark.parametrize(("estimator", "remedy"), FULL, ids=lambda _: None)
def test_short_work_is_not_told(estimator, remedy, recwarn):
    clone(estimator).fit(data(60))
    assert not [each for each in recwarn if each.category is LongComputationWarning]


@pytest.mark.parametrize(
    ("estimator", "remedy"),
    [
        (KernelPCA(eigen_solver="dense"), "Dictionary"),
        (ClassicalMDS(eigen_solver="dense"), "LandmarkMDS"),
        (ClassicalMDS(indefinite="clip"), "indefinite='keep'"),
        (ClassicalMDS(indefinite="shift"), "indefinite='keep'"),
        (LaplacianEigenmaps(affinity="rbf", eigen_solver="dense"), "nearest_neighbors"),
        (SpectralClustering(2, affinity="rbf", assign_labels="threshold"), "assign_labels='kmeans'"),
        (Isomap(), "n_landmarks"),
    ],
    ids=lambda _: None,
)
def test_a_matrix_that_does_not_fit_is_refused_before_the_work(estimator, remedy, monkeypatch, no_work):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 10_000)
    monkeypatch.setattr("eigenscape.kernels.bandwidth.nearest_distances", None)
    with pytest.raises(NotEnoughMemoryError, match=remedy):
        clone(estimator).fit(data(60))


def test_a_radius_that_connects_too_many_points_is_refused(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 2**20)
    monkeypatch.setattr("eigenscape.graph.neighborhood.distance_table", None)
    with pytest.raises(NotEnoughMemoryError, match="lower radius"):
        LaplacianEigenmaps(affinity=RadiusGraph(10.0)).fit(data(500))


def test_a_cut_that_needs_memory_says_so(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 10_000)
    with pytest.raises(NotEnoughMemoryError, match="assign_labels='kmeans'"):
        SpectralClustering(2, assign_labels="threshold", affinity="rbf").fit(data(60))


@pytest.mark.parametrize("n", [60, 560])
def test_blocks_do_not_hide_a_disconnected_affinity(n, monkeypatch):
    X = data(n, 2) + 1e3 * (np.arange(n) % 2)[:, None]
    model = LaplacianEigenmaps(2, affinity="rbf", gamma=1.0)
    with pytest.warns(DisconnectedGraphWarning):
        kept = model.fit(X).component_labels_
    monkeypatch.setattr(_memory, "available_bytes", lambda: 10_000)
    with pytest.warns(DisconnectedGraphWarning):
        model.fit(X)
    np.testing.assert_array_equal(model.component_labels_, kept)


def test_blocks_do_not_hide_a_negative_affinity(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 10_000)
    X = data(60, 3) - 0.1  # a few products are negative, no row sum is
    assert (X @ X.T).min() < 0 < (X @ X.T).sum(axis=1).min()
    with pytest.raises(ValueError, match="negative"):
        LaplacianEigenmaps(2, affinity="linear").fit(X)


# --- progress -----------------------------------------------------------------------------------------------

STAGES = {
    "kernel_pca": ["kernel matrix", "eigen-solve"],
    "mds": ["kernel matrix", "eigen-solve"],
    "laplacian": ["neighbours", "eigen-solve"],
    "clustering": ["neighbours", "eigen-solve"],
    "isomap": ["neighbours", "geodesics", "eigen-solve"],
    "lle": ["neighbours", "local solves", "eigen-solve"],
    "landmark_mds": ["landmarks", "kernel matrix", "eigen-solve"],
    "metric_map": ["kernel matrix", "eigen-solve"],
}


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_stages_are_shown_when_asked(name, capsys):
    model = make(name, verbose=True).fit(data())
    shown = capsys.readouterr().err
    for stage in STAGES[name]:
        assert stage in shown
    model.transform(data() + 0.01)
    assert "projection" in capsys.readouterr().err
    model.set_params(verbose=False).fit(data())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_verbose_after_an_error_is_quiet_again(capsys):
    with pytest.raises(ValueError, match="n_neighbors"):
        Isomap(n_neighbors=99, verbose=True).fit(data())
    capsys.readouterr()
    Isomap().fit(data())
    assert capsys.readouterr().out == ""


def test_every_parameter_is_tried_with_nonsense():
    """The table of names above knows every parameter that takes a name."""
    takes_names = {
        "kernel",
        "order",
        "eigen_solver",
        "indefinite",
        "affinity",
        "on_disconnected",
        "method",
    }
    takes_names.add("assign_labels")
    for name, estimator in ESTIMATORS.items():
        has = takes_names & set(estimator().get_params())
        assert has == set(NAMES[name])
    assert set(itertools.chain(*NAMES.values())) == takes_names


@pytest.mark.parametrize(
    "cls",
    [
        DiffusionMap,
        Isomap,
        KernelEigenmap,
        LaplacianEigenmaps,
        LocalityPreservingProjection,
        LocallyLinearEmbedding,
        NeighborEmbedding,
        PotentialMap,
        SpectralClustering,
    ],
)
def test_the_default_number_of_neighbours_counts_distinct_rows(cls):
    X = np.random.default_rng(0).standard_normal((9, 3))
    assert cls().fit(np.repeat(X, 10, axis=0)).n_neighbors_ == cls().fit(X).n_neighbors_ == 5


def test_few_distinct_rows_have_too_few_neighbours_for_a_method():
    X = np.repeat(np.random.default_rng(0).standard_normal((5, 3)), 10, axis=0)
    with pytest.raises(ValueError, match="needs at least 5 neighbours of each sample, got 4"):
        LocallyLinearEmbedding(method="hessian").fit(X)


@pytest.mark.parametrize("name", ["PCA", "Isomap", "LaplacianEigenmaps", "NeighborEmbedding"])
def test_columns_of_one_name_are_refused(name: str) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).random((30, 3)), columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="several columns named 'a'; rename"):
        getattr(estimators, name)().fit(frame)


@pytest.mark.parametrize("name", ["Isomap", "ClassicalMDS", "LaplacianEigenmaps", "LocallyLinearEmbedding"])
def test_metrics_return_numbers(name: str) -> None:
    X = np.random.default_rng(0).random((30, 3))
    for function in (lambda x, y: np.abs(x - y), lambda *_: "far", lambda *_: 1j):
        with pytest.raises(TypeError, match="must return a number for two"):
            getattr(estimators, name)(metric=function).fit(X)
    with pytest.raises(ValueError, match="negative"):
        getattr(estimators, name)(metric=lambda *_: -1.0).fit(X)


def test_rows_that_are_no_rows_of_numbers() -> None:
    with pytest.raises(ValueError, match="too large to convert"):
        PCA().fit(np.array([[10**400, 1], [2, 3], [4, 5]], dtype=object))
    with pytest.raises(ValueError, match="sparse array of 3 dimensions"):
        Isomap().fit(sparse.coo_array(np.ones((4, 3, 2))))
    with pytest.raises(TypeError, match="metric='mahalanobis' does not support sparse input"):
        LaplacianEigenmaps(metric="mahalanobis").fit(sparse.random_array((30, 4), density=0.5, rng=0))
    with pytest.raises(ValueError, match="random_state=-1 must be an integer of at least 0"):
        LaplacianEigenmaps(random_state=-1).fit(np.eye(30))
