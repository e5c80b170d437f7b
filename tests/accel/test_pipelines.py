"""Pipelines, searches, containers of output and caches work under install as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from covering import PRODUCT
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline

from eigenscape import accel

pytestmark = pytest.mark.usefixtures("uninstalled")

X, y = load_digits(return_X_y=True)
X, y = X[:150], y[:150]


def run(build: Any) -> tuple[Any, Any]:
    """Return the result of a function without and with acceleration."""
    before = build()
    with accel.accelerated():
        return before, build()


@pytest.mark.long
def test_grid_search_in_a_pipeline() -> None:
    def build() -> np.ndarray:
        from sklearn.decomposition import KernelPCA

        pipeline = make_pipeline(KernelPCA(5, kernel="rbf", gamma=0.001), LogisticRegression(max_iter=500))
        # test_processes.py fits and unpickles in other processes; joblib takes seconds to start some
        n_jobs = 2 if PRODUCT else 1
        search = GridSearchCV(pipeline, {"kernelpca__n_components": [3, 5]}, cv=2, n_jobs=n_jobs)
        return search.fit(X, y).cv_results_["mean_test_score"]

    before, after = run(build)
    np.testing.assert_allclose(after, before, atol=0.03)


@pytest.mark.long
def test_union_and_columns() -> None:
    def build() -> tuple[np.ndarray, np.ndarray]:
        from sklearn.manifold import Isomap, LocallyLinearEmbedding

        union = FeatureUnion(
            [("isomap", Isomap(n_neighbors=8)), ("lle", LocallyLinearEmbedding(random_state=0))]
        )
        columns = ColumnTransformer([("left", Isomap(n_neighbors=8, n_components=1), slice(0, 32))])
        return clone(union).fit(X).transform(X), columns.fit_transform(X)

    before, after = run(build)
    for one, other in zip(before, after, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(np.abs(one[:, :1]), np.abs(other[:, :1]), atol=1e-6 * np.abs(one).max())


def test_set_output() -> None:
    pandas = pytest.importorskip("pandas")
    from sklearn.manifold import Isomap as Original

    isomap = accel.Isomap(n_neighbors=8).set_output(transform="pandas")
    frame = isomap.fit_transform(X)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(Original(n_neighbors=8).fit(X).get_feature_names_out())
    assert isinstance(isomap.transform(X[:3]), pandas.DataFrame)


def test_cache(tmp_path: Path) -> None:
    pipeline = make_pipeline(
        accel.KernelPCA(3), KNeighborsClassifier(), memory=joblib.Memory(tmp_path, verbose=0)
    )
    accel.reset()
    scores = [clone(pipeline).fit(X, y).score(X, y) for _ in range(2)]
    assert scores[0] == scores[1]
    assert sum(row.calls for row in accel.report().rows if row.name == "KernelPCA.fit") == 1


@pytest.mark.long
def test_metadata_routing() -> None:
    import sklearn

    def build() -> tuple[Any, float]:
        from sklearn.manifold import Isomap

        with sklearn.config_context(enable_metadata_routing=True):
            last = RidgeClassifier().set_fit_request(sample_weight=True)
            pipeline = make_pipeline(Isomap(n_neighbors=8, n_components=4), last)
            pipeline.fit(X, y, sample_weight=np.arange(len(X)))
            routing = {name: str(step.get_metadata_routing()) for name, step in pipeline.named_steps.items()}
            return routing, pipeline.score(X, y)

    before, after = run(build)
    assert before[0] == after[0]
    assert before[1] == pytest.approx(after[1], abs=0.02)


@pytest.mark.long
def test_names_of_columns_give_no_new_warnings(recwarn: pytest.WarningsRecorder) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"pixel {number}" for number in range(X.shape[1])])

    def build() -> list[str]:
        from sklearn.manifold import Isomap

        model = Isomap(n_neighbors=8).fit(frame)
        model.transform(frame.iloc[:3])
        return list(model.feature_names_in_)

    before, after = run(build)
    assert before == after == list(frame.columns)
    assert not [warning for warning in recwarn if "feature names" in str(warning.message)]


@pytest.mark.long
def test_types_of_numbers() -> None:
    def build() -> tuple[type, type]:
        from sklearn.manifold import LocallyLinearEmbedding, trustworthiness

        model = LocallyLinearEmbedding(n_neighbors=12).fit(X)
        return type(model.reconstruction_error_), type(trustworthiness(X, model.embedding_))

    before, after = run(build)
    assert before == after
