"""Generators of the data sets used in the papers."""

from eigenscape.datasets.rendered import bars, heads
from eigenscape.datasets.shapes import (
    random_graph,
    sphere,
    spiral,
    swiss_roll,
    twisted_roll,
    two_arcs,
    two_clusters,
)

__all__ = [
    "bars",
    "heads",
    "random_graph",
    "sphere",
    "spiral",
    "swiss_roll",
    "twisted_roll",
    "two_arcs",
    "two_clusters",
]
