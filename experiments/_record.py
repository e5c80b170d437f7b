"""Files of a finished experiment: NAME.json, NAME.png and NAME.svg, each written completely or not at all."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import eigenscape
from eigenscape._format import to_json
from eigenscape.io import check_target, whole_file
from experiments import experiment
from experiments._experiment import Claim, Context, Outcome

Record = dict[str, Any]
VERSION: str = eigenscape.__version__
#: Text in every written file, by which later runs recognise files that they may replace.
GENERATOR = "eigenscape reproduce"
_FIGURES: tuple[tuple[str, dict[str, Any]], ...] = (
    (".png", {"dpi": 130, "metadata": {"Software": GENERATOR}}),
    (".svg", {"metadata": {"Date": None, "Creator": GENERATOR}}),
)
#: Groups of claims, with the headings under which they are listed.
GROUPS = {
    "reproduced": "claims of the papers that are reproduced",
    "reproduced on stand-ins": "claims of the papers that are reproduced on stand-ins for their data",
    "other outcomes": "claims of the papers with another outcome",
    "failing on stand-ins": "claims of the papers that fail on stand-ins for their data",
    "truly failing": "claims of the papers that truly fail",
    "own checks": "own checks and explorations, not in the papers",
}
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib")


def verdict(claim: Claim, data: str, size: str = "full") -> str:
    """Return the verdict on a claim as text; stand-in data, and a smaller size of a failure, are named."""
    held = (
        ("holds" if claim.holds else "does not hold")
        if claim.own
        else "reproduced"
        if claim.holds
        else claim.outcome or "not reproduced"
    )
    if data.startswith("stand-in"):
        return f"{held} (on a {data})"
    return held if claim.own or claim.holds or size == "full" else f"{held} (at the {size} size)"


def group(claim: Claim, data: str) -> str:
    """Return the group under which a claim is counted, one of :data:`GROUPS`.

    A claim truly fails if its criterion was measured on data of the paper and is not met.
    """
    if claim.own:
        return "own checks"
    if claim.outcome:
        return "other outcomes"
    stand_in = data.startswith("stand-in")
    if claim.holds:
        return "reproduced on stand-ins" if stand_in else "reproduced"
    return "failing on stand-ins" if stand_in else "truly failing"


def settings(context: Context) -> Record:
    """Return the settings that must be equal for an earlier result to be kept.

    Data files are compared separately, because only a run determines which files are read.
    """
    return {
        "size": context.size,
        "seed": context.seed,
        "version": VERSION,
        "code": code_fingerprint(),
    }


def code_fingerprint() -> str:
    """Return a hash of the source code of all experiments."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()[:16]


def was_generated(path: Path) -> bool:
    """Return whether a file was written by an earlier run, or is empty."""
    with path.open("rb") as file:
        start = file.read(4000)
    return not start or GENERATOR.encode() in start


def check_files(name: str, out: Path, context: Context, force: bool) -> None:
    """Raise an error if files of an experiment would be replaced that must be kept.

    These are files that were not written by an earlier run and, unless ``force`` is True, results with
    another size, seed or data.
    """
    for suffix in (".json", ".png", ".svg"):
        path = out / f"{name}{suffix}"
        check_target(path, force=True)
        if path.is_file() and not was_generated(path):
            raise FileExistsError(
                f"{path} was not written by an earlier run and is not replaced;"
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
        for file, fingerprint in record["files"].items()
        if context.fingerprint(file) != fingerprint
    ]
    if others:
        raise FileExistsError(
            f"{out / name}.json is a result of another run ({'; '.join(others)});"
            " replace it with --force, or choose another folder with --out"
        )


def _read(path: Path) -> Record | None:
    """Return the record in a JSON file, or None if the file is missing or incomplete."""
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
    """Return the record of an earlier run with the same settings and data, or None."""
    record = _read(out / f"{name}.json")
    if record is None or record["settings"] != settings(context):
        return None
    figures = {suffix: _digest(out / f"{name}{suffix}") for suffix, _ in _FIGURES}
    same = figures == record["figures"] and all(
        context.fingerprint(file) == fingerprint for file, fingerprint in record["files"].items()
    )
    return record if same else None


def _digest(path: Path) -> str | None:
    """Return a hash of a file, or None if it does not exist."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None


def make_record(
    name: str, outcome: Outcome, setting: Record, context: Context, seconds: float, warned: list[str]
) -> Record:
    """Return all results of a run, except for the figure, as a JSON document."""
    module = experiment(name)
    return {
        "made by": GENERATOR,
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
                "kind": claim.kind,
                "own": claim.own,
                "group": group(claim, claim.data or outcome.data),
                "data": claim.data or outcome.data,
                "verdict": verdict(claim, claim.data or outcome.data, context.size),
                "previous": claim.previous,
                "why": claim.why
                or ("" if claim.holds else f"Measured {claim.measured}; criterion: {claim.criterion}."),
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
    """Write figures and JSON file; the JSON file comes last because it marks the experiment as finished."""
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
    """Return the title of an experiment, the first line of its docstring."""
    return (module.__doc__ or module.__name__).strip().splitlines()[0].rstrip(".")


def about(module: ModuleType) -> str:
    """Return the description of an experiment, its docstring without the first line."""
    return inspect.cleandoc(module.__doc__ or "").partition("\n")[2].strip()
