"""Choose few law cases that cover every value of every parameter, and the pairs that interact.

The product of all parameters stays in ``make test-all``. ``make check`` and ``make test`` run a part of it in
which each of these facts occurs at least once:

- each estimator, and each value of each parameter, or of each field of an option, for the estimators that own
  it: estimators whose parameter is read by the same code are one owner, and each option is;
- each pair (kernel family, normalisation), (kernel family, kind of data), (eigensolver, storage) and
  (kernel family, treatment of a disconnected graph), in any estimator.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from functools import cache
from typing import Any

import numpy as np

from eigenscape.kernels import VariableGaussian
from eigenscape.options import Landmarks, Option, Solver

#: Whether the tests run the product of all parameters.
PRODUCT = os.environ.get("EIGENSCAPE_PRODUCT", "") not in ("", "0")

#: Whether property tests draw all their examples: in ``make test-all`` and ``make fuzz``.
MANY_EXAMPLES = PRODUCT or os.environ.get("HYPOTHESIS_PROFILE") == "random"

#: Estimators whose common parameters are read by the same code.
_OWNERS = {
    "affinity": ("LaplacianEigenmaps", "DiffusionMap", "SpectralClustering"),
    "graph": ("Isomap", "LocallyLinearEmbedding", "PotentialMap", "NeighborEmbedding"),
    "distance": ("ClassicalMDS", "LandmarkMDS", "FastMap", "MetricMap", "OrdinalMDS"),
    "kernel": ("KernelPCA", "GreedySpectralEmbedding"),
}
#: Names of graphs, and the option each one is short for.
_GRAPHS = {
    "nearest_neighbors": "KNNGraph",
    "spanning_tree": "SpanningTree",
    "precomputed_nearest_neighbors": "given graph",
}
#: Kinds of data that the same code reads, by the words in their names.
_KINDS = ("twin", "split", "lonely", "pair", "words", "narrow", "gaps")
_TABLES = ("sparse similarities", "similarities", "sparse distances", "distances", "graph", "counts")


def cover(cases: Iterable[Any]) -> list[Any]:
    """Return the chosen cases in the order in which they are listed; all of them if ``PRODUCT``.

    Greedy set cover: take the case with the most facts that no chosen case has, the first one of several.
    """
    listed = list(cases)
    if PRODUCT:
        return listed
    missing = [facts(case) for case in listed]
    chosen = []
    while any(missing):
        best = max(range(len(listed)), key=lambda i: (len(missing[i]), -i))
        chosen.append(best)
        found = missing[best]
        missing = [left - found for left in missing]
    return [listed[i] for i in sorted(chosen)]


def facts(case: Any) -> set[tuple[str, ...]]:
    """Return what a case covers: values of parameters and pairs of choices that interact."""
    model = case.make()
    cls, params = type(model), model.get_params(deep=False)
    family = _family(cls.__name__, params)
    covered: set[tuple[str, ...]] = {
        ("estimator", cls.__name__),
        ("given", cls.__name__, case.given.__name__),
        ("normalization", family, _normalization(cls.__name__, params)),
        ("data", family, _kind(case.data)),
        ("solver", *_solver(params.get("eigen_solver", "none"))),
    }
    for key, value in params.items():
        if _text(value) != _text(_defaults(cls)[key]):
            covered |= _values(cls.__name__, key, value)
    if case.data.startswith(("split", "lonely", "pair")):
        affinity = _graph(params.get("affinity")) or _text(params.get("affinity") or family)
        covered.add(("disconnected", affinity, str(params.get("on_disconnected"))))
    return covered


def _values(name: str, key: str, value: Any) -> set[tuple[str, ...]]:
    """Return the facts of a parameter's value: the value, and the fields of an option."""
    if key == "affinity" and _pairwise(value) == "pairwise" and _graph(value) is None:
        name, key = "KernelPCA", "kernel"  # evaluates the same kernels
    landmarks = key == "n_landmarks" or isinstance(value, Landmarks)  # read by the code of another group
    owner = "distance" if landmarks else _owner(name, key)
    found = {("value", owner, *fact) for fact in [(key, _number(value)), *_fields(key, value)]}
    if isinstance(value, Option):
        found.add(("option", _owner(name, key), key, type(value).__name__))
        found |= {("field", type(value).__name__, *fact) for fact in _fields("", value, defaults=True)}
    return found


def _fields(key: str, option: Any, *, defaults: bool = False) -> Iterator[tuple[str, str]]:
    """Yield name and value of each field of an option, of those at their ``defaults`` only if asked."""
    for field in fields(option) if isinstance(option, Option) else ():
        value = getattr(option, field.name)
        if defaults or field.default is MISSING or _text(value) != _text(field.default):
            yield f"{key}__{field.name}", _number(value)


def _number(value: Any) -> str:
    """Return the text of a value. Numbers are one value, except 0 and 1, which are limits."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and value not in (0, 1)
    return "a number" if number else _text(value)


def _solver(solver: Any) -> tuple[str, str]:
    """Return eigensolver and storage."""
    method, storage = (solver.method, solver.storage) if isinstance(solver, Solver) else (solver, "auto")
    return _text(method), storage


@cache
def _defaults(cls: type) -> dict[str, Any]:
    return cls().get_params(deep=False)


@cache
def _owner(name: str, key: str) -> str:
    """Return the group of estimators that share a parameter, or the estimator if it is its own."""
    import eigenscape

    for group, names in _OWNERS.items():
        if name in names and sum(key in _defaults(getattr(eigenscape, other)) for other in names) > 1:
            return group
    return name


def _family(name: str, params: dict[str, Any]) -> str:
    """Return the kind of kernel, by the code that evaluates it."""
    if name in _OWNERS["affinity"]:
        affinity, graph = params["affinity"], _graph(params["affinity"])
        local = isinstance(affinity, VariableGaussian) or getattr(affinity, "weights", None) == "local"
        kind = _pairwise(affinity) if graph is None else "given graph" if graph == "given graph" else "graph"
        return ("local " if local else "") + kind
    if "kernel" in params:
        return _pairwise(params["kernel"])
    if name in _OWNERS["distance"]:
        return f"distance {_pairwise(params['metric'])}"
    return name


def _graph(affinity: Any) -> str | None:
    """Return the kind of graph, or None for a kernel."""
    if isinstance(affinity, Option):
        given = affinity.metric == "precomputed"  # type: ignore[attr-defined]
        return "given graph" if given else type(affinity).__name__
    return _GRAPHS.get(affinity) if isinstance(affinity, str) else None


def _pairwise(kernel: Any) -> str:
    """Return "precomputed", "callable" or "pairwise" for a kernel or metric."""
    if kernel == "precomputed":
        return kernel
    return "pairwise" if isinstance(kernel, str) or hasattr(kernel, "bind") else "callable"


def _normalization(name: str, params: dict[str, Any]) -> str:
    """Return the repair of an indefinite kernel, and the option that changes the normalisation."""
    given = str(params.get("normalization", name in _OWNERS["affinity"]))
    few = any(params.get(key) is not None for key in ("approximation", "n_landmarks"))
    alpha = float(params["alpha"]) if name == "DiffusionMap" else None
    return f"{given} {params.get('indefinite')} {alpha} {few}"


def _kind(data: str) -> str:
    """Return the kind of data: repeated rows, groups, tables, sparse rows or plain rows."""
    words = [word for word in _KINDS if word in data]
    table = [word for word in _TABLES if word in data][:1]
    return " ".join(words + table) or "rows"


def _text(value: Any) -> str:
    """Return a short text for a value; arrays, lists, kernels and functions are named by their type."""
    if isinstance(value, (np.ndarray, list, dict)):
        return type(value).__name__
    if callable(value) or hasattr(value, "get_params") or hasattr(value, "bind"):
        return "function" if hasattr(value, "__code__") else type(value).__name__
    return repr(value)
