"""The loss of an embedding is the discarded spectrum, and its value on new points converges to it.

Bengio et al. sec. 4, proposition 3: the mean squared error of the kernel against its expansion in N
eigenfunctions decreases with N. On the training points it is the sum of the squares of the discarded
eigenvalues; its mean over new points converges to this value as the training set grows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eigenscape.datasets import spiral
from eigenscape.estimators import KernelPCA, LaplacianEigenmaps
from experiments._experiment import Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Bengio et al. 2004, proposition 3"
GAMMA = 1 / (2 * 0.2**2)
KEPT = 10  # number of eigenfunctions N when m is varied


def run(context: Context) -> Outcome:
    """Measure the loss for several N at fixed m, then for several m at fixed N."""
    largest = context.pick(full=3200, quick=1600, tiny=400)
    n_draws = context.pick(full=10, quick=5, tiny=3)
    sizes = [50 * 2**step for step in range(int(np.log2(largest / 50)) + 1)]
    orders = list(range(1, context.pick(21, 21, 7)))
    X, new = (
        spiral(count, random_state=context.seed + shift)[0] for count, shift in ((400, 0), (1000, 1000))
    )
    by_order = {name: _by_order(name, X, new, orders) for name in ("kernel PCA", "spectral clustering")}
    by_size = {name: _by_size(name, sizes, new, n_draws, context.seed) for name in by_order}
    claims = []
    for name in by_order:
        training, discarded = by_order[name]["training"], by_order[name]["discarded"]
        gap = float(np.max(abs(training - discarded) / discarded))
        first, last = by_size[name]["excess"][[0, -1]]
        claims += [
            Claim(
                f"{name}: training loss decreases with N",
                "decreases",
                f"{training[0]:.3g} to {training[-1]:.3g}",
                bool((np.diff(training) < 0).all()),
                criterion="lower at every step of N",
            ),
            Claim(
                f"{name}: training loss equals the discarded spectrum",
                "equal",
                f"relative difference {gap:.0e}",
                gap < 1e-8,
                criterion="below 1e-8",
            ),
            Claim(
                f"{name}: held-out loss converges to the training loss",
                "converges as m grows",
                f"relative difference {first:.1%} at m = {sizes[0]}, {last:.1%} at m = {sizes[-1]}",
                bool(last < first / 3),
                criterion="difference at the largest m below a third of that at the smallest",
            ),
        ]
    numbers = {
        "bandwidth": 0.2,
        "m": len(X),
        "orders": orders,
        "by_order": by_order,
        "kept": KEPT,
        "sizes": sizes,
        "draws": n_draws,
        "by_size": by_size,
    }
    return Outcome(claims, _draw(orders, by_order, sizes, by_size), numbers, "generated")


def _model(name: str, order: int) -> Any:
    """Return an unfitted estimator with ``order`` eigenfunctions."""
    return (
        KernelPCA(order, kernel="rbf", gamma=GAMMA)
        if name == "kernel PCA"
        else LaplacianEigenmaps(order, affinity="rbf", gamma=GAMMA)
    )


def _by_order(name: str, X: np.ndarray, new: np.ndarray, orders: list[int]) -> dict[str, np.ndarray]:
    """Return training loss, held-out loss and discarded spectrum for each number of eigenfunctions."""
    spectrum = np.linalg.eigvalsh(_model(name, 1).fit(X).kernel_(X))[::-1]
    trivial = int(
        name == "spectral clustering"
    )  # the constant eigenfunction is kept too, but is no coordinate
    models = [_model(name, order).fit(X) for order in orders]
    return {
        "training": np.array([model.loss() for model in models]),
        "held-out": np.array([model.loss(new) for model in models]),
        "discarded": np.array(
            [np.square(spectrum[order + trivial :]).sum() / len(X) ** 2 for order in orders]
        ),
    }


def _by_size(name: str, sizes: list[int], new: np.ndarray, n_draws: int, seed: int) -> dict[str, np.ndarray]:
    """Return the relative difference of held-out and training loss, per training set and its mean."""
    each = np.empty((len(sizes), n_draws))
    for row, size in enumerate(sizes):
        for draw in range(n_draws):
            model = _model(name, KEPT).fit(spiral(size, random_state=seed + draw)[0])
            each[row, draw] = abs(model.loss(new) / model.loss() - 1)
    return {"excess": each.mean(axis=1), "draws": each}


def _draw(orders: list[int], by_order: dict, sizes: list[int], by_size: dict) -> Figure:
    """Draw the losses against N, and their difference against m."""
    figure = new_figure("The loss of an embedding is the discarded spectrum", 13, 4.4)
    axes = figure.subplots(1, 3)
    for panel, (name, losses) in zip(axes, by_order.items(), strict=False):
        panel.semilogy(orders, losses["discarded"], color="#bbbbbb", lw=6, label="discarded spectrum")
        panel.semilogy(
            orders, losses["training"], color=COLORS[0], marker="o", ms=4, lw=1, label="training loss"
        )
        panel.semilogy(
            orders, losses["held-out"], color=COLORS[1], marker="x", ms=6, lw=1, label="held-out loss"
        )
        panel.set(title=f"{name}, m = 400", xlabel="eigenfunctions kept, N", ylabel="loss")
        panel.legend()
    for color, (name, losses) in zip(COLORS[2:], by_size.items(), strict=False):
        axes[2].loglog(sizes, 100 * losses["excess"], color=color, marker="o", label=name)
        axes[2].loglog(sizes, 100 * losses["draws"], color=color, ls="", marker=".", ms=4, alpha=0.4)
    axes[2].set(
        title=f"N = {KEPT}", xlabel="training points, m", ylabel="difference of held-out and training loss, %"
    )
    axes[2].set_xticks(sizes, [str(size) for size in sizes])
    axes[2].minorticks_off()
    axes[2].legend()
    return figure
