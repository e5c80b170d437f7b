"""The migration page names an equivalent of each parameter, and errors one of each eigensolver."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
import sklearn
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import StrOptions

import eigenscape
from tests.estimators.migration_page import PAGE, PARAMETERS, THEIRS, page


@pytest.mark.parametrize("name", PARAMETERS)
def test_equivalents_of_parameters_are_parameters(name: str) -> None:
    accepted = set(inspect.signature(getattr(eigenscape, name)).parameters)
    for parameter, hint in PARAMETERS[name].items():
        assert parameter not in accepted
        named = re.findall(r"(?:use|and|with|as) (\w+)", hint)
        assert all(word in accepted for word in named), (parameter, named)


@pytest.mark.parametrize("name", THEIRS)
def test_every_parameter_of_scikit_learn_exists_or_is_explained(name: str) -> None:
    accepted = set(inspect.signature(getattr(eigenscape, name)).parameters)
    theirs = set(inspect.signature(THEIRS[name]).parameters)
    assert theirs <= accepted | set(PARAMETERS[name])


def test_all_classes_of_the_same_name_are_compared() -> None:
    same = set(eigenscape.__all__) & {name for name, _ in all_estimators()}
    assert same <= set(THEIRS)


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


def test_page_is_up_to_date() -> None:
    written = PAGE.read_text()
    version = re.search(r"scikit-learn (\S+) beside", written)[1]
    if version != sklearn.__version__:
        pytest.skip(f"the page is written for scikit-learn {version}")
    assert written == page()
