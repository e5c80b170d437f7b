"""A finished experiment on disk: NAME.json, NAME.png and NAME.svg, each whole or not there."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from eigenscape.io.whole import whole_file
from eigenscape.papers import experiment
from eigenscape.papers._experiment import Claim, Context, Outcome

Record = dict[str, Any]
VERSION: str = sys.modules["eigenscape"].__version__  # not imported: the package knows the rooms beside this one
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def verdict(claim: Claim, data: str) -> str:
    """By the numbers, and on which data."""
    held = "reproduced" if claim.holds else "not reproduced"
    return f"{held} (on a {data})" if data.startswith("stand-in") else held


def settings(name: str, context: Context) -> Record:
    """What must be the same for a finished experiment to stand; ``files`` is judged apart, as only a run knows which it reads."""
    return {
        "size": context.size,
        "seed": context.seed,
        "version": VERSION,
        "code": hashlib.sha256(inspect.getsource(experiment(name)).encode()).hexdigest()[:16],
    }


def finished(name: str, out: Path, context: Context) -> Record | None:
    """The record of an earlier run with the same settings and data, or None."""
    path = out / f"{name}.json"
    if not all(path.with_name(name + suffix).is_file() for suffix in (".json", ".png", ".svg")):
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        same = record["settings"] == settings(name, context)
        return record if same and all(context.fingerprint(file) == mark for file, mark in record["files"].items()) else None
    except (ValueError, KeyError, TypeError, AttributeError):  # not a record of ours: run again
        return None


def make_record(name: str, outcome: Outcome, setting: Record, context: Context, seconds: float, warned: list[str]) -> Record:
    """Everything about a run that is no figure."""
    module = experiment(name)
    return {
        "experiment": name,
        "title": title(module),
        "paper": module.PAPER,
        "data": outcome.data,
        "settings": setting,
        "files": dict(context.files),
        "claims": [
            {
                "text": claim.text,
                "printed": claim.printed,
                "measured": claim.measured,
                "holds": bool(claim.holds),
                "verdict": verdict(claim, outcome.data),
                "why": claim.why,
            }
            for claim in outcome.claims
        ],
        "numbers": plain(outcome.numbers),
        "timings": plain(outcome.timings),
        "warnings": warned,
        "seconds": round(seconds, 2),
        "versions": {"python": platform.python_version(), **{library: version(library) for library in _LIBRARIES}},
    }


def write(record: Record, outcome: Outcome, out: Path) -> None:
    """The figures first: the JSON file says that all is there."""
    name = record["experiment"]
    for suffix, options in ((".png", {"dpi": 130}), (".svg", {"metadata": {"Date": None}})):
        with whole_file(out / f"{name}{suffix}", force=True) as path:
            outcome.figure.savefig(path, format=suffix[1:], **options)
    with whole_file(out / f"{name}.json", force=True) as path:
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def title(module: ModuleType) -> str:
    """The first line of the docstring."""
    return (module.__doc__ or module.__name__).strip().splitlines()[0].rstrip(".")


def plain(value: Any) -> Any:
    """Numbers as JSON has them: arrays are lists, what is not finite is null.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.papers._record import plain
    >>> plain({"k": np.arange(2), "error": float("nan")})
    {'k': [0, 1], 'error': None}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
