"""Normalisations: each turns a bound kernel into another bound kernel."""

from eigenscape.normalize.center import CenteredKernel, center, uniform_weights
from eigenscape.normalize.divide import DividedKernel, divide
from eigenscape.normalize.repair import ClippedKernel, ShiftedKernel, shift

__all__ = [
    "CenteredKernel",
    "ClippedKernel",
    "DividedKernel",
    "ShiftedKernel",
    "center",
    "divide",
    "shift",
    "uniform_weights",
]
