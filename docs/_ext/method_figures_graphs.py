"""Pictures of methods that use neighbourhood graphs: where each is right, and where it fails."""

from __future__ import annotations

import numpy as np
from figure_tools import axes, dots, figure, four
from sklearn.datasets import load_digits, make_moons, make_swiss_roll

from eigenscape import (
    PCA,
    AlignedSpectralMaps,
    DiffusionMap,
    KernelEigenmap,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    LocallyLinearEmbedding,
    NeighborEmbedding,
    PotentialMap,
    SpectralClustering,
)
from eigenscape.datasets import swiss_roll, twisted_roll


@figure("locally-linear-embedding")
def locally_linear_embedding() -> None:
    """A roll by modified weights; noise."""
    X, t = make_swiss_roll(1000, random_state=0)
    noisy, s = make_swiss_roll(1000, noise=0.6, random_state=0)
    right = LocallyLinearEmbedding(n_neighbors=12, method="modified").fit_transform(X)
    fails = LocallyLinearEmbedding(n_neighbors=12).fit_transform(noisy)
    four(
        (X, t, "a roll"),
        (right, t, 'right: method="modified"'),
        (noisy, s, "a noisy roll"),
        (fails, s, 'fails: "standard", collapsed'),
    )


@figure("laplacian-eigenmaps")
def laplacian_eigenmaps() -> None:
    """Branches; a long strip."""
    rng = np.random.default_rng(0)
    arms = [np.outer(rng.random(150), rng.standard_normal(10)) for _ in range(3)]
    X = np.concatenate(arms) + 0.02 * rng.standard_normal((450, 10))
    part = np.repeat([0, 1, 2], 150)
    strip = rng.random((800, 2)) * [8, 1]
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, PCA(2).fit_transform(X), part, "three branches, PCA", cmap="Set1")
    dots(second, LaplacianEigenmaps(n_neighbors=10).fit_transform(X), part, "right: branches", cmap="Set1")
    dots(third, strip, strip[:, 0], "a long strip")
    dots(
        last,
        LaplacianEigenmaps(n_neighbors=10).fit_transform(strip),
        strip[:, 0],
        "fails: a harmonic, no width",
    )


@figure("diffusion-map")
def diffusion_map() -> None:
    """Uneven density; outliers."""
    u = 2 * np.pi * (np.arange(400) + 0.5) / 400
    angle = u + 0.8 * np.sin(u)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    full = {"affinity": "rbf", "gamma": 100.0}
    odd = np.concatenate([circle, [[1.6, 0.0], [1.85, 0.0], [-1.7, 0.3]]])
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, circle[::5], angle[::5], "denser on the left", cmap="twilight")
    dots(second, DiffusionMap(**full).fit_transform(circle), angle, "right: a circle", cmap="twilight")
    dots(third, odd[::-5], None, "three outliers", size=9)
    third.scatter(*odd[-3:].T, c="#c44", s=16)
    Y = DiffusionMap(**full).fit_transform(odd)
    dots(last, Y, None, "fails: coordinates of outliers", size=16)
    last.scatter(*Y[-3:].T, c="#c44", s=16)


@figure("spectral-clustering")
def spectral_clustering() -> None:
    """Moons; a bridge of noise."""
    X, _ = make_moons(400, noise=0.06, random_state=0)
    rng = np.random.default_rng(0)
    dense = rng.normal(0, 0.25, (400, 2))
    wide = rng.normal([3.0, 0], 1.0, (100, 2))
    both = np.concatenate([dense, wide])
    model = SpectralClustering(2, n_neighbors=10, on_disconnected="per_component")
    other = SpectralClustering(2, affinity="rbf", gamma=20.0)
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, X, None, "two moons")
    dots(second, X, model.fit(X).labels_, "right: two clusters", cmap="coolwarm")
    dots(third, both, np.repeat([0, 1], [400, 100]), "dense and sparse group", cmap="coolwarm")
    dots(last, both, other.fit(both).labels_, "fails: narrow kernel cuts off few", cmap="coolwarm")


@figure("kernel-eigenmap")
def kernel_eigenmap() -> None:
    """Enough kernels; too few."""
    X, place = twisted_roll()
    color = np.asarray(place)[:, 0]
    right = KernelEigenmap(n_components=2).fit_transform(X)
    fails = KernelEigenmap(n_components=2, n_kernels=2).fit_transform(X)
    first, second, third = axes(3, 2.9, 2.4)
    dots(first, X, color, "a twisted roll")
    dots(second, right, color, "right: unrolled, continuous")
    dots(third, fails, color, "fails: 2 kernels are too stiff")


@figure("locality-preserving-projection")
def locality_preserving_projection() -> None:
    """Groups along a direction of small variance; a roll."""
    rng = np.random.default_rng(0)
    part = np.repeat([0, 1, 2], 120)
    X = rng.standard_normal((360, 5)) * [1, 9, 9, 9, 9]
    X[:, 0] += 10 * part
    X = X @ np.linalg.qr(rng.standard_normal((5, 5)))[0]
    roll, t = swiss_roll(700)[:2]
    t = np.asarray(t)
    color = t[:, 0] if t.ndim == 2 else t
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, PCA(2).fit_transform(X), part, "three groups, PCA", cmap="Set1")
    model = LocalityPreservingProjection(2, n_neighbors=10)
    dots(second, model.fit_transform(X), part, "right: groups apart", cmap="Set1")
    dots(third, roll, color, "a roll")
    dots(last, model.fit_transform(roll), color, "fails: linear")


@figure("neighbor-embedding")
def neighbor_embedding() -> None:
    """Ten digits; a roll, which is torn."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    roll, t = make_swiss_roll(900, random_state=0)
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, LaplacianEigenmaps(n_neighbors=15).fit_transform(X), y, "digits, eigenmap", cmap="tab10")
    dots(second, NeighborEmbedding().fit_transform(X), y, "right: digits in groups", cmap="tab10")
    dots(third, roll, t, "a roll")
    dots(last, NeighborEmbedding().fit_transform(roll), t, "fails: bent and torn")


@figure("potential-map")
def potential_map() -> None:
    """A tree; groups without transitions."""
    rng = np.random.default_rng(0)
    ends: list[np.ndarray] = []
    rows = []
    for parent in (None, 0, 0, 1, 1, 2, 2):
        begin = np.zeros(40) if parent is None else ends[parent]
        direction = rng.standard_normal(40)
        rows.append(begin + np.outer(rng.random(80), direction))
        ends.append(begin + direction)
    tree = np.concatenate(rows) + rng.normal(0, 0.08, (560, 40))
    branch = np.repeat(np.arange(7), 80)
    part = np.repeat(np.arange(6), 80)
    groups = 6 * rng.standard_normal((6, 10))[part] + rng.standard_normal((480, 10))
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, PCA(2).fit_transform(tree), branch, "seven branches, PCA", cmap="tab10")
    dots(second, PotentialMap().fit_transform(tree), branch, "right: branches", cmap="tab10")
    dots(third, PCA(2).fit_transform(groups), part, "six separate groups, PCA", cmap="tab10")
    dots(last, PotentialMap().fit_transform(groups), part, "fails: no transitions", cmap="tab10")


@figure("aligned-spectral-maps")
def aligned_spectral_maps() -> None:
    """Halves of digits with a fifth of the links; shuffled links."""
    images, y = load_digits().images[:900], load_digits().target[:900]
    halves = [images[:, :, :4].reshape(900, 32), images[:, :, 4:].reshape(900, 32)]
    known = np.arange(0, 900, 5)
    shuffled = np.random.default_rng(0).permutation(known)
    panels = axes(4, 2.35, 2.2)
    for first, links, title in ((0, known, "right: the other ones"), (2, shuffled, "fails: wrong links")):
        model = AlignedSpectralMaps(coupling=1).fit(halves, links={(0, 1): np.column_stack([known, links])})
        dots(panels[first], model.embeddings_[0], y, "left halves of digits", cmap="tab10")
        dots(panels[first + 1], model.embeddings_[1], y, title, cmap="tab10")
