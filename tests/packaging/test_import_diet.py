"""What a fit imports: the modules that it needs, and no library that scikit-learn does not load itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.packaging

#: Fits an estimator and prints what that imports.
_CODE = """
import sys
import numpy, sklearn.base, sklearn.utils.validation, scipy.sparse.linalg, scipy.linalg
X = numpy.random.default_rng(0).normal(size=(300, 5))
before = set(sys.modules)
import eigenscape
getattr(eigenscape, sys.argv[1])().fit(X).transform(X[:5])
print(*sorted(set(sys.modules) - before))
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


@pytest.mark.usefixtures("forked_libraries")
@pytest.mark.parametrize("name", _MOST)
def test_a_fit_imports_what_it_needs(name: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _CODE, name]
    loaded = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    assert not [one for one in loaded if one.startswith(_UNNEEDED)]
    ours = [one for one in loaded if one.startswith("eigenscape")]
    assert 1 < len(ours) <= _MOST[name]
