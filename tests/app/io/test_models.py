"""Model files: description, compact models, rejected files. Law 6 (test_laws.py) tests saving and loading."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from cases import CASES, MAPS, WITHOUT_KERNEL
from scipy.spatial.distance import cdist

import eigenscape
from eigenscape.app.io.archive import FORMAT, HEADER, TREE
from eigenscape.app.io.models import describe
from eigenscape.estimators.compact_map import CompactMap
from eigenscape.exceptions import InputFileError, ModelFileError, ToleranceWarning, WriteError
from eigenscape.options import Dictionary, Ordinal

#: One estimator of each kind.
KINDS = sorted({type(case.make()) for case in [*CASES, *WITHOUT_KERNEL, *MAPS]}, key=lambda cls: cls.__name__)

rng = np.random.default_rng(0)
X, NEW = rng.random((60, 3)), rng.random((9, 3))


@pytest.fixture(scope="module")
def model() -> Any:
    return eigenscape.Isomap(n_neighbors=8).fit(X)


@pytest.fixture
def saved(model: Any, tmp_path: Path) -> Path:
    eigenscape.save(model, tmp_path / "m.eigenscape", notes="a note")
    return tmp_path / "m.eigenscape"


# --- the description ----------------------------------------------------------------------------------------


def test_a_model_describes_itself(model: Any, saved: Path) -> None:
    said = describe(saved)
    assert (said["method"], said["n_samples"], said["n_features"], said["n_components"]) == (
        "Isomap",
        60,
        3,
        2,
    )
    assert said["parameters"]["n_neighbors"] == 8
    assert said["version"] == eigenscape.__version__
    assert said["format"] == FORMAT
    assert said["notes"] == "a note"
    assert said["size"] == saved.stat().st_size
    assert said["compact"] is None
    np.testing.assert_array_equal(said["spectrum"], model.eigenvalues_)
    json.dumps(said)


def test_feature_names_are_stored(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    eigenscape.save(eigenscape.PCA(2).fit(frame), tmp_path / "m")
    assert describe(tmp_path / "m")["feature_names"] == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        eigenscape.load(tmp_path / "m").transform(frame[["b", "a", "c"]])


# --- omitted arrays -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "table"),
    [
        (lambda: eigenscape.KernelPCA(kernel="precomputed"), lambda D: np.exp(-D)),
        (lambda: eigenscape.ClassicalMDS(metric="precomputed"), lambda D: D),
        (lambda: eigenscape.ClassicalMDS(metric="precomputed", indefinite="clip"), np.sqrt),
        (lambda: eigenscape.Isomap(metric="precomputed"), lambda D: D),
        (lambda: eigenscape.Isomap(metric="precomputed", indefinite="clip"), lambda D: D),
        (lambda: eigenscape.LaplacianEigenmaps(affinity="precomputed_nearest_neighbors"), lambda D: D),
        (lambda: eigenscape.SpectralClustering(3, affinity="precomputed"), lambda D: np.exp(-D)),
    ],
)
def test_square_matrices_are_not_stored(
    tmp_path: Path, make: Callable[[], Any], table: Callable[[np.ndarray], np.ndarray]
) -> None:
    points, more = np.random.default_rng(1).random((400, 3)), np.random.default_rng(2).random((10, 3))
    own, new = table(cdist(points, points)), table(cdist(more, points))
    model = make().fit(own)
    eigenscape.save(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < own.nbytes / 4
    again = eigenscape.load(tmp_path / "m")
    np.testing.assert_allclose(
        again.transform(new), model.transform(new), rtol=0, atol=1e-12 * np.abs(model.embedding_).max()
    )
    np.testing.assert_allclose(
        again.transform(own), model.embedding_, rtol=0, atol=1e-9 * np.abs(model.embedding_).max()
    )
    np.testing.assert_array_equal(
        model.transform(new), make().fit(own).transform(new)
    )  # saving does not change the model


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("cls", KINDS, ids=[cls.__name__ for cls in KINDS])
def test_file_size_grows_linearly_with_the_data(tmp_path: Path, cls: type) -> None:
    """Twice the rows need about twice the bytes; an array of all pairs would need four times as many."""
    points = np.random.default_rng(1).random((300, 3))
    sizes = []
    options = {"n_init": 1} if cls in (eigenscape.MixturePPCA, eigenscape.OrdinalMDS) else {}
    options |= {"n_landmarks": 40} if cls is eigenscape.PotentialMap else {}  # it has an array of their pairs
    for n in (75, 150, 300):
        eigenscape.save(cls(**options).fit(points[:n], np.arange(n) % 4), tmp_path / "m", force=True)
        sizes.append((tmp_path / "m").stat().st_size)
    assert sizes[2] - sizes[1] < 2.5 * (sizes[1] - sizes[0]) + 4096


def test_omitted_arrays_raise_an_error(tmp_path: Path) -> None:
    model = eigenscape.KernelPCA(kernel="precomputed").fit(np.exp(-cdist(X, X)))
    eigenscape.save(model, tmp_path / "m")
    again = eigenscape.load(tmp_path / "m")
    with pytest.raises(
        ModelFileError, match=r"shape \(60, 60\) was omitted when this model was saved.*fit the model again"
    ):
        again.kernel_(again.kernel_.X[:3])
    tables = np.exp(-cdist(NEW, X)), np.exp(-cdist(NEW, NEW))
    assert again.loss(*tables) == pytest.approx(model.loss(*tables), rel=1e-12)


@pytest.mark.parametrize(
    "model", [eigenscape.Isomap(n_neighbors=6), eigenscape.Isomap(n_neighbors=6, n_landmarks=20)], ids=repr
)
def test_a_loaded_model_has_the_same_held_out_loss(model: Any, tmp_path: Path) -> None:
    eigenscape.save(model.fit(X), tmp_path / "m")
    assert eigenscape.load(tmp_path / "m").loss(NEW) == pytest.approx(model.loss(NEW), rel=1e-12)


def test_layers_clusters_and_inverse_maps_are_stored(tmp_path: Path) -> None:
    """Cases beyond the laws: distortion discriminant analysis, clusters of new samples, an inverse map."""
    clean = np.cumsum(np.random.default_rng(0).standard_normal((200, 3)), axis=0)
    noisy = [clean + np.random.default_rng(seed).standard_normal(clean.shape) for seed in (1, 2)]
    shifted = [np.roll(clean, shift, axis=0) for shift in (-1, 1)]
    for i, versions in enumerate(({"distorted": noisy}, {"layer_distorted": [noisy, shifted]})):
        layers = eigenscape.DistortionDiscriminantAnalysis(layers=[(4, 5, 2), (2, 8, 4)])
        layers.fit(clean, **versions)
        eigenscape.save(layers, tmp_path / f"layers{i}")
        np.testing.assert_array_equal(
            eigenscape.load(tmp_path / f"layers{i}").transform(clean), layers.transform(clean)
        )
    clusters = eigenscape.SpectralClustering(3).fit(X)
    eigenscape.save(clusters, tmp_path / "clusters")
    np.testing.assert_array_equal(eigenscape.load(tmp_path / "clusters").predict(NEW), clusters.predict(NEW))
    kernel = eigenscape.KernelPCA().fit(X)
    rows = kernel.inverse_transform(kernel.transform(X[:4]))
    eigenscape.save(kernel, tmp_path / "kernel")
    np.testing.assert_array_equal(
        eigenscape.load(tmp_path / "kernel").inverse_transform(kernel.transform(X[:4])), rows
    )


@pytest.mark.parametrize("normalization", ["additive", "divisive"])
def test_a_loaded_model_continues_its_stream(normalization: str, tmp_path: Path) -> None:
    model = eigenscape.GreedySpectralEmbedding(
        normalization=normalization, dictionary=Dictionary(tol=1e-2)
    ).partial_fit(X)
    eigenscape.save(model, tmp_path / "m")
    again = eigenscape.load(tmp_path / "m").partial_fit(NEW)
    assert again.n_samples_seen_ == len(X) + len(NEW)
    np.testing.assert_array_equal(again.transform(NEW), model.partial_fit(NEW).transform(NEW))
    assert again.loss(X) == model.loss(X)


class Stream:
    """Chunks that are generated by code and cannot be serialized."""

    def __init__(self) -> None:
        self.make = lambda: iter([X[:30], X[30:]])

    def __iter__(self) -> Any:
        return self.make()


@pytest.mark.long
def test_streams_are_not_stored(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.tile(X, (200, 1)))
    chunks = eigenscape.read(tmp_path / "x.npy", stream=True).array
    for number, stream in enumerate((Stream(), [X[:30], X[30:]], chunks)):
        model = eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-2)).fit(stream)
        eigenscape.save(model, tmp_path / f"{number}")
        assert (tmp_path / f"{number}").stat().st_size < 200_000
        assert describe(tmp_path / f"{number}")["n_samples"] == model.n_samples_seen_
        np.testing.assert_array_equal(
            eigenscape.load(tmp_path / f"{number}").transform(NEW), model.transform(NEW)
        )


def taxi(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x - y).sum())


class MyKernel:
    def bind(self, points: Any) -> Any:
        return eigenscape.kernels.Gaussian(1.0).bind(points)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: eigenscape.Isomap(metric=taxi), "metric=taxi; user-defined callables.*metric='precomputed'"),
        (
            lambda: eigenscape.KernelPCA(kernel=lambda x, y: float(x @ y)),
            "kernel=<lambda>; user-defined callables",
        ),
        (
            lambda: eigenscape.LaplacianEigenmaps(affinity=MyKernel()),
            "affinity=MyKernel; user-defined kernels",
        ),
    ],
)
def test_user_defined_callables_are_rejected(tmp_path: Path, make: Callable[[], Any], message: str) -> None:
    model = make().fit(X)
    with pytest.raises(ModelFileError, match=message):
        eigenscape.save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_kernels_of_the_library_are_stored(tmp_path: Path) -> None:
    model = eigenscape.KernelPCA(kernel=eigenscape.kernels.Laplace(gamma=0.7)).fit(X)
    eigenscape.save(model, tmp_path / "m")
    np.testing.assert_array_equal(eigenscape.load(tmp_path / "m").transform(NEW), model.transform(NEW))


def test_errors_before_anything_is_written(tmp_path: Path, model: Any) -> None:
    with pytest.raises(ModelFileError, match="not fitted"):
        eigenscape.save(eigenscape.Isomap(), tmp_path / "m")
    with pytest.raises(WriteError, match="is a directory"):
        eigenscape.save(model, tmp_path)
    eigenscape.save(model, tmp_path / "m")
    with pytest.raises(FileExistsError, match="--force"):
        eigenscape.save(model, tmp_path / "m")
    eigenscape.save(model, tmp_path / "m", force=True)
    for compact in (0, 1, -3, False, "x", 2.7):
        with pytest.raises(ValueError, match="compact="):
            eigenscape.save(model, tmp_path / "c", compact=compact)


# --- damaged files, other types -----------------------------------------------------------------------------


def assert_rejected(path: Path, message: str) -> None:
    with pytest.raises(ModelFileError, match=message) as caught:
        eigenscape.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def rewrite(
    path: Path, change: Callable[[dict[str, bytes]], None], compression: int = zipfile.ZIP_STORED
) -> Path:
    """Change members of the archive, whose checksums are right, as an attacker would."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    return write_archive(path, members, compression)


def write_archive(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def with_attributes(members: dict[str, bytes], nodes: list[Any]) -> None:
    """Add attributes to the model in a file."""
    tree = json.loads(members[TREE])
    tree["model"]["fields"] |= {f"more{number}_": node for number, node in enumerate(nodes)}
    members[TREE] = json.dumps(tree).encode()


def with_nodes(*nodes: Any) -> Callable[[dict[str, bytes]], None]:
    return lambda members: with_attributes(members, [*nodes])


def test_a_rewritten_file_loads(saved: Path, model: Any) -> None:
    rewrite(saved, dict.copy)
    np.testing.assert_array_equal(eigenscape.load(saved).transform(NEW), model.transform(NEW))


def test_files_that_are_not_models(tmp_path: Path) -> None:
    for content, message in (
        (b"", "is empty"),
        (b"hello", "not a model file"),
        (b"PK\x03\x04" + bytes(100), "damaged"),
    ):
        (tmp_path / "m").write_bytes(content)
        assert_rejected(tmp_path / "m", message)
    assert_rejected(tmp_path, "is a directory")
    assert_rejected(tmp_path / "none", "does not exist")
    np.savez(tmp_path / "arrays.npz", X=X)
    assert_rejected(tmp_path / "arrays.npz", "not a model file of eigenscape")
    assert issubclass(ModelFileError, InputFileError)


def test_a_truncated_file_is_rejected(saved: Path) -> None:
    whole = saved.read_bytes()
    for share in np.linspace(0.01, 0.999, 25):
        saved.write_bytes(whole[: int(share * len(whole))])
        assert_rejected(saved, "damaged|not a model file")


def test_a_flipped_bit_is_detected_or_harmless(saved: Path, model: Any) -> None:
    """Some bytes of an archive have no effect (time stamps); all other changes must be detected."""
    whole, expected = bytearray(saved.read_bytes()), model.transform(NEW)
    refusals = 0
    for place in np.random.default_rng(3).integers(len(whole), size=60):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(place) % 8
        saved.write_bytes(flipped)
        try:
            np.testing.assert_array_equal(eigenscape.load(saved).transform(NEW), expected)
        except ModelFileError:
            refusals += 1
    assert refusals > 45


def test_a_later_format_is_rejected(saved: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        header = {**json.loads(members[HEADER]), "format": FORMAT + 1, "version": "9.1"}
        members[HEADER] = json.dumps(header).encode()
        members[TREE] = b"not read"

    rewrite(saved, change)
    message = (
        f"written by eigenscape 9.1 in format {FORMAT + 1}, and eigenscape {eigenscape.__version__} reads"
        f" formats up to {FORMAT}; install eigenscape 9.1 or later"
    )
    assert_rejected(saved, message)
    with pytest.raises(ModelFileError, match=message):
        describe(saved)


def test_attributes_of_a_later_version_do_no_harm(saved: Path, model: Any) -> None:
    rewrite(saved, with_nodes({"list": [1, {"float": "nan"}]}))
    np.testing.assert_array_equal(eigenscape.load(saved).transform(NEW), model.transform(NEW))


@pytest.mark.long
def test_a_zip_bomb_is_not_decompressed(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def blow_up(members: dict[str, bytes]) -> None:
        members["bomb.npy"] = bytes(50_000_000)

    rewrite(saved, blow_up, zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 1e6
    assert_rejected(saved, "bomb.npy is not used by the model")
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: 40_000_000)
    assert_rejected(saved, "would decompress to .* which do not fit in memory")
    with pytest.raises(ModelFileError, match="would decompress"):
        describe(saved)


def array_file(values: np.ndarray) -> bytes:
    written = io.BytesIO()
    np.save(written, values)
    return written.getvalue()


def test_an_array_that_declares_another_size_is_not_allocated(saved: Path) -> None:
    """The shape in an npy header must agree with the bytes of the member."""
    small, content = array_file(np.zeros((1, 10**5))), saved.read_bytes()
    for damaged in (
        small.replace(b"(1, 100000)", b"(10**9, 1) "),
        small.replace(b"(1, 100000)", b"(9999999999,)"[:11]),
        small.replace(b"(1, 100000)", b"(9, 999999)"),
        small.replace(b"'<f8'", b"'|O' "),
        small[:-8],
        small + b"12345678",
        b"\x93NUMPY" + bytes(50),
    ):
        saved.write_bytes(content)

        def change(members: dict[str, bytes], damaged: bytes = damaged) -> None:
            members["more.npy"] = damaged
            with_attributes(members, [{"array": "more.npy"}])

        rewrite(saved, change)
        assert_rejected(saved, "damaged or not written by eigenscape, and was not loaded")


def test_a_shared_array_is_loaded_once(saved: Path) -> None:
    def refer_repeatedly(*nodes: Any) -> Callable[[dict[str, bytes]], None]:
        def change(members: dict[str, bytes]) -> None:
            members["more.npy"] = array_file(np.arange(1000))
            with_attributes(members, [*nodes])

        return change

    content = saved.read_bytes()
    rewrite(saved, refer_repeatedly(*[{"array": "more.npy"}] * 50))
    loaded = eigenscape.load(saved)
    assert loaded.more7_ is loaded.more42_
    matrix = {"sparse": "csr_array", "shape": [999, 5], "data": "more.npy"}
    matrix |= {"indices": "more.npy", "indptr": "more.npy"}
    for nodes in ([matrix], [{"array": "more.npy"}, matrix]):  # a matrix may copy its arrays
        saved.write_bytes(content)
        rewrite(saved, refer_repeatedly(*nodes))
        assert_rejected(saved, "more.npy is used twice")


def test_values_of_all_kinds_are_stored(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "plain": [None, True, -3, 0.1, "text\n", float("inf")],
        "tuple": (1, (2.5, "a"), set()),
        "set": {1, 2},
        "dict": {"a": 1, 2: "b", (3, 4): None},
        "scalars": [
            np.float32(0.1),
            np.int64(-7),
            np.uint8(200),
            np.bool_(True),
            np.str_("x"),
            np.float64("nan"),
        ],
        "type": np.float64,
    }
    arrays = [np.asfortranarray(X), np.array(["a", "bc"]), np.array(["a", None], dtype=object), np.array(3.0)]
    arrays += [X.astype(np.float32), np.zeros((0, 3)), np.arange(5, dtype=np.int8)]
    seed, matrix = np.random.RandomState(3), scipy.sparse.csr_array(np.eye(4)[:, :3])
    model = eigenscape.PCA(2).fit(X)
    model.random_state = seed
    vars(model).update(values_=values, shared=[matrix, matrix])
    vars(model)["feature_names_in_"] = np.array(["a", "b", "c"], dtype=object)
    vars(model)["parts"] = arrays
    eigenscape.save(model, tmp_path / "m")
    again = eigenscape.load(tmp_path / "m")
    assert repr(again.values_) == repr(values)
    assert [type(value) for value in again.values_["scalars"]] == [type(value) for value in values["scalars"]]
    for new, old in zip(again.parts, arrays, strict=True):
        np.testing.assert_array_equal(new, old)
        assert (new.dtype, new.flags.f_contiguous) == (old.dtype, old.flags.f_contiguous)
    assert again.shared[0] is again.shared[1]
    assert (again.shared[0] != matrix).nnz == 0
    assert again.random_state.standard_normal() == seed.standard_normal()


def test_errors_of_a_damaged_tree(saved: Path) -> None:
    content = saved.read_bytes()
    nodes: list[tuple[Any, str]] = [
        ({"class": "eigenscape.options.Solver"}, "no entry 'fields'"),
        ({"class": "eigenscape.options.Solver", "fields": {"tol": "low"}}, "it is inconsistent: tol"),
        ({"list\x1b[31m\n": []}, r"a node \(list\[31m \) that models of eigenscape do not use"),
        ([], r"a node \(list\) that models"),
        ({"same": 10**6}, "no entry 1000000"),
        ({"same": []}, "unhashable"),
        ({"list": 3}, "not iterable"),
        ({"array": "none.npy"}, "none.npy"),
        ({"array": HEADER}, "eigenscape.json has .* bytes"),
        ({"array": "../0.npy"}, "../0.npy"),
        ({"scalar": "object", "value": 1}, "no entry 'object'"),
        ({"random_state": {"dict": [["state", {"dict": [["pos", 700]]}]]}}, "the position 700"),
    ]
    for node, message in nodes:
        saved.write_bytes(content)
        rewrite(saved, with_nodes(node))
        assert_rejected(saved, message)
    for tree in (b"[]", b"3", b"{}", b"[" * 100_000, b"\xff"):
        saved.write_bytes(content)
        rewrite(saved, lambda members, tree=tree: members.update({TREE: tree}))  # type: ignore[misc]
        assert_rejected(saved, "is damaged or not written by eigenscape")


@pytest.mark.long
def test_a_damaged_archive_raises_no_other_error(saved: Path) -> None:
    """Change every byte of the directory entry of the header, to values that have a meaning there."""
    whole = saved.read_bytes()
    start = whole.rindex(b"PK\x01\x02")
    for place in range(start + 4, start + 46):
        for value in (1, 99):
            saved.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            with contextlib.suppress(ModelFileError):
                describe(saved)
            with contextlib.suppress(ModelFileError):
                eigenscape.load(saved)


def test_control_characters_are_removed_from_the_header(saved: Path) -> None:
    def steer(members: dict[str, bytes]) -> None:
        said = {**json.loads(members[HEADER]), "notes": "two\nlines\x1b[31m", "feature_names": ["a\x07"]}
        members[HEADER] = json.dumps(said).encode()

    rewrite(saved, steer)
    assert (describe(saved)["notes"], describe(saved)["feature_names"]) == ("two\nlines[31m", ["a"])


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "subprocess.Popen",
        "builtins.list",
        "numpy.ndarray",
        "sklearn.linear_model._base.LinearRegression",
        "eigenscape.app.io.writing.write_table",
        "eigenscape.app.cli.main",
        "eigenscape.app.io.tree.Decoder",
        "eigenscape.graph.row_index.pickle",
        "eigenscape.graph.tree.KDTree",
        "eigenscape.graph.row_index.RowIndex.find",
        "eigenscape.graph.no_module.Nothing",
        "eigenscape.estimators..PCA",
        "eigenscape",
        "",
    ],
)
def test_other_types_are_rejected(saved: Path, name: str) -> None:
    rewrite(saved, with_nodes({"class": name, "fields": {}}))
    assert_rejected(saved, rf"not loaded: it contains {name}, a type that models of eigenscape do not use")


class SideEffect:
    executed = False

    def __setstate__(self, state: Any) -> None:
        SideEffect.executed = True


def test_loading_executes_no_code(saved: Path) -> None:
    """A class with side effects in ``__setstate__`` is rejected before it is created."""
    rewrite(saved, with_nodes({"class": f"{__name__}.SideEffect", "fields": {}}))
    assert_rejected(saved, "not loaded")
    assert not SideEffect.executed


def test_all_members_must_be_used(saved: Path) -> None:
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("more.txt", b"1234")
    assert_rejected(saved, "more.txt is not used by the model")


# --- compact ------------------------------------------------------------------------------------------------


def test_a_compact_map_is_small_and_reports_its_error(tmp_path: Path) -> None:
    points = np.random.default_rng(4).random((500, 3))
    new = np.random.default_rng(5).random((300, 3))
    model = eigenscape.KernelPCA(3).fit(points)
    eigenscape.save(model, tmp_path / "all")
    eigenscape.save(model, tmp_path / "some", compact=True)
    facts = describe(tmp_path / "some")["compact"]
    assert facts["size"] < 250
    assert facts["error"] < 0.01
    assert (tmp_path / "some").stat().st_size < (tmp_path / "all").stat().st_size
    small = eigenscape.load(tmp_path / "some")
    assert isinstance(small, CompactMap)
    assert (small.method, small.n_features_in_, len(small.dictionary_)) == ("KernelPCA", 3, facts["size"])
    expected = model.transform(new)
    spread = np.sqrt(np.square(expected - expected.mean(axis=0)).sum(axis=1).mean())
    actual = np.sqrt(np.square(small.transform(new) - expected).sum(axis=1).mean()) / spread
    assert actual < 3 * facts["error"] + 1e-6  # the reported error holds for new samples
    assert small.transform(new.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(small.transform(new[:1]), small.transform(new)[:1], atol=1e-10)
    with pytest.raises(ValueError, match="expecting 3 features"):
        small.transform(np.ones((2, 4)))
    with pytest.raises(TypeError, match="cannot be fitted"):
        small.fit(points)


@pytest.mark.parametrize(
    "estimator",
    [
        eigenscape.Isomap(n_neighbors=8),
        eigenscape.LaplacianEigenmaps(n_neighbors=8),
        eigenscape.Isomap(n_neighbors=8, n_landmarks=30),
        eigenscape.ClassicalMDS(metric="cityblock"),
        eigenscape.Isomap(n_neighbors=8, ordinal=Ordinal(n_init=1, max_iter=3000)),
    ],
    ids=["isomap", "laplacian", "landmarks", "cityblock", "ordinal"],
)
def test_the_error_of_a_compact_map_holds_for_new_points(tmp_path: Path, estimator: Any) -> None:
    points, new = np.random.default_rng(6).random((300, 2)), np.random.default_rng(7).random((200, 2))
    model = estimator.fit(points @ np.array([[1.0, 0, 0.5], [0, 0.6, 0.2]]))
    eigenscape.save(model, tmp_path / "m", compact=60)
    small, said = eigenscape.load(tmp_path / "m"), describe(tmp_path / "m")
    assert said["compact"]["size"] == 60
    assert said["n_samples"] == 300
    expected = model.transform(new @ np.array([[1.0, 0, 0.5], [0, 0.6, 0.2]]))
    found = small.transform(new @ np.array([[1.0, 0, 0.5], [0, 0.6, 0.2]]))
    spread = np.sqrt(np.square(expected - expected.mean(axis=0)).sum(axis=1).mean())
    actual = np.sqrt(np.square(found - expected).sum(axis=1).mean()) / spread
    assert said["compact"]["error"] / 2 < actual < 2 * said["compact"]["error"]
    assert actual < 0.2


@pytest.mark.parametrize(
    "estimator",
    [
        eigenscape.PCA(2),
        eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-2)),
        eigenscape.LandmarkMDS(n_landmarks=20),
        eigenscape.ProbabilisticPCA(2),
        eigenscape.FactorAnalysis(1),
    ],
    ids=["PCA", "greedy", "landmarks", "ppca", "factors"],
)
def test_maps_that_need_no_rows_are_compact_without_error(tmp_path: Path, estimator: Any) -> None:
    points = np.random.default_rng(8).random((2000, 4))
    model = estimator.fit(points)
    eigenscape.save(model, tmp_path / "all")
    eigenscape.save(model, tmp_path / "small", compact=True)
    assert describe(tmp_path / "small")["compact"] == {"size": None, "error": 0.0}
    np.testing.assert_array_equal(
        eigenscape.load(tmp_path / "small").transform(points[:50]), model.transform(points[:50])
    )
    if type(estimator).__name__ in ("PCA", "GreedySpectralEmbedding"):  # the others contain no rows
        assert (tmp_path / "small").stat().st_size < (tmp_path / "all").stat().st_size - 0.9 * points.nbytes


def test_a_compact_map_with_a_large_error_warns(tmp_path: Path) -> None:
    noise = np.random.default_rng(9).standard_normal((150, 10))
    with pytest.warns(
        ToleranceWarning, match=r"rows represent the map with an error of .* % on training rows, not 1 %"
    ):
        eigenscape.save(eigenscape.Isomap(n_neighbors=6).fit(noise), tmp_path / "m", compact=True)


def test_a_precomputed_map_cannot_be_compact(tmp_path: Path) -> None:
    model = eigenscape.Isomap(metric="precomputed").fit(cdist(X, X))
    with pytest.raises(ValueError, match="has no rows; save it without compact"):
        eigenscape.save(model, tmp_path / "m", compact=True)
