"""Child processes import nothing from the working folder or the folder of the script."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

import eigenscape
from eigenscape.app.io import child
from eigenscape.io import read

SOURCE = Path(eigenscape.__file__).parent
#: Every module of the standard library and every installed package, so all that a child imports.
NAMES = sorted({*sys.stdlib_module_names, *importlib.metadata.packages_distributions(), "eigenscape"})


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Work in a folder with a file for each importable name; return a function that lists those executed."""
    marks = tmp_path / "executed"
    marks.mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    for name in filter(str.isidentifier, NAMES):
        (folder / f"{name}.py").write_text(f"open({str(marks / name)!r}, 'w').close()\n")
    monkeypatch.chdir(folder)
    path = ["", str(folder), *sys.path]  # as in a notebook, and as in a script of this folder
    main = SimpleNamespace(__file__=str(folder / "script.py"))
    modules = {**sys.modules, "__main__": main}
    seen = SimpleNamespace(path=path, modules=modules, executable=sys.executable)
    monkeypatch.setattr(child, "sys", seen)
    return lambda: sorted(os.listdir(marks))


@pytest.mark.process
def test_planted_files_are_executed_by_a_process_that_imports_them(planted):
    """The files of the other tests work: Python adds the working folder unless it is told not to."""
    import subprocess

    subprocess.run([sys.executable, "-c", "import json"], check=False, stderr=subprocess.DEVNULL)
    assert "json" in planted()


@pytest.mark.process
def test_matrix_market_files(planted):
    X = sparse.random_array((6, 4), density=0.5, rng=np.random.default_rng(0), format="csr")
    mmwrite("data.mtx", X)
    np.testing.assert_allclose(read("data.mtx").array.toarray(), X.toarray())
    assert planted() == []


@pytest.mark.process
def test_annotated_files(planted):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    X = np.random.default_rng(0).normal(size=(6, 4))
    anndata.AnnData(X).write_h5ad("data.h5ad")
    np.testing.assert_allclose(read("data.h5ad").array, X)
    assert planted() == []


@pytest.mark.process
def test_jobs_of_the_explorer(planted, tmp_path):
    from eigenscape.app.explore.jobs import JobRunner

    X = np.random.default_rng(0).normal(size=(30, 4))
    np.save(tmp_path / "X.npy", X)
    runner = JobRunner(tmp_path)
    request = {"standardize": False, "parameters": {"n_components": 2}, "target": str(tmp_path / "m1")}
    job = runner.submit("fit", {**request, "method": "pca"})
    results = []
    for _, result in runner.run():
        results += [] if result is None else [result]
        if results or job.error:
            runner.close()
    assert len(results) == 1, job
    found = np.load(tmp_path / "m1" / "coordinates.npy")
    np.testing.assert_allclose(found, eigenscape.PCA(2).fit_transform(X), atol=1e-12)
    assert planted() == []


@pytest.mark.process
def test_workers_of_a_local_cluster(planted):
    pytest.importorskip("distributed", reason="needs the extra dask")
    from eigenscape.distributed import cluster

    with cluster._safe_path():
        process = cluster.get_context("spawn").Process(target=int)
        process.start()
        process.join()
    assert process.exitcode == 0
    assert "PYTHONSAFEPATH" not in os.environ
    assert planted() == []


@pytest.mark.process
@pytest.mark.dask
def test_workers_of_a_local_cluster_that_are_started_again(planted, monkeypatch):
    pytest.importorskip("distributed", reason="needs the extra dask")
    from eigenscape.distributed import cluster

    for name in ("PYTHONHASHSEED", "PYTHONSAFEPATH"):  # dask sets them in this process; they are restored
        monkeypatch.setenv(name, "0")
        monkeypatch.delenv(name)
    with cluster._local_client() as client:
        started = client.run(os.getpid)
        os.kill(next(iter(started.values())), signal.SIGKILL)
        while len(now := client.run(os.getpid, on_error="ignore")) < len(started) or now == started:
            client.wait_for_workers(len(started), timeout=60)
    assert planted() == []


def test_search_path(tmp_path, monkeypatch):
    folders = {name: tmp_path / name for name in ("work", "script", "other")}
    for folder in folders.values():
        folder.mkdir()
    (tmp_path / "link").symlink_to(folders["work"], target_is_directory=True)
    work, script, other = map(str, folders.values())
    monkeypatch.chdir(work)
    main = SimpleNamespace(__file__=str(folders["script"] / "run.py"))
    path = ["", script, work, str(tmp_path / "link"), other, str(tmp_path / "missing")]
    monkeypatch.setattr(child, "sys", SimpleNamespace(path=path, modules={"__main__": main}))
    monkeypatch.setenv("PYTHONPATH", os.pathsep + "." + os.pathsep + other)
    assert child._search_path() == [other, str(tmp_path / "missing"), str(SOURCE.parent)]
    monkeypatch.setenv("PYTHONPATH", work)  # an explicit choice
    assert child._search_path() == [work, str(tmp_path / "link"), *path[4:], str(SOURCE.parent)]


def test_the_package_in_the_working_folder_is_found_after_installed_packages(monkeypatch):
    monkeypatch.chdir(SOURCE.parent)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    path = ["", str(SOURCE.parent), "/site-packages"]
    monkeypatch.setattr(child, "sys", SimpleNamespace(path=path, modules={}))
    assert child._search_path() == ["/site-packages", str(SOURCE.parent)]


#: Functions that start a process, and the name of the interpreter.
STARTS = re.compile(
    r"(subprocess\.(Popen|run|call|check_\w+|getoutput|getstatusoutput)"
    r"|os\.(system|popen|fork\w*|exec\w+|spawn\w+|posix_spawn\w*)|(multiprocessing\.)?get_context"
    r"|(multiprocessing\.)?(Process|Pool)|(\w+\.)*(ProcessPoolExecutor|Parallel|Popen)"
    r"|asyncio\.create_subprocess_\w+)"
)


def _starts(tree: ast.AST, function: str = "") -> list[str]:
    """Return the functions in which a syntax tree starts a process or names the interpreter."""
    if isinstance(tree, ast.FunctionDef):
        function = tree.name
    if isinstance(tree, ast.Call):
        starts = STARTS.fullmatch(ast.unparse(tree.func)) is not None
    else:
        starts = isinstance(tree, ast.Attribute) and tree.attr == "executable"
    found = [function] * starts
    return found + [start for node in ast.iter_child_nodes(tree) for start in _starts(node, function)]


def test_python_is_started_in_one_place():
    """A process is started by ``start_python``, so that the working folder is not on its search path."""
    assert _starts(ast.parse("def f():\n    return subprocess.run([sys.executable])")) == ["f", "f"]
    assert _starts(ast.parse("def g(p: subprocess.Popen[str]):\n    return Popen(['python'])")) == ["g"]
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in SOURCE.rglob("*.py")}
    found = {
        (name, function)
        for name, text in texts.items()
        if STARTS.search(text) or "executable" in text  # few files, and only these take time
        for function in _starts(ast.parse(text))
    }
    assert found == {
        ("app/io/child.py", "start_python"),
        ("distributed/cluster.py", "_check_start"),  # within _safe_path
    }
