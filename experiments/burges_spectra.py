"""Spectra of Isomap and MDS reveal the dimension of the data, those of LLE and eigenmaps do not.

Burges sec. 3: for data on a manifold of dimension d in a space of more dimensions, the spectra of LLE and
Laplacian eigenmaps do not reveal d, those of Isomap and MDS do. Here boxes of dimension 1 to 4 with random
side lengths are embedded in ten dimensions, flat or with one side bent to an arc, with little noise; the
estimated dimension is the position of the largest gap in the spectrum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import special_ortho_group

from eigenscape import ClassicalMDS, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding
from experiments._experiment import Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Burges 2005, sec. 3"
_AMBIENT, _SHOWN, _TURN = 10, 9, 4.0

#: For each name: whether the box is bent, and a function that returns the spectrum in decreasing order.
METHODS: dict[str, tuple[bool, Callable[[np.ndarray], np.ndarray]]] = {
    "MDS, flat box": (False, lambda X: ClassicalMDS(_SHOWN).fit(X).eigenvalues_),
    "Isomap, bent box": (True, lambda X: Isomap(_SHOWN, n_neighbors=10).fit(X).eigenvalues_),
    "Laplacian eigenmaps, bent box": (
        True,
        lambda X: 1 / (1 - LaplacianEigenmaps(_SHOWN, n_neighbors=10).fit(X).eigenvalues_),
    ),
    "LLE, bent box": (
        True,
        lambda X: 1 / (1 - LocallyLinearEmbedding(_SHOWN, n_neighbors=10).fit(X).eigenvalues_),
    ),
}


def run(context: Context) -> Outcome:
    """Estimate the dimension of each box from each spectrum."""
    n_samples = context.pick(full=1000, quick=1000, tiny=400)
    boxes = context.pick(full=25, quick=8, tiny=2)
    spectra = {name: np.empty((4, boxes, _SHOWN)) for name in [*METHODS, "MDS, bent box"]}
    for d in range(1, 5):
        for box in range(boxes):
            flat, bent = bent_box(d, n_samples, np.random.default_rng([context.seed, d, box]))
            for name, (is_bent, spectrum) in METHODS.items():
                spectra[name][d - 1, box] = spectrum(bent if is_bent else flat)
            spectra["MDS, bent box"][d - 1, box] = METHODS["MDS, flat box"][1](bent)
    estimated = {
        name: 1 + np.argmax(values[:, :, :-1] / values[:, :, 1:], axis=2) for name, values in spectra.items()
    }
    true = np.arange(1, 5)[:, None]
    # d = 1 is omitted: it is estimated correctly whenever the first gap is large.
    accuracy = {name: float(np.mean(values[1:] == true[1:])) for name, values in estimated.items()}
    linear = float(np.mean(estimated["MDS, bent box"] == true + 1))
    claims = [
        Claim(
            f"the spectrum of {name} reveals d",
            "it does",
            f"largest gap after d in {100 * accuracy[name]:.0f} % of boxes with d = 2, 3, 4",
            accuracy[name] > 0.9,
            criterion="above 90 %",
        )
        for name in ("MDS, flat box", "Isomap, bent box")
    ]
    claims += [
        Claim(
            f"the spectrum of {name} does not reveal d",
            "it does not",
            f"largest gap after d in {100 * accuracy[name]:.0f} % of boxes with d = 2, 3, 4",
            accuracy[name] < 0.6,
            criterion="below 60 %",
            why="There is no gap at d. The growth of the whole spectrum of the Laplacian does depend on d"
            " (Weyl's law).",
        )
        for name in ("Laplacian eigenmaps, bent box", "LLE, bent box")
    ]
    claims.append(
        Claim(
            "MDS finds the dimension of the linear span of a bent box (additional check)",
            "not printed",
            f"largest gap after d + 1 in {100 * linear:.0f} % of bent boxes",
            linear > 0.9,
            criterion="above 90 %",
            kind="check",
        )
    )
    numbers = {
        "n_samples": n_samples,
        "boxes": boxes,
        "share_right": accuracy,
        "dimension_read": estimated,
        "spectra": spectra,
    }
    return Outcome(claims, _figure(spectra, estimated), numbers, "generated")


def bent_box(d: int, n_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return random points of a ``d``-dimensional box in ten dimensions, flat and with its first side bent.

    Side lengths are uniform between 0.4 and 1.
    """
    sides = rng.uniform(0.4, 1.0, d)
    U = rng.random((n_samples, d)) * sides
    radius = sides[0] / _TURN
    arc = np.column_stack([radius * np.cos(U[:, 0] / radius), radius * np.sin(U[:, 0] / radius)])
    turn = special_ortho_group.rvs(_AMBIENT, random_state=rng)
    noise = 0.005 * rng.standard_normal((n_samples, _AMBIENT))
    flat, bent = (
        np.pad(points, ((0, 0), (0, _AMBIENT - points.shape[1])))
        for points in (U, np.column_stack([arc, U[:, 1:]]))
    )
    return (flat + noise) @ turn, (bent + noise) @ turn


def _figure(spectra: dict[str, np.ndarray], estimated: dict[str, np.ndarray]) -> Figure:
    """Draw the spectra of one box of each dimension for each method."""
    figure = new_figure("Spectra of boxes of dimension d in ten dimensions", 13, 4.2)
    k = np.arange(1, _SHOWN + 1)
    for axes, name in zip(figure.subplots(1, 4), METHODS, strict=True):
        for d in range(1, 5):
            values = spectra[name][d - 1, 0] / spectra[name][d - 1, 0, 0]
            axes.semilogy(k, values, marker="o", markersize=4, color=COLORS[d - 1], label=f"d = {d}")
            axes.plot(
                d,
                values[d - 1],
                marker="o",
                markersize=11,
                markerfacecolor="none",
                markeredgecolor=COLORS[d - 1],
            )
        share = 100 * np.mean(estimated[name][1:] == np.arange(2, 5)[:, None])
        axes.set(title=f"{name}\nlargest gap at d: {share:.0f} %", xlabel="k", xticks=k)
    figure.axes[0].set_ylabel("spectrum relative to its first value (rings at k = d)")
    figure.axes[0].legend()
    for axes in figure.axes[2:]:
        axes.set_ylabel(r"$\sigma_1 / \sigma_k$")
    return figure
