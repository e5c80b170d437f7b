"""Distortion discriminant analysis: layers by their definition, streams, errors, the example."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from eigenscape import DistortionDiscriminantAnalysis, OrientedPCA
from eigenscape.exceptions import RankError, SingularNoiseWarning
from eigenscape.methods.distortion_discriminant import LayerShape, receptive_field

LAYERS = [(4, 5, 2), (3, 6, 3)]


def sequences(
    n: int = 3, steps: int = 90, channels: int = 2, seed: int = 0
) -> tuple[list[np.ndarray], list[list[np.ndarray]]]:
    """Return smooth signals, and versions with independent noise and a common drift."""
    rng = np.random.default_rng(seed)
    clean = [np.cumsum(rng.standard_normal((steps + 7 * i, channels)), axis=0) + 5 for i in range(n)]
    return clean, [[c + size * rng.standard_normal(c.shape) + size / 2 for c in clean] for size in (0.5, 1.0)]


def windows(sequence: np.ndarray, window: int, step: int) -> np.ndarray:
    return np.array([sequence[t : t + window].ravel() for t in range(0, len(sequence) - window + 1, step)])


def literal_layers(
    clean: list, versions: list, layers: list
) -> tuple[list[np.ndarray], list[list[np.ndarray]]]:
    """Compute the outputs of the last layer for the signal and its versions, window by window."""
    for n_components, window, step in layers:
        X = np.concatenate([windows(c, window, step) for c in clean])
        pairs = [(v, c) for version in versions for v, c in zip(version, clean, strict=True)]
        Z = np.concatenate([windows(v, window, step) - windows(c, window, step) for v, c in pairs])
        C = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) / len(X)
        _, vectors = linalg.eigh(C, Z.T @ Z / len(Z))
        directions = vectors[:, ::-1][:, :n_components]
        directions = directions / (Z @ directions).std(axis=0)

        mean = X.mean(axis=0)
        clean, versions = (
            [(windows(c, window, step) - mean) @ directions for c in clean],
            [[(windows(v, window, step) - mean) @ directions for v in version] for version in versions],
        )
    return clean, versions


def literal_own_layers(clean: list, own: list, layers: list) -> list[np.ndarray]:
    """Compute the outputs for the signal, each layer fitted to its versions ``own[i]`` of the input."""
    below: list = []  # (window, step, mean, directions) of the layers that are fitted

    def outputs(sequence: np.ndarray) -> np.ndarray:
        for window, step, mean, directions in below:
            sequence = (windows(sequence, window, step) - mean) @ directions
        return sequence

    for (n_components, window, step), versions in zip(layers, own, strict=True):
        X = np.concatenate([windows(outputs(c), window, step) for c in clean])
        Z = []
        for version in versions:
            for v, c in zip(version, clean, strict=True):
                Z += list(windows(outputs(v), window, step) - windows(outputs(c), window, step))
        Z = np.array(Z)
        C = sum(np.outer(x - X.mean(axis=0), x - X.mean(axis=0)) for x in X) / len(X)
        R = sum(np.outer(z, z) for z in Z) / len(Z)
        directions = linalg.eigh(C, R)[1][:, ::-1][:, :n_components]
        below.append((window, step, X.mean(axis=0), directions / (Z @ directions).std(axis=0)))
    return [outputs(c) for c in clean]


def same_up_to_signs(first: np.ndarray, second: np.ndarray, atol: float = 1e-8) -> None:
    sign = np.sign((first * second).sum(axis=0))
    np.testing.assert_allclose(first, second * sign, atol=atol * np.abs(first).max())


@pytest.fixture(scope="module")
def fitted() -> DistortionDiscriminantAnalysis:
    clean, versions = sequences()
    return DistortionDiscriminantAnalysis(LAYERS).fit(clean, distorted=versions)


# --- the layers ---------------------------------------------------------------------------------------------


def test_layers_by_their_definition(fitted: DistortionDiscriminantAnalysis) -> None:
    clean, versions = sequences()
    for layers in (LAYERS[:1], LAYERS):
        model = DistortionDiscriminantAnalysis(layers).fit(clean, distorted=versions)
        expected, expected_versions = literal_layers(clean, versions, layers)
        same_up_to_signs(np.concatenate(model.transform(clean)), np.concatenate(expected))
        same_up_to_signs(np.concatenate(model.transform(versions[1])), np.concatenate(expected_versions[1]))
    assert [len(values) for values in fitted.eigenvalues_] == [4, 3]
    assert all((np.diff(values) <= 0).all() for values in fitted.eigenvalues_)
    assert all((r <= 1e-10 * q[0]).all() for r, q in zip(fitted.residuals_, fitted.eigenvalues_, strict=True))
    assert fitted.regularization_ == [0, 0]


def test_signal_of_mean_zero_and_noise_of_unit_variance() -> None:
    clean, versions = sequences()
    for depth in (1, 2):
        model = DistortionDiscriminantAnalysis(LAYERS[:depth]).fit(clean, distorted=versions)
        outputs = np.concatenate(model.transform(clean))
        noise = np.concatenate([np.concatenate(model.transform(version)) - outputs for version in versions])
        np.testing.assert_allclose(outputs.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(noise.var(axis=0), 1, rtol=1e-9)


def shifts(clean: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Return three versions that are shifted in time."""
    return [[np.roll(c, shift, axis=0) for c in clean] for shift in (-2, 1, 2)]


def test_each_layer_has_its_own_versions() -> None:
    clean, versions = sequences()
    shifted = shifts(clean)
    layers = [*LAYERS, (2, 2, 1)]
    own = [versions, shifted, [*versions, shifted[0]]]
    model = DistortionDiscriminantAnalysis(layers).fit(clean, layer_distorted=own)
    for depth in (1, 2, 3):
        part = DistortionDiscriminantAnalysis(layers[:depth]).fit(clean, layer_distorted=own[:depth])
        expected = literal_own_layers(clean, own[:depth], layers[:depth])
        same_up_to_signs(np.concatenate(part.transform(clean)), np.concatenate(expected))
        np.testing.assert_array_equal(part.components_[-1], model.components_[depth - 1])
    shared = DistortionDiscriminantAnalysis(layers).fit(clean, distorted=versions)
    np.testing.assert_array_equal(shared.components_[0], model.components_[0])
    assert not np.allclose(shared.eigenvalues_[1], model.eigenvalues_[1], rtol=0.1)


def test_layers_without_own_versions_use_the_shared_ones() -> None:
    clean, versions = sequences()
    layers = [*LAYERS, (2, 2, 1)]
    shared = DistortionDiscriminantAnalysis(layers).fit(clean, distorted=versions)
    for arguments in (
        {"layer_distorted": [versions] * 3},
        {"distorted": versions, "layer_distorted": (None, None, None)},
        {"distorted": versions, "layer_distorted": [None, versions, None]},
    ):
        other = DistortionDiscriminantAnalysis(layers).fit(clean, **arguments)
        np.testing.assert_array_equal(other.transform(clean[0]), shared.transform(clean[0]))
    mixed = DistortionDiscriminantAnalysis(layers).fit(
        clean, distorted=versions, layer_distorted=[None, shifts(clean), None]
    )
    expected = literal_own_layers(clean, [versions, shifts(clean), versions], layers)
    same_up_to_signs(np.concatenate(mixed.transform(clean)), np.concatenate(expected))


def test_noise_of_each_layer_has_unit_variance_in_its_own_versions() -> None:
    (clean,), versions = sequences(1)
    own = [[version[0] for version in versions], [version[0] for version in shifts([clean])]]
    for depth in (1, 2):
        model = DistortionDiscriminantAnalysis(LAYERS[:depth])
        outputs = model.fit_transform(clean, layer_distorted=own[:depth])
        noise = np.concatenate([model.transform(version) - outputs for version in own[depth - 1]])
        np.testing.assert_allclose(outputs.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(noise.var(axis=0), 1, rtol=1e-9)


def test_one_step_windows_are_oriented_pca() -> None:
    (clean,), versions = sequences(1)
    model = DistortionDiscriminantAnalysis([(2, 1, 1)]).fit(
        clean, distorted=[version[0] for version in versions]
    )
    by_rows = OrientedPCA(n_components=2).fit(clean, distorted=[version[0] for version in versions])
    np.testing.assert_allclose(model.eigenvalues_[0], by_rows.eigenvalues_, rtol=1e-10)
    same_up_to_signs(
        model.transform(clean) / model.transform(clean).std(axis=0),
        by_rows.embedding_ / by_rows.embedding_.std(axis=0),
    )


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.just(1), st.integers(1, 6), st.integers(1, 5)), min_size=1, max_size=3),
    st.integers(0, 30),
)
def test_the_receptive_field_is_the_shortest_input(layers: list, more: int) -> None:
    plans = [LayerShape(*layer) for layer in layers]

    def outputs(length: int) -> int:
        for plan in plans:
            length = plan.n_windows(length)
        return length

    field, hop = receptive_field(plans), int(np.prod([plan.step for plan in plans]))
    assert outputs(field - 1) == 0
    assert outputs(field + more) == 1 + more // hop


def test_an_output_depends_on_its_window_alone(fitted: DistortionDiscriminantAnalysis) -> None:
    (clean, *_), _ = sequences()
    whole = fitted.transform(clean)
    assert (fitted.receptive_field_, fitted.hop_) == (15, 6)
    assert len(whole) == (len(clean) - 15) // 6 + 1
    for t, row in enumerate(whole):
        np.testing.assert_allclose(
            fitted.transform(clean[6 * t : 6 * t + 15])[0], row, atol=1e-10 * np.abs(whole).max()
        )


def test_noise_that_is_a_constant_keeps_its_mean_square() -> None:
    (clean,), _ = sequences(1)
    with pytest.warns(SingularNoiseWarning):
        model = DistortionDiscriminantAnalysis([(4, 2, 1)]).fit(clean, distorted=[clean + np.eye(2)[0]])
    outputs = model.transform(clean + np.eye(2)[0]) - model.transform(clean)
    assert np.isfinite(outputs).all()
    assert np.abs(outputs).max() <= 1 + 1e-9


# --- streams ------------------------------------------------------------------------------------------------


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(cuts=st.lists(st.integers(0, 90), max_size=12), step=st.integers(1, 9))
def test_a_stream_equals_transform(cuts: list[int], step: int) -> None:
    clean, versions = sequences(2)
    model = DistortionDiscriminantAnalysis([(3, 4, step), (2, 2, 1)]).fit(
        clean, distorted=versions
    )  # steps beyond the window too
    chunks = np.split(clean[0], sorted(cuts))
    outputs = list(model.transform_stream(chunks))
    assert len(outputs) == len(chunks)
    whole = model.transform(clean[0])
    np.testing.assert_allclose(np.concatenate(outputs), whole, atol=1e-11 * np.abs(whole).max())


def test_outputs_are_returned_when_their_window_is_complete(fitted: DistortionDiscriminantAnalysis) -> None:
    (clean, *_), _ = sequences()
    stream, other = fitted.stream(), fitted.stream()
    counts = []
    for row in clean:
        counts.append(len(stream(row[None])))
        other(row[None] + 1)  # does not disturb the first
    expected = np.zeros(len(clean), dtype=int)
    expected[14::6] = 1
    np.testing.assert_array_equal(counts, expected)
    assert stream(np.zeros((0, 2))).shape == (0, 3)
    held = sum(stage._buffer.size for stage in stream._streams)
    assert held <= 5 * 2 + 6 * 4


def test_streams_are_lazy_and_checked(fitted: DistortionDiscriminantAnalysis) -> None:
    def forever():
        while True:
            yield np.ones((4, 2), dtype=np.float32)

    outputs = fitted.transform_stream(forever())
    made = [next(outputs) for _ in range(20)]
    assert sum(map(len, made)) == (80 - 15) // 6 + 1
    assert made[-1].dtype == np.float32
    with pytest.raises(ValueError, match=r"chunk has 3 channel\(s\), but 2 are expected"):
        fitted.stream()(np.ones((4, 3)))
    with pytest.raises(NotFittedError):
        DistortionDiscriminantAnalysis().stream()


# --- forms of input -----------------------------------------------------------------------------------------


def test_one_sequence_several_or_one_channel() -> None:
    (clean,), versions = sequences(1)
    one = DistortionDiscriminantAnalysis(LAYERS).fit(clean, distorted=[version[0] for version in versions])
    listed = DistortionDiscriminantAnalysis(LAYERS).fit([clean], distorted=versions)
    cube = DistortionDiscriminantAnalysis(LAYERS).fit(
        clean[None], distorted=[np.array(version) for version in versions]
    )
    rows = DistortionDiscriminantAnalysis(LAYERS).fit(
        clean.tolist(), distorted=[version[0].tolist() for version in versions]
    )
    np.testing.assert_array_equal(one.transform(clean), listed.transform([clean])[0])
    np.testing.assert_array_equal(one.transform(clean), cube.transform(clean[None])[0])
    np.testing.assert_array_equal(one.transform(clean), rows.transform(clean.tolist()))
    vector = DistortionDiscriminantAnalysis([(2, 4, 2)]).fit(
        clean[:, 0], distorted=[versions[0][0][:, 0], versions[1][0][:, 0]]
    )
    column = DistortionDiscriminantAnalysis([(2, 4, 2)]).fit(
        clean[:, :1], distorted=[versions[0][0][:, :1], versions[1][0][:, :1]]
    )
    np.testing.assert_array_equal(vector.transform(clean[:, 0]), column.transform(clean[:, :1]))
    assert vector.n_features_in_ == 1


def test_float32_in_and_out(fitted: DistortionDiscriminantAnalysis) -> None:
    clean, _ = sequences()
    single = fitted.transform(clean[0].astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, fitted.transform(clean[0]), atol=1e-4 * np.abs(single).max())


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "must be a list of"),
        (5, "layers=5 must be a list"),
        ([(2, 3)], r"layers\[0\]=\(2, 3\) must be \(n_components, window, step\)"),
        ([(2, 3, 0)], r"step of layers\[0\]=0 must be an integer of at least 1"),
        ([(2, 3, 1), (2, 0, 1)], r"window of layers\[1\]=0"),
        ([(2, 2.5, 1)], r"window of layers\[0\]=2.5"),
        (
            [(7, 3, 1)],
            r"n_components=7 of layers\[0\] exceeds its window of 3 steps of 2 channels = 6 numbers",
        ),
        (
            [(2, 3, 1), (9, 4, 1)],
            r"n_components=9 of layers\[1\] exceeds its window of 4 steps of 2 channels = 8 numbers",
        ),
        ([(2, 91, 1)], r"at least 91 time steps, but X\[0\] has 90"),
        ([(2, 20, 5), (2, 20, 1)], r"all layers together need at least 115 time steps, but X\[0\] has 90"),
    ],
)
def test_invalid_layers_raise(layers: object, message: str) -> None:
    clean, versions = sequences()
    with pytest.raises(ValueError, match=message):
        DistortionDiscriminantAnalysis(layers).fit(clean, distorted=versions)


def test_invalid_versions_raise() -> None:
    clean, versions = sequences()
    model = DistortionDiscriminantAnalysis(LAYERS)
    with pytest.raises(
        ValueError, match="distorted must be a list of distorted versions of X, each shaped like X, got None"
    ):
        model.fit(clean)
    with pytest.raises(ValueError, match="got an empty list"):
        model.fit(clean, distorted=[])
    with pytest.raises(ValueError, match="got ndarray"):
        model.fit(clean[0], distorted=versions[0][0])
    with pytest.raises(ValueError, match=r"distorted\[1\] has 2 sequences, but X has 3"):
        model.fit(clean, distorted=[versions[0], versions[1][:2]])
    with pytest.raises(
        ValueError,
        match=r"distorted\[0\]\[1\] has shape \(96, 2\), but the sequence it distorts has \(97, 2\); align",
    ):
        model.fit(clean, distorted=[[versions[0][0], versions[0][1][:-1], versions[0][2]]])
    with pytest.raises(ValueError, match=r"distorted\[0\] must be one sequence, like X"):
        model.fit(clean[0], distorted=[versions[0]])
    with pytest.raises(ValueError, match=r"distorted\[0\] contains NaN"):
        model.fit(clean[0], distorted=[clean[0] * np.nan])
    with pytest.raises(RankError, match="all noise vectors are zero"):
        model.fit(clean, distorted=[clean])


def test_invalid_versions_of_layers_raise() -> None:
    clean, versions = sequences()
    model = DistortionDiscriminantAnalysis(LAYERS)
    for own, message in (
        ([versions], "one entry for each of the 2 layers.*; got 1 entries"),
        ([versions] * 3, "one entry for each of the 2 layers.*; got 3 entries"),
        (versions[0][0], "layer_distorted must be a list with one entry for each .* got ndarray"),
        ([versions, []], r"layer_distorted\[1\] must be a list of distorted versions .* got an empty list"),
        (
            [versions, None],
            "distorted must be a list of distorted versions of X, each shaped like X, got None",
        ),
        ([versions, versions[0]], r"layer_distorted\[1\]\[0\] must be a list of sequences, like X"),
        ([versions, [versions[0][:2]]], r"layer_distorted\[1\]\[0\] has 2 sequences, but X has 3"),
        (
            [[[versions[0][0], versions[0][1][:-1], versions[0][2]]], versions],
            r"layer_distorted\[0\]\[0\]\[1\] has shape \(96, 2\), but the sequence it distorts has \(97, 2\)",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(clean, layer_distorted=own)
    with pytest.raises(ValueError, match="every layer has its own versions in layer_distorted; omit"):
        model.fit(clean, distorted=versions, layer_distorted=[versions, versions])
    with pytest.raises(RankError, match="all noise vectors are zero"):
        model.fit(clean, layer_distorted=[versions, [clean]])


def test_invalid_sequences_raise(fitted: DistortionDiscriminantAnalysis) -> None:
    with pytest.raises(ValueError, match=r"X has 3 channel\(s\), but 2 are expected"):
        fitted.transform(np.ones((50, 3)))
    with pytest.raises(ValueError, match=r"at least 15 time steps, but X has 14"):
        fitted.transform(np.ones((14, 2)))
    with pytest.raises(ValueError, match=r"X\[1\] has 3 channel"):
        fitted.transform([np.ones((50, 2)), np.ones((50, 3))])
    with pytest.raises(NotFittedError):
        DistortionDiscriminantAnalysis().transform(np.ones((50, 2)))


def test_too_few_windows_raise() -> None:
    (clean,), versions = sequences(1, steps=9)
    with pytest.raises(
        RankError, match="n_components=4 needs at least 5 windows, but the training sequences have 2"
    ):
        DistortionDiscriminantAnalysis([(4, 8, 1)]).fit(clean, distorted=[versions[0][0]])


# --- as an estimator ----------------------------------------------------------------------------------------

#: scikit-learn's checks that do not call fit. The others fit without distorted versions and expect one output
#: per row.
UNFITTED = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", UNFITTED)
def test_scikit_learn_checks_that_need_no_fit(name: str) -> None:
    getattr(estimator_checks, name)("DistortionDiscriminantAnalysis", DistortionDiscriminantAnalysis())


def test_a_second_fit_a_clone_and_a_pickle_are_the_same(fitted: DistortionDiscriminantAnalysis) -> None:
    clean, versions = sequences()
    layers = fitted.layers
    before = joblib.hash((layers, clean, versions))
    again = clone(fitted).fit(clean, distorted=versions)
    clone(fitted).fit(clean, layer_distorted=[versions, versions])
    assert joblib.hash((layers, clean, versions)) == before
    assert fitted.get_params() == {"layers": LAYERS, "regularization": "auto", "verbose": False}
    for other in (again, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(other.transform(clean[0]), fitted.transform(clean[0]))
    np.testing.assert_array_equal(
        clone(fitted).fit_transform(clean, distorted=versions)[1], fitted.transform(clean)[1]
    )


# --- the example --------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_audio_example_recognises_clips() -> None:
    path = Path(__file__).parents[2] / "examples" / "audio_fingerprints.py"
    spec = importlib.util.spec_from_file_location("audio_fingerprints", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    result = example.experiment(n_train=20, n_test=10, seconds=4.0)
    assert result.other.shape == (5 * 10 * 9,)
    assert result.false_positives(0.45) < 0.02
    assert result.false_negatives(0.45) < 0.1
    assert result.false_negatives(0.45, "shift") == 0
    assert result.false_negatives(2.0) == 0
    assert result.false_positives(2.0) == 1
