"""Laplacian eigenmaps change little with outliers, noise and the resolution of images.

Belkin and Niyogi sec. 1: (item 4) the locality preserving character of the algorithm makes it relatively
insensitive to outliers and noise, whereas global methods preserve all geodesic distances; (item 6) cameras of
different resolutions give embeddings of the same manifold in spaces of very different dimension, and the
algorithm produces similar representations independently of the resolution. The paper shows no experiment.

Outliers are uniform in the box around a swiss roll, noise is Gaussian in all directions, relative to the
standard deviation of the points. The map of the points with them is compared with the map without, after
linear regression, relative to its spread: 0 if the map is the same up to a linear map, 1 if nothing of it is
left. The same for Isomap, a global method, with the same neighbours. The images are views of a scene under
fixed lighting with a camera that moves in two directions, as in the paper's example; a pixel of a camera of
lower resolution is the mean of those of the highest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eigenscape.datasets import swiss_roll
from eigenscape.estimators import Isomap, LaplacianEigenmaps
from eigenscape.quality import linear_alignment
from experiments._experiment import Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Belkin and Niyogi 2003, sec. 1"
NEIGHBORS = 10
OUTLIERS = [0.005, 0.01, 0.02, 0.05, 0.1]  # fractions of the points
NOISE = [0.01, 0.02, 0.05, 0.1, 0.2]  # in standard deviations of the points
SIDES = [64, 32, 16, 8, 4]  # pixels


def run(context: Context) -> Outcome:
    """Compare maps with and without outliers and noise, and maps of images of several resolutions."""
    n, n_draws = context.pick((1000, 10), (600, 5), (300, 3))
    kinds = {"outliers": (OUTLIERS, with_outliers), "noise": (NOISE, with_noise)}
    changes: dict[str, dict[str, np.ndarray]] = {
        kind: {method: np.empty((len(levels), n_draws)) for method in _methods()}
        for kind, (levels, _) in kinds.items()
    }
    for draw in range(n_draws):
        X = swiss_roll(n, random_state=context.seed + draw)[0]
        plain = {method: estimator.fit_transform(X) for method, estimator in _methods().items()}
        for kind, (levels, disturb) in kinds.items():
            for i, level in enumerate(levels):
                disturbed = disturb(X, level, np.random.default_rng([context.seed, draw, i]))
                for method, estimator in _methods().items():
                    Y = estimator.fit_transform(disturbed)[:n]
                    changes[kind][method][i, draw] = linear_alignment(Y, plain[method]).error
    medians = {
        kind: {name: np.median(values, axis=1) for name, values in one.items()}
        for kind, one in changes.items()
    }
    sides = context.pick(SIDES, SIDES, SIDES[1:])
    images, positions = moving_camera(context.pick(1000, 600, 200), sides[0], context.seed)
    maps = {side: _methods()["Laplacian eigenmaps"].fit_transform(coarsened(images, side)) for side in sides}
    resolution = {
        side: linear_alignment(Y, maps[sides[0]]).error for side, Y in maps.items() if side != sides[0]
    }
    numbers = {
        "n_samples": n,
        "n_neighbors": NEIGHBORS,
        "draws": n_draws,
        "change": medians,
        "change_by_resolution": {f"{side} x {side}": value for side, value in resolution.items()},
    }
    claims = [
        *(relatively_insensitive(kind, kinds[kind][0], medians[kind]) for kind in kinds),
        Claim(
            "representations do not depend on the resolution of the images",
            "similar representations independently of the resolution",
            f"change from {sides[0]} x {sides[0]} pixels: "
            + ", ".join(f"{value:.2f} ({side} x {side})" for side, value in resolution.items()),
            bool(max(value for side, value in resolution.items() if side >= 8) < 0.2),
            criterion="less than 0.2 of the spread, down to 8 x 8 pixels",
            why="Images of 4 x 4 pixels are listed and not judged. Also tried: 300 rendered heads whose light"
            " varies, so that two coordinates cannot show all three parameters; the change is 0.07, 0.15 and"
            " 0.68 for 32, 16 and 8 pixels (seed 0).",
        ),
    ]
    return Outcome(claims, _draw(kinds, changes, maps, resolution, positions), numbers, "generated")


def _methods() -> dict[str, Any]:
    """Return the local and the global method."""
    return {
        "Laplacian eigenmaps": LaplacianEigenmaps(2, n_neighbors=NEIGHBORS),
        "Isomap": Isomap(2, n_neighbors=NEIGHBORS),
    }


def with_outliers(X: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Append points that are uniform in the box around the points."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.vstack([X, rng.uniform(low, high, (max(1, round(fraction * len(X))), X.shape[1]))])


def with_noise(X: np.ndarray, level: float, rng: np.random.Generator) -> np.ndarray:
    """Add Gaussian noise of ``level`` standard deviations of the points."""
    return X + level * np.sqrt(X.var(axis=0).mean()) * rng.standard_normal(X.shape)


def moving_camera(n: int, side: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return views (n, side^2) of a scene of blurred spots, and the positions (n, 2) of the camera.

    A view is a square of side 1; the camera moves over 1.2 x 0.8.
    """
    rng = np.random.default_rng([seed, n])
    spots, widths = rng.uniform(-0.2, [2.4, 2.0], (25, 2)), rng.uniform(0.08, 0.3, 25)
    positions = rng.uniform(0, [1.2, 0.8], (n, 2))
    pixels = (np.arange(side) + 0.5) / side
    across, down = (
        np.exp(-(((positions[:, [k]] + pixels)[:, :, None] - spots[:, k]) ** 2) / (2 * widths**2))
        for k in (0, 1)
    )  # (n, side, 25) each
    return np.einsum("nis,njs->nij", down, across, optimize=True).reshape(n, -1), positions


def coarsened(images: np.ndarray, side: int) -> np.ndarray:
    """Return square images with ``side`` x ``side`` pixels, each the mean of a block of pixels."""
    n, block = len(images), int(np.sqrt(images.shape[1])) // side
    return images.reshape(n, side, block, side, block).mean(axis=(2, 4)).reshape(n, -1)


def relatively_insensitive(kind: str, levels: list[float], medians: dict[str, np.ndarray]) -> Claim:
    """Return the claim that the local method changes less than the global one."""
    local, world = medians["Laplacian eigenmaps"], medians["Isomap"]
    shown = "; ".join(
        f"{level:.1%}: {a:.2f} (Isomap {b:.2f})" for level, a, b in zip(levels, local, world, strict=True)
    )
    fewer = int(np.sum(local < world))
    return Claim(
        f"Laplacian eigenmaps are relatively insensitive to {kind}",
        "relatively insensitive, in contrast to global methods",
        f"median change of the map with {kind} of {shown}",
        fewer > len(levels) / 2,
        f"Laplacian eigenmaps change less than Isomap at {fewer} of {len(levels)} levels.",
        criterion="changes less than Isomap with the same neighbours, at most of the levels",
    )


def _draw(
    kinds: dict[str, Any],
    changes: dict[str, dict[str, np.ndarray]],
    maps: dict[int, np.ndarray],
    resolution: dict[int, float],
    positions: np.ndarray,
) -> Figure:
    """Draw changes of the map by level, and maps of images of several resolutions."""
    figure = new_figure("Outliers, noise and resolution", 13, 6.4)
    grid = figure.add_gridspec(2, 12)
    for i, (kind, (levels, _)) in enumerate(kinds.items()):
        axes = figure.add_subplot(grid[0, 6 * i : 6 * i + 6])
        for (method, values), color in zip(changes[kind].items(), COLORS, strict=False):
            low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=1)
            axes.plot(100 * np.array(levels), middle, "o-", color=color, ms=4, label=method)
            axes.fill_between(100 * np.array(levels), low, high, color=color, alpha=0.15, lw=0)
        axes.set(
            title=f"change of the map of a swiss roll with {kind}, median and quartiles",
            xscale="log",
            xticks=100 * np.array(levels),
            xticklabels=[f"{100 * level:g}" for level in levels],
            xlabel="outliers, % of the points"
            if kind == "outliers"
            else "noise, % of the standard deviation",
            ylim=(0, 1.02),
        )
        axes.minorticks_off()
        axes.legend(loc="upper left", fontsize=9)
    shown = [side for side in maps if side != max(maps) or len(maps) < 5][-4:]
    reference = maps[max(maps)]
    for i, side in enumerate(shown):
        axes = figure.add_subplot(grid[1, 3 * i : 3 * i + 3])
        Y = linear_alignment(maps[side], reference).aligned
        axes.scatter(Y[:, 0], Y[:, 1], c=positions[:, 0], s=8, cmap="viridis")
        change = f": change {resolution[side]:.2f}" if side in resolution else ""
        axes.set(title=f"views of {side} x {side} pixels{change}", xticks=[], yticks=[])
    return figure
