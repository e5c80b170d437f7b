"""Verdicts on a map: grades, sentences and suggestions, read from the table of rules.

Suggestions on the same parameter are joined. If they point in different directions, the stronger evidence
decides; if it is equally strong, the parameter is named without a direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from eigenscape.app.report._measures import Measures
from eigenscape.app.report._rules import RULES, Case, Direction, Rule
from eigenscape.app.report._texts import TABLES, evaluate, fill

Grade = Literal["good", "fair", "poor"]
_GRADES: tuple[Grade, ...] = ("good", "fair", "poor")


# --- grades -------------------------------------------------------------------------------------------------


def neighborhood_grade(measures: Measures) -> Grade | None:
    """Return the worst grade of neighbours kept, trustworthiness and continuity; None if not judged.

    A map that preserves groups is not poor, and one that few columns or points make up is not judged.
    """
    case = Case(measures)
    degree = case.neighborhoods
    if degree is None or case.carried:
        return None
    return _GRADES[min(degree, 1) if case.group_degree == 0 else degree]


def grades(measures: Measures) -> dict[str, Grade | None]:
    """Return the grades of neighbours kept, trustworthiness, continuity and movement; None if not judged.

    Trustworthiness and continuity are not graded if they are better than the neighbours kept: the score is
    then a consequence of the number of points, and no merit of the map.
    """
    case, names = Case(measures), ("kept", "trust", "continuity", "movement")
    degrees = {name: RULES[name].degree(case) for name in names}
    if case.group_degree == 0 and degrees["kept"]:
        degrees["kept"] = 1
    for name in ("trust", "continuity"):
        if (degrees[name] or 0) < (degrees["kept"] or 0):
            degrees[name] = None
    if case.carried:
        degrees = dict.fromkeys(names)
    return {name: None if degree is None else _GRADES[degree] for name, degree in degrees.items()}


# --- sentences ----------------------------------------------------------------------------------------------


def summarize(case: Case, n_new: int, how: str) -> dict[str, list[str]]:
    """Return the summary of a report: its sentences by heading."""
    names = {**case.names, "model": case.model, "points": case.points, "n_new": n_new, "how": how}
    first, *others = TABLES["summary"].items()
    made = {first[0]: [line for line in fill(first[1], names).splitlines() if line]}
    found = sentences(case), advise(case)
    return made | {heading: said or [none] for (heading, none), said in zip(others, found, strict=True)}


def headline(case: Case) -> str:
    """Return the sentence above a map: at which scale it can be read."""
    return fill(TABLES["headline"], case.names).strip()


def sentences(case: Case, rules: Iterable[Rule] = RULES.values()) -> list[str]:
    """Return the sentences of all rules that apply."""
    found = []
    for rule in rules:
        degree = rule.degree(case)
        if degree is not None and rule.sentences:
            text = rule.sentences[min(degree, len(rule.sentences) - 1)]
            found += fill(text, rule.names(case)).splitlines()
    return found


# --- suggestions --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Advice:
    """A suggestion to change ``parameter``, or, without a direction, to do ``action``."""

    parameter: str
    reason: str
    direction: Direction | None = None
    value: int | None = None  # to try
    action: str = ""
    strength: int = 1

    @property
    def sentence(self) -> str:
        """The suggestion as a sentence."""
        action = self.action
        if self.direction is not None:
            to = "" if self.value is None else f" to {self.value}"
            action = f"{self.direction.capitalize()} {self.parameter}{to}"
        return f"{action}: {self.reason}."


def advise(case: Case, rules: Iterable[Rule] = RULES.values()) -> list[str]:
    """Return the suggestions of all rules whose worst degree applies, without contradiction."""
    found = [advice for rule in rules for advice in _remedies(rule, case)]
    return [advice.sentence for advice in resolve(found)]


def _remedies(rule: Rule, case: Case) -> Iterator[Advice]:
    """Yield the suggestions of a rule whose worst degree applies.

    If few points determine a coordinate, only the rules that hold for any map (``always``) have suggestions.
    """
    worst = len(rule.at_least) + len(rule.at_most)
    if rule.degree(case) != worst or (case.m.localized and not rule.always):
        return
    names = rule.names(case)
    for remedy in rule.remedies:
        parameter = remedy["parameter"]
        change = case.smoothing if parameter == "smoothing" else (parameter, remedy.get("direction"))
        if change is None or not evaluate(remedy.get("when", "true"), names):
            continue
        reason, action = (fill(remedy.get(text, ""), names) for text in ("reason", "action"))
        value = evaluate(remedy.get("to", "none"), names)
        suggested = (value or case.n_coordinates + 1) if change == ("n_components", "increase") else 0
        if case.m.rank is None or suggested <= case.m.rank:  # the rows have no more dimensions
            yield Advice(change[0], reason, change[1], value, action, remedy.get("strength", 1))


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
    agreeing = [advice for advice in group if advice.direction in directions]
    reasons = "; ".join(dict.fromkeys(advice.reason for advice in agreeing))
    if len(directions) > 1:
        reasons = f"the measures do not agree on a direction ({reasons})"
        return Advice(first.parameter, reasons, action=f"Compare several values of {first.parameter}")
    value = next((advice.value for advice in agreeing if advice.value is not None), None)
    return replace(first, reason=reasons, direction=directions.pop(), value=value, strength=strongest)
