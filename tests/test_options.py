"""Option objects: immutable, validated when they are made, and flat where there are no objects."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from eigenscape import GreedySpectralEmbedding, Isomap, KernelPCA, LaplacianEigenmaps, options
from eigenscape.options import Dictionary, KNNGraph, Landmarks, Option, Ordinal, RadiusGraph, Solver
from eigenscape.quality import choose_bandwidth, choose_n_neighbors

CLASSES = [getattr(options, name) for name in options.__all__]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_field_has_a_limit_or_type_and_a_description(cls):
    assert issubclass(cls, Option)
    described = cls.__doc__.replace(",", " ").split()
    assert set(cls._names()) <= set(described)
    assert set(cls._flat) <= set(cls._names())


def test_objects_do_not_change():
    graph = KNNGraph(5)
    with pytest.raises(FrozenInstanceError):
        graph.n_neighbors = 6
    model = LaplacianEigenmaps(affinity=graph)
    other = clone(model).set_params(affinity__n_neighbors=7)
    assert (graph.n_neighbors, model.affinity, other.affinity) == (5, graph, KNNGraph(7))


def test_objects_are_compared_by_value():
    rows = np.arange(3)
    assert Landmarks(None, rows) == Landmarks(None, rows.copy()) != Landmarks(None, rows[:2])
    assert len({KNNGraph(5), KNNGraph(5), KNNGraph(6), RadiusGraph(5.0)}) == 3
    assert repr(KNNGraph(5, weights="heat")) == "KNNGraph(n_neighbors=5, weights='heat')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KNNGraph(weights="heated"), "weights='heated'"),
        (lambda: KNNGraph(search="fast"), "search='fast'"),
        (lambda: Dictionary(0), "size=0"),
        (lambda: Dictionary(5, points=np.eye(2)), "given points"),
        (lambda: Landmarks(None), "selection='maxmin' needs n"),
        (lambda: Solver(storage="disk"), "storage='disk'"),
        (lambda: KNNGraph(5).set_params(k=6), "KNNGraph has no field 'k'"),
    ],
)
def test_invalid_values_raise_where_the_object_is_made(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_fields_are_searched_like_parameters():
    X = np.random.default_rng(0).random((60, 3))
    model = Isomap(graph=KNNGraph(5), eigen_solver=Solver(tol=1e-8))
    assert {"graph__n_neighbors", "eigen_solver__tol"} <= set(model.get_params())
    for params in ParameterGrid({"graph__n_neighbors": [6, 8]}):
        model = clone(model).set_params(**params).fit(X)
        assert model.graph.n_neighbors == params["graph__n_neighbors"]
    assert model.eigen_solver.tol == 1e-8


def test_parameters_are_chosen_by_quality():
    X = np.random.default_rng(0).random((60, 2))
    isomap = Isomap(graph=KNNGraph(symmetrize="shared"))
    assert choose_n_neighbors(isomap, X, [10, 12], n_repeats=2).best in (10, 12)
    heat = LaplacianEigenmaps(affinity=KNNGraph(12, weights="heat"))
    assert choose_bandwidth(heat, X, [0.1, 1.0], n_repeats=2).best in (0.1, 1.0)


@pytest.mark.parametrize(
    ("cls", "flat", "params"),
    [
        (
            KernelPCA,
            {"dictionary_size": 9, "tol": 0.1},
            {"approximation": Dictionary(9), "eigen_solver": Solver(tol=0.1)},
        ),
        (
            LaplacianEigenmaps,
            {"symmetrize": "mutual", "n_neighbors": 4},
            {"affinity": KNNGraph(4, symmetrize="mutual")},
        ),
        (Isomap, {"radius": 2.0}, {"graph": RadiusGraph(2.0)}),
        (Isomap, {"ordinal": True, "ties": "secondary"}, {"ordinal": Ordinal(ties="secondary")}),
        (GreedySpectralEmbedding, {"dictionary_tol": 0.1}, {"dictionary": Dictionary(tol=0.1)}),
        (Isomap, {"n_neighbors": 4}, {"n_neighbors": 4}),
    ],
)
def test_flat_names_make_objects_and_back(cls, flat, params):
    assert options.assembled(cls, flat) == params
    again = options.flattened(params)
    assert {name: again[name] for name in flat} == flat
