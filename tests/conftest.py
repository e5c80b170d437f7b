"""Configuration shared by all tests."""

from __future__ import annotations

import gc
import io
import logging
import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import processes
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings
from preloaded import Clients, open_server, replaced_python
from threadpoolctl import threadpool_limits

# Once: pytest's option log_level sets the level again six times a test, which takes half a millisecond.
os.environ.setdefault("MPLBACKEND", "agg")
logging.getLogger().setLevel(logging.INFO)
logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each request hides what failed

#: As in covering.py, which imports the package: a package that cannot be imported must fail the tests, not
#: this file.
PRODUCT = os.environ.get("EIGENSCAPE_PRODUCT", "") not in ("", "0")

# ``make test`` draws the same examples on every machine; ``make fuzz`` draws new ones. An example that ever
# failed is kept with ``@example`` at its test.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100 if PRODUCT else 40)
settings.register_profile("random", derandomize=False, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in a random order")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without the garbage collector, which would look at the same millions of objects again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Leave out the search for examples in docstrings of tests, which have none; the package has."""
    return [collector for collector in (yield) if not isinstance(collector, DoctestModule)]


def pytest_collection_modifyitems(config, items):
    if not PRODUCT:
        whole = [item for item in items if item.get_closest_marker("product")]
        config.hook.pytest_deselected(items=whole)
        items[:] = [item for item in items if not item.get_closest_marker("product")]
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)


# --- tests that start processes are marked ------------------------------------------------------------------

processes.install()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from processes.refuse_unmarked(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from processes.refuse_unmarked(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    return (yield from processes.refuse_unmarked(item))


# Scripts start background processes with SIGINT ignored, which commands under test would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def single_threaded_blas():
    """Run BLAS on one thread: tests run in parallel and on small matrices.

    Setting the limits takes as long as a typical test, so they are set once, after the libraries are loaded.
    """
    import scipy.linalg  # noqa: F401
    import sklearn.cluster  # noqa: F401

    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def python_clients():
    """Programs that fork a Python with modules loaded; None where a process is not safely forked."""
    with open_server() if sys.platform == "linux" else nullcontext(Clients(None, None)) as clients:
        yield clients


@pytest.fixture
def forked_python(python_clients):
    """Fork the Python processes of a test, see preloaded.py."""
    with replaced_python(python_clients.package):
        yield


@pytest.fixture(scope="module")
def forked_python_of_module(python_clients):
    """Fork the Python processes of all tests of a module, and of its fixtures."""
    with replaced_python(python_clients.package):
        yield


@pytest.fixture
def forked_libraries(python_clients):
    """Fork the Python processes of a test without a module of the package."""
    with replaced_python(python_clients.libraries):
        yield


@pytest.fixture
def readers_here(monkeypatch):
    """Let readers of child processes answer in this process: starting one takes a second."""
    from eigenscape.app.io import child

    @contextmanager
    def start(module, argument):
        buffer = io.BytesIO()
        child.send(child.Pipe(buffer), child.compute(module, argument))
        buffer.seek(0)
        yield SimpleNamespace(stdout=buffer, kill=lambda: None)

    monkeypatch.setattr(child, "_start", start)


@pytest.fixture
def uninstalled():
    """Forget earlier calls, and leave scikit-learn as it was, whatever a test of eigenscape.accel does."""
    from eigenscape import accel

    accel.reset()
    yield
    accel.uninstall()


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close the figures of a test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def empty_charts(monkeypatch):
    """Leave out the drawings of matplotlib, which take most of the time of a report.

    ``test_numbers_shown_equal_the_measures`` draws each chart, ``test_every_kind_of_model_has_a_report``
    those of several models.
    """
    for module in ("_charts", "comparison"):
        monkeypatch.setattr(f"eigenscape.app.report.{module}.image", lambda ax: "data:,")  # noqa: ARG005


#: What workers of dask import.
_WORKER_MODULES = (
    "pytest",  # workers import the running program
    "distributed.nanny",
    "distributed.worker",
    "distributed.cli.dask_scheduler",
    "distributed.cli.dask_worker",
    "dask.array",
    "dask.dataframe",
    "pyarrow.parquet",
    "sklearn.cluster",
    "sklearn.manifold",
    "eigenscape.estimators",
    "eigenscape.distributed",
    "eigenscape.app.io",
)


@pytest.fixture(scope="session")
def forked_workers():
    """Fork the workers of local clusters: a worker that is spawned takes three seconds to import the package.

    ``test_an_interrupt_is_quiet`` and ``test_a_script_without_a_main_part_is_told_so`` spawn theirs, as users
    do.
    """
    if sys.platform != "linux":
        yield
        return
    import dask
    from distributed.utils import get_mp_context

    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        # After the call of get_mp_context, which sets a list of its own the first time.
        get_mp_context().set_forkserver_preload(list(_WORKER_MODULES))
        yield
