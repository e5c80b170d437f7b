"""Available memory: limits of the process and of containers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from eigenscape import MixturePPCA
from eigenscape._memory import _container_bytes, available_bytes
from eigenscape.exceptions import NotConvergedWarning

resource = pytest.importorskip("resource")
needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


def group(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_the_least_limit_of_a_group_and_its_parents_counts(tmp_path):
    root = tmp_path / "cgroup"
    group(root, memory__max="max\n", memory__current="7\n")
    group(root / "a", memory__max="5000\n", memory__current="1500\n", memory__stat="inactive_file 500\nx 1\n")
    group(root / "a" / "b", memory__max="9000\n", memory__current="1000\n")
    own = tmp_path / "own"
    own.write_text("0::/a/b\n")
    assert min(_container_bytes(root, own)) == 4000  # of a; b leaves 8000
    other = tmp_path / "other"
    other.write_text("0::/\n")
    assert list(_container_bytes(root, other)) == []


def test_groups_of_version_1_have_limits(tmp_path):
    root, own = tmp_path / "cgroup", tmp_path / "own"
    limits = {"memory__limit_in_bytes": "3000\n", "memory__usage_in_bytes": "1000\n"}
    group(root / "memory" / "docker" / "c", **limits, memory__stat="total_inactive_file 200\n")
    none = {"memory__limit_in_bytes": f"{2**63 - 2**12}\n", "memory__usage_in_bytes": "1000\n"}
    group(root / "memory", **none)
    own.write_text("5:cpu,cpuacct:/docker/c\n4:memory:/docker/c\n")
    assert list(_container_bytes(root, own)) == [2200]


def test_the_group_of_a_container_is_the_root_that_it_sees(tmp_path):
    """The path of the group is that of the host, and does not exist within the container."""
    root, own = tmp_path / "cgroup", tmp_path / "own"
    group(root, memory__max="3000\n", memory__current="1000\n")
    own.write_text("0::/../../docker/c\n")
    assert min(_container_bytes(root, own)) == 2000


def test_a_small_eigenproblem_does_not_ask_for_the_free_memory(monkeypatch):
    """EM solves thousands of problems of a few variables; reading the limits took most of its time."""
    asked = []
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: asked.append(1) or 2**40)
    with pytest.warns(NotConvergedWarning):
        MixturePPCA(2, n_components=1, max_iter=20).fit(np.random.default_rng(0).normal(size=(300, 2)))
    assert len(asked) < 20


def run_limited(code: str, limit: int) -> subprocess.CompletedProcess:
    start = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
    return subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.process
@needs_proc
def test_a_limit_of_the_address_space_is_honoured():
    limit = 3 * 2**30
    code = "from eigenscape._memory import available_bytes; print(available_bytes())"
    found = int(run_limited(code, limit).stdout)
    assert found <= limit - 2**20
    assert found >= min(limit / 2, available_bytes() / 2)


@pytest.mark.process
@needs_proc
@pytest.mark.usefixtures("forked_python")
def test_a_fit_that_exceeds_the_limit_fails_with_a_remedy():
    """And not with the MemoryError of an allocation."""
    code = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
from eigenscape import OrdinalMDS
try:
    OrdinalMDS(max_iter=1).fit(np.random.default_rng(0).random((9000, 2)))
except Exception as error:
    print(type(error).__name__, error)
"""
    found = run_limited(code, 4 * 2**30).stdout
    assert found.startswith("NotEnoughMemoryError")
    assert "fit a sample" in found
