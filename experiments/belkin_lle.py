"""The matrix of LLE is proportional to the square of the Laplacian.

Belkin and Niyogi sec. 5: under certain conditions ``(I - W)'(I - W) f`` is approximately ``(1/2) L^2 f``, and
the eigenvectors of the two coincide. On a circle of equally spaced points with two neighbours each,
everything is known: ``(I - W) f = -(1/2) h^2 f''`` up to higher orders, with the spacing ``h``, so that the
constant is ``(1/2)^2 = 1/4``. The paper's factor 1/2 of its step 1 is not squared in step 3.

In units of ``h``, as in step 2 of the paper, ``L`` has the eigenvalues ``(r h)^2``, and those of ``L^2`` for
the frequencies 1, 2, 3 are in the ratio 1 : 16 : 81. Every eigenvalue is double (sine and cosine).
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from eigenscape.estimators import LocallyLinearEmbedding
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Belkin and Niyogi 2003, sec. 5"
FREQUENCIES = np.arange(1, 5)
PRINTED, EXACT = 0.5, 0.25


def run(context: Context) -> Outcome:
    """Compare eigenvalues and eigenvectors of LLE on a circle with those of the squared Laplacian."""
    n = context.pick(400, 400, 120)
    even = np.arange(n) * 2 * np.pi / n
    values, angles = spectrum(even, 2)
    h = 2 * np.pi / n
    constants = values / (FREQUENCIES * h) ** 4  # E = constant * L^2
    ratios = values / values[0]
    random = np.sort(np.random.default_rng(context.seed).random(n)) * 2 * np.pi
    random_values, random_angles = spectrum(random, 8)
    random_ratios = random_values / random_values[0]
    listed = ", ".join(f"{value:.4f}" for value in constants)
    claims = [
        Claim(
            "the eigenvectors of LLE's matrix are those of the Laplacian",
            "coincide",
            f"largest angle between the spaces of sine and cosine {angles.max():.1e}",
            bool(angles.max() < 1e-4),
            criterion="below 1e-4, for frequencies 1 to 4",
        ),
        Claim(
            "LLE's matrix is proportional to the square of the Laplacian",
            "E is proportional to L^2, hence eigenvalues 1 : 16 : 81 : 256",
            " : ".join(f"{ratio:.2f}" for ratio in ratios),
            bool(np.abs(ratios / FREQUENCIES**4 - 1).max() < 0.01),
            criterion="within 1 %",
        ),
        Claim(
            "the constant of proportionality is 1/2",
            "1/2",
            f"{listed} for the frequencies 1 to 4",
            bool(np.abs(constants / PRINTED - 1).max() < 0.01),
            "(I - W) f is -(1/2) L f, as the paper's steps 1 and 2 derive; its square has the constant 1/4.",
            criterion="within 1 %",
        ),
        Claim(
            "the constant of proportionality is 1/4",
            NOT_PRINTED,
            f"{listed} for the frequencies 1 to 4",
            bool(np.abs(constants / EXACT - 1).max() < 0.01),
            criterion="within 1 %",
            kind="check",
        ),
        Claim(
            "with random points and 8 neighbours the eigenvalues have the same ratios",
            NOT_PRINTED,
            " : ".join(f"{ratio:.1f}" for ratio in random_ratios),
            bool(np.abs(random_ratios / FREQUENCIES**4 - 1).max() < 0.2),
            "The paper's condition is a distribution that is uniform on every sphere around a point. The"
            " nearest neighbours of random points fulfil it on average only, and the weights of 8 neighbours"
            " on a curve are determined by the regularisation.",
            criterion="within 20 %",
            kind="exploration",
        ),
    ]
    numbers = {
        "n_samples": n,
        "eigenvalues": values,
        "constants": constants,
        "ratios": ratios,
        "angles": angles,
        "random_ratios": random_ratios,
        "random_angles": random_angles,
    }
    return Outcome(claims, _draw(values, h, ratios, random_ratios), numbers, "generated")


def spectrum(positions: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean eigenvalue of each pair, and its largest angle to sine and cosine of the frequency."""
    X = np.column_stack([np.cos(positions), np.sin(positions)])
    n_components = 2 * len(FREQUENCIES)
    model = LocallyLinearEmbedding(n_components, n_neighbors=n_neighbors).fit(X)
    pairs = (1 - model.eigenvalues_).reshape(-1, 2).mean(axis=1)  # eigenvalues of (I - W)'(I - W)
    vectors = np.linalg.qr(model.embedding_)[0]
    angles = []
    for i, r in enumerate(FREQUENCIES):
        space = np.linalg.qr(np.column_stack([np.cos(r * positions), np.sin(r * positions)]))[0]
        both = vectors[:, 2 * i : 2 * i + 2]
        angles.append(np.linalg.norm(both - space @ (space.T @ both), 2))
    return pairs, np.array(angles)


def _draw(values: np.ndarray, h: float, ratios: np.ndarray, random_ratios: np.ndarray) -> Figure:
    """Draw the eigenvalues with both constants, and their ratios."""
    figure = new_figure("LLE on a circle and the square of the Laplacian", 11, 4.2)
    left, right = figure.subplots(1, 2)
    laplacian = (FREQUENCIES * h) ** 2
    left.loglog(laplacian, values, "o", color=COLORS[0], label="LLE, equally spaced")
    for constant, style, name in ((EXACT, "-", "1/4 L²"), (PRINTED, "--", "1/2 L², as printed")):
        left.loglog(laplacian, constant * laplacian**2, style, color="#777777", lw=1, label=name)
    left.set(title="eigenvalues of (I - W)'(I - W)", xlabel="eigenvalue of the Laplacian, in units of h")
    left.set_xticks(laplacian, [f"{value:.1e}" for value in laplacian])
    left.minorticks_off()
    left.legend(fontsize=9)
    right.semilogy(FREQUENCIES, FREQUENCIES**4.0, color="#777777", lw=1, label="1 : 16 : 81 : 256")
    right.semilogy(FREQUENCIES, ratios, "o", color=COLORS[0], label="equally spaced, 2 neighbours")
    right.semilogy(FREQUENCIES, random_ratios, "x", color=COLORS[1], label="random points, 8 neighbours")
    right.set(title="eigenvalues relative to the first", xlabel="frequency", xticks=FREQUENCIES)
    right.legend(fontsize=9)
    return figure
