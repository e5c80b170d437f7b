"""Recipe of the Ionosphere table."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def ionosphere(path: Path) -> dict[str, np.ndarray]:
    """Read lines of numbers that end with ``g`` (good) or ``b`` (bad)."""
    rows = [line.strip().split(",") for line in path.read_text().splitlines() if line.strip()]
    classes = {"b": 0, "g": 1}
    unknown = {row[-1] for row in rows} - set(classes)
    if unknown:
        raise ValueError(f"{path} has the class {unknown.pop()!r} in the last column, not 'b' or 'g'")
    return {
        "X": np.array([row[:-1] for row in rows], dtype=np.float64),
        "y": np.array([classes[row[-1]] for row in rows], dtype=np.uint8),
        "label_names": np.array(["bad", "good"]),
    }
