"""Random arguments neither crash nor hang a loop; each loop runs in a child process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eigenscape._native import loops

pytestmark = [pytest.mark.process, pytest.mark.long]

CALLS = int(os.environ.get("EIGENSCAPE_CALLS", "500"))
SEED = int(os.environ.get("EIGENSCAPE_SEED", "0"))


def fuzz(*arguments, **options):
    """Run ``native.fuzz`` in a process whose loops may not allocate much."""
    limits = "allocator_may_return_null=1:max_allocation_size_mb=2048"
    environment = {**os.environ, "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:{limits}".lstrip(":")}
    command = [sys.executable, "-X", "faulthandler", "-m", "native.fuzz", *map(str, arguments)]
    folder = Path(__file__).parents[1]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Arguments of the tests of the loops."""
    path = tmp_path_factory.mktemp("corpus") / "arguments"
    fuzz("--record", path, check=True)
    return path


@pytest.mark.parametrize("name", loops.arguments)
def test_random_arguments(name, corpus):
    done = fuzz(name, "--seed", SEED, "--calls", CALLS, "--corpus", corpus)
    *_, before, last = [None, None, *done.stdout.split()]
    repeat = f"native.fuzz {name} --seed {SEED} --only {last}"
    assert done.returncode == 0, f"{repeat} ended with {done.returncode}\n{done.stderr[-4000:]}"
    assert before == "returned"
    assert int(last) > 0, (
        f"no arguments pass the checks of {name}; compare it with a reference in tests/native"
    )
