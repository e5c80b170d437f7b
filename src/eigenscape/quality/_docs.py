"""Descriptions of parameters that several measures share; see :mod:`eigenscape._docstrings`."""

from __future__ import annotations

from eigenscape._docstrings import documented_by, parse_entries

ENTRIES = parse_entries("""
X : array-like or sparse array of shape (n_samples, n_features)
    The data, or distances (n_samples, n_samples) if ``metric="precomputed"``.
X/points : array-like or sparse array of shape (n_points, n_features)
    The data, or distances (n_points, n_points) if ``metric="precomputed"``.
X/rows : array-like of shape (n_samples, n_features)
    The data.
embedding : array-like of shape (n_samples, n_components)
    Coordinates of the embedding.
embedding/points : array-like of shape (n_points, n_components)
    Coordinates of the embedding.
n_neighbors : int
    Number of neighbours.
n_samples : int or None
    Sample size. If None or at least ``n_points``, the exact value is computed.
metric : str or callable
    Metric of the data. Distances in the embedding are Euclidean.
fraction : float
    Fraction of the training points exchanged in each split, between 0 and 0.5.
n_repeats : int
    Number of splits, at least 2.
random_state/sample : int or None
    Seed of the sample.
random_state/splits : int or None
    Seed of the splits.
n_jobs : int or None
    Number of threads.
""")

#: Decorator of functions with names of these entries in their docstrings.
documented = documented_by(ENTRIES)
