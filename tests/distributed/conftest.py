"""Worker processes that are forked from a process which has imported the package."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import dask
import pytest
from distributed.utils import get_mp_context

#: What workers import.
_MODULES = (
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
def forked_workers() -> Iterator[None]:
    """Fork the workers of local clusters: a worker that is spawned takes three seconds to import the package.

    ``test_an_interrupt_is_quiet`` and ``test_a_script_without_a_main_part_is_told_so`` spawn theirs, as users
    do.
    """
    if sys.platform != "linux":
        yield
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        # After the call of get_mp_context, which sets a list of its own the first time.
        get_mp_context().set_forkserver_preload(list(_MODULES))
        yield
