"""What the numbers say, in plain words. Every sentence is derived from a measure; where there is none,
nothing is claimed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenscape.app.report._facts import GraphFacts, counted, kept_number, number
from eigenscape.app.report._measures import Measures
from eigenscape.quality import Estimate

#: What a map of each kind shows.
_SHOWS = {
    "PCA": "the directions in which the rows vary most; distances on it are shadows of the true ones",
    "KernelPCA": "the directions of largest variance after the kernel has bent the data's space",
    "ClassicalMDS": "points placed so that straight distances on the map come close to the distances of the data",
    "LandmarkMDS": "points placed by their distances to a few landmarks",
    "FastMap": "points placed by their distances to pairs of far points",
    "MetricMap": "points placed by their distances to a few points of reference",
    "OrdinalMDS": "points placed so that distances on the map have the order of those in the data; their sizes mean nothing",
    "Isomap": "points placed so that distances on the map come close to distances walked along the data, from neighbour to neighbour",
    "LocallyLinearEmbedding": "each point rebuilt from its neighbours as in the data; far distances on it have no scale",
    "LaplacianEigenmaps": "neighbours kept as close as possible; near means near, far distances mean little",
    "DiffusionMap": "points near each other if a random walk through the data leads easily from one to the other",
    "SpectralClustering": "the coordinates in which the clusters were found; groups mean more than distances",
    "GreedySpectralEmbedding": "kernel eigenfunctions estimated with a small dictionary of points that stands for all",
    "KernelEigenmap": "a smooth function of the rows that keeps neighbours close",
    "LocalityPreservingProjection": "the linear view of the rows that keeps neighbours closest",
    "ProbabilisticPCA": "the most probable place of each row in a plane with noise around it",
    "MixturePPCA": "places of the rows in several planes at once",
    "OrientedPCA": "the directions in which the signal stands out most from the noise",
    "ProjectionPursuit": "the directions in which the data look least like noise",
}

#: Methods whose map is a linear function of the rows.
LINEAR = ("PCA", "ProbabilisticPCA", "OrientedPCA", "ProjectionPursuit", "LocalityPreservingProjection")

GRADES = ("good", "fair", "poor")


def grade(value: float, good: float, fair: float) -> str:
    """How a number stands against two thresholds, the better of which comes first."""
    if good > fair:
        return "good" if value >= good else "fair" if value >= fair else "poor"
    return "good" if value <= good else "fair" if value <= fair else "poor"


def kept_grade(estimate: Estimate) -> str:
    """Trustworthiness or continuity, in one word."""
    return grade(estimate.value, 0.95, 0.85)


def movement_grade(share: float) -> str:
    """How far points move, in one word."""
    return grade(share, 0.05, 0.2)


@dataclass(eq=False)
class Summary:
    """Sentences under three headings."""

    what: list[str] = field(default_factory=list)
    trust: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)


def summarize(
    model: Any,
    n: int,
    n_coordinates: int,
    measures: Measures,
    graph: GraphFacts | str,
    n_new: int,
    where: str,
) -> Summary:
    """The summary at the top of a report."""
    made = Summary()
    _what(made, model, n, n_coordinates, n_new, where)
    _trust(made, measures, graph)
    stress = vars(model).get("stress_")
    if stress is not None:
        worst = float(np.max(stress))
        made.trust.append(
            f"Kruskal's stress is {number(worst)}; by custom below 0.05 is good and above 0.2 poor."
        )
    _advice(made, model, n_coordinates, measures, graph)
    return made


def _what(made: Summary, model: Any, n: int, n_coordinates: int, n_new: int, where: str) -> None:
    name = type(model).__name__
    plural = "coordinate" if n_coordinates == 1 else "coordinates"
    made.what.append(f"A map of {counted(n)} points in {n_coordinates} {plural}, made by {name} {where}.")
    if name in _SHOWS:
        made.what.append(f"It shows {_SHOWS[name]}.")
    if n_new:
        made.what.append(
            f"{counted(n_new)} further points, which the map was not learnt from, are placed on it as diamonds."
        )


# --- how far it can be trusted ------------------------------------------------------------------------------


def percent(value: float) -> str:
    """A share in per cent."""
    if value < 0.1:
        return f"{100 * value:.2g} %"
    return f"{100 * value:.1f} %" if value > 0.995 else f"{100 * value:.0f} %"


def _trust(made: Summary, measures: Measures, graph: GraphFacts | str) -> None:
    say = made.trust.append
    if measures.trust is not None and measures.continuity is not None:
        say(_neighbors_kept(measures.trust, measures.continuity))
    elif "neighbours" in measures.left_out:
        say(f"How well neighbours are kept was not measured: {measures.left_out['neighbours']}.")
    if measures.movement is not None and np.isfinite(measures.movement.median):
        share = measures.movement.median
        words = {
            "good": "The map is stable",
            "fair": "The map is fairly stable",
            "poor": "The map is not stable",
        }[movement_grade(share)]
        say(
            f"{words}: with other training points, half of the points would move by less than {percent(share)} of the map's spread."
        )
    if measures.loss is not None and measures.loss.ratio is not None:
        say(_generalises(measures.loss.ratio))
    if measures.residual is not None:
        say(
            f"Distances on the map leave {percent(_own_residual(measures))} of the variance of the data's distances unexplained."
        )
    if measures.purity is not None:
        own, chance = percent(measures.purity.value), percent(measures.purity.chance)
        say(f"Of a point's neighbours on the map {own} share its label; by chance it would be {chance}.")
    if isinstance(graph, GraphFacts) and len(graph.sizes) > 1:
        say(
            f"The neighbourhood graph falls into {counted(len(graph.sizes))} pieces: how they lie to one another on the map is less certain"
            " than what is inside them."
        )
    if not made.trust:
        say("Nothing could be measured of this map; see the end of the page for the reasons.")


def _neighbors_kept(trust: Estimate, continuity: Estimate) -> str:
    worse = min(trust, continuity, key=lambda estimate: estimate.value)
    begin = {
        "good": "Neighbourhoods can be trusted",
        "fair": "Neighbourhoods are mostly right",
        "poor": "Neighbourhoods are often wrong",
    }
    return (
        f"{begin[kept_grade(worse)]}: trustworthiness {kept_number(trust.value)} (are neighbours on the map neighbours in the data?) and"
        f" continuity {kept_number(continuity.value)} (are neighbours in the data neighbours on the map?), where 1 is perfect."
    )


def _generalises(ratio: float) -> str:
    if ratio <= 1.2:
        return "New points are placed as well as training points: the held-out loss is no more than a fifth above the training loss."
    words = "somewhat" if ratio <= 2 else "clearly"
    return f"New points are placed {words} worse than training points: the held-out loss is {number(ratio)} times the training loss."


def _own_residual(measures: Measures) -> float:
    assert measures.residual is not None
    counts = measures.residual.counts
    kept = measures.spectrum.kept if measures.spectrum is not None else int(counts[-1])
    place = np.flatnonzero(counts == kept)
    return float(measures.residual.values[place[0] if len(place) else -1])


# --- what to try next ---------------------------------------------------------------------------------------


def _advice(
    made: Summary, model: Any, n_coordinates: int, measures: Measures, graph: GraphFacts | str
) -> None:
    say = made.advice.append
    parameters = model.get_params()
    if isinstance(graph, GraphFacts) and len(graph.sizes) > 1 and "n_neighbors" in parameters:
        say(
            "Raise n_neighbors until the graph is in one piece, or look at the pieces apart (on_disconnected='per_component')."
        )
    _advise_neighbors(made, model, measures)
    _advise_coordinates(made, n_coordinates, measures)
    if measures.movement is not None and movement_grade(measures.movement.median) == "poor":
        knob = (
            "n_neighbors"
            if "n_neighbors" in parameters
            else "the width of the kernel"
            if "gamma" in parameters
            else "the parameters"
        )
        say(f"The map depends on which points it saw: use more points, or a larger value of {knob}.")
    if measures.loss is not None and measures.loss.ratio is not None and measures.loss.ratio > 2:
        say("The held-out loss asks for more training points, fewer coordinates or a smoother kernel.")
    if (
        measures.spectrum is not None
        and measures.spectrum.negative is not None
        and measures.spectrum.negative > 0.1
    ):
        say(
            f"{percent(measures.spectrum.negative)} of the spectrum is negative: the distances are not those of points in any flat space."
            " An ordinal map (OrdinalMDS) asks less of them."
        )
    recall = vars(model).get("neighbor_recall_")
    if recall is not None and recall < 0.95:
        say(f"The search missed {percent(1 - recall)} of the true neighbours; neighbors='exact' finds all.")
    if not made.advice:
        say(
            "Nothing in these numbers asks for another map. Colour it by your columns, and place new rows with transform."
        )


def _advise_neighbors(made: Summary, model: Any, measures: Measures) -> None:
    if measures.trust is None or measures.continuity is None:
        return
    trust, continuity = measures.trust, measures.continuity
    poor = kept_grade(min(trust, continuity, key=lambda estimate: estimate.value)) != "good"
    if poor and type(model).__name__ in LINEAR:
        made.advice.append(
            "A linear map may not be able to unfold these data: compare with Isomap or LaplacianEigenmaps."
        )
    if trust.high < continuity.low and poor and "n_components" in model.get_params():
        edge = (
            " or lower n_neighbors, for one edge across a fold is a short cut for all"
            if "n_neighbors" in model.get_params()
            else ""
        )
        made.advice.append(
            f"Far parts of the data lie over each other on the map (trustworthiness is the lower number): add a coordinate{edge}."
        )
    elif continuity.high < trust.low and poor:
        wish = "raise n_neighbors" if "n_neighbors" in model.get_params() else "try a smoother map"
        made.advice.append(f"The map tears neighbours apart (continuity is the lower number): {wish}.")


def _advise_coordinates(made: Summary, n_coordinates: int, measures: Measures) -> None:
    residual = measures.residual
    if residual is not None and len(residual.counts) > n_coordinates:
        own, best = residual.values[n_coordinates - 1], residual.values[n_coordinates:].min()
        enough = residual.counts[np.argmax(residual.values <= best + 0.1 * (residual.values[0] - best))]
        if own - best > 0.05 and enough > n_coordinates:
            made.advice.append(
                f"{enough} coordinates would leave {percent(float(residual.values[enough - 1]))} of the distances' variance unexplained"
                f" instead of {percent(float(own))}: try n_components={enough}."
            )
            return
    gap = None if measures.spectrum is None else measures.spectrum.gap_after
    if (
        gap is not None
        and gap > n_coordinates
        and measures.spectrum is not None
        and len(measures.spectrum.values) > gap
    ):
        made.advice.append(f"The eigenvalues fall farthest after coordinate {gap}: try n_components={gap}.")
