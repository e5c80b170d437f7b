"""The table of rules (``rules.toml``), and the values that its rows name.

No single number decides. Neighbourhoods are good only if most nearest neighbours are kept, beyond what chance
keeps among this many points, and if the others are not far away (trustworthiness and continuity): of many
points, trustworthiness is high although nearly all neighbours are lost; of a folded map, half of the
neighbours are kept although the others are on the far side. Stability is not graded if a handful of points
make up the map.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape._parameters import declared_parameters
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points
from eigenscape.app.report._texts import LIMITS, TABLES, evaluate
from eigenscape.app.report.dominance import few_points_sentences
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._method import described
from eigenscape.kernels import VariableGaussian
from eigenscape.options import flattened
from eigenscape.quality.neighbor_preservation import mean_excess_rank

Direction = Literal["increase", "decrease"]


@dataclass(frozen=True)
class Rule:
    """A row of the table. ``remedies`` have the fields that ``rules.toml`` describes."""

    value: str
    at_least: tuple[float, ...] = ()
    at_most: tuple[float, ...] = ()
    sentences: tuple[str, ...] = ()
    degrees: tuple[str, ...] = ()
    remedies: tuple[dict[str, Any], ...] = ()
    always: bool = False

    def degree(self, case: Case) -> int | None:
        """Return how many limits the value violates; None if there is no value."""
        value = evaluate(self.value, case.names)
        if value is None:
            return None
        return sum(value < limit for limit in self.at_least) + sum(value > limit for limit in self.at_most)

    def names(self, case: Case) -> dict[str, Any]:
        """Return the names of the texts of this rule."""
        word = "".join(self.degrees[self.degree(case) :][:1])
        return {**case.names, "value": evaluate(self.value, case.names), "degree": word}


#: The rules of a map.
RULES = {name: Rule(**row) for name, row in TABLES["rules"].items()}


@dataclass(frozen=True, eq=False)
class Case:
    """What is judged, and the values that the rules name. A value is None if there is nothing to judge."""

    m: Measures
    model: BaseEstimator | None = None
    n_coordinates: int = 2
    points: Points | None = None

    @cached_property
    def names(self) -> dict[str, Any]:
        """Names of the expressions and texts of rules."""
        model, m = self.model, self.m
        parameters, fitted = ({}, {}) if model is None else (model.get_params(deep=False), vars(model))
        given = {"case": self, "m": m, "method": described(model), "n_coordinates": self.n_coordinates}
        return given | {"parameters": parameters, "fitted": fitted}

    # --- the model and its graph ---

    @property
    def n_components(self) -> int | None:
        value = self.names["parameters"].get("n_components")
        return int(value) if isinstance(value, (int, np.integer)) else None

    @cached_property
    def smoothing(self) -> tuple[str, Direction] | None:
        """The parameter in use that smooths the map, and the direction that does; None if there is none.

        Fitted attributes tell which parameters were used: an "rbf" affinity ignores ``n_neighbors``, and a
        neighbourhood graph ignores ``gamma``. Fields of option objects are parameters, too.
        """
        parameters, fitted = flattened(self.names["parameters"]), self.names["fitted"]
        variable = isinstance(parameters.get("affinity"), VariableGaussian)
        if "n_neighbors" in parameters and ("n_neighbors_" in fitted or variable):
            return "n_neighbors", "increase"
        if "degrees_" in fitted and parameters.get("radius") is not None:
            return "radius", "increase"
        return ("gamma", "decrease") if "gamma" in parameters and "gamma_" in fitted else None

    @property
    def components(self) -> int | None:
        """Number of connected components of a graph that is not connected."""
        return None if self.m.graph is None or len(self.m.graph.sizes) < 2 else len(self.m.graph.sizes)

    def may_set(self, value: str) -> bool:
        """Return whether ``on_disconnected=value`` would be a change."""
        current = self.names["parameters"].get("on_disconnected", value)
        if not isinstance(self.model, Estimator) or current == value:
            return False
        return value in declared_parameters(type(self.model))["on_disconnected"].choices

    @property
    def stress(self) -> float | None:
        found = self.names["fitted"].get("stress_")
        return None if found is None else float(np.max(found))

    @property
    def few_points(self) -> str:
        """Sentences on the points that carry coordinates."""
        assert self.points is not None
        return "\n".join(few_points_sentences(self.m.localized, *self.points.named))

    # --- neighbourhoods ---

    @property
    def judged(self) -> Measures | None:
        """The measures by distances in the data, unless few columns dominate only these distances."""
        return None if self.m.reference_dominance is not None else self.m

    @property
    def neighborhoods(self) -> int | None:
        """The worst degree of neighbours kept, trustworthiness and continuity (0: good)."""
        degrees = [RULES[name].degree(self) for name in ("kept", "trust", "continuity")]
        known = [degree for degree in degrees if degree is not None]
        return max(known) if len(known) == len(degrees) else None

    def excess(self, higher: str, lower: str) -> float | None:
        """Return by how much a score significantly exceeds another on a map that is not good, or None."""
        first, second = getattr(self.m, higher), getattr(self.m, lower)
        return first.value - second.value if self.neighborhoods and second.high < first.low else None

    @property
    def false_rank(self) -> float:
        """The mean rank of the false neighbours."""
        kept: Any = self.m.kept
        score = min(each.value for each in (self.m.trust, self.m.continuity) if each is not None)
        return kept.n_neighbors + mean_excess_rank(score, kept.n_points, kept.n_neighbors)

    @property
    def rounded_rank(self) -> int:
        """The rank rounded to two significant digits, and to a multiple of 10."""
        unit = 10 ** max(1, int(np.log10(self.false_rank)) - 1)
        return round(self.false_rank / unit) * unit

    def _sizes(self, share: float) -> dict[str, np.ndarray]:
        """Neighbourhood sizes up to a share of the points: of all points, kept, by chance, kept beyond it."""
        n, curve = self.m.n_compared, self.m.curve
        assert curve is not None
        sizes, kept = (values[curve[0] <= max(share * n, curve[0][0])] for values in curve)
        chance = sizes / (n - 1)
        beyond = (kept - chance) / (1 - chance)
        return {"size": sizes, "of_all": sizes / n, "kept": kept, "chance": chance, "beyond": beyond}

    @cached_property
    def scale(self) -> dict[str, float]:
        """The smallest neighbourhood size at which half of the neighbours are kept beyond chance.

        If there is none up to a fifth of the points, the largest of these sizes.
        """
        found = self._sizes(LIMITS.local_share)
        enough = np.flatnonzero(found["beyond"] >= RULES["scale"].at_least[0])
        return {name: values[enough[0] if len(enough) else -1].item() for name, values in found.items()}

    @cached_property
    def groups(self) -> dict[str, float] | None:
        """The size of neighbourhoods, up to half of the points, that are kept best beyond chance."""
        if self.neighborhoods is None or self.m.curve is None:
            return None
        found = self._sizes(LIMITS.group_share)
        best = np.argmax(np.where(found["size"] > self.m.n_neighbors, found["beyond"], -np.inf))
        return {name: values[best].item() for name, values in found.items()}

    @property
    def widest(self) -> dict[str, float]:
        """The largest of these neighbourhoods: the overall arrangement of the points."""
        return {name: values[-1].item() for name, values in self._sizes(LIMITS.group_share).items()}

    @property
    def separation(self) -> float:
        """How far labels are separated beyond chance; 0 without labels."""
        found = self.m.purity
        return 0.0 if found is None else (found.value - found.chance) / max(1 - found.chance, 1e-9)

    @property
    def group_degree(self) -> int | None:
        """The degree of the groups (0: good); None if they are not measured."""
        return RULES["groups"].degree(self)

    @property
    def carried(self) -> bool:
        """Whether few columns or a handful of points make up the map, so that it is not called good."""
        return self.m.dominance is not None or bool(self.m.localized)

    @property
    def fitted_to_some(self) -> bool:
        """Whether the map was fitted to fewer points than there are."""
        trained = self.names["fitted"].get("embedding_")
        return self.points is not None and trained is not None and len(trained) < self.points.n

    # --- number of coordinates ---

    @cached_property
    def enough(self) -> int | None:
        """A larger number of coordinates that explains most of what more coordinates can explain."""
        residual, n = getattr(self.judged, "residual", None), self.n_coordinates
        if residual is None or self.n_components is None or len(residual.counts) <= n:
            return None
        values, best = residual.values, residual.values[n:].min()
        count = int(residual.counts[np.argmax(values <= best + 0.1 * (values[0] - best))])
        return count if count > n else None

    @property
    def unexplained(self) -> float | None:
        """How much more of the distances more coordinates would explain."""
        if self.enough is None or self.m.residual is None:
            return None
        values, n = self.m.residual.values, self.n_coordinates
        return float(values[n - 1] - values[n:].min())

    @property
    def gap(self) -> int | None:
        """A clear eigengap after the last coordinate, unless the residual variance suggests a number."""
        gap = None if self.m.spectrum is None else self.m.spectrum.gap_after(LIMITS.clear_gap)
        if gap is None or self.n_components is None or gap <= self.n_coordinates:
            return None
        return None if RULES["more_coordinates"].degree(self) == 1 else gap
