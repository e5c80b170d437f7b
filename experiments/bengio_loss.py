"""The loss of an embedding is the discarded spectrum, and its value on new points converges to it.

Bengio et al. sec. 4, proposition 3: the mean squared error of the kernel against its expansion in N
eigenfunctions decreases with N. On the training points it is the sum of the squares of the discarded
eigenvalues; it converges to the expectation over two independent points, which the mean over the pairs of
new points estimates. With N near m the training loss vanishes and the held-out loss does not; with noise in
the similarities the held-out loss has a minimum where the eigenvalues reach the noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eigenscape.datasets import spiral
from eigenscape.estimators import KernelPCA, LaplacianEigenmaps
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Bengio et al. 2004, proposition 3"
SIGMA = 0.2
GAMMA = 1 / SIGMA**2  # eq. 4: exp(-d^2 / sigma^2)
KEPT = 10  # number of eigenfunctions N when m is varied
FEATURES, LEVEL = 4, 0.6  # of the similarities with noise


def run(context: Context) -> Outcome:
    """Measure the loss for several N at fixed m, for several m at fixed N, and with noise."""
    largest = context.pick(full=3200, quick=1600, tiny=400)
    n_draws = context.pick(full=10, quick=5, tiny=2)
    sizes = [50 * 2**step for step in range(int(np.log2(largest / 50)) + 1)]
    orders = list(range(1, context.pick(21, 21, 7)))
    X, new = (
        spiral(count, random_state=context.seed + shift)[0] for count, shift in ((400, 0), (1000, 1000))
    )
    by_order = {name: _by_order(name, X, new, orders) for name in ("kernel PCA", "spectral clustering")}
    by_size = {name: _by_size(name, sizes, new, n_draws, context.seed) for name in by_order}
    gaussian, noisy = _overfit(context.seed), _with_noise(context.seed)
    claims = [
        claim for name in by_order for claim in _claims(name, by_order[name], by_size[name], sizes)
    ] + _checks(gaussian, noisy)
    numbers = {
        "sigma": SIGMA,
        "m": len(X),
        "orders": orders,
        "by_order": by_order,
        "kept": KEPT,
        "sizes": sizes,
        "draws": n_draws,
        "by_size": by_size,
        "gaussian": gaussian,
        "noisy": noisy,
    }
    figure = _draw(orders, by_order, sizes, by_size, gaussian, noisy)
    return Outcome(claims, figure, numbers, "generated")


def _claims(name: str, by_order: dict, by_size: dict, sizes: list[int]) -> list[Claim]:
    """Return the statements of proposition 3."""
    training, discarded = by_order["training"], by_order["discarded"]
    gap = float(np.max(abs(training - discarded) / discarded))
    first, last = by_size["excess"][[0, -1]]
    former = by_size["with training"]
    return [
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
            criterion="difference at the largest m below a third of that at the smallest; pairs of new"
            " points",
            previous=f"new points paired with training points: {former[0]:.1%} and {former[-1]:.1%}",
        ),
    ]


def _checks(gaussian: dict, noisy: dict) -> list[Claim]:
    """Return the checks of the held-out loss where the paper prints no numbers."""
    training, held_out = (gaussian[key][-1] for key in ("training", "held-out"))
    best = int(np.argmin(noisy["held-out"])) + 1
    return [
        Claim(
            "Gaussian kernel, m = 120, N = 110: overfitting is visible",
            NOT_PRINTED,
            f"training loss {training:.2g}, held-out loss {held_out:.2g},"
            f" {gaussian['with training'][-1]:.2g} for pairs with training points",
            held_out > 1000 * training,
            criterion="held-out loss above 1000 times the training loss",
            kind="check",
        ),
        Claim(
            f"similarities of {FEATURES} features with noise: the held-out loss has a minimum",
            NOT_PRINTED,
            f"minimum at N = {best}; training loss decreases to the last of {len(noisy['held-out'])}",
            best == FEATURES and bool((np.diff(noisy["training"]) < 0).all()),
            criterion=f"minimum at N = {FEATURES}",
            kind="check",
        ),
    ]


def _model(name: str, order: int) -> Any:
    """Return an unfitted estimator with ``order`` eigenfunctions."""
    return (
        KernelPCA(order, kernel="rbf", gamma=GAMMA)
        if name == "kernel PCA"
        else LaplacianEigenmaps(order, affinity="rbf", gamma=GAMMA)
    )


def _by_order(name: str, X: np.ndarray, new: np.ndarray, orders: list[int]) -> dict[str, np.ndarray]:
    """Return training loss, held-out loss and discarded spectrum for each number of eigenfunctions."""
    model = _model(name, orders[-1]).fit(X)
    spectrum = np.linalg.eigvalsh(model.kernel_(X))[::-1]
    trivial = int(name == "spectral clustering")  # the constant eigenfunction is kept, but is no coordinate
    return {
        "training": model.loss_curve(),
        "held-out": model.loss_curve(new),
        "discarded": np.array(
            [np.square(spectrum[order + trivial :]).sum() / len(X) ** 2 for order in orders]
        ),
    }


def _by_size(name: str, sizes: list[int], new: np.ndarray, n_draws: int, seed: int) -> dict[str, np.ndarray]:
    """Return the relative difference of held-out and training loss, per training set and its mean."""
    each, former = np.empty((len(sizes), n_draws)), np.empty((len(sizes), n_draws))
    for row, size in enumerate(sizes):
        for draw in range(n_draws):
            model = _model(name, KEPT).fit(spiral(size, random_state=seed + draw)[0])
            training = model.loss()
            each[row, draw] = abs(model.loss(new) / training - 1)
            former[row, draw] = abs(_with_training(model, new)[-1] / training - 1)
    return {"excess": each.mean(axis=1), "draws": each, "with training": former.mean(axis=1)}


def _with_training(model: Any, new: np.ndarray) -> np.ndarray:
    """Return the mean squared error over pairs of a new and a training point, for each N.

    ``|k(x, .)|^2 / m - sum_r (lambda_r f_r(x))^2``, since the f_r are orthogonal on the training points. The
    trivial eigenfunction of a divided kernel is ``sqrt(S)``.
    """
    K, m = model.kernel_(new), len(model.embedding_)
    rest = np.square(K).sum(axis=1) / m
    if isinstance(model, LaplacianEigenmaps):
        root = np.sqrt(model.kernel_.sums)
        rest -= np.square(K @ (root / np.linalg.norm(root))) / m
    kept = np.square(model.eigenfunctions(new) * model.eigenvalues_ / m)
    return np.maximum(rest[:, None] - np.cumsum(kept, axis=1), 0.0).mean(axis=0)


def _overfit(seed: int) -> dict[str, np.ndarray]:
    """Return the losses of a Gaussian kernel with nearly as many eigenfunctions as training points."""
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((120, 4)), rng.standard_normal((1000, 4))
    model = KernelPCA(110, kernel="rbf", gamma=0.3).fit(X)
    return {
        "training": model.loss_curve(),
        "held-out": model.loss_curve(new),
        "with training": _with_training(model, new),
    }


def _with_noise(seed: int) -> dict[str, np.ndarray]:
    """Return the losses for scalar products of a few features, with noise in each similarity."""
    rng, m, n = np.random.default_rng(seed), 100, 400
    X = rng.standard_normal((m + n, FEATURES)) * np.linspace(1.2, 0.8, FEATURES)
    noise = np.triu(rng.standard_normal((m + n, m + n)), 1)
    K = X @ X.T + LEVEL * (noise + noise.T)
    model = KernelPCA(20, kernel="precomputed").fit(K[:m, :m])
    return {"training": model.loss_curve(), "held-out": model.loss_curve(K[m:, :m], K[m:, m:])}


def _draw(
    orders: list[int], by_order: dict, sizes: list[int], by_size: dict, gaussian: dict, noisy: dict
) -> Figure:
    """Draw the losses against N, their difference against m, and the two cases of overfitting."""
    figure = new_figure("The loss of an embedding is the discarded spectrum", 13, 8.4)
    axes = figure.subplots(2, 3).ravel()
    for panel, (name, losses) in zip(axes, by_order.items(), strict=False):
        panel.semilogy(orders, losses["discarded"], color="#bbbbbb", lw=6, label="discarded spectrum")
        _draw_losses(panel, losses)
        panel.set(title=f"{name}, m = 400", xlabel="eigenfunctions kept, N", ylabel="loss")
    for color, (name, losses) in zip(COLORS[2:], by_size.items(), strict=False):
        axes[2].loglog(sizes, 100 * losses["excess"], color=color, marker="o", label=name)
        axes[2].loglog(sizes, 100 * losses["draws"], color=color, ls="", marker=".", ms=4, alpha=0.4)
    axes[2].set(
        title=f"N = {KEPT}", xlabel="training points, m", ylabel="difference of held-out and training loss, %"
    )
    axes[2].set_xticks(sizes, [str(size) for size in sizes])
    axes[2].minorticks_off()
    _draw_losses(axes[3], gaussian, marked=False)
    axes[3].semilogy(
        np.arange(1, 111),
        gaussian["with training"],
        color="#999999",
        ls="--",
        label="pairs with training points",
    )
    axes[3].set(title="Gaussian kernel, m = 120", xlabel="eigenfunctions kept, N", ylabel="loss")
    _draw_losses(axes[4], noisy)
    axes[4].axvline(FEATURES, color="#bbbbbb", lw=1)
    axes[4].set(
        title=f"{FEATURES} features, similarities with noise", xlabel="eigenfunctions kept, N", ylabel="loss"
    )
    axes[5].set_axis_off()
    for panel in axes[:5]:
        panel.legend()
    return figure


def _draw_losses(panel: Any, losses: dict[str, np.ndarray], marked: bool = True) -> None:
    """Draw the training and the held-out loss against N."""
    styles = (("training", COLORS[0], "o", 4), ("held-out", COLORS[1], "x", 6))
    for key, color, marker, size in styles:
        panel.semilogy(
            np.arange(1, len(losses[key]) + 1),
            losses[key],
            color=color,
            marker=marker if marked else None,
            ms=size,
            lw=1,
            label=f"{key} loss",
        )
