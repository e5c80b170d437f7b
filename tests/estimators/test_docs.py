"""Documentation of the estimators: complete in every class, with shared entries from one source."""

from __future__ import annotations

import inspect
import re
from ast import literal_eval

import pytest
from numpydoc.docscrape import NumpyDocString

import eigenscape
from eigenscape import estimators
from eigenscape.estimators._base import Estimator
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
    assert not re.search(r"^ *\{\w+(/\w+)?\}$", cls.__doc__ or "", flags=re.MULTILINE)


def test_the_base_class_is_the_only_one():
    for cls in CLASSES:
        parents = [base for base in cls.__mro__[1:] if issubclass(base, Estimator)]
        assert parents == [Estimator], cls


def test_lines_are_replaced_by_entries():
    @documented
    class Example:
        """An example.

        {n_neighbors}
        {coef0}
            An addition.
        {embedding_}
        """

        def __init__(self, n_neighbors=5, coef0="a"): ...

    kind, text = ENTRIES["n_neighbors"]
    assert f"        n_neighbors : {kind}, default=5\n" in Example.__doc__
    assert text.split("\n")[0].strip() in Example.__doc__
    assert 'default="a"' in Example.__doc__
    assert "            An addition." in Example.__doc__
    assert "embedding_ : ndarray of shape (n_samples, n_components)\n" in Example.__doc__


def test_an_unknown_entry_raises():
    with pytest.raises(KeyError, match=r"refers to \{n_wheels\}, which has no entry"):

        @documented
        class Example:
            """{n_wheels}"""


def test_help_is_complete():
    assert "As for" not in inspect.getdoc(eigenscape.Isomap)
