"""Verdicts on a map: grades, sentences and suggestions, read from the table of rules.

Suggestions on the same parameter are joined. If they point in different directions, the stronger evidence
decides; if it is equally strong, the parameter is named without a direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import Formatter
from typing import Any, Literal

from eigenscape.app.report._formatting import FORMATS, format_count
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._rules import RULES, Case, Direction, Rule

Grade = Literal["good", "fair", "poor"]
_GRADES: tuple[Grade, ...] = ("good", "fair", "poor")


class Sentence(Formatter):
    """Texts of the table of rules, in which formats have names (``{value:percent}``)."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return FORMATS[format_spec](value) if format_spec else str(value)


class _RuleSentence(Sentence):
    """Texts of a rule, in which names are of the case."""

    def __init__(self, rule: Rule, case: Case) -> None:
        self.case, degree = case, rule.degree(case)
        self.given = {"value": case.find(rule.value), "degree": "".join(rule.degrees[degree:][:1])}

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:
        return self.given[str(key)] if key in self.given else getattr(self.case, str(key))


# --- grades -------------------------------------------------------------------------------------------------


def neighborhood_grade(measures: Measures) -> Grade | None:
    """Return the worst grade of neighbours kept, trustworthiness and continuity; None if not measured."""
    degree = Case(measures).neighborhoods
    return None if degree is None else _GRADES[degree]


def grades(measures: Measures) -> dict[str, Grade | None]:
    """Return the grades of neighbours kept, trustworthiness, continuity and movement; None if not judged.

    Trustworthiness and continuity are not graded if they are better than the neighbours kept: the score is
    then a consequence of the number of points, and no merit of the map.
    """
    names = ("kept", "trust", "continuity", "movement")
    degrees = {name: RULES[name].degree(Case(measures)) for name in names}
    for name in ("trust", "continuity"):
        if (degrees[name] or 0) < (degrees["kept"] or 0):
            degrees[name] = None
    return {name: None if degree is None else _GRADES[degree] for name, degree in degrees.items()}


# --- sentences ----------------------------------------------------------------------------------------------


def summarize(case: Case, n_new: int, how: str) -> dict[str, list[str]]:
    """Return the summary of a report: its sentences by heading."""
    quality = sentences(case)
    return {
        "What this map is": _description(case, n_new, how),
        "How reliable it is": quality
        or ["No measure could be computed; see “Not computed” for the reasons."],
        "What to try next": advise(case)
        or ["The measures suggest no change. Colour the map by your columns, or transform new points."],
    }


def _description(case: Case, n_new: int, how: str) -> list[str]:
    assert case.points is not None
    count, name = case.n_coordinates, type(case.model).__name__
    found = [
        f"A map of {format_count(case.points.n)} points in {count} coordinate{'s' * (count > 1)} by {name},"
        f" {how}.",
        getattr(case.model, "_meaning", ""),
    ]
    if n_new:
        new = format_count(n_new)
        found.append(f"{new} new points, to which the model was not fitted, are drawn as diamonds.")
    return [sentence for sentence in found if sentence]


def sentences(case: Case, rules: Iterable[Rule] = RULES.values()) -> list[str]:
    """Return the sentences of all rules that apply."""
    found = []
    for rule in rules:
        degree = rule.degree(case)
        if degree is not None and rule.sentences:
            found += (
                _RuleSentence(rule, case)
                .format(rule.sentences[min(degree, len(rule.sentences) - 1)])
                .splitlines()
            )
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
    worst = len(rule.at_least) + len(rule.at_most)
    if rule.degree(case) != worst or (case.m.localized and not rule.always):
        return
    for remedy in rule.remedies:
        change: tuple[str, Direction | None] | None = (remedy.parameter, remedy.direction)
        if remedy.parameter == "smoothing":
            change = case.smoothing
        if change is None or (remedy.when and not case.find(remedy.when)):
            continue
        reason, action = (_RuleSentence(rule, case).format(text) for text in (remedy.reason, remedy.action))
        value = case.find(remedy.to) if remedy.to else None
        advice = Advice(change[0], reason, change[1], value, action, remedy.strength)
        if not _exceeds_rank(advice, case):
            yield advice


def _exceeds_rank(advice: Advice, case: Case) -> bool:
    """Return whether a suggestion asks for more coordinates than the rows have dimensions."""
    rank = case.m.rank
    if rank is None or advice.parameter != "n_components" or advice.direction != "increase":
        return False
    return (advice.value or case.n_coordinates + 1) > rank


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
