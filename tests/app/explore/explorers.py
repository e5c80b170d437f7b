"""Explorers of small data for the tests."""

import base64
import time

import httpx
import numpy as np

MARKER = {"X-Eigenscape": "1"}


def write_digits(path, n=240):
    from sklearn.datasets import load_digits

    digits = load_digits()
    names = ["name", *(f"p{i}" for i in range(64)), "digit"]
    lines = [
        ",".join([f"row-{i}", *(f"{value:g}" for value in digits.data[i]), f"d{digits.target[i]}"])
        for i in range(n)
    ]
    path.write_text("\n".join([",".join(names), *lines]) + "\n")
    return path


def client_of(explorer):
    return httpx.Client(base_url=explorer.url, headers=MARKER, timeout=60)


def wait_for_job(client, job, seconds=120):
    """Return a job after it has ended."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        found = next(one for one in client.get("api/state").json()["jobs"] if one["id"] == job)
        if found["status"] != "running":
            return found
        time.sleep(0.05)
    raise AssertionError(f"job {job} did not end: {found}")


def wait_for_jobs(client):
    for job in client.get("api/state").json()["jobs"]:
        wait_for_job(client, job["id"])


def fit(client, method, parameters=None, standardize=False):
    """Fit a map and return its description."""
    body = {"method": method, "parameters": parameters or {}, "standardize": standardize}
    answer = client.post("api/fits", json=body)
    assert answer.status_code == 200, answer.text
    job = wait_for_job(client, answer.json()["job"])
    assert job["status"] == "done", job
    return next(one for one in client.get("api/state").json()["maps"] if one["id"] == job["map"])


def mask_of(rows, n):
    bits = np.zeros(n, dtype=np.uint8)
    bits[rows] = 1
    return base64.b64encode(np.packbits(bits, bitorder="little").tobytes()).decode()


def floats(answer, width=None):
    assert answer.status_code == 200, answer.text
    array = np.frombuffer(answer.content, dtype="<f4")
    return array if width is None else array.reshape(-1, width)
