"""The explorer on digits in a real browser: fits, comparison, selection, new points, inverse, annotations."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explorer_page import BROWSER, DRIVER, ExplorerPage, open_browser, resize, until
from sklearn.datasets import load_digits

if BROWSER is None or DRIVER is None:
    pytest.skip("chromium and chromedriver are not installed", allow_module_level=True)
pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")

import eigenscape

pytestmark = pytest.mark.browser

DOCS = Path(__file__).parents[3] / "docs"
#: Set EIGENSCAPE_PICTURES=1 to write the pictures of the documentation.
PICTURES = bool(os.environ.get("EIGENSCAPE_PICTURES"))
#: All digits for the pictures; fits and measures of fewer take a tenth of the time.
N = 1797 if PICTURES else 600
ODD = "<img src=x onerror=\"document.title='taken'\">"


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Any]:
    with open_browser(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="module")
def explorer(forked_python_of_module) -> Iterator[Any]:
    X, y = (values[:N] for values in load_digits(return_X_y=True))
    ids = [ODD, *(f"digit {i}" for i in range(1, len(X)))]
    opened = eigenscape.explore(
        X, labels=y, ids=ids, images=(8, 8), method="pca", block=False, open_browser=False
    )
    yield opened
    opened.close()


@pytest.fixture
def page(browser, explorer) -> ExplorerPage:
    resize(browser, (1280, 820))
    opened = ExplorerPage(browser, explorer.url)
    opened.run("addEventListener('pagehide', () => sessionStorage.clear())")  # the view of the test before
    browser.refresh()
    opened.wait_until_ready()
    until(lambda: opened.maps() >= 1, "the first map")
    return opened


def picture(page: ExplorerPage, name: str) -> None:
    if PICTURES:
        page.screenshot(DOCS / name)


def fit(page: ExplorerPage, method: str, **parameters: Any) -> None:
    page.click("#tab-fit")
    page.choose("#method", method)
    for name, value in parameters.items():
        field = page.find(f"#parameter-{name}")
        field.clear()
        field.send_keys(str(value))
    page.click("#fit")


def lasso_left_half(page: ExplorerPage) -> int:
    """Draw a lasso around the left half of the map and return how many points are selected."""
    page.click("[data-tool=lasso]")
    left, top, width, height = page.frame()
    right, bottom = left + 0.45 * width, top + height - 8
    page.drag([(left + 8, top + 8), (right, top + 8), (right, bottom), (left + 8, bottom)])
    page.wait_for("#panel", "points selected")
    return int(page.text("#panel h2").split()[0])


def test_a_session_on_digits(page, browser, explorer, tmp_path_factory):
    folder = Path(browser.capabilities["chrome"]["userDataDir"]).parent
    fit(page, "isomap", n_neighbors=8, n_components=4)
    until(lambda: page.maps() == 2, "the map fitted from the form")
    page.wait_for("#caption-a", "Isomap")
    code = page.run("return [...document.querySelectorAll('#panel pre')].map(one => one.textContent).join()")
    assert "Isomap(" in code
    assert "eigenscape embed" in code
    assert "n_neighbors=8" in code

    fit(page, "ordinal-mds")  # takes long
    until(lambda: page.count("#history .job .cancel"), "a running job")
    page.click("#history .job .cancel")
    until(lambda: not page.count("#history .job"), "the job is cancelled")
    assert page.maps() == 2

    hover_for_inverse(page)
    picture(page, "explorer.png")

    page.click("#history .card:not(.current) .card-tools .small")
    until(
        lambda: page.run("return Number(document.getElementById('map-b').dataset.frames) > 0"), "a second map"
    )
    page.choose("#color", "moved")
    page.wait_for("#legend", "Moved between the maps")
    picture(page, "explorer-two-maps.png")
    page.choose("#color", "column:0")
    page.wait_for("#legend", "label")

    page.click("[data-tool=pan]")
    left, top = page.frame()[:2]
    page.drag([(left + 200, top + 200), (left + 190, top + 210), (left + 195, top + 215)])
    count = lasso_left_half(page)
    assert 0.06 * N < count < 0.94 * N
    page.wait_for("#explained", "Columns that differ most")
    assert page.count("#explained canvas") == 2
    picture(page, "explorer-selection.png")
    page.find("#annotation-label").send_keys("left <b>half</b>")
    page.click("#annotate button")
    page.wait_for("#message", "left <b>half</b>")
    assert explorer.annotations["annotation"].tolist().count("left <b>half</b>") == count
    page.click("[data-export=ids]")
    saved = until(lambda: [*folder.glob("*.csv")], "a saved file")
    until(lambda: len(saved[0].read_text().splitlines()) == count + 1, "all ids in the file")

    drop_rows(page, tmp_path_factory.mktemp("rows"))
    until(lambda: stored_view(page)["placed"], "the view is stored")
    before = stored_view(page)
    browser.refresh()
    page.wait_until_ready()
    assert page.maps() == 2
    assert stored_view(page) == before
    assert page.run("return !document.getElementById('frame-b').hidden")
    assert page.count("#placed li") == 3
    page.click("#tab-selection")
    page.wait_for("#panel", f"{count} points selected")
    page.wait_for("#panel .tips", "left <b>half</b>")
    assert browser.title != "taken"
    page.check_quiet()


def stored_view(page: ExplorerPage) -> dict[str, Any]:
    """Return what the page keeps over a reload, positions rounded."""
    stored = json.loads(page.run("return sessionStorage.getItem('eigenscape ' + location.pathname)"))
    return {**stored, "viewA": {key: round(value, 6) for key, value in (stored["viewA"] or {}).items()}}


def hover_for_inverse(page: ExplorerPage) -> None:
    page.click("#tab-point")
    until(lambda: page.run("return document.documentElement.dataset.ready"), "ready")
    left, top, width, height = page.frame()
    for x in np.linspace(0.3, 0.6, 7):  # some places have no data near them
        page.mouse("mouseMoved", left + x * width, top + 0.55 * height)
        until(lambda: page.run("return 'refused' in document.querySelector('.inverse').dataset"), "an answer")
    until(lambda: page.count(".inverse canvas") == 2, "an image at the cursor")
    page.wait_for(".inverse", "nearest point")
    page.mouse("mouseMoved", left + width - 12, top + height - 30)
    page.wait_for(".inverse", "no data are near")
    page.mouse("mouseMoved", left + 0.45 * width, top + 0.55 * height)
    until(lambda: page.count(".inverse canvas") == 2, "an image at the cursor again")


def drop_rows(page: ExplorerPage, folder: Path) -> None:
    X = load_digits().data[10:13] + 0.5
    names = [f"x{i + 1}" for i in range(64)]
    path = folder / "rows.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in [names, *X]) + "\n")
    page.drop(path)
    page.wait_for("#panel", "3 placed")
    assert page.count("#placed li") == 3
    page.wait_for("#placed", "Near")
    picture(page, "explorer-place.png")


def test_bad_input_gives_a_message(page):
    fit(page, "isomap", n_components=99999)
    page.wait_for("#message", "n_components")
    # The button stays under the pointer when the field loses the focus.
    fit(page, "isomap", n_neighbors=0)
    page.wait_for("#message", "n_neighbors must be at least 1")
    page.click("#message .close")
    until(lambda: not page.find("#message").is_displayed(), "the message is closed")
    page.click("#tab-place")
    page.find("#pasted").send_keys("one, two")
    page.click("#place-text")
    until(lambda: page.find("#message").is_displayed(), "a message")
    assert "error" in page.find("#message").get_attribute("class")
    assert page.maps() >= 1
    page.browser.get_log("browser")  # refused requests are logged by the browser


def test_keyboard(page):
    from selenium.webdriver import ActionChains, Keys

    def press(*keys: str) -> None:
        ActionChains(page.browser).send_keys(*keys).perform()

    page.run("document.getElementById('map-a').focus()")
    press(Keys.ESCAPE)
    press(Keys.ARROW_RIGHT)
    until(lambda: page.text("#tooltip"), "the cursor is at a point")
    press(Keys.ENTER)
    page.wait_for("#panel", "1 point selected")
    page.run("document.getElementById('map-a').focus()")
    press("+", "+", "a")
    until(lambda: int(page.text("#panel h2").split()[0]) > 5, "the points on the screen are selected")
    press("l")
    for key in (*3 * [Keys.ARROW_LEFT], " ", *8 * [Keys.ARROW_RIGHT], " ", *8 * [Keys.ARROW_DOWN], " "):
        press(key)
    before = page.text("#panel h2")
    press(Keys.ENTER)
    until(lambda: page.text("#panel h2") not in ("", before), "the points in the lasso are selected")
    press("p")
    press("t")
    assert page.run("return document.activeElement.id") == "tab-selection"
    press(Keys.ARROW_RIGHT)
    assert page.run("return document.activeElement.id") == "tab-place"
    press("?")
    until(lambda: page.run("return document.getElementById('help-dialog').open"), "the help")
    press(Keys.ESCAPE)
    page.run("document.getElementById('map-a').focus()")
    press("c")
    assert page.run("return document.activeElement.id") == "color"
    reached = set()
    for _ in range(80):
        press(Keys.TAB)
        reached.add(
            page.run("return document.activeElement.id || document.activeElement.getAttribute('aria-label')")
        )
    assert {"query", "help", "map-a", "spatial", "file", "pasted"} <= reached
    assert any(name and name.startswith("Show ") for name in reached)
    page.check_quiet()


def test_views_legend_and_search(page, browser):
    page.click("#spatial")
    until(lambda: page.count("#axes select") == 3, "three axes")
    left, top, width, height = page.frame()
    page.click("[data-tool=pan]")
    page.drag([(left + 300, top + 300), (left + 360, top + 320), (left + 400, top + 330)])
    picture(page, "explorer-3d.png")
    page.click("#spatial")
    page.click("#legend input[aria-label='Show 0']")
    assert "0" in page.run(
        "return JSON.stringify([...document.querySelectorAll('#legend input')].map(b => +b.checked))"
    )
    page.click("#legend input[aria-label='Show 0']")
    page.click("#legend .legend-name")
    zeros = int((load_digits().target[:N] == 0).sum())
    page.wait_for("#panel", f"{zeros} points selected")
    page.find("#query").send_keys("digit 59\n")
    page.wait_for("#panel .row-head", "digit 59")
    page.wait_for("#message", f"{sum('digit 59' in f'digit {i}' for i in range(1, N))} found")
    page.click("#tab-trust")
    page.click("[data-color=kept]")
    page.wait_for("#legend", "Neighbours kept")
    page.click("[data-color=distance]")
    page.wait_for("#legend", "Distance from the point")
    page.mouse("mouseMoved", left + 0.4 * width, top + 0.5 * height)
    page.click("#tab-spectrum")
    page.wait_for("#panel", "Eigenvalues")
    drawn = page.run(
        "return [...document.querySelectorAll('.spectrum .value')].map((one) =>"
        " [one.title, one.firstElementChild.getBoundingClientRect().height])"
    )
    values = [float(re.search(r": ([\d.e+-]+)", text.replace("\u202f", ""))[1]) for text, _ in drawn]
    heights = [height for _, height in drawn]
    line = np.polyval(np.polyfit(values, heights, 1), values)
    np.testing.assert_allclose(heights, line, atol=1.5)  # bars are not cut off
    page.click(".spectrum .value[data-value='2']")
    until(
        lambda: (
            page.run("return [...document.querySelectorAll('#axes select')].map(s => s.value).join()")
            == "1,2"
        ),
        "axes",
    )
    page.choose("#color", "column:0")
    page.check_quiet()


def test_narrow_and_dark_windows(page, browser):
    for size, dark, name in (
        ((390, 780), False, "explorer-narrow.png"),
        ((1280, 820), True, "explorer-dark.png"),
    ):
        resize(browser, size, dark)
        until(lambda width=size[0]: page.run("return innerWidth") == width, "the size of the window")
        overflow = page.run("return document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0
        until(lambda: page.frame()[2] > 300, "a map of a useful size")
        picture(page, name)
    assert page.run("return getComputedStyle(document.body).color") == "rgb(233, 237, 240)"
    page.check_quiet()


#: Events are received when the test calls openEvents().
LATE_EVENTS = """
const Real = EventSource;
window.EventSource = class extends EventTarget {
  constructor(address) {
    super();
    const types = ["open", "error", "job", "map", "removed", "suggestions", "annotations"];
    window.openEvents = () => {
      const source = new Real(address);
      const pass = (event) => this.dispatchEvent(new MessageEvent(event.type, { data: event.data }));
      for (const type of types) source.addEventListener(type, pass);
    };
  }
};
"""


def test_what_happens_before_events_are_received_is_not_lost(page, browser, explorer):
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LATE_EVENTS})
    try:
        browser.refresh()
        page.wait_until_ready()
        mask = np.zeros(explorer.session.data.n, dtype=bool)
        mask[:3] = True
        explorer.session.annotations.set("late", "three", mask)
        page.run("openEvents()")
        until(lambda: page.count("#color option[value='annotation:late']"), "the annotation")
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
        explorer.session.annotations.remove("late")
    page.check_quiet()


def test_colours_that_are_computed_on_request(page):
    page.choose("#color", "density")
    page.wait_for("#legend", "Log density on the map")
    page.choose("#color", "novelty")
    page.wait_for("#legend", "Novelty")
    page.choose("#color", "predicted")
    page.wait_for("#message", "This is being computed")
    page.wait_for("#legend", "Predicted label")
    until(lambda: not page.find("#message").is_displayed(), "the message is removed", seconds=3)
    until(lambda: page.count("#legend input[type=checkbox]") == 10, "an entry for each digit")
    fit(page, "spectral-clustering", n_clusters=3)
    page.wait_for("#caption-a", "SpectralClustering", seconds=90)
    page.choose("#color", "cluster")
    until(lambda: page.count("#legend input[type=checkbox]") == 3, "an entry for each cluster")
    page.check_quiet()


def test_rare_parameters_are_behind_a_disclosure(page):
    """It opens and closes with mouse and keyboard; option objects are in the code."""
    from selenium.webdriver.common.keys import Keys

    page.click("#tab-fit")
    page.choose("#method", "laplacian-eigenmaps")
    assert page.count("#fit-form .fields > .parameter #parameter-n_neighbors") == 1
    assert page.count("#fit-form .fields details #parameter-symmetrize") == 1
    summary, field = page.find("#fit-form .fields summary"), page.find("#parameter-symmetrize")
    assert re.fullmatch(r"\d+ more parameters", summary.text)
    for act in (summary.click, lambda: summary.send_keys(Keys.ENTER), lambda: summary.send_keys(Keys.SPACE)):
        before = field.is_displayed()
        act()
        until(lambda before=before: field.is_displayed() != before, "the disclosure changes")
    page.choose("#parameter-symmetrize", "mutual")
    maps = page.maps()
    page.click("#fit")
    until(lambda: page.maps() == maps + 1, "the map fitted from the form")
    page.wait_for("#caption-a", "LaplacianEigenmaps")
    code = page.run("return [...document.querySelectorAll('#panel pre')].map(one => one.textContent).join()")
    assert "affinity=KNNGraph(symmetrize='mutual')" in code
    assert "--symmetrize=mutual" in code
