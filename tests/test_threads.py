"""The thread policy: how many threads run, and that nothing global remains changed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from eigenscape import KernelPCA, _threads
from eigenscape._threads import kept_threads, n_threads, parallel_map, run_nested, single_blas_thread


@pytest.fixture
def four_cores(monkeypatch):
    """A machine with four cores on which BLAS uses them all."""
    monkeypatch.setattr(_threads, "_cores", lambda: 4)
    with threadpool_limits(4, user_api="blas"):
        yield


def test_none_stands_for_all_cores(four_cores):
    assert [n_threads(jobs) for jobs in (None, -1, 1, 2, 64)] == [4, 4, 1, 2, 4]


def test_a_limit_of_blas_is_respected(four_cores):
    with threadpool_limits(2, user_api="blas"):
        assert n_threads() == 2
        assert n_threads(3) == 3  # a number is what the user asked for
        with single_blas_thread():
            assert n_threads() == 2  # our own limit of BLAS is not a limit of our threads


def test_one_thread_within_workers(four_cores):
    assert list(parallel_map(lambda _: n_threads(), range(6), 3)) == [1] * 6
    assert (
        joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(n_threads)() for _ in range(3))
        == [1] * 3
    )
    assert run_nested(n_threads) == 1
    assert n_threads() == 4


def test_map_keeps_the_order_and_reads_few_ahead():
    drawn = []

    def items():
        for number in range(100):
            drawn.append(number)
            yield number

    results = parallel_map(lambda number: number**2, items(), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    assert len(drawn) < 30
    results.close()
    assert list(parallel_map(abs, [-1], 2)) == [1]
    assert list(parallel_map(abs, [], 2)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_ends_the_loop(jobs):
    calls = []

    def fail(number):
        calls.append(number)
        raise ValueError(f"item {number}")

    with pytest.raises(ValueError, match="item 0"):
        list(parallel_map(fail, range(1000), jobs))
    assert len(calls) < 20


def test_threads_are_kept_within_a_block_only(four_cores):
    def names():
        return {*parallel_map(lambda _: threading.current_thread(), range(40), 2)}

    with kept_threads():
        threads = names() | names()
        with kept_threads():
            threads |= names()
        with pytest.raises(ZeroDivisionError):
            list(parallel_map(lambda number: 1 // number, range(40), 2))
        threads |= names()
        assert len(threads) <= 2
    assert not any(thread.is_alive() for thread in threads)
    assert not names() & threads


@pytest.fixture
def run_code(forked_python):
    """Function that runs code in a process of its own, in which BLAS and OpenMP use two threads or as many as
    given; returns what the code prints."""

    def run(code, n_threads=2):
        # Not by OMP_NUM_THREADS, since a forked process has loaded the libraries already.
        start = f"""
            import sklearn.cluster, threadpoolctl
            from eigenscape import _threads

            _threads._blas.__init__()  # forget that this process was forked itself
            libraries = threadpoolctl.ThreadpoolController().lib_controllers
            _threads._set_threads((library, {n_threads}) for library in libraries)
        """
        command = [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(code)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        return done.stdout.split()

    return run


@pytest.mark.process
def test_overlapping_calls_restore_blas(run_code):
    """The first call that ends must not lift the limit of the others, nor the last one keep it."""
    code = """
        import threading
        import numpy, scipy.linalg
        from threadpoolctl import threadpool_info
        from eigenscape._threads import single_blas_thread

        def threads():
            return max(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")

        first, second, third, end = (threading.Event() for _ in range(4))

        def outer():
            with single_blas_thread():
                first.set()
                second.wait(10)
            third.set()
            end.wait(10)  # alive until the end, so that its control of BLAS does not end by itself

        print(threads())
        thread = threading.Thread(target=outer)
        thread.start()
        first.wait(10)
        with single_blas_thread():
            second.set()
            third.wait(10)
            print(threads())
        print(threads())
        end.set()
        thread.join()
    """
    assert run_code(code) == ["2", "1", "2"]


@pytest.mark.process
def test_fits_in_several_threads_restore_blas(run_code):
    code = """
        from concurrent.futures import ThreadPoolExecutor
        import numpy as np
        from threadpoolctl import threadpool_info
        from eigenscape import KernelPCA, LaplacianEigenmaps

        X = np.random.default_rng(0).standard_normal((300, 20))
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda kind: kind(2).fit(X).transform(X), [KernelPCA, LaplacianEigenmaps] * 4))
            print(*{library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})
    """
    assert run_code(code) == ["2"]


@pytest.mark.process
def test_never_more_running_threads_than_cores(run_code):
    """Workers of BLAS and loops together, sampled while estimators run in a process of their own."""
    code = """
        import os, threading, time
        from pathlib import Path
        import joblib, numpy as np
        from eigenscape import Isomap, KernelPCA, LaplacianEigenmaps, LocallyLinearEmbedding

        X = np.random.default_rng(0).standard_normal((1500, 40)).astype(np.float32)
        counts, done = [], threading.Event()

        def sample():
            own = threading.get_native_id()
            while not done.is_set():
                running = 0
                for task in Path("/proc/self/task").iterdir():
                    try:
                        state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                    except OSError:
                        continue
                    running += state == "R" and int(task.name) not in (own, os.getpid())
                counts.append(running)
                time.sleep(0.002)

        watcher = threading.Thread(target=sample)
        watcher.start()
        for estimator in (KernelPCA, LaplacianEigenmaps, LocallyLinearEmbedding, Isomap):
            estimator(n_components=2).fit(X).transform(X[:200] + 0.1)
        done.set()
        watcher.join()
        # Without the main thread, which distributes work beside the workers and on a busy machine waits for a
        # core; a thread that waits for a core is "running", too.
        print(int(np.quantile(counts, 0.95)), len(counts), joblib.cpu_count())
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("states of threads are read from /proc")
    most, samples, cores = map(int, run_code(code, 64))
    assert samples > 10
    assert most <= cores


def test_a_number_of_threads_holds_for_loops_within_a_block(four_cores):
    with kept_threads(3):
        assert n_threads() == 3
        with kept_threads():
            assert n_threads() == 3
        with kept_threads(1):
            assert (n_threads(), n_threads(2)) == (1, 2)
        assert n_threads() == 3
    assert n_threads() == 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_transform_uses_the_threads_that_the_estimator_was_given(n_jobs, four_cores, monkeypatch):
    counts = []
    pool = _threads.ThreadPoolExecutor

    def counted(count, *arguments):
        counts.append(count)
        return pool(count, *arguments)

    monkeypatch.setattr(_threads, "ThreadPoolExecutor", counted)
    X = np.random.default_rng(0).standard_normal((1100, 30))
    model = KernelPCA(2, n_jobs=n_jobs).fit(X)
    placed = model.transform(X[:600])
    assert set(counts) == ({2} if n_jobs == 2 else set())
    np.testing.assert_array_equal(placed, KernelPCA(2, n_jobs=3).fit(X).transform(X[:600]))


FITS = """
    import warnings
    import numpy as np
    import eigenscape
    from eigenscape import estimators

    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).standard_normal((60, 4))
    needs_more = (
        "AlignedSpectralMaps",
        "CompactMap",
        "DistortionDiscriminantAnalysis",
        "OrientedPCA",
        "ProjectionPursuitRegressor",
    )
    classes = [getattr(estimators, name) for name in estimators.__all__ if name not in needs_more]
    classes = [cls for cls in classes if hasattr(cls, "transform")]

    def fit(cls):
        return cls().fit(X).transform(X)
"""


@pytest.mark.process
@pytest.mark.product
def test_overlapping_fits_of_all_estimators_restore_all_pools(run_code):
    """Number of threads of every BLAS and OpenMP library, also after fits that fail."""
    code = """
        from concurrent.futures import ThreadPoolExecutor
        from threadpoolctl import threadpool_info

        def counts():
            return sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())

        def fail(cls):
            try:
                cls(n_components=1000).fit(X)
            except (TypeError, ValueError):
                pass

        for cls in classes:
            fit(cls)  # loads all libraries
        before = counts()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda cls: (fit(cls), fail(cls)), classes))
            print(counts() == before, len(classes) > 15, {count for _, count in before})
    """
    assert run_code(textwrap.dedent(FITS) + textwrap.dedent(code)) == ["True", "True", "{2}"]


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
def test_fits_after_a_fork(run_code):
    """k-means of scikit-learn would wait in a child for OpenMP threads that only the parent has."""
    code = """
        import os, time
        from sklearn.cluster import KMeans

        KMeans(3, n_init=1).fit(np.random.default_rng(0).standard_normal((3000, 4)))  # starts threads
        classes = [estimators.SpectralClustering, estimators.MixturePPCA, estimators.KernelPCA]
        ended = []
        for cls in classes:
            fit(cls)
            child = os.fork()
            if child == 0:
                os._exit(0 if np.isfinite(fit(cls)).all() else 1)
            for _ in range(3000):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    break
                time.sleep(0.01)
            else:
                os.kill(child, 9)
                os.waitpid(child, 0)
                status = "hang"
            ended.append(status)
        print(*ended)
    """
    assert run_code(textwrap.dedent(FITS) + textwrap.dedent(code)) == ["0", "0", "0"]
