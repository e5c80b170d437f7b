"""Data of the papers' experiments, made on demand."""

from eigenscape.datasets.rolls import swiss_roll, twisted_roll

__all__ = ["swiss_roll", "twisted_roll"]
