"""Tests that start a process without a mark fail, in each phase and however the process is started."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from types import SimpleNamespace

import processes
import pytest

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork"),
]


def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def posix_spawn():
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def multiprocess(method):
    process = multiprocessing.get_context(method).Process(target=os.getpid)
    process.start()
    process.join()


STARTS = {
    "subprocess": lambda: subprocess.run(["true"], check=True),
    "fork": fork,
    "posix_spawn": posix_spawn,
    "system": lambda: os.system("true"),
    "multiprocessing-fork": lambda: multiprocess("fork"),
    "multiprocessing-spawn": lambda: multiprocess("spawn"),
}


def phase(action, marks=(), fixtures=()):
    """Run a phase of a test with these marks."""
    item = SimpleNamespace(
        iter_markers=lambda: [SimpleNamespace(name=name) for name in marks], fixturenames=fixtures
    )
    hook = processes.refuse_unmarked(item)
    next(hook)
    action()
    with pytest.raises(StopIteration):
        hook.send(None)


@pytest.mark.parametrize("how", STARTS)
def test_a_process_is_seen_and_allowed_with_a_mark(how):
    with pytest.raises(pytest.fail.Exception, match=r"starts .*; mark the test with pytest\.mark\.process"):
        phase(STARTS[how], marks=["long"])
    phase(STARTS[how], marks=["long", "process"])


def test_other_work_needs_no_mark():
    phase(lambda: None)
    phase(lambda: processes._note("subprocess.Popen", ("lscpu",)))


def test_fixtures_with_processes_need_a_mark():
    with pytest.raises(pytest.fail.Exception, match="starts forked_workers"):
        phase(lambda: None, fixtures=["tmp_path", "forked_workers"])


def test_every_phase_is_watched(request):
    manager = request.config.pluginmanager
    for name in ("setup", "call", "teardown"):
        hooks = getattr(manager.hook, f"pytest_runtest_{name}").get_hookimpls()
        assert any("refuse_unmarked" in hook.function.__code__.co_names for hook in hooks), name
