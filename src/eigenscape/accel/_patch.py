"""Replacement of scikit-learn's classes and functions, and its reversal.

Replaced are names in scikit-learn's public packages and those that other modules have imported. The modules
that define the originals keep them: pickles of original objects refer to these modules, and scikit-learn's
own code, to which calls are left, stays as it is. References in containers, default arguments and class
attributes are not found.

Nothing of scikit-learn is imported for it: the names of a package that is not imported yet are replaced when
it is (:class:`_Finder`).
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from eigenscape.accel._record import REPLACED

PACKAGES = tuple(dict.fromkeys(each.package for each in REPLACED))

_lock = threading.RLock()
_installed = False
_contexts = 0
#: Modules and names that held a replacement before it was installed, and keep it.
_explicit: set[tuple[str, str]] = set()
#: The originals with their replacements, for each package of scikit-learn that has been imported.
_pairs: dict[str, list[tuple[Any, Any]]] = {}


def pairs() -> list[tuple[Any, Any]]:
    """Return the originals with their replacements, for packages that have been imported to their end."""
    for package in PACKAGES:
        spec = getattr(sys.modules.get(package), "__spec__", None)
        if package not in _pairs and spec is not None and not getattr(spec, "_initializing", False):
            _pairs[package] = _pairs_of(package)
    return [pair for found in _pairs.values() for pair in found]


def _pairs_of(package: str) -> list[tuple[Any, Any]]:
    """Import the replacements of a package, and return them with the originals."""
    return [
        (original, getattr(importlib.import_module(f"eigenscape.accel.{each.module}"), each.name))
        for each in REPLACED
        if each.package == package
        and (original := getattr(sys.modules[package], each.name, None)) is not None
    ]


class _Finder:
    """Finder that replaces the names of a package after its import; it finds no modules of its own."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in PACKAGES:
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in others if spec is not None), None)
        loader: Any = None if spec is None else spec.loader
        if not hasattr(loader, "exec_module"):
            return None
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # restores the method of the class
            execute(module)
            _replace_in(module)

        loader.exec_module = exec_module
        return spec


def _replace_in(module: ModuleType) -> None:
    """Replace the names of a package that has just been imported; no user of it holds them yet."""
    package = module.__name__
    try:
        found = _pairs_of(package)
    except ImportError:
        # Another thread loads them for another package, and waits for the end of this import.
        threading.Thread(target=_replace_later, args=(package,), daemon=True).start()
        return
    with _lock:
        _pairs.setdefault(package, found)
        if _installed:
            vars(module).update(_references(module, _by_id(0)))
            _restore_within(package)


def _replace_later(package: str) -> None:
    """Replace the names of a package when its import has ended, also in modules that use them by then."""
    _pairs_of(importlib.import_module(package).__name__)  # waits
    with _lock:
        if _installed:
            _replace(_by_id(0))
            for name in PACKAGES:
                _restore_within(name)


def _restore_within(package: str) -> None:
    """Restore the originals in modules of a package that imported replacements from another package."""
    originals = _by_id(1)
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{package}.") and ".tests." not in name:
            _namespace(module).update(_references(module, originals))


_finder = _Finder()


def _renew_lock() -> None:
    """Start anew in a forked process, where a thread that held the lock does not go on."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def install() -> None:
    """Replace scikit-learn's classes and functions by the ones in :mod:`eigenscape.accel`.

    Modules that have imported them before use the replacements, too. Calling it again has no effect.

    Examples
    --------
    >>> import sklearn.manifold
    >>> from eigenscape import accel
    >>> accel.install()
    >>> sklearn.manifold.Isomap.__module__
    'eigenscape.accel._isomap'
    >>> accel.uninstall()
    >>> sklearn.manifold.Isomap.__module__
    'sklearn.manifold._isomap'
    """
    global _installed
    for package in PACKAGES:
        if package in sys.modules:
            importlib.import_module(package)  # waits if another thread is importing it
    with _lock:
        if not _installed:
            _explicit.update((module, name) for module, name, _ in _held(_by_id(1)))
            _replace(_by_id(0))
            sys.meta_path.insert(0, _finder)
            _installed = True


def uninstall() -> None:
    """Restore scikit-learn's classes and functions, also in modules that imported the replacements.

    Examples
    --------
    >>> import sklearn.manifold
    >>> from eigenscape import accel
    >>> accel.install()
    >>> accel.uninstall()
    >>> sklearn.manifold.Isomap.__module__
    'sklearn.manifold._isomap'
    """
    global _installed, _contexts
    with _lock:
        if _installed:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _finder]
            _replace(_by_id(1))
            _explicit.clear()
            _installed, _contexts = False, 0


def is_installed() -> bool:
    """Return whether scikit-learn's classes are replaced.

    Examples
    --------
    >>> from eigenscape import accel
    >>> with accel.accelerated():
    ...     accel.is_installed()
    True
    """
    return _installed


@contextmanager
def accelerated() -> Iterator[None]:
    """Install within a block. Blocks may be nested, and overlap in several threads.

    The last one to end uninstalls, unless :func:`install` was called before the first.

    Examples
    --------
    >>> import sklearn.manifold
    >>> from eigenscape import accel
    >>> with accel.accelerated():
    ...     sklearn.manifold.Isomap.__module__
    'eigenscape.accel._isomap'
    >>> accel.is_installed()
    False
    """
    global _contexts
    with _lock:
        counted = _contexts > 0 or not _installed
        if counted:
            _contexts += 1
            install()
    try:
        yield
    finally:
        with _lock:
            if counted and _contexts:
                _contexts -= 1
                if not _contexts:
                    uninstall()


def _by_id(side: int) -> dict[int, Any]:
    """Return, by the identity of originals (0) or replacements (1), the others."""
    return {id(pair[side]): pair[1 - side] for pair in pairs()}


def _replace(others: dict[int, Any]) -> None:
    """Replace objects in all modules that use them."""
    for module, name, other in list(_held(others)):
        if (module, name) not in _explicit:
            _namespace(sys.modules[module])[name] = other


def _held(others: dict[int, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield modules and names that refer to one of the objects, with the object to replace it."""
    modules: dict[str, Any] = dict(sys.modules) if others else {}  # which may hold other objects
    for module, content in modules.items():
        # parts of scikit-learn and of this package are no users
        inner = module.partition(".")[0] in ("sklearn", "eigenscape")
        uses = not inner or module in PACKAGES or ".tests." in module
        if isinstance(content, ModuleType) and uses:
            for name, other in _references(content, others).items():
                yield module, name, other


def _references(module: ModuleType, others: dict[int, Any]) -> dict[str, Any]:
    """Return the names of a module that refer to one of the objects, with the object to replace it."""
    names = dict(_namespace(module))
    if others.keys().isdisjoint(map(id, names.values())):  # all modules are searched: most of the time
        return {}
    return {name: others[id(value)] for name, value in names.items() if id(value) in others}


def _namespace(module: ModuleType) -> dict[str, Any]:
    """Return the names of a module. A lazy one, which its own attribute would load, is not loaded."""
    names: dict[str, Any] = ModuleType.__getattribute__(module, "__dict__")
    return names
