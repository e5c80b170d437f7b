"""The commands that give every row a class or a score."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from test_cli import NAMES, bad, good, rows, write_csv

import eigenscape
from eigenscape import PCA, EigenfunctionClassifier, EigenspaceDensity, ParametricMap

#: Setosa is far from the other species.
pytestmark = pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    return X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]


def few_labels(path, flowers):
    X, kinds = flowers
    return write_csv(path, X[:120], species=[*kinds[:20], *[""] * 100])


@pytest.mark.long
def test_classes_of_unlabelled_and_of_new_rows(flowers, tmp_path):
    X, kinds = flowers
    table = few_labels(tmp_path / "few.csv", flowers)
    model, out = tmp_path / "species.model", tmp_path / "out.csv"
    shown = good("classify", table, "--label species -o", out, "--save", model)
    assert "rows in each class: setosa" in shown.stderr
    found = rows(out)
    assert [row["class"] for row in found[:20]] == list(kinds[:20])
    assert np.mean([row["class"] for row in found] == kinds[:120]) > 0.85
    given = np.array([*kinds[:20], *[None] * 100], dtype=object)
    expected = EigenfunctionClassifier().fit(X[:120], given)
    assert [row["class"] for row in found] == list(expected.transduction_)
    new = write_csv(tmp_path / "new.csv", X[120:], species=kinds[120:])
    good("classify", new, "--model", model, "-o", tmp_path / "new-out.csv")
    placed = rows(tmp_path / "new-out.csv")
    assert [row["class"] for row in placed] == list(expected.predict(X[120:]))
    likely = expected.predict_proba(X[120:]).max(axis=1)
    np.testing.assert_allclose([float(row["probability"]) for row in placed], likely, atol=1e-5)
    assert [row["species"] for row in placed] == list(kinds[120:])  # the truth stays beside the prediction


@pytest.mark.long
def test_labels_may_be_numbers_and_rows_standardized(flowers, tmp_path):
    X, kinds = flowers
    codes = np.unique(kinds, return_inverse=True)[1]
    table = write_csv(tmp_path / "few.csv", X, code=[*(str(code) for code in codes[:40]), *[""] * 110])
    model = tmp_path / "m"
    shown = good("classify", table, "--label code --standardize --balanced --json --save", model)
    assert set(json.loads(shown.stdout)["sizes"]) == {"0", "1", "2"}
    new = write_csv(tmp_path / "new.csv", X[:5])
    good("classify", new, "--model", model, "-o", tmp_path / "out.csv")
    assert [row["class"] for row in rows(tmp_path / "out.csv")] == [str(code) for code in codes[:5]]


@pytest.mark.long
def test_scores_of_rows_and_of_new_rows(flowers, tmp_path):
    X, kinds = flowers
    usual = X[kinds == "setosa"]
    table = write_csv(tmp_path / "usual.csv", usual)
    model, out = tmp_path / "usual.model", tmp_path / "out.csv"
    good("density", table, "--contamination 0.1 -o", out)
    assert sum(int(row["outlier"]) for row in rows(out)) == pytest.approx(5, abs=1)
    shown = good("density", table, "-m pca -d 2 --standardize --save", model)
    assert "of 50 rows are outliers" in shown.stderr
    new = write_csv(tmp_path / "new.csv", X, species=kinds)
    good("density", new, "--model", model, "-o", tmp_path / "scores.csv")
    found = rows(tmp_path / "scores.csv")
    outlier = np.array([row["outlier"] == "1" for row in found])
    assert outlier[kinds != "setosa"].all()
    assert outlier[kinds == "setosa"].mean() < 0.1
    scaled = (usual - usual.mean(axis=0)) / usual.std(axis=0)
    expected = EigenspaceDensity(PCA(2)).fit(scaled)
    rows_ = (X - usual.mean(axis=0)) / usual.std(axis=0)
    scores = np.array([float(row["score"]) for row in found])
    np.testing.assert_allclose(scores, expected.decision_function(rows_), rtol=1e-4)
    np.testing.assert_allclose(
        [float(row["log_density"]) for row in found], expected.score_samples(rows_), rtol=1e-4
    )


@pytest.mark.long
def test_errors(flowers, tmp_path):
    X, _ = flowers
    plain = write_csv(tmp_path / "plain.csv", X)
    table = few_labels(tmp_path / "few.csv", flowers)
    assert "no column of labels; name it with --label" in bad("classify", plain, "-o -")
    assert "nothing to write" in bad("classify", table)
    assert "nothing to write" in bad("density", plain)
    assert "contamination=0.9 must be" in bad("density", plain, "--contamination 0.9 -o -")
    assert "not integers" in bad("classify", plain, f"--label {NAMES[0]} -o -")
    model = tmp_path / "m"
    good("density", plain, "--mixtures 2 --save", model)
    assert "contains a EigenspaceDensity, not a EigenfunctionClassifier" in bad(
        "classify", plain, "--model", model, "-o -"
    )
    assert "--standardize does not apply" in bad("density", plain, "--standardize -o - --model", model)
    assert "use eigenscape density --model" in bad("transform", model, plain, "-o -")
    good("classify", table, "--label species --save", tmp_path / "c")
    assert "--balanced does not apply" in bad("classify", table, "--balanced -o - --model", tmp_path / "c")


@pytest.mark.long
@pytest.mark.parametrize(
    "option", ["-m isomap", "--gamma 2", "-d 3", "--contamination 0.1", "--columns sepal*", "--standardize"]
)
def test_what_a_saved_density_has_decided_is_refused(flowers, tmp_path, option):
    """Other methods and columns were accepted and ignored."""
    table, model = write_csv(tmp_path / "rows.csv", flowers[0]), tmp_path / "usual.model"
    good("density", table, "-m pca -d 2 --save", model, "-q")
    shown = bad("density", table, "--model", model, option, "-o", tmp_path / "out.csv")
    assert f"{option.split()[0]} does not apply to --model, which is fitted already; omit it" in shown
    assert not (tmp_path / "out.csv").exists()


def test_transform_places_rows_by_a_parametric_map(flowers, tmp_path):
    X, _ = flowers
    model = ParametricMap(n_features=50).fit(X[:120])
    eigenscape.save(model, tmp_path / "m", compact=True)
    new = write_csv(tmp_path / "new.csv", X[120:])
    good("transform", tmp_path / "m", new, "-o", tmp_path / "out.csv")
    found = rows(tmp_path / "out.csv")
    np.testing.assert_allclose(
        [float(row["parametricmap0"]) for row in found], model.transform(X[120:])[:, 0], rtol=1e-4
    )


def test_sequences_are_for_python_only(flowers, tmp_path):
    X, _ = flowers
    model = eigenscape.DistortionDiscriminantAnalysis([[2, 3, 2]]).fit(X, distorted=[X[::-1]])
    eigenscape.save(model, tmp_path / "m")
    table = write_csv(tmp_path / "rows.csv", X)
    found = bad("transform", tmp_path / "m", table, "-o", tmp_path / "out.csv")
    assert "contains a DistortionDiscriminantAnalysis, which has no coordinates; load it in Python" in found
    assert "no such method: dda" in bad("embed", table, "-m dda -o -")
