"""Model files: loaded without executing code from the file, and described without loading them.

See docs/decisions/app-model-files.md.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape.app.io.archive import check_members, one_line, open_archive
from eigenscape.app.io.tree import Decoder
from eigenscape.exceptions import ModelFileError


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
    ...     save(PCA(2).fit(X), Path(folder) / "map.eigenscape")
    ...     model = load(Path(folder) / "map.eigenscape")
    >>> model.transform(X).shape
    (20, 2)
    """
    with open_archive(path) as (archive, header):
        check_members(archive, path)
        try:
            model = Decoder(archive).read()
        except Exception as error:  # a consistent file with wrong content can cause any error
            reason = f"no entry {error}" if isinstance(error, KeyError) else str(error)
            raise ModelFileError(
                f"{path} is damaged or not written by eigenscape, and was not loaded:"
                f" {one_line(reason) or type(error).__name__}"
            ) from error
    if type(model).__name__ != header.get("type"):
        declared = one_line(str(header.get("type")))
        raise ModelFileError(
            f"{path} contains a {type(model).__name__}, but its header declares a {declared}"
        )
    return model


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
        ``method``, ``version`` (of eigenscape), ``format`` (of the file), ``date``,
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
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(PCA(2).fit(X), Path(folder) / "map.eigenscape")
    ...     found = io.describe(Path(folder) / "map.eigenscape")
    >>> found["n_features"], found["n_components"]
    (3, 2)
    """
    with open_archive(path) as (_, header):
        described = {name: value for name, value in header.items() if name not in ("members", "type")}
    return {**described, "size": Path(path).expanduser().stat().st_size}


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
