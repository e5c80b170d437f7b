"""The context in which estimators compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eigenscape._progress import reporting
from eigenscape._threads import kept_threads, single_blas_thread
from eigenscape.estimators._validation import check_jobs


@contextmanager
def running(estimator: Any) -> Iterator[None]:
    """Report progress if ``verbose``, and follow the thread policy (:mod:`eigenscape._threads`)."""
    n_jobs = getattr(estimator, "n_jobs", None)
    check_jobs(n_jobs)
    with reporting(estimator.verbose), single_blas_thread(), kept_threads(n_jobs):
        yield
