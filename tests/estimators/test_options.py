"""Option objects: validation, value semantics, and their work with scikit-learn, pickles and model files."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from inspect import isclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import eigenscape
from eigenscape import (
    AlignedSpectralMaps,
    ClassicalMDS,
    GreedySpectralEmbedding,
    Isomap,
    KernelEigenmap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    SpectralClustering,
)
from eigenscape._parameters import declared_parameters
from eigenscape.options import (
    Anchors,
    Dictionary,
    Independence,
    Inverse,
    KNNGraph,
    Landmarks,
    LocalKernels,
    Option,
    Ordinal,
    RadiusGraph,
    Solver,
    SpanningTree,
    assembled,
    flattened,
)

X = np.random.default_rng(0).standard_normal((60, 3))


def GAP(x: Any, y: Any) -> float:
    return float(abs(x - y).max())


#: A value of each field that is not its default.
FIELDS: dict[type[Option], dict[str, Any]] = {
    KNNGraph: {
        "n_neighbors": 7,
        "metric": "cityblock",
        "metric_params": {"p": 3},
        "symmetrize": "mutual",
        "weights": "heat",
        "width": 0.5,
        "search": "exact",
    },
    RadiusGraph: {
        "radius": 2.0,
        "metric": "cityblock",
        "metric_params": {"p": 3},
        "weights": "heat",
        "width": 0.5,
        "search": "exact",
    },
    SpanningTree: {
        "n_neighbors": 7,
        "metric": "cityblock",
        "metric_params": {"p": 3},
        "weights": "heat",
        "width": 0.5,
        "search": "exact",
    },
    Dictionary: {"size": 9, "tol": 0.1, "points": X[:5], "selection": [1, 2, 3]},
    Landmarks: {"n": 9, "selection": "greedy", "tol": 0.1},
    Anchors: {"n": 9},
    Solver: {"method": "dense", "tol": 1e-6, "max_iter": 9, "storage": "blocked"},
    Ordinal: {"n_init": 2, "ties": "secondary", "max_iter": 9},
    Independence: {"threshold": 0.2, "n_candidates": 9},
    Inverse: {"method": "ridge", "alpha": 0.1, "gamma": 0.2},
    LocalKernels: {"sigma": 0.5, "covariances": "full", "centers": "kmeans", "local_components": 1},
}
REQUIRED = {RadiusGraph: {"radius": 1.0}, Anchors: {"n": 5}}
EACH = [(kind, name, value) for kind, values in FIELDS.items() for name, value in values.items()]
each_field = pytest.mark.parametrize(
    ("kind", "name", "value"), EACH, ids=[f"{kind.__name__}.{name}" for kind, name, _ in EACH]
)


def made(kind: type[Option], **values: Any) -> Option:
    return kind(**{**REQUIRED.get(kind, {}), **values})


def test_every_option_and_field_is_listed() -> None:
    assert {kind.__name__ for kind in FIELDS} == set(eigenscape.options.__all__)
    assert all(tuple(values) == kind._names() for kind, values in FIELDS.items())


# --- values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (KNNGraph, {"n_neighbors": 0}, "n_neighbors=0 must be an integer of at least 1 or None"),
        (KNNGraph, {"search": "fast"}, "search='fast' is not known; choose one of 'auto', 'exact'"),
        (KNNGraph, {"weights": "cosine"}, "weights='cosine' is not known; choose one of 'binary'"),
        (RadiusGraph, {"radius": 1.0, "search": "approximate"}, "use 'exact' or KNNGraph"),
        (RadiusGraph, {"radius": 1.0, "search": ([[1]], [[2.0]])}, "cannot be used with a radius"),
        (SpanningTree, {"search": ([[1]], [[2.0]])}, "cannot be used with a minimum spanning tree"),
        (SpanningTree, {"metric": "precomputed"}, "pass a precomputed graph that contains the tree"),
        (Dictionary, {"size": 5, "points": X}, "given points cannot be combined with size=5"),
        (Landmarks, {"n": None}, "selection='maxmin' needs n"),
        (Landmarks, {"n": 0}, "n=0 must be an integer of at least 1, 'auto' or None"),
        (Anchors, {"n": 2.5}, "n=2.5 must be an integer of at least 1"),
        (Solver, {"storage": "disk"}, "storage='disk' is not known"),
        (Ordinal, {"n_init": 0}, "n_init=0 must be an integer of at least 1"),
        (Independence, {"threshold": 1.5}, "threshold=1.5 must be a number above 0 and below 1"),
        (Inverse, {"alpha": 0}, "alpha=0 must be a positive number or None"),
        (LocalKernels, {"sigma": -1.0}, "sigma=-1.0 must be a positive number or 'auto'"),
        (LocalKernels, {"centers": "grid"}, "centers='grid' is not known"),
        (LocalKernels, {"local_components": -1}, "local_components=-1 must be an integer of at least 0"),
    ],
    ids=str,
)
def test_values_are_validated_when_an_option_is_made(kind: type, values: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**values)
    given = {name: value for name, value in values.items() if name != "points"}
    if len(given) == len(values) == 1 and kind is not Anchors:  # and when it is changed
        with pytest.raises(ValueError, match=message):
            made(kind).set_params(**values)


@each_field
def test_options_are_compared_by_value(kind: type, name: str, value: Any) -> None:
    option, other = made(kind), made(kind, **{name: value})
    assert option != other
    assert other == made(kind, **{name: value})
    assert hash(other) == hash(made(kind, **{name: value}))
    assert other == clone(other) == pickle.loads(pickle.dumps(other)) == option.set_params(**{name: value})
    assert option == made(kind)  # set_params returned a copy
    if name != "points":
        assert eval(repr(other)) == other
    with pytest.raises(FrozenInstanceError):
        setattr(other, name, value)


def test_repr_has_the_values_that_are_not_defaults() -> None:
    assert repr(KNNGraph()) == "KNNGraph()"
    assert repr(KNNGraph(5, weights="heat")) == "KNNGraph(n_neighbors=5, weights='heat')"
    assert repr(RadiusGraph(1.5)) == "RadiusGraph(1.5)"
    model = LaplacianEigenmaps(affinity=SpanningTree(3))
    assert repr(model) == "LaplacianEigenmaps(affinity=SpanningTree(n_neighbors=3))"


def test_a_field_that_is_not_known_is_named_with_the_others() -> None:
    with pytest.raises(ValueError, match="Anchors has no field 'm'; it has n"):
        Anchors(3).set_params(m=4)
    with pytest.raises(ValueError, match="KNNGraph has no field 'radius'; it has n_neighbors, metric"):
        LaplacianEigenmaps(affinity=KNNGraph()).set_params(affinity__radius=1.0)


# --- scikit-learn -------------------------------------------------------------------------------------------


def test_a_clone_keeps_the_fitted_model_whose_points_are_used() -> None:
    fitted = GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(9)).fit(X)
    for model in (
        KernelPCA(gamma=0.5, approximation=Dictionary(points=fitted)),
        GreedySpectralEmbedding(gamma=0.5, dictionary=Dictionary(points=fitted)),
    ):
        np.testing.assert_array_equal(clone(clone(model)).fit(X).dictionary_, fitted.dictionary_)


def test_fields_are_searched_by_a_grid() -> None:
    def score(model: Any, X: np.ndarray, y: None = None) -> float:
        return float(model.n_neighbors_)

    model = LaplacianEigenmaps(affinity=KNNGraph(weights="heat"))
    grid = GridSearchCV(model, {"affinity__n_neighbors": [5, 10]}, scoring=score, cv=2).fit(X)
    assert grid.best_params_ == {"affinity__n_neighbors": 10}
    assert grid.best_estimator_.affinity == KNNGraph(10, weights="heat")
    assert model.affinity == KNNGraph(weights="heat")


def test_setting_a_field_does_not_change_another_estimator() -> None:
    shared = KNNGraph(5)
    first, second = LaplacianEigenmaps(affinity=shared), LaplacianEigenmaps(affinity=shared)
    first.set_params(affinity__n_neighbors=7, affinity__weights="heat")
    assert first.affinity == KNNGraph(7, weights="heat")
    assert second.affinity is shared
    assert shared == KNNGraph(5)
    both = first.set_params(affinity=RadiusGraph(1.0), affinity__radius=2.0)  # the object, then its field
    assert both.affinity == RadiusGraph(2.0)
    assert first.get_params()["affinity__radius"] == 2.0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LaplacianEigenmaps(n_neighbors=6, affinity=KNNGraph(5)), "n_neighbors=6 is not used with affinity="),
        (LaplacianEigenmaps(metric="cosine", affinity=RadiusGraph(1.0)), "metric='cosine' is not used with"),
        (Isomap(n_neighbors=6, graph=KNNGraph()), "n_neighbors=6 is not used with graph=KNNGraph()"),
        (Isomap(n_landmarks=9, approximation=Landmarks(9)), "n_landmarks=9 is not used with approximation="),
        (LandmarkMDS(n_landmarks=9, approximation=Landmarks(9)), "n_landmarks=9 is not used with"),
    ],
)
def test_a_value_given_twice_is_refused(model: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        model.fit(X)
    assert message in str(caught.value)


def test_contradictory_values_are_refused() -> None:
    for model, message in (
        (LaplacianEigenmaps(affinity=Dictionary(5)), r"affinity is Dictionary\(size=5\), but takes KNNGraph"),
        (LaplacianEigenmaps(affinity=KNNGraph), "affinity is the class KNNGraph, but takes KNNGraph"),
        (
            LaplacianEigenmaps(affinity=KNNGraph(8, width=5.0)),
            "width=5.0 is for weights='heat', got 'binary'",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X)
    with pytest.raises(ValueError, match="affinity='nearest_neighbors' has no fields"):
        LaplacianEigenmaps().set_params(affinity__n_neighbors=5)
    with pytest.raises(ValueError, match="size=3, but selection lists 2 rows"):
        Dictionary(3, selection=[1, 2])
    with pytest.raises(ValueError, match="landmarks='random' needs n_landmarks"):
        assembled(Isomap, {"landmarks": "random"})


def test_values_decide_equality_and_later_changes_do_not_matter() -> None:
    scales = {"V": np.ones(3)}
    graph = KNNGraph(np.int64(5), "seuclidean", scales)
    assert graph == KNNGraph(5, "seuclidean", {"V": np.ones(3)})
    assert hash(graph) == hash(KNNGraph(5, "seuclidean", {"V": np.ones(3)}))
    assert graph != KNNGraph(5, "seuclidean", {"V": np.zeros(3)})
    scales["V"] = np.zeros(3)
    assert graph.metric_params["V"].all()


def test_an_option_of_another_parameter_is_refused() -> None:
    for model in (Isomap(graph=Solver()), KernelPCA(approximation=Anchors(5)), Isomap(ordinal=Inverse())):
        with pytest.raises(ValueError, match="but takes"):
            model.fit(X)


@pytest.mark.parametrize(
    "model",
    [
        LaplacianEigenmaps(affinity=KNNGraph(8, weights="heat"), eigen_solver=Solver("dense")),
        Isomap(
            graph=RadiusGraph(3.0, metric="minkowski", metric_params={"p": 3}), approximation=Landmarks(20)
        ),
        LandmarkMDS(approximation=Landmarks(None, X[:9])),
        KernelPCA(approximation=Dictionary(9), inverse=Inverse("ridge", alpha=0.1)),
    ],
)
def test_pickles_and_model_files_keep_options(model: Any, tmp_path: Any) -> None:
    fitted = clone(model).fit(X)
    eigenscape.save(fitted, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(fitted)), eigenscape.load(tmp_path / "model")):
        assert copy.get_params(deep=False) == fitted.get_params(deep=False)
        np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KNNGraph(metric="nonsense"), "metric='nonsense' is not known; use one of scikit-learn's"),
        (lambda: RadiusGraph(1.0, metric=3), "metric=3 is not known"),
        (lambda: KNNGraph(search="fast"), "search='fast' is not known; choose one of"),
        (lambda: SpanningTree(search=3), "search=3 is not known; choose 'auto', 'exact'"),
        (lambda: KNNGraph(search=(1, 2, 3)), "tuple .indices, distances., got 3 elements"),
        (lambda: KNNGraph(metric="manhattan", search="approximate"), "use search='auto'"),
        (lambda: KNNGraph(weights="binary", width=2.0), "width=2.0 is for weights='heat'"),
        (lambda: KNNGraph(metric="minkowski", metric_params={"p": -1}), "p must be a positive number"),
        (lambda: KNNGraph(metric=GAP, metric_params={"k": 1}), "not arguments of the metric"),
        (lambda: KNNGraph(metric_params={3: 1}), "must have the names of arguments as keys"),
        (lambda: Solver("arpack"), "eigen_solver='arpack' is scikit-learn's name"),
        (lambda: Solver("nonsense"), "eigen_solver='nonsense' is not known; choose one of 'auto'"),
        (lambda: Solver(object()), r"methods principal\(operator, count, order\)"),
        (lambda: Dictionary(points="rows"), "points must be a fitted model with a dictionary"),
        (lambda: Dictionary(points=KernelPCA), "points must be a fitted model with a dictionary"),
        (lambda: Landmarks(None, 3.5), "selection=3.5 must be one of 'maxmin'"),
        (lambda: Landmarks(5, [1, 2]), "n=5, but selection contains 2; leave n out"),
        (lambda: Inverse("fixed-point", alpha=0.1), "only inverse='ridge' uses"),
    ],
)
def test_values_are_refused_where_an_option_is_made(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("minkowski", {"q": 3}),
        ("cosine", {"p": 1}),
        ("hamming", {"w": "a"}),
        ("chebyshev", {"p": 1}),
        ("mahalanobis", {"VI": np.eye(9)}),
        ("seuclidean", {"V": [1.0]}),
    ],
)
def test_parameters_that_a_metric_does_not_have(metric: str, params: dict[str, Any]) -> None:
    graph = KNNGraph(5, metric, params)
    for model in (Isomap(graph=graph), ClassicalMDS(metric=metric, metric_params=params)):
        with pytest.raises(ValueError, match="metric_params") as caught:
            model.fit(X)
        assert metric in str(caught.value)
        assert next(iter(params)) in str(caught.value)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"affinity": "rbf", "n_neighbors": 5}, "n_neighbors=5 is not used with affinity='rbf'"),
        ({"affinity": "rbf", "metric": "cosine"}, "metric='cosine' is not used with affinity='rbf'"),
        ({"gamma": 2.0}, "gamma=2.0 is not used with affinity='nearest_neighbors'"),
        ({"affinity": KNNGraph(5), "gamma": 2.0}, r"gamma=2.0 is not used with affinity=KNNGraph\("),
    ],
)
@pytest.mark.parametrize("cls", [LaplacianEigenmaps, SpectralClustering])
def test_parameters_that_the_affinity_does_not_use(cls: type, params: Any, message: str) -> None:
    with pytest.warns(UserWarning, match=message):
        cls(**params).fit(X)


def test_defaults_that_the_affinity_does_not_use_are_no_contradiction() -> None:
    for affinity in ("rbf", "nearest_neighbors", KNNGraph(), SpanningTree(5)):
        LaplacianEigenmaps(affinity=affinity).fit(X)  # warnings are errors


def test_penalty_that_the_inverse_of_the_kernel_does_not_use() -> None:
    with pytest.raises(ValueError, match="the inverse of this kernel does not use"):
        KernelPCA(kernel="rbf", inverse=Inverse(alpha=0.1)).fit(X)


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        (LocalKernels(centers=np.zeros((3, 9))), "centers has 9 features, but X has"),
        (LocalKernels(covariances=np.eye(9)), r"covariances has shape \(9, 9\)"),
        (LocalKernels(covariances=-np.eye(X.shape[1])), "covariances must be positive definite"),
    ],
)
def test_kernels_are_checked_before_the_graph(kernels: LocalKernels, message: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("eigenscape.estimators.kernel_eigenmap.vertices", None)
    with pytest.raises(ValueError, match=message):
        KernelEigenmap(kernels=kernels).fit(X)


def test_no_local_components_are_constant_maps() -> None:
    model = KernelEigenmap(n_kernels=8, kernels=LocalKernels(local_components=0)).fit(X)
    assert model.local_components_ == 0
    assert model.rank_ <= model.n_kernels_


# --- flat names ---------------------------------------------------------------------------------------------

PARAMETERS = [
    (cls, name, kind)
    for cls in (getattr(eigenscape, name) for name in eigenscape.__all__)
    if isclass(cls) and hasattr(cls, "get_params")
    for name, parameter in declared_parameters(cls).items()
    for kind in parameter.options
]


def test_every_option_belongs_to_a_parameter() -> None:
    assert {kind for _, _, kind in PARAMETERS} == set(FIELDS)


@pytest.mark.parametrize(
    ("cls", "name", "kind"), PARAMETERS, ids=[f"{c.__name__}-{n}-{k.__name__}" for c, n, k in PARAMETERS]
)
def test_flat_parameters_make_the_same_options(cls: type, name: str, kind: type[Option]) -> None:
    for field, value in FIELDS[kind].items():
        params = cls(**{name: made(kind, **{field: value})}).get_params(deep=False)
        again = cls(**assembled(cls, flattened(params))).get_params(deep=False)
        if isinstance(again[name], str):  # the name is short for the option
            again[name] = kind(again[name])
        assert again == params, field


def test_flat_names_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be combined"):
        assembled(LaplacianEigenmaps, {"radius": 1.0, "symmetrize": "mutual"})
    with pytest.raises(ValueError, match="symmetrize='mutual' is for graphs, got affinity='rbf'"):
        assembled(LaplacianEigenmaps, {"affinity": "rbf", "symmetrize": "mutual"})
    with pytest.raises(ValueError, match="ties='secondary' is not used without ordinal"):
        assembled(Isomap, {"ties": "secondary"})
    params = assembled(AlignedSpectralMaps, {"n_neighbors": 5, "weights": "heat"})
    assert params == {"affinity": KNNGraph(5, weights="heat")}
