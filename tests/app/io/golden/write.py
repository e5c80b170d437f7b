"""Write golden model files: small models of every kind, and what they compute.

python tests/app/io/golden/write.py NAME ...   # adds models; files that exist are never written again

Every later version of eigenscape must open these files and compute the same values.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

import eigenscape as es
from eigenscape.options import Dictionary, KNNGraph, Ordinal, RadiusGraph

FOLDER = Path(__file__).parent
EXPECTED = FOLDER / "expected.npz"
N_ROWS = 36


def data(kind: str) -> Any:
    """Return training samples of a kind."""
    rng = np.random.default_rng(7)
    t, height = 3 * np.pi * (rng.random(N_ROWS) - 0.5), 2 * rng.random(N_ROWS)
    rows = np.column_stack([np.sin(t), height, np.sign(t) * (np.cos(t) - 1)])
    if kind == "wide":
        rows = np.tanh(rows @ rng.standard_normal((3, 18)))
    if kind == "counts":
        rows = sparse.csr_array(rng.poisson(0.8, (N_ROWS, 9)) + np.eye(1, 9))
    if kind == "split":
        rows[: N_ROWS // 3] += 40
    if kind == "float32":
        rows = rows.astype(np.float32)
    if kind == "twins":
        rows = np.concatenate([rows[:-4], rows[:4]])
    if kind in ("distances", "similarities"):
        distances = cdist(rows, rows)
        return distances if kind == "distances" else np.exp(-distances)
    return rows


#: Estimator, parameters and kind of data of each model.
MODELS: dict[str, tuple[str, dict[str, Any], str]] = {
    "PCA": ("PCA", {}, "rows"),
    "PCA-whiten": ("PCA", {"whiten": True}, "wide"),
    "PCA-sparse": ("PCA", {}, "counts"),
    "ProbabilisticPCA": ("ProbabilisticPCA", {}, "wide"),
    "MixturePPCA": ("MixturePPCA", {"n_init": 2}, "wide"),
    "OrientedPCA": ("OrientedPCA", {}, "classes"),
    "LocalityPreservingProjection": ("LocalityPreservingProjection", {"n_neighbors": 6}, "wide"),
    "ProjectionPursuit": ("ProjectionPursuit", {}, "rows"),
    "KernelPCA": ("KernelPCA", {}, "rows"),
    "KernelPCA-poly": ("KernelPCA", {"kernel": "poly"}, "float32"),
    "KernelPCA-cosine": ("KernelPCA", {"kernel": "cosine"}, "counts"),
    "KernelPCA-laplacian": ("KernelPCA", {"kernel": "laplacian"}, "wide"),
    "KernelPCA-sigmoid": ("KernelPCA", {"kernel": "sigmoid", "order": "magnitude"}, "rows"),
    "KernelPCA-precomputed": ("KernelPCA", {"kernel": "precomputed"}, "similarities"),
    "KernelPCA-dictionary": ("KernelPCA", {"approximation": Dictionary(12)}, "rows"),
    "ClassicalMDS": ("ClassicalMDS", {}, "rows"),
    "ClassicalMDS-clip": ("ClassicalMDS", {"metric": "cityblock", "indefinite": "clip"}, "wide"),
    "ClassicalMDS-shift": ("ClassicalMDS", {"metric": "cityblock", "indefinite": "shift"}, "wide"),
    "ClassicalMDS-precomputed": ("ClassicalMDS", {"metric": "precomputed"}, "distances"),
    "OrdinalMDS": ("OrdinalMDS", {"n_init": 1}, "rows"),
    "LandmarkMDS": ("LandmarkMDS", {"n_landmarks": 9}, "rows"),
    "FastMap": ("FastMap", {}, "rows"),
    "MetricMap": ("MetricMap", {}, "rows"),
    "Isomap": ("Isomap", {"n_neighbors": 6}, "rows"),
    "Isomap-wide": ("Isomap", {"n_neighbors": 6}, "wide"),
    "Isomap-landmarks": ("Isomap", {"n_neighbors": 6, "n_landmarks": 9}, "rows"),
    "Isomap-ordinal": ("Isomap", {"n_neighbors": 6, "ordinal": Ordinal(n_init=1)}, "rows"),
    "Isomap-precomputed": ("Isomap", {"n_neighbors": 6, "metric": "precomputed"}, "distances"),
    "Isomap-split": ("Isomap", {"n_neighbors": 4, "on_disconnected": "per_component"}, "split"),
    "LocallyLinearEmbedding": ("LocallyLinearEmbedding", {"n_neighbors": 7}, "rows"),
    "LocallyLinearEmbedding-ltsa": ("LocallyLinearEmbedding", {"n_neighbors": 8, "method": "ltsa"}, "wide"),
    "LocallyLinearEmbedding-c": ("LocallyLinearEmbedding", {"n_neighbors": 7, "c": 2.0}, "twins"),
    "LaplacianEigenmaps": ("LaplacianEigenmaps", {"n_neighbors": 6}, "rows"),
    "LaplacianEigenmaps-rbf": ("LaplacianEigenmaps", {"affinity": "rbf"}, "wide"),
    "LaplacianEigenmaps-radius": ("LaplacianEigenmaps", {"affinity": RadiusGraph(1.3)}, "twins"),
    "LaplacianEigenmaps-split": (
        "LaplacianEigenmaps",
        {"n_neighbors": 4, "on_disconnected": "per_component"},
        "split",
    ),
    "LaplacianEigenmaps-largest": (
        "LaplacianEigenmaps",
        {"n_neighbors": 4, "on_disconnected": "largest"},
        "split",
    ),
    "LaplacianEigenmaps-dictionary": (
        "LaplacianEigenmaps",
        {"affinity": "rbf", "approximation": Dictionary(12)},
        "rows",
    ),
    "LaplacianEigenmaps-sparse": ("LaplacianEigenmaps", {"n_neighbors": 6}, "counts"),
    "DiffusionMap": ("DiffusionMap", {"affinity": "rbf"}, "rows"),
    "DiffusionMap-graph": ("DiffusionMap", {"affinity": "nearest_neighbors", "n_neighbors": 6}, "wide"),
    "SpectralClustering": ("SpectralClustering", {"n_clusters": 3, "n_neighbors": 6}, "rows"),
    "SpectralClustering-threshold": (
        "SpectralClustering",
        {"n_clusters": 2, "n_neighbors": 6, "assign_labels": "threshold"},
        "rows",
    ),
    "KernelEigenmap": ("KernelEigenmap", {"n_neighbors": 6}, "rows"),
    "GreedySpectralEmbedding": ("GreedySpectralEmbedding", {"dictionary": Dictionary(tol=1e-2)}, "rows"),
    "GreedySpectralEmbedding-divisive": (
        "GreedySpectralEmbedding",
        {"dictionary": Dictionary(tol=1e-2), "normalization": "divisive"},
        "float32",
    ),
    "GreedySpectralEmbedding-stream": (
        "GreedySpectralEmbedding",
        {"dictionary": Dictionary(tol=1e-2)},
        "stream",
    ),
    "DistortionDiscriminantAnalysis": (
        "DistortionDiscriminantAnalysis",
        {"layers": [(2, 3, 2)]},
        "distorted",
    ),
    "standardized": ("KernelPCA", {}, "standardized"),
    "compact": ("Isomap", {"n_neighbors": 6}, "compact"),
    "FactorAnalysis": ("FactorAnalysis", {"n_components": 1}, "wide"),
    "ProjectionPursuitRegressor": ("ProjectionPursuitRegressor", {"n_terms": 1}, "classes"),
    "ProjectionPursuitDensity": ("ProjectionPursuitDensity", {}, "rows"),
    "EigenfunctionClassifier": ("EigenfunctionClassifier", {}, "classes"),
    "EigenfunctionRegressor": ("EigenfunctionRegressor", {}, "classes"),
    "ManifoldParzen": ("ManifoldParzen", {"n_neighbors": 5, "n_components": 2, "noise": 0.1}, "rows"),
    "EigenspaceDensity": ("EigenspaceDensity", {"n_mixtures": 2}, "rows"),
    "ParametricMap": ("ParametricMap", {"n_features": 10}, "rows"),
    "NeighborEmbedding": ("NeighborEmbedding", {"n_neighbors": 6, "max_iter": 50}, "rows"),
    "AlignedSpectralMaps": ("AlignedSpectralMaps", {"n_neighbors": 5, "coupling": 1.0}, "views"),
    "PotentialMap": ("PotentialMap", {"n_neighbors": 6, "n_landmarks": 20}, "rows"),
    "SpectralClustering-discretize": (
        "SpectralClustering",
        {"n_clusters": 3, "n_neighbors": 6, "assign_labels": "discretize"},
        "rows",
    ),
    "LaplacianEigenmaps-local": ("LaplacianEigenmaps", {"affinity": KNNGraph(6, weights="local")}, "rows"),
}


def fit(name: str) -> Any:
    """Return a fitted model."""
    method, parameters, kind = MODELS[name]
    model, train = getattr(es, method)(**parameters), data(kind)
    if kind == "classes":
        return model.fit(train, np.arange(len(train)) % 3)
    if kind == "views":
        return model.fit({"a": train, "b": train[:20] + 1}, links={"a": np.arange(36), "b": np.arange(20)})
    if kind == "stream":
        return model.partial_fit(train[:20]).partial_fit(train[20:])
    if kind == "distorted":
        return model.fit(train, distorted=[train + 0.1 * np.sin(7 * train)])
    if kind == "standardized":
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), model).fit(train)
    return model.fit(train)


def new_samples(name: str) -> Any:
    """Return seven samples: rows that were not used for fitting, or rows of a precomputed matrix."""
    _, _, kind = MODELS[name]
    rows = data(kind)
    if kind in ("distances", "similarities", "counts"):
        return rows[:7]
    return (rows if kind == "distorted" else rows[:7]) * rows.dtype.type(1.01)


def compute(model: Any, name: str) -> np.ndarray:
    """Return the coordinates, predictions or densities of new samples."""
    methods = ("transform", "predict", "score_samples")
    method = next(getattr(model, each) for each in methods if hasattr(model, each))
    view = {"view": "a"} if MODELS[name][2] == "views" else {}
    return np.asarray(method(new_samples(name), **view), dtype=np.float64)


def write(name: str) -> None:
    """Write the file of a model, and add what it computes to the expected values."""
    path = FOLDER / f"{name}.eigenscape"
    model = fit(name)
    es.save(model, path, compact=20 if name == "compact" else None, notes=f"golden file {name}")
    expected = dict(np.load(EXPECTED)) if EXPECTED.exists() else {}
    expected[name] = compute(es.load(path), name)
    np.savez_compressed(EXPECTED, **expected)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        write(name)
