"""Finite but huge numbers in blocks of dask collections and in arguments beside X: an error that names the
place, or the right answer."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from cases import WEIGHTED, curve
from scipy import sparse
from scipy.spatial.distance import cdist

import eigenscape
from eigenscape import (
    PCA,
    DiffusionMap,
    DistortionDiscriminantAnalysis,
    GreedySpectralEmbedding,
    Isomap,
    KernelEigenmap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    MixturePPCA,
    OrientedPCA,
    ProbabilisticPCA,
    SpectralClustering,
)
from eigenscape.exceptions import DataRangeError
from eigenscape.options import Dictionary, Landmarks, LocalKernels

HUGE = [1e200, -np.finfo(float).max]
X = curve(60)


def with_one(value: float, n: int = 60, row: int = 7, column: int = 2) -> np.ndarray:
    rows = curve(n, seed=1)
    rows[row, column] = value
    return rows


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize(
    "model",
    [
        PCA(),
        ProbabilisticPCA(),
        MixturePPCA(2, random_state=0),
        GreedySpectralEmbedding(),
        LocalityPreservingProjection(),
        KernelPCA(approximation=Dictionary(tol=1e-2)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fits_of_blocks_name_partition_row_and_column(model: Any, value: float) -> None:
    blocks = da.from_array(with_one(value), chunks=(20, -1))
    with pytest.raises(DataRangeError, match=r"partition 0 of X .* in row 7, column 2"):
        model.fit(blocks)


@pytest.mark.parametrize("value", HUGE)
def test_transforms_of_blocks_name_partition_row_and_column(value: float) -> None:
    blocks = da.from_array(with_one(value, row=27), chunks=(20, -1))
    with pytest.raises(DataRangeError, match=r"partition 1 of X .* in row 7, column 2"):
        PCA().fit(X).transform(blocks).compute()


def test_sparse_blocks_name_row_and_column() -> None:
    blocks = da.from_array(with_one(1e200), chunks=(20, -1)).map_blocks(sparse.csr_array)
    with pytest.raises(DataRangeError, match=r"partition 0 of X .* in row 7, column 2"):
        PCA().fit(blocks)


def test_blocks_with_missing_values_are_checked_too() -> None:
    rows = with_one(1e200)
    rows[3, 1] = np.nan
    with pytest.raises(DataRangeError, match=r"1e\+200 in row 7, column 2"):
        ProbabilisticPCA().fit(da.from_array(rows, chunks=(20, -1)))


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize(("name", "given"), [("noise", with_one), ("distorted[0]", lambda v: [with_one(v)])])
def test_noise_and_versions_of_oriented_pca(name: str, given: Any, value: float) -> None:
    argument = {name.removesuffix("[0]"): given(value)}
    with pytest.raises(DataRangeError) as error:
        OrientedPCA().fit(X, **argument)
    assert f"Input {name} contains 1 value(s)" in str(error.value)
    assert f"{value:g} in row 7, column 2" in str(error.value)


def test_versions_of_oriented_pca_in_blocks() -> None:
    blocks, distorted = (da.from_array(rows, chunks=(20, -1)) for rows in (X, with_one(1e200)))
    with pytest.raises(DataRangeError, match=r"partition 0 of distorted\[0\] .* in row 7, column 2"):
        OrientedPCA().fit(blocks, distorted=[distorted])


@pytest.mark.parametrize("value", HUGE)
def test_versions_of_distortion_discriminant_analysis(value: float) -> None:
    with pytest.raises(DataRangeError, match=r"distorted\[0\] .* in row 7, column 2"):
        DistortionDiscriminantAnalysis(layers=[(2, 2, 1)]).fit(X, distorted=[with_one(value)])


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("selection", lambda points: LandmarkMDS(approximation=Landmarks(None, points))),
        ("selection", lambda points: LandmarkMDS(approximation=Landmarks(None, sparse.csr_array(points)))),
        ("selection", lambda points: Isomap(approximation=Landmarks(None, points))),
        ("points", lambda points: KernelPCA(approximation=Dictionary(points=points))),
        (
            "points",
            lambda points: KernelPCA(
                kernel="linear", approximation=Dictionary(points=sparse.csr_array(points))
            ),
        ),
        ("points", lambda points: GreedySpectralEmbedding(dictionary=Dictionary(points=points))),
        ("centers", lambda points: KernelEigenmap(kernels=LocalKernels(centers=points))),
    ],
)
def test_given_points(name: str, model: Any, value: float) -> None:
    with pytest.raises(DataRangeError, match=rf"Input {name} .* in row 7, column 2"):
        model(with_one(value, n=12)).fit(X)


def test_noise_whose_squares_vanish_is_refused() -> None:
    with pytest.raises(DataRangeError, match="all values of noise are below"):
        OrientedPCA().fit(X, noise=1e-200 * X)


@pytest.mark.parametrize("size", [1e-59, 1e-30, 1e30, 1e59])
def test_noise_of_any_allowed_size_gives_finite_directions(size: float) -> None:
    model = OrientedPCA(regularization=0.1).fit(X, noise=size * curve(40, seed=2))
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.eigenvalues_).all()


@pytest.mark.parametrize("size", [1e-12, 1.0])
@pytest.mark.parametrize(
    "model", [Isomap(metric="precomputed"), LaplacianEigenmaps(affinity="precomputed_nearest_neighbors")]
)
def test_a_sparse_table_of_distances_has_a_zero_diagonal(model: Any, size: float) -> None:
    """Rows of the table were embedded, but placed elsewhere by transform, which found no sample in them."""
    D = cdist(X, X)
    np.fill_diagonal(D, size)
    with pytest.raises(ValueError, match=rf"zero diagonal, got {size:g} for sample 0.*setdiag\(0\)"):
        model.fit(sparse.csr_array(D))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("cls", [LaplacianEigenmaps, DiffusionMap, SpectralClustering])
def test_affinities_that_are_lost_beside_others_are_refused(cls: type, container: Any) -> None:
    """Eigenvectors are accurate to the largest entry: the other samples had no correct digit."""
    A = np.exp(-(cdist(X, X) ** 2))
    A[3, 8] = A[8, 3] = 1e59
    with pytest.raises(DataRangeError, match=r"sample 3 sum to 1e\+59, and the affinities of sample \d+ to"):
        cls(affinity="precomputed").fit(container(A))


def _unequal(exponent: int) -> np.ndarray:
    return np.r_[np.ones(29), 10.0**-exponent]


@pytest.mark.parametrize("name", sorted({case.make().__class__.__name__ for case in WEIGHTED}))
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(30, np.finfo(float).max), "largest value of sample_weight is 1.79769e[+]308"),
        (np.full(30, 1e-200), "largest value of sample_weight is 1e-200"),
        (_unequal(44), "between 1e-44 and 1, and only a ratio of .* is possible"),
        (
            np.ma.masked_array(np.ones(30), mask=np.arange(30) == 7),
            r"sample_weight is a masked array .*\(7,\)",
        ),
    ],
    ids=["overflow", "vanish", "ratio", "mask"],
)
def test_weights_that_gave_other_places_are_refused(name: str, weights: np.ndarray, message: str) -> None:
    model = getattr(eigenscape, name)()
    with pytest.raises(ValueError, match=message):
        model.fit(np.random.default_rng(0).normal(size=(30, 3)), sample_weight=weights)


def test_unequal_weights_keep_law_1() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    for cls, exponent in ((eigenscape.LaplacianEigenmaps, 15), (eigenscape.LocallyLinearEmbedding, 7)):
        weights = 10.0 ** np.random.default_rng(1).uniform(-exponent, 0, 30)
        model = cls().fit(X, sample_weight=weights)
        error = np.abs(model.transform(X) - model.embedding_).max() / np.abs(model.embedding_).max()
        assert error < 1e-5


@pytest.mark.parametrize("cls", [PCA, Isomap, LaplacianEigenmaps, KernelPCA])
@pytest.mark.parametrize("size", [1e20, 3e38])
def test_single_precision_has_a_range_of_its_own(cls, size):
    X = np.random.default_rng(0).standard_normal((40, 4))
    X = (X / np.abs(X).max() * size).astype(np.float32)
    with pytest.raises(DataRangeError, match=r"beyond \+-1.2e\+18.* in row 0, column .* or pass float64"):
        cls().fit(X)
    assert np.isfinite(cls().fit(X.astype(np.float64)).embedding_).all()
