"""Labels of training rows in the notes of a model file, so that later plots have the same colours."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError

if TYPE_CHECKING:
    import numpy as np

#: Maximum number of characters of the labels in a model file, whose header is limited to 16 MiB.
MAX_CHARACTERS = 4_000_000


def label_notes(labels: np.ndarray | None) -> dict[str, Any] | None:
    """Return labels in a form for JSON: numbers, or codes of texts; None if there are none or too many."""
    import numpy as np

    from eigenscape._checks import missing_labels

    if labels is None:
        return None
    if labels.dtype.kind in "iuf":
        values, names = labels.astype("<i8" if labels.dtype.kind in "iu" else "<f8"), None
    else:
        missing = missing_labels(labels)
        texts, codes = np.unique(np.array([str(label) for label in labels[~missing]]), return_inverse=True)
        values, names = np.full(len(labels), -1, dtype="<i4"), [str(text) for text in texts]
        values[~missing] = codes
    packed = base64.b64encode(zlib.compress(values.tobytes(), 6)).decode("ascii")
    if len(packed) + sum(len(name) + 4 for name in names or ()) > MAX_CHARACTERS:
        return None
    return {"dtype": values.dtype.str, "values": packed, "names": names}


def labels_from_notes(notes: dict[str, Any], n: int) -> np.ndarray | None:
    """Return the labels of ``n`` training rows from the notes of a model file, or None if it has none."""
    import numpy as np

    stored = notes.get("training_labels")
    if stored is None:
        return None
    try:
        dtype, names = np.dtype(stored["dtype"]), stored["names"]
        if dtype.str not in ("<i8", "<f8", "<i4"):
            raise ValueError(dtype.str)
        n_bytes = n * dtype.itemsize
        raw = zlib.decompressobj().decompress(base64.b64decode(stored["values"], validate=True), n_bytes + 1)
        if len(raw) != n_bytes:
            raise ValueError(f"{len(raw)} bytes")
        values = np.frombuffer(raw, dtype)
        if names is None:
            return values
        if values.dtype.kind != "i" or not ((values >= -1) & (values < len(names))).all():
            raise ValueError("a code without a name")
        return np.array([*(str(name) for name in names), None], dtype=object)[values]
    except (KeyError, IndexError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise CommandError(
            f"the labels of the training rows in the model file are damaged ({error}); save the model again"
        ) from error
