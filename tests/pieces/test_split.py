"""Parts of a graph, and the piece of a new point."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigenscape import Isomap, LaplacianEigenmaps
from eigenscape.exceptions import DisconnectedGraphWarning
from eigenscape.kernels import Precomputed
from eigenscape.pieces import Split
from eigenscape.pieces.embedding import merge_columns
from eigenscape.pieces.split import StrongestAffinity


def test_a_point_belongs_to_the_piece_of_its_strongest_affinity_or_to_none():
    K = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assign = StrongestAffinity(Precomputed().bind(K), np.array([0, 0, 1]))
    rows = np.array([[0.1, 0.0, 0.7], [0.6, 0.2, 0.3], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(assign(rows), [1, 0, -1])


def test_weights_of_parts_leave_out_pieces_of_one_point():
    members = (np.array([0, 2]), np.array([1]), np.array([3, 4]))
    split = Split((None, None), np.array([0, 1, 0, 2, 2]), members, lambda rows: np.zeros(len(rows)))
    found = split.weights_of(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert [weights.tolist() for weights in found] == [[1.0, 3.0], [4.0, 5.0]]
    assert split.weights_of(None) == [None, None]


@pytest.fixture(scope="module")
def separate():
    """Points of two curves in turns."""
    t = np.linspace(0, 3, 41)
    first = np.column_stack([np.cos(t), np.sin(t)])
    return np.stack([first, first + 50], axis=1).reshape(-1, 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [LaplacianEigenmaps, Isomap])
def test_each_piece_is_the_map_of_its_points(make, weighted, separate):
    weights = np.random.default_rng(0).integers(1, 4, len(separate)).astype(float) if weighted else None
    model = make(2, n_neighbors=5, on_disconnected="per_component")
    with pytest.warns(DisconnectedGraphWarning):
        whole = model.fit(separate, sample_weight=weights)
    gram = whole.kernel_(whole.kernel_.X.copy())
    gram = gram.toarray() if hasattr(gram, "toarray") else gram
    for first in (0, 1):
        some = slice(first, 82, 2)
        alone = make(2, n_neighbors=5).fit(
            separate[some], sample_weight=None if weights is None else weights[some]
        )
        np.testing.assert_allclose(
            np.abs(whole.embedding_[some]),
            np.abs(alone.embedding_),
            atol=1e-6 * np.abs(alone.embedding_).max(),
        )
        new = separate[some][:-1] * 0.7 + separate[some][1:] * 0.3
        np.testing.assert_allclose(
            np.abs(whole.transform(new)),
            np.abs(alone.transform(new)),
            atol=1e-6 * np.abs(alone.embedding_).max(),
        )
        own = alone.kernel_(separate[some].copy())
        own = own.toarray() if hasattr(own, "toarray") else own
        np.testing.assert_allclose(gram[first:82:2, first:82:2], own, atol=1e-9 * np.abs(own).max())
    assert not gram[0:82:2, 1:82:2].any()
    places = np.concatenate([part.which for part in whole._model_.parts(separate)])
    np.testing.assert_array_equal(places, [*range(0, 82, 2), *range(1, 82, 2)])


def test_the_mass_of_the_largest_component_is_that_of_its_points(separate):
    weights = np.arange(1.0, 83.0)
    model = Isomap(2, n_neighbors=5, on_disconnected="largest")
    with pytest.warns(DisconnectedGraphWarning):
        model.fit(separate[:-2], sample_weight=weights[:-2])
    kept = model.component_labels_ == 0
    assert kept.sum() == 40
    assert model._model_.mass == weights[:-2][kept].sum()


def test_columns_of_equal_points_are_merged_to_the_smallest_distance():
    table = sparse.csr_array(np.array([[5.0, 2.0, 0.0, 7.0], [0.0, 3.0, 4.0, 0.0]]))
    merged = merge_columns(table, np.array([0, 0, 1, 1]), 2)
    np.testing.assert_array_equal(merged.toarray(), [[2.0, 7.0], [3.0, 4.0]])


def test_columns_of_a_kernel_are_the_landmarks_of_all_pieces(separate):
    model = Isomap(2, n_neighbors=5, n_landmarks=10, on_disconnected="per_component")
    with pytest.warns(DisconnectedGraphWarning):
        model.fit(separate)
    columns = model.kernel_.X
    assert 10 <= len(columns) <= 20
    is_far = columns[:, 0] > 25
    gram = model.kernel_(columns.copy()).toarray()
    assert not gram[np.ix_(is_far, ~is_far)].any()
    assert gram[np.ix_(is_far, is_far)].all()
    assert gram[np.ix_(~is_far, ~is_far)].all()
