"""Classification and regression on eigenfunctions."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenscape import (
    DiffusionMap,
    EigenfunctionClassifier,
    EigenfunctionRegressor,
    GreedySpectralEmbedding,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    ProbabilisticPCA,
)
from eigenscape.io import load, save
from eigenscape.options import Dictionary


def expected_failures(estimator):
    if isinstance(estimator, EigenfunctionClassifier):
        return {"check_classifiers_classes": "-1 means unlabelled, as in sklearn.semi_supervised"}
    return {}


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
@pytest.mark.suite
@parametrize_with_checks(
    [EigenfunctionClassifier(), EigenfunctionRegressor()],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order[:1300]], y[order[:1300]]
    given = np.full(1000, -1)
    given[:60] = y[:60]
    return X, y, given


@pytest.fixture(scope="module")
def fitted(digits):
    X, _, given = digits
    return EigenfunctionClassifier().fit(X[:1000], given)


@pytest.mark.long
def test_few_labels_classify_new_rows_as_well_as_label_spreading(digits, fitted):
    X, y, given = digits
    spreading = LabelSpreading(kernel="knn", n_neighbors=10).fit(X[:1000], given)
    assert fitted.score(X[1000:], y[1000:]) >= spreading.score(X[1000:], y[1000:]) > 0.7
    assert (fitted.transduction_[60:] == y[60:1000]).mean() > 0.85
    np.testing.assert_array_equal(fitted.transduction_[:60], y[:60])


def test_training_rows_are_predicted_as_in_fit(digits, fitted):
    X, _, given = digits
    unlabelled = given < 0
    np.testing.assert_array_equal(fitted.predict(X[:1000])[unlabelled], fitted.transduction_[unlabelled])


def test_probabilities_are_calibrated_and_agree_with_the_classes(digits, fitted):
    X, y, _ = digits
    probabilities = fitted.predict_proba(X[1000:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.classes_[probabilities.argmax(axis=1)], fitted.predict(X[1000:]))
    confident = probabilities.max(axis=1) > 0.9
    right = fitted.predict(X[1000:]) == y[1000:]
    assert confident.any()
    assert right[confident].mean() > 0.85


def test_a_row_is_classified_alone(digits, fitted):
    X, _, _ = digits
    together = fitted.predict_proba(X[1000:1010])
    alone = np.vstack([fitted.predict_proba(row[None]) for row in X[1000:1010]])
    np.testing.assert_allclose(together, alone, atol=1e-10)


@pytest.mark.long
def test_labels_may_be_words_with_none_or_nan_for_unlabelled(digits, fitted):
    X, y, given = digits
    names = np.array([f"digit {value}" for value in y[:1000]], dtype=object)
    for missing in (None, np.nan, -1):
        labels = names.copy()
        labels[given < 0] = missing
        model = EigenfunctionClassifier().fit(X[:1000], labels)
        expected = [f"digit {value}" for value in fitted.predict(X[1000:1050])]
        assert list(model.predict(X[1000:1050])) == expected
    series = pd.Series(names).where(given >= 0)
    assert list(EigenfunctionClassifier().fit(X[:1000], series).classes_) == sorted(set(names[given >= 0]))


@pytest.mark.long
def test_missing_labels_of_any_kind_are_unlabelled(digits):
    X, y, _ = digits
    X, some = X[:120], np.arange(120) < 40
    words = [f"digit {value}" if is_given else None for value, is_given in zip(y, some, strict=False)]
    numbers = [int(value) if is_given else None for value, is_given in zip(y, some, strict=False)]
    expected = EigenfunctionClassifier().fit(X, np.where(some, y[:120], -1)).transduction_
    for labels in (
        [np.nan if word is None else word for word in words],
        [-1 if word is None else word for word in words],
        pd.Series(words, dtype="string"),
        pd.Series(words, dtype="category"),
    ):
        found = EigenfunctionClassifier().fit(X, labels).transduction_
        assert list(found) == [f"digit {value}" for value in expected]
    for labels in (numbers, pd.Series(numbers, dtype="Int64"), pd.Series(numbers, dtype="float64")):
        np.testing.assert_array_equal(EigenfunctionClassifier().fit(X, labels).transduction_, expected)
    assert EigenfunctionClassifier().fit(X, pd.Series(numbers, dtype="Int64")).classes_.dtype.kind == "i"


def test_labels_of_two_types_and_weights_of_zero_are_errors(digits):
    X = digits[0][:40]
    with pytest.raises(ValueError, match=r"y has words \('a'\) and other labels \(1\)"):
        EigenfunctionClassifier().fit(X, np.array([1, "a"] * 20, dtype=object))
    with pytest.raises(ValueError, match=r"class_weight=\{0: 0, 1: 0\} gives every label the weight 0"):
        EigenfunctionClassifier(class_weight={0: 0, 1: 0}).fit(X, [0, 1] * 20)


@pytest.mark.parametrize("embedder", [None, DiffusionMap(60)])
def test_functions_that_vary_wildly_between_rows_are_not_chosen(embedder):
    X, t = make_swiss_roll(300, random_state=0)
    for rows, others in ((slice(0, 150), slice(150, 300)), (slice(150, 300), slice(0, 150))):
        model = EigenfunctionRegressor(embedder).fit(X[rows], t[rows])
        assert model.embedder_.eigenvalues_[model.n_functions_ - 1] >= 0.1
        assert model.score(X[others], t[others]) > 0.5  # -42600 with eigenvalues near 0


def test_balanced_classes_find_a_rare_one():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((300, 2)), rng.normal([3.0, 0.0], 1.0, (60, 2))])
    y = np.repeat([0, 1], [300, 60])
    given = np.full(360, -1)
    given[:60], given[300:303] = 0, 1
    plain = EigenfunctionClassifier().fit(X, given)
    balanced = EigenfunctionClassifier(class_weight="balanced").fit(X, given)
    assert (balanced.transduction_[300:] == 1).mean() > (plain.transduction_[300:] == 1).mean()
    assert (balanced.transduction_ == y).mean() > 0.85


@pytest.mark.parametrize("embedder", [KernelPCA(20, gamma=1e-3), Isomap(10), LaplacianEigenmaps(30)])
def test_any_eigenfunctions(digits, embedder):
    X, y, given = digits
    model = EigenfunctionClassifier(embedder).fit(X[:1000], given)
    assert model.score(X[1000:], y[1000:]) > 0.7
    assert not hasattr(embedder, "embedding_")


@pytest.mark.long
def test_a_stream_is_learnt_through_a_dictionary(digits):
    X, y, _ = digits
    embedder = GreedySpectralEmbedding(20, kernel="rbf", gamma=1e-3, dictionary=Dictionary(tol=0.1))
    for start in range(0, 1000, 250):
        embedder.partial_fit(X[start : start + 250])
    model = EigenfunctionClassifier(embedder, prefit=True).fit(X[:60], y[:60])
    assert model.embedder_ is embedder
    assert model.score(X[1000:], y[1000:]) > 0.7


@pytest.mark.long
def test_parameters_that_are_given_are_used(digits):
    X, _, given = digits
    model = EigenfunctionClassifier(LaplacianEigenmaps(12), n_functions=7, alpha=0.5)
    model.fit(X[:1000], given)
    assert (model.n_functions_, model.alpha_) == (7, 0.5)
    grid = {"embedder__n_neighbors": [5, 8]}
    search = GridSearchCV(EigenfunctionClassifier(LaplacianEigenmaps(10)), grid, cv=2)
    assert search.fit(X[:200], digits[1][:200]).best_params_["embedder__n_neighbors"] in (5, 8)


@pytest.mark.long
def test_sparse_rows_are_classified_like_dense_ones(digits, fitted):
    X, _, given = digits
    model = EigenfunctionClassifier().fit(sparse.csr_array(X[:1000]), given)
    np.testing.assert_array_equal(model.predict(sparse.csr_array(X[1000:])), fitted.predict(X[1000:]))


def test_values_of_a_roll_from_forty():
    X, t = make_swiss_roll(1500, random_state=0)
    given = np.full((1200, 2), np.nan)
    given[:40] = np.column_stack([t[:40], X[:40, 1]])
    model = EigenfunctionRegressor().fit(X[:1200], given)
    assert model.score(X[1200:], np.column_stack([t, X[:, 1]])[1200:]) > 0.95
    assert model.transduction_.shape == (1200, 2)
    np.testing.assert_allclose(model.transduction_, model.predict(X[:1200]), atol=1e-6)
    flat = EigenfunctionRegressor(model.embedder_, prefit=True).fit(X[:40], t[:40])
    assert flat.predict(X[1200:]).shape == (300,)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0}, "alpha=0 must be a positive number or 'auto'"),
        ({"alpha": "best"}, "alpha='best'"),
        ({"n_functions": 0}, "n_functions=0"),
        ({"embedder": ProbabilisticPCA()}, "with eigenfunctions, such as"),
        ({"embedder": LaplacianEigenmaps}, "with eigenfunctions, such as"),
        ({"prefit": True}, "with eigenfunctions, such as"),
    ],
)
def test_bad_parameters(params, message):
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises((ValueError, TypeError), match=message):
        EigenfunctionRegressor(**params).fit(X, X[:, 0])


def test_compact_files_are_refused_not_ignored(fitted, tmp_path):
    with pytest.raises(ValueError, match="EigenfunctionClassifier has no transform to approximate"):
        save(fitted, tmp_path / "model.eigenscape", compact=20)


def test_bad_labels():
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(ValueError, match="every value is -1"):
        EigenfunctionClassifier().fit(X, np.full(30, -1))
    with pytest.raises(ValueError, match="if -1 is a class"):
        EigenfunctionClassifier().fit(X, np.where(X[:, 0] > 0, 1, -1))
    with pytest.raises(ValueError, match="30 rows, but y has 20"):
        EigenfunctionClassifier().fit(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match="y"):
        EigenfunctionRegressor().fit(X, np.full(30, 1e200))
    with pytest.raises(ValueError, match="every row is NaN"):
        EigenfunctionRegressor().fit(X, np.full(30, np.nan))
    with pytest.raises(ValueError, match="some but not all outputs NaN, the first at 1"):
        EigenfunctionRegressor().fit(X[:2], [[0, 1], [np.nan, 1]])
    with pytest.raises(NotFittedError):
        EigenfunctionClassifier(LaplacianEigenmaps(), prefit=True).fit(X, np.arange(30) % 2)


# --- streams ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_stream_is_classified_as_by_an_embedder_fitted_before(digits):
    X, y, given = digits
    embedder = GreedySpectralEmbedding(
        40, normalization="divisive", gamma=3e-4, dictionary=Dictionary(tol=0.05)
    )
    model, before = EigenfunctionClassifier(embedder), clone(embedder)
    for start in range(0, 1000, 250):
        rows = slice(start, start + 250)
        model.partial_fit(X[rows], given[rows])
        before.partial_fit(X[rows])
    expected = EigenfunctionClassifier(before, prefit=True).fit(X[:60], y[:60])
    np.testing.assert_allclose(model.predict_proba(X[1000:]), expected.predict_proba(X[1000:]), atol=1e-9)
    assert model.embedder_.n_samples_seen_ == 1000
    assert not hasattr(model, "transduction_")


@pytest.mark.long
def test_labels_of_a_stream_may_come_late_and_classes_too(digits):
    X, y, _ = digits
    model = EigenfunctionClassifier().partial_fit(X[:400]).partial_fit(X[400:800], np.full(400, -1))
    with pytest.raises(NotFittedError):
        model.predict(X[:3])
    low = y[800:900] < 5
    model.partial_fit(X[800:900][low], y[800:900][low])
    assert list(model.classes_) == [0, 1, 2, 3, 4]
    model.partial_fit(X[800:900][~low], y[800:900][~low])
    assert list(model.classes_) == list(range(10))
    assert model.score(X[1000:], y[1000:]) > 0.85
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[900:1000], y[900:1000])
    assert again.score(X[1000:], y[1000:]) > 0.87


@pytest.mark.long
def test_a_stream_of_values(tmp_path):
    X, t = make_swiss_roll(3000, random_state=0)
    model = EigenfunctionRegressor()
    for start in range(0, 2500, 500):
        given = np.full(500, np.nan)
        given[:20] = t[start : start + 20]
        model.partial_fit(X[start : start + 500], given if start else None)
    labelled = np.add.outer(np.arange(500, 2500, 500), np.arange(20)).ravel()
    alone = KNeighborsRegressor().fit(X[labelled], t[labelled])  # without the other rows
    assert model.score(X[2500:], t[2500:]) > alone.score(X[2500:], t[2500:])
    save(model, tmp_path / "roll")
    np.testing.assert_allclose(load(tmp_path / "roll").predict(X[2500:]), model.predict(X[2500:]))
    flat = EigenfunctionRegressor().partial_fit(X[:300], np.column_stack([t, t**2])[:300])
    assert flat.predict(X[:4]).shape == (4, 2)
    with pytest.raises(ValueError, match="y has 1 outputs, but the stream began with 2"):
        flat.partial_fit(X[:300], t[:300])


@pytest.mark.long
def test_a_sparse_stream(digits):
    X, _, given = digits
    embedder = GreedySpectralEmbedding(20, gamma=3e-4, dictionary=Dictionary(tol=0.1))
    dense, model = EigenfunctionClassifier(embedder), EigenfunctionClassifier(embedder)
    for start in (0, 200):
        rows = slice(start, start + 200)
        dense.partial_fit(X[rows], given[rows])
        model.partial_fit(sparse.csr_array(X[rows]), given[rows])
    assert (model.predict(sparse.csr_array(X[1000:])) == dense.predict(X[1000:])).mean() > 0.99


@pytest.mark.long
def test_errors_of_streams_leave_the_model(digits):
    X, y, _ = digits
    gap = np.where(np.arange(300)[:, None] == 7, np.nan, X[:300])
    model = EigenfunctionClassifier().partial_fit(X[:300], y[:300], classes=range(10))
    before = model.predict_proba(X[1000:1010])
    for error, message, rows, labels, classes in (
        (ValueError, r"X has 300 rows, but y has 2 labels", X[:300], [0, 1], None),
        (ValueError, r"features", X[:300, :5], y[:300], None),
        (
            ValueError,
            r"Input X contains NaN",
            gap,
            None,
            None,
        ),
        (ValueError, r"y has labels that are not among classes=\[0, 1\]", X[:300], y[:300], [0, 1]),
    ):
        with pytest.raises(error, match=message):
            model.partial_fit(rows, labels, classes)
        np.testing.assert_array_equal(model.predict_proba(X[1000:1010]), before)
    with pytest.raises(TypeError, match="cannot be fitted to a stream; use GreedySpectralEmbedding"):
        EigenfunctionClassifier(LaplacianEigenmaps(5)).partial_fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="partial_fit continues its embedder, but prefit=True"):
        EigenfunctionClassifier(model.embedder_, prefit=True).partial_fit(X[:50], y[:50])
