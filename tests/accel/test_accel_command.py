"""``python -m eigenscape.accel``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

SCRIPT = """
import sys
from helper import number
from sklearn.manifold import Isomap
from sklearn.datasets import make_swiss_roll

if __name__ == "__main__":
    Isomap(n_neighbors=6).fit(make_swiss_roll(100, random_state=0)[0])
    print(Isomap.__module__, sys.argv[1:], number)
    sys.exit(7)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eigenscape.accel", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


PRINTED = "eigenscape.accel._isomap ['--n', '3'] 5\n"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """Write the script and the module that it imports to a folder."""
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "script.py").write_text(SCRIPT)
    (folder / "helper.py").write_text("number = 5")
    return folder


def test_script(inside: Path) -> None:
    done = run(inside.parent, "--verbose", "inside/script.py", "--n", "3")
    assert (done.returncode, done.stdout) == (7, PRINTED), done.stderr
    assert "Isomap.fit" in done.stderr


@pytest.mark.usefixtures("forked_python")
def test_module(inside: Path) -> None:
    done = run(inside, "-m", "script", "--n", "3")
    assert (done.returncode, done.stdout) == (7, PRINTED), done.stderr
    assert "Isomap.fit" not in done.stderr


@pytest.mark.usefixtures("forked_python")
def test_usage(tmp_path: Path) -> None:
    assert run(tmp_path, "--help").stdout.startswith("usage: python -m eigenscape.accel")
    assert run(tmp_path).returncode == 2
    missing = run(tmp_path, "missing.py")
    assert missing.returncode == 1
    assert "no such script: missing.py" in missing.stderr


@pytest.mark.usefixtures("forked_python")
def test_report_counts_threads_that_the_script_leaves(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import threading, time\n"
        "from sklearn.decomposition import KernelPCA\n"
        "def work():\n"
        "    time.sleep(0.2)\n"
        "    KernelPCA(1).fit([[0.0], [1.0], [3.0]])\n"
        "threading.Thread(target=work).start()\n"
    )
    done = run(tmp_path, "--verbose", "script.py")
    assert done.returncode == 0, done.stderr
    assert "KernelPCA.fit" in done.stderr


def test_safe_path_keeps_the_search_path(tmp_path: Path) -> None:
    code = "import sys; print(sys.path)"
    (tmp_path / "script.py").write_text(code)
    command = [sys.executable, "-P"]
    paths = [
        subprocess.run([*command, *rest, "script.py"], cwd=tmp_path, capture_output=True, check=True).stdout
        for rest in ([], ["-m", "eigenscape.accel"])
    ]
    assert paths[0] == paths[1]
