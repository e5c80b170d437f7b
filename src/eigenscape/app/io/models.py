"""Models on disk: written whole, described by themselves, loaded without running anything that a file could
bring."""

from __future__ import annotations

import datetime
import hashlib
import json
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._format import to_json
from eigenscape._memory import row_blocks
from eigenscape._omitted import OmittedArray
from eigenscape.app.io.archive import (
    FORMAT,
    HEADER,
    check_members,
    checksum,
    one_line,
    open_archive,
    read_header,
)
from eigenscape.app.io.atomic import whole_file
from eigenscape.app.io.exporting import Exporter, refuse_functions
from eigenscape.app.io.schema import check_contents
from eigenscape.exceptions import ModelFileError

#: Of a longer spectrum only so much goes into the description.
_SPECTRUM = 1000


def check_model(model: Any) -> None:
    """Whether there is something to save, and nothing in it that a file cannot hold."""
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(model)):
        raise ModelFileError(f"{type(model).__name__} is not fitted; there is no model to save")
    refuse_functions(model)


def write_model(
    model: Any,
    original: Any,
    path: str | Path,
    *,
    force: bool = False,
    notes: str | None = None,
    data: Any = None,
    compact: dict[str, Any] | None = None,
    needless: tuple[Any, ...] = (),
    scaler: Any = None,
) -> None:
    """Write ``model``, which was made from ``original`` or is it (see :func:`eigenscape.save`); arrays in
    ``needless`` are left out."""
    import skops.io

    exported = Exporter(_is_precomputed(original), needless)(model)
    if scaler is not None:
        from sklearn.pipeline import Pipeline

        exported = Pipeline([("standardize", scaler), ("map", exported)])
    header = {
        **_header(original, notes, data),
        "standardized": scaler is not None,
        "type": type(exported).__name__,
        "compact": compact,
    }
    with whole_file(path, force=force) as part:
        with part.open("wb") as file:
            skops.io.dump(exported, file)
        with zipfile.ZipFile(part) as archive:
            header["members"] = {
                member.filename: checksum(archive, member.filename) for member in archive.infolist()
            }
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(HEADER, json.dumps(header, indent=1))


def load(path: str | Path) -> Any:
    """Load a model that :func:`eigenscape.save` wrote.

    Nothing that the file names is run: every type in it must be one that models of eigenscape are made of.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        The fitted model; ``transform`` gives what it gave before. A precomputed matrix is not in the file, so
        what needs it again (``loss()`` of the training points) says so.

    Raises
    ------
    ModelFileError
        The file is damaged, cut off, from a later version, unpacks to more than it should, or holds types
        that are not ours.
    """
    import skops.io

    path = _existing(path)
    with path.open("rb") as file:
        with open_archive(file, path) as archive:
            header = read_header(archive, path)
            check_members(archive, header, path)
            types = check_contents(archive, path)
        file.seek(0)
        try:
            model = skops.io.load(file, trusted=types)
        except ModelFileError:
            raise
        except KeyError as error:
            raise ModelFileError(
                f"{path} is damaged: something in its list of contents has no {one_line(str(error))}"
            ) from error
        except Exception as error:  # whatever a consistent file of wrong content may cause
            raise ModelFileError(
                f"{path} cannot be loaded: {one_line(str(error)) or type(error).__name__}"
            ) from error
    if type(model).__name__ != header.get("type"):
        raise ModelFileError(
            f"{path} says that it holds a {one_line(str(header.get('type')))}, and holds a {type(model).__name__}"
        )
    return model


def describe(path: str | Path) -> dict[str, Any]:
    """What a model file says about itself, without loading the model.

    That is all that is read: whether the model itself is whole, and what it says it is, only
    :func:`eigenscape.load` finds out. Control characters are left out of the texts.

    Returns
    -------
    dict
        ``method``, ``version`` (of eigenscape), ``format``, ``date``, ``parameters``, ``n_samples``,
        ``n_features``, ``n_components``, ``feature_names``, ``spectrum``, ``fingerprint`` (of the training
        rows), ``standardized``, ``compact`` (None, or the ``size`` of the dictionary and its ``error`` on
        training rows, each predicted without itself; rows unlike them may lose more), ``notes``, ``size`` (of
        the file, in bytes).
    """
    path = _existing(path)
    with path.open("rb") as file, open_archive(file, path) as archive:
        header = read_header(archive, path)
    header.pop("members", None)
    header.pop("type", None)
    return {**header, "size": path.stat().st_size}


def _existing(path: str | Path) -> Path:
    path = Path(path).expanduser()
    if path.is_dir():
        raise ModelFileError(f"{path} is a directory, not a model file")
    if not path.exists():
        raise ModelFileError(f"there is no model file {path}")
    if path.stat().st_size == 0:
        raise ModelFileError(f"{path} is empty")
    return path


def _is_precomputed(model: Any) -> bool:
    return any(
        isinstance(value, str) and value.startswith("precomputed")
        for value in model.get_params(deep=False).values()
    )


def _header(model: Any, notes: str | None, data: Any) -> dict[str, Any]:
    embedding = getattr(model, "embedding_", None)
    n_samples = getattr(model, "n_samples_seen_", None) if embedding is None else len(embedding)
    if n_samples is None and data is not None:  # models that keep no coordinates do not know
        n_samples = data.shape[0]
    names = getattr(model, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "version": sys.modules[
            "eigenscape"
        ].__version__,  # not imported: the package knows the rooms above this one
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": type(model).__name__,
        "parameters": to_json(model.get_params(deep=False), max_items=20, allow_nan=True),
        "n_samples": None if n_samples is None else int(n_samples),
        "n_features": getattr(model, "n_features_in_", None),
        "n_components": to_json(getattr(model, "_n_features_out", None)),
        "feature_names": None if names is None else [str(name) for name in names],
        "spectrum": _spectrum(model),
        "fingerprint": fingerprint(data) if data is not None else _own_fingerprint(model, n_samples),
        "notes": notes,
    }


def _spectrum(model: Any) -> list[Any] | None:
    values = getattr(model, "eigenvalues_", None)
    if values is None:
        return None
    if isinstance(values, (list, tuple)):  # layers, each with its own
        return [np.asarray(layer, dtype=np.float64)[:_SPECTRUM].tolist() for layer in values]
    return np.asarray(values, dtype=np.float64)[..., :_SPECTRUM].tolist()


def fingerprint(X: Any) -> str:
    """A hash of a table's numbers, the same for the same rows in any format or precision that holds them
    exactly."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr(tuple(int(n) for n in X.shape)).encode())
    for block in row_blocks(X.shape[0], 8 * int(np.prod(X.shape[1:]))):
        rows = X[block]
        rows = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
        digest.update(np.ascontiguousarray(rows, dtype="<f8").tobytes())
    return digest.hexdigest()


def _own_fingerprint(model: Any, n_samples: int | None) -> str | None:
    """That of the rows which the model keeps, if it keeps all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = getattr(model, "kernel_", None)
        rows = getattr(kernel, "X", None)
    if (
        rows is None
        or isinstance(rows, OmittedArray)
        or not hasattr(rows, "shape")
        or np.dtype(getattr(rows, "dtype", object)).kind == "O"
    ):
        return None
    return fingerprint(rows) if rows.shape[0] == n_samples and len(rows.shape) == 2 else None
