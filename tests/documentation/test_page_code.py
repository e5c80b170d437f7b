"""The Python code of the guide, the method pages and the migration pages runs and prints what is shown."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

pytestmark = pytest.mark.pages

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
PAGES = [
    page
    for folder in ("guide", "methods", "migrate")
    for page in sorted((DOCS / folder).glob("*.md"))
    if BLOCK.search(page.read_text())
]


def run(page):
    """Run the blocks of a page one after another in one namespace."""
    namespace = {"__name__": "page"}
    for kind, source in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(source, str(page), "exec"), namespace)
            continue
        test = doctest.DocTestParser().get_doctest(source, namespace, page.name, str(page), 0)
        failures, _ = doctest.DocTestRunner(verbose=False).run(test, clear_globs=False)
        assert failures == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pages show cases that warn
        run(page)
    plt.close("all")


def test_there_are_pages():
    assert len(PAGES) > 10
