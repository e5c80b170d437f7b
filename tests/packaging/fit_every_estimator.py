"""Fit every estimator in an environment that has the core alone. Run there by test_bare_core.py."""

from __future__ import annotations

import inspect
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import eigenscape
from eigenscape import estimators
from eigenscape._extras import EXTRAS
from eigenscape.exceptions import MissingDependencyError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
ARGUMENTS = {
    "DistortionDiscriminantAnalysis": {"layers": ((2, 2, 1),)},
    "ProjectionPursuitRegressor": {"cv": 2, "n_terms": 1, "n_init": 1},
}
FIT_ARGUMENTS = {
    "AlignedSpectralMaps": {"links": "rows"},
    "DistortionDiscriminantAnalysis": {"distorted": [X + 0.1 * RNG.standard_normal(X.shape)]},
    "EigenfunctionClassifier": {"y": X[:, 0] > 0},
    "EigenfunctionRegressor": {"y": X[:, 0]},
    "OrientedPCA": {"noise": 0.1 * RNG.standard_normal(X.shape)},
    "ProjectionPursuitRegressor": {"y": X[:, 0]},
}


def fit_all() -> None:
    """Fit every estimator class and print its name."""
    for name in estimators.__all__:
        cls = getattr(estimators, name)
        if inspect.isclass(cls):
            rows = [X, X[:, :2]] if name == "AlignedSpectralMaps" else X
            model = cls(**ARGUMENTS.get(name, {})).fit(rows, **FIT_ARGUMENTS.get(name, {}))
            model = model.maps_[0] if name == "AlignedSpectralMaps" else model
            method = next(m for m in ("transform", "predict", "score_samples") if hasattr(model, m))
            assert np.isfinite(np.asarray(getattr(model, method)(X))).all(), name
            print(name)


def check_error(extra: str, call: Callable[[], object]) -> None:
    """Check that ``call`` fails because of a missing package and names its extra."""
    message = None
    try:
        call()
    except MissingDependencyError as error:
        message = str(error)
    assert message is not None, f"nothing says that the extra {extra} is missing"
    assert f'pip install "eigenscape[{extra}]"' in message, message


def main() -> None:
    """Fit all estimators, then use what needs an extra."""
    installed = [package for package in EXTRAS if find_spec(package) is not None]
    assert not installed, f"not a bare core: {installed}"
    fit_all()
    folder = Path(tempfile.mkdtemp())
    model = eigenscape.PCA().fit(X)
    np.save(folder / "rows.npy", X)
    assert eigenscape.read(folder / "rows.npy").array.shape == X.shape
    (folder / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    check_error("cli", lambda: eigenscape.read(folder / "rows.csv"))
    eigenscape.save(model, folder / "model.eigenscape")
    np.testing.assert_array_equal(
        eigenscape.load(folder / "model.eigenscape").transform(X), model.transform(X)
    )
    check_error("cli", lambda: eigenscape.report.write_report(folder / "r.html", model, X))
    check_error("plot", lambda: eigenscape.plot.scatter(model))
    check_error("dask", lambda: eigenscape.read(folder / "rows.npy", dask=True))


if __name__ == "__main__":
    sys.exit(main())
