"""A finished experiment on disk: NAME.json, NAME.png and NAME.svg, each whole or not there."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from eigenscape._format import to_json
from eigenscape.app.io.atomic import check_target, whole_file
from experiments import experiment
from experiments._experiment import Claim, Context, Outcome

Record = dict[str, Any]
VERSION: str = sys.modules[
    "eigenscape"
].__version__  # not imported: the package knows the rooms beside this one
#: By which files of ours are known.
MARK = "eigenscape reproduce"
_FIGURES: tuple[tuple[str, dict[str, Any]], ...] = (
    (".png", {"dpi": 130, "metadata": {"Software": MARK}}),
    (".svg", {"metadata": {"Date": None, "Creator": MARK}}),
)
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def verdict(claim: Claim, data: str) -> str:
    """By the numbers, and on which data; a check of our own reproduces nothing."""
    held = (
        ("holds" if claim.holds else "does not hold")
        if claim.own
        else "reproduced"
        if claim.holds
        else "not reproduced"
    )
    return f"{held} (on a {data})" if data.startswith("stand-in") else held


def settings(context: Context) -> Record:
    """What must be the same for a finished experiment to stand; ``files`` is judged apart, as only a run
    knows which it reads."""
    return {
        "size": context.size,
        "seed": context.seed,
        "version": VERSION,
        "code": code(),
    }


def code() -> str:
    """Fingerprint of all experiments and what they share."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()[:16]


def is_ours(path: Path) -> bool:
    """Whether an earlier run made the file, or nothing is in it."""
    with path.open("rb") as file:
        start = file.read(4000)
    return not start or MARK.encode() in start


def check_files(name: str, out: Path, context: Context, force: bool) -> None:
    """Refuse, before any work, to write over what is not ours, or, without ``force``, over results of another
    size, seed or data."""
    for suffix in (".json", ".png", ".svg"):
        path = out / f"{name}{suffix}"
        check_target(path, force=True)
        if path.is_file() and not is_ours(path):
            raise FileExistsError(
                f"{path} was not made by an earlier run and is not overwritten;"
                " choose another folder with --out"
            )
    record = None if force else _read(out / f"{name}.json")
    if record is None:
        return
    others = [
        f"{key} {record['settings'][key]}, not {value}"
        for key, value in (("size", context.size), ("seed", context.seed))
        if record["settings"][key] != value
    ]
    others += [
        f"other data in {file}.npz"
        for file, mark in record["files"].items()
        if context.fingerprint(file) != mark
    ]
    if others:
        raise FileExistsError(
            f"{out / name}.json is a result of another run ({'; '.join(others)});"
            " replace it with --force, or choose another folder with --out"
        )


def _read(path: Path) -> Record | None:
    """A record, if it is whole."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return (
            record
            if {"settings", "files", "figures"} <= set(record) and {"size", "seed"} <= set(record["settings"])
            else None
        )
    except (OSError, ValueError, TypeError):
        return None


def finished(name: str, out: Path, context: Context) -> Record | None:
    """The record of an earlier run with the same settings and data, or None."""
    record = _read(out / f"{name}.json")
    if record is None or record["settings"] != settings(context):
        return None
    figures = {suffix: _digest(out / f"{name}{suffix}") for suffix, _ in _FIGURES}
    same = figures == record["figures"] and all(
        context.fingerprint(file) == mark for file, mark in record["files"].items()
    )
    return record if same else None


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None


def make_record(
    name: str, outcome: Outcome, setting: Record, context: Context, seconds: float, warned: list[str]
) -> Record:
    """Everything about a run that is no figure."""
    module = experiment(name)
    return {
        "made by": MARK,
        "experiment": name,
        "title": title(module),
        "about": about(module),
        "paper": module.PAPER,
        "data": outcome.data,
        "settings": setting,
        "files": dict(context.files),
        "claims": [
            {
                "text": claim.text,
                "printed": claim.printed,
                "measured": claim.measured,
                "criterion": claim.criterion,
                "holds": bool(claim.holds),
                "own": claim.own,
                "data": claim.data or outcome.data,
                "verdict": verdict(claim, claim.data or outcome.data),
                "why": claim.why
                or ("" if claim.holds else f"Measured {claim.measured}; asked for: {claim.criterion}."),
            }
            for claim in outcome.claims
        ],
        "numbers": to_json(outcome.numbers),
        "timings": to_json(outcome.timings),
        "warnings": warned,
        "seconds": round(seconds, 2),
        "versions": {
            "python": platform.python_version(),
            **{library: version(library) for library in _LIBRARIES},
        },
    }


def write(record: Record, outcome: Outcome, out: Path) -> None:
    """The figures first: the JSON file says that all is there, and which figures are meant."""
    name = record["experiment"]
    record["figures"] = {}
    for suffix, options in _FIGURES:
        with whole_file(out / f"{name}{suffix}", force=True) as path:
            outcome.figure.savefig(path, format=suffix[1:], **options)
        record["figures"][suffix] = _digest(out / f"{name}{suffix}")
    with whole_file(out / f"{name}.json", force=True) as path:
        path.write_text(
            json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
        )


def title(module: ModuleType) -> str:
    """The first line of the docstring."""
    return (module.__doc__ or module.__name__).strip().splitlines()[0].rstrip(".")


def about(module: ModuleType) -> str:
    """The rest of the docstring: what was done, what was chosen, and where it differs from the paper."""
    return inspect.cleandoc(module.__doc__ or "").partition("\n")[2].strip()
