"""Recipes of the data files that ``--data`` reads: where the originals are, and the steps from them to ours.

Nothing is downloaded. ``python -m experiments.recipes NAME ORIGINAL`` reads an original that was downloaded
before, checks its checksum where one is known, and writes ``NAME.npz``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.recipes import images, speech, tables, text


@dataclass(frozen=True)
class Original:
    """A published file: address and checksum, ``"md5:..."`` or ``"sha256:..."``, empty if unknown."""

    url: str
    checksum: str = ""

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.url.rsplit("/", 1)[1]


@dataclass(frozen=True)
class Recipe:
    """How a data file is made from its originals."""

    originals: tuple[Original, ...]
    #: What to pass on the command line.
    source: str
    #: Function from the path of the source to the arrays of the file.
    make: Callable[[Path], dict[str, np.ndarray]]
    terms: str
    #: Short hashes of arrays of the file used for the published results, see :func:`digest`.
    digests: Mapping[str, str] = field(default_factory=dict)
    #: What is not certain.
    note: str = ""


_NLTK = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"

RECIPES = {
    "mnist": Recipe(
        (
            Original(_MNIST + "train-images-idx3-ubyte.gz", "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873"),
            Original(_MNIST + "train-labels-idx1-ubyte.gz", "md5:d53e105ee54ea40749a09fcbcd1e9432"),
            Original(_MNIST + "t10k-images-idx3-ubyte.gz", "md5:9fb629c4189551a2d022fa330f9573f3"),
            Original(_MNIST + "t10k-labels-idx1-ubyte.gz", "md5:ec29112dd5afa0611ce80d1b7f02629c"),
        ),
        "folder with the four files",
        images.mnist,
        "usually given as CC BY-SA 3.0",
        {"X": "8e0c55500adaf1fd", "y": "61bbfba15d8e8866"},
    ),
    "isomap_faces_32x32": Recipe(
        (
            Original(
                "https://web.archive.org/web/20160913051505/http://isomap.stanford.edu/face_data.mat.Z",
                "sha256:9c5bc75f204071bbd340aa3ff584757ec784b0630206e526d4cd3809f2650a8a",
            ),
        ),
        "face_data.mat, unpacked with `gzip -d face_data.mat.Z`",
        images.isomap_faces,
        "none stated",
        note="The file of the published results was made from a copy of the same images that was reduced to"
        " 32 x 32 pixels before (repository chunchentu/smogllim, probably by MATLAB's imresize). The steps"
        " here are those of imresize; small differences to that copy are possible.",
    ),
    "ionosphere": Recipe(
        (
            Original(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/ionosphere/ionosphere.data",
                "sha256:46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
            ),
        ),
        "ionosphere.data",
        tables.ionosphere,
        "CC BY 4.0",
        {"X": "947e5c1e552ae453", "y": "b42fb15af5bdaefb"},
    ),
    "brown_bigrams": Recipe(
        (
            Original(
                _NLTK + "brown.zip", "sha256:9b275f9b3b95d7bd66ccfb7cd259f445a13bbe5d1f4107aba09fd3e8364bafa6"
            ),
        ),
        "brown.zip",
        text.brown_bigrams,
        "non-commercial use",
        {"X": "5270819f94c213d4", "words": "d10784dd0f33077b", "tag": "d73ff605198aff1f"},
    ),
    "timit_sa1_stft": Recipe(
        (Original(_NLTK + "timit.zip", "md5:34c047c4749a811287f2c652104d7849"),),
        "timit.zip",
        speech.timit_sa1_stft,
        "CC BY-NC-SA (a sample, copyright 1993 Linguistic Data Consortium)",
        {"waveform": "fdadd62c963c948b", "phone_class": "e573a46bc92c48b3"},
    ),
    "nips12": Recipe(
        (Original("http://www.arbylon.net/projects/nips/nips-20110223.zip"),),
        "nips-20110223.zip",
        text.nips12,
        "none stated",
        {
            "data": "bcfcfa2e60f38adc",
            "indices": "613cafd1ab602257",
            "words": "2185e24fecda7798",
            "label": "962b4dae5ee7a412",
        },
        note="No checksum is published. The counts are Roweis's nips12raw_str602"
        " (https://cs.nyu.edu/~roweis/data.html); labels and volumes were added by this collection.",
    ),
}


def digest(array: np.ndarray) -> str:
    """Return a short hash of shape and values of an array, the same for all widths of a type.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.recipes import digest
    >>> digest(np.array([1, 2], dtype=np.int8)) == digest(np.array([1, 2]))
    True
    """
    wide = array.astype({"i": "<i8", "u": "<i8", "f": "<f8", "b": "<i8"}.get(array.dtype.kind, array.dtype))
    content = "\n".join(array.ravel().tolist()).encode() if array.dtype.kind == "U" else wide.tobytes()
    return hashlib.sha256(repr(array.shape).encode() + content).hexdigest()[:16]


def check_original(path: Path, original: Original) -> str:
    """Return a sentence on the checksum of a downloaded file; raise an error if it is another one."""
    if not original.checksum:
        return f"{original.name}: no checksum is known"
    algorithm, expected = original.checksum.split(":")
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, algorithm).hexdigest()
    if actual != expected:
        raise ValueError(
            f"{path} has the {algorithm} checksum {actual}, not {expected}; download it again from"
            f" {original.url}, or pass --any-version to use it all the same"
        )
    return f"{original.name}: {algorithm} checksum agrees"
