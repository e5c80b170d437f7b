"""Data of the papers' experiments, made on demand."""

from eigenscape.datasets.rolls import twisted_roll

__all__ = ["twisted_roll"]
