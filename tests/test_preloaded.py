"""A forked Python does what a started one does; see preloaded.py."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from preloaded import Clients

pytestmark = [
    pytest.mark.process,
    pytest.mark.usefixtures("forked_python"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only"),
]


def run(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload]


def test_arguments_streams_folder_and_environment(tmp_path: Path) -> None:
    (tmp_path / "local.py").write_text("number = 5")
    code = (
        "import json, os, sys, local\n"
        "sys.stderr.write('error')\n"
        "print(json.dumps([sys.argv, os.getcwd(), os.environ['WORD'], sys.stdin.read(), local.number]))"
    )
    done = run("-c", code, "a", "b c", cwd=tmp_path, env={"WORD": "caf\udce9"}, input="text")
    assert json.loads(done.stdout) == [["-c", "a", "b c"], str(tmp_path), "caf\udce9", "text", 5]
    assert (done.returncode, done.stderr) == (0, "error")
    assert run("-I", "-c", "import local", cwd=tmp_path).returncode == 1
    (tmp_path / "script.py").write_text("import local, sys\nif __name__ == '__main__': print(*sys.argv[1:])")
    assert run(str(tmp_path / "script.py"), "a", "b").stdout == "a b\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", 0),
        ("raise SystemExit(7)", 7),
        ("raise SystemExit('message')", 1),
        ("1 / 0", 1),
        ("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    ],
)
def test_exit_codes(code: str, expected: int) -> None:
    assert run("-c", code).returncode == expected


def test_threads_and_exit_functions_end_first() -> None:
    code = (
        "import atexit, threading, time\n"
        "atexit.register(print, 'exit')\n"
        "threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()"
    )
    assert run("-c", code).stdout.split() == ["thread", "exit"]


def test_a_killed_client_ends_its_process() -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(100)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        pid = int(client.stdout.readline())
        client.kill()
    limit = time.monotonic() + 60
    while os.path.exists(f"/proc/{pid}"):
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_an_interrupt_is_passed_on() -> None:
    code = (
        "import time\n"
        "try: print('started', flush=True), time.sleep(100)\n"
        "except KeyboardInterrupt: print('interrupted')"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        client.stdout.readline()
        client.send_signal(signal.SIGINT)
        assert client.stdout.read() == "interrupted\n"
    assert client.returncode == 0


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
def test_closed_streams(closed: str, tmp_path: Path) -> None:
    number = ["stdin", "stdout", "stderr"].index(closed)
    code = (
        "import os, sys\n"
        f"try: os.fstat({number})\n"
        f"except OSError: open('{tmp_path / 'found'}', 'w').write(str(sys.{closed}))"
    )
    command = ["sh", "-c", f'exec "$@" {number}>&-', "sh", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "found").read_text() == "None"


def test_modules(python_clients: Clients) -> None:
    code = "import sys; print(*({'sklearn', 'eigenscape', 'sklearn.manifold'} & set(sys.modules)))"
    loaded = [subprocess.check_output([client, "-c", code], text=True).split() for client in python_clients]
    assert set(loaded[0]) == {"sklearn", "eigenscape", "sklearn.manifold"}
    assert loaded[1] == ["sklearn"]


def test_other_options_are_refused() -> None:
    done = run("-X", "utf8", "-c", "")
    assert done.returncode == 1
    assert "'-X' of Python needs a process of its own" in done.stderr
