"""Maps of several views: the laws, links and their errors; and models aligned to another one."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import curve, split
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.manifold import TSNE

import eigenscape
from eigenscape import PCA, AlignedSpectralMaps, Isomap, LaplacianEigenmaps, align
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning
from eigenscape.options import KNNGraph
from eigenscape.quality import procrustes

RNG = np.random.default_rng(0)
POINTS = curve(120)
TURN = RNG.standard_normal((3, 20))
VIEWS = {"first": POINTS[:80], "second": POINTS[40:100] @ TURN, "third": POINTS[60:]}
IDS = {"first": np.arange(80), "second": np.arange(40, 100), "third": np.arange(60, 120)}
NEW = {"first": curve(9, seed=3), "second": curve(9, seed=4) @ TURN, "third": curve(9, seed=5)}


def make(**options: Any) -> AlignedSpectralMaps:
    return AlignedSpectralMaps(**{"coupling": 1.0, "n_neighbors": 6, **options})


@pytest.fixture(scope="module")
def model() -> AlignedSpectralMaps:
    return make().fit(VIEWS, links=IDS)


# --- laws ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["binary", "heat", "inverse", "local"])
def test_training_rows_of_each_view_keep_their_place_in_any_order(weights: str) -> None:
    model = make(n_neighbors=None, affinity=KNNGraph(6, weights=weights)).fit(VIEWS, links=IDS)
    for name, X in VIEWS.items():
        order = RNG.permutation(len(X))
        assert_allclose(model.transform(X[order], name), model.embeddings_[name][order], atol=1e-10)


@pytest.mark.parametrize("name", VIEWS)
def test_a_place_does_not_depend_on_the_other_rows(model: AlignedSpectralMaps, name: str) -> None:
    both = np.concatenate([NEW[name], VIEWS[name][:5]])
    alone = np.concatenate([model.transform(row[None], view=name) for row in both])
    assert_allclose(model.transform(both, view=name), alone, atol=1e-12)


def test_equal_rows_have_equal_places_and_the_links_of_both() -> None:
    first = np.concatenate([POINTS[:50], POINTS[:3]])
    ids = np.append(np.arange(50), [-1, -2, -3])
    second = np.append(np.arange(50), [-1, -2, -3, 60, 61])[3:]
    model = make().fit([first, curve(52, seed=2)], links=[ids, second])
    assert_array_equal(model.embeddings_[0][:3], model.embeddings_[0][50:])
    assert model.n_links_ == 50


def test_linked_rows_come_together(model: AlignedSpectralMaps) -> None:
    first, second = model.embeddings_["first"], model.embeddings_["second"]
    gaps = np.linalg.norm(first[40:] - second[:40], axis=1)
    assert np.median(gaps) < 0.2 * np.concatenate([first, second]).std()
    assert model.link_loss_ < 0.02
    assert model.n_links_ == 40 + 40  # rows 60 to 79 are in all three views and have two links


@pytest.mark.long
def test_results_do_not_depend_on_threads_or_repetition() -> None:
    one, two = (make(n_jobs=n, coupling="auto").fit(VIEWS, links=IDS) for n in (1, 2))
    assert one.coupling_losses_ == two.coupling_losses_
    for name in VIEWS:
        assert_array_equal(one.embeddings_[name], two.embeddings_[name])


def test_fit_changes_no_argument_and_clones_are_unfitted(model: AlignedSpectralMaps) -> None:
    before = {name: X.copy() for name, X in VIEWS.items()}
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.transform(POINTS, "first")
    fresh.fit(VIEWS, links=IDS)
    for name, X in VIEWS.items():
        assert_array_equal(X, before[name])
        assert_array_equal(fresh.embeddings_[name], model.embeddings_[name])


@pytest.mark.long
def test_models_and_maps_of_views_survive_pickles_and_files(
    model: AlignedSpectralMaps, tmp_path: Path
) -> None:
    expected = {name: model.transform(rows, name) for name, rows in NEW.items()}
    eigenscape.save(model, tmp_path / "all")
    eigenscape.save(model.maps_["second"], tmp_path / "second")
    for restored in (pickle.loads(pickle.dumps(model)), eigenscape.load(tmp_path / "all")):
        for name, rows in NEW.items():
            assert_array_equal(restored.transform(rows, name), expected[name])
            assert_array_equal(restored.embeddings_[name], model.embeddings_[name])
    alone = eigenscape.load(tmp_path / "second")
    assert_array_equal(alone.transform(NEW["second"]), expected["second"])
    eigenscape.save(model.maps_["second"], tmp_path / "small", compact=60)
    small = eigenscape.load(tmp_path / "small").transform(VIEWS["second"])
    assert_allclose(small, model.embeddings_["second"], atol=0.2 * model.embeddings_["second"].std())


def test_verify_passes_and_notices_a_change() -> None:
    model = make().fit(VIEWS, links=IDS)
    assert model.verify(VIEWS)
    assert model.maps_["third"].verify(VIEWS["third"])
    model.maps_["third"].embedding_ = model.maps_["third"].embedding_ + 1
    assert not model.verify(VIEWS)
    assert model.verify()  # without the rows


def test_a_failed_fit_leaves_no_model() -> None:
    model = make().fit(VIEWS, links=IDS)
    with pytest.raises(ValueError, match="links=None"):
        model.fit(VIEWS)
    with pytest.raises(NotFittedError):
        model.transform(POINTS, "first")


# --- input --------------------------------------------------------------------------------------------------


def test_ids_pairs_and_rows_are_the_same_links() -> None:
    X = [POINTS[:50], POINTS[:50] @ TURN]
    pairs = np.column_stack([np.arange(50)] * 2)
    by_id, by_pairs, by_rows = (
        make().fit(X, links=links)
        for links in ([[f"row {i}" for i in range(50)]] * 2, {(0, 1): pairs}, "rows")
    )
    for other in (by_pairs, by_rows):
        assert other.n_links_ == by_id.n_links_ == 50
        assert_array_equal(other.embeddings_[1], by_id.embeddings_[1])
    assert isinstance(by_id.fit_transform(X, links="rows"), list)


def test_missing_ids_are_no_links() -> None:
    ids = [np.where(np.arange(50) < 10, np.arange(50), np.nan), [*range(10), *[None] * 40]]
    assert make().fit([POINTS[:50], POINTS[:50]], links=ids).n_links_ == 10


def test_tables_may_be_data_frames_sparse_or_in_single_precision() -> None:
    names = [f"c{i}" for i in range(20)]
    views = [
        POINTS.astype(np.float32),
        sparse.csr_array(np.abs(POINTS)),
        pd.DataFrame(POINTS @ TURN, columns=names),
    ]
    model = make().fit(views, links="rows")
    assert [each.embedding_.dtype for each in model.maps_.values()] == [np.float32, np.float64, np.float64]
    assert [each.n_features_in_ for each in model.maps_.values()] == [3, 3, 20]
    assert list(model.maps_[2].feature_names_in_) == names
    framed = model.maps_[2].set_output(transform="pandas").transform(views[2])
    assert list(framed.columns) == ["viewmap0", "viewmap1"]


def test_disconnected_views_are_connected_or_refused() -> None:
    groups = split(1)[0]
    with pytest.warns(DisconnectedGraphWarning):
        assert make(n_neighbors=5).fit([groups, groups], links="rows").maps_[0].n_connected_components_ == 3
    with pytest.raises(DisconnectedGraphError, match="on_disconnected='connect'"):
        make(n_neighbors=5, on_disconnected="raise").fit([groups, groups], links="rows")


@pytest.mark.parametrize(
    ("X", "links", "message"),
    [
        (POINTS, "rows", "X must be a list or dict of tables.*LaplacianEigenmaps"),
        ([POINTS], "rows", "at least 2 views, got 1"),
        ([POINTS, POINTS[:90]], "rows", "equal numbers of rows, got 0: 120, 1: 90"),
        ([POINTS, POINTS], "ids", "links='ids' is not known"),
        ([POINTS, POINTS], [np.arange(120)], "one sequence of ids for each of the 2 views"),
        ([POINTS, POINTS], [np.arange(120), np.arange(9)], "9 ids for view 1, which has 120 rows"),
        ([POINTS, POINTS], [np.arange(120), np.zeros(120)], "id 0.0 occurs in rows 0 and 1 of view 1"),
        ([POINTS, POINTS], {"a": range(120), "b": range(120)}, "X has \\[0, 1\\]"),
        ([POINTS, POINTS], {(0, 2): [(0, 0)]}, r"\(0, 2\) must be two of the views \[0, 1\]"),
        ([POINTS, POINTS], {(0, 1): [(0, 120)]}, "row 120 is not a row of view 1, which has 120"),
        ([POINTS, POINTS], {(0, 1): [0, 1]}, r"shape \(n_links, 2\), got shape \(2,\)"),
        ([POINTS, POINTS], {(0, 1): [(0, 0), (1, 1)]}, "view 0 has 2 linked rows.*at least 3"),
        (
            [POINTS] * 4,
            {(0, 1): [(i, i) for i in range(5)], (2, 3): [(i, i) for i in range(5)]},
            r"no links connect the views \[2, 3\] with view 0",
        ),
    ],
)
def test_errors_of_links_name_the_view_and_the_remedy(X: Any, links: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make().fit(X, links=links)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coupling": 0}, "coupling=0 must be a positive number"),
        ({"coupling": "best"}, "coupling='best' must be a positive number or 'auto'"),
        ({"metric": "precomputed"}, "pass rows"),
        (
            {"n_neighbors": None, "affinity": KNNGraph(6, search=(1, 2))},
            "must be 'auto', 'exact' or 'approximate'",
        ),
        ({"affinity": KNNGraph(6)}, "n_neighbors=6 is not used with affinity="),
        ({"on_disconnected": "largest"}, "choose one of 'connect', 'raise'"),
    ],
)
def test_errors_of_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(VIEWS, links=IDS)


def test_errors_of_rows_name_the_view(model: AlignedSpectralMaps) -> None:
    with pytest.raises(ValueError, match=r"view='fourth' is not known.*'first', 'second', 'third'"):
        model.transform(POINTS, "fourth")
    with pytest.raises(ValueError, match="expecting 20 features"):
        model.transform(POINTS, "second")
    broken = {**VIEWS, "third": np.where(np.arange(60)[:, None] == 4, np.nan, VIEWS["third"])}
    with pytest.raises(ValueError, match="NaN") as error:
        make().fit(broken, links=IDS)
    assert error.value.__notes__ == ["This is view 'third'."]
    with pytest.raises(TypeError, match="fit AlignedSpectralMaps"):
        model.maps_["first"].fit(POINTS)


# --- align --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make_model", [LaplacianEigenmaps, PCA, Isomap])
def test_align_is_procrustes_of_the_shared_rows_for_all_rows(make_model: Any) -> None:
    old, new = make_model().fit(POINTS[:80]), make_model().fit(POINTS[40:] * 2 + 1)
    shared, theirs = POINTS[40:80] * 2 + 1, POINTS[40:80]
    aligned = align(new, old, shared, theirs)
    expected = procrustes(new.transform(shared), old.transform(theirs))
    assert_allclose(aligned.transform(shared), expected.aligned, atol=1e-10)
    assert aligned.alignment_error_ == pytest.approx(expected.error)
    assert aligned.n_shared_ == 40
    assert_allclose(aligned.rotation_ @ aligned.rotation_.T, np.eye(2), atol=1e-12)
    if hasattr(new, "embedding_"):
        assert_allclose(aligned.transform(POINTS[40:] * 2 + 1), aligned.embedding_, atol=1e-9)


def test_align_undoes_a_change_of_signs_and_units() -> None:
    """Law: a model of the same rows, in other units and mirrored, looks as before."""
    old, new = LaplacianEigenmaps().fit(POINTS), Isomap().fit(POINTS)
    mirrored = Isomap().fit(-3 * POINTS[:, ::-1])
    back = align(mirrored, new, -3 * POINTS[:, ::-1], POINTS)
    assert_allclose(back.embedding_, new.embedding_, atol=1e-8)
    assert align(mirrored, new, -3 * POINTS[:, ::-1], POINTS, scale=False).scale_ == 1
    assert 0 < align(new, old).alignment_error_ < 1  # by the training rows of the reference
    assert_array_equal(align(new, old).embedding_, align(new, old, POINTS).embedding_)


def test_aligned_models_are_saved_and_keep_the_precision(tmp_path: Path) -> None:
    X = POINTS.astype(np.float32)
    aligned = align(LaplacianEigenmaps().fit(X[20:]), LaplacianEigenmaps().fit(X[:100]), X[20:100])
    assert aligned.transform(X).dtype == aligned.embedding_.dtype == np.float32
    eigenscape.save(aligned, tmp_path / "map")
    assert_array_equal(eigenscape.load(tmp_path / "map").transform(X), aligned.transform(X))
    assert list(aligned.set_output(transform="pandas").transform(X[:2]).columns) == [
        "alignedmap0",
        "alignedmap1",
    ]


def test_the_map_of_a_view_can_be_aligned(model: AlignedSpectralMaps) -> None:
    old = LaplacianEigenmaps(n_neighbors=6).fit(VIEWS["first"])
    aligned = align(model.maps_["first"], old)
    assert aligned.alignment_error_ < 0.5
    with pytest.raises(TypeError, match=r"model.maps_\[0\]"):
        align(model, old)


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (LaplacianEigenmaps(3).fit(POINTS), POINTS, "same points and dimensions"),
        (LaplacianEigenmaps().fit(POINTS), POINTS[:2], "2 shared rows do not determine"),
        (TSNE(), POINTS, "ParametricMap"),
        (LaplacianEigenmaps, POINTS, "must be a fitted estimator"),
        (LaplacianEigenmaps(), POINTS, "not fitted"),
    ],
)
def test_errors_of_align(model: Any, X: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        align(model, LaplacianEigenmaps().fit(POINTS), X)


def test_align_needs_rows_that_the_reference_has() -> None:
    model, linear = LaplacianEigenmaps().fit(POINTS), PCA().fit(POINTS)
    with pytest.raises(ValueError, match="PCA does not contain its training rows"):
        align(model, linear)
    with pytest.raises(ValueError, match="X_reference needs X"):
        align(model, linear, X_reference=POINTS)
    with pytest.raises(ValueError, match="must be the same rows, got 5 and 6"):
        align(model, linear, POINTS[:5], POINTS[:6])
    with pytest.raises(TypeError, match=r"eigenscape\.align"):
        align(model, linear, POINTS).fit(POINTS)
