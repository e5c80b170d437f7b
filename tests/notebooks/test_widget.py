"""The notebook widget: its traits in Python, and its script in a browser with a recording model."""

from __future__ import annotations

import base64
import json
import shutil
import time
from typing import Any

import numpy as np
import pytest

from eigenscape import PCA
from eigenscape.app.page import bundle

pytest.importorskip("anywidget", reason="anywidget is not installed")

from eigenscape.app.widget import MapWidget

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [5.0, 2.0, 0.1]
LABELS = np.array(["oak", "elm", "<b>ash</b>"])[np.arange(60) % 3]


@pytest.fixture
def widget() -> Any:
    images = np.arange(60 * 6, dtype=np.uint8).reshape(60, 2, 3)
    coordinates, ids = PCA(3).fit_transform(X), [f"tree {i}" for i in range(60)]
    return MapWidget(coordinates, LABELS, columns={"size": X[:, 0]}, ids=ids, images=images)


# --- traits -------------------------------------------------------------------------------------------------


def test_points_and_columns(widget):
    drawn = np.frombuffer(widget._coordinates, "<f4").reshape(60, 3)
    np.testing.assert_allclose(drawn, PCA(3).fit(X).embedding_, rtol=1e-6)
    label, size = widget._columns
    assert [label["names"][code] for code in np.frombuffer(label["data"], "<u2")] == LABELS.tolist()
    np.testing.assert_allclose(np.frombuffer(size["data"], "<f4"), X[:, 0], rtol=1e-6)
    assert (widget.color, widget.axes, widget._ids[3]) == ("label", [0, 1], "tree 3")


def test_the_selection_is_readable_and_can_be_set(widget):
    assert widget.selected.tolist() == []
    seen = []
    widget.observe(lambda change: seen.append(change["new"].tolist()), "selected")
    widget._mask = np.packbits(np.arange(60) % 7 == 0, bitorder="little").tobytes()  # as the page does
    assert widget.selected.tolist() == list(range(0, 60, 7))
    widget.selected = [5, 2, 5]
    assert widget.selected.tolist() == [2, 5]
    assert np.flatnonzero(
        np.unpackbits(np.frombuffer(widget._mask, np.uint8), bitorder="little")
    ).tolist() == [2, 5]
    widget.selected = LABELS == "oak"
    assert widget.selected.tolist() == list(range(0, 60, 3))
    assert seen == [list(range(0, 60, 7)), [2, 5], list(range(0, 60, 3))]
    np.testing.assert_array_equal(LABELS[widget.selected], "oak")


def test_errors_name_the_argument(widget):
    with pytest.raises(ValueError, match=r"selected must be between 0 and 59, got 3 to 60"):
        widget.selected = [3, 60]
    with pytest.raises(ValueError, match=r"axes=\[0, 3\] must be two or three of the coordinates 0 to 2"):
        widget.axes = [0, 3]
    coordinates = PCA(2).fit_transform(X)
    with pytest.raises(ValueError, match=r"labels must have shape \(60,\)"):
        MapWidget(coordinates, LABELS[:5])
    with pytest.raises(ValueError, match=r"images must have shape \(60, height, width\)"):
        MapWidget(coordinates, images=np.zeros((5, 2, 2)))
    with pytest.raises(
        ValueError, match=r"coordinates must have shape \(n_samples, 2 or more\), got \(60, 1\)"
    ):
        MapWidget(coordinates[:, :1])


def test_images_are_sent_when_asked(widget, monkeypatch):
    sent = []
    monkeypatch.setattr(widget, "send", lambda content, buffers: sent.append((content, buffers)))
    widget._answer(widget, {"image": 4}, [])
    assert sent == [({"image": 4, "shape": [2, 3, 1]}, [bytes(range(24, 30))])]
    for odd in ({"image": 60}, {"image": "4"}, {}, "image"):
        widget._answer(widget, odd, [])
    assert len(sent) == 1


# --- the script ---------------------------------------------------------------------------------------------

#: A model as anywidget gives it to the script, in a page by itself.
HARNESS = """<!DOCTYPE html><meta charset="utf-8"><body style="width:800px"><div id="out"></div>
<script type="module">
const state = STATE, listeners = {};
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
state._coordinates = bytes(state._coordinates); state._mask = bytes(state._mask);
for (const column of state._columns) column.data = bytes(column.data);
window.sent = []; window.saved = 0;
window.model = { get: (name) => state[name], set: (name, value) => { state[name] = value; },
  save_changes: () => { window.saved++; }, send: (content) => window.sent.push(content),
  on: (event, listener) => { (listeners[event] ??= []).push(listener); },
  off: (event) => { delete listeners[event]; } };
window.emit = (event, ...details) => (listeners[event] ?? []).forEach((listener) => listener(...details));
window.chosen = () => [...Array(60).keys()].filter((i) => (state._mask.getUint8(i >> 3) >> (i & 7)) & 1);
const source = new Blob([SOURCE], { type: "text/javascript" });
const module = await import(URL.createObjectURL(source));
window.stop = module.default.render({ model: window.model, el: document.getElementById("out") });
window.ready = true;
</script>"""


def harness(widget: Any) -> str:
    def text(data: bytes) -> str:
        return base64.b64encode(data).decode()

    state = {
        name: getattr(widget, name) for name in ("_n", "_d", "_ids", "_has_images", "color", "axes", "height")
    }
    state |= {"_coordinates": text(widget._coordinates), "_mask": text(widget._mask)}
    state["_columns"] = [{**column, "data": text(column["data"])} for column in widget._columns]

    def safe(value: object) -> str:
        return json.dumps(value).replace("<", "\\u003c")

    return HARNESS.replace("STATE", safe(state)).replace("SOURCE", safe(bundle("widget.js")))


@pytest.fixture
def page(widget, tmp_path):
    browser, chromedriver = (
        shutil.which("chromium") or shutil.which("chromium-browser"),
        shutil.which("chromedriver"),
    )
    if browser is None or chromedriver is None:
        pytest.skip("chromium and chromedriver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for (
        flag
    ) in f"--headless --no-sandbox --disable-dev-shm-usage --user-data-dir={tmp_path / 'profile'}".split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    (tmp_path / "widget.html").write_text(harness(widget), "utf-8")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    driver.get((tmp_path / "widget.html").as_uri())
    end = time.monotonic() + 30
    while not driver.execute_script("return window.ready === true"):
        assert time.monotonic() < end, driver.get_log("browser")
        time.sleep(0.05)
    yield driver
    driver.quit()


@pytest.mark.browser
@pytest.mark.process
@pytest.mark.long
def test_the_script_selects_colours_and_hovers(page):
    def run(script: str) -> Any:
        return page.execute_script(script)

    names = [one.text for one in page.find_elements("css selector", ".legend-text")]
    assert names == ["<b>ash</b>", "elm", "oak"]
    page.find_elements("css selector", ".legend-name")[2].click()
    assert run("return [window.chosen(), window.saved]") == [list(range(0, 60, 3)), 1]
    run(
        """const bits = new Uint8Array(8);
        bits[0] = 6;
        model.set('_mask', new DataView(bits.buffer));
        emit('change:_mask');"""
    )
    assert page.find_element("css selector", ".widget-tools span").text == "2 selected"
    run("const s = document.querySelector('select'); s.value = 'size'; s.dispatchEvent(new Event('change'))")
    assert run("return model.get('color')") == "size"
    assert page.find_elements("css selector", ".legend-ramp")
    run(  # the keyboard moves the cursor from point to point
        """const map = document.querySelector('.widget-map');
        map.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));"""
    )
    row = run("return Number(document.querySelector('.widget-card').dataset.row)")
    assert page.find_element("css selector", ".widget-card strong").text == f"tree {row}"
    assert run("return window.sent") == [{"image": row}]
    run(f"emit('msg:custom', {{image: {row}, shape: [2, 3, 1]}}, [new DataView(new Uint8Array(6).buffer)])")
    assert page.find_elements("css selector", ".widget-card canvas")
    run("model.set('axes', [0, 1, 2]); emit('change:axes'); window.stop()")
    assert [entry["message"] for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
