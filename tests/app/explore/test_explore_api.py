"""Answers of the explorer's server to a page."""

import csv
import io
import json
import shlex
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import eigenscape
from eigenscape.app.explore.jobs import Job
from eigenscape.app.explore.session import Session, _changed_parameters
from eigenscape.app.methods import make_estimator
from eigenscape.options import Dictionary, KNNGraph, Ordinal, RadiusGraph, Solver, SpanningTree
from eigenscape.quality import procrustes
from explore.explorers import client_of, fit, floats, mask_of, wait_for_job

pytestmark = [
    pytest.mark.process,
    pytest.mark.usefixtures("forked_python_of_module"),
    pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning"),
]


def map_of(state, method):
    return next(one for one in state["maps"] if one["method"] == method)


def test_state_describes_data_maps_and_forms_without_rows(state, client):
    data = state["data"]
    assert (data["n"], data["d"], data["image_shape"]) == (240, 64, [8, 8])
    assert data["columns"][data["label"]]["name"] == "digit"
    assert sorted(data["columns"][0]["categories"]) == [f"d{i}" for i in range(10)]
    assert [one["method"] for one in state["maps"]] == ["pca", "isomap"]
    assert "row-17" not in client.get("api/state").text
    forms = {
        form["name"]: {field["name"]: field for field in form["parameters"]} for form in state["methods"]
    }
    assert forms["isomap"]["n_neighbors"]["type"] == "int"
    assert forms["isomap"]["n_neighbors"]["maximum"] == 239
    assert "neighbours" in forms["isomap"]["n_neighbors"]["help"]
    assert forms["isomap"]["on_disconnected"]["type"] == "choice"
    everyday = [name for name, field in forms["isomap"].items() if field["everyday"]]
    assert everyday == ["n_components", "n_neighbors", "metric", "n_landmarks", "random_state"]
    assert forms["isomap"]["symmetrize"]["choices"] == ["union", "mutual", "shared"]
    assert forms["isomap"]["radius"] | {"help": ""} == {
        "name": "radius",
        "type": "float",
        "default": None,
        "choices": [],
        "minimum": 0,
        "maximum": None,
        "optional": True,
        "everyday": False,
        "help": "",
    }
    assert forms["pca"]["whiten"]["default"] is False
    assert not {"verbose", "n_jobs"} & set(forms["pca"])
    assert "distortion-discriminant-analysis" not in forms


def test_coordinates_and_columns_are_arrays(state, client, digits):
    table = eigenscape.read(digits, label="digit")
    pca = map_of(state, "pca")
    found = floats(client.get(f"api/maps/{pca['id']}/coordinates"), pca["n_components"])
    expected = eigenscape.PCA(n_components=pca["n_components"]).fit_transform(table.array)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    codes = np.frombuffer(client.get("api/columns/0").content, dtype="<u2")
    names = np.array(state["data"]["columns"][0]["categories"])
    assert names[codes].tolist() == table.labels.tolist()
    image = client.get("api/images", params={"rows": "5,7"}).content
    assert np.frombuffer(image, dtype=np.uint8).reshape(2, 8, 8).max() == 255
    assert client.get("api/rows/3").json()["id"] == "row-3"
    assert client.get("api/search", params={"q": "ROW-23"}).json() == {
        "rows": [23, *range(230, 240)],
        "total": 11,
    }


@pytest.mark.parametrize("method", ["pca", "isomap"])
def test_python_text_computes_the_map_again(state, client, method):
    entry = map_of(state, method)
    names = {}
    exec(entry["python"], names)
    found = floats(client.get(f"api/maps/{entry['id']}/coordinates"), entry["n_components"])
    np.testing.assert_allclose(found, names["embedding"], atol=1e-3)


def test_python_text_and_command_of_a_standardized_map(client, tmp_path):
    entry = fit(
        client, "laplacian-eigenmaps", {"n_neighbors": "9", "weights": "heat", "n_components": 3}, True
    )
    names = {}
    exec(entry["python"], names)
    found = floats(client.get(f"api/maps/{entry['id']}/coordinates"), 3)
    np.testing.assert_allclose(found, names["embedding"], atol=1e-4 * np.abs(found).max())
    words = shlex.split(entry["command"])
    command = [sys.executable, "-m", "eigenscape", *words[1:]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "map.csv").read_text())))
    written = np.array([[float(row[f"laplacianeigenmaps{i}"]) for i in range(3)] for row in rows])
    np.testing.assert_allclose(found, written, atol=1e-4 * np.abs(found).max())


@pytest.mark.parametrize(
    "model",
    [
        eigenscape.Isomap(graph=SpanningTree()),
        eigenscape.Isomap(graph=KNNGraph(5, symmetrize="mutual"), ordinal=Ordinal(n_init=2)),
        eigenscape.LaplacianEigenmaps(affinity=RadiusGraph(2.0), eigen_solver=Solver("lanczos", tol=1e-6)),
        eigenscape.KernelPCA(approximation=Dictionary(5)),
    ],
)
def test_parameters_of_a_given_model_make_it_again(model):
    assert repr(make_estimator(type(model), _changed_parameters(model))) == repr(model)


def test_measures_are_those_of_the_quality_functions(state, client, digits):
    from eigenscape.quality import neighbors_kept

    X = eigenscape.read(digits, label="digit").array
    entry = map_of(state, "isomap")
    plane = floats(client.get(f"api/maps/{entry['id']}/coordinates"), entry["n_components"])[:, :2]
    kept = floats(client.get(f"api/maps/{entry['id']}/kept"))
    assert kept.shape == (240,)
    assert kept.mean() == pytest.approx(float(neighbors_kept(X, plane, 10, None)), abs=0.02)
    assert entry["kept_mean"] == pytest.approx(kept.mean(), abs=1e-4)
    assert 0.5 < entry["trust"] <= 1
    assert "of the 10 nearest" in entry["verdict"]


def test_distances_and_missing_neighbours(state, client, digits):
    X = eigenscape.read(digits, label="digit").array
    exact = np.linalg.norm(X - X[12], axis=1)
    np.testing.assert_allclose(floats(client.get("api/distances/12")), exact, rtol=1e-5, atol=1e-3)
    entry = map_of(state, "pca")
    plane = floats(client.get(f"api/maps/{entry['id']}/coordinates"), entry["n_components"])[:, :2]
    answer = client.get(f"api/maps/{entry['id']}/missing/12").json()
    near = set(np.argsort(exact)[1:11].tolist())
    shown = set(np.argsort(np.linalg.norm(plane - plane[12], axis=1))[1:11].tolist())
    assert set(answer["missing"]) == near - shown
    assert set(answer["false"]) == shown - near


def test_inverse_is_the_models_own_and_is_refused_far_away(state, client, digits):
    X = eigenscape.read(digits, label="digit").array
    entry = map_of(state, "pca")
    c = entry["n_components"]
    coordinates = floats(client.get(f"api/maps/{entry['id']}/coordinates"), c).astype(float)
    body = {"point": coordinates[9, :2].tolist(), "components": [0, 1]}
    answer = client.post(f"api/maps/{entry['id']}/inverse", json=body).json()
    assert answer["nearest"] == 9
    model = eigenscape.PCA(n_components=c).fit(X)
    row = model.inverse_transform(coordinates[9:10])[0]
    expected = np.rint(255 * np.clip(row / X.max(), 0, 1))
    assert np.abs(np.array(answer["image"]) - expected).max() <= 1
    assert 0 < answer["error"] < 1
    far = client.post(f"api/maps/{entry['id']}/inverse", json={"point": [1e6, 0.0]}).json()
    assert "no data are near" in far["refused"]


def test_inverse_is_refused_with_the_reason_without_one(client):
    entry = fit(client, "diffusion-map")
    assert not entry["has_inverse"]
    answer = client.post(f"api/maps/{entry['id']}/inverse", json={"point": [0.0, 0.0]}).json()
    assert "DiffusionMap has no inverse" in answer["refused"]


def test_placed_rows_land_where_transform_puts_them(state, client, digits):
    table = eigenscape.read(digits, label="digit")
    entry = map_of(state, "isomap")
    lines = digits.read_text().splitlines()
    file = "\n".join([lines[0], *lines[5:8]])
    answer = client.post(
        f"api/maps/{entry['id']}/place", content=file.encode(), headers={"X-Filename": "new.csv"}
    ).json()
    model = eigenscape.Isomap(**entry["parameters"]).fit(table.array)
    found = np.array([point["coordinates"] for point in answer["points"]])
    np.testing.assert_allclose(found, model.embedding_[4:7], atol=1e-5)
    assert [point["nearest"] for point in answer["points"]] == [4, 5, 6]
    assert [point["id"] for point in answer["points"]] == ["row-4", "row-5", "row-6"]
    assert all(point["nearest_distance"] == 0 and point["novelty"] == 0 for point in answer["points"])
    assert answer["points"][0]["label"] == table.labels[4]


def test_a_pasted_row_is_placed_by_position_or_by_header(state, client, digits):
    entry = map_of(state, "pca")
    header, *lines = digits.read_text().splitlines()
    cells = lines[3].split(",")[1:-1]
    names = header.split(",")[1:-1]
    by_position = client.post(f"api/maps/{entry['id']}/place", json={"text": ",".join(cells)}).json()
    reordered = f"{','.join(reversed(names))}\n{','.join(reversed(cells))}"
    by_header = client.post(f"api/maps/{entry['id']}/place", json={"text": reordered}).json()
    assert by_position["points"][0]["nearest"] == by_header["points"][0]["nearest"] == 3
    noise = ",".join(["16", "0"] * 32)
    strange = client.post(f"api/maps/{entry['id']}/place", json={"text": noise}).json()["points"][0]
    assert strange["novelty"] > 0.9
    assert strange["projection_error"] > by_position["points"][0]["projection_error"]


def test_an_image_file_is_placed_if_its_size_fits(state, client):
    image = pytest.importorskip("PIL.Image")
    entry = map_of(state, "pca")
    pixels = np.frombuffer(client.get("api/images", params={"rows": "30"}).content, dtype=np.uint8)

    def place(array):
        file = io.BytesIO()
        image.fromarray(array).save(file, "png")
        headers = {"X-Filename": "digit.png"}
        return client.post(f"api/maps/{entry['id']}/place", content=file.getvalue(), headers=headers)

    assert place(pixels.reshape(8, 8)).json()["points"][0]["nearest"] == 30
    refused = place(np.zeros((9, 8), dtype=np.uint8))
    assert refused.status_code == 400
    assert "9x8" in refused.json()["error"]


def test_spectrum_has_gaps_and_losses(state, client):
    entry = map_of(state, "pca")
    found = client.get(f"api/maps/{entry['id']}/spectrum").json()
    values = np.array(found["eigenvalues"])
    np.testing.assert_allclose(found["gaps"], np.abs(np.diff(values)))
    assert len(found["residuals"]) == len(values)
    assert np.all(np.diff(found["loss_training"]) <= 0)
    assert len(found["loss_held_out"]) == len(found["loss_training"]) == 6


def test_compare_aligns_the_second_map_to_the_first(state, client):
    first, second = (map_of(state, name) for name in ("pca", "isomap"))
    found = floats(client.get(f"api/maps/{first['id']}/compare/{second['id']}"), 3)
    planes = [
        floats(client.get(f"api/maps/{one['id']}/coordinates"), one["n_components"])[:, :2].astype(float)
        for one in (first, second)
    ]
    aligned = procrustes(planes[1], planes[0]).aligned
    np.testing.assert_allclose(found[:, :2], aligned, atol=1e-2)
    same = floats(client.get(f"api/maps/{first['id']}/compare/{first['id']}"), 3)
    assert same[:, 2].max() < 1e-5


def test_compare_uses_the_coordinates_on_the_axes(state, client):
    first, second = (map_of(state, name) for name in ("pca", "isomap"))
    planes = [
        floats(client.get(f"api/maps/{one['id']}/coordinates"), one["n_components"]).astype(float)
        for one in (first, second)
    ]
    compare = f"api/maps/{first['id']}/compare/{second['id']}"
    found = floats(client.get(compare, params={"axes": "2,1"}), 3)
    np.testing.assert_allclose(
        found[:, :2], procrustes(planes[1][:, [2, 1]], planes[0][:, [2, 1]]).aligned, atol=1e-2
    )
    for axes in ("1", "1,99", "x,0", "0,1,2"):
        assert client.get(compare, params={"axes": axes}).status_code in (400, 404), axes


def test_a_selection_is_explained_by_effects_labels_and_images(state, client, digits):
    table = eigenscape.read(digits, label="digit")
    rows = np.flatnonzero(table.labels == "d3")
    answer = client.post("api/explain", json={"mask": mask_of(rows, 240)}).json()
    assert answer["n"] == len(rows)
    assert answer["labels"][0]["label"] == "d3"
    assert answer["labels"][0]["inside"] == 1
    first = answer["columns"][0]
    column = table.array[:, table.names.index(first["name"])]
    inside, outside = column[rows], np.delete(column, rows)
    pooled = np.sqrt((inside.var() * len(inside) + outside.var() * len(outside)) / (len(column) - 2))
    assert first["effect"] == pytest.approx((inside.mean() - outside.mean()) / pooled)
    assert first["low"] < first["effect"] < first["high"]
    effects = [abs(one["effect"]) for one in answer["columns"]]
    assert effects == sorted(effects, reverse=True)
    assert len(answer["image_mean"]) == 64
    assert min(answer["image_difference"]) < 0 < max(answer["image_difference"])


def test_movement_is_a_job(client):
    entry = fit(client, "kernel-pca")
    answer = client.get(f"api/maps/{entry['id']}/movement")
    assert answer.status_code == 202
    assert wait_for_job(client, answer.json()["job"])["status"] == "done"
    moved = floats(client.get(f"api/maps/{entry['id']}/movement"))
    assert moved.shape == (240,)
    assert 0 < np.nanmedian(moved) < 1


def measured(client, entry, name):
    answer = client.get(f"api/maps/{entry['id']}/{name}")
    if answer.status_code == 202:
        assert wait_for_job(client, answer.json()["job"])["status"] == "done"
        answer = client.get(f"api/maps/{entry['id']}/{name}")
    assert answer.status_code == 200
    return answer


def test_density_novelty_and_predicted_labels_are_measured_on_request(client, digits):
    entry = fit(client, "kernel-pca")
    density, novelty = (floats(measured(client, entry, name)) for name in ("density", "novelty"))
    assert density.shape == novelty.shape == (240,)
    assert np.corrcoef(density, novelty)[0, 1] < -0.3  # rare rows are unusual
    codes = np.frombuffer(measured(client, entry, "predicted").content, "<u2")
    state = client.get("api/state").json()
    classes = next(one for one in state["maps"] if one["id"] == entry["id"])["classes"]
    labels = eigenscape.read(digits, label="digit").labels
    assert (np.array(classes)[codes] == labels.astype(str)).mean() > 0.9
    assert client.get(f"api/maps/{entry['id']}/clusters").status_code == 404


def test_clusters_colour_the_map(client):
    entry = fit(client, "spectral-clustering", {"n_clusters": 3})
    assert entry["n_clusters"] == 3
    codes = np.frombuffer(client.get(f"api/maps/{entry['id']}/clusters").content, "<u2")
    assert set(codes) == {0, 1, 2}


def test_a_map_fitted_to_labels(client):
    entry = fit(client, "laplacian-eigenmaps", {"target_weight": 0.6})
    assert "target_weight=0.6" in entry["python"]
    assert "fit_transform(X, labels)" in entry["python"]
    answer = client.get(f"api/maps/{entry['id']}/movement")
    job = wait_for_job(client, answer.json()["job"])
    assert "cannot be fitted again" in job["error"]


def test_annotations_are_columns_and_exported(client):
    rows = [3, 5, 8]
    body = {"name": "shape", "label": "=round", "mask": mask_of(rows, 240)}
    assert client.post("api/annotations", json=body).status_code == 200
    assert client.get("api/state").json()["annotations"] == [{"name": "shape", "labels": ["=round"]}]
    codes = np.frombuffer(client.get("api/annotations/shape").content, dtype="<u2")
    assert np.flatnonzero(codes != 65535).tolist() == rows
    export = {"what": "annotations", "format": "csv", "mask": mask_of(rows, 240), "spreadsheet_safe": True}
    answer = client.post("api/export", json=export)
    assert "attachment" in answer.headers["content-disposition"]
    table = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["id"] for row in table] == ["row-3", "row-5", "row-8"]
    assert {row["shape"] for row in table} == {"'=round"}
    assert client.delete("api/annotations/shape").status_code == 200
    assert client.get("api/annotations/shape").status_code == 404


@pytest.mark.parametrize(("what", "columns"), [("ids", 1), ("rows", 66), ("coordinates", 8)])
def test_exports(state, client, what, columns):
    entry = map_of(state, "isomap")
    answer = client.post("api/export", json={"what": what, "mask": None, "map": entry["id"]})
    lines = answer.text.splitlines()
    assert len(lines) == 241
    assert len(lines[0].split(",")) == columns


def test_two_clients_receive_the_events_of_a_fit(explorer):
    seen = [[], []]
    ready = threading.Barrier(3, timeout=60)

    def listen(place):
        with client_of(explorer) as one, one.stream("GET", "api/events") as answer:
            ready.wait()
            kind = ""
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    value = json.loads(line.removeprefix("data: "))
                    seen[place].append((kind, value))
                    if kind == "map" and value["parameters"] == {"n_components": 7}:  # not of another fit
                        return

    threads = [threading.Thread(target=listen, args=(place,), daemon=True) for place in range(2)]
    for thread in threads:
        thread.start()
    ready.wait()
    with client_of(explorer) as client:
        entry = fit(client, "pca", {"n_components": 7})
        for thread in threads:
            thread.join(timeout=60)
        for events in seen:
            assert [value["id"] for kind, value in events if kind == "map"][-1] == entry["id"]
            stages = [value["status"] for kind, value in events if kind == "job" and value["kind"] == "fit"]
            assert "running" in stages
        assert client.delete(f"api/maps/{entry['id']}").status_code == 200
        assert client.get(f"api/maps/{entry['id']}/coordinates").status_code == 404


def test_the_state_of_a_job_that_is_published_last_is_the_newest():
    session, job, published = object.__new__(Session), Job("j1", "fit", {}), []
    other = threading.Thread(target=session._announce, args=(job,))

    def publish(event: str, value: dict) -> None:
        if value["status"] == "running":  # meanwhile the job ends, and another thread publishes that
            job.set(status="cancelled")
            other.start()
            other.join(timeout=0.2)
        published.append(value["status"])

    session.events, session._announcing = SimpleNamespace(publish=publish), threading.Lock()
    session._announce(job)
    other.join()
    assert published == ["running", "cancelled"]
