"""Pages mention names that exist, the reference lists every public name, and the code of the pages runs."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import page_names
import public_names
import pytest
import topics

pytestmark = pytest.mark.pages

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", page_names.source_pages(DOCS), ids=lambda page: page.stem)
def test_names_in_backticks_exist(page):
    assert page_names.problems(page) == []


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("Isomap", False),
        ("Isomap(n_neighbors=10)", False),
        ("Isomap.embedding_", False),
        ("eigenscape.quality.neighbors_kept", False),
        ("sc.tl.place", False),
        ("PCA(n_component=2)", True),
        ("KernelPCA(approximation=Dictionary(9, tol=1))", False),
        ("KernelPCA(approximation=Dictionary(9, gamma=1))", True),
        ("PCA(n_components=2).set_fit_request(sample_weight=True)", False),
        ("PCA(n_component=2).fit(X)", True),
        ("Isomap.embeding_", True),
        ("quality.neighbours_kept", True),
        ("eigenscape.Isomaps", True),
        ("numpy.linalg.eigh", False),
    ],
)
def test_wrong_names_are_found(code, wrong):
    assert (page_names.problem(code) is not None) == wrong


def test_every_public_name_is_in_one_group():
    import eigenscape

    listed = [name for _, names in public_names.top_level().values() for name in names]
    assert len(listed) == len(set(listed))
    public = set(public_names.module_names(eigenscape))
    assert set(listed) == public
    missing = {name for _, names in public_names.GROUPS.values() for name in names} - public
    assert missing == set()


def test_every_public_name_has_an_example():
    names = ["", *(f".{name}" for name in public_names.modules() if name != "exceptions")]
    rooms = [import_module(f"eigenscape{name}") for name in names]
    without = [
        f"{room.__name__}.{name}"
        for room in rooms
        for name in public_names.module_names(room)
        if ">>>" not in (inspect.getdoc(getattr(room, name)) or "")
    ]
    assert without == []


def test_pictures_and_the_pages_that_show_them_agree():
    shown = {
        name
        for page in page_names.source_pages(DOCS)
        for name in re.findall(r"\]\((?:\.\./)?figures/([\w-]+)\.png\)", page.read_text())
    }
    drawn = {
        name
        for script in (DOCS / "_ext").glob("*figures*.py")
        for name in re.findall(r'^@figure\("([\w-]+)"\)', script.read_text(), flags=re.MULTILINE)
    }
    assert shown == drawn


def test_every_method_page_has_its_parts():
    pages = [page for page in (DOCS / "methods").glob("*.md") if page.stem != "index"]
    assert len(pages) >= 20
    for page in pages:
        text = page.read_text()
        for part in (
            "$$",
            "| keeps | loses |",
            "## Code",
            "## Parameters that matter",
            "## Cost",
            "**Papers**",
        ):
            assert part in text, (page.name, part)


def test_there_are_examples():
    examples = sorted((DOCS.parent / "examples" / "gallery").glob("plot_*.py"))
    assert len(examples) >= 25
    for example in examples:
        title, rule = example.read_text().splitlines()[1:3]
        assert rule == "=" * len(title)


def test_pages_in_no_table_of_contents_are_topics(tmp_path):
    (tmp_path / "index.md").write_text("```{toctree}\n:hidden:\n\nTheory <theory>\nguide/start\n```\n")
    for name in ("theory", "topics", "new-feature"):
        (tmp_path / f"{name}.md").write_text("# Page\n")
    assert topics.topics(tmp_path) == ["new-feature"]
    found = topics.topics(DOCS)
    assert "formats" in found
    assert not {"theory", "tutorials", "bibliography", "density"} & set(found)


def test_every_public_name_has_a_group_of_its_subject():
    assert "Others" not in public_names.top_level()
