"""Neighbours, neighbourhood graphs, their components and geodesics."""
