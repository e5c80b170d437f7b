"""What ``install()`` loads: no scikit-learn before the script does; and what a call loads of eigenscape."""

from __future__ import annotations

import subprocess
import sys

import pytest


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
        "for package, name, module in accel._patch.REPLACED:\n"
        "    ours = getattr(sys.modules[package], name, None)\n"
        "    assert ours is None or ours.__module__ == f'eigenscape.accel.{module}', name\n"
    )


@pytest.mark.process
@pytest.mark.usefixtures("forked_libraries")
def test_a_call_loads_the_solvers_only() -> None:
    """A small problem is faster in eigenscape only if little is imported for it."""
    run(
        "import sys\n"
        "from eigenscape import accel\n"
        "accel.install()\n"
        "from sklearn import cluster, manifold\n"
        "from sklearn.datasets import load_digits\n"
        "X = load_digits().data[:300]\n"
        "before = set(sys.modules)\n"
        "A = manifold.SpectralEmbedding(affinity='rbf', gamma=1e-3, random_state=0).fit(X).affinity_matrix_\n"
        "cluster.spectral_clustering(A, n_clusters=3, random_state=0)\n"
        "assert accel.report().share == 1, accel.report()\n"
        "loaded = {name for name in set(sys.modules) - before if name.startswith('eigenscape.')}\n"
        "rooms = ('estimators', 'methods', 'quality', 'options', 'graph.neighbors', 'kernels.variable')\n"
        "assert not {f'eigenscape.{room}' for room in rooms} & loaded, sorted(loaded)\n"
        "assert len(loaded) < 50, sorted(loaded)\n"
    )
