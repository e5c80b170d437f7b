"""``verify``: every fitted model passes, and one that was changed does not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from cases import CASES, MAPS, WITHOUT_KERNEL, Case, load
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

import eigenscape
from eigenscape import (
    PCA,
    DiffusionMap,
    KernelPCA,
    LaplacianEigenmaps,
    OrientedPCA,
    ProbabilisticPCA,
    datasets,
)
from eigenscape import load as read_model

EVERY = {case.id: case for case in (*CASES, *WITHOUT_KERNEL, *MAPS)}
#: One case of each estimator, and of each kind of data.
FEW = {
    **{type(case.make()): case.id for case in EVERY.values()},
    **{case.data: case.id for case in EVERY.values()},
}
FEW = sorted(set(FEW.values()))


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield


def _functions(embedding: Any) -> Iterator[Any]:
    """Yield the eigenfunctions of each piece of an embedding."""
    for piece in getattr(embedding, "pieces", ()):
        if piece.embedding is not None:
            yield from _functions(piece.embedding)
    if hasattr(embedding, "eigenfunctions"):
        yield embedding.eigenfunctions


def fit(case: Case) -> tuple[Any, Any]:
    X = load(case.data)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return case.make().fit(X, **case.given(X)), X


@pytest.mark.parametrize("name", FEW)
def test_a_fitted_model_passes_and_a_changed_one_fails(name: str) -> None:
    model, X = fit(EVERY[name])
    whole = model.verify(X)
    assert whole, whole
    assert {check.name: check.passed for check in whole.checks}["training rows"]
    assert model.verify(), model.verify()
    changed = deepcopy(model)
    functions = list(_functions(vars(changed).get("_model_")))
    if not functions or isinstance(model, OrientedPCA):  # no eigenvectors that transform uses
        return
    vectors = functions[0].pairs.vectors
    vectors[:, -1] = np.roll(vectors[:, -1], 1)
    assert not changed.verify(X)
    assert "FAILED" in repr(changed.verify(X))


def test_each_check_fails_by_itself() -> None:
    X = datasets.swiss_roll(120, random_state=0)[0]
    model = LaplacianEigenmaps(2).fit(X)

    def failed(**changes: Any) -> set[str]:
        changed = deepcopy(model)
        vars(changed).update(changes)
        return {check.name for check in changed.verify(X).checks if check.passed is False}

    assert failed() == set()
    assert failed(embedding_=model.embedding_ + 1e-3) == {"training rows"}
    assert failed(residuals_=np.array([1e-12, 0.1])) == {"residuals"}
    assert failed(degrees_=np.full(120, np.nan)) == {"finite"}
    assert [check.passed for check in model.verify().checks] == [True, True, None]


def test_linear_maps_and_maps_without_stored_coordinates() -> None:
    X = np.random.default_rng(0).standard_normal((50, 4))
    model = PCA(2).fit(X)
    assert model.verify(X)
    model.components_[0] *= 1.01
    assert {check.name for check in model.verify(X).checks if check.passed is False} == {"training rows"}
    assert ProbabilisticPCA(2).fit(X).verify(X)


def test_models_from_files(tmp_path) -> None:
    X = datasets.swiss_roll(80, random_state=0)[0]
    for model in (KernelPCA(2), LaplacianEigenmaps(2), KernelPCA(2, kernel="precomputed")):
        table = X if getattr(model, "kernel", "") != "precomputed" else np.exp(-np.square(X[:, :1] - X[:, 0]))
        eigenscape.save(model.fit(table), tmp_path / "a.model", force=True)
        verification = read_model(tmp_path / "a.model").verify(table)
        assert verification, verification


def test_other_data_are_refused() -> None:
    X = datasets.swiss_roll(60, random_state=0)[0]
    model = LaplacianEigenmaps(2)
    with pytest.raises(NotFittedError):
        model.verify(X)
    model.fit(X)
    with pytest.raises(ValueError, match="X has 59 rows, but the model was fitted to 60"):
        model.verify(X[1:])
    assert not model.verify(X + 1e-3)


def test_a_check_that_ends_with_an_error_has_failed() -> None:
    """Arrays that do not belong together raise errors of NumPy; errors about ``X`` are raised."""
    X = datasets.swiss_roll(60, random_state=0)[0]
    model = DiffusionMap(2).fit(X)
    (functions,) = _functions(model._model_)
    vars(functions.kernel.base.base)["widths"] = np.empty(0)
    vars(model)["residuals_"] = np.array(["a", "b"])
    details = {check.name: check.detail for check in model.verify(X).checks if check.passed is False}
    assert details.keys() >= {"residuals", "training rows"}
    assert "Error: " in details["training rows"]
    with pytest.raises(ValueError, match="X has 2 features, but DiffusionMap is expecting 3"):
        model.verify(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        model.verify(np.full_like(X, np.nan))
