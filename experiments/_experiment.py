"""Input and output of an experiment: :class:`Context` and :class:`Outcome`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from matplotlib.figure import Figure

from experiments._data import read

T = TypeVar("T")
NOT_PRINTED = "not printed"
#: Kinds of claims: a statement of the paper, a check that corresponds to none, and a check of settings that
#: were chosen after looking at results.
KINDS = ("paper", "check", "exploration")


@dataclass(frozen=True)
class Claim:
    """A statement, the printed and the measured value, and whether the statement holds.

    Only statements of a paper (``kind="paper"``) are counted as reproduced or failing.

    Examples
    --------
    >>> from experiments import Claim
    >>> Claim("delta crosses zero", "1 to 5 %", "at 0.5 %", False, criterion="in 1 to 5 %").own
    False
    >>> Claim("it beats PCA", "not printed", "3 > 2", True, criterion="more", kind="check").own
    True
    """

    text: str
    printed: str
    measured: str
    holds: bool
    #: Explanation: what else was tried, or how the setting differs. Expected if the claim does not hold.
    why: str = ""
    #: Condition on the measured value under which the claim holds, in the paper's words where it has any.
    criterion: str = field(kw_only=True)
    #: Data of this claim. If None, the ``data`` of the experiment.
    data: str | None = None
    #: One of :data:`KINDS`.
    kind: str = field(default="paper", kw_only=True)
    #: Outcome that is neither the printed one nor a failure, such as ``"earlier"`` or ``"inconclusive"``.
    outcome: str = field(default="", kw_only=True)
    #: Where the criterion has changed: the former criterion with the value that it measures.
    previous: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r} must be one of {', '.join(KINDS)}")
        if self.kind == "paper" and self.printed == NOT_PRINTED:
            raise ValueError(f"claim {self.text!r} has no printed value; set kind='check' or 'exploration'")
        if self.outcome and (self.holds or self.own):
            raise ValueError(f"outcome={self.outcome!r} needs a claim of a paper with holds=False")

    @property
    def own(self) -> bool:
        """Whether this is a check or an exploration rather than a statement of the paper."""
        return self.kind != "paper"


@dataclass(frozen=True)
class Outcome:
    """Claims and figure of an experiment, and the numbers they are computed from."""

    claims: list[Claim]
    figure: Figure
    #: Reproducible numbers: the same seed gives the same values.
    numbers: dict[str, Any]
    #: Description of the data: ``"MNIST"``, ``"generated"``, or ``"stand-in: ..."``.
    data: str
    #: Measured times in seconds, which differ from run to run.
    timings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """Data folder, size and seed of an experiment.

    Examples
    --------
    >>> from experiments import Context
    >>> Context(quick=True).pick(full=1000, quick=300, tiny=50)
    300
    >>> Context().load("mnist") is None
    True
    """

    data: Path | None = None
    quick: bool = False
    seed: int = 0
    #: Use the size of the tests, smaller than ``quick``.
    tiny: bool = False
    #: Fingerprint of each file requested by ``load``, None if the file does not exist.
    files: dict[str, str | None] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> str:
        """Size of the experiment: ``"full"``, ``"quick"`` or ``"tiny"``."""
        return "tiny" if self.tiny else "quick" if self.quick else "full"

    def pick(self, full: T, quick: T, tiny: T) -> T:
        """Return the argument that belongs to the size of this run."""
        return {"full": full, "quick": quick, "tiny": tiny}[self.size]

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the arrays of ``name.npz`` in the data folder, or None if there is no such file."""
        self.files[name] = self.fingerprint(name)
        if self.data is None or self.files[name] is None:
            return None
        return read(self.data / f"{name}.npz")

    def fingerprint(self, name: str) -> str | None:
        """Return a hash of the file that ``load`` reads, or None if there is no such file."""
        path = None if self.data is None else self.data / f"{name}.npz"
        if path is None or not path.is_file():
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
