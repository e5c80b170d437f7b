"""Forks, spawned processes, threads and references under install; the same classes in all of them."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
import sklearn.cluster
import sklearn.decomposition
import sklearn.manifold
from sklearn.datasets import make_swiss_roll

from eigenscape import accel

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("uninstalled")]

X = make_swiss_roll(150, random_state=0)[0]
can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def embed(seed: int) -> tuple[str, np.ndarray]:
    """Fit in another process."""
    model = sklearn.manifold.Isomap(n_neighbors=8 + seed).fit(X)
    return type(model).__module__, model.embedding_


@can_fork
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_fork_after_install_and_fit() -> None:
    with accel.accelerated():
        expected = [embed(seed) for seed in range(3)]  # starts threads and loads compiled code
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(embed, range(3)).get(timeout=120)
    for (module, one), (child, other) in zip(expected, found, strict=True):
        assert module == child == "eigenscape.accel._isomap"
        np.testing.assert_array_equal(one, other)


@pytest.mark.product
def test_script_that_forks_under_the_command(tmp_path: object) -> None:
    path = f"{tmp_path}/forks.py"
    with open(path, "w") as file:
        file.write(
            "import multiprocessing\n"
            "from sklearn.datasets import make_swiss_roll\n"
            "from sklearn.manifold import Isomap\n"
            "X = make_swiss_roll(120, random_state=0)[0]\n"
            "def work(k):\n"
            "    return Isomap(n_neighbors=k).fit(X).reconstruction_error()\n"
            "if __name__ == '__main__':\n"
            "    with multiprocessing.Pool(2) as pool:\n"
            "        print(pool.map(work, [6, 8]) == [work(6), work(8)])\n"
        )
    command = [sys.executable, "-W", "ignore", "-m", "eigenscape.accel", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "True"


@pytest.mark.usefixtures("forked_python")
def test_models_of_all_classes_unpickle_without_install(tmp_path: object) -> None:
    path = f"{tmp_path}/models.pickle"
    with accel.accelerated():
        models = [
            sklearn.manifold.SpectralEmbedding(n_neighbors=12, random_state=0).fit(X),
            sklearn.cluster.SpectralClustering(3, gamma=0.01, random_state=0).fit(X),
            sklearn.decomposition.KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(X),
        ]
    with open(path, "wb") as file:
        pickle.dump([models, models[0].embedding_, models[1].labels_], file)
    code = (
        "import pickle, sys, numpy as np\n"
        f"models, embedding, labels = pickle.load(open({path!r}, 'rb'))\n"
        "from eigenscape import accel\n"
        "assert not accel.is_installed()\n"
        "X = models[2].X_fit_\n"
        "np.testing.assert_array_equal(models[0].embedding_, embedding)\n"
        "assert (models[1].fit_predict(X) == labels).all()\n"
        "assert models[2].inverse_transform(models[2].transform(X[:3])).shape == (3, 3)\n"
        "assert sys.modules['sklearn.manifold'].Isomap.__module__ == 'sklearn.manifold._isomap'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_original_models_keep_working_under_install() -> None:
    before = sklearn.manifold.Isomap(n_neighbors=8).fit(X)
    expected = before.transform(X[:5] + 0.1)
    accel.install()
    np.testing.assert_array_equal(before.transform(X[:5] + 0.1), expected)
    assert isinstance(accel.Isomap(), type(before))  # code that checks for the original class


@pytest.mark.product
def test_install_and_uninstall_from_many_threads() -> None:
    originals = sklearn.manifold.Isomap, sklearn.cluster.SpectralClustering
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                (accel.install if number % 2 else accel.uninstall)()
                model = sklearn.manifold.Isomap(n_neighbors=8).fit(X[:60])  # one or the other class
                assert model.embedding_.shape == (60, 2)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    accel.uninstall()
    assert not errors
    assert (sklearn.manifold.Isomap, sklearn.cluster.SpectralClustering) == originals


@pytest.mark.usefixtures("uninstalled")
def test_aliases_are_restored_and_containers_are_left_alone() -> None:
    module = types.ModuleType("accel_aliases")
    module.X = module.Y = sklearn.manifold.Isomap  # type: ignore[attr-defined]
    module.table = {"isomap": sklearn.manifold.Isomap}  # type: ignore[attr-defined]
    module.embed = sklearn.manifold.spectral_embedding  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    before = dict(vars(module))
    try:
        for _ in range(3):
            accel.install()
            assert module.X is module.Y is accel.Isomap
            assert module.embed is accel.spectral_embedding
            assert module.table["isomap"] is before["X"]  # documented: containers are not searched
            accel.uninstall()
            assert vars(module) == before
    finally:
        del sys.modules[module.__name__]


def test_other_names_of_scikit_learn_stay_the_same() -> None:
    watched = ("sklearn", "sklearn.manifold", "sklearn.cluster", "sklearn.decomposition", "scipy.linalg")
    names = {name for pair in accel._patch.pairs() for name in [pair[0].__name__]}
    before = {module: dict(vars(sys.modules[module])) for module in watched if module in sys.modules}
    accel.install()
    for module, values in before.items():
        now = vars(sys.modules[module])
        changed = {name for name in values if now.get(name) is not values[name]}
        assert changed <= names, module
    accel.uninstall()
    for module, values in before.items():
        assert all(vars(sys.modules[module])[name] is values[name] for name in values)


def test_lazy_and_read_only_modules() -> None:
    from importlib.util import LazyLoader, find_spec, module_from_spec

    class ReadOnly(types.ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError("read only")

    spec = find_spec("this")  # which prints when it is loaded
    assert spec is not None
    assert spec.loader is not None
    spec.loader = LazyLoader(spec.loader)
    lazy, fixed = module_from_spec(spec), ReadOnly("accel_read_only")
    spec.loader.exec_module(lazy)
    vars(fixed)["Isomap"] = original = sklearn.manifold.Isomap
    sys.modules["accel_lazy"], sys.modules["accel_read_only"] = lazy, fixed
    try:
        with accel.accelerated():
            assert fixed.Isomap is accel.Isomap
        assert fixed.Isomap is original
        assert type(lazy).__name__ == "_LazyModule"  # not loaded
    finally:
        del sys.modules["accel_lazy"], sys.modules["accel_read_only"]
