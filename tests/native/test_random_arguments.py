"""Random arguments neither crash nor hang a loop; the loops run in child processes.

They are part of ``make test-all`` and ``make sanitize``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from covering import PRODUCT

from eigenscape._native import loops

pytestmark = [
    pytest.mark.process,
    pytest.mark.long,
    pytest.mark.skipif(not PRODUCT and "EIGENSCAPE_CALLS" not in os.environ, reason="run by make sanitize"),
]

#: Calls of each loop, and child processes among which the loops are divided.
CALLS, PROCESSES = int(os.environ.get("EIGENSCAPE_CALLS", "500")), 6
SEED = int(os.environ.get("EIGENSCAPE_SEED", "0"))


def fuzz(*arguments, **options):
    """Run ``native.fuzz`` in a process whose loops may not allocate much."""
    limits = "allocator_may_return_null=1:max_allocation_size_mb=2048"
    environment = {**os.environ, "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:{limits}".lstrip(":")}
    command = [sys.executable, "-X", "faulthandler", "-m", "native.fuzz", *map(str, arguments)]
    folder = Path(__file__).parents[1]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, **options)


def test_random_arguments(tmp_path):
    corpus = tmp_path / "arguments"
    fuzz("--record", corpus, check=True)  # the arguments of the tests of the loops
    for first in range(PROCESSES):
        check_loops(list(loops.arguments)[first::PROCESSES], corpus)


def check_loops(names, corpus):
    done = fuzz(*names, "--seed", SEED, "--calls", CALLS, "--corpus", corpus)
    lines = done.stdout.splitlines()
    repeat = f"native.fuzz --seed {SEED} {lines[-1] if lines else names}"
    assert done.returncode == 0, f"{repeat} ended with {done.returncode}\n{done.stderr[-4000:]}"
    returned = dict(line.split()[1:] for line in lines if line.startswith("returned"))
    assert list(returned) == names
    unused = [name for name in names if returned[name] == "0"]
    assert not unused, (
        f"no arguments pass the checks of {unused}; compare them with a reference in tests/native"
    )
