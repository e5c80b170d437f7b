"""Grades of a map. Every judgement of the report and of the comparison follows from the rules here.

No single number decides. Neighbourhoods are good only if most nearest neighbours are kept, beyond what chance
keeps among this many points, and if the others are not far away (trustworthiness and continuity): of many
points, trustworthiness is high although nearly all neighbours are lost; of a folded map, half of the
neighbours are kept although the others are on the far side. Stability is not graded if a handful of points
make up the map.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from eigenscape.app.report._measures import Measures
from eigenscape.app.report._tuning import TUNING
from eigenscape.quality import Estimate, NeighborsKept

Grade = Literal["good", "fair", "poor"]

#: Least values of "good" and "fair": share of neighbours kept beyond chance; trustworthiness and continuity.
_KEPT, _SCORE = (0.5, 0.2), (0.95, 0.85)
#: Largest values of "good" and "fair" of the median movement.
_MOVEMENT = (0.05, 0.2)
_ORDER: tuple[Grade, ...] = ("poor", "fair", "good")


def _grade(value: float, limits: tuple[float, float]) -> Grade:
    return "good" if value >= limits[0] else "fair" if value >= limits[1] else "poor"


def _worst(*grades: Grade) -> Grade:
    return min(grades, key=_ORDER.index)


def kept_grade(kept: NeighborsKept) -> Grade:
    """Return the grade of the share of neighbours kept, beyond chance."""
    return _grade(kept.beyond_chance, _KEPT)


def neighborhood_grade(measures: Measures) -> Grade | None:
    """Return the worst grade of neighbours kept, trustworthiness and continuity; None if not measured.

    It is None also if few columns dominate the distances in the data and the map is not computed from them.
    """
    kept, trust, continuity = measures.kept, measures.trust, measures.continuity
    if kept is None or trust is None or continuity is None or measures.reference_dominance is not None:
        return None
    return _worst(kept_grade(kept), _grade(trust.value, _SCORE), _grade(continuity.value, _SCORE))


def score_grade(score: Estimate, kept: NeighborsKept) -> Grade | None:
    """Return the grade of trustworthiness or continuity; None if it is better than the neighbours kept.

    The score is then a consequence of the number of points, and no merit of the map.
    """
    grade = _grade(score.value, _SCORE)
    return None if _worst(grade, kept_grade(kept)) != grade else grade


def stability_grade(measures: Measures) -> Grade | None:
    """Return the grade of the median movement; None if it is unknown or a few points determine the map."""
    if measures.movement is None or not np.isfinite(measures.movement.median) or measures.localized:
        return None
    median = measures.movement.median
    return "good" if median <= _MOVEMENT[0] else "fair" if median <= _MOVEMENT[1] else "poor"


def grades(measures: Measures) -> dict[str, Grade | None]:
    """Return the grades of the single measures, None where there is none."""
    found: dict[str, Grade | None] = dict.fromkeys(("kept", "trust", "continuity"))
    if neighborhood_grade(measures) is not None:
        kept, trust, continuity = measures.kept, measures.trust, measures.continuity
        assert kept is not None
        assert trust is not None
        assert continuity is not None
        found = {"kept": kept_grade(kept), "trust": score_grade(trust, kept)}
        found["continuity"] = score_grade(continuity, kept)
    return {**found, "movement": stability_grade(measures)}


def reliable_size(measures: Measures) -> tuple[int, float, bool]:
    """Return a neighbourhood size, the share of neighbours that it keeps, and whether this is half of them.

    The size is the smallest at which half of the neighbours are kept beyond chance or, if there is none up to
    a fifth of the points, the largest of these sizes.
    """
    assert measures.curve is not None
    local = measures.curve[0] <= max(TUNING.local_share * measures.n_compared, measures.curve[0][0])
    sizes, shares = (values[local] for values in measures.curve)
    chance = sizes / (measures.n_compared - 1)
    enough = np.flatnonzero((shares - chance) >= _KEPT[0] * (1 - chance))
    index = enough[0] if len(enough) else -1
    return int(sizes[index]), float(shares[index]), len(enough) > 0
