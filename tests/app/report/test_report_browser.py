"""Reports in a browser: drawing, hovering, colours and selection, without errors or network requests."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import curve

from eigenscape import PCA, Isomap, KernelPCA
from eigenscape.app.report import write_comparison, write_report

BROWSER, DRIVER = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
if BROWSER is None or DRIVER is None:
    pytest.skip(
        "chromium and chromedriver are not installed",
        allow_module_level=True,
    )

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1280,1000"
)
ODD = "<script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


def until(condition: Callable[[], Any], what: str, seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


class Page:
    """An open report."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.browser, self.path = browser, path
        for log in ("browser", "performance"):
            browser.get_log(log)  # of the page before
        browser.get(path.as_uri())
        until(
            lambda: self.run("return document.documentElement.getAttribute('data-ready')"), "the map is drawn"
        )
        until(
            lambda: self.run("return [...document.querySelectorAll('.chart')].every(one => one._fullLayout)"),
            "the charts are drawn",
        )

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def traces(self, what: str) -> list[Any]:
        """Return a property of every trace of the map."""
        return self.run(f"return document.getElementById('map').data.map(trace => {what})")

    def place(self, trace: int, point: int) -> tuple[int, int]:
        """Return the position of a point in the window."""
        self.run("document.getElementById('map').scrollIntoView({block: 'center'})")
        return tuple(
            self.run(
                """const map = document.getElementById('map'), trace = map.data[arguments[0]];
                const frame = map.getBoundingClientRect();
                const x = map._fullLayout[trace.xaxis.replace('x', 'xaxis')];
                const y = map._fullLayout[trace.yaxis.replace('y', 'yaxis')];
                return [Math.round(frame.left + x._offset + x.l2p(trace.x[arguments[1]])),
                        Math.round(frame.top + y._offset + y.l2p(trace.y[arguments[1]]))];""",
                trace,
                point,
            )
        )

    def mouse(self, *steps: tuple[str, int, int]) -> None:
        """Send mouse moves and clicks to the browser."""
        for kind, x, y in steps:
            held = {"mousePressed": "left", "mouseReleased": "left"}.get(
                kind, "left" if kind == "dragged" else "none"
            )
            self.browser.execute_cdp_cmd(
                "Input.dispatchMouseEvent",
                {
                    "type": "mouseMoved" if kind == "dragged" else kind,
                    "x": x,
                    "y": y,
                    "button": held,
                    "buttons": int(kind in ("dragged", "mousePressed")),
                    "clickCount": 0 if kind in ("mouseMoved", "dragged") else 1,
                },
            )

    def choose(self, selector: str, text: str) -> None:
        """Choose an option by typing."""
        time.sleep(1.1)  # letters typed within a second count as one word
        self.find(selector).send_keys(text)

    def check_quiet(self) -> None:
        """Check that no error was logged and only the file itself was requested."""
        assert [
            entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"
        ] == []
        messages = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        sent = [one["params"] for one in messages if one["method"] == "Network.requestWillBeSent"]
        # Requests of the browser's first tab are ignored.
        asked = [one["request"]["url"] for one in sent if not one["documentURL"].startswith("chrome:")]
        assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [self.path.as_uri()]


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    X = curve(190)
    rng = np.random.default_rng(0)
    labels = np.array(["spring", "summer", ODD])[np.arange(160) % 3]
    extra = {
        "income": np.where(np.arange(160) % 9 == 0, np.nan, rng.gamma(2, 1000, 160)),
        "town": [f"town {i % 30}" for i in range(160)],
    }
    path = tmp_path_factory.mktemp("report") / "report.html"
    ids = [f"sample {i}" for i in range(159)] + [ODD]
    model = Isomap(3, n_neighbors=8).fit(X[:160])
    return write_report(
        path,
        model,
        X[:160],
        held_out=X[160:],
        labels=labels,
        ids=ids,
        extra=extra,
        timings={"neighbours": 0.1, ODD: 0.2},
    )


def test_hovering_over_a_point_shows_its_id(browser, report):
    page = Page(browser, report)
    assert page.traces("trace.x.length") == [160, 30]
    assert page.run("return document.querySelectorAll('#map .scatterlayer .point').length") == 190
    for point in (7, 42):
        page.mouse(("mouseMoved", *page.place(0, point)))
        until(lambda: not page.find("#card").get_attribute("hidden"), "a card at the point")
        shown = page.find("#card h3").text
        near = page.run(  # points may overlap
            """const trace = document.getElementById('map').data[0], i = arguments[0];
            return [...trace.x.keys()].filter(
                j => Math.hypot(trace.x[j] - trace.x[i], trace.y[j] - trace.y[i]) < 0.05);""",
            point,
        )
        assert shown in [f"sample {i}" for i in near]
        assert "income" in page.find("#card").text or point % 9 == 0
    page.mouse(("mouseMoved", 5, 5))
    until(lambda: page.find("#card").get_attribute("hidden"), "no card away from points")
    page.check_quiet()


def test_colours_change_with_the_selector_and_by_keyboard(browser, report):
    page = Page(browser, report)
    names = [one.text for one in page.browser.find_elements("css selector", "#legend .name")]
    assert names == ["spring", ODD, "summer", "no value"]  # the most frequent first; new points have no label
    first = page.traces("trace.marker.color")[0]
    assert len(set(first)) == 3
    page.choose("#colour", "income")
    until(lambda: page.traces("trace.marker.color")[0] != first, "other colours")
    assert len(set(page.traces("trace.marker.color")[0])) > 50
    assert page.browser.find_elements("css selector", "#legend .ramp")
    assert "no value" in page.find("#legend").text
    page.choose("#colour", "town")
    until(lambda: "10 other values" in page.find("#legend").text, "rare names share a colour")
    page.choose("#colour", "coordinate 2")
    until(lambda: len(set(page.traces("trace.marker.color")[0])) > 50, "colours by a coordinate")
    page.choose("#vertical", "coordinate 3")
    third = page.run("return document.getElementById('map').layout.yaxis.title.text")
    assert third == "coordinate 3"
    page.check_quiet()


def test_legend_entries_select_points_and_ids_are_found(browser, report):
    page = Page(browser, report)
    page.find("#legend button").click()
    until(lambda: page.find("#chosen span").text.endswith("points selected"), "points of one label")
    chosen = page.traces("trace.selectedpoints")[0]
    assert chosen == [i for i in range(160) if i % 3 == chosen[0]]
    page.find("#clear").click()
    until(lambda: page.find("#chosen").get_attribute("hidden"), "nothing selected")
    page.find("#find").send_keys("sample 42\n")
    until(lambda: page.find("#card h3").text == "sample 42", "the id that was looked for")
    assert len(page.browser.find_elements("css selector", ".ring")) == 1
    page.find("#find").clear()
    page.find("#find").send_keys(ODD + "\n")
    until(lambda: page.find("#card h3").text == ODD, "an id with markup")
    assert "taken" not in page.browser.title
    assert not page.browser.find_elements("css selector", "a[href^=http]")
    titles = page.run(
        "return [...document.querySelectorAll('.modebar-btn')]"
        ".map(one => one.getAttribute('data-title')).join()"
    )
    assert "Lasso" in titles
    assert "Share" not in titles
    assert "cloud" not in titles.lower()
    page.check_quiet()


def test_many_points_are_drawn_by_webgl(browser, tmp_path):
    X = curve(4000)
    path = write_report(tmp_path / "many.html", PCA(2).fit(X), X)
    page = Page(browser, path)
    assert page.traces("trace.type") == ["scattergl"]
    assert page.traces("trace.x.length") == [4000]
    page.mouse(("mouseMoved", *page.place(0, 11)))
    until(lambda: page.find("#card h3").text.startswith("row "), "a card at the point")
    page.check_quiet()


def test_a_selection_is_highlighted_in_all_maps(browser, tmp_path):
    X = curve(120)
    models = {"PCA": PCA(2).fit(X), "Isomap": Isomap(n_neighbors=8).fit(X), "Kernel PCA": KernelPCA(2).fit(X)}
    page = Page(
        browser,
        write_comparison(
            tmp_path / "c.html", models, X, labels=np.arange(120) % 2, ids=[f"p{i}" for i in range(120)]
        ),
    )
    assert page.traces("trace.x.length") == [120, 120, 120]
    page.run("document.getElementById('map').scrollIntoView({block: 'center'})")
    page.find(".modebar-btn[data-title='Box Select']").click()
    x, y = np.array([page.place(1, i) for i in range(120)]).T
    left, right, top, bottom = (int(value) for value in (x.min() - 6, np.median(x), y.min() - 6, y.max() + 6))
    middle = (left + right) // 2, (top + bottom) // 2
    page.mouse(
        ("mouseMoved", left, top),
        ("mousePressed", left, top),
        ("dragged", *middle),
        ("dragged", right, bottom),
    )
    page.mouse(("mouseReleased", right, bottom))
    until(lambda: "selected" in page.find("#chosen span").text, "a selection")
    chosen = page.traces("trace.selectedpoints")
    assert chosen[0] == chosen[1] == chosen[2]
    inside = np.flatnonzero(x < right - 1)
    assert set(inside) <= set(chosen[0]) <= set(np.flatnonzero(x < right + 2))
    assert 40 < len(chosen[0]) < 80
    page.mouse(("mouseMoved", *page.place(0, 5)))
    until(
        lambda: len(page.browser.find_elements("css selector", ".ring")) == 3,
        "the point is marked in every map",
    )
    before = page.traces("trace.marker.color")
    page.choose("#colour", "Isomap: coordinate 1")
    until(lambda: page.traces("trace.marker.color") != before, "other colours")
    colours = page.traces("trace.marker.color")
    assert colours[0] == colours[1] == colours[2]
    page.check_quiet()
