"""Choose few law cases that cover every value of every parameter, and the pairs that interact.

The product of all parameters stays in ``make test-all``. ``make check`` and ``make test`` run a part of it in
which each of these facts occurs at least once:

- each estimator, and each value of each parameter for the estimators that own it: estimators whose parameter
  is read by the same code are one owner;
- each pair (kernel family, normalisation), (kernel family, kind of data), (eigensolver, storage) and
  (kernel family, treatment of a disconnected graph), in any estimator.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

#: Whether the tests run the product of all parameters.
PRODUCT = os.environ.get("EIGENSCAPE_PRODUCT", "") not in ("", "0")

#: Estimators whose common parameters are read by the same code.
_OWNERS = {
    "affinity": ("LaplacianEigenmaps", "DiffusionMap", "SpectralClustering"),
    "graph": ("Isomap", "LocallyLinearEmbedding", "PotentialMap", "NeighborEmbedding"),
    "distance": ("ClassicalMDS", "LandmarkMDS", "FastMap", "MetricMap", "OrdinalMDS"),
    "kernel": ("KernelPCA", "GreedySpectralEmbedding"),
}
#: Parameters that are read by the code of another group.
_ELSEWHERE = {"landmarks": "distance", "n_landmarks": "distance", "landmark_tol": "distance"}
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
        ("solver", _text(params.get("eigen_solver")), _text(params.get("storage"))),
    }
    for key, value in params.items():
        if _text(value) != _text(_defaults(cls)[key]):
            covered.add(_value(cls.__name__, key, value))
    if case.data.startswith(("split", "lonely", "pair")):
        affinity = _text(params.get("affinity", family))
        covered.add(("disconnected", affinity, str(params.get("on_disconnected"))))
    return covered


def _value(name: str, key: str, value: Any) -> tuple[str, ...]:
    """Return the fact of a parameter's value. Numbers are one value, except 0 and 1, which are limits."""
    if key == "affinity" and _pairwise(value) == "pairwise" and not _is_graph(value):
        name, key = "KernelPCA", "kernel"  # evaluates the same kernels
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and value not in (0, 1)
    return "value", _ELSEWHERE.get(key, _owner(name, key)), key, "a number" if number else _text(value)


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
        given = params["affinity"] == "precomputed_nearest_neighbors"
        on_graph = _is_graph(params["affinity"])
        local = "local " if params.get("weights" if on_graph else "bandwidth") == "local" else ""
        return local + ("given graph" if given else "graph" if on_graph else _pairwise(params["affinity"]))
    if "kernel" in params:
        return _pairwise(params["kernel"])
    if name in _OWNERS["distance"]:
        return f"distance {_pairwise(params['metric'])}"
    return name


def _is_graph(affinity: Any) -> bool:
    return isinstance(affinity, str) and ("neighbors" in affinity or affinity in ("radius", "mst"))


def _pairwise(kernel: Any) -> str:
    """Return "precomputed", "callable" or "pairwise" for a kernel or metric."""
    if kernel == "precomputed":
        return kernel
    return "pairwise" if isinstance(kernel, str) or hasattr(kernel, "bind") else "callable"


def _normalization(name: str, params: dict[str, Any]) -> str:
    """Return the repair of an indefinite kernel, and the option that changes the normalisation."""
    given = str(params.get("normalization", name in _OWNERS["affinity"]))
    few = any(params.get(key) is not None for key in ("dictionary", "dictionary_tol", "n_landmarks"))
    return f"{given} {params.get('indefinite')} {float(params.get('alpha', 0))} {few}"


def _kind(data: str) -> str:
    """Return the kind of data: repeated rows, groups, tables, sparse rows or plain rows."""
    words = [word for word in _KINDS if word in data]
    table = [word for word in _TABLES if word in data][:1]
    return " ".join(words + table) or "rows"


def _text(value: Any) -> str:
    """Return a short text for a value; arrays, lists and functions are named by their type."""
    if isinstance(value, (np.ndarray, list, dict)):
        return type(value).__name__
    if callable(value) or hasattr(value, "get_params"):
        return "function" if hasattr(value, "__code__") else type(value).__name__
    return repr(value)
