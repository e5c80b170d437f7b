"""Distortion of four corrections for a missing constant eigenvector.

Brand sec. 2.1 and fig. 1: a graph of 50 vertices with random weights is embedded by a linear map of four
random features, whose span does not contain the constant. Averaged over a million trials, the distortion
above the optimum is lowest for the reweighted map, followed by affine, stochastic and raw, if all maps are
scaled to the same ``trace(Y D Y')``. This trace depends on translations, the distortion does not: with the
D-mean removed and ``Y D Y' = I`` the order is different.

The paper does not say how the random features are distributed. The order needs features of mean zero, such
as the normal ones used here: with positive features ``v_1'z`` is almost constant, and the affine map is best.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

from eigenscape.exceptions import PoleWarning
from eigenscape.methods.graph_embedding import FeatureMap, solve_transformation
from eigenscape.methods.quadratic_forms import FeatureBasis
from eigenscape.quality import distortion
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Brand 2003, fig. 1"
CORRECTIONS = ("reweighted", "affine", "stochastic", "raw")
#: Ranges of features with another distribution than the normal one.
OTHER_FEATURES = {"uniform on [0, 1]": (0.0, 1.0), "uniform on [-1, 1]": (-1.0, 1.0)}
_VERTICES, _ROWS, _BATCH = 50, 4, 100


def run(context: Context) -> Outcome:
    """Average the distortions over batches of trials."""
    trials = context.pick(full=1_000_000, quick=40_000, tiny=2000)
    seeds = np.random.SeedSequence(context.seed).spawn(trials // _BATCH)
    totals, squares = np.zeros((4, 2)), np.zeros((4, 2))
    with ThreadPoolExecutor(joblib.effective_n_jobs(-1)) as pool:
        # The order is fixed, so that the sum does not depend on the number of cores.
        for total, square in pool.map(_batch, seeds):
            totals, squares = totals + total, squares + square
    means = totals / trials
    errors = np.sqrt((squares / trials - means**2) / trials)
    printed, centred = means.T
    others = {name: other_features(name, context.seed, min(trials, 4000)) for name in OTHER_FEATURES}
    positive = others["uniform on [0, 1]"]
    few = random_graphs(np.random.default_rng(seeds[0]), 20)
    gap = float(np.abs(excess(*few) - np.array([by_library(W, Z) for W, Z in zip(*few, strict=True)])).max())
    steps = np.diff(printed) / np.hypot(errors[1:, 0], errors[:-1, 0])
    claims = [
        Claim(
            "lowest to highest distortion: reweighted, affine, stochastic, raw (normal features)",
            "this order (bars without numbers), 10^6 trials",
            f"{', '.join(f'{value:.4f}' for value in printed)} in this order;"
            f" the smallest difference is {steps.min():.0f} standard errors",
            bool((steps > 2).all()),
            criterion="each difference above 2 standard errors",
        ),
        Claim(
            "with the D-mean removed the affine map is best (additional check)",
            "not printed",
            ", ".join(f"{name} {value:.4f}" for name, value in zip(CORRECTIONS, centred, strict=True)),
            bool(centred.argmin() == 1),
            criterion="affine lowest",
            kind="check",
        ),
        Claim(
            "the batched computation agrees with the maps of the library",
            "not printed",
            f"largest difference {gap:.0e} in 20 trials",
            gap < 1e-8,
            criterion="below 1e-8",
            kind="check",
        ),
    ]
    claims.append(
        Claim(
            "the order needs features of mean zero: with uniform features on [0, 1] it is another one",
            NOT_PRINTED,
            "; ".join(
                f"{name}: " + ", ".join(f"{c} {v:.3f}" for c, v in zip(CORRECTIONS, values[0], strict=True))
                for name, values in others.items()
            ),
            bool(positive[0, 0] - positive[0, 1] > 2 * np.hypot(*positive[1, :2])),
            criterion="the affine map better than the reweighted one by more than 2 standard errors",
            kind="check",
        )
    )
    numbers = {
        "trials": trials,
        "corrections": CORRECTIONS,
        "excess": {"equal_trace": printed, "centred": centred},
        "standard_error": {"equal_trace": errors[:, 0], "centred": errors[:, 1]},
        "excess_with_other_features": {name: values[0] for name, values in others.items()},
    }
    return Outcome(claims, _figure(trials, means, errors, positive), numbers, "generated")


def other_features(name: str, seed: int, trials: int) -> np.ndarray:
    """Return means and standard errors (2, 4) of the excess distortions, scaled to an equal trace."""
    low, high = OTHER_FEATURES[name]
    values = []
    for rng in np.random.default_rng([seed, 1]).spawn(trials // _BATCH):
        W, Z = random_graphs(rng, _BATCH)
        values.append(excess(W, rng.uniform(low, high, Z.shape))[:, :, 0])
    every = np.concatenate(values)
    return np.stack([every.mean(axis=0), every.std(axis=0) / np.sqrt(len(every))])


def _batch(seed: np.random.SeedSequence) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of the excess distortions and of their squares over a batch of trials."""
    values = excess(*random_graphs(np.random.default_rng(seed), _BATCH))
    return values.sum(axis=0), np.square(values).sum(axis=0)


def random_graphs(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return symmetric uniform weights (count, 50, 50) without loops, and normal features (count, 50, 4)."""
    W = np.triu(rng.random((count, _VERTICES, _VERTICES)), 1)
    return W + W.transpose(0, 2, 1), rng.standard_normal((count, _VERTICES, _ROWS))


def excess(W: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the distortion above the optimum for each trial and correction (count, 4, 2).

    The last axis is the scaling: equal trace, and centred with ``Y D Y' = I``.
    """
    D = W.sum(axis=2)
    root = np.sqrt(D)
    best = np.linalg.eigvalsh(W / root[:, :, None] / root[:, None, :])[:, ::-1][:, 1:_ROWS]
    Y = _smooth_coordinates(Z, W, D)
    ones = np.ones((*Z.shape[:2], 1))
    maps = {
        "reweighted": Y[:, :, 1:] / Y[:, :, :1],
        "affine": _smooth_coordinates(np.concatenate([Z, ones], axis=2), W, D)[:, :, 1:_ROWS],
        "stochastic": _smooth_coordinates(Z / Y[:, :, :1], W, D)[:, :, 1:],  # eq. 12
        "raw": Y[:, :, 1:],
    }
    distortions = np.stack([_distortions(maps[name], W, D) for name in CORRECTIONS], axis=1)
    return distortions - (1 - best).sum(axis=1)[:, None, None]


def _smooth_coordinates(Z: np.ndarray, W: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return the coordinates of Brand eq. 8 with ``Y D Y' = I``, by the Cholesky factor of eq. 9-11."""
    inverse = np.linalg.inv(np.linalg.cholesky(Z.transpose(0, 2, 1) @ (D[:, :, None] * Z)))
    Q = Z @ inverse.transpose(0, 2, 1)
    return Q @ np.linalg.eigh(Q.transpose(0, 2, 1) @ (W @ Q))[1][:, :, ::-1]


def _distortions(Y: np.ndarray, W: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return the distortions (count, 2) with ``trace(Y D Y') = d``, and centred with ``Y D Y' = I``."""
    centred = Y - ((D[:, None, :] @ Y) / D.sum(axis=1)[:, None, None])
    stretch = Y.transpose(0, 2, 1) @ (D[:, :, None] * Y - W @ Y)
    sizes = [part.transpose(0, 2, 1) @ (D[:, :, None] * part) for part in (Y, centred)]
    scaled = Y.shape[2] * np.trace(stretch, axis1=1, axis2=2) / np.trace(sizes[0], axis1=1, axis2=2)
    return np.stack([scaled, np.trace(np.linalg.solve(sizes[1], stretch), axis1=1, axis2=2)], axis=1)


def by_library(W: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the excess distortions of one trial (4, 2), computed by the maps of the library."""
    D = W.sum(axis=1)
    best = np.sum(1 - np.linalg.eigvalsh(W / np.sqrt(D) / np.sqrt(D)[:, None])[::-1][1:_ROWS])
    values = []
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", PoleWarning
        )  # most of these maps have a pole, as features have both signs
        for correction in CORRECTIONS:
            basis = FeatureBasis(Z)
            solution = solve_transformation(basis, sparse.csr_array(W), D, _ROWS - 1, correction)  # type: ignore[arg-type]
            Y = FeatureMap(solution)(Z)
            scaled = Y.shape[1] * np.sum(Y * (D[:, None] * Y - W @ Y)) / np.sum(D[:, None] * Y * Y)
            values.append((scaled - best, distortion(Y, W) - best))
    return np.array(values)


def _figure(trials: int, means: np.ndarray, errors: np.ndarray, positive: np.ndarray) -> Figure:
    """Draw bars of the mean excess distortion for both scalings, and for positive features."""
    figure = new_figure(f"Distortion of each correction, mean over {trials:,} random graphs", 13, 4.2)
    panels = [
        ("same trace(Y D Y'), as printed", means[:, 0], errors[:, 0]),
        ("D-mean removed, Y D Y' = I", means[:, 1], errors[:, 1]),
        ("same trace, features uniform on [0, 1]", *positive),
    ]
    all_axes = figure.subplots(1, 3, sharey=True)
    for axes, (title, heights, whiskers) in zip(all_axes, panels, strict=True):
        bars = axes.bar(CORRECTIONS, heights, yerr=1.96 * whiskers, color=COLORS[:4], width=0.65, capsize=3)
        axes.bar_label(bars, fmt="%.3f", padding=3)
        axes.set(title=title, ylim=(0, 1.15 * max(means.max(), positive[0].max())))
    all_axes[0].set_ylabel("mean distortion above the optimum")
    return figure
