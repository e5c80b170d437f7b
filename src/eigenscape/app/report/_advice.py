"""Suggestions as data: what to change, in which direction, and why. Conflicts are resolved in one place.

Each rule returns suggestions from one measure and knows nothing of the others. ``resolve`` joins those on the
same parameter. If they point in different directions, the stronger evidence decides; if it is equally strong,
the parameter is named without a direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape._parameters import declared_parameters
from eigenscape.app.report._details import GraphDetails
from eigenscape.app.report._formatting import format_count, format_percent
from eigenscape.app.report._grades import kept_grade, neighborhood_grade, stability_grade
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._tuning import TUNING
from eigenscape.app.report.few_points import carried_coordinates
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._method import described
from eigenscape.kernels import VariableGaussian
from eigenscape.options import flattened

Direction = Literal["increase", "decrease"]


@dataclass(frozen=True)
class Advice:
    """A suggestion to change ``parameter``, or, without a direction, to do ``action``."""

    parameter: str  # of the model, or a topic such as "columns"
    reason: str
    direction: Direction | None = None
    value: int | None = None  # to try
    action: str = ""
    strength: int = 1  # 2: the measure determines the direction; 1: other causes are possible


def advise(
    model: BaseEstimator, n_coordinates: int, measures: Measures, graph: GraphDetails | str
) -> list[str]:
    """Return the suggestions that follow from the measures as sentences, without contradiction."""
    found = [
        *_columns(measures),
        *_few_points(model, measures, graph),
        *_disconnected(model, measures, graph),
        *_search(model),
    ]
    if not measures.localized:  # the measures of a map of few points tell nothing of its parameters
        found += [
            *_neighborhoods(model, measures),
            *_coordinates(model, n_coordinates, measures),
            *_stability(model, measures),
            *_loss(model, measures),
            *_distances(measures),
        ]
    possible = [advice for advice in found if not _exceeds_rank(advice, n_coordinates, measures.rank)]
    return [sentence(advice) for advice in resolve(possible)]


def _exceeds_rank(advice: Advice, n_coordinates: int, rank: int | None) -> bool:
    """Return whether a suggestion asks for more coordinates than the rows have dimensions."""
    if rank is None or advice.parameter != "n_components" or advice.direction != "increase":
        return False
    return (advice.value or n_coordinates + 1) > rank


# --- one place for conflicts --------------------------------------------------------------------------------


def resolve(found: Iterable[Advice]) -> list[Advice]:
    """Join the suggestions on each parameter into one, in the order in which they were found."""
    groups: dict[tuple[str, str], list[Advice]] = {}
    for advice in found:
        groups.setdefault((advice.parameter, advice.action), []).append(advice)
    return [_join(group) for group in groups.values()]


def _join(group: list[Advice]) -> Advice:
    first = group[0]
    strongest = max(advice.strength for advice in group)
    directions = {advice.direction for advice in group if advice.strength == strongest}
    if len(directions) > 1:
        reasons = _reasons(group)
        action = f"Compare several values of {first.parameter}"
        return Advice(first.parameter, f"the measures do not agree on a direction ({reasons})", action=action)
    (direction,) = directions
    agreeing = [advice for advice in group if advice.direction == direction]
    value = next((advice.value for advice in agreeing if advice.value is not None), None)
    return Advice(first.parameter, _reasons(agreeing), direction, value, first.action, strongest)


def _reasons(group: list[Advice]) -> str:
    return "; ".join(dict.fromkeys(advice.reason for advice in group))


def sentence(advice: Advice) -> str:
    """Return a suggestion as a sentence."""
    action = advice.action
    if advice.direction is not None:
        to = "" if advice.value is None else f" to {advice.value}"
        action = f"{advice.direction.capitalize()} {advice.parameter}{to}"
    return f"{action}: {advice.reason}."


# --- parameters in use --------------------------------------------------------------------------------------


def smoothing(model: BaseEstimator) -> tuple[str, Direction] | None:
    """Return the parameter in use that smooths the map, and the direction that does; None if there is none.

    Fitted attributes tell which parameters were used: an "rbf" affinity ignores ``n_neighbors``, and a
    neighbourhood graph ignores ``gamma``. Fields of option objects are parameters, too.
    """
    fitted, parameters = vars(model), flattened(model.get_params(deep=False))
    variable = isinstance(parameters.get("affinity"), VariableGaussian)
    if "n_neighbors" in parameters and ("n_neighbors_" in fitted or variable):
        return "n_neighbors", "increase"
    if "degrees_" in fitted and parameters.get("radius") is not None:
        return "radius", "increase"
    if "gamma" in parameters and "gamma_" in fitted:
        return "gamma", "decrease"
    return None


def _uses_neighbors(model: BaseEstimator) -> bool:
    found = smoothing(model)
    return found is not None and found[0] == "n_neighbors"


def _smoother(model: BaseEstimator, reason: str, strength: int = 1) -> Iterator[Advice]:
    found = smoothing(model)
    if found is not None:
        yield Advice(found[0], reason, found[1], strength=strength)


def _has_coordinates(model: BaseEstimator) -> bool:
    """Return whether the number of coordinates is a parameter in use."""
    return isinstance(model.get_params(deep=False).get("n_components"), (int, np.integer))


def _n_components(model: BaseEstimator) -> int | None:
    return int(model.get_params(deep=False)["n_components"]) if _has_coordinates(model) else None


# --- rules --------------------------------------------------------------------------------------------------


def _columns(measures: Measures) -> Iterator[Advice]:
    dominance, reference = measures.dominance, measures.reference_dominance
    if reference is not None:
        action = "Standardise the columns (StandardScaler; --standardize on the command line)"
        reason = f"distances in the data, with which the map is compared, show {reference.named_extent}"
        yield Advice("columns", reason, action=action, strength=2)
    if dominance is None:
        return
    action = (
        "Standardise the columns (StandardScaler; --standardize on the command line), unless their units are"
        " comparable; if they are counts, take logarithms"
    )
    reason = f"the map shows {dominance.named_extent}"
    yield Advice("columns", reason, action=action, strength=2)


def _few_points(model: BaseEstimator, measures: Measures, graph: GraphDetails | str) -> Iterator[Advice]:
    """Suggest remedies for coordinates that a handful of points determine."""
    if not measures.localized:
        return
    which = carried_coordinates(measures.localized)
    action = "Look at the points named above, and fit without them if they are errors or outliers"
    share = format_percent(min(found.share for found in measures.localized))
    reason = f"a few points have at least {share} of the variance of {which}"
    yield Advice("points", reason, action=action, strength=2)
    yield from _smoother(model, "a few points are hardly connected with the others", 2)
    if _components(graph) > 1 and _piecewise(model, "largest"):
        action = "Set on_disconnected='largest'"
        yield Advice(
            "on_disconnected", "it embeds the largest component and places the others", action=action
        )
    if measures.dominance is None and measures.uneven_rows:
        action = "Normalise the rows (counts: divide by the total of the row, then take logarithms)"
        yield Advice("rows", "the totals of the rows differ by large factors", action=action)


def _disconnected(model: BaseEstimator, measures: Measures, graph: GraphDetails | str) -> Iterator[Advice]:
    count = _components(graph)
    if count < 2:
        return
    yield from _smoother(model, f"the graph has {format_count(count)} connected components", 2)
    if _piecewise(model, "per_component") and not measures.localized:
        action = "If the components are separate groups, set on_disconnected='per_component'"
        yield Advice("on_disconnected", "it embeds each component by itself", action=action)


def _components(graph: GraphDetails | str) -> int:
    return len(graph.sizes) if isinstance(graph, GraphDetails) else 1


def _piecewise(model: BaseEstimator, value: str) -> bool:
    """Return whether ``on_disconnected=value`` would be a change."""
    current = model.get_params(deep=False).get("on_disconnected", value)
    if not isinstance(model, Estimator) or current == value:
        return False
    return value in declared_parameters(type(model))["on_disconnected"].choices


def _neighborhoods(model: BaseEstimator, measures: Measures) -> Iterator[Advice]:
    """Suggest changes if the neighbourhoods are not good."""
    kept, trust, continuity = measures.kept, measures.trust, measures.continuity
    if kept is None or trust is None or continuity is None or neighborhood_grade(measures) in (None, "good"):
        return
    method = described(model)
    if method is not None and method.linear:
        reason = "a linear method may not be able to unfold these data"
        yield Advice("method", reason, action="Compare with Isomap or LaplacianEigenmaps")
    if trust.high < continuity.low and continuity.value - trust.value > TUNING.least_difference:
        reason = "distant parts of the data overlap on the map (trustworthiness is below continuity)"
        if _has_coordinates(model):
            yield Advice("n_components", reason, "increase")
        if _uses_neighbors(model):
            reason = "short cuts in the graph may be the cause of overlaps on the map"
            yield Advice("n_neighbors", reason, "decrease")
    elif continuity.high < trust.low and trust.value - continuity.value > TUNING.least_difference:
        yield from _smoother(model, "the map separates neighbours (continuity is below trustworthiness)")
    if kept_grade(kept) == "poor" and _has_coordinates(model):
        reason = f"{_n_components(model)} coordinates keep {format_percent(float(kept))} of the neighbours"
        yield Advice("n_components", reason, "increase")


def _coordinates(model: BaseEstimator, n_coordinates: int, measures: Measures) -> Iterator[Advice]:
    """Suggest a number of coordinates from the residual variance or the eigengap."""
    if not _has_coordinates(model):
        return
    residual, spectrum = measures.residual, measures.spectrum
    comparable = measures.reference_dominance is None
    if residual is not None and comparable and len(residual.counts) > n_coordinates:
        current, best = residual.values[n_coordinates - 1], residual.values[n_coordinates:].min()
        enough = int(residual.counts[np.argmax(residual.values <= best + 0.1 * (residual.values[0] - best))])
        if current - best > 0.05 and enough > n_coordinates:
            reason = (
                f"with {enough} the unexplained variance of the distances would be"
                f" {format_percent(residual.at(enough))} instead of {format_percent(float(current))}"
            )
            yield Advice("n_components", reason, "increase", enough)
            return
    gap = None if spectrum is None else spectrum.clear_gap_after
    if gap is not None and gap > n_coordinates:
        yield Advice("n_components", f"the largest eigengap is after coordinate {gap}", "increase", gap)


def _stability(model: BaseEstimator, measures: Measures) -> Iterator[Advice]:
    if stability_grade(measures) == "poor":
        reason = "the map depends strongly on the sample of training points"
        yield Advice("samples", reason, action="Fit to more points")
        yield from _smoother(model, reason)


def _loss(model: BaseEstimator, measures: Measures) -> Iterator[Advice]:
    if measures.loss is None or (measures.loss.ratio or 0) <= 2:
        return
    reason = "the held-out loss is large"
    yield Advice("samples", reason, action="Fit to more points")
    if (_n_components(model) or 1) > 1:
        yield Advice("n_components", reason, "decrease")
    yield from _smoother(model, reason)


def _distances(measures: Measures) -> Iterator[Advice]:
    negative = None if measures.spectrum is None else measures.spectrum.negative
    if negative is not None and negative > 0.1:
        reason = f"{format_percent(negative)} of the spectrum is negative, so the distances are not Euclidean"
        yield Advice("method", reason, action="Consider an ordinal method (OrdinalMDS)")


def _search(model: BaseEstimator) -> Iterator[Advice]:
    recall = vars(model).get("neighbor_recall_")
    if recall is not None and recall < 0.95:
        reason = f"the neighbour search missed {format_percent(1 - recall)} of the nearest neighbours"
        name = "graph" if "graph" in model.get_params(deep=False) else "affinity"
        action = f"Search exactly ({name}=KNNGraph(..., search='exact'); --search exact on the command line)"
        yield Advice("search", reason, action=action)
