"""Methods that need their rows together, on dask collections: fitted to a sample, with what it costs."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone

from eigenscape import (
    ClassicalMDS,
    DiffusionMap,
    Isomap,
    KernelEigenmap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    SpectralClustering,
)
from eigenscape.dictionary.landmarks import Candidates, farthest_first, select_candidates
from eigenscape.distributed.blocks import as_blocks
from eigenscape.distributed.sample import choose_sample
from eigenscape.kernels.distance import HalfSquaredDistance, squared_distance_rows
from eigenscape.options import KNNGraph, Landmarks
from eigenscape.quality import aligned_error

pytestmark = pytest.mark.dask

N = 1200
#: A bent strip: longer than wide, so that coordinates have an order.
_t = np.random.default_rng(0).uniform(size=(N, 2)) * [4.0, 1.0]
X = np.column_stack([np.sin(_t[:, 0]), _t[:, 1], np.cos(_t[:, 0])])


@pytest.fixture(autouse=True)
def settings_of_dask():
    with dask.config.set({"scheduler": "synchronous", "eigenscape.sample-size": 300}):
        yield


def ragged(X, sizes):
    return da.from_array(X, chunks=(tuple(sizes), X.shape[1]))


CASES = {
    "landmark-mds": LandmarkMDS(n_landmarks=50),
    "isomap": Isomap(),
    "landmark-isomap": Isomap(n_landmarks=60),
    "laplacian-eigenmaps": LaplacianEigenmaps(),
    "lle": LocallyLinearEmbedding(n_neighbors=8),
    "diffusion-map": DiffusionMap(),
    "kernel-eigenmap": KernelEigenmap(n_kernels=10),
    "kernel-pca": KernelPCA(),
    "classical-mds": ClassicalMDS(),
    "spectral-clustering": SpectralClustering(3),
}


@pytest.mark.parametrize("name", CASES)
def test_a_sample_stands_for_the_collection(name):
    D = ragged(X, [500, 300, 400])
    model = clone(CASES[name]).fit(D)
    assert (model.embedding_.shape[0], model.embedding_.chunks[0]) == (N, (500, 300, 400))
    assert len(model.sample_indices_) == 300
    # The model is that of the sample, and nothing else.
    alone = clone(CASES[name]).fit(X[model.sample_indices_])
    np.testing.assert_allclose(model.embedding_.compute(), alone.transform(X), atol=1e-9)
    assert 0 < model.sample_stability_ < np.inf
    if name != "kernel-eigenmap":  # it has no kernel on its training points
        assert model.sample_loss_.sample == pytest.approx(alone.loss())
        others = np.setdiff1d(np.linspace(0, N - 1, 1000).astype(int), model.sample_indices_)
        if name == "lle":  # it has no kernel between new points
            assert np.isnan(model.sample_loss_.held_out)
        else:
            assert model.sample_loss_.held_out == pytest.approx(alone.loss(X[others]), rel=1e-6)
    if name == "spectral-clustering":
        assert (model.labels_.compute() == model.predict(X)).all()


@pytest.mark.parametrize(
    "estimator",
    [LandmarkMDS(n_landmarks=50), Isomap(n_landmarks=60)],
    ids=["landmark-mds", "landmark-isomap"],
)
def test_landmarks_are_rows_of_the_collection(estimator):
    model = clone(estimator).fit(ragged(X, [500, 700]))
    alone = clone(estimator).fit(X[model.sample_indices_])
    assert (X[model.landmarks_] == X[model.sample_indices_][alone.landmarks_]).all()
    assert set(model.landmarks_) <= set(model.sample_indices_)
    given = clone(estimator).set_params(n_landmarks=None, approximation=Landmarks(None, [3, 700, 900, 20]))
    with pytest.raises(ValueError, match=r"themselves, as in Landmarks\(None, X\[indices\].compute\(\)\)"):
        given.fit(ragged(X, [500, 700]))


def test_landmarks_given_as_points():
    chosen = X[[3, 700, 900, 20]]
    model = LandmarkMDS(approximation=Landmarks(None, chosen)).fit(ragged(X, [500, 700]))
    np.testing.assert_allclose(
        model.embedding_.compute(),
        LandmarkMDS(approximation=Landmarks(None, chosen)).fit(X).embedding_,
        atol=1e-9,
    )


def test_sparse_rows_have_a_sample_too():
    rows = ragged(X, [500, 700]).map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 3)))
    model, dense = (
        LandmarkMDS(n_landmarks=50).fit(rows),
        LandmarkMDS(n_landmarks=50).fit(ragged(X, [500, 700])),
    )
    np.testing.assert_allclose(
        np.abs(model.embedding_.compute()), np.abs(dense.embedding_.compute()), atol=1e-9
    )
    assert model.sample_loss_.held_out == pytest.approx(dense.sample_loss_.held_out)


@pytest.mark.parametrize("name", ["isomap", "classical-mds", "laplacian-eigenmaps"])
def test_a_collection_no_larger_than_the_sample_is_fitted_whole(name):
    few = X[:250]
    model, alone = clone(CASES[name]).fit(ragged(few, [100, 150])), clone(CASES[name]).fit(few)
    np.testing.assert_allclose(model.embedding_.compute(), alone.embedding_, atol=1e-9)
    assert np.isnan(model.sample_loss_.held_out)
    assert (model.sample_indices_ == np.arange(250)).all()


def test_the_costs_fall_with_the_size_of_the_sample():
    """Isomap of a strip: a larger sample is nearer to the map of all rows, and says so."""
    errors, movements, whole = [], [], Isomap().fit(X).embedding_
    for size in (60, 300, 900):
        with dask.config.set({"eigenscape.sample-size": size}):
            model = Isomap().fit(ragged(X, [400] * 3))
        errors.append(aligned_error(model.embedding_.compute(), whole))
        movements.append(model.sample_stability_)
    assert errors[2] < errors[0]
    assert movements[2] < movements[0]
    assert errors[2] < 0.1


def radius(points):
    return cdist(X, points).min(axis=1).max()


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.lists(st.integers(1, 300), min_size=1, max_size=12), st.integers(5, 40))
def test_every_row_is_near_the_sample(sizes, count):
    """Within 2 h times the radius of the best balls, h the number of choices in a row; one machine's choice
    bounds that radius."""
    sizes = [*sizes, N - sum(sizes)] if sum(sizes) < N else [N]
    sample = choose_sample(as_blocks(ragged(X, sizes)), count, HalfSquaredDistance())
    assert (X[sample.indices] == sample.rows).all()
    assert len(sample.indices) == count
    alone = X[farthest_first(squared_distance_rows(HalfSquaredDistance().bind(X)), N, count, 0)]
    rounds = 1 + (len(sizes) > 1) + (len(sizes) > 8)
    assert radius(sample.rows) <= 2 * rounds * radius(alone)


def test_half_a_sample_is_the_sample_of_half_the_size():
    blocks = as_blocks(ragged(X, [N]))
    whole = choose_sample(blocks, 80, HalfSquaredDistance())
    half = choose_sample(blocks, 40, HalfSquaredDistance())
    assert (whole.indices[whole.half] == half.indices).all()


def test_equal_rows_are_chosen_once():
    twins = np.repeat(X[:5], 4, axis=0)
    chosen = select_candidates(Candidates.from_rows(twins), 10, HalfSquaredDistance())
    assert sorted(chosen.indices) == [0, 4, 8, 12, 16]


@pytest.mark.parametrize(
    ("estimator", "size", "message"),
    [
        (Isomap(metric="precomputed"), 300, "metric='precomputed' needs the whole matrix in memory"),
        (Isomap(graph=KNNGraph(5, "precomputed")), 300, "metric='precomputed' needs the whole matrix"),
        (
            LaplacianEigenmaps(affinity="precomputed"),
            300,
            "affinity='precomputed' needs the whole matrix in memory",
        ),
        (Isomap(), 0, "eigenscape.sample-size=0"),
        (LandmarkMDS(n_landmarks=400), 300, "less than the 400 rows"),
        (Isomap(n_neighbors=400), 300, "n_neighbors=400"),
    ],
)
def test_what_cannot_be_is_refused(estimator, size, message):
    with dask.config.set({"eigenscape.sample-size": size}), pytest.raises(ValueError, match=message):
        estimator.fit(ragged(X, [600, 600]))
    assert "embedding_" not in vars(estimator)
