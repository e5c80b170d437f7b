"""A million points in the explorer: time to the first picture, memory of the tab, bytes received.

``python -m benchmarks.explorer_page`` opens the page of a running explorer in headless Chromium, which has no
graphics processor, and prints the time from the start of the navigation until the second frame, the memory of
the tab (resident, and with shared pages divided among their users), the bytes received, and the times of a
frame while the map is panned and of a lasso around half of the points. Goals: 3 s, 600 MB, 14 MB.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "app" / "page"))


def clusters(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ten Gaussian clusters (n, 4) and their numbers."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, n)
    centers = 3 * rng.normal(size=(10, 4))
    return centers[labels] + rng.normal(size=(n, 4)) * [0.5, 0.9, 0.4, 0.3], labels


def tab_processes(driver: Any) -> list[Path]:
    """Return the folders in /proc of the processes of tabs."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = []
    for process in parents:
        above = [process]
        while above[-1] in parents:
            above.append(parents[above[-1]])
        folder = Path("/proc") / str(process)
        if driver.service.process.pid in above and b"--type=renderer" in (folder / "cmdline").read_bytes():
            found.append(folder)
    return found


def processor_time(folder: Path) -> float:
    """Return the processor time of a process in seconds."""
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(folder: Path) -> tuple[float, float]:
    """Return resident and proportional memory of a process in MB."""
    lines = (folder / "smaps_rollup").read_text().splitlines()
    values = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines[1:]}
    return values["Rss:"], values["Pss:"]


def received(driver: Any) -> float:
    """Return the bytes received so far in MB."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    done = [one["params"] for one in events if one["method"] == "Network.loadingFinished"]
    return sum(one["encodedDataLength"] for one in done) / 1e6


def measure(driver: Any, url: str) -> dict[str, float]:
    """Open the page and measure it."""
    from explorer_page import ExplorerPage, until

    page = ExplorerPage(driver, url)
    found = {"first picture (s)": page.run("return +document.documentElement.dataset.ready") / 1e3}
    found["processor time of the tab (s)"] = max(map(processor_time, tab_processes(driver)))
    time.sleep(2)
    found["received (MB)"] = received(driver)
    left, top, width, height = page.frame()
    frames = page.run("return +document.getElementById('map-a').dataset.frames")
    started = time.perf_counter()
    page.drag([(left + 300 + 5 * i, top + 300) for i in range(20)])
    drawn = page.run("return +document.getElementById('map-a').dataset.frames") - frames
    found["frame while panning (s)"] = (time.perf_counter() - started) / max(1, drawn)
    page.click("[data-tool=lasso]")
    started = time.perf_counter()
    half, bottom = left + width / 2, top + height - 9
    page.drag([(left + 9, top + 9), (half, top + 9), (half, bottom), (left + 9, bottom)])
    until(lambda: "points selected" in page.text("#panel"), "a selection")
    found["lasso (s)"] = time.perf_counter() - started
    time.sleep(5)
    resident, proportional = max(map(memory, tab_processes(driver)))
    return {**found, "resident memory of the tab (MB)": resident, "proportional memory (MB)": proportional}


def main() -> None:
    """Measure one page."""
    from explorer_page import open_browser, until

    import eigenscape

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=1_000_000, help="number of points")
    n = parser.parse_args().n
    X, labels = clusters(n)
    opened = eigenscape.explore(X, labels=labels, method="pca", block=False, open_browser=False)
    try:
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
            open_browser(Path(folder)) as driver,
        ):
            until(lambda: is_idle(opened.url), "the first map", 600)
            found = measure(driver, opened.url)
    finally:
        opened.close()
    print(f"{n} points, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, value in found.items():
        print(f"{name:40} {value:8.2f}")


def is_idle(url: str) -> bool:
    """Return whether a map is there and no job runs."""
    from urllib.request import urlopen

    with urlopen(f"{url}api/state") as response:
        state = json.load(response)
    return bool(state["maps"]) and all(job["status"] != "running" for job in state["jobs"])


if __name__ == "__main__":
    main()
