"""Pictures of the user guide."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from figure_tools import axes, dots, figure
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_moons, make_swiss_roll

from eigenscape import PCA, DiffusionMap, Isomap, LaplacianEigenmaps, SpectralClustering, plot, quality
from eigenscape.datasets import heads


@figure("guide-start")
def start() -> None:
    """Digits with held-out digits as rings."""
    X, y = load_digits(n_class=5, return_X_y=True)
    model = Isomap(n_components=2, n_neighbors=10).fit(X[:800])
    plot.scatter(model, y[:800], new=model.transform(X[800:]), ax=axes(1, 6, 4)[0])


@figure("which-surface")
def surface() -> None:
    """PCA and Isomap of a roll."""
    X, t = make_swiss_roll(1000, random_state=0)
    first, second, third = axes(3)
    dots(first, X, t, "swiss roll, from the side")
    dots(second, PCA(2).fit_transform(X), t, "PCA")
    dots(third, Isomap(n_neighbors=10).fit_transform(X), t, "Isomap")


@figure("which-clusters")
def clusters() -> None:
    """Two arcs."""
    X, part = make_moons(500, noise=0.07, random_state=0)
    first, second, third = axes(3)
    dots(first, X, part, "two arcs", cmap="coolwarm")
    dots(second, PCA(2).fit_transform(X), part, "PCA", cmap="coolwarm")
    dots(
        third,
        LaplacianEigenmaps(n_neighbors=10).fit_transform(X),
        part,
        "Laplacian eigenmaps",
        cmap="coolwarm",
    )


@figure("which-density")
def density() -> None:
    """A circle with uneven density."""
    u = 2 * np.pi * (np.arange(400) + 0.5) / 400
    angle = u + 0.8 * np.sin(u)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    first, second, third = axes(3)
    dots(first, circle[::5], angle[::5], "a circle, denser on the left", cmap="twilight")
    for ax, alpha, title in (
        (second, 0, "without correction (alpha=0)"),
        (third, 1, "diffusion map (alpha=1)"),
    ):
        model = DiffusionMap(affinity="rbf", gamma=100.0, alpha=alpha)
        dots(ax, model.fit_transform(circle), angle, title, cmap="twilight")
        ax.set_aspect("equal", "datalim")


@figure("which-noise")
def noise() -> None:
    """Maps of noise."""
    X = np.random.default_rng(0).standard_normal((500, 30))
    for ax, model in zip(
        axes(3), (PCA(2), Isomap(n_neighbors=10), LaplacianEigenmaps(n_neighbors=10)), strict=True
    ):
        Y = model.fit_transform(X)
        kept = quality.neighbors_kept(X, Y).share.value
        dots(ax, Y, None, f"{type(model).__name__}: {kept:.0%} kept")


@figure("guide-new")
def new_points() -> None:
    """New points on a roll."""
    X, t = make_swiss_roll(1100, random_state=0)
    model = Isomap(n_neighbors=10).fit(X[:1000])
    first, second = axes(2, 3.6, 2.8)
    for ax, old, new in ((first, X[:1000], X[1000:]), (second, model.embedding_, model.transform(X[1000:]))):
        dots(ax, old, t[:1000])
        ax.scatter(new[:, 0], new[:, -1], s=22, facecolors="none", edgecolors="black", linewidths=0.9)
    first.set_title("rows; rings are new", fontsize=9)
    second.set_title("Isomap, and transform of the new rows", fontsize=9)


@figure("guide-neighbours")
def neighbours() -> None:
    """Three numbers of neighbours."""
    X, t = make_swiss_roll(700, noise=0.3, random_state=0)
    for ax, k in zip(axes(3), (4, 10, 40), strict=True):
        dots(ax, Isomap(n_neighbors=k).fit_transform(X), t, f"n_neighbors={k}")


@figure("guide-stability")
def stability() -> None:
    """Movement of the points."""
    X, _ = load_digits(n_class=5, return_X_y=True)
    model = Isomap(n_neighbors=10).fit(X[:500])
    found = quality.perturbation_stability(Isomap(n_neighbors=10), X[:500], n_repeats=3)
    ax = axes(1, 5, 3)[0]
    dots(ax, model.embedding_, found.per_point, "movement when 5 % of the rows are exchanged", size=12)
    plt.colorbar(ax.collections[0], ax=ax)


@figure("guide-disconnected")
def disconnected() -> None:
    """Two components."""
    X, part = make_moons(300, noise=0.05, random_state=0)
    X = X + 2.5 * np.column_stack([part, part])
    first, second, third = axes(3)
    dots(first, X, part, "two groups far apart", cmap="coolwarm")
    for ax, choice in ((second, "connect"), (third, "per_component")):
        model = LaplacianEigenmaps(n_neighbors=8, on_disconnected=choice)
        dots(ax, model.fit_transform(X), part, f'on_disconnected="{choice}"', cmap="coolwarm")


@figure("guide-clusters")
def moons() -> None:
    """k-means and spectral clustering."""
    X, _ = make_moons(500, noise=0.06, random_state=0)
    first, second = axes(2, 3, 2.3)
    dots(first, X, KMeans(2, random_state=0, n_init=3).fit_predict(X), "k-means", cmap="coolwarm")
    model = SpectralClustering(2, n_neighbors=10, on_disconnected="per_component").fit(X)
    dots(second, X, model.labels_, "spectral clustering", cmap="coolwarm")


@figure("guide-inverse")
def inverse() -> None:
    """Images along a line."""
    X, _ = load_digits(n_class=3, return_X_y=True)
    model = Isomap(n_neighbors=10).fit(X)
    shares = np.linspace(0, 1, 7)[:, None]
    images = model.inverse_transform(model.embedding_[:1] * (1 - shares) + model.embedding_[1:2] * shares)
    for ax, image in zip(axes(7, 1.1, 1.2), images.reshape(-1, 8, 8), strict=True):
        ax.imshow(image, cmap="gray_r")
        ax.set(xticks=[], yticks=[])


@figure("guide-images")
def images() -> None:
    """Drawn heads."""
    X, _ = heads(300)
    model = Isomap(n_neighbors=8).fit(X)
    plot.scatter(model, images=X.reshape(-1, 32, 32), n_thumbnails=45, ax=axes(1, 6.5, 4.2)[0])
