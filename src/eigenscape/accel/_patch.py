"""Replacement of scikit-learn's classes and functions, and its reversal.

Replaced are names in scikit-learn's public packages and those that other modules have imported. The modules
that define the originals keep them: pickles of original objects refer to these modules, and scikit-learn's
own code, to which calls are left, stays as it is. References in containers, default arguments and class
attributes are not found.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from eigenscape.accel import _settings

#: Public package of scikit-learn, name, and module of the replacement. Old versions have no ClassicalMDS.
REPLACED = (
    ("sklearn.manifold", "Isomap", "_isomap"),
    ("sklearn.manifold", "LocallyLinearEmbedding", "_locally_linear"),
    ("sklearn.manifold", "locally_linear_embedding", "_locally_linear"),
    ("sklearn.manifold", "SpectralEmbedding", "_spectral_embedding"),
    ("sklearn.manifold", "spectral_embedding", "_spectral_embedding"),
    ("sklearn.manifold", "ClassicalMDS", "_classical_mds"),
    ("sklearn.manifold", "trustworthiness", "_trustworthiness"),
    ("sklearn.decomposition", "KernelPCA", "_kernel_pca"),
    ("sklearn.cluster", "SpectralClustering", "_spectral_clustering"),
    ("sklearn.cluster", "spectral_clustering", "_spectral_clustering"),
)

_lock = threading.RLock()
_installed = False
_contexts = 0
#: Modules and names that held a replacement before it was installed, and keep it.
_explicit: set[tuple[str, str]] = set()
_pairs: list[tuple[Any, Any]] | None = None


def pairs() -> list[tuple[Any, Any]]:
    """Return the originals with their replacements."""
    global _pairs
    if _pairs is None:
        found = []
        for package, name, module in REPLACED:
            original = getattr(importlib.import_module(package), name, None)
            if original is not None:
                ours = getattr(importlib.import_module(f"eigenscape.accel.{module}"), name)
                found.append((original, ours))
        _pairs = found
    return _pairs


def install(few_points: int | None = None) -> None:
    """Replace scikit-learn's classes and functions by those of :mod:`eigenscape.accel`.

    Modules that have imported them before use the replacements, too. Calling it again has no effect but to
    set ``few_points``.

    Parameters
    ----------
    few_points : int or None, default=None
        Number of points up to which calls are left to SciPy and scikit-learn, since loading compiled code,
        once in a process, takes longer than they do. If None, the number at which one call of the class
        gains as much: 1400 to 3500. Steps that need no compiled code run here from 300 points on. Use 0 in
        a process that fits often.

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
    with _lock:
        _settings.set_few_points(few_points)
        if not _installed:
            _explicit.update((module.__name__, name) for module, name, _ in _held(_by_id(1)))
            _replace(_by_id(0))
            _installed = True


def uninstall() -> None:
    """Restore scikit-learn's classes and functions, also in modules that imported the replacements."""
    global _installed, _contexts
    with _lock:
        if _installed:
            _replace(_by_id(1))
            _explicit.clear()
            _settings.set_few_points(None)
            _installed, _contexts = False, 0


def is_installed() -> bool:
    """Return whether scikit-learn's classes are replaced."""
    return _installed


@contextmanager
def accelerated(few_points: int | None = None) -> Iterator[None]:
    """Install within a block. Blocks may be nested, and overlap in several threads.

    The last one to end uninstalls, unless :func:`install` was called before the first.
    """
    global _contexts
    with _lock:
        if _contexts or not _installed:
            _contexts += 1
            install(few_points)
            counted = True
        else:
            counted = False
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
        if (module.__name__, name) not in _explicit:
            setattr(module, name, other)


def _held(others: dict[int, Any]) -> Iterator[tuple[ModuleType, str, Any]]:
    """Yield modules and names that refer to one of the objects, with the object to replace it."""
    modules: list[Any] = list(sys.modules.values())  # which may hold other objects
    for module in modules:
        if not isinstance(module, ModuleType) or not _uses(module.__name__):
            continue
        for name, value in list(vars(module).items()):
            other = others.get(id(value))
            if other is not None:
                yield module, name, other


def _uses(module: str) -> bool:
    """Return whether a module is a user of scikit-learn, not a part of it or of this package."""
    root = module.partition(".")[0]
    if root == "sklearn":
        return module in {package for package, _, _ in REPLACED} or ".tests." in module
    return root != "eigenscape"
