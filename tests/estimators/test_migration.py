"""Errors for scikit-learn's parameters and values name what the class accepts."""

from __future__ import annotations

import copy
import inspect
import re

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import StrOptions

import eigenscape
from eigenscape import accel
from eigenscape.estimators._migration import _ACCELERATED, PARAMETERS
from tests.estimators.migration_page import PAGE, THEIRS, page


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_of_scikit_learn(name: str) -> None:
    ours = getattr(eigenscape, name)
    accepted = set(inspect.signature(ours).parameters)
    for parameter, hint in PARAMETERS[name].items():
        assert parameter not in accepted
        with pytest.raises(TypeError, match=re.escape(f"{parameter} is a parameter of scikit-learn's")):
            ours(**{parameter: 1})
        named = re.findall(r"(?:use|and|with|as) (\w+)", hint.replace("or use eigenscape.accel", ""))
        assert all(word in accepted for word in named), (parameter, named)


@pytest.mark.parametrize("name", THEIRS)
def test_every_parameter_of_scikit_learn_exists_or_is_explained(name: str) -> None:
    accepted = set(inspect.signature(getattr(eigenscape, name)).parameters)
    theirs = set(inspect.signature(THEIRS[name]).parameters)
    assert theirs <= accepted | set(PARAMETERS[name])


def test_all_classes_of_the_same_name_are_compared() -> None:
    same = set(eigenscape.__all__) & {name for name, _ in all_estimators()}
    assert same <= set(THEIRS)


def test_a_class_without_acceleration_does_not_name_it() -> None:
    with pytest.raises(TypeError, match="import the class from scikit-learn"):
        eigenscape.PCA(svd_solver="full")
    assert not hasattr(accel, "PCA")
    for name in _ACCELERATED:
        ours = "SpectralEmbedding" if name == "LaplacianEigenmaps" else name
        assert ours in dir(accel)


@pytest.mark.parametrize("name", THEIRS)
def test_values_of_scikit_learn_are_accepted_or_explained(name: str) -> None:
    """Every string that scikit-learn's class accepts, except metrics, which are those of its search."""
    X = np.abs(np.random.default_rng(0).standard_normal((60, 5)))
    ours = getattr(eigenscape, name)
    parameters = inspect.signature(ours).parameters
    for parameter, constraints in THEIRS[name]._parameter_constraints.items():
        if parameter not in parameters or parameter == "metric" or not isinstance(constraints, list):
            continue
        for value in sorted(v for c in constraints if isinstance(c, StrOptions) for v in c.options):
            if value.startswith("precomputed"):
                continue
            model = ours(2, **{parameter: value}) if parameter != "n_components" else ours(value)
            message = ""
            try:
                model.fit(X)
            except ValueError as error:
                message = str(error)
            named = re.findall(r"'([\w-]+)'", message.partition("use eigenscape.accel")[0])
            assert not message or set(named) - {value}, (parameter, value)  # what to use instead


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("Isomap", "arpack"),
        ("LocallyLinearEmbedding", "arpack"),
        ("KernelPCA", "arpack"),
        ("KernelPCA", "randomized"),
        ("LaplacianEigenmaps", "lobpcg"),
        ("SpectralClustering", "arpack"),
        ("SpectralClustering", "amg"),
    ],
)
def test_eigensolvers_of_scikit_learn(name: str, solver: str) -> None:
    X = np.random.default_rng(0).standard_normal((60, 4))
    model = getattr(eigenscape, name)(2, eigen_solver=solver)
    with pytest.raises(ValueError, match=f"eigen_solver='{solver}' is scikit-learn's name") as caught:
        model.fit(X)
    (equivalent,) = re.findall(r"equivalent here is '([\w-]+)'", str(caught.value))
    model.set_params(eigen_solver=equivalent).fit(X)  # is accepted


def test_other_unknown_parameters_and_copies() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        eigenscape.Isomap(unknown=1)
    model = eigenscape.Isomap(n_neighbors=7)
    assert clone(model).n_neighbors == copy.deepcopy(model).n_neighbors == 7


def test_page_is_up_to_date() -> None:
    written = PAGE.read_text()
    version = re.search(r"scikit-learn (\S+) beside", written)[1]
    if version != sklearn.__version__:
        pytest.skip(f"the page is written for scikit-learn {version}")
    assert written == page()
