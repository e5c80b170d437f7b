"""Estimators pull: what they call in the rooms below never calls an estimator back."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import eigenscape
from eigenscape.options import Dictionary, Ordinal

SOURCE = str(Path(eigenscape.__file__).parent)
ESTIMATORS = str(Path(SOURCE) / "estimators")
#: scikit-learn asks an estimator for its tags and parameters while it validates input.
PROTOCOL = {"__sklearn_tags__", "__sklearn_is_fitted__", "get_params", "__repr__", "__getstate__"}

X = np.random.default_rng(0).random((120, 3))
TWO_GROUPS = np.vstack([X, X + 10])
CASES = {
    "laplacian": (eigenscape.LaplacianEigenmaps(), X),
    "laplacian, per component": (
        eigenscape.LaplacianEigenmaps(n_neighbors=5, on_disconnected="per_component"),
        TWO_GROUPS,
    ),
    "laplacian, full kernel": (eigenscape.LaplacianEigenmaps(affinity="rbf"), X),
    "laplacian, independent": (eigenscape.LaplacianEigenmaps(independent=True), X),
    "laplacian, dictionary": (eigenscape.LaplacianEigenmaps(affinity="rbf", approximation=Dictionary(20)), X),
    "diffusion": (eigenscape.DiffusionMap(), X),
    "clustering": (eigenscape.SpectralClustering(3), X),
    "lle": (eigenscape.LocallyLinearEmbedding(), X),
    "isomap": (eigenscape.Isomap(), X),
    "isomap, connected": (eigenscape.Isomap(n_neighbors=5), TWO_GROUPS),
    "isomap, landmarks": (eigenscape.Isomap(n_landmarks="auto"), X),
    "isomap, ordinal": (eigenscape.Isomap(ordinal=Ordinal(n_init=1)), X),
    "kernel pca": (eigenscape.KernelPCA(), X),
    "mds": (eigenscape.ClassicalMDS(), X),
    "landmark mds": (eigenscape.LandmarkMDS(n_landmarks="auto"), X),
    "fastmap": (eigenscape.FastMap(), X),
    "metric map": (eigenscape.MetricMap(), X),
    "ordinal mds": (eigenscape.OrdinalMDS(n_init=1), X),
    "neighbour embedding": (eigenscape.NeighborEmbedding(max_iter=50), X),
    "potential map": (eigenscape.PotentialMap(n_landmarks=50), X),
    "kernel eigenmap": (eigenscape.KernelEigenmap(), X),
    "greedy": (eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(20)), X),
    "pca": (eigenscape.PCA(), X),
    "ppca": (eigenscape.ProbabilisticPCA(), X),
    "factors": (eigenscape.FactorAnalysis(), X),
    "mixture": (eigenscape.MixturePPCA(), X),
    "locality": (eigenscape.LocalityPreservingProjection(), X),
    "pursuit": (eigenscape.ProjectionPursuit(), X),
}


def room(frame):
    """Return the file of a frame if it belongs to the package, else None."""
    file = frame.f_code.co_filename
    return file if file.startswith(SOURCE) else None


def upward_calls(run):
    """Return the calls from a lower room into ``estimators/`` while ``run()`` is executed."""
    found = set()

    def watch(frame, event, arg):
        if event != "call" or not (room(frame) or "").startswith(ESTIMATORS):
            return
        if frame.f_code.co_name in PROTOCOL:
            return
        caller = frame.f_back
        while caller is not None and room(caller) is None:
            caller = caller.f_back
        if caller is not None and not room(caller).startswith(ESTIMATORS):
            found.add((room(caller).removeprefix(SOURCE), frame.f_code.co_qualname))

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("name", CASES)
def test_nothing_calls_an_estimator_back(name):
    estimator, data = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert upward_calls(lambda: estimator.fit(data).transform(data[:5] + 0.01)) == set()
