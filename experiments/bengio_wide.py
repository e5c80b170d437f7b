"""Kernel PCA with a wide Gaussian kernel is linear PCA.

Bengio et al. sec. 5.1: kernel PCA with a Gaussian kernel tends to discriminate smaller regions of the data as
the bandwidth decreases, and a high bandwidth makes it equivalent to linear PCA. The points are those of
fig. 2.

The centred kernel of eq. 4 tends to ``2 <x, y> / sigma^2`` for centred points, so that coordinates times
``sigma / sqrt(2)`` are compared with those of PCA. The size of a region is the participation ratio of the
first eigenfunction, ``mean(f^2)^2 / mean(f^4)``: the fraction of points on which it is large.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from eigenscape.datasets import two_clusters
from eigenscape.estimators import PCA, KernelPCA
from eigenscape.plot import eigenfunction
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Bengio et al. 2004, sec. 5.1"
SIGMAS = np.array([0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0])
SHOWN = [0.1, 0.2, 1.0, 20.0]


def run(context: Context) -> Outcome:
    """Fit kernel PCA with several bandwidths and compare it with PCA."""
    X = two_clusters(random_state=context.seed)[0]
    models = {float(sigma): KernelPCA(2, kernel="rbf", gamma=1 / sigma**2).fit(X) for sigma in SIGMAS}
    linear = PCA(2).fit_transform(X)
    differences = np.array([difference(model.embedding_, linear, sigma) for sigma, model in models.items()])
    ratios = np.array([participation(model.eigenfunctions(X)[:, 0]) for model in models.values()])
    narrow = SIGMAS <= 0.5  # below the length of the curve, where the kernel is local
    wide = SIGMAS >= 10
    slope = float(np.polyfit(np.log(SIGMAS[wide]), np.log(differences[wide]), 1)[0])
    claims = [
        Claim(
            "a high bandwidth makes kernel PCA equivalent to linear PCA",
            "equivalent",
            "difference of the coordinates relative to their size "
            + ", ".join(f"{differences[s == SIGMAS][0]:.1g} (sigma {s:g})" for s in (1, 10, 100)),
            bool((np.diff(differences[SIGMAS >= 1]) < 0).all() and differences[-1] < 1e-3),
            criterion="decreases from sigma = 1 on, to less than 0.001",
        ),
        Claim(
            "as the bandwidth decreases, kernel PCA discriminates smaller regions",
            "smaller regions",
            "fraction of points on which the first eigenfunction is large "
            + ", ".join(
                f"{ratio:.2f} (sigma {s:g})" for s, ratio in zip(SIGMAS, ratios, strict=True) if s < 1
            ),
            bool((np.diff(ratios[narrow]) > 0).all()),
            criterion="decreases with sigma from 0.5 to 0.05, where the kernel is narrower than the data",
        ),
        Claim(
            "the difference decreases like the square of the bandwidth",
            NOT_PRINTED,
            f"exponent {slope:.3f} from sigma = 10 to 100",
            abs(slope + 2) < 0.05,
            criterion="-2, up to 0.05",
            kind="check",
        ),
    ]
    numbers = {
        "n_samples": len(X),
        "sigma": SIGMAS,
        "difference_from_pca": differences,
        "participation_ratio": ratios,
        "slope": slope,
    }
    resolution = context.pick(full=200, quick=120, tiny=30)
    return Outcome(claims, _draw(X, models, numbers, resolution), numbers, "generated")


def difference(Y: np.ndarray, linear: np.ndarray, sigma: float) -> float:
    """Return the relative difference between scaled coordinates and those of PCA, up to signs."""
    scaled = Y * sigma / np.sqrt(2)
    scaled = scaled * np.sign(np.sum(scaled * linear, axis=0))
    return float(np.linalg.norm(scaled - linear) / np.linalg.norm(linear))


def participation(f: np.ndarray) -> float:
    """Return ``mean(f^2)^2 / mean(f^4)``: 1 for a function of constant size, 1 / n for one point."""
    return float(np.mean(f**2) ** 2 / np.mean(f**4))


def _draw(X: np.ndarray, models: dict[float, KernelPCA], numbers: dict, resolution: int) -> Figure:
    """Draw first eigenfunctions over the plane, and the two measures by bandwidth."""
    figure = new_figure("Kernel PCA from narrow to wide kernels", 13, 6.2)
    grid = figure.add_gridspec(2, 4, height_ratios=[1.1, 1])
    low, high = X.min(axis=0) - 0.35, X.max(axis=0) + 0.35
    for i, sigma in enumerate(SHOWN):
        axes = figure.add_subplot(grid[0, i])
        eigenfunction(
            models[sigma],
            X=X,
            limits=(low[0], high[0], low[1], high[1]),
            resolution=resolution,
            title=f"first eigenfunction, sigma = {sigma:g}",
            ax=axes,
        )
        axes.set(xlabel="", ylabel="", xticks=[], yticks=[])
    left, right = figure.add_subplot(grid[1, :2]), figure.add_subplot(grid[1, 2:])
    left.loglog(numbers["sigma"], numbers["difference_from_pca"], "o-", color=COLORS[0], ms=4)
    left.set(title="relative difference of the coordinates from those of linear PCA", xlabel="sigma")
    right.semilogx(numbers["sigma"], numbers["participation_ratio"], "o-", color=COLORS[1], ms=4)
    right.set(title="fraction of points where the first eigenfunction is large", xlabel="sigma", ylim=(0, 1))
    return figure
