"""The law cases that are run cover what the product of all parameters covers, and few are needed."""

from __future__ import annotations

from pathlib import Path

import declared
import pytest
from cases import CASES, MAPS, PREDICTORS, PRODUCTS, WEIGHTED, WITHOUT_KERNEL, disconnected
from covering import PRODUCT, facts
from declared import Value
from sklearn.utils import get_tags

from eigenscape import ClassicalMDS, DiffusionMap, GreedySpectralEmbedding, LaplacianEigenmaps
from eigenscape._parameters import declared_parameters
from eigenscape.kernels import VariableGaussian
from eigenscape.options import GRAPH_NAMES, KNNGraph, Option, Solver

TESTS = Path(__file__).parent
KERNELS = {repr(name) for name in declared.NAMED["kernel"]}
#: Estimators whose parameters are read by the same code.
GROUPS = (
    ("LaplacianEigenmaps", "DiffusionMap", "SpectralClustering"),
    ("Isomap", "LocallyLinearEmbedding", "PotentialMap", "NeighborEmbedding"),
    ("KernelPCA", "GreedySpectralEmbedding"),
    ("ClassicalMDS", "LandmarkMDS", "FastMap", "MetricMap", "OrdinalMDS"),
)

CHOSEN = {
    "CASES": CASES,
    "WITHOUT_KERNEL": WITHOUT_KERNEL,
    "MAPS": MAPS,
    "WEIGHTED": WEIGHTED,
    "PREDICTORS": PREDICTORS,
}


def values_of(lists):
    return {value for cases in lists.values() for case in cases for value in declared.found(case.make())}


def shared(value):
    """The value, for the first of the estimators that share the code which reads it."""
    if value.parameter == "affinity" and value.value in KERNELS:
        return Value("KernelPCA", "kernel", value.value)
    if value.parameter == "n_landmarks":
        return Value("ClassicalMDS", *value[1:])
    groups = [names for names in GROUPS if value.owner in names]
    return value._replace(owner=groups[0][0]) if groups else value


def test_every_value_that_is_declared_has_a_case():
    assert sorted(declared.required() - values_of(PRODUCTS)) == []


def test_every_value_that_is_declared_is_run_for_the_code_that_reads_it():
    run = {shared(value) for value in values_of(CHOSEN)}
    assert sorted({shared(value) for value in declared.required()} - run) == []


def test_values_without_a_case_exist_and_name_their_tests():
    found = {value for cls in declared.classes() for value in declared.values(cls)}
    given = {value for value in found if value.value in ("'raise'", "None")}
    assert {value for value in declared.WITHOUT_CASE if value.value not in ("'raise'", "None")} <= found
    assert {"on_disconnected", "random_state"} <= {value.parameter for value in given}
    assert set(declared.ELSEWHERE) <= {value.parameter for value in found}
    assert set(declared.OTHER_INPUT) <= {value.owner for value in found}
    assert not values_of(PRODUCTS) & set(declared.WITHOUT_CASE)
    reasons = [*declared.ELSEWHERE.values(), *declared.OTHER_INPUT.values(), *declared.WITHOUT_CASE.values()]
    assert [reason for reason in reasons if not (TESTS / reason.rpartition(": ")[2]).is_file()] == []


def test_values_are_read_from_annotations():
    found = set(declared.values(LaplacianEigenmaps))
    for value in (
        ("LaplacianEigenmaps", "affinity", "'rbf'"),
        ("LaplacianEigenmaps", "affinity", "KNNGraph"),
        ("LaplacianEigenmaps", "n_components", declared.ANOTHER),
        ("LaplacianEigenmaps", "include_diagonal", "False"),
        ("LaplacianEigenmaps", "on_disconnected", "'largest'"),
        ("LaplacianEigenmaps", "approximation", "None"),
        ("KNNGraph", "symmetrize", "'shared'"),
        ("Solver", "storage", "'blocked'"),
    ):
        assert value in found
    made = set(declared.found(LaplacianEigenmaps(3, affinity=KNNGraph(symmetrize="shared"))))
    assert ("LaplacianEigenmaps", "n_components", declared.ANOTHER) in made
    assert ("LaplacianEigenmaps", "affinity", "KNNGraph") in made
    assert ("KNNGraph", "symmetrize", "'shared'") in made
    assert ("KNNGraph", "metric", declared.ANOTHER) not in made
    assert ("LaplacianEigenmaps", "affinity", declared.ANOTHER) not in made


# --- kinds of data, and pairs of choices that interact ------------------------------------------------------

TREATMENTS = ("connect", "per_component", "largest")
KERNEL = ("named", "callable", "precomputed")
GRAPH = ("graph", "local graph", "given graph")
#: What is to be covered. Kernels have no distances by which to connect.
PAIRS = {
    *(("affinity", kind, mode) for kind in (*GRAPH[::2], "local kernel") for mode in TREATMENTS),
    *(
        ("affinity", kind, mode) for kind in ("named", "precomputed") for mode in TREATMENTS[1:]
    ),  # no distances
    *(("alpha", kind, alpha) for kind in (*GRAPH, *KERNEL, "local kernel") for alpha in (0, 0.5, 1)),
    *(("normalization", kind, how) for kind in KERNEL for how in ("additive", "divisive", None)),
    *(("indefinite", kind, repair) for kind in KERNEL for repair in ("keep", "clip", "shift")),
    *(("solver", method, "auto") for method in ("auto", "dense", "lanczos", "shift-invert", "multilevel")),
    *(("solver", method, "blocked") for method in ("auto", "lanczos")),
}


def kind_of(value):
    if isinstance(value, VariableGaussian):
        return "local kernel"
    if isinstance(value, Option):
        local = "local graph" if value.weights == "local" else "graph"
        return "given graph" if value.metric == "precomputed" else local
    if value in GRAPH_NAMES:
        return "given graph" if "precomputed" in value else "graph"
    named = isinstance(value, str) or hasattr(value, "bind")
    return "precomputed" if value == "precomputed" else "named" if named else "callable"


def pairs(case):
    """The pairs of a case that are like those of ``PAIRS``."""
    model = case.make()
    if hasattr(model, "affinity") and disconnected(case.data):
        yield "affinity", kind_of(model.affinity), model.on_disconnected
    if isinstance(model, DiffusionMap):
        yield "alpha", kind_of(model.affinity), model.alpha
    if isinstance(model, GreedySpectralEmbedding):
        yield "normalization", kind_of(model.kernel), model.normalization
    if isinstance(model, ClassicalMDS):
        yield "indefinite", kind_of(model.metric), model.indefinite
    solver = getattr(model, "eigen_solver", None)
    if isinstance(solver, str | Solver):
        yield "solver", getattr(solver, "method", solver), getattr(solver, "storage", "auto")


@pytest.mark.parametrize("lists", [PRODUCTS, CHOSEN], ids=["product", "chosen"])
def test_every_pair_of_choices_that_interact_has_a_case(lists):
    found = {pair for cases in lists.values() for case in cases for pair in pairs(case)}
    assert sorted(map(str, PAIRS - found)) == []


def data_of(cls):
    """The kinds of data that an estimator takes, by its tags and its treatments of several components."""
    tags = get_tags(cls()).input_tags
    yield "twin"
    yield from ["counts"] if tags.sparse else []
    yield from ["gaps"] if tags.allow_nan else []
    choices = getattr(declared_parameters(cls).get("on_disconnected"), "choices", ())
    yield from (mode for mode in choices if mode != "raise")


CLASSES = [cls for cls in declared.classes() if cls.__name__ not in declared.OTHER_INPUT]


@pytest.mark.parametrize("lists", [PRODUCTS, CHOSEN], ids=["product", "chosen"])
@pytest.mark.parametrize("cls", CLASSES)
def test_every_kind_of_data_that_an_estimator_takes_has_a_case(lists, cls):
    group = next((names for names in GROUPS if lists is CHOSEN and cls.__name__ in names), (cls.__name__,))
    found = set()
    for case in (case for cases in lists.values() for case in cases):
        model = case.make()
        if type(model).__name__ in group:
            found |= {kind for kind in ("twin", "counts", "gaps") if kind in case.data}
            found |= {getattr(model, "on_disconnected", "")} if disconnected(case.data) else set()
    assert sorted(set(data_of(cls)) - found) == []


@pytest.mark.parametrize("name", PRODUCTS)
def test_names_of_cases_are_unique_and_in_the_order_of_the_product(name):
    names = [case.id for case in PRODUCTS[name]]
    assert len(set(names)) == len(names)
    chosen = [case.id for case in CHOSEN[name]]
    assert chosen == [one for one in names if one in set(chosen)]


@pytest.mark.skipif(PRODUCT, reason="the product is run")
def test_few_cases_are_chosen():
    assert len(CASES) <= 0.22 * len(PRODUCTS["CASES"])


def test_facts_tell_parameters_data_and_pairs_apart():
    cases = {case.id: case for case in PRODUCTS["CASES"]}
    heat = facts(cases["LaplacianEigenmaps-neighbors-heat"])
    assert ("value", "affinity", "affinity__weights", "'heat'") in heat
    assert ("estimator", "LaplacianEigenmaps") in heat
    same = facts(cases["DiffusionMap-neighbors-heat"])  # the same code reads the parameter
    assert ("value", "affinity", "affinity__weights", "'heat'") in same
    split = facts(cases["LaplacianEigenmaps-split-distances-largest"])
    assert ("disconnected", "given graph", "largest") in split
    assert ("data", "given graph", "split distances") in split
    assert ("solver", "'lanczos'", "blocked") not in heat
    assert ("solver", "'lanczos'", "blocked") in facts(cases["KernelPCA-blocked-lanczos"])
    landmarks = facts(cases["Isomap-landmarks-greedy"])  # chosen by the code that LandmarkMDS uses
    assert ("value", "distance", "approximation__selection", "'greedy'") in landmarks
    assert ("value", "distance", "approximation__n", "a number") in landmarks
