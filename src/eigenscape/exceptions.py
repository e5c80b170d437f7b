"""Errors and warnings a caller may want to catch by name."""

from __future__ import annotations

__all__ = [
    "DegenerateSpectrumWarning",
    "DependentCoordinatesWarning",
    "DisconnectedGraphError",
    "DisconnectedGraphWarning",
    "InputFileError",
    "IsolatedPointWarning",
    "MissingDependencyError",
    "MissingDependencyWarning",
    "ModelFileError",
    "NoiseFloorWarning",
    "NotConvergedError",
    "NotConvergedWarning",
    "NotEnoughMemoryError",
    "PoleWarning",
    "PreimageWarning",
    "RankError",
    "SchedulerError",
    "SingularNoiseWarning",
    "ToleranceWarning",
    "UndefinedMapError",
    "VersionMismatchError",
    "VersionMismatchWarning",
    "WriteError",
]


class DisconnectedGraphWarning(UserWarning):
    """The neighbourhood graph has several connected components."""


class DisconnectedGraphError(ValueError):
    """The neighbourhood graph has several components and may not, or cannot, be joined."""


class IsolatedPointWarning(UserWarning):
    """A point has no affinity to any training point."""


class DegenerateSpectrumWarning(UserWarning):
    """The wanted eigenvalues are not resolved: the coordinates are not determined by the data."""


class DependentCoordinatesWarning(UserWarning):
    """Fewer eigenvectors are independent of one another than coordinates were asked for."""


class PreimageWarning(UserWarning):
    """Some points of feature space have no pre-image, or the search for it stopped early."""


class ToleranceWarning(UserWarning):
    """A dictionary could not be made as accurate as was asked."""


class NotConvergedError(RuntimeError):
    """An eigen-solver stopped before its pairs were good. Carries ``residuals``."""

    def __init__(self, message: str, residuals: object = None) -> None:
        super().__init__(message)
        self.residuals = residuals


class RankError(ValueError):
    """More components were asked for than the kernel has usable eigenvalues."""


class UndefinedMapError(ValueError):
    """The map asked for has no value at some training points."""


class PoleWarning(UserWarning):
    """A map divides by a function that changes its sign between training points, and is infinite where it
    does."""


class NotEnoughMemoryError(MemoryError):
    """The work would need more memory than the machine has free."""


class SingularNoiseWarning(UserWarning):
    """The noise leaves directions of the signal untouched, and was regularised."""


class NotConvergedWarning(UserWarning):
    """An iteration that improves a model step by step ended before it stopped improving; the model is
    usable."""


class NoiseFloorWarning(UserWarning):
    """A noise variance fell to its floor, or a part of a mixture lost its rows: likelihoods depend on the
    floor."""


class MissingDependencyError(ImportError):
    """An optional dependency is not installed. The message names the extra that installs it."""


class MissingDependencyWarning(UserWarning):
    """An optional dependency is not installed, and a slower method is used. The message names the extra."""


class InputFileError(ValueError):
    """A file is not what it was taken for: empty, damaged, of another kind, or holding values that cannot be
    used."""


class ModelFileError(InputFileError):
    """A model file is damaged, too new, or holds what a model file may not hold."""


class WriteError(OSError):
    """A file could not be written; what stood there before is unchanged."""


class SchedulerError(ConnectionError):
    """No dask scheduler answers where one was said to be."""


class VersionMismatchError(RuntimeError):
    """A worker of a cluster runs another version of eigenscape, or none."""


class VersionMismatchWarning(UserWarning):
    """Workers of a cluster have other versions of the libraries that arrays and models are made of."""
