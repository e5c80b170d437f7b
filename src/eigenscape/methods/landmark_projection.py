"""Landmark MDS whose axes are those of all points, projected on the span of the landmarks (Ouimet sec. 3, 6).

A kernel of distances that are not Euclidean is indefinite, and no projection exists in its feature space. The
positive part of the landmarks' Gram matrix takes its place, without the eigenvalues that are not larger than
the most negative one: these are as large as the deviation of the distances from Euclidean ones, and their
features, divided by the roots of the eigenvalues, would consist of that deviation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from eigenscape.dictionary.projected import ProjectedKernel
from eigenscape.eigenfunctions import Embedding, RootScale
from eigenscape.kernels.base import BoundKernel, product
from eigenscape.methods.dictionary_embedding import feature_eigenfunctions
from eigenscape.methods.kernel_pca import usable_count
from eigenscape.normalize import center
from eigenscape.operators import CenteredOperator, gram
from eigenscape.solvers import SolverConfig


def projected_mds(distance: BoundKernel, X: Any, n_components: int, solver: SolverConfig) -> Embedding:
    """Return the principal axes of all points ``X``, projected on the span of the landmarks.

    ``distance`` is bound to the landmarks. The features of a point are its coordinates in the landmark MDS
    (Bengio eq. 15) with as many coordinates as there are eigenvalues above the magnitude of the most negative
    one, at least ``n_components`` if there are as many positive ones.
    """
    half_squares = gram(distance, n_jobs=solver.n_jobs)
    kernel = center(distance, half_squares)  # Platt's means, over the landmarks
    matrix = CenteredOperator(half_squares, kernel.weights).matrix()
    values, vectors = linalg.eigh(matrix)
    values, vectors = values[::-1], vectors[:, ::-1]
    n_positive = usable_count(values, "value", len(values), float(np.abs(matrix).max()))
    rank = min(max(int((values > -values[-1]).sum()), n_components), n_positive)
    directions = vectors[:, :rank] / np.sqrt(values[:rank])  # T (q, rank)
    features = product(kernel, X, directions)  # (n, rank)
    mean = features.mean(axis=0)
    features -= mean
    projected = ProjectedKernel(kernel, directions, mean, X)
    functions = feature_eigenfunctions(projected, features, min(n_components, rank))
    return Embedding(functions, RootScale(np.sqrt(functions.pairs.values / functions.n_train)))
