"""Summary of a report in sentences. Every sentence follows from a measure by a fixed rule."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._advice import advise
from eigenscape.app.report._details import GraphDetails
from eigenscape.app.report._formatting import format_count, format_number, format_percent, format_score
from eigenscape.app.report._grades import neighborhood_grade, reliable_size, stability_grade
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points
from eigenscape.app.report._tuning import TUNING
from eigenscape.app.report.few_points import carried_coordinates, few_points_sentences
from eigenscape.app.report.scales import Dominance, is_almost_column
from eigenscape.quality import Estimate, NeighborsKept
from eigenscape.quality.neighbor_preservation import mean_excess_rank


@dataclass(eq=False)
class Summary:
    """Sentences under three headings."""

    description: list[str] = field(default_factory=list)
    quality: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)


def summarize(
    model: BaseEstimator,
    points: Points,
    n_coordinates: int,
    measures: Measures,
    graph: GraphDetails | str,
    n_new: int,
    how: str,
) -> Summary:
    """Return the summary of a report."""
    quality = [*fault_sentences(measures, points), *_quality(measures, n_coordinates, graph)]
    stress = vars(model).get("stress_")
    if stress is not None:
        worst = format_number(float(np.max(stress)))
        quality.append(f"Kruskal's stress is {worst}; below 0.05 is considered good, above 0.2 poor.")
    return Summary(
        _description(model, points.n, n_coordinates, n_new, how),
        quality or ["No measure could be computed; see “Not computed” for the reasons."],
        advise(model, n_coordinates, measures, graph)
        or ["The measures suggest no change. Colour the map by your columns, or transform new points."],
    )


def _description(model: BaseEstimator, n: int, n_coordinates: int, n_new: int, how: str) -> list[str]:
    name = type(model).__name__
    plural = "coordinate" if n_coordinates == 1 else "coordinates"
    sentences = [f"A map of {format_count(n)} points in {n_coordinates} {plural} by {name}, {how}."]
    if getattr(model, "_meaning", ""):
        sentences.append(model._meaning)
    if n_new:
        sentences.append(
            f"{format_count(n_new)} new points, to which the model was not fitted, are drawn as diamonds."
        )
    return sentences


# --- quality ------------------------------------------------------------------------------------------------


def _quality(measures: Measures, n_coordinates: int, graph: GraphDetails | str) -> list[str]:
    """Return sentences on neighbourhoods, stability, loss, residual variance and label purity."""
    sentences = []
    sentences += _neighborhoods(measures)
    if measures.movement is not None and np.isfinite(measures.movement.median):
        sentences.append(_stability(measures, measures.movement.median))
    if measures.loss is not None and measures.loss.ratio is not None:
        sentences.append(_loss(measures.loss.ratio))
    if measures.residual is not None and measures.reference_dominance is None:
        share = measures.residual.at(n_coordinates)
        sentences.append(
            f"Distances on the map do not explain {format_percent(share)} of the variance of the distances in"
            " the data."
        )
    if measures.purity is not None:
        value, chance = format_percent(measures.purity.value), format_percent(measures.purity.chance)
        sentences.append(
            f"On average {value} of a point's neighbours on the map have its label ({chance} by chance)."
        )
    if isinstance(graph, GraphDetails) and len(graph.sizes) > 1:
        sentences.append(
            f"The neighbourhood graph has {format_count(len(graph.sizes))} connected components; their"
            " relative positions on the map are less reliable than the positions within a component."
        )
    return sentences


def _neighborhoods(measures: Measures) -> list[str]:
    """Return sentences on the neighbours kept, the distance of the others, and the scale of the map."""
    if measures.reference_dominance is not None:
        return [_reference_dominance(measures.reference_dominance)]
    kept, trust, continuity = measures.kept, measures.trust, measures.continuity
    grade = neighborhood_grade(measures)
    if kept is None or trust is None or continuity is None or grade is None:
        reason = measures.omitted.get("neighbours")
        return [] if reason is None else [f"Neighbourhoods were not compared: {reason}."]
    degree = {"good": "well", "fair": "partly", "poor": "poorly"}[grade]
    subject = "Neighbourhoods" if measures.dominance is None else "Neighbourhoods by these distances"
    sentences = [
        f"{subject} are {degree} preserved: {kept_text(kept)}; trustworthiness"
        f" {format_score(trust.value)}, continuity {format_score(continuity.value)} (1 is perfect)."
    ]
    if grade != "good":
        sentences += [*_ranks(kept, trust, continuity), *_scale(measures, kept)]
    return sentences


def kept_text(kept: NeighborsKept) -> str:
    """Return the share of neighbours kept, and that expected by chance."""
    return (
        f"of the {kept.n_neighbors} nearest neighbours in the data, {format_percent(kept.share.value)} are"
        f" among the {kept.n_neighbors} nearest on the map (by chance {format_percent(kept.chance)})"
    )


def _ranks(kept: NeighborsKept, trust: Estimate, continuity: Estimate) -> list[str]:
    """Translate the lower of trustworthiness and continuity to a mean rank, if the false ones are far."""
    k, n = kept.n_neighbors, kept.n_points
    rank = k + mean_excess_rank(min(trust.value, continuity.value), n, k)
    if rank < 3 * k:
        return []
    near, far = (
        ("on the map", "in the data") if trust.value <= continuity.value else ("in the data", "on the map")
    )
    return [
        f"On average, one of the {k} nearest neighbours {near} is about the {format_count(_rounded(rank))}th"
        f" nearest point {far}, of {format_count(n)}."
    ]


def _rounded(rank: float) -> int:
    """Return a rank rounded to two significant digits, and to a multiple of 10."""
    unit = 10 ** max(1, int(np.log10(rank)) - 1)
    return round(rank / unit) * unit


def _scale(measures: Measures, kept: NeighborsKept) -> list[str]:
    """Return the size of the neighbourhoods at which the map can be read."""
    size, share, half = reliable_size(measures)
    if size <= kept.n_neighbors:
        return []
    if half:
        return [
            f"Half of the neighbours are kept in neighbourhoods of about {format_count(size)} points"
            f" ({format_percent(size / measures.n_compared)} of all): interpret groups of this size, not"
            " single neighbours."
        ]
    chance = format_percent(size / (measures.n_compared - 1))
    return [
        f"Of the {format_count(size)} nearest neighbours {format_percent(share)} are kept (by chance"
        f" {chance}): do not interpret which single points are close on the map."
    ]


def _stability(measures: Measures, share: float) -> str:
    grade = stability_grade(measures)
    if grade is None:
        return (
            "Stability is not judged: with other training points, half of the points move by less than"
            f" {format_percent(share)} of the spread of the map, but a few points carry"
            f" {carried_coordinates(measures.localized)}."
        )
    degree = {"good": "stable", "fair": "moderately stable", "poor": "unstable"}[grade]
    than = "more" if grade == "poor" else "less"
    return (
        f"The map is {degree}: with other training points, half of the points move by {than} than"
        f" {format_percent(share)} of the spread of the map."
    )


def fault_sentences(measures: Measures, points: Points) -> list[str]:
    """Return sentences on columns that dominate the map, and on coordinates that few points carry."""
    sentences = [] if measures.dominance is None else [_dominance(measures.dominance)]
    sentences += few_points_sentences(measures.localized, points.n, points.ids, points.labels)
    if measures.localized:
        sentences.append("Such a coordinate mainly describes these points: errors, outliers or a rare group.")
    return sentences


def _dominance(dominance: Dominance) -> str:
    text = f"{dominance.subject}: distances between rows, and so the map, show {dominance.extent}"
    if is_almost_column(dominance):
        assert dominance.correlation is not None
        text += f"; coordinate 1 is almost {dominance.first} (correlation {dominance.correlation:.3f})"
    return f"{text}."


def _reference_dominance(dominance: Dominance) -> str:
    return (
        f"{dominance.subject}: distances in the data show {dominance.extent}, but the map is not computed"
        " from them. Its neighbourhoods and distances are not judged by them; standardise the columns"
        " (--standardize) to compare them."
    )


def _loss(ratio: float) -> str:
    """Return a sentence on the held-out loss. A small one is not praised, since poor maps may have it."""
    subject, times = "The held-out loss, a mean over pairs of new points,", format_number(ratio)
    if ratio <= 1:
        return f"{subject} does not exceed the training loss ({times} times)."
    if ratio <= TUNING.large_loss:
        return f"{subject} is {times} times the training loss."
    degree = "somewhat" if ratio <= 2 else "much"
    return (
        f"{subject} is {times} times the training loss: the kernel is approximated {degree} worse for new"
        " points than for training points."
    )
