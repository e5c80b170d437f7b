"""The scale law: the same map for data in any unit, and a clear error where squares of the data overflow.

Cases of ``cases.py`` are tested. The scale law itself holds for those whose parameters have no unit;
units are powers of two, by which products are exact, so that ties are broken alike.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest
from cases import CASES, MAPS, WITHOUT_KERNEL, Case, load, nothing
from covering import PRODUCT
from own_errors import is_own
from scipy import sparse
from threadpoolctl import threadpool_limits

from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    DistortionDiscriminantAnalysis,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    ProjectionPursuitDensity,
    ProjectionPursuitRegressor,
    SpectralClustering,
    datasets,
)
from eigenscape.exceptions import DataRangeError, RankError
from eigenscape.kernels import VariableGaussian
from eigenscape.options import Option

EVERY = {case.id: case for case in (*CASES, *WITHOUT_KERNEL, *MAPS) if case.data != "words"}
#: One case for each estimator and kind of data.
FEW = list({(type(case.make()), case.data): name for name, case in EVERY.items()}.values())
#: Cases in large units: the last one of each estimator, and of each kind of data.
LARGE = {
    *{type(EVERY[name].make()): name for name in FEW}.values(),
    *{EVERY[name].data: name for name in FEW}.values(),
    *(FEW if PRODUCT else ()),
}
#: Parameters, and fields of options, that have a unit.
_WITH_UNIT = ("radius", "width", "gamma", "sigma")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield


def has_no_unit(case: Case) -> bool:
    """Return whether the data are rows or distances, and no parameter has their unit."""
    params = case.make().get_params()
    if params.get("prefit"):  # the embedder has the unit of its own samples
        return False

    def values(*names: str) -> list[Any]:
        return [value for name, value in params.items() if name.rpartition("__")[2] in names]

    return (
        "similarities" not in case.data
        and case.given is nothing
        and not any(value not in (None, "auto") for value in values(*_WITH_UNIT))
        and all(
            isinstance(value, str | Option | VariableGaussian | None)
            for value in values("kernel", "affinity")
        )
        and not any(np.ndim(value) == 2 for value in values("selection", "points", "centers", "covariances"))
    )


def fit(case: Case, X: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of disconnected data; others are errors
        return case.make().fit(X, **case.given(X))


@functools.cache
def fitted(name: str) -> Any:
    return fit(EVERY[name], load(EVERY[name].data)[0])


def shape_of(model: Any, X: Any) -> np.ndarray:
    """The map, each coordinate relative to its largest value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        Z = model.embedding_ if hasattr(model, "embedding_") else model.transform(X)
    return Z / np.abs(Z).max(axis=0)


@pytest.mark.parametrize(
    ("name", "exponent"),
    [
        pytest.param(name, exponent, marks=[] if name in FEW and exponent < 0 else pytest.mark.long)
        for name, case in EVERY.items()
        for exponent in ((-190, 190) if name in LARGE else (-190,))
        if has_no_unit(case)
    ],
)
def test_the_same_map_in_any_unit(name: str, exponent: int) -> None:
    X = load(EVERY[name].data)[0]
    expected = shape_of(fitted(name), X)
    try:
        found = shape_of(fit(EVERY[name], X * 2.0**exponent), X * 2.0**exponent)
    except RankError as error:  # the tolerance of a dictionary has the unit of the kernel
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert "dictionary" in refused
        return
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", FEW)
def test_a_unit_out_of_range_is_refused_with_the_place(name: str) -> None:
    case = EVERY[name]
    X, remedy = load(case.data)[0], r"row \d+, column \d+.*(ivide|ultiply) the data by a constant"
    for scale in (1e-300, 1e-150, 1e150, 1e300):
        with pytest.raises(DataRangeError, match=remedy):
            case.make().fit(X * scale, **case.given(X))


@pytest.mark.parametrize(
    "method",
    [
        LaplacianEigenmaps,
        LocallyLinearEmbedding,
        Isomap,
        DiffusionMap,
        SpectralClustering,
        ClassicalMDS,
        KernelPCA,
        PCA,
    ],
)
def test_a_marker_of_missing_values_is_refused_with_its_place(method: Any) -> None:
    X = datasets.swiss_roll(60, random_state=0)[0]
    X[[7, 30], [1, 2]] = np.finfo(float).max
    with pytest.raises(DataRangeError, match=r"2 value.s. .* 1.79769e.308 in row 7, column 1.*missing value"):
        method().fit(X)


def test_three_points_at_a_distance_whose_square_overflows() -> None:
    with pytest.raises(DataRangeError, match=r"1e.155 in row 1, column 0"):
        LaplacianEigenmaps(1).fit(np.array([[0.0], [1e155], [3e155]]))


# --- new points ---------------------------------------------------------------------------------------------

ODD = [-1e59, 1e200, 1.7e308, 1e-310, 5e-324]


def odd_points(Y: Any) -> list[Any]:
    """One cell of a row replaced, all cells, and a row in another unit."""
    points = []
    for value in ODD:
        one, all_cells, in_unit = (Y[:1].copy() for _ in range(3))
        for row, cells in ((one, slice(1)), (all_cells, slice(None))):
            (row.data if sparse.issparse(row) else row[0])[cells] = value
        if abs(value) <= 1e200:
            in_unit *= value
        points += [one, all_cells, in_unit]
    return points


@pytest.mark.parametrize("name", FEW)
def test_finite_points_get_finite_coordinates_or_an_error(name: str) -> None:
    model, Y = fitted(name), load(EVERY[name].data)[1]
    for rows in odd_points(Y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                is_right = bool(np.isfinite(model.transform(rows)).all())
            except (ValueError, RuntimeError) as error:
                is_right = is_own(error)
        assert is_right, rows


def test_coordinates_beyond_single_precision_are_refused() -> None:
    X = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    model = KernelPCA(2, kernel="poly", degree=3).fit(X)
    with pytest.raises(DataRangeError, match="row 1 of X exceed the range of float32"):
        model.transform(np.stack([X[0], np.full(4, 1e18, dtype=np.float32)]))


def test_other_estimators_refuse_values_out_of_range() -> None:
    X = np.random.default_rng(0).standard_normal((40, 2))
    far = np.where(X[3, 1] == X, 1e155, X)
    place = r"1e\+155 in row 3, column 1"
    for estimator in (ProjectionPursuitDensity(), ProjectionPursuitRegressor()):
        with pytest.raises(DataRangeError, match=place):
            estimator.fit(far, X[:, 0])
    with pytest.raises(DataRangeError, match=place):
        DistortionDiscriminantAnalysis(((2, 2, 1),)).fit(far, distorted=[X])


def test_errors_name_the_column_of_a_table() -> None:
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((9, 2)), columns=["height", "weight"])
    X.loc[4, "weight"] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN in 1 cell.s., the first in row 4, column 'weight'"):
        PCA().fit(X)
    X.loc[4, "weight"] = -1e99
    with pytest.raises(DataRangeError, match=r"-1e\+99 in row 4, column 'weight'"):
        PCA().fit(X)
