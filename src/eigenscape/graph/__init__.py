"""Neighbour search, neighbourhood graphs, connected components and geodesic distances."""
