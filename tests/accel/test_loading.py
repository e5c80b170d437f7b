"""What ``install()`` and calls for few points load: no scikit-learn before the script does, no numba."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from eigenscape._loading import avoids_compiled_code, without_compiled_code
from scipy import sparse
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import kneighbors_graph

from eigenscape.operators.gram import dense_product, sparse_product
from eigenscape.solvers import lanczos


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.process
def test_packages_are_replaced_when_they_are_imported() -> None:
    run(
        "import sys\n"
        "from eigenscape import accel\n"
        "accel.install()\n"
        "assert not {'numpy', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "from sklearn.decomposition import KernelPCA\n"
        "assert KernelPCA.__module__ == 'eigenscape.accel._kernel_pca'\n"
        "assert 'sklearn.manifold' not in sys.modules\n"
        "import sklearn.manifold._isomap as inner, sklearn.manifold as manifold\n"
        "assert manifold.Isomap is accel.Isomap and manifold.Isomap is not inner.Isomap\n"
        "assert inner.KernelPCA.__module__ == 'sklearn.decomposition._kernel_pca'\n"
        "from importlib import reload\n"
        "reload(manifold)\n"
        "assert manifold.Isomap is accel.Isomap\n"
        "accel.uninstall()\n"
        "assert manifold.Isomap is inner.Isomap and KernelPCA is inner.KernelPCA\n"
        "import sklearn.cluster\n"
        "original = sklearn.cluster.SpectralClustering\n"
        "assert original.__module__ == 'sklearn.cluster._spectral'\n"
        "assert not any('eigenscape' in type(finder).__module__ for finder in sys.meta_path)\n"
        "accel.install()\n"
        "assert sklearn.cluster.SpectralClustering is original is accel.SpectralClustering\n"
    )


@pytest.mark.process
@pytest.mark.product
def test_import_in_several_threads() -> None:
    run(
        "import threading, importlib, sys, time\n"
        "from eigenscape import accel\n"
        "names = ['sklearn.manifold', 'sklearn.cluster', 'sklearn.decomposition']\n"
        "work = [threading.Thread(target=importlib.import_module, args=[name]) for name in names]\n"
        "work.insert(1, threading.Thread(target=accel.install))\n"
        "for thread in work:\n"
        "    thread.start()\n"
        "for thread in work:\n"
        "    thread.join(60)\n"
        "end = time.monotonic() + 30\n"
        "while sys.modules['sklearn.manifold'].Isomap is not accel.Isomap and time.monotonic() < end:\n"
        "    time.sleep(0.1)\n"
        "for package, name, module, _ in accel._patch.REPLACED:\n"
        "    ours = getattr(sys.modules[package], name, None)\n"
        "    assert ours is None or ours.__module__ == f'eigenscape.accel.{module}', name\n"
    )


@pytest.mark.process
def test_no_compiled_code_for_few_points() -> None:
    out = run(
        "import sys\n"
        "from eigenscape import accel\n"
        "accel.install()\n"
        "from sklearn import cluster, decomposition, manifold\n"
        "from sklearn.datasets import load_digits\n"
        "X = load_digits().data[:1100]\n"
        "manifold.Isomap(eigen_solver='dense').fit(X)\n"
        "Y = manifold.LocallyLinearEmbedding(n_neighbors=12).fit(X).embedding_\n"
        "manifold.trustworthiness(X, Y)\n"
        "decomposition.KernelPCA(12, kernel='rbf', gamma=1e-3).fit(X)\n"
        "cluster.SpectralClustering(4, gamma=1e-3, random_state=0).fit(X)\n"
        "assert accel.report().share == 1, accel.report()\n"
        "print('numba' in sys.modules)\n"
    )
    assert out == "False\n"


@pytest.fixture(scope="module")
def matrix() -> sparse.csr_array:
    graph = kneighbors_graph(make_swiss_roll(300, random_state=0)[0], 6)
    return sparse.csr_array(graph + graph.T)


def test_numpy_steps_equal_compiled_ones(matrix: sparse.csr_array) -> None:
    rng = np.random.default_rng(0)
    bound = float(abs(matrix).sum(axis=1).max())
    results = []
    for _ in range(2):
        V, T = np.zeros((12, 300)), np.zeros((10, 10))
        V[:2] = np.linalg.qr(np.random.default_rng(1).standard_normal((300, 2)))[0].T
        results.append((V, T))
    compiled = lanczos._extend_krylov(matrix, bound, *results[0], 1, 0, 10)
    block = rng.standard_normal((300, 4))
    with without_compiled_code():
        assert avoids_compiled_code()
        plain = lanczos._extend_krylov(matrix, bound, *results[1], 1, 0, 10)
        np.testing.assert_allclose(dense_product(matrix.toarray(), block), matrix @ block, atol=1e-12)
        np.testing.assert_allclose(sparse_product(matrix, block), matrix @ block, atol=1e-12)
    assert not avoids_compiled_code()
    np.testing.assert_allclose(plain, compiled, rtol=1e-10)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


def test_invariant_space_ends_the_numpy_steps() -> None:
    V, T = np.zeros((6, 8)), np.zeros((4, 4))
    V[0], V[1] = np.eye(8)[0], np.eye(8)[1]
    with without_compiled_code():
        filled, length = lanczos._extend_krylov(sparse.csr_array(sparse.eye_array(8)), 2.0, V, T, 1, 0, 4)
    assert (filled, length) == (1, 0.0)


@pytest.mark.process
def test_steps_that_scikit_learn_iterates_load_nothing() -> None:
    """ARPACK is as fast up to a few thousand points: the core of eigenscape would be loaded in vain."""
    run(
        "import sys\n"
        "from eigenscape import accel\n"
        "accel.install()\n"
        "from sklearn import cluster, decomposition, manifold\n"
        "from sklearn.datasets import load_digits\n"
        "X = load_digits().data[:1100]\n"
        "manifold.Isomap().fit(X).transform(X[:5])\n"
        "manifold.SpectralEmbedding(random_state=0).fit(X)\n"
        "decomposition.KernelPCA(2, kernel='rbf', gamma=1e-3).fit(X)\n"
        "decomposition.KernelPCA(2, kernel='rbf', gamma=1e-3, eigen_solver='randomized').fit(X)\n"
        "manifold.LocallyLinearEmbedding(n_neighbors=12).fit(X[:500]).transform(X[500:510])\n"
        "cluster.SpectralClustering(4, affinity='nearest_neighbors', random_state=0).fit(X)\n"
        "assert {row.place for row in accel.report().rows} == {'small'}, accel.report()\n"
        "core = {'eigenscape.operators', 'eigenscape.solvers', 'eigenscape.kernels', 'eigenscape.graph'}\n"
        "assert not core & set(sys.modules)\n"
    )
