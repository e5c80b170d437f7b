"""Nystrom eigenfunctions converge to the eigenfunctions of a linear operator.

Bengio et al. sec. 3.2, proposition 2: the eigenfunctions ``f_{r,m}`` of ``m`` random points converge to those
of the operator of the kernel and the distribution, almost surely and up to the sign, at training points and
at new ones; the eigenvalues ``l_r / m`` converge too. The paper gives the proof and no experiment.

The kernel is ``min(x, y)`` on uniform points of [0, 1], centred by kernel PCA (a data-dependent kernel, the
second part of the proposition). The limit is known: eigenvalues ``1 / (r pi)^2``, all of multiplicity 1, and
eigenfunctions ``sqrt(2) cos(r pi x)``. Eigenfunctions are compared on a grid of new points. Convergence is
judged by the regression of the logarithm of the error on that of ``m``, over all draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import linregress

from eigenscape.estimators import KernelPCA
from eigenscape.kernels.pairwise import PairwiseKernel
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Bengio et al. 2004, prop. 2"
ORDERS = np.arange(1, 5)
LIMITS = 1 / (ORDERS * np.pi) ** 2
GRID = np.linspace(0, 1, 401)[:, None]


@dataclass(frozen=True)
class Minimum(PairwiseKernel):
    """``min(x, y)`` of numbers, the covariance of Brownian motion."""

    def evaluate(self, Y: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Compute the values (n_new, m)."""
        return np.minimum(Y, X.T)


def eigenfunctions(x: np.ndarray) -> np.ndarray:
    """Return the eigenfunctions of the limit, ``sqrt(2) cos(r pi x)``, as columns."""
    return np.sqrt(2) * np.cos(np.pi * np.ravel(x)[:, None] * ORDERS)


def run(context: Context) -> Outcome:
    """Compare eigenvalues and eigenfunctions of samples of increasing size with the limit."""
    sizes = context.pick([50, 100, 200, 400, 800, 1600], [50, 100, 200, 400, 800], [50, 100, 200, 400])
    n_draws = context.pick(60, 40, 40)
    value_errors, function_errors = (np.empty((len(sizes), n_draws, len(ORDERS))) for _ in range(2))
    examples = {}
    for i, m in enumerate(sizes):
        for draw in range(n_draws):
            X = np.random.default_rng([context.seed, m, draw]).random((m, 1))
            values, functions = estimate(X)
            value_errors[i, draw] = np.abs(values / LIMITS - 1)
            function_errors[i, draw] = np.sqrt(np.mean((functions - eigenfunctions(GRID)) ** 2, axis=0))
            examples.setdefault(m, functions)
    by_value, by_function = (np.median(errors, axis=1) for errors in (value_errors, function_errors))
    rates = {
        "eigenvalues l_r / m": exponents(sizes, value_errors),
        "eigenfunctions at new points": exponents(sizes, function_errors),
    }
    numbers = {
        "sizes": sizes,
        "draws": n_draws,
        "relative_error_of_eigenvalues": by_value,
        "error_of_eigenfunctions": by_function,
        "exponents": {name: values for name, (values, _) in rates.items()},
        "standard_errors": {name: errors for name, (_, errors) in rates.items()},
    }
    claims = _claims(sizes, dict(zip(rates, (by_value, by_function), strict=True)), rates)
    return Outcome(claims, _draw(numbers, examples), numbers, "generated")


def estimate(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``l_r / m`` and the eigenfunctions on the grid, with the signs of the limit."""
    model = KernelPCA(len(ORDERS), kernel=Minimum()).fit(X)
    functions = model.eigenfunctions(GRID)
    signs = np.sign(np.sum(functions * eigenfunctions(GRID), axis=0))
    return model.eigenvalues_ / len(X), functions * signs


def exponents(sizes: list[int], errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the slopes of log error against log m over all draws, with standard errors, for each order."""
    log_sizes = np.repeat(np.log(sizes), errors.shape[1])
    fits = [linregress(log_sizes, np.log(errors[..., r]).ravel()) for r in range(errors.shape[2])]
    return np.array([fit.slope for fit in fits]), np.array([fit.stderr for fit in fits])


def _claims(
    sizes: list[int], medians: dict[str, np.ndarray], rates: dict[str, tuple[np.ndarray, np.ndarray]]
) -> list[Claim]:
    """Return the claims on convergence, and the check of its rate."""
    claims = []
    for name, errors in medians.items():
        values, uncertain = rates[name]
        shown = ", ".join(f"{error.max():.1%} (m = {m})" for m, error in zip(sizes, errors, strict=True))
        claims.append(
            Claim(
                f"{name} converge to those of the operator, r = 1 to 4",
                "converge (almost surely, up to the sign)",
                f"largest median error {shown}; exponents of m {values.min():.2f} to {values.max():.2f}",
                bool((values + 1.96 * uncertain < 0).all()),
                criterion="the 95 % interval of the exponent is negative for every r",
            )
        )
    mean = np.mean([values for values, _ in rates.values()], axis=1)
    claims.append(
        Claim(
            "the errors decrease like the square root of m",
            NOT_PRINTED,
            f"mean exponents {mean[0]:.2f} (eigenvalues), {mean[1]:.2f} (eigenfunctions)",
            bool(np.abs(mean + 0.5).max() < 0.1),
            criterion="-0.5, up to 0.1",
            kind="check",
        )
    )
    return claims


def _draw(numbers: dict, examples: dict[int, np.ndarray]) -> Figure:
    """Draw eigenfunctions of samples with their limits, and the errors by sample size."""
    figure = new_figure("Eigenfunctions of samples and their limits, kernel min(x, y)", 13, 4.4)
    axes = figure.subplots(1, 3, width_ratios=[1.5, 1, 1])
    small, large = min(examples), max(examples)
    for r, color in zip(range(len(ORDERS)), COLORS, strict=False):
        axes[0].plot(GRID, examples[small][:, r], color=color, lw=0.9, ls=":")
        axes[0].plot(GRID, examples[large][:, r], color=color, lw=1.4, label=f"r = {r + 1}")
        axes[0].plot(GRID, eigenfunctions(GRID)[:, r], color="#222222", lw=0.6)
    axes[0].set(title=f"dotted: m = {small}; solid: m = {large}; thin: limit", xlabel="x")
    axes[0].legend(loc="upper right", ncols=2, fontsize=8)
    for panel, key, title in (
        (axes[1], "relative_error_of_eigenvalues", "eigenvalues, relative error"),
        (axes[2], "error_of_eigenfunctions", "eigenfunctions, root mean square error"),
    ):
        for r, color in zip(range(len(ORDERS)), COLORS, strict=False):
            panel.loglog(numbers["sizes"], numbers[key][:, r], "o-", color=color, ms=4)
        sizes = np.array(numbers["sizes"])
        panel.loglog(sizes, numbers[key].max() * (sizes / sizes[0]) ** -0.5, color="#888888", ls="--", lw=1)
        panel.set(title=title, xlabel="m (dashed: square root)", xticks=sizes, xticklabels=sizes)
        low, high = numbers[key].min(), 1.1 * numbers[key].max()
        ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if low < tick < high]
        panel.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks])
        panel.minorticks_off()
    return figure
