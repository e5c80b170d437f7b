"""Every work cited in the source has an entry in docs/bibliography.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CITATION = re.compile(r"\b((?:de )?[A-Z][\w-]+ (?:et al\.|and [A-Z][\w-]+) (?:19|20)\d\d)\b")


@pytest.mark.long
def test_every_citation_has_an_entry():
    bibliography = (ROOT / "docs" / "bibliography.md").read_text()
    cited = {
        (" ".join(match.split()), path.name)
        for folder in ("src", "experiments")
        for path in (ROOT / folder).rglob("*.py")
        for match in CITATION.findall(re.sub(r"[\s#]+", " ", path.read_text().replace("(", "")))
    }
    five = {"Bengio et al. 2004", "Ouimet and Bengio 2005", "Belkin and Niyogi 2003"}
    missing = sorted(entry for entry in cited if entry[0] not in bibliography and entry[0] not in five)
    assert len(cited) > 10
    assert not missing
