"""Documentation of the estimators: complete in every class."""

from __future__ import annotations

import inspect
import re
from ast import literal_eval

import pytest
from numpydoc.docscrape import NumpyDocString

import eigenscape
from eigenscape import estimators
from eigenscape.estimators._base import Estimator

PUBLIC = [getattr(estimators, name) for name in estimators.__all__]
CLASSES = [cls for cls in PUBLIC if isinstance(cls, type) and issubclass(cls, Estimator)]


def described_parameters(cls: type) -> dict[str, tuple[str, str]]:
    sections = NumpyDocString(inspect.getdoc(cls) or "")
    return {
        name.strip(): (entry.type, " ".join(entry.desc))
        for entry in (*sections["Parameters"], *sections["Other Parameters"])
        for name in entry.name.split(",")
    }


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_all_parameters_are_described(cls):
    described, parameters = described_parameters(cls), inspect.signature(cls).parameters
    assert set(described) == set(parameters)
    for name, parameter in parameters.items():
        kind, text = described[name]
        assert text, f"{name} has no description"
        assert not re.match(r"As (for|in) :class:", text), f"{name} refers to another class"
        default = re.search(r"default=(.*)", kind)
        assert default is None or literal_eval(default[1]) == parameter.default, f"default of {name}"


def test_no_estimator_inherits_from_another_one():
    for cls in CLASSES:
        assert not set(cls.__mro__[1:]) & set(PUBLIC), cls


def test_help_is_complete():
    assert "As for" not in inspect.getdoc(eigenscape.Isomap)
