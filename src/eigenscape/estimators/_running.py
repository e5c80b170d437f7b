"""The context in which estimators compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eigenscape._progress import reporting
from eigenscape._threads import kept_threads, single_blas_thread
from eigenscape.estimators._validation import check_jobs
from eigenscape.exceptions import NotConvergedError
from eigenscape.solvers.solve import failures


@contextmanager
def running(estimator: Any) -> Iterator[list[NotConvergedError]]:
    """Report progress if ``verbose``, and follow the thread policy (:mod:`eigenscape._threads`).

    Failures of eigensolvers are raised at the end; until then they are in the list.
    """
    n_jobs = getattr(estimator, "n_jobs", None)
    check_jobs(n_jobs)
    found: list[NotConvergedError] = []
    token = failures.set(found)
    try:
        with reporting(estimator.verbose), single_blas_thread(), kept_threads(n_jobs):
            yield found
    finally:
        failures.reset(token)
        if found:  # the cause of any other error
            raise found[0]
