"""Content of reports for every kind of model and any text in the columns."""

from __future__ import annotations

import base64
import html
import inspect
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import load
from covering import PRODUCT
from scipy import sparse
from sklearn.preprocessing import StandardScaler

import eigenscape
from eigenscape import (
    PCA,
    ClassicalMDS,
    GreedySpectralEmbedding,
    Isomap,
    KernelEigenmap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    LocallyLinearEmbedding,
    MixturePPCA,
    NeighborEmbedding,
    OrdinalMDS,
    PotentialMap,
    ProbabilisticPCA,
    ProjectionPursuit,
    SpectralClustering,
    quality,
)
from eigenscape.app.io.table import Table
from eigenscape.app.report import write_comparison, write_report
from eigenscape.options import Landmarks

NASTY = [
    "<script>alert(1)</script>",
    "</script><b>x",
    "naïve 🦆 \u202e",
    "a" * 5000,
    '"quoted" & <i>',
    "\x00\ud800 odd",
]


def data_of(path: Path) -> dict[str, Any]:
    """Return the data of the page's script."""
    found = re.search(
        r'<script type="application/json" id="report-data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    return json.loads(found[1])


def values(pack: dict[str, Any]) -> np.ndarray:
    """Return the numbers of a packed array, as the script of the page reads them."""
    codes = np.frombuffer(base64.b64decode(pack["base64"]), dtype=f"<{pack['type']}")
    if "step" not in pack:
        return codes
    return np.where(
        codes == np.iinfo(codes.dtype).max, np.nan, pack["low"] + pack["step"] * codes.astype(np.float64)
    )


def names(column: dict[str, Any]) -> list[str | None]:
    if "codes" not in column:
        return column["names"]
    return [
        column["names"][code] if code < len(column["names"]) else None for code in values(column["codes"])
    ]


def column_of(page: dict[str, Any], name: str) -> dict[str, Any]:
    return next(column for column in page["columns"] if column["name"] == name)


def words_of(path: Path, part: str | None = None) -> str:
    """Return the text of the page, or of one section, without markup."""
    text = path.read_text("utf-8").split('<script type="application/json"')[0]
    if part is not None:
        text = re.search(rf'<section id="{part}".*?</section>', text, re.DOTALL)[0]  # type: ignore[index]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


@pytest.fixture(scope="module")
def roll() -> tuple[np.ndarray, Isomap]:
    X, _ = load("curve")
    return X, Isomap(n_neighbors=8).fit(X)


# --- numbers ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_numbers_shown_equal_the_measures(tmp_path, roll):
    X, model = roll
    labels = np.where(X[:, 0] > 0, "right", "left")
    new = load("curve")[1]
    path = write_report(
        tmp_path / "r.html",
        model,
        X,
        held_out=new,
        labels=labels,
        command="make it",
        timings={"neighbours": 1.5},
    )
    trust = quality.sampled_trustworthiness(X, model.embedding_, 10)
    kept = quality.sampled_continuity(X, model.embedding_, 10)
    assert trust.value != pytest.approx(kept.value, abs=1e-4)
    assert f"Trustworthiness {trust.value:.3f}" in words_of(path, "neighbours")
    assert f"Continuity {kept.value:.3f}" in words_of(path, "neighbours")
    assert f"{model.loss():.4g}" in words_of(path, "loss")
    assert f"{model.loss(new):.4g}" in words_of(path, "loss")
    assert f"{model.eigenvalues_[0]:.4g}" in words_of(path, "spectrum")
    assert f"{100 * model.negative_fraction_:.2g} %" in words_of(path, "spectrum")
    residual = quality.residual_variance(X, model.embedding_, metric="geodesic", n_neighbors=8)
    assert f"Residual variance with 2 coordinates {residual:.3g}" in words_of(path, "residual")
    assert f"Reconstruction error {model.inverse_error_:.3g}" in words_of(path, "residual")
    purity = quality.neighbor_purity(model.embedding_, labels)
    assert f"{100 * purity.value:.0f} %" in words_of(path, "summary")
    stability = quality.perturbation_stability(
        Isomap(n_neighbors=8), X, fraction=0.1, n_repeats=3, n_left_out=0
    )
    movement = values(column_of(data_of(path), "movement (stability)")["values"])[: len(X)]
    np.testing.assert_allclose(movement, 100 * stability.per_point, rtol=1e-5)
    assert "make it" in words_of(path, "making")
    assert "neighbours 1.5 s" in words_of(path, "making")


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_the_map_contains_the_coordinates_and_new_points(tmp_path, roll):
    X, model = roll
    new = load("curve")[1]
    page = data_of(write_report(tmp_path / "r.html", model, X, held_out=new))
    drawn = np.column_stack([values(axis) for axis in page["maps"][0]["values"]])
    np.testing.assert_allclose(
        drawn, np.concatenate([model.embedding_, model.transform(new)]), rtol=1e-6, atol=1e-6
    )
    assert page["newPoints"] == len(new)
    np.testing.assert_allclose(
        values(column_of(page, "column 2")["values"]), np.concatenate([X, new])[:, 1], rtol=1e-6
    )
    degrees = values(column_of(page, "edges")["values"])[: len(X)]
    np.testing.assert_array_equal(degrees, model.degrees_)
    assert degrees.min() >= 8


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_all_coordinates_are_in_the_page(tmp_path):
    X, _ = load("wide")
    path = write_report(tmp_path / "r.html", PCA(4).fit(X), X)
    assert len(data_of(path)["maps"][0]["values"]) == 4
    assert 'id="horizontal"' in path.read_text("utf-8")
    assert "Explained variance" in words_of(path, "making")


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_without_held_out_points_the_loss_is_that_of_a_further_fit(tmp_path):
    X, _ = load("curve")
    path = write_report(tmp_path / "r.html", KernelPCA().fit(X), X)
    order = np.random.default_rng(0).permutation(80)
    again = KernelPCA().fit(X[np.sort(order[16:])])
    assert f"{again.loss():.4g}" in words_of(path, "loss")
    assert f"{again.loss(X[np.sort(order[:16])]):.4g}" in words_of(path, "loss")
    assert "with 16 held out" in words_of(path, "loss")


# --- every kind of model ------------------------------------------------------------------------------------

KINDS = [
    (PCA(), "flat", ["spectrum", "loss"]),
    (KernelPCA(kernel="cosine"), "counts", ["spectrum", "neighbours"]),
    (KernelPCA(kernel="precomputed"), "similarities", ["neighbours", "loss"]),
    (ClassicalMDS(metric="precomputed"), "distances", ["neighbours", "residual"]),
    (Isomap(metric="precomputed"), "graph", ["neighbours", "graph"]),
    (Isomap(on_disconnected="per_component"), "split", ["graph", "neighbours"]),
    (Isomap(ordinal=True), "curve", ["neighbours", "graph"]),
    (OrdinalMDS(max_iter=1000, n_init=1), "twins", ["neighbours", "residual"]),
    (NeighborEmbedding(max_iter=50), "twins", ["neighbours", "graph"]),
    (PotentialMap(), "curve", ["neighbours", "graph"]),
    (LaplacianEigenmaps(affinity="precomputed"), "sparse similarities", ["neighbours"]),
    (LocallyLinearEmbedding(), "curve", ["spectrum", "stability"]),
    (KernelEigenmap(), "curve", ["graph", "stability"]),
    (LocalityPreservingProjection(), "curve", ["graph", "stability"]),
    (ProbabilisticPCA(), "gaps", ["stability", "loss"]),
    (MixturePPCA(n_mixtures=2, n_init=1), "wide", ["neighbours"]),
    (ProjectionPursuit(), "curve", ["neighbours"]),
    (SpectralClustering(n_clusters=3), "curve", ["spectrum", "neighbours"]),
    (GreedySpectralEmbedding(), "curve", ["spectrum", "loss"]),
    (
        LandmarkMDS(
            metric="precomputed", approximation=Landmarks(None, [3, 70, 8, 41, 22, 57, 64, 15, 33, 79])
        ),
        "narrow distances",
        ["spectrum"],
    ),
]


#: Models whose charts make test draws; make test-all draws those of all models.
DRAWN = (PCA, GreedySpectralEmbedding, LandmarkMDS, ProbabilisticPCA, SpectralClustering)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "kind", "parts"), KINDS, ids=[f"{type(model).__name__}-{kind}" for model, kind, _ in KINDS]
)
def test_every_kind_of_model_has_a_report(tmp_path, model, kind, parts, request):
    if not PRODUCT and not isinstance(model, DRAWN):
        request.getfixturevalue("empty_charts")
    X, _ = load(kind)
    model.fit(X)
    path = write_report(tmp_path / "r.html", model, X)
    page = data_of(path)
    drawn = np.column_stack([values(axis) for axis in page["maps"][0]["values"]])
    np.testing.assert_allclose(drawn, model.transform(X)[:, :12], rtol=1e-4, atol=1e-4)
    for part in parts:
        assert f'<section id="{part}"' in path.read_text("utf-8")
    text = path.read_text("utf-8")
    assert (
        len(re.findall('class="chart"', text)) == len(re.findall('class="chart"[^>]* src="data:', text)) >= 1
    )
    assert "style=" not in text  # the policy forbids it


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_measures_that_are_not_defined_are_listed(tmp_path):
    X, _ = load("narrow distances")
    model = LandmarkMDS(
        metric="precomputed", approximation=Landmarks(None, [3, 70, 8, 41, 22, 57, 64, 15, 33, 79])
    ).fit(X)
    path = write_report(tmp_path / "r.html", model, X)
    assert "distances to landmarks do not determine the neighbours" in words_of(path, "left-out")
    assert "Landmark" in words_of(path, "left-out") or "uses no neighbourhood graph" in words_of(
        path, "left-out"
    )
    words, _ = load("words")
    from cases import different_letters

    path = write_report(
        tmp_path / "w.html", ClassicalMDS(metric=different_letters).fit(words), words, ids=words
    )
    assert "no input columns to colour by" in words_of(path, "map-section")
    assert "the data are objects, whose distances are not compared" in words_of(path, "left-out")
    assert names(data_of(path)["ids"]) == words


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_clusters_and_components_are_columns(tmp_path):
    X, _ = load("split")
    model = SpectralClustering(n_clusters=3, on_disconnected="per_component")
    with pytest.warns(eigenscape.exceptions.DisconnectedGraphWarning):
        model.fit(X)
    path = write_report(tmp_path / "r.html", model, X)
    page = data_of(path)
    assert names(column_of(page, "cluster")) == [str(label) for label in model.labels_]
    assert page["columns"][page["firstColumn"]]["name"] == "cluster"
    assert names(column_of(page, "graph component"))[0] == f"component {model.component_labels_[0] + 1}"
    assert "3 connected components" in words_of(path, "summary")


# --- columns ------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_columns_of_any_type(tmp_path, roll):
    X, model = roll
    n = len(X)
    extra = {
        "price": np.where(np.arange(n) % 7 == 0, np.nan, np.linspace(0, 1e6, n)),
        "grade": np.arange(n) % 3,
        "flag": np.arange(n) % 2 == 0,
        "day": np.datetime64("2024-01-01") + np.arange(n),
        "mixed": np.array([None if i % 5 == 0 else i for i in range(n)], dtype=object),
        "town": np.array([None if i % 4 == 0 else f"town {i % 3}" for i in range(n)], dtype=object),
        "stamp": 1.7e9 + np.arange(n) * 0.25,
        "empty": np.full(n, None, dtype=object),
        "constant": np.ones(n),
    }
    page = data_of(
        write_report(tmp_path / "r.html", model, X, extra=extra, labels=[f"label {i % 40}" for i in range(n)])
    )
    np.testing.assert_allclose(values(column_of(page, "price")["values"]), extra["price"], rtol=1e-6)
    assert column_of(page, "price")["missing"] == np.isnan(extra["price"]).sum()
    assert names(column_of(page, "grade")) == [str(i % 3) for i in range(n)]
    assert names(column_of(page, "flag"))[:2] == ["True", "False"]
    assert column_of(page, "day")["kind"] == "dates"
    assert values(column_of(page, "day")["values"])[1] == 1704153600000
    assert column_of(page, "mixed")["kind"] == "numbers"
    assert names(column_of(page, "town"))[:3] == [None, "town 1", "town 2"]
    np.testing.assert_array_equal(values(column_of(page, "stamp")["values"]), extra["stamp"])
    assert column_of(page, "empty")["missing"] == n
    assert len(column_of(page, "label")["names"]) == 40


@pytest.mark.long
def test_text_from_users_is_escaped(tmp_path, roll):
    X, model = roll
    odd = [NASTY[i % len(NASTY)] for i in range(len(X))]
    table = Table(
        X,
        labels=np.array(odd, dtype=object),
        names=("<b>a</b>", "</script>", "c"),
        source="<img src=x onerror=alert(1)>.csv",
    )
    path = write_report(
        tmp_path / "r.html",
        model,
        table,
        ids=odd,
        extra={"<svg/onload=1>": odd},
        command="echo '<script>' > \"x\"",
    )
    text = path.read_text("utf-8")
    for harm in ("<script>alert", "<b>x", "<svg/onload", "<img src=x", "</script><b"):
        assert harm not in text
    assert text.count("<script") == 2
    page = data_of(path)
    assert names(page["ids"])[0] == NASTY[0]
    assert all(len(name) <= 120 for column in page["columns"] for name in column.get("names", []))
    assert {"<b>a</b>", "<svg/onload=1>"} <= {column["name"] for column in page["columns"]}
    models = {"<i>one</i>": model, "</script>": PCA(2).fit(X)}
    text = write_comparison(tmp_path / "c.html", models, table).read_text("utf-8")
    assert "<i>one" not in text
    assert text.count("<script") == 2


@pytest.mark.long
def test_page_loads_nothing(tmp_path, roll):
    X, model = roll
    text = write_report(tmp_path / "r.html", model, X).read_text("utf-8")
    own = text.split('<script type="application/json"')[0] + text.rsplit("<script ", 1)[1]
    own = own.replace("http://www.w3.org/2000/svg", "")  # the name of a vocabulary
    assert re.findall(r"(?:src|href)=[\"'](?!#|data:)", own) == []
    assert "http://" not in own
    assert "https://" not in own
    assert "default-src 'none'" in own
    assert '<html lang="en">' in own


# --- size ---------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("limit", "n"), [(2000, 3000), pytest.param(50_000, 60_000, marks=pytest.mark.product)]
)
@pytest.mark.usefixtures("empty_charts")
def test_many_points_are_sampled(tmp_path, limit, n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 30)).astype(np.float32)
    X[:, :2] *= 4
    assert inspect.signature(write_report).parameters["max_points"].default == 50_000
    labels, ids = rng.integers(5, size=n), np.arange(n)
    path = write_report(tmp_path / "r.html", PCA(2).fit(X), X, labels=labels, ids=ids, max_points=limit)
    page = data_of(path)
    assert len(values(page["rows"])) == limit
    drawn = f"{limit // 1000} 000 of the {n // 1000} 000 points is drawn"
    assert drawn in words_of(path, "map-section")
    assert path.stat().st_size < 300 * limit + (limit < 50_000) * 400e3  # the scripts of the page
    rows = values(page["rows"])
    np.testing.assert_allclose(
        values(page["maps"][0]["values"][0]), PCA(2).fit(X).embedding_[rows, 0], rtol=1e-3, atol=1e-3
    )
    assert names(page["ids"])[:3] == [str(row) for row in rows[:3]]
    assert {"column 1", "column 2"} <= {column["name"] for column in page["columns"]}


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_of_many_columns_the_best_explained_are_selected(tmp_path):
    rng = np.random.default_rng(0)
    X = 0.1 * rng.standard_normal((100, 300))
    X[:, [7, 123]] += rng.standard_normal((100, 2)) * 5
    path = write_report(tmp_path / "r.html", PCA(2).fit(X), sparse.csr_array(X))
    inputs = [column["name"] for column in data_of(path)["columns"] if column["group"] == "input"]
    assert {"column 8", "column 124"} <= set(inputs)
    assert len(inputs) == 40
    assert "Of 300 input columns, the 40" in words_of(path, "map-section")


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_streams_and_files_have_reports(tmp_path):
    X = load("curve")[0]
    np.save(tmp_path / "x.npy", X)
    chunks = [X[:50], X[50:]]
    model = GreedySpectralEmbedding().fit(chunks)
    for data in (chunks, np.load(tmp_path / "x.npy", mmap_mode="r"), X):
        page = data_of(write_report(tmp_path / "r.html", model, data, force=True))
        np.testing.assert_allclose(
            values(page["maps"][0]["values"][1]), model.transform(X)[:, 1], rtol=1e-4, atol=1e-5
        )
        assert "column 1" in [column["name"] for column in page["columns"]]
    with pytest.raises(ValueError, match="can be read only once"):
        write_report(tmp_path / "q.html", model, iter(chunks))


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_report_of_a_table(tmp_path):
    X = load("curve")[0]
    lines = ["name,a,b,c,kind"] + [f"p{i},{x[0]},{x[1]},{x[2]},{'ab'[i % 2]}" for i, x in enumerate(X)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    table = eigenscape.read(tmp_path / "t.csv", id="name", label="kind")
    path = write_report(tmp_path / "r.html", PCA(2).fit(table.array), table)
    page = data_of(path)
    assert names(page["ids"])[:2] == ["p0", "p1"]
    assert names(column_of(page, "kind"))[:2] == ["a", "b"]
    np.testing.assert_allclose(values(column_of(page, "b")["values"]), X[:, 1], rtol=1e-6)
    assert "t.csv" in words_of(path, "making")


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_report_of_a_loaded_model(tmp_path):
    X, _ = load("distances")
    eigenscape.save(ClassicalMDS(metric="precomputed").fit(X), tmp_path / "m.eig")
    path = write_report(tmp_path / "r.html", eigenscape.load(tmp_path / "m.eig"), X)
    assert "Negative part : an array of shape (80, 80) was omitted when this model was saved" in words_of(
        path, "left-out"
    )
    assert "Trustworthiness" in words_of(path, "neighbours")


# --- files and invalid arguments ---------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_an_existing_file_is_replaced_only_with_force(tmp_path, roll):
    X, model = roll
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="force"):
        write_report(path, model, X)
    with pytest.raises(FileExistsError, match="force"):
        write_comparison(path, {"a": model, "b": model}, X)
    assert path.read_text() == "mine"
    assert write_report(path, model, X, force=True) == path
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]


def test_invalid_arguments_raise_and_leave_no_file(tmp_path, roll):
    X, model = roll
    path = tmp_path / "r.html"
    with pytest.raises(ValueError, match=r"ids must have shape \(80,\), one value per point"):
        write_report(path, model, X, ids=[1, 2])
    with pytest.raises(ValueError, match=r"extra\['size'\] must have shape"):
        write_report(path, model, X, extra={"size": [1, 2]})
    with pytest.raises(TypeError, match="fitted estimator with transform"):
        write_report(path, "model", X)
    with pytest.raises(ValueError, match="not fitted"):
        write_report(path, PCA(2), X)
    with pytest.raises(TypeError, match="models must be a dict of name to fitted estimator, got list"):
        write_comparison(path, [model, model], X)
    with pytest.raises(ValueError, match="at least two models"):
        write_comparison(path, {"one": model}, X)
    with pytest.raises(ValueError, match="at least 3"):
        write_report(path, model, X[:2])
    assert list(tmp_path.iterdir()) == []


def test_points_and_columns_are_those_of_the_file(tmp_path):
    """Rows that were left out keep their place in the count, and colours are in the units of the file."""
    file = tmp_path / "flowers.csv"
    rng = np.random.default_rng(4)
    lines = [f"{x:.3f},{y:.3f},{'ab'[i % 2]}" for i, (x, y) in enumerate(rng.normal(50.0, 9.0, (30, 2)))]
    lines[1] = ",4.0,b"
    file.write_text("\n".join(["sepal,petal,kind", *lines]), "utf-8")
    table = eigenscape.io.read(file, missing="drop", label="kind")
    scaled = StandardScaler().fit_transform(table.array)
    table = replace(table, array=scaled, unscaled=table.array)
    write_report(tmp_path / "r.html", PCA(2).fit(scaled), table)
    page = data_of(tmp_path / "r.html")
    expected = [f"row {number}" for number in (1, *range(3, 31))]
    assert names(page["ids"]) == expected
    sepal = [float(line.split(",")[0]) for i, line in enumerate(lines) if i != 1]
    np.testing.assert_allclose(values(column_of(page, "sepal")["values"]), sepal, rtol=1e-6)
    assert names(column_of(page, "kind")) == ["ab"[i % 2] for i in range(30) if i != 1]


def test_data_of_another_model_are_rejected(tmp_path, roll):
    X, model = roll
    path, two = tmp_path / "r.html", {"one": model, "two": PCA(2).fit(X)}
    for write, models in ((write_report, model), (write_comparison, two)):
        with pytest.raises(ValueError, match=r"table_or_X has 2 columns, but Isomap was fitted to 3"):
            write(path, models, X[:, :2])
        with pytest.raises(ValueError, match=r"table_or_X has 4 columns, but Isomap was fitted to 3"):
            write(path, models, np.column_stack([X, X[:, 0]])[:20])
        with pytest.raises(ValueError, match=r"held_out has 2 columns, but Isomap was fitted to 3"):
            write(path, models, X, held_out=X[:5, :2])
        with pytest.raises(ValueError, match=r"held_out cannot be transformed: Input X contains NaN"):
            write(path, models, X, held_out=np.full((2, 3), np.nan))
        with pytest.raises(
            ValueError,
            match=r"as many rows as Isomap was fitted to, but they are not the training rows: row 0",
        ):
            write(path, models, X[::-1])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_other_points_than_the_training_points_are_described(tmp_path, roll):
    X, model = roll
    assert "fitted to 80 other points" in words_of(write_report(tmp_path / "r.html", model, X[:40]))


# --- comparisons --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swiss() -> np.ndarray:
    rng = np.random.default_rng(0)
    t = 1.5 * np.pi * (1 + 2 * rng.random(400))
    return np.column_stack([t * np.cos(t), 20 * rng.random(400), t * np.sin(t)])


@pytest.mark.long
def test_a_comparison_names_the_best_map(tmp_path, swiss):
    models = {"flat": PCA(2).fit(swiss), "along": Isomap(n_neighbors=8).fit(swiss)}
    path = write_comparison(
        tmp_path / "c.html",
        models,
        swiss,
        labels=swiss[:, 1] > 10,
        timings={"flat": 0.1, "along": 1.5},
    )
    said = words_of(path, "summary")
    assert "along preserves neighbourhoods best" in said
    assert "flat preserves neighbourhoods worst" in said
    for model in models.values():
        trust = quality.sampled_trustworthiness(swiss, model.embedding_).value
        assert f" {trust:.{4 if trust > 0.99 else 3}f} " in words_of(path, "measures")
    page = data_of(path)
    aligned = quality.procrustes(models["along"].embedding_, models["flat"].embedding_).aligned
    drawn = np.column_stack([values(axis) for axis in page["maps"][1]["values"]])
    np.testing.assert_allclose(drawn, aligned, rtol=1e-4, atol=1e-4)
    assert "1.5 s" in words_of(path, "measures")


@pytest.mark.usefixtures("empty_charts")
def test_a_comparison_says_which_map_to_use_for_what(tmp_path):
    groups = np.repeat(np.arange(4), 30)
    X = np.random.default_rng(0).standard_normal((120, 6)) + 30 * np.eye(6)[groups]
    X = np.column_stack([X, np.full(120, 3.0)])
    models = {"linear": PCA(2).fit(X), "curved": KernelPCA(2, gamma=1e-3).fit(X)}
    text = write_comparison(tmp_path / "c.html", models, X, labels=groups).read_text("utf-8")
    said = re.search(r'id="headline">([^<]*)', text)[1].replace("\u00a0", " ")
    kept = {name: quality.neighbors_kept(X, each.embedding_).share.value for name, each in models.items()}
    best = max(kept, key=kept.get)
    assert said.startswith(f"For single neighbours use {best} ({100 * kept[best]:.0f} % of the 10 nearest")
    assert re.search(
        r", for groups (linear|curved) \(100 % of neighbours share a label\), for the overall", said
    )
    assert "Constant columns column 7" in words_of(tmp_path / "c.html", "making")


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_a_comparison_of_equal_maps_has_no_winner(tmp_path, swiss):
    model = Isomap(n_neighbors=8).fit(swiss)
    path = write_comparison(
        tmp_path / "c.html", {"one": model, "two": Isomap(n_neighbors=8).fit(swiss)}, swiss
    )
    assert "No map is clearly best: one and two" in words_of(path, "summary")
    assert "preserves neighbourhoods best" not in words_of(path)


@pytest.mark.long
@pytest.mark.usefixtures("empty_charts")
def test_new_points_are_aligned_with_their_map(tmp_path, swiss):
    models = {"flat": PCA(2).fit(swiss[:350]), "kernel": KernelPCA(2, kernel="linear").fit(swiss[:350])}
    page = data_of(write_comparison(tmp_path / "c.html", models, swiss[:350], held_out=swiss[350:]))
    first, second = (np.column_stack([values(axis) for axis in one["values"]]) for one in page["maps"])
    assert len(first) == 400
    np.testing.assert_allclose(
        second, first, rtol=1e-3, atol=1e-3
    )  # the same map, so new points coincide as well
