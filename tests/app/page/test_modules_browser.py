"""Modules of the page in a real browser: index, lasso, masks, colours and renderers beside numpy."""

from __future__ import annotations

import base64
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explorer_page import BROWSER, DRIVER, open_browser

from eigenscape.app import page as page_package
from eigenscape.plot._categories import find_categories

pytestmark = pytest.mark.browser

if BROWSER is None or DRIVER is None:
    pytest.skip("chromium and chromedriver are not installed", allow_module_level=True)
pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
path_module = pytest.importorskip("matplotlib.path", reason="matplotlib is not installed")

FOLDER = Path(page_package.__file__).parent


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Files of the page and an empty document."""

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path != "/":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        text = (
            "<!doctype html><link rel=icon href='data:,'><link rel=stylesheet href=map.css><div id=box></div>"
        )
        self.wfile.write(text.encode())


@pytest.fixture(scope="module")
def call(tmp_path_factory) -> Iterator[Any]:
    """Return a function that calls an expression of the exports ``m`` of a module and the arguments ``a``."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(FOLDER))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open_browser(tmp_path_factory.mktemp("modules")) as driver:
        driver.get(f"http://127.0.0.1:{server.server_port}/")

        def run(module: str, expression: str, *arguments: Any) -> Any:
            script = (
                "const done = arguments[arguments.length - 1], a = arguments;"
                f"import('./{module}').then(m => ({expression}))"
                ".then(value => done({value}), error => done({error: String(error)}))"
            )
            answer = driver.execute_async_script(script, *arguments)
            assert "error" not in answer, answer["error"]
            return answer["value"]

        yield run
    server.shutdown()
    server.server_close()


POINTS = np.random.default_rng(0).normal(size=(400, 2)).astype(np.float32)
INDEX = "new m.GridIndex(Float32Array.from(a[0]))"
LATER = INDEX.replace("m.", "m2.", 1)


def test_the_nearest_point_is_found(call):
    queries = np.random.default_rng(1).normal(size=(60, 2))
    found = call(
        "grid.js",
        f"(index => a[1].map(([x, y]) => index.nearest(x, y, 0.5, 0.25)))({INDEX})",
        POINTS.ravel().tolist(),
        queries.tolist(),
    )
    distances = np.linalg.norm((POINTS[None] - queries[:, None]) / [0.5, 0.25], axis=2)
    expected = np.where(distances.min(axis=1) <= 1, distances.argmin(axis=1), -1)
    np.testing.assert_array_equal(found, expected)
    assert len(set(found)) > 20
    assert -1 in found


def test_lasso_and_box_select_the_points_inside(call):
    angles = np.linspace(0, 2 * np.pi, 9)[:-1]
    star = np.column_stack([np.cos(angles), np.sin(angles)]) * np.tile([1.6, 0.5], 4)[:, None]
    script = f"m2 => Array.from(m.pointsInPolygon({LATER}, a[1], i => i !== 7))"
    found = call("lasso.js", f"import('./grid.js').then({script})", POINTS.ravel().tolist(), star.tolist())
    inside = path_module.Path(star).contains_points(POINTS)
    inside[7] = False
    np.testing.assert_array_equal(np.array(found, dtype=bool), inside)
    assert 20 < inside.sum() < 300
    script = f"m2 => Array.from(m.pointsInBox({LATER}, [1, -1], [-0.5, 0.4], () => true))"
    found = call("lasso.js", f"import('./grid.js').then({script})", POINTS.ravel().tolist())
    x, y = POINTS.T
    np.testing.assert_array_equal(np.array(found, bool), (x >= -0.5) & (x <= 1) & (y >= -1) & (y <= 0.4))


def test_masks_are_bits_in_little_order(call):
    mask = np.random.default_rng(2).random(1003) < 0.3
    packed = call("bits.js", "m.packMask(Uint8Array.from(a[0]))", mask.astype(int).tolist())
    bits = np.frombuffer(base64.b64decode(packed), np.uint8)
    np.testing.assert_array_equal(np.unpackbits(bits, bitorder="little")[:1003], mask)
    again = call("bits.js", "Array.from(m.unpackMask(a[0], 1003))", packed)
    np.testing.assert_array_equal(again, mask)


@pytest.mark.parametrize("count", [2, 8, 10, 14, 33])
def test_categories_have_the_colors_and_the_order_of_figures(call, count):
    rng = np.random.default_rng(count)
    labels = np.array([f"name {i:02d}" for i in rng.geometric(2 / count, 900) % count], dtype=object)
    labels[::50] = None
    expected = find_categories(labels)
    names = sorted(set(labels[labels != None]))  # noqa: E711
    codes = [65535 if one is None else names.index(one) for one in labels]
    found = call(
        "palette.js",
        "(c => ({...c, codes: Array.from(c.codes)}))(m.assignCategories(a[0], a[1]))",
        codes,
        names,
    )
    assert found["names"] == expected.names
    assert [one.lower() for one in found["colors"]] == [one.lower() for one in expected.colors]
    np.testing.assert_array_equal(found["codes"], expected.codes)
    np.testing.assert_array_equal(found["counts"], np.bincount(expected.codes))


@pytest.mark.parametrize(("canvas", "n"), [(False, 500), (True, 500), (True, 60_000)])
def test_points_are_drawn_where_they_belong(call, canvas, n):
    """The pixels of a grey-scale picture are painted at the positions of the points, by either renderer."""
    script = """(() => {
      const box = document.getElementById('box');
      box.replaceChildren(); box.style.width = '400px'; box.style.height = '300px';
      const n = a[0], xy = new Float32Array(2 * n);
      for (let i = 0; i < n; i++) { xy[2 * i] = i % 2 ? 10 : -10; xy[2 * i + 1] = i % 4 < 2 ? 5 : -5; }
      const map = new m.MapView(box, {canvas: a[1], ticks: false, dark: false});
      map.setPoints(xy, n, 2);
      map.setColors(new Uint8Array(3 * n).fill(0).map((_, k) => k % 3 === 0 ? 255 : 0));
      map.drawNow();
      const copy = document.createElement('canvas'); copy.width = 400; copy.height = 300;
      const context = copy.getContext('2d'); context.drawImage(map.pointCanvas, 0, 0, 400, 300);
      const corners = [[10, 5], [-10, 5], [10, -5], [-10, -5], [0, 0]];
      const places = corners.map(p => map.view.toScreen(...p).map(Math.round));
      const colors = places.map(([x, y]) => Array.from(context.getImageData(x, y, 1, 1).data));
      const kind = map.renderer.kind; map.destroy();
      return {colors, kind};
    })()"""
    found = call("map.js", script, n, canvas)
    assert found["kind"] == ("canvas" if canvas else "webgl")
    colors = np.array(found["colors"])
    assert (colors[:4, 0] > 200).all()
    assert (colors[:4, 3] > 180).all()
    assert (colors[4] == 0).all()


def test_wheel_pinch_and_stored_views(call):
    """A view that was stored is the same after it is set again, in a map of another size."""
    script = """(async () => {
      const box = document.getElementById('box');
      box.replaceChildren(); box.style.width = '400px'; box.style.height = '300px';
      const map = new m.MapView(box, {});
      map.setPoints(new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]), 4, 2);
      const home = map.isHome();
      const at = {clientX: 100, clientY: 100, cancelable: true};
      box.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, ...at}));
      const zoomed = map.view.zoom, stored = map.getView();
      const touch = (type, pointerId, clientX) => box.dispatchEvent(
        new PointerEvent('pointer' + type, {pointerId, clientX, clientY: 150, pointerType: 'touch'}));
      touch('down', 1, 150); touch('down', 2, 250); touch('move', 2, 350);
      touch('up', 1, 150); touch('up', 2, 350);
      const pinched = map.view.zoom / zoomed;
      map.setView(stored);
      const again = map.getView();
      box.style.width = '600px';
      await new Promise(resolve => setTimeout(resolve, 300));
      const wide = map.getView(); map.destroy();
      return {home, zoomed, pinched, stored, again, wide};
    })()"""
    found = call("map.js", script)
    assert found["home"]
    assert found["zoomed"] == pytest.approx(np.exp(0.48), rel=1e-6)
    assert found["pinched"] == pytest.approx(2, rel=1e-6)
    assert found["again"] == pytest.approx(found["stored"])
    assert found["wide"] == pytest.approx(found["stored"])


def test_new_points_outside_of_the_map_are_drawn_at_its_edge(call):
    """Their labels tell so; those inside are drawn at their places."""
    script = """(() => {
      const box = document.getElementById('box');
      box.replaceChildren(); box.style.width = '400px'; box.style.height = '300px';
      const map = new m.MapView(box, {ticks: false});
      map.setPoints(new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]), 4, 2);
      map.setInsets({left: 20, right: 100, top: 10, bottom: 10});
      const texts = [], real = map.overlayContext;
      map.overlayContext = new Proxy(real, {
        get: (_, key) => key === 'fillText' ? (...parts) => texts.push(parts)
          : typeof real[key] === 'function' ? real[key].bind(real) : real[key],
        set: (_, key, value) => { real[key] = value; return true; },
      });
      map.setMarkers([{coordinates: [0.5, 0.5], label: 'in'}, {coordinates: [90, 70], label: 'far'}]);
      map.drawAbove();
      const place = map.view.toScreen(0.5, 0.5); map.destroy();
      return {texts: texts.slice(-2), place};
    })()"""
    found = call("map.js", script)
    (inside, x, y), (far, far_x, far_y) = found["texts"]
    assert (inside, far) == ("in", "far (outside)")
    assert abs(x - found["place"][0]) < 20
    assert y == pytest.approx(found["place"][1])
    assert 200 < far_x < 300
    assert 10 < far_y < 40


def test_a_lasso_is_drawn_by_keyboard(call):
    """Arrow keys move a cross, Space sets corners, Enter selects; a box needs one corner; Escape gives up."""
    script = """(() => {
      const box = document.getElementById('box');
      box.replaceChildren(); box.style.width = '400px'; box.style.height = '300px';
      const map = new m.MapView(box, {});
      map.setPoints(Float32Array.from(a[0]), a[0].length / 2, 2);
      const selected = []; map.on('select', one => selected.push([Array.from(one.mask), one.mode]));
      const shapes = [];
      const press = (key, times = 1) => {
        const event = () => new KeyboardEvent('keydown', {key, cancelable: true});
        for (let k = 0; k < times; k++) box.dispatchEvent(event());
      };
      const corners = [], corner = () => { press(' '); corners.push(map.view.toUnits(...map.pen)); };
      map.setTool('lasso');
      press('ArrowLeft', 4); corner(); press('ArrowRight', 9); corner(); press('ArrowDown', 7); corner();
      shapes.push(map.shape.length); press('Enter'); shapes.push(map.shape.length);
      map.setTool('box');
      press('ArrowUp', 5); corner(); press('ArrowRight', 6); press('ArrowDown', 8);
      corners.push(map.view.toUnits(...map.pen)); press('Enter');
      press(' '); press('ArrowUp'); press('Escape'); shapes.push(map.shape.length, map.pen === null);
      map.destroy();
      return {selected, corners, shapes};
    })()"""
    found = call("map.js", script, POINTS.ravel().tolist())
    (lasso, mode), (box, _) = found["selected"]
    inside = path_module.Path(found["corners"][:3]).contains_points(POINTS)
    np.testing.assert_array_equal(np.array(lasso, dtype=bool), inside)
    low, high = np.sort(found["corners"][3:], axis=0)
    np.testing.assert_array_equal(np.array(box, dtype=bool), ((low <= POINTS) & (high >= POINTS)).all(axis=1))
    assert mode == "replace"
    assert inside.sum() > 5
    assert found["shapes"] == [4, 0, 0, True]
