"""Reports in a browser: drawing, hovering, colours, selection, placing, printing; no errors or requests."""

from __future__ import annotations

import base64
import io
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import curve

import eigenscape
from eigenscape import PCA, Isomap, KernelPCA, LaplacianEigenmaps
from eigenscape.app.io.table import Table
from eigenscape.app.report import write_comparison, write_report

pytestmark = pytest.mark.browser

BROWSER, DRIVER = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
if BROWSER is None or DRIVER is None:
    pytest.skip(
        "chromium and chromedriver are not installed",
        allow_module_level=True,
    )

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

FLAGS = (
    "--headless --no-sandbox --disable-quic --no-first-run --disable-background-networking"
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

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def maps(self, what: str) -> list[Any]:
        """Return a property of every map."""
        return self.run(f"return eigenscapeReport.maps.map(map => {what})")

    def colours(self) -> list[list[str]]:
        """Return the colour of each point of every map."""
        return self.maps("Array.from({length: map.n}, (_, i) => map.rgb.slice(3 * i, 3 * i + 3).join())")

    def selected(self) -> list[list[int]]:
        """Return the selected points of every map."""
        return self.maps("Array.from(map.selected ?? []).flatMap((on, i) => on ? [i] : [])")

    def place(self, m: int, point: int) -> tuple[int, int]:
        """Return the position of a point in the window."""
        self.run("document.getElementById('maps').scrollIntoView({block: 'center'})")
        return tuple(
            self.run(
                """const map = eigenscapeReport.maps[arguments[0]], at = map.positionOf(arguments[1]);
                const frame = map.container.getBoundingClientRect();
                return [Math.round(frame.left + at[0]), Math.round(frame.top + at[1])];""",
                m,
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
        """Choose an option by its text, as a key would."""
        self.run(
            """const select = document.querySelector(arguments[0]);
            select.value = [...select.options].find(one => one.text === arguments[1]).value;
            select.dispatchEvent(new Event('change'));""",
            selector,
            text,
        )

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
        "day": np.datetime64("2024-01-01") + np.arange(160),
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
    assert page.maps("[map.n, map.rings.length, map.renderer.kind]") == [[190, 30, "webgl"]]
    for point in (7, 42):
        page.mouse(("mouseMoved", *page.place(0, point)))
        until(lambda: not page.find("#card").get_attribute("hidden"), "a card at the point")
        shown = page.find("#card h3").text
        near = page.run(  # points may overlap
            """const map = eigenscapeReport.maps[0], at = map.positionOf(arguments[0]);
            return [...Array(190).keys()].filter(
                j => Math.hypot(map.positionOf(j)[0] - at[0], map.positionOf(j)[1] - at[1]) < 3);""",
            point,
        )
        assert shown in [f"sample {i}" for i in near]
        assert "income" in page.find("#card").text or point % 9 == 0
        assert "2024-0" in page.find("#card").text
    page.mouse(("mouseMoved", 5, 5))
    until(lambda: page.find("#card").get_attribute("hidden"), "no card away from points")
    page.check_quiet()


def test_colours_change_with_the_selector_and_the_legend_filters(browser, report):
    page = Page(browser, report)

    def legend() -> list[str]:
        return [one.text for one in page.browser.find_elements("css selector", "#legend .legend-text")]

    assert legend() == [ODD, "spring", "summer", "missing"]  # new points have no label
    first = page.colours()[0]
    assert len(set(first)) == 4
    page.find("#legend input[type=checkbox]").click()
    assert page.maps("map.visible.filter(on => on).length") == [190 - 53]
    page.choose("#colour", "income")
    assert len(set(page.colours()[0])) > 50
    assert page.maps("map.visible") == [None]
    assert "without a value" in page.find("#legend").text
    page.choose("#colour", "day")
    assert "2024-06-" in page.find("#legend .legend-ends").text
    page.choose("#colour", "town")
    assert legend()[20] == "other (10)"  # rare names share a colour
    page.choose("#colour", "coordinate 2")
    assert len(set(page.colours()[0])) > 50
    page.choose("#vertical", "coordinate 3")
    assert page.maps("map.axes") == [[0, 2]]
    page.choose("#depth", "coordinate 2")
    assert page.maps("map.view.spatial") == [True]
    page.check_quiet()


def test_legend_entries_select_points_and_ids_are_found(browser, report):
    page = Page(browser, report)
    page.find("#legend .legend-name").click()
    assert page.find("#chosen span").text.endswith("points selected")
    assert page.selected()[0] == [i for i in range(160) if i % 3 == 2]
    page.find("#clear").click()
    assert page.find("#chosen").get_attribute("hidden")
    page.find("#find").send_keys("sample 42\n")
    until(lambda: page.find("#card h3").text == "sample 42", "the id that was looked for")
    assert page.maps("map.hovered") == [42]
    page.find("#find").clear()
    page.find("#find").send_keys(ODD + "\n")
    until(lambda: page.find("#card h3").text == ODD, "an id with markup")
    assert "taken" not in page.browser.title
    assert not page.browser.find_elements("css selector", "a[href^=http]")
    page.check_quiet()


def test_the_policy_of_the_page_stops_other_scripts(browser, report, tmp_path):
    text = report.read_text("utf-8").replace("</main>", f"</main>{ODD}<b style='color:red'>x</b>")
    (tmp_path / "changed.html").write_text(text, "utf-8")
    page = Page(browser, tmp_path / "changed.html")
    assert "taken" not in page.browser.title
    assert page.run("return getComputedStyle(document.querySelector('body > b')).color") != "rgb(255, 0, 0)"


@pytest.mark.usefixtures("empty_charts")
def test_rounded_numbers_of_many_points_are_less_than_a_pixel_off(browser, tmp_path, monkeypatch):
    monkeypatch.setattr("eigenscape.app.report._texts.LIMITS.many", 1000)
    X = np.random.default_rng(0).standard_normal((3000, 2)).cumsum(axis=0)
    model = PCA(2).fit(X)
    path = write_report(tmp_path / "many.html", model, X, max_points=None)
    # Four arrays (two coordinates, two columns) and the movement, of two bytes in base64 each.
    assert path.stat().st_size < 400e3 + 5 * 3000 * 2.7
    page = Page(browser, path)
    assert page.maps("[map.n, map.frames > 0]") == [[3000, True]]
    drawn = page.run("return Array.from(eigenscapeReport.maps[0].coordinates)")
    off = np.abs(np.reshape(drawn, (-1, 2)) - model.embedding_) / np.ptp(model.embedding_, axis=0)
    assert 1e-7 < off.max() < 1e-5
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
    assert page.maps("map.n") == [120, 120, 120]
    page.find("[data-tool=box]").click()
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
    chosen = page.selected()
    assert chosen[0] == chosen[1] == chosen[2]
    inside = np.flatnonzero(x < right - 1)
    assert set(inside) <= set(chosen[0]) <= set(np.flatnonzero(x < right + 2))
    assert 40 < len(chosen[0]) < 80
    page.mouse(("mouseMoved", *page.place(0, 5)))
    until(lambda: len(set(page.maps("map.hovered"))) == 1, "the point is marked in every map")
    assert page.maps("map.hovered")[0] >= 0
    before = page.colours()
    page.choose("#colour", "Isomap: coordinate 1")
    colours = page.colours()
    assert colours != before
    assert colours[0] == colours[1] == colours[2]
    page.check_quiet()


# --- placing ------------------------------------------------------------------------------------------------

X_TREES = np.random.default_rng(1).normal([3.0, 100.0, -2.0], [1.0, 30.0, 0.2], (150, 3))
STANDARD = (X_TREES - X_TREES.mean(axis=0)) / X_TREES.std(axis=0)


def compact_of(model: Any, tmp_path: Path) -> Any:
    eigenscape.save(model, tmp_path / "m.eigenscape", compact=40)
    return eigenscape.load(tmp_path / "m.eigenscape")


@pytest.mark.parametrize(
    "model",
    [
        PCA(2, whiten=True),
        LaplacianEigenmaps(2, n_neighbors=20),
        KernelPCA(3, kernel="poly", gamma=0.2),
        KernelPCA(2, kernel="laplacian", gamma=0.1),
        KernelPCA(2, kernel="cosine"),
    ],
    ids=["linear", "gaussian", "poly", "laplacian", "cosine"],
)
@pytest.mark.usefixtures("empty_charts")
def test_the_page_places_a_pasted_row_as_transform_does(browser, tmp_path, model):
    model = model.fit(STANDARD)
    placed_by = model if isinstance(model, PCA) else compact_of(model, tmp_path)
    table = Table(STANDARD, names=("height", "age", "slope"), unscaled=X_TREES)
    page = Page(browser, write_report(tmp_path / "r.html", placed_by, table))
    new = np.random.default_rng(2).normal([3.0, 100.0, -2.0], [1.0, 30.0, 0.2], (5, 3))
    expected = placed_by.transform((new - X_TREES.mean(axis=0)) / X_TREES.std(axis=0))
    got = np.array(
        [
            page.run("return eigenscapeReport.place(arguments[0])", ", ".join(map(repr, row.tolist())))
            for row in new
        ]
    )
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    assert page.maps("map.markers.length") == [5]


@pytest.mark.usefixtures("empty_charts")
def test_rows_that_cannot_be_placed_give_a_message(browser, tmp_path):
    model = Isomap(n_neighbors=10).fit(X_TREES)
    page = Page(browser, write_report(tmp_path / "r.html", model, X_TREES, compact=30))
    error = page.find("#placed").text
    assert "nothing is sent" in error
    assert "compact map has an error of" in error
    for text, message in (
        ("1 2", "the row has 2 numbers, but the map needs 3"),
        ("1, <b>x, 3", "value 2 is not a finite number: “<b>x”"),
    ):
        page.find("#row").clear()
        page.find("#row").send_keys(text)
        page.find("#place-form button").click()
        assert message in page.find("#placed").text
    page.find("#row").clear()
    page.find("#row").send_keys("3;100 -2")
    page.find("#place-form button").click()
    assert page.find("#placed").text.startswith("new 1: ")
    page.find("#remove-rows").click()
    assert page.maps("map.markers.length") == [0]
    page.check_quiet()
    plain = write_report(tmp_path / "plain.html", model, X_TREES)
    assert 'id="place-form"' not in plain.read_text("utf-8")


# --- pictures -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("empty_charts")
def test_thumbnails_are_the_images_of_the_points(browser, tmp_path):
    images = np.random.default_rng(0).integers(256, size=(60, 4, 6)).astype(np.uint8)
    X = images.reshape(60, 24) / 255.0
    page = Page(browser, write_report(tmp_path / "r.html", PCA(2).fit(X), Table(X, image_shape=(4, 6))))
    page.mouse(("mouseMoved", *page.place(0, 17)))
    until(lambda: not page.find("#card").get_attribute("hidden"), "a card at the point")
    row = page.maps("map.hovered")[0]
    shown = page.run(
        """const context = document.querySelector('.thumbnail').getContext('2d');
        return Array.from(context.getImageData(0, 0, 6, 4).data).filter((_, i) => i % 4 === 0);"""
    )
    span = np.ptp(X)
    assert shown == np.rint(255 * (X[row] - X.min()) / span).astype(int).tolist()
    page.check_quiet()


def test_the_map_is_printed_and_follows_the_colour_scheme(browser, report):
    image = pytest.importorskip("PIL.Image")
    page = Page(browser, report)

    def background() -> tuple[int, ...]:
        shot = image.open(io.BytesIO(base64.b64decode(page.browser.get_screenshot_as_base64()))).convert(
            "RGB"
        )
        return shot.getpixel((20, shot.height - 20))

    def emulate(value: str) -> None:
        media = {"features": [{"name": "prefers-color-scheme", "value": value}]}
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)

    try:
        emulate("light")
        light, colours = background(), page.colours()
        assert min(light) > 200
        emulate("dark")
        until(lambda: max(background()) < 80, "a dark page")
        assert page.maps("map.dark") == [True]
        text, surface = (
            page.run(f"return getComputedStyle(document.body).getPropertyValue('--{name}')")
            for name in ("ink", "page")
        )
        assert contrast(text, surface) > 7
        emulate("light")
        until(lambda: page.colours() == colours, "the colours of before")
        page.run("window.dispatchEvent(new Event('beforeprint'))")
        ink = page.run(
            """const canvas = document.getElementById('printed');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            let count = 0;
            for (let i = 0; i < data.length; i += 4) if (data[i] + data[i + 1] + data[i + 2] < 600) count++;
            return count;"""
        )
        assert ink > 160 * 10  # at least ten pixels of each point
        page.run("window.dispatchEvent(new Event('afterprint'))")
        assert not page.browser.find_elements("css selector", "#printed")
    finally:
        emulate("")


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours (WCAG)."""

    def luminance(color: str) -> float:
        channels = [int(color.strip()[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_a_narrow_window_has_no_horizontal_scrolling(browser, report):
    page = Page(browser, report)
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        until(lambda: page.run("return innerWidth") == 390, "a narrow window")
        assert page.run("return document.documentElement.scrollWidth") <= 390
        assert page.maps("map.container.clientWidth > 300") == [True]
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
