"""Projections of a sphere to a line are nearly Gaussian in every direction.

Burges sec. 1 and fig. 1.1: points distributed uniformly on the 20-sphere are far from Gaussian: all have the
same distance from the centre. The density of their projection to any line is ``C (1 - xi^2)^((n - 1) / 2)``,
n = 19 (eq. 1.1), which is close to the Gaussian with the same variance, 1/21: projections cannot reveal the
structure.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from matplotlib.figure import Figure
from scipy.special import factorial2
from scipy.stats import chi, kstest, norm

from eigenscape.datasets import sphere
from eigenscape.quality import sphere_projection_density
from experiments._experiment import Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Burges 2005, fig. 1.1"
_DIMENSION, _VARIANCE = 20, 1 / 21


def run(context: Context) -> Outcome:
    """Compare the density of eq. 1.1, the Gaussian and projections of a sample."""
    n_samples = context.pick(full=200_000, quick=100_000, tiny=20_000)
    X = sphere(n_samples, dimension=_DIMENSION, random_state=context.seed)
    directions = sphere(
        context.pick(full=200, quick=50, tiny=10), dimension=_DIMENSION, random_state=context.seed + 1
    )
    xi = np.linspace(-1, 1, 4001)
    density, gaussian = sphere_projection_density(xi, _DIMENSION), norm.pdf(xi, scale=_VARIANCE**0.5)
    n = _DIMENSION - 1
    constant = 2 ** (-(n + 1) / 2) * float(factorial2(n)) / factorial((n - 1) // 2)  # eq. 1.1
    variance = float(np.trapezoid(xi**2 * density, xi))
    gap = float(np.abs(density - gaussian).max() / gaussian.max())
    to_gaussian = np.array(
        [kstest(X @ line, norm(scale=_VARIANCE**0.5).cdf, method="asymp").statistic for line in directions]
    )
    shares = np.array([np.mean(np.abs(X @ line) < _VARIANCE**0.5) for line in directions])
    length = np.linalg.norm(X, axis=1)
    gaussian_spread = float(chi(_DIMENSION + 1).std() * _VARIANCE**0.5)
    claims = [
        Claim(
            "variance of the projection",
            "1/21 = 0.04762",
            f"{variance:.5f}; sample {np.var(X @ directions[0]):.5f}",
            abs(variance * 21 - 1) < 1e-6,
            criterion="equal to 1e-6",
        ),
        Claim(
            "constant C of eq. 1.1",
            f"{constant:.6f}",
            f"{density[2000]:.6f}, density of the library at 0",
            abs(density[2000] / constant - 1) < 1e-9,
            criterion="equal to 1e-9",
        ),
        Claim(
            "the density is close to the fitted Gaussian",
            "curves nearly equal",
            f"largest difference {100 * gap:.1f} % of the maximum",
            gap < 0.05,
            criterion="below 5 %",
        ),
        Claim(
            "this holds in every direction",
            "all directions",
            f"largest difference of distribution functions {to_gaussian.max():.4f}"
            f" over {len(directions)} directions",
            bool(to_gaussian.max() < 0.02),
            criterion="below 0.02",
        ),
        Claim(
            "the data are far from Gaussian",
            "all on the sphere",
            f"standard deviation of lengths {length.std():.0e}; of a Gaussian {gaussian_spread:.3f}",
            bool(length.std() < 1e-6 < gaussian_spread),
            criterion="below 1e-6, that of the Gaussian above",
        ),
    ]
    numbers = {
        "n_samples": n_samples,
        "variance": variance,
        "largest_gap_of_densities": gap,
        "kolmogorov_distance": to_gaussian,
        "share_within_one_deviation": {"sphere": shares, "gaussian": float(norm.cdf(1) - norm.cdf(-1))},
    }
    return Outcome(claims, _figure(xi, density, gaussian, X @ directions[0], length), numbers, "generated")


def _figure(
    xi: np.ndarray, density: np.ndarray, gaussian: np.ndarray, sample: np.ndarray, length: np.ndarray
) -> Figure:
    """Draw densities of projections, and of distances from the centre."""
    figure = new_figure("The 20-sphere: projection to a line, and distance from the centre", 11, 4.4)
    left, right = figure.subplots(1, 2)
    left.hist(
        sample,
        bins=101,
        range=(-1.01, 1.01),
        density=True,
        color="#dddddd",
        label=f"{len(sample):,} points, one direction",
    )
    left.plot(xi, density, color=COLORS[0], label="density of eq. 1.1")
    left.plot(xi, gaussian, color=COLORS[1], linestyle=":", linewidth=2, label="Gaussian, variance 1/21")
    left.set(
        title="Projection to a line: nearly the same",
        xlabel=r"$\xi$ along the line",
        ylabel="density",
        xlim=(-0.85, 0.85),
        ylim=(0, 2.6),
    )
    left.legend(loc="upper left", fontsize=8.5)
    radius = np.linspace(0.4, 1.6, 400)
    scale = _VARIANCE**0.5
    right.plot(
        radius,
        chi(_DIMENSION + 1).pdf(radius / scale) / scale,
        color=COLORS[1],
        linestyle=":",
        linewidth=2,
        label="Gaussian points",
    )
    right.axvline(float(length.mean()), color=COLORS[0], linewidth=2, label="points of the sphere")
    right.set(
        title="Distance from the centre: clearly different", xlabel="length", ylabel="density", ylim=(0, None)
    )
    right.legend(loc="upper left", fontsize=8.5)
    return figure
