"""Files of the page: a linter for the scripts that needs no tool chain, colours, contrast, bundles."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from eigenscape import _palette
from eigenscape.app import page
from eigenscape.app.page import asset, asset_names, bundle

FOLDER = Path(page.__file__).parent
MODULES = [name for name in asset_names() if name.endswith(".js")]
TOP_LEVEL = re.compile(
    r"^(?:export )?(?:async )?(?:function|class|const|let) (?:\{[^}]*\}|(\w+))", flags=re.MULTILINE
)
IMPORT = re.compile(r'^import \{ ([^}]*) \} from "([^"]+)";$', flags=re.MULTILINE)


def exported(text: str) -> set[str]:
    return set(re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", text, flags=re.MULTILINE))


def imports(name: str) -> list[tuple[str, str]]:
    """Return the modules and names that a module imports."""
    found = []
    for names, reference in IMPORT.findall(asset(name)):
        module = (FOLDER / name).parent.joinpath(reference).resolve().relative_to(FOLDER.resolve()).as_posix()
        found += [(module, one.strip()) for one in names.split(",")]
    return found


@pytest.mark.parametrize("name", MODULES)
def test_imports_resolve_and_are_used(name):
    text = asset(name)
    assert len(re.findall(r"^import ", text, flags=re.MULTILINE)) == len(IMPORT.findall(text))
    body = IMPORT.sub("", text)
    for module, imported in imports(name):
        assert imported in exported(asset(module)), f"{name} imports {imported} from {module}"
        assert re.search(rf"\b{imported}\b", body), f"{name} does not use {imported}"


def test_every_export_is_imported_somewhere():
    used = {pair for name in MODULES for pair in imports(name)}
    entries = {("map.js", "MapView"), ("bits.js", "decodeBase64")}  # used by reports and widgets
    unused = {(name, one) for name in MODULES for one in exported(asset(name))} - used - entries
    assert unused == set()


@pytest.mark.parametrize("name", MODULES)
def test_functions_have_types(name):
    """Every function and class at the top level follows a comment; functions have ``@returns``."""
    lines = asset(name).splitlines()
    for number, line in enumerate(lines):
        if not re.match(r"(?:export )?(?:async )?(?:function|class) ", line):
            continue
        assert lines[number - 1].endswith("*/"), f"{name}:{number + 1} has no comment"
        start = max(i for i in range(number) if lines[i].startswith("/**"))
        comment = "\n".join(lines[start:number])
        if "class " not in line:
            assert "@returns" in comment, f"{name}:{number + 1} has no @returns"
            assert "()" in line or "@param" in comment, f"{name}:{number + 1} has no @param"


@pytest.mark.parametrize("name", MODULES)
def test_text_never_becomes_markup(name):
    text = asset(name)
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|https?://"
    found = [one for one in re.findall(forbidden, text) if "www.w3.org" not in text[text.index(one) :][:40]]
    assert found == []
    assert "</script" not in text
    assert "\t" not in text


def test_markup_obeys_the_content_policy():
    html = asset("explorer.html")
    assert not re.search(r"\sstyle=|\son\w+=|<style", html)
    assert re.findall(r"<script[^>]*>", html) == ['<script type="module" src="assets/explorer.js">']
    files = re.findall(r'(?:href|src)="assets/([^"]+)"', html)
    assert set(files) <= set(asset_names())
    identifiers = re.findall(r'\bid="([^"]+)"', html)
    assert len(identifiers) == len(set(identifiers))
    asked = re.findall(r'byId\("([\w-]+)"\)', "".join(asset(name) for name in MODULES))
    assert set(asked) <= set(identifiers)


@pytest.mark.parametrize("name", [name for name in MODULES if "/" not in name])
def test_bundles_are_one_module(name):
    text = bundle(name)
    assert "import {" not in text
    names = [one for one in TOP_LEVEL.findall(text) if one]
    assert len(names) == len(set(names)), {one for one in names if names.count(one) > 1}
    assert exported(text) == exported(asset(name))


def test_files_that_are_not_there():
    with pytest.raises(KeyError, match=r"no file '\.\./__init__\.py'"):
        asset("../__init__.py")


@pytest.mark.process
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_syntax(tmp_path):
    """Every module is parsed by a JavaScript engine, and so is the bundle of the explorer, in one process."""
    whole, broken = tmp_path / "bundle.mjs", tmp_path / "broken.mjs"
    whole.write_text(bundle("explorer.js"), encoding="utf-8")
    broken.write_text("const one = 1;\nconst one = 2;\n")
    script = (
        "for (const path of process.argv.slice(1)) {"
        " try { new vm.SourceTextModule(fs.readFileSync(path, 'utf8')); }"
        " catch (error) { console.log(`${path}: ${error}`); } }"
    )
    paths = [broken, whole, *(FOLDER / name for name in MODULES)]
    command = ["node", "--experimental-vm-modules", "--no-warnings", "-e", script, *map(str, paths)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert found == f"{broken}: SyntaxError: Identifier 'one' has already been declared\n"


# --- colours ------------------------------------------------------------------------------------------------


def hex_colors(name: str) -> tuple[str, ...]:
    """Return the colours of a constant of palette.js."""
    text = re.search(rf"const {name} = \[(.*?)\];", asset("palette.js"), flags=re.DOTALL)[1]
    return tuple(re.findall(r"#\w{6}", text))


def test_palettes_are_those_of_figures():
    assert hex_colors("OKABE_ITO") == _palette.OKABE_ITO
    assert hex_colors("MUTED") == _palette.MUTED
    assert hex_colors("MANY") == _palette.MANY
    text = asset("palette.js")
    for name, value in (
        ("OTHER", _palette.OTHER),
        ("MISSING", _palette.MISSING),
        ("PLAIN", _palette.OKABE_ITO[0]),
    ):
        assert f'const {name} = "{value}";' in text
    assert f"const MAX_CATEGORIES = {_palette.MAX_CATEGORIES};" in text
    assert f"const DENSE = {_palette.DENSE};" in text


def lab(color: str) -> np.ndarray:
    """Return lightness and colour of CIELAB."""
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ linear / [0.9505, 1.0, 1.089])  # exact for colours that are not nearly black
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def closest(colors: Iterable[str]) -> float:
    """Return the smallest distance of two colours."""
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(map(lab, colors), 2))


def lighter_colors(name: str) -> dict[str, str]:
    text = re.search(rf"const {name} = \{{(.*?)\}};", asset("palette.js"), flags=re.DOTALL)[1]
    return dict(re.findall(r'"(#\w{6})": "(#\w{6})"', text))


def test_colors_are_distinct_and_visible_on_a_dark_background():
    ten, some = lighter_colors("ON_DARK"), lighter_colors("MANY_ON_DARK")
    assert tuple(ten) == _palette.MUTED
    assert closest(ten.values()) > 30
    assert set(some) < set(_palette.MANY)
    twenty = [some.get(color, color) for color in _palette.MANY]
    assert closest(twenty) >= closest(_palette.MANY)
    dark = custom_properties(asset("map.css").split("@media (prefers-color-scheme: dark)")[1])
    for ground in ("surface", "raised"):  # WCAG 2 asks for 3 between graphics and their background
        for color in (*ten.values(), *twenty):
            assert (luminance(color) + 0.05) / (luminance(dark[ground]) + 0.05) > 3, color


@pytest.mark.parametrize("name", ["viridis", "cividis"])
def test_color_maps_are_those_of_matplotlib(name):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    text = re.search(rf"{name}:\n(.*?),\n", asset("palette.js"), flags=re.DOTALL)[1]
    digits = "".join(re.findall(r'"(\w+)"', text))
    expected = matplotlib.colormaps[name](np.arange(256), bytes=True)[:, :3]
    np.testing.assert_array_equal(np.frombuffer(bytes.fromhex(digits), np.uint8).reshape(256, 3), expected)


def custom_properties(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#\w{6});", text))


def luminance(color: str) -> float:
    """Return the relative luminance of WCAG 2."""
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_text_has_the_contrast_of_wcag_aa():
    light, dark = asset("map.css").split("@media (prefers-color-scheme: dark)")
    for colors in (custom_properties(light), custom_properties(dark)):
        pairs = [
            (ink, ground)
            for ink in ("ink", "quiet", "warn", "accent")
            for ground in ("surface", "raised", "page")
        ]
        for ink, ground in [*pairs, ("on-accent", "accent"), ("ink", "soft"), ("surface", "ink")]:
            first, second = sorted([luminance(colors[ink]), luminance(colors[ground])])
            assert (second + 0.05) / (first + 0.05) >= 4.5, (ink, ground)
