"""Fuzzing of readers guided by the lines they reach, with atheris: ``make fuzz-files``.

Usage: python -m fuzz.coverage_guided FORMAT [SECONDS [SEED]]. Inputs start from the valid files of
``seeds.py``. A reader that raises an error of another class, gives another table in chunks than whole, hangs
or crashes ends the run with an error, and its input is stored in ``build``. Formats that are parsed in a
child process are too slow for this.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from importlib import import_module
from pathlib import Path

_BUILD = Path(__file__).parents[2] / "build"
_FORMATS = ("csv", "tsv", "txt", "edges", "distances", "parquet", "arrow", "npy", "npz")


def main(kind: str, seconds: int = 60, seed: int = 1) -> None:
    """Read mutated files of one format for a number of seconds."""
    import atheris

    with atheris.instrument_imports(include=["eigenscape.app.io"]):
        import_module("eigenscape.app.io.reading")
    from fuzz import file_cases
    from fuzz.seeds import SEEDS

    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="eigenscape-fuzz-"))
    corpus, path = folder / "corpus", folder / f"f.{file_cases.SUFFIX.get(kind, kind)}"
    corpus.mkdir()
    for number, content in enumerate(SEEDS[kind]()):
        (corpus / str(number)).write_bytes(content)

    def one_input(data: bytes) -> None:
        file_cases.write(path, data, kind)
        outcome = file_cases.read_twice(path, kind, "keep")
        assert outcome in ("read", "refused"), outcome

    _BUILD.mkdir(exist_ok=True)
    limits = [f"-max_total_time={seconds}", f"-seed={seed}", "-timeout=60", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={_BUILD}/", str(corpus)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in _FORMATS:
        sys.exit(f"choose a format: {', '.join(_FORMATS)}")
    main(sys.argv[1], *map(int, sys.argv[2:]))
