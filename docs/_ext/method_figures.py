"""Pictures of linear, probabilistic and kernel methods: where each is right, and where it fails."""

from __future__ import annotations

import numpy as np
from figure_tools import axes, dots, figure, four
from sklearn.datasets import load_digits, make_circles, make_moons, make_swiss_roll

from eigenscape import (
    PCA,
    DistortionDiscriminantAnalysis,
    FactorAnalysis,
    GreedySpectralEmbedding,
    KernelPCA,
    MixturePPCA,
    OrientedPCA,
    ProbabilisticPCA,
    ProjectionPursuit,
)
from eigenscape.datasets import spiral
from eigenscape.options import Dictionary


def _roll(n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    return make_swiss_roll(n, random_state=0)


def _plane(rng: np.random.Generator, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    latent = rng.uniform(-1, 1, (n, 2)) * [3, 1]
    return latent @ rng.standard_normal((2, 10)) + 0.1 * rng.standard_normal((n, 10)), latent


@figure("pca")
def pca() -> None:
    """A plane in ten columns; a roll."""
    X, latent = _plane(np.random.default_rng(0))
    roll, t = _roll()
    four(
        (X[:, :2], latent[:, 0], "a plane in 10 columns"),
        (PCA(2).fit_transform(X), latent[:, 0], "right: the plane"),
        (roll, t, "a roll"),
        (PCA(2).fit_transform(roll), t, "fails: turns overlap"),
    )


@figure("probabilistic-pca")
def probabilistic_pca() -> None:
    """Missing values; outliers."""
    rng = np.random.default_rng(0)
    X, latent = _plane(rng)
    gaps = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    flat = rng.standard_normal((300, 2)) * [3, 0.3]
    odd = np.concatenate([flat, rng.normal([0, 30], 1, (8, 2))])
    y = ProbabilisticPCA(1).fit_transform(odd)
    four(
        (gaps[:, :2], latent[:, 0], "30 % of the values are missing"),
        (ProbabilisticPCA(2).fit_transform(gaps), latent[:, 0], "right: the plane again"),
        (odd, np.r_[flat[:, 0], np.zeros(8)], "8 outliers"),
        (np.column_stack([flat[:, 0], y[:300, 0]]), flat[:, 0], "fails: the axis follows them"),
    )


@figure("factor-analysis")
def factor_analysis() -> None:
    """Noise of different size in each column; a curve."""
    rng = np.random.default_rng(0)
    factor = rng.standard_normal(400)
    X = np.outer(factor, np.ones(5)) + rng.standard_normal((400, 5)) * [4, 0.3, 0.3, 0.3, 0.3]
    found = FactorAnalysis(1).fit_transform(X)[:, 0]
    component = PCA(1).fit_transform(X)[:, 0]
    S, t = spiral(400, noise=0.0)[:2]
    four(
        (np.column_stack([factor, found]), factor, "right: factor and estimate"),
        (np.column_stack([factor, component]), factor, "(PCA: a noisy column)"),
        (S, t, "a spiral"),
        (np.column_stack([t, FactorAnalysis(1).fit_transform(S)[:, 0]]), t, "fails: no curve"),
    )


@figure("mixture-ppca")
def mixture_ppca() -> None:
    """Three sticks; two moons."""
    rng = np.random.default_rng(0)
    angles = np.array([0.0, 1.0, 2.2])
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    middles = 2 * np.column_stack([np.cos(3 * angles), np.sin(3 * angles)])
    along = rng.uniform(-1, 1, (3, 120, 1))
    X = (middles[:, None] + along * ways[:, None]).reshape(-1, 2) + 0.05 * rng.standard_normal((360, 2))
    moons, part = make_moons(300, noise=0.06, random_state=0)
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, X, np.repeat(angles, 120), "three sticks", cmap="Set1")
    dots(second, X, MixturePPCA(3, 1).fit_predict(X), "right: three models", cmap="Set1")
    dots(third, moons, part, "two bent groups", cmap="coolwarm")
    dots(last, moons, MixturePPCA(2, 1).fit_predict(moons), "fails: models are straight", cmap="coolwarm")


@figure("oriented-pca")
def oriented_pca() -> None:
    """Noise along the largest variance; noise along the signal."""
    rng = np.random.default_rng(0)
    part = rng.integers(0, 2, 300)
    clean = np.column_stack([3 * rng.standard_normal(300), 2.0 * part + 0.2 * rng.standard_normal(300)])
    noisy = clean + rng.standard_normal((300, 2)) * [6, 0.2]
    along = clean + rng.standard_normal((300, 2)) * [0.2, 3]
    right = OrientedPCA(1).fit(clean, distorted=[noisy]).transform(noisy)
    fails = OrientedPCA(1).fit(clean, distorted=[along]).transform(along)
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, noisy, part, "noise is horizontal", cmap="coolwarm")
    dots(
        second,
        np.column_stack([right[:, 0], rng.random(300)]),
        part,
        "right: one coordinate",
        cmap="coolwarm",
    )
    dots(third, along, part, "noise hides the groups", cmap="coolwarm")
    dots(
        last,
        np.column_stack([fails[:, 0], rng.random(300)]),
        part,
        "fails: groups are 'noise'",
        cmap="coolwarm",
    )


@figure("distortion-discriminant-analysis")
def distortion_discriminant_analysis() -> None:
    """A distortion that was learnt, and one that was not."""
    rng = np.random.default_rng(0)
    clean = np.cumsum(rng.standard_normal((1500, 6)), axis=0)
    clean -= np.linspace(0, 1, 1500)[:, None] * clean[-1]
    noisy = [clean + rng.standard_normal(clean.shape) for _ in range(3)]
    model = DistortionDiscriminantAnalysis(layers=[(6, 8, 4), (4, 8, 4)]).fit(clean, distorted=noisy)
    stored = model.transform(clean)
    cases = {
        "right: noise, as learnt": clean + rng.standard_normal(clean.shape),
        "fails: columns exchanged": clean[:, ::-1] + rng.standard_normal(clean.shape),
    }
    for ax, (title, version) in zip(axes(2, 3.6, 2.4), cases.items(), strict=True):
        again = model.transform(version)
        same = np.linalg.norm(stored - again, axis=1)
        other = np.linalg.norm(stored - np.roll(again, 17, axis=0), axis=1)
        ax.hist(other, 30, alpha=0.6, label="other windows", color="#c44")
        ax.hist(same, 30, alpha=0.6, label="the same window", color="#30638e")
        ax.set_title(title, fontsize=9)
        ax.set_xlabel("distance of features", fontsize=8)
        ax.legend(fontsize=7, frameon=False)


@figure("projection-pursuit")
def projection_pursuit() -> None:
    """Hidden clusters; noise with as many columns as rows."""
    rng = np.random.default_rng(0)
    X = 5 * rng.standard_normal((500, 4))
    part = rng.integers(0, 2, 500)
    X[:, 0] = 2.0 * part - 1 + 0.15 * rng.standard_normal(500)
    X = X @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    noise = rng.standard_normal((60, 40))
    found = ProjectionPursuit(2).fit_transform(X)
    chance = ProjectionPursuit(2).fit_transform(noise)
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, PCA(2).fit_transform(X), part, "hidden groups, PCA", cmap="coolwarm")
    dots(second, found, part, "right: pursuit finds them", cmap="coolwarm")
    dots(third, noise[:, :2], None, "60 rows of noise, 40 columns")
    dots(last, chance, None, "fails: 'structure' by chance")


@figure("kernel-pca")
def kernel_pca() -> None:
    """Circles; a roll."""
    X, part = make_circles(400, noise=0.05, factor=0.35, random_state=0)
    roll, t = _roll()
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, X, part, "two rings", cmap="coolwarm")
    dots(second, KernelPCA(2, gamma=2.0).fit_transform(X), part, "right: separated", cmap="coolwarm")
    dots(third, roll, t, "a roll")
    dots(last, KernelPCA(2, gamma=0.02).fit_transform(roll), t, "fails: does not unroll")


@figure("greedy-spectral-embedding")
def greedy_spectral_embedding() -> None:
    """Few members for many rows; a kernel that is too narrow."""
    X, y = load_digits(n_class=4, return_X_y=True)
    wide = GreedySpectralEmbedding(2, dictionary=Dictionary(tol=0.2)).fit(X)
    U = np.random.default_rng(0).random((600, 3))
    narrow = GreedySpectralEmbedding(2, gamma=60.0, dictionary=Dictionary(tol=0.05)).fit(U)
    first, second, third = axes(3, 2.9, 2.4)
    dots(first, wide.embedding_, y, f"right: {len(wide.dictionary_)} of {len(X)} rows suffice", cmap="Set1")
    picked = np.zeros(len(U))
    picked[narrow.dictionary_indices_] = 1
    dots(second, U[:, :2], picked, f"fails: narrow kernel, {len(narrow.dictionary_)} of 600", cmap="coolwarm")
    dots(third, narrow.embedding_, U[:, 0], "and the map is of single rows")
