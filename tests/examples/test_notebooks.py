"""The notebooks are valid and run from the first cell to the last, where scanpy and the data are there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.pages

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
DATA = {"pbmc3k": "pbmc3k.npz", "paul15_mapping": "paul15_subset.npz"}
SMALL = {"million_images": 2000, "fingerprint_index": 10}  # without data; rows in the tests


def code_cells(notebook):
    cells = json.loads(notebook.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_every_notebook_is_known():
    assert {notebook.stem for notebook in NOTEBOOKS} == {*DATA, *SMALL}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_hold_code_and_no_output(notebook):
    content = json.loads(notebook.read_text())
    assert content["nbformat"] == 4
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    assert not any(cell.get("outputs") for cell in content["cells"])
    for source in code_cells(notebook):
        compile(source, str(notebook), "exec")


@pytest.mark.parametrize("notebook", [n for n in NOTEBOOKS if n.stem in DATA], ids=lambda path: path.stem)
def test_notebooks_run(notebook):
    if find_spec("scanpy") is None:
        pytest.skip("scanpy is not installed (pip install scanpy)")
    folder = os.environ.get("EIGENSCAPE_DATA")
    if folder is None or not (Path(folder) / DATA[notebook.stem]).exists():
        pytest.skip(f"EIGENSCAPE_DATA names no folder with {DATA[notebook.stem]}")
    script = "\n\n".join(code_cells(notebook))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("notebook", [n for n in NOTEBOOKS if n.stem in SMALL], ids=lambda path: path.stem)
@pytest.mark.product
def test_notebooks_without_data_run_at_a_small_size(notebook):
    script = "\n\n".join(code_cells(notebook))
    environment = {**os.environ, "EIGENSCAPE_TUTORIAL_ROWS": str(SMALL[notebook.stem])}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
