"""Placeholder for arrays that a model file leaves out."""

from __future__ import annotations

from typing import Any, NoReturn

from eigenscape.exceptions import ModelFileError


class OmittedArray:
    """Placeholder in a loaded model for an array that ``transform`` does not need and the file does not hold."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, which: Any) -> NoReturn:
        self._refuse()

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        self._refuse()

    def __rmatmul__(self, other: Any) -> NoReturn:
        self._refuse()

    def __repr__(self) -> str:
        return f"OmittedArray(shape={self.shape})"

    def _refuse(self) -> NoReturn:
        raise ModelFileError(
            f"an array of shape {self.shape} was left out when this model was saved: transform works without it, this does not; fit again"
        )
