"""Contents of figures."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox
from sklearn.datasets import load_iris, make_moons

from eigenscape import PCA, FastMap, Isomap, KernelPCA, LaplacianEigenmaps, ProjectionPursuit, plot
from eigenscape._palette import DENSE, MUTED, category_colors
from eigenscape.plot._figure import PALETTE
from eigenscape.plot.diagnostics import eigengap
from eigenscape.plot.thumbnails import select_apart
from eigenscape.quality import perturbation_stability, procrustes

PLANE = KernelPCA().fit(np.random.default_rng(0).random((20, 2)))


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def model(iris):
    return PCA(3).fit(iris[0])


def offsets(ax):
    return [np.asarray(collection.get_offsets()) for collection in ax.collections]


def draw(figure):
    figure.canvas.draw()  # warnings and errors of drawing appear here


# --- scatter ------------------------------------------------------------------------------------------------


def test_scatter_draws_the_points(model):
    ax = plot.scatter(model, title="Iris")
    assert np.allclose(offsets(ax)[0], model.embedding_[:, :2])
    assert ax.get_legend() is None
    assert ax.get_title() == "Iris"
    assert ax.get_xlabel() == "coordinate 1"
    draw(ax.figure)


def test_components_are_chosen(model):
    ax = plot.scatter(model, components=(2, 0))
    assert np.allclose(offsets(ax)[0], model.embedding_[:, [2, 0]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("coordinate 3", "coordinate 1")


def test_labels_have_colours_and_a_legend(model, iris):
    names = np.array(["setosa", "versicolor", "virginica"])[iris[1]]
    ax = plot.scatter(model, names)
    assert [len(points) for points in offsets(ax)] == [50, 50, 50]
    assert [to_hex(c.get_facecolor()[0]).upper() for c in ax.collections] == list(PALETTE[:3])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]
    assert np.allclose(offsets(ax)[1], model.embedding_[50:100, :2])


@pytest.mark.long
def test_the_most_frequent_of_many_labels_have_colours():
    rng = np.random.default_rng(0)
    labels = np.concatenate(
        [np.repeat([f"often {i:02}" for i in range(20)], 10), [f"once {i}" for i in range(3000)]]
    ).astype(object)
    labels[-5:] = None
    for density in (False, True):
        ax = plot.scatter(rng.random((len(labels), 2)), labels, density=density)
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert names == [*(f"often {i:02}" for i in range(20)), "other (2995)", "missing"]
        draw(ax.figure)
    assert len(plot.scatter(rng.random((len(labels), 2)), labels).collections) == 22


def test_missing_labels_share_one_entry():
    labels = np.array(["a", None, "b", float("nan")], dtype=object)
    ax = plot.scatter(np.random.default_rng(0).random((4, 2)), labels)
    assert [len(points) for points in offsets(ax)] == [1, 1, 2]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "missing"]


def test_names_are_drawn_as_plain_text():
    names = np.array(["$5 to $", "_hidden", "$\\frac{$", "new"])
    Y = np.random.default_rng(0).random((4, 2))
    ax = plot.scatter(Y, names, title="$a$b$", new=Y[:1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*sorted(names), "1 new point"]
    draw(ax.figure)
    draw(plot.compare({"$5 to $\\frac{$": Y, "b$": Y[::-1]}, names))


def test_values_have_a_colour_bar_with_their_limits(model, iris):
    values = iris[0][:, 2].copy()
    values[7] = np.nan
    ax = plot.scatter(model, values=values)
    bar = ax.figure.axes[1]
    assert bar.get_ylim() == pytest.approx((np.nanmin(values), np.nanmax(values)))
    grey, coloured = ax.collections
    assert len(grey.get_offsets()) == 1
    assert np.allclose(coloured.get_array(), np.delete(values, 7))


def test_continuous_labels_are_values(model, iris):
    ax = plot.scatter(model, iris[0][:, 0])
    assert ax.get_legend() is None
    assert len(ax.figure.axes) == 2
    many = plot.scatter(model, np.arange(150))
    assert len(many.figure.axes) == 2


def test_new_points_are_rings(model, iris):
    new = model.transform(iris[0][:9] + 0.1)
    ax = plot.scatter(model, iris[1], new=new)
    rings = next(c for c in ax.collections if c.get_label() == "9 new points")
    assert np.allclose(rings.get_offsets(), new[:, :2])
    assert len(rings.get_facecolor()) == 0  # hollow
    assert to_hex(rings.get_edgecolor()[0]) == "#000000"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2", "9 new points"]
    plain = plot.scatter(model, new=new)
    assert [text.get_text() for text in plain.get_legend().get_texts()] == ["9 new points"]
    with pytest.raises(ValueError, match="new has 2 coordinates, but the embedding has 3"):
        plot.scatter(model, new=new[:, :2])


def test_scatter_of_one_coordinate(iris):
    Y = PCA(1).fit_transform(iris[0])
    assert np.allclose(offsets(plot.scatter(Y))[0], np.column_stack([np.arange(150), Y[:, 0]]))
    over = plot.scatter(Y[:, 0], values=iris[0][:, 1])
    assert np.allclose(offsets(over)[0], np.column_stack([iris[0][:, 1], Y[:, 0]]))
    new = plot.scatter(Y, new=Y[:4], values=iris[0][:, 1])
    assert np.allclose(offsets(new)[0][:, 0], [150, 151, 152, 153])


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, DENSE + 1)
    return np.column_stack(
        [rng.standard_normal(DENSE + 1) + 20 * labels, rng.standard_normal(DENSE + 1)]
    ), labels


@pytest.mark.long
def test_many_points_are_drawn_as_cells(crowd):
    Y = crowd[0]
    ax = plot.scatter(Y)
    (cells,) = ax.collections
    assert isinstance(cells, PolyCollection)
    assert cells.get_array().sum() == DENSE + 1  # every point is counted once
    assert isinstance(plot.scatter(Y[:-1]).collections[0], PathCollection)
    assert isinstance(plot.scatter(Y[:100], density=True).collections[0], PolyCollection)
    draw(ax.figure)


@pytest.mark.long
def test_cells_have_the_most_frequent_label_or_the_mean_value(crowd):
    Y, labels = crowd
    ax = plot.scatter(Y, labels)
    draw(ax.figure)
    (cells,) = ax.collections
    middles = cells.get_offsets()[:, 0]
    assert np.allclose(cells.get_facecolor()[middles < 10][:, :3], to_rgb(PALETTE[0]))
    assert np.allclose(cells.get_facecolor()[middles > 10][:, :3], to_rgb(PALETTE[1]))
    assert len(ax.get_legend().get_texts()) == 2
    values = np.where(labels == 0, 3.0, 5.0)
    values[:5] = np.nan
    by_value = plot.scatter(Y, values=values)
    assert by_value.figure.axes[1].get_ylim()[0] == pytest.approx(3.0)
    assert by_value.figure.axes[1].get_ylim()[1] == pytest.approx(5.0)
    draw(by_value.figure)


def test_cells_of_coinciding_or_collinear_points():
    ax = plot.scatter(np.zeros((10, 2)), density=True)
    assert ax.collections[0].get_array().sum() == 10
    line = np.column_stack([np.arange(10), np.zeros(10)])
    draw(plot.scatter(line, density=True, labels=list("abababaaab")).figure)


@pytest.mark.long
def test_thumbnails_do_not_overlap(model):
    images = np.random.default_rng(0).uniform(size=(150, 6, 4))
    ax = plot.scatter(model, images=images, thumbnail_size=20)
    draw(ax.figure)
    boxes = [artist.get_window_extent() for artist in ax.artists if isinstance(artist, AnnotationBbox)]
    assert len(boxes) > 5
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert min(one.x1, other.x1) <= max(one.x0, other.x0) or min(one.y1, other.y1) <= max(
                one.y0, other.y0
            )
    with pytest.raises(ValueError, match="images must have shape"):
        plot.scatter(model, images=images[:, :, 0])


def test_selected_points_are_apart_and_limited():
    pixels = np.random.default_rng(0).uniform(0, 1000, (500, 2))
    chosen = select_apart(pixels, np.array([100.0, 50.0]), 1000)
    near = np.abs(pixels[chosen][:, None] - pixels[chosen]) < [100, 50]
    assert near.all(axis=2).sum() == len(chosen)  # each is near itself only
    assert len(chosen) > 40
    assert len(select_apart(pixels, np.array([10.0, 10.0]), 7)) == 7


def test_colours_are_different():
    for count in (1, 8, 9, 10, 11, 20):
        assert len({to_hex(color) for color in category_colors(count)}) == count
    assert category_colors(10) == list(MUTED)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda m: plot.scatter(m, [1, 2]),
            ValueError,
            r"labels must have shape \(150,\), one per point, got \(2,\)",
        ),
        (lambda m: plot.scatter(m, values=["a"] * 150), ValueError, "values must be numbers"),
        (lambda m: plot.scatter(m, values=[np.nan] * 150), ValueError, "contains no finite number"),
        (
            lambda m: plot.scatter(m, components=(0, 3)),
            ValueError,
            r"components=\(0, 3\) must be two of the coordinates 0 to 2",
        ),
        (lambda _: plot.scatter(PCA()), TypeError, "PCA has no embedding_; fit it first"),
        (lambda _: plot.scatter(["a", "b"]), TypeError, "coordinates must be numbers"),
        (lambda _: plot.spectrum(PCA()), TypeError, "PCA has no eigenvalues_"),
        (lambda _: plot.spectrum([]), ValueError, "eigenvalues must have shape"),
        (lambda m: plot.eigenfunction(m), ValueError, "two features, got PCA with n_features_in_=4"),
        (lambda m: plot.compare({"a": m, "b": np.zeros((3, 2))}), ValueError, "'b' has 3 and 'a' 150"),
        (lambda _: plot.compare([]), ValueError, "models is empty"),
        (
            lambda m: plot.compare([m], n_columns=-1),
            ValueError,
            "n_columns=-1 must be an integer of at least 1",
        ),
        (lambda m: plot.scatter(m, components=(0, 1.0)), ValueError, r"components=\(0, 1.0\) must be two of"),
        (
            lambda m: plot.scatter(m, images=np.zeros((150, 4, 4, 2))),
            ValueError,
            r"with 1 or 3 or 4 channels, got \(150, 4, 4, 2\)",
        ),
        (
            lambda _: plot.scatter([[0, 1], [np.nan, 1]]),
            ValueError,
            "1 of 2 points have coordinates that are NaN or infinite.* index 1",
        ),
        (lambda _: plot.scatter(np.full((DENSE + 1, 2), np.inf)), ValueError, "NaN or infinite"),
        (
            lambda m: plot.compare([m, np.full((150, 2), np.nan)]),
            ValueError,
            "150 of 150 points have coordinates",
        ),
        (lambda _: plot.spectrum([0.0, 0.0], log=True), ValueError, "logarithmic scale cannot show"),
        (
            lambda _: plot.eigenfunction(PLANE, resolution=0),
            ValueError,
            "resolution=0 must be an integer of at least 2",
        ),
        (lambda _: plot.eigenfunction(PLANE, limits=(1, 0, 0, 1)), ValueError, "left < right"),
        (lambda _: plot.eigenfunction(PLANE, component=1.0), ValueError, "component=1.0 must be an integer"),
    ],
)
def test_bad_arguments_are_named(model, call, error, message):
    with pytest.raises(error, match=message):
        call(model)


# --- spectrum -----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_spectrum_shows_the_gap_and_the_negative_part():
    ax = plot.spectrum(np.array([1.0, 5.0, -2.0, 4.5, 0.5]))
    assert [bar.get_height() for bar in ax.patches] == [5.0, 4.5, 1.0, 0.5, -2.0]
    assert len({bar.get_facecolor() for bar in ax.patches}) == 2
    gap = next(line for line in ax.lines if line.get_label() == "largest gap")
    assert gap.get_xdata()[0] == 2.5
    assert ax.get_title() == "1 of 5 negative, 15.4% of the magnitude"
    draw(ax.figure)
    draw(plot.spectrum(np.linspace(-1, 3, 200), title="many").figure)
    draw(plot.spectrum(np.linspace(-1, 3, 200), log=True).figure)


def test_spectrum_of_a_model(model):
    ax = plot.spectrum(model)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(list(model.eigenvalues_))
    assert eigengap(np.array([3.0])) is None
    rng = np.random.default_rng(0)
    pieces = np.concatenate([rng.standard_normal((40, 2)), 100 + rng.standard_normal((30, 2))])
    with pytest.warns(UserWarning, match="components"):
        several = LaplacianEigenmaps(on_disconnected="per_component").fit(pieces)
    assert len(plot.spectrum(several).patches) == 2


# --- eigenfunction ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_eigenfunction_is_evaluated_at_the_cells():
    X, _ = make_moons(60, noise=0.05, random_state=0)
    model = KernelPCA(3).fit(X)
    ax = plot.eigenfunction(model, 1, limits=(-1.0, 2.0, 0.0, 1.0), resolution=10)
    field = np.asarray(ax.images[0].get_array())
    centre = np.array([[-1 + 0.3 * 4.5, 0.1 * 7.5]])
    assert field[7, 4] == pytest.approx(model.eigenfunctions(centre)[0, 1])
    assert np.allclose(offsets(ax)[0], X)
    at_points = model.eigenfunctions(X)[:, 1]
    assert ax.images[0].get_clim() == pytest.approx((at_points.min(), at_points.max()))
    assert ax.get_title() == "eigenfunction 2"
    draw(ax.figure)
    logarithm = np.asarray(
        plot.eigenfunction(model, 1, limits=(-1.0, 2.0, 0.0, 1.0), resolution=10, log=True)
        .images[0]
        .get_array()
    )
    assert (np.sign(logarithm) == np.sign(field)).all()
    assert np.abs(logarithm).max() == pytest.approx(np.log(1001))
    with pytest.raises(ValueError, match="component=3 must lie between 0 and 2"):
        plot.eigenfunction(model, 3)


def test_eigenfunction_of_a_model_without_a_kernel_uses_transform():
    X, _ = make_moons(60, noise=0.05, random_state=0)
    pursuit = ProjectionPursuit(1).fit(X)
    with pytest.raises(ValueError, match="ProjectionPursuit does not store its training points; pass X"):
        plot.eigenfunction(pursuit)
    assert len(plot.eigenfunction(pursuit, X=X, resolution=5).images) == 1


# --- compare ------------------------------------------------------------------------------------------------


def test_compare_aligns_to_the_first(iris, model):
    first = model.embedding_[:, :2]
    turned = -3 * first[:, ::-1] + 7
    other = FastMap(2).fit(iris[0])
    figure = plot.compare({"pca": first, "turned": turned, "fastmap": other}, iris[1])
    maps = [np.concatenate(offsets(ax)) for ax in figure.axes]
    order = np.argsort(iris[1], kind="stable")
    assert np.allclose(maps[0], first[order])
    assert np.allclose(maps[1], first[order])
    assert np.allclose(maps[2], procrustes(other.embedding_, first).aligned[order])
    assert figure.axes[1].get_title() == "turned\n0.00 from pca"
    assert sum(ax.get_legend() is not None for ax in figure.axes) == 1
    draw(figure)


@pytest.mark.long
def test_compare_has_one_colour_bar(iris, model):
    figure = plot.compare([model, model.embedding_[:, :1]], values=iris[0][:, 0])
    assert len(figure.axes) == 3
    assert [ax.get_title().split("\n")[0] for ax in figure.axes[:2]] == ["PCA", "map 2"]
    draw(figure)


# --- stability ----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_stability_shows_movements_and_the_curve(iris):
    X = iris[0]
    found = perturbation_stability(PCA(2), X, fraction=[0.1, 0.02], n_repeats=2, n_left_out=4)
    figure = plot.stability(PCA(2).fit(X), found)
    left, right = figure.axes[:2]
    shown = left.collections[-1]
    assert np.allclose(np.sort(found.per_point), shown.get_array())
    assert shown.get_sizes()[-1] > shown.get_sizes()[0]  # points that move are large
    curve = right.containers[0].lines[0]
    assert curve.get_xdata() == pytest.approx([0.02, 0.1])
    assert curve.get_ydata() == pytest.approx([found.delta[1].value, found.delta[0].value])
    draw(figure)
    without = perturbation_stability(PCA(2), X, n_repeats=1, n_left_out=0)
    histogram = plot.stability(PCA(2).fit(X), without).axes[1]
    assert sum(bar.get_height() for bar in histogram.patches) == np.isfinite(without.per_point).sum()
    with pytest.raises(ValueError, match="the embedding has 3 points, but the stability 150"):
        plot.stability(np.zeros((3, 2)), found)


# --- common ------------------------------------------------------------------------------------------------


def test_given_axes_and_figures_are_used(iris, model):
    figure = Figure()
    ax = figure.subplots()
    assert plot.scatter(model, ax=ax) is ax
    assert plot.spectrum(model, ax=figure.add_subplot()) in figure.axes
    other = Figure()
    assert plot.compare([model], figure=other) is other
    part = Figure().subfigures(1, 2)[1]
    assert plot.scatter(model, values=iris[0][:, 0], ax=part.subplots()).figure is part


@pytest.mark.process
@pytest.mark.usefixtures("forked_libraries")
def test_estimators_load_no_plotting_or_dask():
    code = (
        "import sys, numpy as np; from eigenscape import PCA, Isomap; PCA(1).fit(np.eye(3));"
        "print(*sys.modules)"
    )
    allowed = "ignore::DeprecationWarning"  # of pyparsing, in old releases of matplotlib
    command = [sys.executable, "-W", "error", "-W", allowed, "-c", code]
    loaded = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    assert "eigenscape.estimators.isomap" in loaded
    assert not {"matplotlib", "polars", "dask"} & set(loaded)


def test_isomap_values_and_float32():
    X, _ = make_moons(60, noise=0.05, random_state=0)
    model = Isomap().fit(X.astype(np.float32))
    axes = plot.scatter(model, values=np.arange(60))
    draw(axes.figure)
    assert len(axes.collections[0].get_offsets()) == 60
