"""Generators of the data sets used in the papers."""

from eigenscape.datasets.heads import heads
from eigenscape.datasets.images import bars
from eigenscape.datasets.planar import spiral, two_arcs, two_clusters
from eigenscape.datasets.rolls import swiss_roll, twisted_roll
from eigenscape.datasets.uniform import random_graph, sphere

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
