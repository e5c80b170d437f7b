"""Documentation of the estimators: complete in every class, with shared entries from one source."""

from __future__ import annotations

import inspect
import re
from ast import literal_eval
from importlib import import_module

import pytest
from numpydoc.docscrape import NumpyDocString

import eigenscape
from eigenscape import estimators
from eigenscape._docstrings import NAMES_LINE, documented_by
from eigenscape.estimators._base import Estimator, KernelEstimator
from eigenscape.estimators._docs import ENTRIES, documented

PUBLIC = [getattr(estimators, name) for name in estimators.__all__]
CLASSES = [cls for cls in PUBLIC if isinstance(cls, type) and issubclass(cls, Estimator)]


def entries(cls: type, section: str) -> dict[str, tuple[str, str]]:
    found = NumpyDocString(inspect.getdoc(cls) or "")[section]
    return {
        name.strip(): (entry.type, " ".join(entry.desc)) for entry in found for name in entry.name.split(",")
    }


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_all_parameters_are_described(cls):
    described = entries(cls, "Parameters")
    for name, parameter in inspect.signature(cls).parameters.items():
        kind, text = described[name]
        assert text, f"{name} has no description"
        assert not re.match(r"As (for|in) :class:", text), f"{name} refers to another class"
        default = re.search(r"default=(.*)", kind)
        assert default is None or literal_eval(default[1]) == parameter.default, f"default of {name}"


@pytest.mark.parametrize("room", ["estimators", "quality", "sc.pp", "sc.tl", "report"])
def test_no_name_of_an_entry_is_left(room):
    module = import_module(f"eigenscape.{room}")
    for public in (getattr(module, name) for name in module.__all__):
        members = [getattr(public, name, None) for name in dir(public)] if isinstance(public, type) else []
        for each in (public, *members):
            lines = (getattr(each, "__doc__", None) or "").split("\n")
            assert not any(NAMES_LINE.fullmatch(line) for line in lines), each


def test_no_estimator_inherits_from_another_one():
    for cls in CLASSES:
        parents = [base for base in cls.__mro__[1:] if issubclass(base, Estimator)]
        assert parents in ([Estimator], [KernelEstimator, Estimator]), cls


def test_lines_are_replaced_by_entries():
    @documented
    class Example:
        """An example.

        {n_neighbors} {coef0}
            An addition.
        {embedding_}
        """

        def __init__(self, n_neighbors=5, coef0="a"): ...

        def fit(self, X, y=None, tol=1e-8):
            """Fit.

            {X/training} {y} {tol}
            """

    kind, text = ENTRIES["n_neighbors"]
    assert f"        n_neighbors : {kind}, default=5\n" in Example.__doc__
    assert text.split("\n")[0].strip() in Example.__doc__
    assert 'default="a"' in Example.__doc__
    assert "            An addition." in Example.__doc__
    assert "embedding_ : ndarray of shape (n_samples, n_components)\n" in Example.__doc__
    lines = [line.strip() for line in Example.fit.__doc__.split("\n")]
    assert "X : array-like of shape (n_samples, n_features)" in lines
    assert {"y : ignored", "tol : float, default=1e-8"} <= set(lines)


def test_functions_have_entries():
    @documented_by({"k": ("int or None", "    Number."), "w": ("array, optional", "    Weights.")})
    def example(k=None, w=None):
        """Example.

        {k} {w}
        """

    assert "k : int or None, default=None\n" in example.__doc__
    assert "w : array, optional\n            Weights." in example.__doc__


def test_an_unknown_entry_raises():
    with pytest.raises(KeyError, match=r"refers to \{n_wheels\}, which has no entry"):

        @documented
        class Example:
            """{n_wheels}"""


def test_help_is_complete():
    assert "As for" not in inspect.getdoc(eigenscape.Isomap)
