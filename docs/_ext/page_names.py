"""Names of the library that the pages mention in backticks must exist."""

from __future__ import annotations

import builtins
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import public_names

from eigenscape import exceptions

_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_DOTTED = re.compile(r"^([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\((.*)\)?)?")
#: Codes that begin like a name and are none: a file, and keys of the configuration of dask.
_OTHER = re.compile(r"^eigenscape\.(json|html|retries)$|^(eigenscape|distributed)\.[a-z.]+-[a-z-]+$")
_CALL = re.compile(r"[\w.]+\([^()]*\)")
_KEYWORD = re.compile(r"(?:^|[,(]\s*)([a-z_]\w*)=")


def source_pages(docs: Path) -> list[Path]:
    """Return the pages that are written by hand or by our scripts."""
    skipped = {"auto_examples", "figures", "backreferences", "api"}
    return [p for p in sorted(docs.rglob("*.md")) if not skipped & set(p.relative_to(docs).parts)]


@cache
def _owners() -> dict[str, Any]:
    """Return what the first part of a dotted name may be: a public name, a module, ``eigenscape``."""
    package = import_module("eigenscape")
    owners: dict[str, Any] = {name: getattr(package, name) for name in package.__all__}
    owners["eigenscape"] = package
    for module in public_names.modules():
        full = import_module(f"eigenscape.{module}")
        owners.setdefault(module.split(".")[0], import_module(f"eigenscape.{module.split('.')[0]}"))
        owners.update({n: getattr(full, n) for n in public_names.module_names(full) if n[0].isupper()})
    return owners


def _attributes(owner: type) -> set[str]:
    """Return parameters, methods and fitted attributes of a class; its docstring lists the attributes."""
    names = {*dir(owner), *inspect.signature(owner).parameters}
    return names | set(re.findall(r"^\s*(\w+) :", inspect.getdoc(owner) or "", flags=re.MULTILINE))


def _part(owner: Any, name: str) -> Any:
    """Return the part of an owner; None if there is none, True if it exists but has no value."""
    if isinstance(owner, ModuleType):
        try:
            return getattr(owner, name)
        except AttributeError:
            try:
                return import_module(f"{owner.__name__}.{name}")
            except ImportError:
                return None
    if inspect.isclass(owner):
        return getattr(owner, name, True) if name in _attributes(owner) else None
    return True


def problem(code: str) -> str | None:
    """Return what is wrong with an inline code that mentions the library, or None."""
    match = _DOTTED.match(code)
    if not match or code.endswith((".py", ".md")) or _OTHER.search(code):
        return None
    first, *rest = match[1].split(".")
    owner = _owners().get(first)
    if owner is None and re.search(r"^[A-Z]\w+(Error|Warning)$", code):
        return None if hasattr(builtins, code) or hasattr(exceptions, code) else f"{code}: no such class"
    if owner is None or (first in ("report", "io", "plot", "sc") and not rest):
        return None
    for name in rest:
        owner = _part(owner, name)
        if owner is None:
            return f"{match[1]}: no {name}"
        if owner is True:
            return None
    if match[3] and callable(owner):
        given = match[3].split(").")[0]  # of the first call only: PCA(2).fit(X, sample_weight=w)
        wrong = next(filter(None, map(problem, _CALL.findall(given))), None)
        if wrong:
            return wrong
        given = _CALL.sub("", given)
        known = set(inspect.signature(owner).parameters)
        if not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(owner).parameters.values()):
            unknown = [name for name in _KEYWORD.findall(given) if name not in known]
            if unknown:
                return f"{match[1]}: no parameter {', '.join(unknown)}"
    return None


def problems(page: Path) -> list[str]:
    """Return the wrong names of a page, with their lines."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), page.read_text(), flags=re.M | re.S)
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        for code in _CODE.findall(line):
            wrong = problem(code)
            if wrong:
                found.append(f"{page.name}:{number}: `{code}`: {wrong}")
    return found
