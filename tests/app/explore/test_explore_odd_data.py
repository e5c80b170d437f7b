"""Data with few coordinates, rules for their number, and columns whose names are used otherwise."""

import csv
import io

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import eigenscape
from eigenscape.app.explore.suggestions import _dimension, suggestions
from eigenscape.app.explore.tasks import WorkerData, fit_map, measure_map
from explore.explorers import client_of, mask_of, wait_for_jobs

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("forked_python_of_module")]

RNG = np.random.default_rng(0)


def test_the_first_map_of_one_column_has_one_coordinate():
    X = RNG.standard_normal((30, 1))
    with (
        eigenscape.explore(X, columns=["row"], block=False, open_browser=False) as explorer,
        client_of(explorer) as client,
    ):
        wait_for_jobs(client)
        state = client.get("api/state").json()
        assert [job["error"] for job in state["jobs"]] == [None] * len(state["jobs"])
        (entry,) = state["maps"]
        assert entry["n_components"] == 1
        assert entry["name"] == "PCA (n_components=1)"
        assert "n_components=1" in entry["python"]
        assert "it has 100 % of the variance" in entry["explained"]
        sent = {"what": "rows", "mask": mask_of([1], len(X))}
        header = next(csv.reader(io.StringIO(client.post("api/export", json=sent).text)))
        assert sorted(header) == ["row", "row_"]  # the number of the row, under a name of its own


def fitted(folder, X, given):
    np.save(folder / "X.npy", X)
    request = {"method": "pca", "parameters": {"n_components": given}, "standardize": False}
    return WorkerData(folder), {**request, "target": str(folder / "map"), "names": list("abcd")}


@pytest.mark.parametrize("given", [0.5, "mle"])
def test_measures_of_numbers_of_coordinates_that_are_rules(tmp_path, given):
    from eigenscape.app.explore.forms import parse_request

    X = RNG.standard_normal((60, 4)) * [3.0, 1.0, 1.0, 0.1]
    assert parse_request("pca", {"n_components": given}, 60, False) == (
        "pca",
        {"n_components": given},
    )
    data, request = fitted(tmp_path, X, given)
    fit_map(data, request)
    assert np.isfinite(measure_map(data, request)["measures"]["losses"]["loss_training"]).all()


def test_suggestions_do_not_claim_more_than_the_interval_of_the_dimension():
    (iris,) = _dimension(load_iris().data, [])
    assert "interval 1.8 to" in iris
    assert "two coordinates may lose distances" in iris
    (digits,) = _dimension(load_digits().data[:400], [])
    assert "two coordinates cannot keep all distances" in digits


def test_suggestions_need_usable_rows():
    with np.errstate(over="ignore"):
        assert suggestions(RNG.standard_normal((40, 3)) * [1e200, 1.0, 1.0], list("abc")) == []
    few = [one["text"] for one in suggestions(RNG.standard_normal((3, 4)), list("abcd"))]
    assert not any("dimension" in text for text in few)
