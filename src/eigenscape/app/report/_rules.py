"""The table of rules (``rules.toml``), and the values that its rows name.

No single number decides. Neighbourhoods are good only if most nearest neighbours are kept, beyond what chance
keeps among this many points, and if the others are not far away (trustworthiness and continuity): of many
points, trustworthiness is high although nearly all neighbours are lost; of a folded map, half of the
neighbours are kept although the others are on the far side. Stability is not graded if a handful of points
make up the map.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape._parameters import declared_parameters
from eigenscape.app.report._details import GraphDetails
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points
from eigenscape.app.report._tuning import TUNING
from eigenscape.app.report.few_points import carried_coordinates, few_points_sentences
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._method import described
from eigenscape.kernels import VariableGaussian
from eigenscape.options import flattened
from eigenscape.quality import LocalizedCoordinate
from eigenscape.quality.neighbor_preservation import mean_excess_rank

Direction = Literal["increase", "decrease"]


@dataclass(frozen=True)
class Remedy:
    """A change of a parameter, or of a topic such as "columns"."""

    parameter: str
    reason: str
    direction: Direction | None = None
    to: str = ""
    action: str = ""
    strength: int = 1
    when: str = ""


@dataclass(frozen=True)
class Rule:
    """A row of the table."""

    value: str
    at_least: tuple[float, ...] = ()
    at_most: tuple[float, ...] = ()
    sentences: tuple[str, ...] = ()
    degrees: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    always: bool = False

    def degree(self, case: Case) -> int | None:
        """Return how many limits the value violates; None if there is no value."""
        value = case.find(self.value)
        if value is None:
            return None
        return sum(value < limit for limit in self.at_least) + sum(value > limit for limit in self.at_most)


def _read_rules() -> tuple[dict[str, Rule], dict[str, Any]]:
    table = tomllib.loads(files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
    conclusion = table.pop("conclusion")
    for row in table.values():
        row["remedies"] = tuple(Remedy(**remedy) for remedy in row.get("remedies", ()))
    return {name: Rule(**row) for name, row in table.items()}, conclusion


#: The rules of a map, and the limits and sentences of a comparison.
RULES, CONCLUSION = _read_rules()


@dataclass(frozen=True, eq=False)
class Case:
    """What is judged, and the values that the rules name. A value is None if there is nothing to judge."""

    m: Measures
    model: BaseEstimator | None = None
    n_coordinates: int = 2
    graph: GraphDetails | str = ""
    points: Points | None = None

    def find(self, path: str) -> Any:
        """Return a value by its name; None if an object on its path is None."""
        value: Any = self
        for name in path.split("."):
            value = None if value is None else getattr(value, name)
        return value

    # --- the model and its graph ---

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return {} if self.model is None else self.model.get_params(deep=False)

    @property
    def fitted(self) -> dict[str, Any]:
        return {} if self.model is None else vars(self.model)

    @property
    def n_components(self) -> int | None:
        value = self.parameters.get("n_components")
        return int(value) if isinstance(value, (int, np.integer)) else None

    @property
    def several_components(self) -> bool:
        return (self.n_components or 1) > 1

    @cached_property
    def smoothing(self) -> tuple[str, Direction] | None:
        """The parameter in use that smooths the map, and the direction that does; None if there is none.

        Fitted attributes tell which parameters were used: an "rbf" affinity ignores ``n_neighbors``, and a
        neighbourhood graph ignores ``gamma``. Fields of option objects are parameters, too.
        """
        parameters = flattened(self.parameters)
        variable = isinstance(parameters.get("affinity"), VariableGaussian)
        if "n_neighbors" in parameters and ("n_neighbors_" in self.fitted or variable):
            return "n_neighbors", "increase"
        if "degrees_" in self.fitted and parameters.get("radius") is not None:
            return "radius", "increase"
        return ("gamma", "decrease") if "gamma" in parameters and "gamma_" in self.fitted else None

    @property
    def uses_neighbors(self) -> bool:
        return self.smoothing == ("n_neighbors", "increase")

    @property
    def components(self) -> int | None:
        """Number of connected components of a graph that is not connected."""
        found = len(self.graph.sizes) if isinstance(self.graph, GraphDetails) else 1
        return found if found > 1 else None

    @property
    def may_embed_largest(self) -> bool:
        return self.components is not None and self._may_set("largest")

    @property
    def may_embed_each(self) -> bool:
        return not self.m.localized and self._may_set("per_component")

    def _may_set(self, value: str) -> bool:
        """Return whether ``on_disconnected=value`` would be a change."""
        current = self.parameters.get("on_disconnected", value)
        if not isinstance(self.model, Estimator) or current == value:
            return False
        return value in declared_parameters(type(self.model))["on_disconnected"].choices

    @property
    def recall(self) -> float | None:
        return self.fitted.get("neighbor_recall_")

    @property
    def missed(self) -> float:
        return 1 - self.fitted["neighbor_recall_"]

    @property
    def graph_parameter(self) -> str:
        return "graph" if "graph" in self.parameters else "affinity"

    @property
    def stress(self) -> float | None:
        found = self.fitted.get("stress_")
        return None if found is None else float(np.max(found))

    # --- coordinates that few points carry ---

    @property
    def few(self) -> list[LocalizedCoordinate] | None:
        return self.m.localized or None

    @property
    def few_points(self) -> str:
        assert self.points is not None
        points = self.points
        return "\n".join(few_points_sentences(self.m.localized, points.n, points.ids, points.labels))

    @property
    def carried(self) -> str:
        return carried_coordinates(self.m.localized)

    @property
    def least_share(self) -> float:
        return min(found.share for found in self.m.localized)

    @property
    def uneven_rows(self) -> bool:
        return self.m.dominance is None and self.m.uneven_rows

    @property
    def movement(self) -> float | None:
        return None if self.m.localized else self._median_movement

    @property
    def movement_of_few(self) -> float | None:
        return self._median_movement if self.m.localized else None

    @property
    def _median_movement(self) -> float | None:
        median = np.nan if self.m.movement is None else self.m.movement.median
        return median if np.isfinite(median) else None

    # --- neighbourhoods ---

    @property
    def judged(self) -> Measures | None:
        """The measures by distances in the data, unless few columns dominate only these distances."""
        return None if self.m.reference_dominance is not None else self.m

    @property
    def not_compared(self) -> str | None:
        """The reason why neighbours were not compared."""
        return self.m.omitted.get("neighbours") if self.judged is not None and self.m.kept is None else None

    @property
    def neighborhoods(self) -> int | None:
        """The worst degree of neighbours kept, trustworthiness and continuity (0: good)."""
        degrees = [RULES[name].degree(self) for name in ("kept", "trust", "continuity")]
        known = [degree for degree in degrees if degree is not None]
        return max(known) if len(known) == len(degrees) else None

    @property
    def neighborhoods_if_linear(self) -> int | None:
        return self.neighborhoods if getattr(described(self.model), "linear", False) else None

    @property
    def subject(self) -> str:
        return "Neighbourhoods" if self.m.dominance is None else "Neighbourhoods by these distances"

    @property
    def overlaps(self) -> float | None:
        """By how much continuity exceeds trustworthiness on a map that is not good."""
        return self._excess("continuity", "trust")

    @property
    def separations(self) -> float | None:
        return self._excess("trust", "continuity")

    def _excess(self, higher: str, lower: str) -> float | None:
        first, second = getattr(self.m, higher), getattr(self.m, lower)
        return first.value - second.value if self.neighborhoods and second.high < first.low else None

    @property
    def relative_rank(self) -> float | None:
        """The mean rank of the false neighbours relative to the number of neighbours, or None."""
        return self._false_rank / self.m.n_neighbors if self.neighborhoods else None

    @property
    def _false_rank(self) -> float:
        kept, trust, continuity = (
            self.find("m.kept"),
            self.find("m.trust.value"),
            self.find("m.continuity.value"),
        )
        return kept.n_neighbors + mean_excess_rank(min(trust, continuity), kept.n_points, kept.n_neighbors)

    @property
    def rounded_rank(self) -> int:
        """The rank rounded to two significant digits, and to a multiple of 10."""
        unit = 10 ** max(1, int(np.log10(self._false_rank)) - 1)
        return round(self._false_rank / unit) * unit

    @property
    def places(self) -> tuple[str, str]:
        """Where false neighbours are near, and where they are far."""
        false = self.find("m.trust.value") <= self.find("m.continuity.value")
        return ("on the map", "in the data") if false else ("in the data", "on the map")

    @property
    def kept_at_scale(self) -> float | None:
        """The share kept beyond chance in the smallest neighbourhoods at which the map can be read."""
        if not self.neighborhoods or self.m.curve is None or self.scale["size"] <= self.m.n_neighbors:
            return None
        return self.scale["beyond"]

    @cached_property
    def scale(self) -> dict[str, float]:
        """A neighbourhood size, its share of all points, and the shares kept: in all, by chance, beyond it.

        The size is the smallest at which half of the neighbours are kept beyond chance or, if there is none
        up to a fifth of the points, the largest of these sizes.
        """
        n, curve = self.m.n_compared, self.m.curve
        assert curve is not None
        local = curve[0] <= max(TUNING.local_share * n, curve[0][0])
        sizes, shares = (values[local] for values in curve)
        chance = sizes / (n - 1)
        beyond = (shares - chance) / (1 - chance)
        enough = np.flatnonzero(beyond >= RULES["scale"].at_least[0])
        i = enough[0] if len(enough) else -1
        found = {"size": sizes, "of_all": sizes / n, "kept": shares, "chance": chance, "beyond": beyond}
        return {name: values[i].item() for name, values in found.items()}

    # --- number of coordinates ---

    @property
    def residual(self) -> float | None:
        """The share of the variance of the distances that the map does not explain."""
        found = self.find("judged.residual")
        return None if found is None else found.at(self.n_coordinates)

    @cached_property
    def enough(self) -> int | None:
        """A larger number of coordinates that explains most of what more coordinates can explain."""
        residual, n = self.find("judged.residual"), self.n_coordinates
        if residual is None or self.n_components is None or len(residual.counts) <= n:
            return None
        values, best = residual.values, residual.values[n:].min()
        count = int(residual.counts[np.argmax(values <= best + 0.1 * (values[0] - best))])
        return count if count > n else None

    @property
    def residual_if_enough(self) -> float:
        return self.find("m.residual").at(self.enough)

    @property
    def unexplained(self) -> float | None:
        """How much more of the distances more coordinates would explain."""
        if self.enough is None:
            return None
        values, n = self.find("m.residual").values, self.n_coordinates
        return float(values[n - 1] - values[n:].min())

    @property
    def gap(self) -> int | None:
        """A clear eigengap after the last coordinate, unless the residual variance suggests a number."""
        gap = self.find("m.spectrum.clear_gap_after")
        if gap is None or self.n_components is None or gap <= self.n_coordinates:
            return None
        return None if RULES["more_coordinates"].degree(self) == 1 else gap
