"""Installation in scikit-learn's place and its reversal; records; threads; pickles."""

from __future__ import annotations

import copy
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
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll

from eigenscape import accel
from eigenscape.accel._patch import REPLACED, pairs

pytestmark = pytest.mark.usefixtures("uninstalled")

X = make_swiss_roll(120, random_state=0)[0]


def names() -> dict[tuple[str, str], object]:
    return {
        (package, name): getattr(sys.modules[package], name)
        for package, name, _ in REPLACED
        if hasattr(sys.modules[package], name)
    }


@pytest.fixture
def user_module() -> types.ModuleType:
    """A module that imported a class of scikit-learn before."""
    module = types.ModuleType("accel_user")
    module.Map = sklearn.manifold.Isomap  # type: ignore[attr-defined]
    sys.modules["accel_user"] = module
    yield module
    del sys.modules["accel_user"]


@pytest.mark.long
def test_every_name_is_replaced_and_restored() -> None:
    before = names()
    accel.install()
    accel.install()
    during = names()
    for key, original in before.items():
        assert during[key] is not original
        assert during[key] is getattr(accel, key[1])
        assert during[key].__name__ == original.__name__
        assert during[key].__doc__
        if isinstance(original, type):
            assert issubclass(during[key], original)
    accel.uninstall()
    accel.uninstall()
    assert all(names()[key] is original for key, original in before.items())


@pytest.mark.long
def test_modules_that_imported_before_and_in_between(user_module: types.ModuleType) -> None:
    original = user_module.Map
    accel.install()
    assert user_module.Map is accel.Isomap
    user_module.Later = sklearn.manifold.LocallyLinearEmbedding
    accel.uninstall()
    assert user_module.Map is original
    assert user_module.Later is sklearn.manifold.LocallyLinearEmbedding
    assert user_module.Later.__module__.startswith("sklearn.")


@pytest.mark.long
def test_what_was_imported_from_here_stays(user_module: types.ModuleType) -> None:
    user_module.Map = accel.Isomap
    with accel.accelerated():
        pass
    assert user_module.Map is accel.Isomap


@pytest.mark.long
def test_modules_of_scikit_learn_keep_the_originals() -> None:
    from sklearn.manifold import _isomap

    before = _isomap.Isomap, _isomap.KernelPCA
    with accel.accelerated():
        assert (_isomap.Isomap, _isomap.KernelPCA) == before


@pytest.mark.long
def test_context_manager_is_nested_and_respects_install() -> None:
    original = sklearn.manifold.Isomap
    with accel.accelerated():
        with accel.accelerated():
            assert accel.is_installed()
        assert sklearn.manifold.Isomap is accel.Isomap
    assert sklearn.manifold.Isomap is original
    accel.install()
    with accel.accelerated():
        pass
    assert accel.is_installed()
    with pytest.raises(ZeroDivisionError), accel.accelerated():
        raise ZeroDivisionError


@pytest.mark.long
def test_threads() -> None:
    original, errors = sklearn.manifold.Isomap, []

    def work() -> None:
        try:
            for _ in range(10):
                with accel.accelerated():
                    assert sklearn.manifold.Isomap is accel.Isomap
                    accel.KernelPCA(2).fit(X)
        except Exception as error:
            errors.append(error)

    accel.reset()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sklearn.manifold.Isomap is original
    assert sum(row.calls for row in accel.report().rows) == 40


@pytest.mark.long
def test_original_objects_can_be_pickled_while_installed() -> None:
    fitted = sklearn.manifold.Isomap().fit(X)
    with accel.accelerated():
        again = pickle.loads(pickle.dumps(fitted))
    assert type(again) is type(fitted)


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_pickle_in_a_process_without_install(tmp_path: object) -> None:
    path = f"{tmp_path}/model.pickle"
    with accel.accelerated():
        models = [
            sklearn.manifold.Isomap().fit(X),
            sklearn.manifold.LocallyLinearEmbedding(n_neighbors=12).fit(X),
            sklearn.decomposition.KernelPCA(2).fit(X),
        ]
        expected = [model.transform(X[:3] + 0.1) for model in models]
    with open(path, "wb") as file:
        pickle.dump((models, X[:3] + 0.1, expected), file)
    code = (
        "import pickle, numpy as np\n"
        f"models, Y, expected = pickle.load(open({path!r}, 'rb'))\n"
        "for model, value in zip(models, expected):\n"
        "    np.testing.assert_allclose(model.transform(Y), value, atol=1e-9)\n"
        "from sklearn.manifold import Isomap\n"
        "assert Isomap.__module__ == 'sklearn.manifold._isomap'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_classes_look_like_those_of_scikit_learn() -> None:
    for original, ours in pairs():
        if not isinstance(original, type):
            continue
        estimator = ours()
        assert estimator.get_params() == original().get_params()
        assert repr(estimator) == repr(original())
        assert type(clone(estimator)) is ours
        assert type(copy.deepcopy(estimator)) is ours
        assert estimator.__sklearn_tags__() == original().__sklearn_tags__()


def test_report() -> None:
    accel.Isomap(n_neighbors=6).fit_transform(X)
    accel.LocallyLinearEmbedding(n_neighbors=12, method="modified", eigen_solver="dense").fit(X)
    rows = {(row.name, row.place): row for row in accel.report().rows}
    assert rows["Isomap.fit", "eigenscape"].calls == 1
    assert rows["Isomap.fit", "eigenscape"].seconds > 0
    left = rows["LocallyLinearEmbedding.fit", "scikit-learn"]
    assert "method='modified'" in left.reason
    assert left.reason in str(accel.report())
    assert accel.report().share == 0.5
    with pytest.raises(ValueError, match="n_neighbors"):
        accel.Isomap(n_neighbors=-1).fit(X)
    assert sum(row.calls for row in accel.report().rows) == 2
    accel.reset()
    assert not accel.report().rows


@pytest.mark.long
def test_ipython_extension() -> None:
    accel.load_ipython_extension(None)
    assert accel.is_installed()
    accel.unload_ipython_extension(None)
    assert not accel.is_installed()


@pytest.mark.process
@pytest.mark.usefixtures("forked_libraries")
def test_install_loads_little() -> None:
    """The core is loaded when a step needs it: importing all of it takes longer than 100 ms."""
    code = (
        "import sys, sklearn.manifold, sklearn.cluster, sklearn.decomposition; before = set(sys.modules);"
        "from eigenscape import accel; accel.install(); loaded = set(sys.modules) - before;"
        "core = [name for name in loaded if name.startswith('eigenscape.')"
        " and not name.startswith(('eigenscape.accel', 'eigenscape._', 'eigenscape.exceptions'))"
        " and name != 'eigenscape.estimators'];"  # the table of names only
        "assert not core, core; assert len(loaded) < 40, sorted(loaded)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_names_are_listed() -> None:
    assert np.all([name in dir(accel) for _, name, _ in REPLACED])
