"""Model files: written atomically, self-describing, and loaded without executing code from the file.

See docs/decisions/app-model-files.md.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape._extras import optional_import
from eigenscape._format import to_json
from eigenscape._memory import row_blocks
from eigenscape._omitted import OmittedArray
from eigenscape.app.io.archive import (
    FORMAT,
    HEADER,
    REVISION,
    SCHEMA,
    check_members,
    digest,
    one_line,
    open_archive,
    own_version,
    read_header,
    write_member,
)
from eigenscape.app.io.atomic import whole_file
from eigenscape.app.io.consistency import check_arrays
from eigenscape.app.io.exporting import Exporter, check_parameters
from eigenscape.app.io.restoring import all_parts, scaler_from_state, scaler_state
from eigenscape.app.io.schema import check_contents, read_schema
from eigenscape.exceptions import ModelFileError
from eigenscape.options import flattened

#: Number of eigenvalues in the description.
_MAX_EIGENVALUES = 1000


def check_model(model: BaseEstimator) -> None:
    """Raise if a model is not fitted or cannot be serialized."""
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(model)):
        raise ModelFileError(f"{type(model).__name__} is not fitted; call fit before save")
    check_parameters(model)


def write_model(
    model: BaseEstimator,
    original: BaseEstimator,
    path: str | Path,
    *,
    force: bool = False,
    notes: str | None = None,
    data: Any = None,
    compact: dict[str, Any] | None = None,
    omitted: tuple[np.ndarray | None, ...] = (),
    scaler: StandardScaler | None = None,
) -> None:
    """Write a model file.

    Parameters
    ----------
    model : estimator
        The fitted model to store.
    original : estimator
        The model that the file describes: ``model``, or the one that it was made from.
    path, force, notes, data
        See :func:`eigenscape.save`.
    compact : dict, optional
        Size and error of a compact model, for the description.
    omitted : tuple of (ndarray or None), default=()
        Arrays of ``model`` that are not stored.
    scaler : StandardScaler, optional
        Scaler that is applied before the model; both are stored as a pipeline.
    """
    skops = optional_import("skops.io", "saving a model")
    exporter = Exporter(_is_precomputed(original), omitted)
    exported = exporter(model)
    if scaler is not None:
        exported = {"standardize": exporter(scaler_state(scaler)), "map": exported}
    header = {
        **_header(original, notes, data),
        "standardized": scaler is not None,
        "type": "Pipeline" if scaler is not None else type(model).__name__,
        "compact": compact,
        "members": {},
    }
    with whole_file(path, force=force) as part, zipfile.ZipFile(part, "w") as archive:
        dumped = io.BytesIO()
        skops.dump(exported, dumped)
        with zipfile.ZipFile(dumped) as written:
            for name in written.namelist():
                content = _without_blanks(written.read(name)) if name == SCHEMA else written.read(name)
                header["members"][name] = digest(content)
                write_member(archive, name, content)
        write_member(archive, HEADER, json.dumps(header, indent=1).encode())


def _without_blanks(schema: bytes) -> bytes:
    return json.dumps(json.loads(schema), separators=(",", ":")).encode()


def load(path: str | Path) -> Any:
    """Load a model that :func:`eigenscape.save` wrote.

    No code from the file is executed: only types that models of eigenscape consist of are loaded.

    Parameters
    ----------
    path : str or Path
        The model file.

    Returns
    -------
    estimator
        The fitted model; ``transform`` returns the same values as before. A precomputed matrix is in the
        file only if ``transform`` needs it (LLE); methods that need it otherwise (``loss()`` of the training
        samples) raise an error.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, written in another format, does not fit in memory, or contains
        other types.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from eigenscape import PCA, load, save
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(PCA(2).fit(X), Path(folder) / "map.skops")
    ...     model = load(Path(folder) / "map.skops")
    >>> model.transform(X).shape
    (20, 2)
    """
    path = _check_path(path)
    optional_import("skops.io", "loading a model")  # said before the file is judged
    with path.open("rb") as file, open_archive(file, path) as archive:
        header = read_header(archive, path)
        check_members(archive, header, path)
        try:
            model = _load_content(file, archive, path)
        except ModelFileError:
            raise
        except KeyError as error:
            raise ModelFileError(
                f"{path} is damaged: an entry of its schema has no {one_line(str(error))}"
            ) from error
        except Exception as error:  # a consistent file with wrong content can cause any error
            raise ModelFileError(
                f"{path} cannot be loaded: {one_line(str(error)) or type(error).__name__}"
            ) from error
    if type(model).__name__ != header.get("type"):
        declared = one_line(str(header.get("type")))
        raise ModelFileError(
            f"{path} contains a {type(model).__name__}, but its header declares a {declared}"
        )
    return model


def _load_content(file: IO[bytes], archive: zipfile.ZipFile, path: Path) -> Any:
    """Check the types and arrays of a model file and return the model."""
    skops = optional_import("skops.io", "loading a model")
    types = check_contents(read_schema(archive, path), archive, path)
    file.seek(0)
    stored = skops.load(file, trusted=types)
    check_arrays(all_parts(stored), path)
    if not isinstance(stored, dict):
        return stored
    scaler = scaler_from_state(stored["standardize"])
    check_arrays([scaler], path)
    return Pipeline([("standardize", scaler), ("map", stored["map"])])


def describe(path: str | Path) -> dict[str, Any]:
    """Return the description of a model file without loading the model.

    Only the header is read and control characters are removed; :func:`eigenscape.load` verifies the content.

    Parameters
    ----------
    path : str or Path
        The model file.

    Returns
    -------
    dict
        ``method``, ``version`` (of eigenscape), ``format`` and ``revision`` (of the file), ``date``,
        ``parameters``, ``n_samples``, ``n_features``, ``n_components``, ``feature_names``, ``spectrum``,
        ``fingerprint`` (of the training data), ``standardized``, ``compact`` (None, or the ``size`` of the
        dictionary and its leave-one-out ``error`` on the training samples; the error of other samples may be
        larger), ``notes``, ``size`` (of the file, in bytes).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from eigenscape import PCA, io, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(PCA(2).fit(np.random.default_rng(0).standard_normal((20, 3))), Path(folder) / "map.skops")
    ...     found = io.describe(Path(folder) / "map.skops")
    >>> found["n_features"], found["n_components"]
    (3, 2)
    """
    path = _check_path(path)
    with path.open("rb") as file, open_archive(file, path) as archive:
        header = read_header(archive, path)
    header.pop("members", None)
    header.pop("type", None)
    return {**header, "size": path.stat().st_size}


def _check_path(path: str | Path) -> Path:
    path = Path(path).expanduser()
    if path.is_dir():
        raise ModelFileError(f"{path} is a directory, not a model file")
    if not path.exists():
        raise ModelFileError(f"model file {path} does not exist")
    if not path.is_file():
        raise ModelFileError(f"{path} is a pipe or a device, not a model file")
    if path.stat().st_size == 0:
        raise ModelFileError(f"{path} is empty")
    return path


def _is_precomputed(model: BaseEstimator) -> bool:
    return any(
        isinstance(value, str) and value.startswith("precomputed")
        for value in flattened(model.get_params(deep=False)).values()
    )


def _header(model: BaseEstimator, notes: str | None, data: Any) -> dict[str, Any]:
    """Return the description of a model."""
    embedding = getattr(model, "embedding_", None)
    n_samples = getattr(model, "n_samples_seen_", None) if embedding is None else len(embedding)
    if n_samples is None and data is not None:  # models without coordinates do not store it
        n_samples = data.shape[0]
    names = getattr(model, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "revision": REVISION,
        "version": own_version(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": type(model).__name__,
        "parameters": to_json(model.get_params(deep=False), max_items=20, allow_nan=True),
        "n_samples": None if n_samples is None else int(n_samples),
        "n_features": getattr(model, "n_features_in_", None),
        "n_components": to_json(getattr(model, "_n_features_out", None)),
        "feature_names": None if names is None else [str(name) for name in names],
        "spectrum": _spectrum(model),
        "fingerprint": _training_fingerprint(model, n_samples) if data is None else fingerprint(data),
        "notes": notes,
    }


def _spectrum(model: BaseEstimator) -> list[Any] | None:
    """Return the first eigenvalues, for each layer if the model has layers."""
    values = getattr(model, "eigenvalues_", None)
    if values is None:
        return None
    if isinstance(values, (list, tuple)):
        return [np.asarray(layer, dtype=np.float64)[:_MAX_EIGENVALUES].tolist() for layer in values]
    return np.asarray(values, dtype=np.float64)[..., :_MAX_EIGENVALUES].tolist()


def fingerprint(X: Any) -> str:
    """Return a hash of the shape and the values of an array in double precision.

    Parameters
    ----------
    X : ndarray, memmap or sparse array of shape (n_samples, ...)
        The array. The hash does not depend on its format, or on its precision if that represents the values
        exactly.
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr(tuple(int(n) for n in X.shape)).encode())
    is_sparse = sparse.issparse(X)
    for block in row_blocks(X.shape[0], 8 * int(np.prod(X.shape[1:]))):
        rows = X[block].toarray() if is_sparse else np.asarray(X[block])
        digest.update(np.ascontiguousarray(rows, dtype="<f8").tobytes())
    return digest.hexdigest()


def _training_fingerprint(model: BaseEstimator, n_samples: int | None) -> str | None:
    """Return the fingerprint of the training data, if the model contains all of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = getattr(getattr(model, "kernel_", None), "X", None)
    if rows is None or isinstance(rows, OmittedArray) or not hasattr(rows, "shape"):
        return None
    is_table = np.dtype(getattr(rows, "dtype", object)).kind != "O" and len(rows.shape) == 2
    return fingerprint(rows) if is_table and rows.shape[0] == n_samples else None
