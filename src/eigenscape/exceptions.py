"""Errors and warnings of the package."""

from __future__ import annotations

__all__ = [
    "DataRangeError",
    "DegenerateSpectrumWarning",
    "DependentCoordinatesWarning",
    "DisconnectedGraphError",
    "DisconnectedGraphWarning",
    "InputFileError",
    "IsolatedPointWarning",
    "LongComputationWarning",
    "MissingDependencyError",
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
    "UndefinedKernelError",
    "UndefinedMapError",
    "VersionMismatchError",
    "VersionMismatchWarning",
    "WeakEvidenceWarning",
    "WriteError",
]


class DataRangeError(ValueError):
    """Finite values are too large, or all too small, for the arithmetic of a method."""


class DisconnectedGraphWarning(UserWarning):
    """The neighbourhood graph has several connected components."""


class DisconnectedGraphError(ValueError):
    """The neighbourhood graph has several components, which may not or cannot be connected."""


class IsolatedPointWarning(UserWarning):
    """A point has no affinity to any training point."""


class DegenerateSpectrumWarning(UserWarning):
    """Eigenvalues are zero or below rounding level, so the data do not determine these coordinates."""


class DependentCoordinatesWarning(UserWarning):
    """Fewer eigenvectors are functionally independent than coordinates were requested."""


class WeakEvidenceWarning(UserWarning):
    """A number of clusters was chosen, but no number of clusters is stable."""


class PreimageWarning(UserWarning):
    """Some points of feature space have no pre-image, or the search for it did not converge."""


class ToleranceWarning(UserWarning):
    """A dictionary does not reach the requested accuracy."""


class NotConvergedError(RuntimeError):
    """An eigensolver did not converge.

    The attribute ``residuals`` holds the residuals of the eigenpairs, and ``embedding_`` the coordinates that
    they give, or the eigenvectors if the error was not raised by ``fit``; None if nothing was computed.
    """

    def __init__(self, message: str, residuals: object = None, embedding: object = None) -> None:
        super().__init__(message)
        self.residuals, self.embedding_ = residuals, embedding


class RankError(ValueError):
    """More components were requested than the kernel has usable eigenvalues.

    The attribute ``rank`` is the number of components that there are; 0 if it is not known.
    """

    def __init__(self, message: str, rank: int = 0) -> None:
        super().__init__(message)
        self.rank = rank


class UndefinedKernelError(ValueError):
    """The kernel of a method is not defined between two new points."""


class UndefinedMapError(ValueError):
    """The requested map is not defined at some training points."""


class PoleWarning(UserWarning):
    """A map divides by a function that changes sign between training points, where the map has a pole."""


class NotEnoughMemoryError(MemoryError):
    """A computation needs more memory than is available."""


class LongComputationWarning(UserWarning):
    """A computation will take many minutes, hours or days; the message names a faster way."""


class SingularNoiseWarning(UserWarning):
    """The noise covariance is singular in directions of the signal, and was regularised."""


class NotConvergedWarning(UserWarning):
    """An iteration ended before it reached its tolerance; the model is usable."""


class NoiseFloorWarning(UserWarning):
    """A noise variance is at its lower bound, or a mixture component is empty.

    Likelihoods depend on the bound.
    """


class MissingDependencyError(ImportError):
    """An optional dependency is not installed. The message names the extra that installs it."""


class InputFileError(ValueError):
    """A file is empty, damaged, of another format, or holds values that cannot be used."""


class ModelFileError(InputFileError):
    """A model file is damaged, of another format, or holds types that a model file may not hold."""


class WriteError(OSError):
    """A file could not be written; an existing file is unchanged."""


class SchedulerError(ConnectionError):
    """No dask scheduler responds at the given address."""


class VersionMismatchError(RuntimeError):
    """A worker of a cluster has another version of eigenscape, or none."""


class VersionMismatchWarning(UserWarning):
    """Workers of a cluster have other versions of the libraries on which results depend."""
