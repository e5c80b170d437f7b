"""Preprocessing: the neighbour graph."""

from eigenscape.sc._neighbors import neighbors

__all__ = ["neighbors"]
