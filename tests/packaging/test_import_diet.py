"""What a fit imports: the modules that it needs, and no library that scikit-learn does not load itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.packaging

#: Fits each estimator in a fork, since the libraries that all of them need take a second to import.
_CODE = """
import os, sys
import numpy, sklearn.base, sklearn.utils.validation, scipy.sparse.linalg, scipy.linalg
X = numpy.random.default_rng(0).normal(size=(300, 5))
before = set(sys.modules)
for name in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    import eigenscape
    getattr(eigenscape, name)().fit(X).transform(X[:5])
    print(name, *sorted(set(sys.modules) - before), flush=True)
    os._exit(0)
"""
#: Estimators, and the number of modules of the package that a fit may import.
_MOST = {"LaplacianEigenmaps": 130, "Isomap": 130, "KernelPCA": 120, "SpectralClustering": 130}
#: Parts of the package, and packages, that none of these fits needs.
_UNNEEDED = (
    "eigenscape.app",
    "eigenscape.plot",
    "eigenscape.accel",
    "eigenscape.datasets",
    "eigenscape.quality.neighbor_preservation",
    "eigenscape.quality.stability",
    "dask",
    "joblib.externals.loky.backend.resource_tracker",
    "matplotlib",
    "numba",
    "pandas",
    "pyarrow",
    "rich",
    "sklearn.manifold",
    "sklearn.decomposition",
    "sklearn.cluster",
    "typer",
)


@pytest.fixture(scope="module")
def loaded() -> dict[str, list[str]]:
    """Return the modules that a fit of each estimator imports."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CODE, *_MOST], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return {name: modules for name, *modules in map(str.split, done.stdout.splitlines())}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", _MOST)
def test_a_fit_imports_what_it_needs(name: str, loaded: dict[str, list[str]]) -> None:
    assert not [one for one in loaded[name] if one.startswith(_UNNEEDED)]
    ours = [one for one in loaded[name] if one.startswith("eigenscape")]
    assert 1 < len(ours) <= _MOST[name]
