"""Warnings name the line that called the library."""

import inspect

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenscape as es
from eigenscape.exceptions import DisconnectedGraphWarning, NotConvergedWarning

TWO_GROUPS = np.random.default_rng(0).standard_normal((60, 4)) + 50 * np.repeat([[0], [1]], 30, axis=0)


@pytest.mark.parametrize(
    ("fit", "category"),
    [
        (lambda X: es.Isomap(n_neighbors=4).fit(X), DisconnectedGraphWarning),
        (lambda X: es.Isomap(n_neighbors=4).fit_transform(X), DisconnectedGraphWarning),
        (
            lambda X: make_pipeline(StandardScaler(), es.Isomap(n_neighbors=4)).fit(X),
            DisconnectedGraphWarning,
        ),
        (lambda X: es.MixturePPCA(2, 1, max_iter=1).fit(X), NotConvergedWarning),
    ],
)
def test_warnings_name_the_line_of_the_caller(fit, category):
    with pytest.warns(category) as found:
        fit(TWO_GROUPS)
    warned = next(one for one in found if issubclass(one.category, category))
    assert warned.filename == __file__
    first = inspect.getsourcelines(fit)[1]
    assert first <= warned.lineno < first + 4
