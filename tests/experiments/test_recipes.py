"""Recipes of the data files, on small made-up originals in the formats of the real ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import itertools
import os
import wave
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from experiments._data import DATA_FILES, check_folder
from experiments.recipes import RECIPES, Original, check_original, digest
from experiments.recipes.__main__ import main
from experiments.recipes.images import resize_matrix
from experiments.recipes.speech import read_wave

pytestmark = pytest.mark.pages

RNG = np.random.default_rng(0)
DATA = Path(os.environ.get("EIGENSCAPE_DATA", "no such folder"))
PAGE = Path(__file__).parents[2] / "docs" / "data.md"
SENTENCES = [
    "The/at Court/nn-tl said/vbd ,/, the/at jury/nn said/vbd ./.",
    "A/at jury/nn of/in-hl the/at court/nn said/vbd ``/`` no/rb ''/'' ./.",
]


def idx(array: np.ndarray) -> bytes:
    """Return an array of bytes in the format IDX."""
    lengths = np.array(array.shape, dtype=">i4").tobytes()
    return bytes([0, 0, 8, array.ndim]) + lengths + array.astype(np.uint8).tobytes()


def riff(samples: np.ndarray, rate: int = 16000) -> bytes:
    """Return samples as a RIFF file."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return buffer.getvalue()


def archive(path: Path, files: dict[str, str | bytes]) -> Path:
    """Write a zip file."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


def mnist(folder: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """Write 100 + 20 images of MNIST."""
    X, y = RNG.integers(0, 256, (120, 28, 28)), RNG.integers(0, 10, 120)
    for part, rows in (("train", slice(100)), ("t10k", slice(100, None))):
        for name, array in (("images-idx3", X), ("labels-idx1", y)):
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(idx(array[rows])))
    return folder, X.reshape(120, -1), y


def nips(path: Path, **changes: str) -> Path:
    """Write three documents of four words."""
    files = {
        "corpus": "2 1:3 0:5\n1 3:1\n0\n",
        "vocab": "network = 0 = 5 1\nlearning = 1 = 3 1\nmodel = 2 = 0 0\nspike = 3 = 1 1\n",
        "docs": "One\nTwo\nThree\n",
        "labels": "1\n0\n1\n",
        "labels.key": "Theory\nNone\n",
        "vols": "0\n3\n12\n",
    } | changes
    return archive(path, {f"nips/nips.{name}": text for name, text in files.items()})


def test_there_is_a_recipe_for_each_data_file() -> None:
    assert set(RECIPES) == set(DATA_FILES)
    page = PAGE.read_text()
    for name, recipe in RECIPES.items():
        assert f"`{name}.npz`" in page
        assert recipe.terms
        for original in recipe.originals:
            assert original.url in page
            assert original.checksum.partition(":")[2] in page
            assert original.checksum or "checksum" in recipe.note
            algorithm, _, value = original.checksum.partition(":")
            assert len(value) == {"md5": 32, "sha256": 64, "": 0}[algorithm]


def test_mnist(tmp_path: Path) -> None:
    source, X, y = mnist(tmp_path)
    arrays = RECIPES["mnist"].make(source)
    np.testing.assert_array_equal(arrays["X"], X)
    np.testing.assert_array_equal(arrays["y"], y)
    assert (arrays["X"].dtype, int(arrays["n_train"])) == (np.uint8, 100)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(y)[:-3]))
    with pytest.raises(ValueError, match="117 values, not 120"):
        RECIPES["mnist"].make(source)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError, match="t10k-labels"):
        RECIPES["mnist"].make(source)


def test_isomap_faces(tmp_path: Path) -> None:
    ramp = np.linspace(0, 1, 64)
    image = np.outer(ramp, np.ones(64))  # darker above
    columns = np.column_stack(
        [image.T.ravel(), image.ravel(), np.full(4096, 0.5)]
    )  # MATLAB: column by column
    poses, lights = RNG.standard_normal((2, 3)), RNG.standard_normal((1, 3))
    savemat(tmp_path / "face_data.mat", {"images": columns, "poses": poses, "lights": lights})
    arrays = RECIPES["isomap_faces_32x32"].make(tmp_path / "face_data.mat")
    first, second, constant = arrays["X"].reshape(3, 32, 32)
    np.testing.assert_allclose(first[:, 0], np.linspace(first[0, 0], first[-1, 0], 32), atol=0.02)
    assert np.ptp(first[7]) < 1e-6  # each row of the first image is constant
    np.testing.assert_allclose(second, first.T, atol=1e-6)
    np.testing.assert_allclose(constant, 0.5, atol=1e-6)
    for name, values in (("pan_z", poses[0]), ("tilt_z", poses[1]), ("light_z", lights[0])):
        np.testing.assert_allclose(arrays[name], (values - values.mean()) / values.std(ddof=1))


def test_images_are_reduced_as_by_imresize() -> None:
    matrix = resize_matrix(64, 32)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    # the weights of imresize for a half: (-3, -9, 29, 111, 111, 29, -9, -3) / 256
    np.testing.assert_allclose(256 * matrix[5, 7:15], [-3, -9, 29, 111, 111, 29, -9, -3], atol=1e-12)
    np.testing.assert_allclose(256 * matrix[0, :5], [111 + 29, 111 - 9, 29 - 3, -9, -3], atol=1e-12)


def test_ionosphere(tmp_path: Path) -> None:
    path = tmp_path / "ionosphere.data"
    path.write_text("1,0,0.5,g\n1,0,-0.25,b\n")
    arrays = RECIPES["ionosphere"].make(path)
    np.testing.assert_array_equal(arrays["X"], [[1, 0, 0.5], [1, 0, -0.25]])
    assert list(arrays["label_names"][arrays["y"]]) == ["good", "bad"]
    path.write_text("1,0,0.5,x\n")
    with pytest.raises(ValueError, match="class 'x'"):
        RECIPES["ionosphere"].make(path)


def test_brown_bigrams(tmp_path: Path) -> None:
    files = {
        "brown/ca01": f"\n\n\t{SENTENCES[0]}\n\n",
        "brown/cb02": SENTENCES[1],
        "brown/README": "no/at text/nn",
    }
    arrays = RECIPES["brown_bigrams"].make(archive(tmp_path / "brown.zip", files))
    words = list(arrays["words"])
    assert words == ["said", "the", "court", "jury", "a", "no", "of"]  # ties in alphabetical order
    assert list(arrays["frequency"]) == [3, 3, 2, 2, 1, 1, 1]
    assert list(arrays["tag"]) == ["VBD", "AT", "NN", "NN", "AT", "RB", "IN"]
    assert list(arrays["coarse"][:3]) == ["verb", "determiner", "noun"]
    expected = np.zeros((2, 7, 14), dtype=int)
    for bridged, sentences in enumerate(
        (
            ["the court said", "the jury said", "a jury of the court said", "no"],
            ["the court said the jury said", "a jury of the court said no"],
        )
    ):
        for sentence in sentences:
            numbers = [words.index(word) for word in sentence.split()]
            for left, right in itertools.pairwise(numbers):
                expected[bridged, right, left] += 1
                expected[bridged, left, 7 + right] += 1
    np.testing.assert_array_equal(arrays["X"], expected[0])
    np.testing.assert_array_equal(arrays["X_bridged"], expected[1])
    with pytest.raises(ValueError, match="no file such as brown/ca01"):
        RECIPES["brown_bigrams"].make(archive(tmp_path / "empty.zip", {"brown/README": "x"}))


def test_timit(tmp_path: Path) -> None:
    samples = RNG.integers(-3000, 3000, 1000)
    files = {
        "timit/dr1-fvmh0/sa1.wav": riff(samples),
        "timit/dr1-fvmh0/sa1.phn": "0 300 h#\n300 560 sh\n560 800 iy\n800 1000 dcl\n",
    }
    arrays = RECIPES["timit_sa1_stft"].make(archive(tmp_path / "timit.zip", files))
    assert arrays["X"].shape == (13, 256)  # centres 0, 80 .. 960
    assert list(arrays["phone"]) == 4 * ["h#"] + 3 * ["sh"] + 3 * ["iy"] + 3 * ["dcl"]
    assert list(arrays["phone_class"][::4]) == ["silence", "fricative", "vowel", "closure"]
    frame = samples[480 - 240 : 480 + 240] / 32768 * np.hamming(480)  # centred at 480
    waves = np.exp(-2j * np.pi * np.outer(np.arange(256), np.arange(480)) / 512)  # discrete Fourier transform
    np.testing.assert_allclose(arrays["X"][6], np.log(np.abs(waves @ frame)), rtol=1e-4)
    files["timit/dr1-fvmh0/sa1.wav"] = riff(samples[:-1])
    with pytest.raises(ValueError, match="ends at 1000, the waveform at 999"):
        RECIPES["timit_sa1_stft"].make(archive(tmp_path / "short.zip", files))


def test_waveforms_of_both_formats() -> None:
    samples = RNG.integers(-3000, 3000, 50).astype(np.int16)
    sphere = b"NIST_1A\n   1024\n".ljust(1024) + samples.astype("<i2").tobytes()
    np.testing.assert_array_equal(read_wave(riff(samples)), samples)
    np.testing.assert_array_equal(read_wave(sphere), samples)
    with pytest.raises(ValueError, match="8000"):
        read_wave(riff(samples, 8000))


def test_nips12(tmp_path: Path) -> None:
    arrays = RECIPES["nips12"].make(nips(tmp_path / "nips.zip"))
    assert list(arrays["words"]) == ["network", "learning", "model", "spike"]
    assert list(arrays["data"]) == [5, 3, 1]
    assert list(arrays["indices"]) == [0, 1, 3]
    assert list(arrays["indptr"]) == [0, 2, 3, 3]
    assert list(arrays["shape"]) == [3, 4]
    assert list(arrays["label_names"][arrays["label"]]) == ["None", "Theory", "None"]
    assert list(arrays["volume"]) == [0, 3, 12]
    for changes, message in (
        ({"corpus": "3 1:3 0:5\n1 3:1\n0\n"}, "announces 3 terms and has 2"),
        ({"labels": "1\n0\n"}, "3 documents and 2 of label"),
    ):
        with pytest.raises(ValueError, match=message):
            RECIPES["nips12"].make(nips(tmp_path / "wrong.zip", **changes))


def test_a_file_made_by_the_command_is_accepted_by_the_experiments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, X, _ = mnist(tmp_path)
    out = tmp_path / "data"
    assert main(["mnist", str(source), "--out", str(out)]) == 2
    assert "checksum" in capsys.readouterr().err
    assert not out.exists()
    assert main(["mnist", str(source), "--out", str(out), "--any-version"]) == 0
    shown = capsys.readouterr().out
    assert "checksum not compared" in shown
    assert "X: different from the file of the published results" in shown
    check_folder(out, ["mnist"])
    with np.load(out / "mnist.npz", allow_pickle=False) as file:
        np.testing.assert_array_equal(file["X"], X)
    assert main(["mnist", str(source), "--out", str(out), "--any-version"]) == 2  # not replaced
    recipe = RECIPES["mnist"]
    checksums = [
        f"md5:{hashlib.md5((source / original.name).read_bytes()).hexdigest()}"
        for original in recipe.originals
    ]
    originals = tuple(replace(o, checksum=c) for o, c in zip(recipe.originals, checksums, strict=True))
    monkeypatch.setitem(RECIPES, "mnist", replace(recipe, originals=originals, digests={"X": digest(X)}))
    capsys.readouterr()
    assert main(["mnist", str(source), "--out", str(out), "--force"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("md5 checksum agrees") == 4
    assert "X: the same as the file of the published results" in shown


def test_the_list_names_all_originals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(original.url in shown for recipe in RECIPES.values() for original in recipe.originals)
    assert shown.count("no checksum is known") == 1


def test_checksums_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "file.zip"
    path.write_bytes(b"content")
    right = Original("http://x/file.zip", "sha256:" + hashlib.sha256(b"content").hexdigest())
    assert check_original(path, right) == "file.zip: sha256 checksum agrees"
    assert check_original(path, replace(right, checksum="")) == "file.zip: no checksum is known"
    with pytest.raises(ValueError, match="not 00; download it again from http"):
        check_original(path, replace(right, checksum="md5:00"))


def test_digests_are_those_of_the_papers_data() -> None:
    if not DATA.is_dir():
        pytest.skip("EIGENSCAPE_DATA names no folder of data")
    for name, recipe in RECIPES.items():
        with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
            assert {key: digest(file[key]) for key in recipe.digests} == recipe.digests


def test_the_recipe_of_timit_gives_the_spectra_of_the_papers_data(tmp_path: Path) -> None:
    if not DATA.is_dir():
        pytest.skip("EIGENSCAPE_DATA names no folder of data")
    with np.load(DATA / "timit_sa1_stft.npz", allow_pickle=False) as file:
        ours = dict(file)
    rows = zip(ours["seg_start"], ours["seg_end"], ours["seg_phone"], strict=True)
    files = {
        "timit/dr1-fvmh0/sa1.wav": riff(ours["waveform"]),
        "timit/dr1-fvmh0/sa1.phn": "".join(f"{start} {end} {phone}\n" for start, end, phone in rows),
    }
    made = RECIPES["timit_sa1_stft"].make(archive(tmp_path / "timit.zip", files))
    np.testing.assert_allclose(made.pop("X"), ours.pop("X"), atol=1e-5)
    assert all(np.array_equal(made[key], ours[key]) for key in ours)
