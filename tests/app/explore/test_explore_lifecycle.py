"""Processes of the explorer: cancelled, killed and closed without leaving anything behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import numpy as np
import pytest

import eigenscape
from explore.explorers import client_of, fit, mask_of, wait_for_job, write_digits

pytestmark = pytest.mark.process

SLOW = {"method": "ordinal-mds", "parameters": {"n_init": 500, "max_iter": 100000, "tol": 1e-12}}


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and "State:\tZ" in status.read_text())


def wait_until(condition, seconds=180):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.05)


def start_slow_fit(client):
    """Start a fit that takes minutes; return its job when it is running."""
    job = client.post("api/fits", json=SLOW).json()["job"]

    def is_running():
        found = next(one for one in client.get("api/state").json()["jobs"] if one["id"] == job)
        assert found["status"] == "running"
        return found["stage"] not in ("waiting", "starting a process", "starting")

    wait_until(is_running)
    return job


@pytest.mark.usefixtures("forked_python")
def test_a_fit_is_cancelled_or_killed_and_the_next_one_works():
    X = np.random.default_rng(0).standard_normal((300, 4))
    with eigenscape.explore(X, block=False, open_browser=False) as explorer, client_of(explorer) as client:
        folder, jobs = explorer.session.folder, explorer.session.jobs
        job = start_slow_fit(client)
        first = jobs._process.pid
        assert client.delete(f"api/fits/{job}").json() == {"cancelled": job}
        assert wait_for_job(client, job)["status"] == "cancelled"
        wait_until(lambda: not is_alive(first))
        assert client.delete(f"api/fits/{job}").status_code == 404
        job = start_slow_fit(client)
        os.kill(jobs._process.pid, signal.SIGKILL)
        ended = wait_for_job(client, job)
        assert ended["status"] == "failed"
        assert "SIGKILL" in ended["error"]
        assert fit(client, "pca", {"n_components": 3})["n_components"] == 3
        bad = client.post("api/fits", json={"method": "isomap", "parameters": {"metric": "nothing"}}).json()[
            "job"
        ]
        ended = wait_for_job(client, bad)
        assert ended["status"] == "failed"
        assert "nothing" in ended["error"]
        last = jobs._process.pid
        assert folder.exists()
    wait_until(lambda: not is_alive(last))
    assert not folder.exists()
    with pytest.raises(httpx.ConnectError):
        httpx.get(explorer.url)


def open_server(folder, *options):
    """Start the command in a process; return it with its address and its folder."""
    table = write_digits(folder / "digits.csv", 100)
    command = [sys.executable, "-m", "eigenscape", "explore", str(table), "--no-browser", *options]
    (folder / "temporary").mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    words = process.stdout.readline().split()
    assert words[:2] == ["exploring", "at"], process.stderr.read()
    (own,) = (folder / "temporary").glob("eigenscape-explore-*")
    return process, words[2], own


def children(folder):
    """Return the processes of the server with this folder."""
    pid = folder.name.split("-")[2]
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", pid], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
@pytest.mark.usefixtures("forked_python")  # of the server; the process that fits is started
def test_a_server_that_ends_or_is_killed_leaves_no_process_no_folder_and_no_lost_annotation(tmp_path):
    process, url, folder = open_server(tmp_path, "--annotations", "marks.csv")
    with httpx.Client(base_url=url, headers={"X-Eigenscape": "1"}, timeout=60) as client:
        start_slow_fit(client)
        body = {"name": "kind", "label": "odd, <b>", "mask": mask_of([1, 3], 100)}
        assert client.post("api/annotations", json=body).status_code == 200
    workers = children(folder)
    assert workers
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "1 annotation(s) are in marks.csv" in errors
    wait_until(lambda: not any(is_alive(pid) for pid in workers))
    assert not folder.exists()

    process, url, folder = open_server(tmp_path, "--annotations", "marks.csv")
    with httpx.Client(base_url=url, headers={"X-Eigenscape": "1"}, timeout=60) as client:
        assert client.get("api/state").json()["annotations"] == [{"name": "kind", "labels": ["odd, <b>"]}]
        codes = np.frombuffer(client.get("api/annotations/kind").content, dtype="<u2")
        assert np.flatnonzero(codes != 65535).tolist() == [1, 3]
        start_slow_fit(client)
    workers = children(folder)
    assert workers
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not any(is_alive(pid) for pid in workers))
    wait_until(lambda: not folder.exists())


#: A server whose process that fits cannot write answers any more, while it waits for requests.
DEAF_SERVER = """
import json, subprocess, sys
from pathlib import Path
from eigenscape.app.explore.jobs import start_process
worker = start_process(Path(sys.argv[1]))
request = json.dumps({"job": "j1", "kind": "suggestions", "names": ["a", "b"]})
print(request, file=worker.stdin, flush=True)
assert any("done" in json.loads(line) for line in iter(worker.stdout.readline, ""))
worker.stdout.close()
print(request, file=worker.stdin, flush=True)
try:
    worker.wait(timeout=2)
    print("ended", flush=True)
except subprocess.TimeoutExpired:
    print("waiting", worker.pid, flush=True)
if sys.argv[2] == "close":
    worker.stdin.close()
    print("closed", worker.wait(timeout=60), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.name == "nt", reason="a killed process keeps the number of its parent")
@pytest.mark.usefixtures("forked_python")  # of the server; the process that fits is started
def test_a_process_that_cannot_answer_waits_for_the_end_of_its_server(tmp_path):
    servers = {}
    for end in ("close", "kill"):  # both at once
        (tmp_path / end).mkdir()
        np.save(tmp_path / end / "X.npy", np.random.default_rng(0).standard_normal((20, 2)))
        command = [sys.executable, "-c", DEAF_SERVER, str(tmp_path / end), end]
        servers[end] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for end, server in servers.items():
        with server:
            state, worker = server.stdout.readline().split()
            assert state == "waiting"
            if end == "close":
                assert server.stdout.readline().split() == ["closed", "1"]
                assert (tmp_path / end).exists()  # its server still has it
            server.kill()
        wait_until(lambda pid=int(worker): not is_alive(pid))
        assert (tmp_path / end).exists() == (end == "close")


def test_an_annotation_file_of_something_else_is_not_replaced(tmp_path):
    X = np.eye(4)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="was not written by the explorer"):
        eigenscape.explore(X, block=False, open_browser=False, annotations=tmp_path / "other.csv")
    assert (tmp_path / "other.csv").read_text() == "a,b\n1,2\n"
    with pytest.raises(ValueError, match=r"extension \.csv"):
        eigenscape.explore(X, block=False, open_browser=False, annotations=tmp_path / "marks.txt")


def test_a_model_is_explored_with_its_own_rows_or_given_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    model = eigenscape.Isomap(n_neighbors=10).fit(X)
    with (
        eigenscape.explore(model, block=False, open_browser=False) as explorer,
        client_of(explorer) as client,
    ):
        (entry,) = client.get("api/state").json()["maps"]
        found = np.frombuffer(client.get(f"api/maps/{entry['id']}/coordinates").content, dtype="<f4")
        np.testing.assert_allclose(found.reshape(60, 2), model.embedding_, rtol=1e-5)
        grid = client.get(f"api/maps/{entry['id']}/eigenfunction/1").json()
        x = np.linspace(grid["extent"][0], grid["extent"][1], grid["nx"])
        y = np.linspace(grid["extent"][2], grid["extent"][3], grid["ny"])
        expected = model.transform([[x[5], y[9]]])[0, 1]
        assert grid["values"][9 * grid["nx"] + 5] == pytest.approx(expected)
        refused = client.get(f"api/maps/{entry['id']}/eigenfunction/2").json()["error"]
        assert refused == "component must be an integer from 0 to 1, got '2'"
        names = {"X": X}
        exec(entry["python"], names)
        np.testing.assert_allclose(names["embedding"], model.embedding_, atol=1e-8)
    pca = eigenscape.ProbabilisticPCA(1).fit(X)
    with pytest.raises(ValueError, match="does not contain its training rows"):
        eigenscape.explore(pca, block=False, open_browser=False)
    with (
        eigenscape.explore(pca, X, block=False, open_browser=False) as explorer,
        client_of(explorer) as client,
    ):
        (entry,) = client.get("api/state").json()["maps"]
        assert entry["n_components"] == 1
        answer = client.post(f"api/maps/{entry['id']}/inverse", json={"point": [0.0]}).json()
        assert [one["name"] for one in answer["columns"]] == ["x0", "x1"]


#: An explorer in a process with few descriptors; it ends when its input is closed.
CROWDED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
import numpy as np, eigenscape
from eigenscape.app.explore.tuning import TUNING
object.__setattr__(TUNING, "waiting_seconds", 3.0)
explorer = eigenscape.explore(np.eye(5), block=False, open_browser=False)
print(explorer.url, flush=True)
sys.stdin.read()
explorer.close()
"""


def test_connections_without_the_token_do_not_keep_the_owner_out():
    command = [sys.executable, "-c", CROWDED]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as server, ExitStack() as opened:
        opened.callback(server.kill)
        url = httpx.URL(server.stdout.readline().strip())
        crowd = []
        for i in range(320):
            crowd.append(opened.enter_context(socket.create_connection((url.host, url.port), timeout=20)))
            if i % 2:  # headers that do not end
                crowd[-1].sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        with httpx.Client(base_url=url, timeout=20) as client:
            assert client.get("api/state").status_code == 200
            wait_until(lambda: all(map(is_closed, crowd)), seconds=20)  # also those that were not too many
            assert client.get("api/state").status_code == 200  # on the connection of the owner
        server.stdin.close()
        assert server.wait(timeout=30) == 0


def is_closed(connection):
    connection.settimeout(0.01)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
