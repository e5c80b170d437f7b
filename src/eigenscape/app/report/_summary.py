"""Summary of a report in sentences. Every sentence follows from a measure by a fixed rule."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._details import GraphDetails
from eigenscape.app.report._formatting import format_count, format_number, format_percent, format_score
from eigenscape.app.report._measures import Measures
from eigenscape.quality import Estimate

#: What each method computes.
_DESCRIPTIONS = {
    "PCA": "It projects the rows on the directions of largest variance.",
    "KernelPCA": "It projects the points on the directions of largest variance in the kernel space.",
    "ClassicalMDS": "Distances on the map approximate the distances of the data.",
    "LandmarkMDS": "Points are placed by their distances to a set of landmarks.",
    "FastMap": "Points are placed by their distances to pairs of distant points.",
    "MetricMap": "Points are placed by their distances to a set of reference points.",
    "OrdinalMDS": "The order of the distances is preserved, but not their size.",
    "Isomap": "Distances on the map approximate geodesic distances along the neighbourhood graph.",
    "LocallyLinearEmbedding": "The weights that reconstruct each point from its neighbours are preserved;"
    " large distances have no scale.",
    "LaplacianEigenmaps": "Neighbours are kept close; large distances are not meaningful.",
    "DiffusionMap": "Distances on the map approximate diffusion distances: points are close if a random walk"
    " connects them easily.",
    "SpectralClustering": "The coordinates are those in which the clusters were found; clusters are more"
    " meaningful than distances.",
    "GreedySpectralEmbedding": "The kernel's eigenfunctions are estimated with a small dictionary of points.",
    "KernelEigenmap": "The coordinates are smooth functions of the rows that keep neighbours close.",
    "LocalityPreservingProjection": "The coordinates are linear functions of the rows that keep neighbours"
    " close.",
    "ProbabilisticPCA": "The coordinates are the posterior means of a Gaussian latent variable model.",
    "FactorAnalysis": "The coordinates are the posterior means of a Gaussian latent variable model with a"
    " noise variance for each feature.",
    "MixturePPCA": "The coordinates are posterior means of a mixture of probabilistic PCA models.",
    "OrientedPCA": "The coordinates are the projections with the largest signal-to-noise ratio.",
    "ProjectionPursuit": "The coordinates are the projections with the least Gaussian distributions.",
}

#: Methods whose coordinates are linear functions of the rows.
_LINEAR = (
    "PCA",
    "ProbabilisticPCA",
    "FactorAnalysis",
    "OrientedPCA",
    "ProjectionPursuit",
    "LocalityPreservingProjection",
)


def score_grade(estimate: Estimate) -> str:
    """Return "good", "fair" or "poor" for trustworthiness or continuity."""
    return "good" if estimate.value >= 0.95 else "fair" if estimate.value >= 0.85 else "poor"


def movement_grade(share: float) -> str:
    """Return "good", "fair" or "poor" for the median movement."""
    return "good" if share <= 0.05 else "fair" if share <= 0.2 else "poor"


@dataclass(eq=False)
class Summary:
    """Sentences under three headings."""

    description: list[str] = field(default_factory=list)
    quality: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)


def summarize(
    model: BaseEstimator,
    n: int,
    n_coordinates: int,
    measures: Measures,
    graph: GraphDetails | str,
    n_new: int,
    how: str,
) -> Summary:
    """Return the summary of a report."""
    quality = _quality(measures, n_coordinates, graph)
    stress = vars(model).get("stress_")
    if stress is not None:
        worst = format_number(float(np.max(stress)))
        quality.append(f"Kruskal's stress is {worst}; below 0.05 is considered good, above 0.2 poor.")
    return Summary(
        _description(model, n, n_coordinates, n_new, how),
        quality or ["No measure could be computed; see “Not computed” for the reasons."],
        _suggestions(model, n_coordinates, measures, graph)
        or ["The measures suggest no change. Colour the map by your columns, or transform new points."],
    )


def _description(model: BaseEstimator, n: int, n_coordinates: int, n_new: int, how: str) -> list[str]:
    name = type(model).__name__
    plural = "coordinate" if n_coordinates == 1 else "coordinates"
    sentences = [f"A map of {format_count(n)} points in {n_coordinates} {plural} by {name}, {how}."]
    if name in _DESCRIPTIONS:
        sentences.append(_DESCRIPTIONS[name])
    if n_new:
        sentences.append(
            f"{format_count(n_new)} new points, to which the model was not fitted, are drawn as diamonds."
        )
    return sentences


# --- quality ------------------------------------------------------------------------------------------------


def _quality(measures: Measures, n_coordinates: int, graph: GraphDetails | str) -> list[str]:
    """Return sentences on neighbourhoods, stability, loss, residual variance and label purity."""
    sentences = []
    if measures.trust is not None and measures.continuity is not None:
        sentences.append(_neighborhoods(measures.trust, measures.continuity))
    elif "neighbours" in measures.omitted:
        sentences.append(f"Neighbourhoods were not compared: {measures.omitted['neighbours']}.")
    if measures.movement is not None and np.isfinite(measures.movement.median):
        share = measures.movement.median
        grade = {"good": "stable", "fair": "moderately stable", "poor": "unstable"}[movement_grade(share)]
        sentences.append(
            f"The map is {grade}: with other training points, half of the points move by less than"
            f" {format_percent(share)} of the spread of the map."
        )
    if measures.loss is not None and measures.loss.ratio is not None:
        sentences.append(_generalization(measures.loss.ratio))
    if measures.residual is not None:
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


def _neighborhoods(trust: Estimate, continuity: Estimate) -> str:
    grade = score_grade(min(trust, continuity, key=lambda estimate: estimate.value))
    kept = {"good": "well", "fair": "mostly", "poor": "poorly"}[grade]
    return (
        f"Neighbourhoods are {kept} preserved: trustworthiness {format_score(trust.value)} (neighbours on the"
        f" map are neighbours in the data), continuity {format_score(continuity.value)} (neighbours in the"
        " data are neighbours on the map); 1 is perfect."
    )


def _generalization(ratio: float) -> str:
    if ratio <= 1.2:
        return (
            "New points are placed as well as training points: the held-out loss exceeds the training loss by"
            " at most 20 %."
        )
    degree = "somewhat" if ratio <= 2 else "much"
    return (
        f"New points are placed {degree} worse than training points: the held-out loss is"
        f" {format_number(ratio)} times the training loss."
    )


# --- suggestions --------------------------------------------------------------------------------------------


def _suggestions(
    model: BaseEstimator, n_coordinates: int, measures: Measures, graph: GraphDetails | str
) -> list[str]:
    """Return suggestions on parameters, from the measures."""
    parameters = model.get_params()
    sentences = []
    if isinstance(graph, GraphDetails) and len(graph.sizes) > 1 and "n_neighbors" in parameters:
        sentences.append(
            "Increase n_neighbors until the graph is connected, or embed the components separately"
            " (on_disconnected='per_component')."
        )
    sentences += _neighbor_suggestions(model, measures)
    sentences += _coordinate_suggestions(n_coordinates, measures)
    if measures.movement is not None and movement_grade(measures.movement.median) == "poor":
        parameter = "n_neighbors" if "n_neighbors" in parameters else "the kernel bandwidth"
        remedy = f"use more points or increase {parameter}"
        if not {"n_neighbors", "gamma"} & set(parameters):
            remedy = "use more points or a smoother model"
        sentences.append(f"The map depends strongly on the sample of training points: {remedy}.")
    if measures.loss is not None and (measures.loss.ratio or 0) > 2:
        sentences.append(
            "The large held-out loss suggests more training points, fewer coordinates or a smoother kernel."
        )
    negative = None if measures.spectrum is None else measures.spectrum.negative
    if negative is not None and negative > 0.1:
        sentences.append(
            f"{format_percent(negative)} of the spectrum is negative: the distances are not Euclidean."
            " Consider an ordinal method (OrdinalMDS)."
        )
    recall = vars(model).get("neighbor_recall_")
    if recall is not None and recall < 0.95:
        sentences.append(
            f"The neighbour search missed {format_percent(1 - recall)} of the nearest neighbours; set"
            " neighbors='exact' to find all."
        )
    return sentences


def _neighbor_suggestions(model: BaseEstimator, measures: Measures) -> list[str]:
    """Return suggestions if trustworthiness or continuity is not good."""
    trust, continuity = measures.trust, measures.continuity
    if trust is None or continuity is None:
        return []
    if score_grade(min(trust, continuity, key=lambda estimate: estimate.value)) == "good":
        return []
    parameters = model.get_params()
    sentences = []
    if type(model).__name__ in _LINEAR:
        sentences.append(
            "A linear method may not be able to unfold these data; compare it with Isomap or"
            " LaplacianEigenmaps."
        )
    if trust.high < continuity.low and "n_components" in parameters:
        remedy = "increase n_components"
        if "n_neighbors" in parameters:
            remedy += ", or decrease n_neighbors to avoid short cuts in the graph"
        sentences.append(
            f"Distant parts of the data overlap on the map (trustworthiness is below continuity): {remedy}."
        )
    elif continuity.high < trust.low:
        remedy = "increase n_neighbors" if "n_neighbors" in parameters else "use a smoother model"
        sentences.append(f"The map separates neighbours (continuity is below trustworthiness): {remedy}.")
    return sentences


def _coordinate_suggestions(n_coordinates: int, measures: Measures) -> list[str]:
    residual, spectrum = measures.residual, measures.spectrum
    if residual is not None and len(residual.counts) > n_coordinates:
        current, best = residual.values[n_coordinates - 1], residual.values[n_coordinates:].min()
        enough = residual.counts[np.argmax(residual.values <= best + 0.1 * (residual.values[0] - best))]
        if current - best > 0.05 and enough > n_coordinates:
            return [
                f"With {enough} coordinates the unexplained variance of the distances would be"
                f" {format_percent(residual.at(enough))} instead of {format_percent(float(current))}: try"
                f" n_components={enough}."
            ]
    gap = None if spectrum is None else spectrum.gap_after
    if spectrum is not None and gap is not None and n_coordinates < gap < len(spectrum.values):
        return [f"The largest eigengap is after coordinate {gap}: try n_components={gap}."]
    return []
