"""Placeholder for arrays that a model file omits, and the behaviour of kernels and indexes without them."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from eigenscape._typing import Rows
from eigenscape.exceptions import ModelFileError
from eigenscape.graph.row_index import rows_equal
from eigenscape.normalize import remove_components


class OmittedArray:
    """Placeholder in a loaded model for an array that ``transform`` does not need and the file omits."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, which: object) -> NoReturn:
        self._raise_omitted()

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        self._raise_omitted()

    def __rmatmul__(self, other: object) -> NoReturn:
        self._raise_omitted()

    def __repr__(self) -> str:
        return f"OmittedArray(shape={self.shape})"

    def _raise_omitted(self) -> NoReturn:
        raise ModelFileError(
            f"an array of shape {self.shape} was omitted when this model was saved: transform works without"
            " it, but this operation does not; fit the model again"
        )


@rows_equal.register
def _(X: OmittedArray, which: np.ndarray, A: Rows) -> np.ndarray:  # noqa: ARG001
    """Accept rows whose hashes agree, as the rows themselves are not available."""
    return np.ones(len(which), dtype=bool)


@remove_components.register
def _(negative: OmittedArray, V: np.ndarray) -> np.ndarray:  # noqa: ARG001
    """Return the coefficients of an eigenfunction, which are orthogonal to the omitted vectors."""
    return V
