"""What a report says of bad maps: dominating columns, neighbours lost, few points, and its suggestions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from test_report import words_of

import eigenscape
from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    FactorAnalysis,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    OrientedPCA,
    ProjectionPursuit,
)
from eigenscape.app.report import _measures, write_comparison, write_report
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import as_points
from eigenscape.app.report._refits import Loss, Movement
from eigenscape.app.report._rules import RULES, Case
from eigenscape.app.report._texts import format_percent
from eigenscape.app.report._verdicts import (
    Advice,
    advise,
    grades,
    headline,
    neighborhood_grade,
    resolve,
    sentences,
)
from eigenscape.app.report.comparison import ComparedModel, conclude
from eigenscape.app.report.dominance import (
    depends_on_scales,
    few_points_sentences,
    find_dominance,
    find_reference_dominance,
)
from eigenscape.kernels import Cosine, Gaussian, VariableGaussian
from eigenscape.options import RadiusGraph, SpanningTree
from eigenscape.quality import Estimate, NeighborsKept, Purity, localized_coordinates, neighbors_kept

pytestmark = pytest.mark.usefixtures("empty_charts")


def exactly(value: float) -> Estimate:
    return Estimate(value, value, value)


def measured(kept: float, trust: float, continuity: float, n: int = 1000, k: int = 10) -> Measures:
    share = NeighborsKept(exactly(kept), k / (n - 1), k, n)
    return Measures(k, kept=share, trust=exactly(trust), continuity=exactly(continuity), n_compared=n)


# --- columns that dominate ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def birds() -> np.ndarray:
    """Four measurements, of which the last is in grams and the others in millimetres."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((120, 4)) * [5.5, 2.0, 14.0, 800.0] + [44, 17, 200, 4200]


NAMES = ("bill_length", "bill_depth", "flipper_length", "body_mass")


@pytest.mark.long
def test_a_report_names_the_column_that_dominates_the_map(tmp_path, birds):
    from eigenscape.app.io.table import Table

    share = birds[:, 3].var() / birds.var(axis=0).sum()
    path = write_report(tmp_path / "r.html", Isomap().fit(birds), Table(birds, names=NAMES))
    said = words_of(path, "summary")
    assert f"Column “body_mass” has {100 * share:.2f} % of the total variance of 4 columns" in said
    assert "coordinate 1 is almost “body_mass” (correlation" in said
    assert "Standardise the columns" in said
    assert "the map shows almost column “body_mass” alone" in said
    assert '<li class="poor"><span class="what">Variance of body_mass</span>' in path.read_text("utf-8")
    assert f"Variance of body_mass {100 * share:.2f} % of the total of 4 columns" in said
    scaled = (birds - birds.mean(axis=0)) / birds.std(axis=0)
    said = words_of(write_report(tmp_path / "s.html", Isomap().fit(scaled), scaled), "summary")
    assert "total variance" not in said
    assert "Standardise" not in said


@pytest.mark.long
def test_columns_without_names_are_numbered(tmp_path, birds):
    said = words_of(write_report(tmp_path / "r.html", PCA(2).fit(birds), birds), "summary")
    assert "Column 4 has 99" in said
    assert "coordinate 1 is almost column 4" in said


@pytest.mark.long
def test_a_comparison_names_the_column_that_dominates_the_maps(tmp_path, birds):
    models = {"pca": PCA(2).fit(birds), "isomap": Isomap().fit(birds)}
    said = words_of(write_comparison(tmp_path / "c.html", models, birds), "summary")
    assert "Column 4 has 99" in said
    assert "all maps show almost this column alone" in said


@pytest.mark.parametrize(
    ("model", "depends"),
    [
        (PCA(), True),
        (Isomap(), True),
        (Isomap(metric="manhattan"), True),
        (Isomap(metric="cosine"), False),
        (Isomap(metric="seuclidean"), False),
        (Isomap(metric="precomputed"), False),
        (Isomap(metric=lambda x, y: abs(x - y).sum()), False),
        (KernelPCA(kernel="linear"), True),
        (KernelPCA(kernel="cosine"), False),
        (KernelPCA(kernel=Gaussian(0.1)), True),
        (KernelPCA(kernel=Cosine()), False),
        (KernelPCA(kernel="precomputed"), False),
        (LaplacianEigenmaps(affinity="rbf"), True),
        (LaplacianEigenmaps(affinity="rbf", metric="cosine"), True),  # the kernel ignores the metric
        (LaplacianEigenmaps(metric="cosine"), False),
        (LaplacianEigenmaps(affinity="precomputed_nearest_neighbors"), False),
        (OrientedPCA(), False),
        (OrientedPCA(criterion="difference"), True),
        (ProjectionPursuit(), False),
    ],
)
def test_which_methods_depend_on_the_scale_of_columns(model, depends, birds):
    assert depends_on_scales(model) == depends
    assert (find_dominance(model, birds, NAMES) is not None) == depends


@pytest.mark.long
def test_oriented_pca_is_described_by_its_criterion(tmp_path, birds):
    groups = np.arange(120) % 3
    model = OrientedPCA(criterion="difference").fit(birds, groups)
    said = words_of(write_report(tmp_path / "d.html", model, birds), "summary")
    assert "signal-to-noise ratio" not in said
    assert "largest difference between the variance of the signal and the mean square of the noise" in said
    assert "coordinate 1 is almost column 4" in said
    said = words_of(write_report(tmp_path / "q.html", OrientedPCA().fit(birds, groups), birds), "summary")
    assert "largest signal-to-noise ratio" in said
    assert "coordinate 1 is almost" not in said


@pytest.mark.long
@pytest.mark.parametrize("make", [FactorAnalysis, OrientedPCA])
def test_a_map_that_is_free_of_scale_is_not_judged_by_distances_of_one_column(tmp_path, make, birds):
    groups = np.arange(120) % 3
    model = make(2).fit(birds, groups)
    path = write_report(tmp_path / "r.html", model, birds)
    said, text = words_of(path, "summary"), path.read_text("utf-8")
    share = birds[:, 3].var() / birds.var(axis=0).sum()
    assert (
        f"Column 4 has {100 * share:.2f} % of the total variance of 4 columns: distances in the data show"
        in said
    )
    assert "almost this column alone, but the map is not computed from them" in said
    assert "Standardise the columns (StandardScaler; --standardize on the command line)" in said
    for conclusion in ("preserved:", "do not explain", "Isomap", "Increase n_components"):
        assert conclusion not in said
    for name in ("Neighbours kept", "Trustworthiness", "Continuity"):
        assert f'<li class=""><span class="what">{name}' in text
    scaled = (birds - birds.mean(axis=0)) / birds.std(axis=0)
    said = words_of(write_report(tmp_path / "s.html", make(2).fit(scaled, groups), scaled), "summary")
    assert "preserved:" in said
    assert "Standardise" not in said


def test_models_of_other_packages_are_judged_by_all_distances(birds):
    assert find_reference_dominance(LinearDiscriminantAnalysis(), "euclidean", birds, NAMES) is None
    assert find_reference_dominance(PCA(), "euclidean", birds, NAMES) is None
    assert find_reference_dominance(FactorAnalysis(), "cosine", birds, NAMES) is None
    assert find_reference_dominance(FactorAnalysis(), "euclidean", birds, NAMES).names == ("body_mass",)


@pytest.mark.long
def test_a_map_that_is_free_of_scale_is_not_ranked_by_distances_of_one_column(tmp_path, birds):
    models = {
        "pca": PCA(2).fit(birds),
        "isomap": Isomap().fit(birds),
        "factors": FactorAnalysis(2).fit(birds),
    }
    said = words_of(write_comparison(tmp_path / "c.html", models, birds), "summary")
    assert "factors is not ranked. Column 4 has 99" in said
    assert "factors preserves" not in said


def test_shares_close_to_the_whole_are_not_rounded_to_it():
    shares = (0.9996, 0.99996, 0.9999999, 1.0, 0.994)
    written = [format_percent(share).replace("\u00a0", " ") for share in shares]
    assert written == ["99.96 %", "99.996 %", "more than 99.999 %", "100 %", "99 %"]


# --- neighbours ---------------------------------------------------------------------------------------------


def test_no_single_number_decides():
    assert neighborhood_grade(measured(0.7, 0.99, 0.99)) == "good"
    assert neighborhood_grade(measured(0.04, 0.952, 0.98, n=70_000)) == "poor"
    assert neighborhood_grade(measured(0.7, 0.70, 0.99)) == "poor"  # half of a folded map is on the far side
    assert neighborhood_grade(measured(0.7, 0.99, 0.90)) == "fair"
    assert neighborhood_grade(Measures()) is None


def test_the_share_kept_is_compared_with_chance():
    assert grades(measured(0.55, 0.99, 0.99))["kept"] == "good"
    assert grades(measured(0.55, 0.99, 0.99, n=21))["kept"] == "poor"


def test_a_score_that_is_due_to_the_number_of_points_has_no_grade():
    lost = grades(measured(0.04, 0.952, 0.80, n=70_000))
    assert (lost["trust"], lost["continuity"]) == (None, "poor")
    assert grades(measured(0.8, 0.952, 0.8))["trust"] == "good"


@pytest.mark.long
def test_a_map_that_loses_its_neighbours_is_not_called_good(tmp_path):
    X = np.random.default_rng(0).standard_normal((3000, 20)) * np.r_[[3.0, 3.0], np.ones(18)]
    model = PCA(2).fit(X)
    path = write_report(tmp_path / "r.html", model, X)
    said = words_of(path, "summary")
    kept = neighbors_kept(X, model.embedding_).share.value
    assert kept < 0.1
    assert "Single neighbours are poorly preserved" in said
    assert f"{100 * kept:.2g} % are among the 10 nearest on the map (by chance 0.33 %)" in said
    assert "nearest point in the data, of 3 000" in said
    text = path.read_text("utf-8")
    assert '<li class="poor"><span class="what">Neighbours kept' in text
    assert '<li class="good"><span class="what">Trustworthiness' not in text
    assert '<li class="good"><span class="what">Continuity' not in text


@pytest.mark.long
def test_the_scale_of_a_map_is_the_neighbourhood_of_which_half_is_kept(tmp_path):
    rng = np.random.default_rng(1)
    centres = 8 * rng.standard_normal((12, 2))
    X = np.hstack([np.repeat(centres, 100, axis=0), np.zeros((1200, 18))]) + rng.standard_normal((1200, 20))
    said = words_of(write_report(tmp_path / "r.html", PCA(2).fit(X), X), "summary")
    assert "Half of the neighbours are kept in neighbourhoods of about" in said


@pytest.mark.long
def test_the_best_map_keeps_most_neighbours_and_has_the_best_score(tmp_path):
    rng = np.random.default_rng(2)
    t = 1.5 * np.pi * (1 + 2 * rng.random(400))
    X = np.column_stack([t * np.cos(t), 20 * rng.random(400), t * np.sin(t)])
    models = {"flat": PCA(2).fit(X), "along": Isomap(n_neighbors=8).fit(X)}
    path = write_comparison(tmp_path / "c.html", models, X)
    said = words_of(path, "summary")
    kept = neighbors_kept(X, models["along"].embedding_).share.value
    assert (
        f"along preserves neighbourhoods best ({100 * kept:.0f} % of the 10 nearest neighbours kept" in said
    )
    assert f"{100 * kept:.0f} %" in words_of(path, "measures")
    assert "By chance, 2.5 % of the neighbours are kept" in words_of(path, "measures")


def compared(name: str, measures: Measures) -> ComparedModel:
    return ComparedModel(name, PCA(2), np.zeros((5, 2)), None, measures, None)


def test_a_best_map_that_is_poor_is_called_so():
    points = as_points(np.zeros((5, 2)))
    lost = compared("first", measured(0.04, 0.95, 0.98)), compared("second", measured(0.01, 0.7, 0.7))
    said = " ".join(conclude(list(lost), points)[1])
    assert "first preserves neighbourhoods best" in said
    assert "no map preserves them well" in said
    good = compared("first", measured(0.6, 0.96, 0.98)), lost[1]
    assert "no map preserves them well" not in " ".join(conclude(list(good), points)[1])


def test_a_comparison_of_maps_that_lose_everything_recommends_none():
    points, sizes = as_points(np.zeros((5, 2))), np.array([1, 10, 100, 400])
    lost = [compared(name, measured(0.03, 0.6, 0.6)) for name in ("first", "second")]
    for one in lost:
        one.m.n_compared, one.m.curve = 1000, (sizes, sizes / 999)  # as random maps
    said = conclude(lost, points)[0]
    for use in (
        "For single neighbours use no map (at most 3",
        "for groups no map (",
        "overall arrangement no map (",
    ):
        assert use in said


def test_separate_groups_are_no_reason_to_connect_the_graph():
    case = Case(measured(0.4, 0.98, 0.98), LaplacianEigenmaps().fit(np.random.default_rng(0).random((40, 3))))
    case.m.graph = _measures.GraphDetails(np.array([500, 500]))
    case.m.n_compared, sizes = 1000, np.array([1, 10, 100, 400])
    case.m.curve = sizes, np.array([0.1, 0.4, 0.6, 0.99])
    assert case.group_degree == 0
    assert not any("connected components" in one and "Increase" in one for one in advise(case))
    other = Case(measured(0.4, 0.98, 0.98), case.model)
    other.m.graph, other.m.n_compared = case.m.graph, 1000
    other.m.curve = sizes, np.array([0.1, 0.4, 0.45, 0.6])
    assert any("connected components" in one and "Increase" in one for one in advise(other))


def test_maps_that_are_best_in_different_respects_have_no_winner():
    points = as_points(np.zeros((5, 2)))
    pair = [compared("near", measured(0.5, 0.80, 0.90)), compared("far", measured(0.4, 0.97, 0.97))]
    said = " ".join(conclude(pair, points)[1])
    assert "No map is clearly best: near keeps the most nearest neighbours (50" in said
    assert "less far away on the map of far (40" in said
    assert "preserves neighbourhoods best" not in said


# --- few points ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outlier() -> tuple[np.ndarray, DiffusionMap]:
    """A sheet with one point far from it, which a diffusion map separates from all others."""
    X = np.random.default_rng(4).standard_normal((300, 5))
    X[41] += 4
    model = DiffusionMap(2, affinity="rbf").fit(X)
    assert localized_coordinates(model.embedding_)[0].points.tolist() == [41]
    return X, model


@pytest.mark.long
def test_points_that_carry_a_coordinate_are_named_and_the_map_is_not_called_stable(tmp_path, outlier):
    X, model = outlier
    ids, labels = [f"cell {i}" for i in range(300)], ["rare" if i == 41 else "common" for i in range(300)]
    path = write_report(tmp_path / "r.html", model, X, ids=ids, labels=labels)
    said = words_of(path, "summary")
    assert "oordinate 1 is carried by 1 point of 300 (cell 41; labelled “rare”)" in said
    assert "Stability is not judged" in said
    assert "stable:" not in said
    assert "Look at the points named above" in said
    assert "Decrease gamma" in said
    assert "n_neighbors" not in said  # an "rbf" affinity has none
    text = path.read_text("utf-8")
    assert '<li class="poor"><span class="what">Points that carry coordinate 1' in text
    assert '<li class=""><span class="what">Median movement' in text
    assert "row 42" in words_of(write_report(tmp_path / "s.html", model, X), "summary")


def test_other_points_are_called_almost_equal_only_if_they_are():
    y = np.random.default_rng(0).standard_normal((400, 1))
    y[0] = 25
    (said,) = few_points_sentences(localized_coordinates(y), 400, None, None)
    said = said.replace("\u00a0", " ")
    assert "is carried by 1 point of 400 (row 1): it has 6" in said
    spread = 100 * y[1:].std() / np.ptp(y)
    assert f"and the standard deviation of all other points is {spread:.1f} % of its range." in said
    y[0] = 1000
    (said,) = few_points_sentences(localized_coordinates(y), 400, None, None)
    assert said.endswith("of its variance, and all other points are almost equal in it.")


@pytest.mark.long
def test_a_map_of_few_points_is_not_ranked(tmp_path, outlier):
    X, model = outlier
    models = {"few": model, "pca": PCA(2).fit(X), "isomap": Isomap().fit(X)}
    path = write_comparison(tmp_path / "c.html", models, X, timings={"few": 0.1, "pca": 9.0, "isomap": 9.0})
    said = words_of(path, "summary")
    assert "few is not ranked. Coordinate 1 is carried by 1 point of 300 (row 42)" in said
    assert "few preserves" not in said
    assert "few is the most stable" not in said
    row = path.read_text("utf-8").split('<th scope="row">few</th>')[1].split("</tr>")[0]
    assert row.count('class="best"') == 1  # the time of its fit
    said = words_of(write_comparison(tmp_path / "d.html", {"few": model, "also": model}, X), "summary")
    assert "No map can be recommended." in said
    said = words_of(write_comparison(tmp_path / "e.html", {"few": model, "pca": models["pca"]}, X), "summary")
    assert "Only pca can be ranked" in said


def test_stability_is_not_graded_if_few_points_make_up_the_map(outlier):
    movement = Movement(np.full(300, 0.001), "")
    assert grades(Measures(movement=movement))["movement"] == "good"
    found = localized_coordinates(outlier[1].embedding_)
    assert grades(Measures(movement=movement, localized=found))["movement"] is None
    assert grades(Measures())["movement"] is None


@pytest.mark.long
def test_the_loss_of_an_unstable_map_is_no_praise(tmp_path):
    X = np.random.default_rng(0).standard_normal((200, 30))
    said = words_of(write_report(tmp_path / "r.html", KernelPCA(2).fit(X), X), "summary")
    assert "The map is unstable" in said
    assert "as well as" not in said
    assert "times the training loss" in said or "does not exceed the training loss" in said


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (0.43, "does not exceed the training loss (0.43 times)."),
        (1.0, "does not exceed the training loss (1 times)."),
        (1.15, "is 1.15 times the training loss."),
        (
            1.5,
            "is 1.5 times the training loss: the kernel is approximated somewhat worse for new points than",
        ),
        (3.0, "is 3 times the training loss: the kernel is approximated much worse for new points than"),
    ],
)
def test_the_loss_is_worded_as_what_it_is(ratio, expected):
    (said,) = sentences(Case(Measures(loss=Loss(2.0, 2.0 * ratio, "")), PCA(2)))
    assert said.startswith("The held-out loss, a mean over pairs of new points, " + expected)


# --- the table of rules, row by row -------------------------------------------------------------------------


def fitted(model, **attributes):
    """Return a model that appears to be fitted."""
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


def curved(measures: Measures, shares: list[float]) -> Measures:
    measures.curve = (np.array([1, 10, 50, 200]), np.array(shares))
    return measures


FEW = localized_coordinates(np.r_[np.full(99, 0.001), 9.0][:, None])
DOMINANCE = find_dominance(PCA(), np.random.default_rng(0).standard_normal((50, 2)) * [1, 99], ("a", "b"))
PIECES = _measures.GraphDetails(np.array([60, 40]))
RESIDUAL = _measures.Residual(np.arange(1, 4), np.array([0.6, 0.4, 0.1]), "")
ALMOST = _measures.Residual(np.arange(1, 4), np.array([0.06, 0.05, 0.01]), "")
GRAPH = fitted(Isomap(), n_neighbors_=5)
BAD, FOLDED = measured(0.7, 0.70, 0.90), measured(0.7, 0.90, 0.70)


def moving(median: float, **options) -> Measures:
    return Measures(movement=Movement(np.full(9, median), ""), **options)


def losing(ratio: float) -> Measures:
    return Measures(loss=Loss(1.0, ratio, ""))


def negative(share: float) -> Measures:
    return Measures(spectrum=_measures.Spectrum(np.array([2.0, 1.0]), 2, share, ""))


#: A case of each degree of each rule: the rule, the case, the beginnings of its sentences and suggestions.
ROWS = [
    ("columns", Case(Measures(dominance=DOMINANCE), PCA()), ["Column “b” has"], ["Standardise the columns"]),
    (
        "few_points",
        Case(
            Measures(localized=FEW, uneven_rows=True, graph=PIECES), GRAPH, 1, as_points(np.zeros((100, 1)))
        ),
        ["Coordinate 1 is carried by 1 point of 100 (row 100)", "Such a coordinate mainly"],
        [
            "Look at the points",
            "Increase n_neighbors: a few",
            "Set on_disconnected='largest'",
            "Normalise the",
        ],
    ),
    (
        "disconnected",
        Case(Measures(graph=PIECES), GRAPH),
        [],
        ["Increase n_neighbors: the graph has 2", "If the components are separate groups"],
    ),
    ("recall", Case(Measures(), fitted(Isomap(), neighbor_recall_=0.95)), [], []),
    ("recall", Case(Measures(), fitted(Isomap(), neighbor_recall_=0.9)), [], ["Search exactly (graph=KNN"]),
    (
        "reference_columns",
        Case(Measures(reference_dominance=DOMINANCE)),
        ["Column “b” has"],
        ["Standardise the columns"],
    ),
    (
        "not_compared",
        Case(Measures(omitted={"neighbours": "why"})),
        ["Neighbourhoods were not compared: why"],
        [],
    ),
    (
        "neighborhoods",
        Case(measured(0.6, 0.96, 0.96)),
        ["Single neighbours are well preserved: of the 10"],
        [],
    ),
    ("neighborhoods", Case(measured(0.4, 0.96, 0.96)), ["Single neighbours are partly preserved"], []),
    ("neighborhoods", Case(measured(0.4, 0.96, 0.80)), ["Single neighbours are poorly preserved"], []),
    *(
        ("groups", Case(curved(measured(0.4, 0.9, 0.9), [0.1, 0.4, share, share])), [], [])
        for share in (0.9, 0.7, 0.3)
    ),
    ("false_neighbors", Case(measured(0.4, 0.999, 0.999)), [], []),
    (
        "false_neighbors",
        Case(measured(0.4, 0.80, 0.90)),
        ["On average, one of the 10 nearest neighbours on"],
        [],
    ),
    (
        "scale",
        Case(curved(measured(0.4, 0.9, 0.9), [0.1, 0.4, 0.6, 0.7])),
        ["Half of the neighbours are"],
        [],
    ),
    ("scale", Case(curved(measured(0.1, 0.9, 0.9), [0.1, 0.1, 0.2, 0.3])), ["Of the 200 nearest"], []),
    ("linear", Case(measured(0.6, 0.96, 0.96), PCA()), [], []),
    ("linear", Case(BAD, PCA()), [], ["Compare with Isomap"]),
    ("overlaps", Case(measured(0.4, 0.90, 0.91), GRAPH), [], []),
    (
        "overlaps",
        Case(BAD, GRAPH),
        [],
        ["Increase n_components: distant", "Decrease n_neighbors: short cuts"],
    ),
    ("separations", Case(measured(0.4, 0.91, 0.90), GRAPH), [], []),
    ("separations", Case(FOLDED, GRAPH), [], ["Increase n_neighbors: the map separates"]),
    ("kept", Case(measured(0.6, 0.96, 0.96), PCA()), [], []),
    ("kept", Case(measured(0.3, 0.96, 0.96), PCA()), [], []),
    ("kept", Case(measured(0.1, 0.96, 0.96), PCA(2)), [], ["Increase n_components: 2 coordinates keep 10"]),
    *(
        (name, Case(measured(0.6, score, score)), [], [])
        for name in ("trust", "continuity")
        for score in (0.96, 0.90, 0.80)
    ),
    (
        "more_coordinates",
        Case(Measures(residual=RESIDUAL), PCA(2)),
        [],
        ["Increase n_components to 3: with 3"],
    ),
    (
        "eigengap",
        Case(Measures(spectrum=_measures.Spectrum(np.array([1.0, 0.9, 0.8, 0.1]), 2, None, "")), PCA(2)),
        [],
        ["Increase n_components to 3: the largest eigengap"],
    ),
    ("movement", Case(moving(0.04), GRAPH), ["The map is stable: with other"], []),
    ("movement", Case(moving(0.1), GRAPH), ["The map is moderately stable"], []),
    (
        "movement",
        Case(moving(0.3), GRAPH),
        ["The map is unstable"],
        ["Increase n_neighbors: the map depends"],
    ),
    ("movement_of_few", Case(moving(0.04, localized=FEW)), ["Stability is not judged"], []),
    ("loss", Case(losing(0.9), GRAPH), ["The held-out loss, a mean over pairs of new points, does not"], []),
    ("loss", Case(losing(1.1), GRAPH), ["The held-out loss, a mean over pairs of new points, is 1.1"], []),
    ("loss", Case(losing(1.9), GRAPH), ["The held-out loss, a mean over pairs of new points, is 1.9"], []),
    (
        "loss",
        Case(losing(2.1), GRAPH),
        ["The held-out loss, a mean over pairs of new points, is 2.1"],
        ["Decrease n_components: the held", "Increase n_neighbors: the held"],
    ),
    ("more_coordinates", Case(Measures(residual=ALMOST), PCA(2)), [], []),
    ("residual", Case(Measures(residual=RESIDUAL)), ["Distances on the map do not explain 40"], []),
    ("purity", Case(Measures(purity=Purity(0.9, 0.5, 10))), ["On average 90"], []),
    ("components", Case(Measures(graph=PIECES)), ["The neighbourhood graph has 2 connected"], []),
    ("negative", Case(negative(0.05)), [], []),
    ("negative", Case(negative(0.2)), [], ["Consider an ordinal method"]),
    ("stress", Case(Measures(), fitted(Isomap(), stress_=0.1)), ["Kruskal's stress is 0.1; below"], []),
]


@pytest.mark.parametrize(("name", "case", "expected", "suggested"), ROWS, ids=[row[0] for row in ROWS])
def test_every_rule_has_its_sentence_and_its_remedies(name, case, expected, suggested):
    said, advised = (
        [words.replace("\u00a0", " ") for words in function(case, [RULES[name]])]
        for function in (sentences, advise)
    )
    assert [words[: len(start)] for words, start in zip(said, expected, strict=True)] == expected
    assert [words[: len(start)] for words, start in zip(advised, suggested, strict=True)] == suggested


def test_every_degree_of_every_rule_is_tested():
    tested = {(name, RULES[name].degree(case)) for name, case, _, _ in ROWS}
    degrees = {
        (name, degree)
        for name, rule in RULES.items()
        for degree in range(len(rule.at_least) + len(rule.at_most) + 1)
    }
    assert tested == degrees


# --- suggestions --------------------------------------------------------------------------------------------


def test_suggestions_on_a_parameter_are_joined():
    found = [
        Advice("n_components", "two overlap", "increase"),
        Advice("n_neighbors", "parts", "increase", strength=2),
        Advice("n_components", "a gap", "increase", 5),
        Advice("n_components", "two overlap", "increase"),
    ]
    assert [one.sentence for one in resolve(found)] == [
        "Increase n_components to 5: two overlap; a gap.",
        "Increase n_neighbors: parts.",
    ]


def test_stronger_evidence_decides_a_conflict():
    found = [
        Advice("n_neighbors", "short cuts", "decrease"),
        Advice("n_neighbors", "parts", "increase", strength=2),
        Advice("n_neighbors", "unstable", "increase"),
    ]
    assert [one.sentence for one in resolve(found)] == ["Increase n_neighbors: parts; unstable."]


def test_a_conflict_of_equal_evidence_has_no_direction():
    found = [Advice("k", "short cuts", "decrease"), Advice("k", "unstable", "increase")]
    (said,) = [one.sentence for one in resolve(found)]
    assert said.startswith(
        "Compare several values of k: the measures do not agree on a direction (short cuts;"
    )
    assert "ncrease" not in said
    assert "ecrease" not in said


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (LaplacianEigenmaps(), ("n_neighbors", "increase")),
        (LaplacianEigenmaps(affinity="rbf"), ("gamma", "decrease")),
        (LaplacianEigenmaps(affinity=RadiusGraph(1.5)), ("radius", "increase")),
        (LaplacianEigenmaps(affinity=SpanningTree()), None),
        (DiffusionMap(), ("n_neighbors", "increase")),
        (DiffusionMap(affinity="rbf"), ("gamma", "decrease")),
        (DiffusionMap(affinity=VariableGaussian()), ("n_neighbors", "increase")),
        (Isomap(graph=RadiusGraph(1.5)), ("radius", "increase")),
        (KernelPCA(kernel="linear"), None),
        (KernelPCA(), ("gamma", "decrease")),
        (PCA(), None),
        (ClassicalMDS(), None),
    ],
    ids=lambda value: "" if isinstance(value, tuple) else str(value),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_only_parameters_in_use_are_suggested(model, expected):
    from cases import load

    assert Case(Measures(), model.fit(load("curve")[0])).smoothing == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 0.99, 0.98, 0.5, 0.49], 3),
        ([1.0, 0.9, 0.8, 0.65, 0.55], None),
        ([1.0, 1.0, 1.0], None),
        ([1.0, 0.1], None),
    ],
)
def test_a_gap_is_clear_if_it_is_twice_the_next(values, expected):
    assert _measures.Spectrum(np.array(values), 2, None, "").gap_after(2.0) == expected


@pytest.mark.parametrize(("rank", "advised"), [(None, True), (3, True), (2, False)])
def test_no_more_coordinates_are_suggested_than_the_rows_have_dimensions(rank, advised):
    spectrum = _measures.Spectrum(np.array([1.0, 0.99, 0.98, 0.5, 0.49]), 2, None, "")
    measures = measured(0.1, 0.8, 0.9)
    measures.spectrum, measures.rank = spectrum, rank
    said = advise(Case(measures, PCA(2)))
    assert any("Increase n_components to 3" in one for one in said) == advised
    assert any("n_components" in one for one in said) == advised


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_report_of_four_columns_does_not_suggest_ten_coordinates(tmp_path):
    from sklearn.datasets import load_iris

    X = load_iris().data
    model = LocallyLinearEmbedding(2).fit(X)
    said = words_of(write_report(tmp_path / "r.html", model, X), "summary")
    assert "eigengap is after" not in said
    numbers = [
        int(word.rstrip(":")) for word in said.split("n_components to ")[1:] for word in word.split()[:1]
    ]
    assert all(number <= 4 for number in numbers)


def test_the_rank_of_rows_ignores_scales_and_counts_copies_once():
    rows = np.random.default_rng(0).standard_normal((50, 3))
    assert _measures._rank(np.hstack([rows * [1.0, 1e-9, 1e9], rows[:, :2], np.full((50, 1), 7.0)]), 0) == 3
    assert _measures._rank(np.full((50, 2), np.nan), 0) == 2


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_errors_of_programming_are_raised_and_those_of_the_data_are_shown(tmp_path, monkeypatch, birds):
    def fail(error: Exception):
        def measure(*_: object, **__: object) -> None:
            raise error

        return measure

    model = PCA(2).fit(birds)
    for error in (TypeError("two arguments"), AttributeError("no such thing"), RuntimeError("state")):
        monkeypatch.setattr(_measures.quality, "coranking_curve", fail(error))
        with pytest.raises(type(error), match=str(error)):
            write_report(tmp_path / "r.html", model, birds)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(_measures.quality, "coranking_curve", fail(ValueError("too few points")))
    assert "too few points" in words_of(write_report(tmp_path / "r.html", model, birds), "left-out")


@pytest.mark.long
def test_models_that_cannot_be_fitted_again_have_reports(tmp_path, birds):
    eigenscape.save(Isomap().fit(birds), tmp_path / "m.model", compact=20)
    path = write_report(tmp_path / "c.html", eigenscape.load(tmp_path / "m.model"), birds)
    assert "a compact map cannot be fitted again" in words_of(path, "left-out")
    supervised = LinearDiscriminantAnalysis(n_components=1).fit(birds, birds[:, 0] > 44)
    path = write_report(tmp_path / "l.html", supervised, birds)
    assert "cannot be fitted again without its target y" in words_of(path, "left-out")


# --- the sentence above the map -----------------------------------------------------------------------------


@pytest.mark.long
def test_a_map_of_perfect_groups_is_read_by_groups_and_is_not_poor():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(12), 100)
    X = 30 * rng.standard_normal((12, 20))[labels] + rng.standard_normal((1200, 20))
    embedding = 9.0 * np.column_stack([labels % 4, labels // 4])
    embedding += rng.standard_normal((1200, 2))  # mixed within each group
    model, points = PCA(2).fit(X), as_points(X)
    found = _measures.measure(model, points, embedding, None, 0, brief=True)
    case = Case(found, model, 2, points)
    assert case.neighborhoods == 2
    assert case.group_degree == 0
    assert neighborhood_grade(found) == grades(found)["kept"] == "fair"
    assert headline(case).startswith("Read groups of about ")
    assert 80 <= case.groups["size"] <= 130
    found.curve, found.purity = (found.curve[0], found.curve[1] / 3), Purity(0.98, 0.1, 10)
    assert headline(Case(found, model)).startswith("Read the groups of the labels (98")


def test_the_sentence_above_the_map_depends_on_what_carries_it():
    good, poor = measured(0.9, 0.99, 0.99), curved(measured(0.02, 0.6, 0.6), [0.01, 0.02, 0.1, 0.25])
    assert headline(Case(good)).startswith("Read groups and single points: 90")
    assert headline(Case(poor)).startswith("Read neither single neighbours nor groups: 2")
    assert headline(Case(Measures())) == ""
    for fault, start in (
        ({"dominance": DOMINANCE}, "Column “b” has"),
        ({"localized": FEW}, "A few points carry"),
    ):
        carried = measured(0.9, 0.99, 0.99)
        vars(carried).update(fault)
        assert headline(Case(carried)).startswith(start)
        (said,) = sentences(Case(carried), [RULES["neighborhoods"]])
        assert "well" not in said
        assert neighborhood_grade(carried) is None
        assert set(grades(carried).values()) == {None}


def test_more_points_are_suggested_only_if_some_were_left_out():
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = PCA(2).fit(X[:30])
    for points, advised in ((X, True), (X[:30], False)):
        said = advise(Case(moving(0.5), model, 2, as_points(points)))
        assert any("Fit to all points" in one for one in said) == advised
