"""Preprocessing: the neighbour graph."""

from eigenscape.sc._graph import neighbors

__all__ = ["neighbors"]
