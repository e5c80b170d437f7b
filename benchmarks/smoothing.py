"""Eigenfunctions from few points: the empirical measure against Gaussians around the points.

``python -m benchmarks.smoothing`` prints a table, and writes it to docs/benchmarks/smoothing.md with
``--write``. The eigenfunctions of a Gaussian kernel learnt from 50 to 200 points are compared with those
learnt from 20 000, on other rows: the error is the part of the span of the first five reference functions
that is outside the span of the first five learnt ones, between 0 and 1. Three measures replace the empirical
one: Gaussians of width h around the points in closed form; the same by a quadrature sample; and Gaussians
along local tangents (Manifold Parzen windows) by a quadrature sample. h is the best of a grid by the true
error, which no user knows ("best h"), or by the held-out loss of pairs of new rows ("chosen h").
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.metrics import euclidean_distances

from benchmarks.real_data import absence, load
from eigenscape.methods.manifold_parzen import local_tangents

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "smoothing.md"
N_FUNCTIONS, N_REFERENCE, N_TEST, N_SEEDS = 5, 20_000, 1000, 5
SIZES = (50, 100, 200)
#: Root mean square of the displacement by the Gaussians, relative to the width of the kernel.
WIDTHS = (0.0, 0.15, 0.3, 0.5, 0.8)
#: Points of the quadrature sample around each point, neighbours and dimension of the tangents.
N_DRAWS, N_NEIGHBORS, N_TANGENTS = 4, 8, 2


class Functions(NamedTuple):
    """``f(x) = sum_j a_j (k(x, z_j) - m_j)`` of unit mean square, and their eigenvalues."""

    points: np.ndarray
    coefficients: np.ndarray
    means: np.ndarray
    values: np.ndarray
    gamma: float

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Return the values (n, r) at any rows."""
        return (gaussian(Y, self.points, self.gamma) - self.means) @ self.coefficients


def gaussian(Y: np.ndarray, X: np.ndarray, gamma: float) -> np.ndarray:
    """Return ``exp(-gamma |y - x|^2)``."""
    return np.exp(-gamma * euclidean_distances(Y, X, squared=True))


def galerkin(points: np.ndarray, second: np.ndarray, means: np.ndarray, gamma: float) -> Functions:
    """Return the functions in the span of the points with the largest variance for their norm.

    ``second`` (m, m) are the integrals of ``k(z_i, .) k(z_j, .)`` and ``means`` those of ``k(z_i, .)``.
    """
    values, vectors = linalg.eigh(gaussian(points, points, gamma))
    kept = values > 1e-10 * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    found, b = linalg.eigh(root.T @ (second - np.outer(means, means)) @ root)
    found, b = found[::-1][:N_FUNCTIONS], b[:, ::-1][:, :N_FUNCTIONS]
    return Functions(points, root @ b / np.sqrt(found), means, found, gamma)


def closed_form(X: np.ndarray, gamma: float, h: float, seed: int) -> Functions:  # noqa: ARG001
    """Integrate over Gaussians of width ``h`` around the points exactly."""
    squares, (n, d) = cdist(X, X, "sqeuclidean"), X.shape
    one, two = 1 + 2 * gamma * h**2, 1 + 4 * gamma * h**2
    means = one ** (-d / 2) * np.exp(-gamma / one * squares).mean(axis=1)
    near = np.exp(-gamma / two * squares)
    second = two ** (-d / 2) * np.exp((gamma / two - gamma) / 2 * squares) * (near @ near.T) / n
    return galerkin(X, second, means, gamma)


def by_sample(points: np.ndarray, gamma: float) -> Functions:
    """Integrate over the empirical measure of a sample."""
    K = gaussian(points, points, gamma)
    return galerkin(points, K @ K / len(K), K.mean(axis=1), gamma)


def of_many(X: np.ndarray, gamma: float) -> Functions:
    """Integrate over all rows, for functions in the span of the first 1000."""
    K = gaussian(X[:1000], X, gamma)
    return galerkin(X[:1000], K @ K.T / len(X), K.mean(axis=1), gamma)


def quadrature(X: np.ndarray, gamma: float, h: float, seed: int) -> Functions:
    """Integrate over draws from Gaussians of width ``h`` around the points."""
    if h == 0:
        return by_sample(X, gamma)
    rng = np.random.default_rng(seed)
    draws = h * rng.standard_normal((N_DRAWS, *X.shape))
    return by_sample((X + draws).reshape(-1, X.shape[1]), gamma)


def tangent(X: np.ndarray, gamma: float, h: float, seed: int) -> Functions:
    """Integrate over draws along the local tangents, of the same mean square as those of ``quadrature``."""
    if h == 0:
        return by_sample(X, gamma)
    rng = np.random.default_rng(seed)
    variances, directions = local_tangents(X, N_NEIGHBORS, min(N_TANGENTS, X.shape[1]), None)
    draws = rng.standard_normal((N_DRAWS, *variances.shape)) * np.sqrt(variances)
    steps = np.einsum("snd,ndf->snf", draws, directions)
    steps *= h * np.sqrt(X.shape[1]) / np.sqrt(np.square(steps).sum(axis=2).mean())
    return by_sample((X + steps).reshape(-1, X.shape[1]), gamma)


MEASURES: dict[str, Callable[[np.ndarray, float, float, int], Functions]] = {
    "closed form": closed_form,
    "quadrature": quadrature,
    "tangents": tangent,
}


def error(found: np.ndarray, reference: np.ndarray) -> float:
    """Return the part of the span of ``reference`` that is outside the span of ``found``."""
    first, second = (linalg.orth(values - values.mean(axis=0)) for values in (found, reference))
    return 1 - float(np.square(first.T @ second).sum()) / reference.shape[1]


def chosen_width(
    make: Callable[..., Functions], X: np.ndarray, gamma: float, scale: float, seed: int
) -> float:
    """Return the width with the smallest loss on pairs of rows left out, over five folds."""
    losses = np.zeros(len(WIDTHS))
    for fold in range(5):
        out = np.arange(len(X)) % 5 == fold
        train, new = X[~out], X[out]
        K = gaussian(new, new, gamma)
        row = gaussian(new, train, gamma).mean(axis=1)
        K = K - row[:, None] - row + gaussian(train, train, gamma).mean()  # of one measure for all widths
        pairs = ~np.eye(len(new), dtype=bool)
        for place, width in enumerate(WIDTHS):
            functions = make(train, gamma, width * scale, seed)
            values = functions(new)
            losses[place] += np.square((K - (values * functions.values) @ values.T)[pairs]).mean()
    return WIDTHS[int(np.argmin(losses))]


def data(only: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, rows for training and reference, and test rows, of names that contain ``only``."""
    found = {"swiss roll, 3 features": make_swiss_roll(N_REFERENCE + N_TEST, noise=0.5, random_state=0)[0]}
    if not absence("mnist_mixed"):
        digits = load("mnist_mixed")[0][: N_REFERENCE + N_TEST].astype(np.float64)
        found["MNIST, 10 principal components"] = PCA(10, random_state=0).fit_transform(digits)
        found["MNIST, 784 features"] = digits
    for name, X in found.items():
        if only in name:
            yield name, X[:N_REFERENCE], X[N_REFERENCE:]


def lines(only: str = "") -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| data | kernel | points | empirical | "
        + " | ".join(f"{name}, {how} h" for name in MEASURES for how in ("best", "chosen"))
        + " |"
    )
    yield "| --- " * (4 + 2 * len(MEASURES)) + "|"
    for name, X, test in data(only):
        median = float(np.median(cdist(X[:1000], X[:1000])))
        for factor in (1.0, 0.4):
            width = factor * median
            gamma = 1 / (2 * width**2)
            reference, scale = of_many(X, gamma)(test), width / np.sqrt(X.shape[1])
            for n in SIZES:
                yield _row(name, factor, n, X, test, reference, gamma, scale)


def _row(
    name: str,
    factor: float,
    n: int,
    X: np.ndarray,
    test: np.ndarray,
    reference: np.ndarray,
    gamma: float,
    scale: float,
) -> str:
    table = np.empty((N_SEEDS, 1 + 2 * len(MEASURES)))
    for seed in range(N_SEEDS):
        some = X[np.random.default_rng(seed).choice(len(X), n, replace=False)]
        for place, make in enumerate(MEASURES.values()):
            errors = [error(make(some, gamma, h * scale, seed)(test), reference) for h in WIDTHS]
            picked = WIDTHS.index(chosen_width(make, some, gamma, scale, seed))
            table[seed, 0] = errors[0]
            table[seed, 1 + 2 * place : 3 + 2 * place] = min(errors), errors[picked]
    half = 2 * table.std(axis=0, ddof=1) / np.sqrt(N_SEEDS)
    cells = " | ".join(
        f"{mean:.3f} ± {width:.3f}" for mean, width in zip(table.mean(axis=0), half, strict=True)
    )
    return f"| {name} | {factor:g} × median | {n} | {cells} |"


def main() -> None:
    """Print the table, and write it to the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="data whose name contains this text")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    table = []
    for line in lines(options.only):
        print(line, flush=True)
        table.append(line)
    if options.write:
        head, _, _ = PAGE.read_text().partition("\n<!-- table -->")
        PAGE.write_text(head + "\n<!-- table -->\n\n" + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
