"""From words to an estimator: dimensions, and what a matrix of distances or an edge list means to it."""

from __future__ import annotations

from typing import Any

from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._methods import method_of

#: What the input is, by the parameter that says "precomputed".
_ASKED = {
    ("metric", "precomputed"): "distances",
    ("affinity", "precomputed"): "affinities",
    ("affinity", "precomputed_nearest_neighbors"): "distances",
    ("kernel", "precomputed"): "affinities",
}
#: And the other way round: the value of a method's parameter for each kind of input.
_SAYING = {
    "metric": {"distances": "precomputed", "edges": "precomputed"},
    "affinity": {
        "distances": "precomputed_nearest_neighbors",
        "affinities": "precomputed",
        "edges": "precomputed",
    },
    "kernel": {"affinities": "precomputed"},
}


def wanted_kind(kind: str | None, chosen: dict[str, Any]) -> str | None:
    """The kind of input that the options ask for; ``--metric precomputed`` means distances."""
    asked = {
        _ASKED[name, value]
        for name, value in chosen.items()
        if isinstance(value, str) and (name, value) in _ASKED
    }
    if kind is None or kind == "edges" or not asked:
        return kind or next(iter(asked), None)
    if kind not in asked:
        raise WrongCommandError(
            f"--kind {kind} contradicts the parameters, which mean {asked.pop()}; leave one of them out"
        )
    return kind


def build(cls: Any, chosen: dict[str, Any], dimensions: int | None, kind: str, array: Any = None) -> Any:
    """An estimator with the parameters chosen, ready for input of this kind; ``array`` holds the weights of
    edges."""
    chosen = dict(chosen)
    if dimensions is not None:
        name = "n_components" if "n_components" in cls().get_params() else "n_clusters"
        if name in chosen:
            raise WrongCommandError(f"-d and --{name.replace('_', '-')} are the same; give one of them")
        chosen[name] = dimensions
    if kind in ("distances", "affinities", "edges"):
        name = getattr(cls, "_pairwise_parameter", None) or ""
        value = _SAYING.get(name, {}).get(kind)
        if value is None or (
            kind == "edges" and name == "metric" and cls.__name__ != "Isomap"
        ):  # the others need all distances
            needed = "rows of numbers" if value is None else "all distances"
            raise WrongCommandError(
                f"{method_of(cls())} needs {needed}, and the input is {_said(kind)}; {_remedy(kind)}"
            )
        chosen.setdefault(name, value)
        if (
            kind == "edges"
            and chosen[name] == "precomputed"
            and name == "metric"
            and not {"n_neighbors", "radius"} & set(chosen)
        ):
            chosen["radius"] = 2.0 * float(array.max()) or 1.0  # every edge joins neighbours
    return cls(**chosen)


def _said(kind: str) -> str:
    return {
        "distances": "a matrix of distances",
        "affinities": "a matrix of similarities",
        "edges": "an edge list",
    }[kind]


def _remedy(kind: str) -> str:
    if kind == "edges":
        return "take laplacian-eigenmaps, diffusion-map or spectral-clustering (weights are affinities), or isomap (they are lengths)"
    return (
        "take "
        + {"distances": "isomap or classical-mds", "affinities": "laplacian-eigenmaps or kernel-pca"}[kind]
    )
