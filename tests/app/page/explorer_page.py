"""An explorer opened in a real browser, for tests and pictures."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BROWSER, DRIVER = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
# Without --disable-gpu: the software renderer gives WebGL 2 in headless mode.
FLAGS = (
    "--headless --no-sandbox --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage --enable-precise-memory-info"
)
#: Warnings of the browser on its own renderer.
_OWN = ("GL Driver Message", "software WebGL", "swiftshader")


@contextmanager
def open_browser(folder: Path, size: tuple[int, int] = (1280, 820)) -> Iterator[Any]:
    """Open a browser whose profile and downloads are in a folder."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in [*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(60)
    behavior = {"behavior": "allow", "downloadPath": str(folder)}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    resize(driver, size)
    try:
        yield driver
    finally:
        driver.quit()


def resize(driver: Any, size: tuple[int, int], dark: bool = False) -> None:
    """Set the size of the window and the colours of the system."""
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})


def until(condition: Callable[[], Any], what: str, seconds: float = 60) -> Any:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


class ExplorerPage:
    """The page of an explorer."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser, self.url = browser, url
        for log in ("browser", "performance"):
            browser.get_log(log)
        browser.get(url)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        until(lambda: self.run("return document.documentElement.dataset.ready"), "the page is ready")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def count(self, selector: str) -> int:
        return len(self.browser.find_elements("css selector", selector))

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def click(self, selector: str) -> None:
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'nearest'})", selector)
        self.find(selector).click()

    def choose(self, selector: str, value: str) -> None:
        """Choose an entry of a selector."""
        self.run(
            "const one = document.querySelector(arguments[0]); one.value = arguments[1];"
            "one.dispatchEvent(new Event('change'))",
            selector,
            value,
        )
        assert self.run("return document.querySelector(arguments[0]).value", selector) == value

    def wait_for(self, selector: str, text: str = "", seconds: float = 60) -> None:
        """Wait until an element has a text."""
        until(lambda: text in self.text(selector), f"{text!r} in {selector}", seconds)

    def maps(self) -> int:
        return self.count("#history .card[data-map]")

    def mouse(self, kind: str, x: float, y: float, held: bool = False) -> None:
        """Send an event of the mouse: "mouseMoved", "mousePressed" or "mouseReleased"."""
        button = "none" if kind == "mouseMoved" and not held else "left"
        pressed = int(held or kind == "mousePressed")
        self.browser.execute_cdp_cmd(
            "Input.dispatchMouseEvent",
            {
                "type": kind,
                "x": x,
                "y": y,
                "button": button,
                "buttons": pressed,
                "clickCount": int(button == "left"),
            },
        )

    def drag(self, corners: list[tuple[float, float]]) -> None:
        """Press the button at the first corner, move to the others, release it."""
        self.mouse("mouseMoved", *corners[0])
        self.mouse("mousePressed", *corners[0])
        for corner in corners[1:]:
            self.mouse("mouseMoved", *corner, held=True)
        self.mouse("mouseReleased", *corners[-1])

    def frame(self, selector: str = "#map-a") -> tuple[float, float, float, float]:
        """Return left, top, width and height of an element in the window."""
        return tuple(
            self.run(
                "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
                "return [r.left, r.top, r.width, r.height]",
                selector,
            )
        )

    def drop(self, path: Path) -> None:
        """Drop a file on the map."""
        left, top, width, height = self.frame()
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.browser.execute_cdp_cmd(
                "Input.dispatchDragEvent",
                {"type": kind, "x": left + width / 2, "y": top + height / 2, "data": data},
            )

    def screenshot(self, path: Path, colors: int = 256) -> None:
        """Write a picture with few colours, which is small."""
        import io

        from PIL import Image

        image = Image.open(io.BytesIO(self.browser.get_screenshot_as_png())).convert("RGB")
        image.quantize(colors, dither=Image.Dither.NONE).save(path, optimize=True)

    def check_quiet(self) -> None:
        """Check that no error was logged and that all requests went to the server."""
        logged = [one["message"] for one in self.browser.get_log("browser") if one["level"] == "SEVERE"]
        errors = [text for text in logged if not any(own in text for own in _OWN)]
        assert not errors, errors
        events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        addresses = [
            e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
        ]
        strange = {
            url for url in addresses if urlsplit(url).scheme not in ("data", "blob", "chrome", "about")
        }
        assert {urlsplit(url).hostname for url in strange} <= {"127.0.0.1"}
