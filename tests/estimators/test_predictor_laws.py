"""The laws of classifiers, regressors and densities, each tested on every case of ``cases.PREDICTORS``.

They have no coordinates of their own: their answers take the place of ``transform``.
"""

from __future__ import annotations

import functools
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from cases import PREDICTORS, Case, load
from estimators.test_laws import WORK, copied, count, fit_case, take, together, unfitted
from threadpoolctl import threadpool_limits

from eigenscape import load as read_model
from eigenscape import save

ANSWERS = ("predict", "predict_proba", "decision_function", "score_samples")
each_predictor = pytest.mark.parametrize("case", PREDICTORS, ids=lambda case: case.id)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield


@functools.cache
def fitted(case: Case) -> Any:
    """The fitted estimator of a case. Tests only read it."""
    return fit_case(case, case.make(), load(case.data)[0])


def answers(model: Any, X: Any) -> dict[str, np.ndarray]:
    return {name: getattr(model, name)(X) for name in ANSWERS if hasattr(model, name)}


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], rows: Any) -> None:
    assert set(found) == set(expected) != set()
    for name, values in found.items():
        allowed = WORK * np.abs(expected[name]).max()
        np.testing.assert_allclose(values, expected[name][rows], rtol=0, atol=allowed)


@each_predictor
def test_rows_are_answered_alone_and_in_any_order(case: Case) -> None:  # laws 1, 2 and 4
    model, (X, Y) = fitted(case), load(case.data)
    points = together(X, Y)
    company = answers(model, points)
    assert all(len(values) == count(points) and np.isfinite(values).all() for values in company.values())
    order = np.random.default_rng(0).permutation(count(points))
    for copy in copied(take(points, order)):
        assert_same(answers(model, copy), company, order)
    for row in (0, 1, count(X), count(X) + 1):
        assert_same(answers(model, take(points, [row])), company, [row])


@each_predictor
def test_a_copy_answers_alike_and_nothing_is_changed(case: Case, tmp_path: Path) -> None:  # laws 5 and 6
    model, (X, Y) = fitted(case), load(case.data)
    expected = answers(model, Y)
    copy = unfitted(model)
    if hasattr(copy, "n_jobs"):
        copy.set_params(n_jobs=1 if joblib.cpu_count() > 1 else 2)
    given = case.given(X)
    before = joblib.hash((X, given, copy.get_params(deep=False)))
    fit_case(case, copy, X)
    assert joblib.hash((X, given, copy.get_params(deep=False))) == before
    save(model, tmp_path / "m")
    for other in (copy, pickle.loads(pickle.dumps(model)), read_model(tmp_path / "m")):
        for name, values in answers(other, Y).items():
            np.testing.assert_array_equal(values, expected[name])
