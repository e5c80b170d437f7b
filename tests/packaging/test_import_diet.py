"""What a fit imports: the modules that it needs, and no library that scikit-learn does not load itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.packaging

_CODE = """
import sys
import numpy, sklearn.base, sklearn.utils.validation, scipy.sparse.linalg, scipy.linalg
X = numpy.random.default_rng(0).normal(size=(300, 5))
before = set(sys.modules)
import eigenscape
eigenscape.{name}().fit(X).transform(X[:5])
for module in sorted(set(sys.modules) - before):
    print(module)
"""
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


@pytest.mark.parametrize(("name", "most"), [("LaplacianEigenmaps", 130), ("Isomap", 130), ("KernelPCA", 120)])
def test_a_fit_imports_what_it_needs(name: str, most: int) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CODE.format(name=name)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert not [one for one in loaded if one.startswith(_UNNEEDED)]
    assert len([one for one in loaded if one.startswith("eigenscape")]) <= most
