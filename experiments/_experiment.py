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


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, the printed and the measured value, and whether the statement holds."""

    text: str
    printed: str
    measured: str
    holds: bool
    #: Explanation: what else was tried, or how the setting differs. Expected if the claim does not hold.
    why: str = ""
    #: Condition on the measured value under which the claim holds.
    criterion: str = field(kw_only=True)
    #: Data of this claim. If None, the ``data`` of the experiment.
    data: str | None = None

    @property
    def own(self) -> bool:
        """Whether this is an additional check for which the paper prints no value."""
        return self.printed == NOT_PRINTED


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
