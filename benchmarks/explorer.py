"""Answers of the explorer's server while a fit runs, and the payload of a million points.

``python -m benchmarks.explorer`` starts ``eigenscape explore`` on 10 000 images of 28 x 28 pixels, fits maps,
starts a fit that takes minutes, and asks for inverses and new points 20 times a second. It prints the median
and the 95th percentile of the answers' milliseconds, and the processor time of the server per answer.
``--points 1000000`` measures state, coordinates and a column of that many points.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.real_data import absence, load

#: Maps that are asked.
MAPS = (
    {"method": "pca", "parameters": {"n_components": 6}},
    {"method": "laplacian-eigenmaps", "parameters": {"n_components": 6}},
    {"method": "isomap", "parameters": {"n_components": 6, "n_landmarks": 1000}},
)
#: A fit that takes longer than the requests.
LONG = {"method": "ordinal-mds", "parameters": {"n_init": 1000, "max_iter": 1000000, "tol": 1e-12}}


def images(n: int) -> np.ndarray:
    """Return ``n`` rows of 784 pixels: MNIST, or smooth random images if it is not available."""
    if not absence("mnist_mixed"):
        X = load("mnist_mixed")[0]
        if len(X) >= n and X.shape[1] == 784:
            return np.asarray(X[:n], dtype=np.float64)
    rng = np.random.default_rng(0)
    return np.tanh(rng.standard_normal((n, 6)) @ rng.standard_normal((6, 784)))


class Server:
    """The command ``eigenscape explore`` in a process of its own."""

    def __init__(self, X: np.ndarray, folder: Path, *options: str) -> None:
        np.save(folder / "X.npy", X)
        command = [sys.executable, "-m", "eigenscape", "explore", str(folder / "X.npy"), "--no-browser", "-q"]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        url = self.process.stdout.readline().split()[2]
        self.client = httpx.Client(base_url=url, headers={"X-Eigenscape": "1"}, timeout=600)

    def state(self) -> dict[str, Any]:
        """Return the state of the page."""
        return self.client.get("api/state").json()

    def job(self, job: str) -> dict[str, Any]:
        """Return the state of a job."""
        return next(one for one in self.state()["jobs"] if one["id"] == job)

    def wait(self, job: str) -> dict[str, Any]:
        """Return a job when it has ended."""
        while True:
            found = self.job(job)
            if found["status"] != "running":
                return found
            time.sleep(0.5)

    def start(self, request: dict[str, Any]) -> str:
        """Start a fit and return its job."""
        return self.client.post("api/fits", json=request).raise_for_status().json()["job"]

    def seconds(self) -> float:
        """Return the processor time of the server."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the server."""
        self.client.close()
        self.process.terminate()
        self.process.wait(timeout=60)


def ask(
    server: Server, entry: dict[str, Any], X: np.ndarray, kind: str, count: int, rate: float
) -> list[float]:
    """Send requests at a fixed rate; return the milliseconds of each answer."""
    rng = np.random.default_rng(1)
    raw = server.client.get(f"api/maps/{entry['id']}/coordinates").content
    points = np.frombuffer(raw, dtype="<f4").reshape(len(X), -1)[:, :2].astype(float)
    found, begin = [], time.perf_counter()
    for i in range(count):
        time.sleep(max(0.0, begin + i / rate - time.perf_counter()))
        row = int(rng.integers(len(X)))
        body: dict[str, Any] = {"point": points[row].tolist()}
        if kind == "place":
            noisy = X[row] + 0.05 * rng.standard_normal(X.shape[1])
            body = {"text": ",".join(f"{value:.4g}" for value in noisy)}
        start = time.perf_counter()
        answer = server.client.post(f"api/maps/{entry['id']}/{kind}", json=body).raise_for_status().json()
        found.append(1000 * (time.perf_counter() - start))
        assert "refused" not in answer, answer
    return found


def latencies(n: int, count: int, rate: float) -> None:
    """Print the times of answers while a fit runs."""
    X = images(n)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(X, Path(folder), "--images", "28x28")
        try:
            maps = []
            for request in MAPS:
                job = server.wait(server.start(request))
                print(f"fitted {request['method']}: {job['status']} {job['error'] or ''}", file=sys.stderr)
                maps.append(next(one for one in server.state()["maps"] if one["id"] == job["map"]))
            for job in server.state()["jobs"]:
                if job["status"] == "running":  # measures of the maps
                    server.client.delete(f"api/fits/{job['id']}")
            long = server.start(LONG)
            while next(j for j in server.state()["jobs"] if j["id"] == long)["stage"] in (
                "waiting",
                "starting",
            ):
                time.sleep(0.5)
            print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
            print("| map | request | median ms | 95 % ms | processor ms of the server |")
            print("| --- | --- | --- | --- | --- |")
            for entry in maps:
                for kind in ("inverse", "place"):
                    ask(server, entry, X, kind, 5, rate)  # indexes are built by the first requests
                    before = server.seconds()
                    times = np.array(ask(server, entry, X, kind, count, rate))
                    spent = 1000 * (server.seconds() - before) / count
                    job = server.job(long)
                    running = "" if job["status"] == "running" else f" (fit {job['status']})"
                    print(
                        f"| {entry['method']} | {kind}{running} | {np.median(times):.1f} |"
                        f" {np.quantile(times, 0.95):.1f} | {spent:.1f} |",
                        flush=True,
                    )
        finally:
            server.close()


def million(n: int) -> None:
    """Print sizes and times of what a page loads at first."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, 10)) + rng.standard_normal((n, 10))
    with tempfile.TemporaryDirectory() as folder:
        server = Server(X, Path(folder), "-m", "pca", "-d", "2")
        try:
            server.wait("j1")
            print(f"| {n} points | bytes | ms |\n| --- | --- | --- |")
            entry = server.state()["maps"][0]["id"]
            for address in ("api/state", f"api/maps/{entry}/coordinates", "api/columns/0"):
                start = time.perf_counter()
                size = len(server.client.get(address).content)
                print(f"| {address} | {size} | {1000 * (time.perf_counter() - start):.0f} |")
        finally:
            server.close()


def main() -> None:
    """Parse the options and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--points", type=int, help="measure the payload of this many points instead")
    options = parser.parse_args()
    if options.points:
        million(options.points)
    else:
        latencies(options.rows, options.requests, options.rate)


if __name__ == "__main__":
    main()
