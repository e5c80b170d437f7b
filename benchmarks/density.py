"""Density of held-out rows: manifold Parzen windows beside kernel density and a mixture of Gaussians.

``python -m benchmarks.density`` prints the mean log density of rows that were left out (a quarter), which all
models choose their parameters without. Rows are the first 20 principal coordinates of real data.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from benchmarks.real_data import SOURCES, absence, load
from eigenscape import ManifoldParzen


def data_sets(n_rows: int = 2000) -> Iterator[tuple[str, np.ndarray]]:
    """Yield a title and rows for each data set that is available."""
    yield "swiss roll, noise 0.1", make_swiss_roll(1500, noise=0.1, random_state=0)[0]
    for name in ("digits", "mnist_mixed", "pbmc", "glove"):
        if not absence(name):
            X = load(name)[0][:n_rows].astype(np.float64)
            yield SOURCES[name].title, PCA(20, random_state=0).fit_transform(X)


def kernel_density(X: np.ndarray) -> KernelDensity:
    """Return a kernel density whose width is chosen by cross-validation."""
    scale = float(X.std(axis=0).mean())
    grid = {"bandwidth": scale * np.geomspace(0.05, 1.5, 18)}
    return GridSearchCV(KernelDensity(), grid, cv=3).fit(X).best_estimator_


def mixture(X: np.ndarray) -> GaussianMixture:
    """Return a mixture of Gaussians whose size is chosen by cross-validation."""
    grid = {"n_components": [1, 2, 4, 8, 16]}
    return GridSearchCV(GaussianMixture(reg_covar=1e-3, random_state=0), grid, cv=3).fit(X).best_estimator_


def main() -> None:
    """Print the comparison as a table in Markdown."""
    print("| data | ManifoldParzen | KernelDensity | GaussianMixture |\n| --- | --- | --- | --- |")
    for title, X in data_sets():
        X = X[np.random.default_rng(0).permutation(len(X))]
        rows, held_out = X[: 3 * len(X) // 4], X[3 * len(X) // 4 :]
        cells = []
        for fit in (ManifoldParzen().fit, kernel_density, mixture):
            start = time.perf_counter()
            density = fit(rows).score_samples(held_out).mean()
            cells.append(f"{density:.2f}, {time.perf_counter() - start:.1f} s")
        print(f"| {title}, {len(rows)} x {X.shape[1]} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
