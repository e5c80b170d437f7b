"""Kernels: similarities of two points, distances, graph affinities and local reconstruction weights."""

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
from eigenscape.kernels.variable import VariableGaussian

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
