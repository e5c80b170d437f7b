"""Kernels: similarities of two points, distances, graph affinities and local reconstruction weights."""

from eigenscape._lazy import attach
from eigenscape.kernels.base import BoundKernel, Kernel
from eigenscape.kernels.pairwise import (
    CallableKernel,
    Cosine,
    Gaussian,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    kernel_by_name,
)

TYPE_CHECKING = False

__all__ = [
    "BoundKernel",
    "CallableKernel",
    "Cosine",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "VariableGaussian",
    "kernel_by_name",
]

# It searches neighbours, whose indexes the other kernels do not load.
__getattr__, __dir__ = attach(__name__, {"VariableGaussian": f"{__name__}.variable"})

if TYPE_CHECKING:
    from eigenscape.kernels.variable import VariableGaussian
