"""What an experiment is given, and what it gives back."""

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


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper beside what came out here; ``holds`` is computed from the numbers."""

    text: str
    printed: str
    measured: str
    holds: bool
    #: What was tried, or where our setting differs; wanted for a claim that does not hold.
    why: str = ""
    #: What was asked of the numbers for the claim to hold.
    criterion: str = field(kw_only=True)
    #: What this claim was measured on, where that is not the experiment's ``data`` as a whole.
    data: str | None = None

    @property
    def own(self) -> bool:
        """Whether it is a check of ours, of which the paper prints nothing."""
        return self.printed == NOT_PRINTED


@dataclass(frozen=True)
class Outcome:
    """Claims, a figure, and every number either is made of."""

    claims: list[Claim]
    figure: Figure
    #: Same seed, same numbers.
    numbers: dict[str, Any]
    #: What it ran on: ``"MNIST"``, ``"generated"``, or ``"stand-in: ..."``.
    data: str
    #: Measured seconds, the one thing that differs from run to run.
    timings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """Where the data are, how large the experiment may be, and its seed.

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
    #: The size of the tests, below ``quick``.
    tiny: bool = False
    #: Fingerprint of each file asked for, None where it is absent; filled by ``load``.
    files: dict[str, str | None] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> str:
        """``"full"``, ``"quick"`` or ``"tiny"``."""
        return "tiny" if self.tiny else "quick" if self.quick else "full"

    def pick(self, full: T, quick: T, tiny: T) -> T:
        """A parameter by size."""
        return {"full": full, "quick": quick, "tiny": tiny}[self.size]

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays of ``name.npz`` in the folder of data, or None where there is no such file."""
        self.files[name] = self.fingerprint(name)
        if self.data is None or self.files[name] is None:
            return None
        return read(self.data / f"{name}.npz")

    def fingerprint(self, name: str) -> str | None:
        """Of the file that ``load`` would read: a result counts as finished only with the same one."""
        path = None if self.data is None else self.data / f"{name}.npz"
        if path is None or not path.is_file():
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
