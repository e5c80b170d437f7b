"""Distortion discriminant analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import check_count, check_parameters, with_constructor
from eigenscape.distributed import is_collection
from eigenscape.estimators._method import Method
from eigenscape.estimators._rows import check_matrix
from eigenscape.estimators._running import running
from eigenscape.estimators._verify import verify
from eigenscape.methods.distortion_discriminant import (
    Layer,
    LayerShape,
    LayerStream,
    apply_layers,
    distortion_layers,
    receptive_field,
)


class DistortionStream:
    """Fitted layers applied to one sequence that arrives in chunks.

    ``stream(chunk)`` takes any number of time steps and returns the outputs that they complete. Concatenated,
    these are the outputs for the whole sequence. Only the steps that later windows need are stored.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._streams = [LayerStream(layer) for layer in layers]
        self._n_channels = layers[0].weights.shape[1]

    def __call__(self, chunk: Any) -> np.ndarray:
        """Return the completed outputs (n, n_components); n is 0 if no window is complete."""
        checked = _as_sequence(chunk, "chunk", min_steps=0)
        _check_channels(checked, self._n_channels, "chunk")
        values = checked.astype(np.float64, copy=False)
        for stream in self._streams:
            values = stream(values)
        return values.astype(checked.dtype, copy=False)


@with_constructor
class DistortionDiscriminantAnalysis(BaseEstimator):
    r"""Robust features of a sequence by layers of oriented PCA.

    A layer takes windows of the sequence below it, finds the directions :math:`n` that maximise the quotient
    of signal variance and mean squared distortion (Burges sec. 1.4),

    .. math:: C n = q R n,

    and outputs :math:`n'(x - \bar x)`, scaled so that the signal has mean zero and the noise unit variance.
    The next layer does the same with windows of these outputs, which cover more time: distortions that short
    windows cannot distinguish from signal, such as a shift in time, are suppressed by long windows. Each
    layer may have its own distorted versions, so that only later layers penalise such distortions.

    Rows are time steps, and each layer outputs fewer of them. This is therefore not a scikit-learn
    transformer, which returns a row for each sample; parameters and cloning work as usual.

    Parameters
    ----------
    layers : list of (n_components, window, step), default=((8, 8, 4), (8, 8, 4))
        For each layer the number of directions, the length of a window and the distance between windows, in
        steps of the layer below.
    regularization : float or "auto", default="auto"
        Regularisation of the noise: ``regularization`` times the mean of the diagonal of :math:`R` is added
        to the diagonal. "auto": 0 if the noise has variance in all directions of the signal. Otherwise
        :math:`q` would be infinite, and the estimate of Ledoit and Wolf, at least 1e-6, is used, with a
        :class:`~eigenscape.exceptions.SingularNoiseWarning`.

    Other Parameters
    ----------------
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    eigenvalues_ : list of ndarray of shape (n_components,)
        Quotients :math:`q` of each layer, largest first.
    components_ : list of ndarray of shape (n_components, window, n_channels)
        Weights of each layer on a window, scaled as they are applied.
    offsets_ : list of ndarray of shape (n_components,)
        Values subtracted by each layer, so that the signal has mean zero.
    regularization_ : list of float
        Multiple of the mean noise that was added in each layer.
    residuals_ : list of ndarray of shape (n_components,)
        :math:`|C n - q R n| / (|R| |n|)` of each layer.
    receptive_field_ : int
        Number of input steps that one output depends on.
    hop_ : int
        Number of input steps between two outputs.
    n_features_in_ : int
        Number of input channels.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import DistortionDiscriminantAnalysis
    >>> rng = np.random.default_rng(0)
    >>> clean = np.cumsum(rng.standard_normal((500, 3)), axis=0)
    >>> noisy = [clean + rng.standard_normal(clean.shape) for _ in range(3)]
    >>> model = DistortionDiscriminantAnalysis(layers=[(4, 5, 2), (2, 8, 4)]).fit(clean, distorted=noisy)
    >>> model.receptive_field_, model.hop_
    (19, 8)
    >>> model.transform(clean).shape
    (61, 2)
    >>> chunks = np.array_split(clean, 7)
    >>> bool(np.allclose(np.concatenate(list(model.transform_stream(chunks))), model.transform(clean)))
    True

    Noise for the first layer, shifts in time for the second:

    >>> shifted = [np.roll(clean, shift, axis=0) for shift in (-1, 1)]
    >>> model = DistortionDiscriminantAnalysis(layers=[(4, 5, 2), (2, 8, 4)])
    >>> model.fit_transform(clean, layer_distorted=[noisy, shifted]).shape
    (61, 2)
    """

    layers: Sequence[tuple[int, int, int]] = ((8, 8, 4), (8, 8, 4))
    _: KW_ONLY
    regularization: float | Literal["auto"] = "auto"
    verbose: bool = False

    _method = Method(
        "distortion-discriminant-analysis", aliases=("dda",), scale_free=True, collections=False, command=""
    )

    verify = verify
    #: Windows of several rows are mapped.
    _row_by_row = False

    def fit(self, X: Any, y: object = None, *, distorted: Any = None, layer_distorted: Any = None) -> Self:
        """Fit the layers.

        Parameters
        ----------
        X : array-like of shape (n_steps, n_channels) or (n_steps,), or a list of such arrays
            The undistorted sequence, or several of them.
        y : ignored
            Not used, present for API consistency.
        distorted : list
            Distorted versions of ``X``, each shaped like ``X`` and aligned with it step by step. Used by
            every layer without its own versions in ``layer_distorted``.
        layer_distorted : list with one entry per layer, optional
            Distorted versions of each layer: a list like ``distorted``, or None for a layer that uses
            ``distorted``. The versions have the shape of ``X`` for later layers, too; the layers below are
            applied to them.

        Returns
        -------
        self
        """
        check_parameters(self)
        shapes = check_layers(self.layers)
        sequences = _as_sequences(X, "X")
        n_channels = sequences[0].shape[1]
        check_directions(shapes, n_channels)
        check_long_enough(sequences, receptive_field(shapes), "X")
        versions = check_layer_versions(distorted, layer_distorted, X, sequences, len(shapes))
        signal = [np.asarray(sequence, dtype=np.float64) for sequence in sequences]
        with running(self):
            layers = distortion_layers(signal, versions, shapes, self.regularization)
        self._layers_ = layers
        self.eigenvalues_ = [layer.orientation.values for layer in layers]
        self.components_ = [np.moveaxis(layer.weights, -1, 0) for layer in layers]
        self.offsets_ = [layer.offset for layer in layers]
        self.regularization_ = [layer.orientation.regularization for layer in layers]
        self.residuals_ = [layer.orientation.residuals for layer in layers]
        self.receptive_field_ = receptive_field(shapes)
        self.hop_ = int(np.prod([shape.step for shape in shapes]))
        self.n_features_in_ = n_channels
        return self

    def transform(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Compute the features of whole sequences.

        Parameters
        ----------
        X : array-like of shape (n_steps, n_channels) or (n_steps,), or a list of such arrays
            One or several sequences.

        Returns
        -------
        ndarray of shape (n_outputs, n_components), or a list of them
            Row ``t`` depends on the input steps ``t * hop_`` to ``t * hop_ + receptive_field_ - 1``.
        """
        check_is_fitted(self)
        sequences = _as_sequences(X, "X")
        _check_channels(sequences[0], self.n_features_in_, "X")
        check_long_enough(sequences, self.receptive_field_, "X")
        outputs = [
            apply_layers(self._layers_, sequence.astype(np.float64)).astype(sequence.dtype, copy=False)
            for sequence in sequences
        ]
        return outputs if _is_list_of_sequences(X) else outputs[0]

    def fit_transform(
        self, X: Any, y: object = None, *, distorted: Any = None, layer_distorted: Any = None
    ) -> np.ndarray | list[np.ndarray]:
        """Fit the layers and return the features of ``X``; for the arguments see ``fit``."""
        return self.fit(X, y, distorted=distorted, layer_distorted=layer_distorted).transform(X)

    def stream(self) -> DistortionStream:
        """Return a function that takes chunks of one sequence and returns the features that they complete.

        Several streams of one model are independent. A chunk may have any number of time steps, also none.
        """
        check_is_fitted(self)
        return DistortionStream(self._layers_)

    def transform_stream(self, chunks: Iterable[Any]) -> Iterator[np.ndarray]:
        """Yield the features that each chunk of one sequence completes.

        Concatenated, they equal ``transform`` of the whole sequence.

        Parameters
        ----------
        chunks : iterable of array-like of shape (n_steps, n_channels)
            Consecutive parts of the sequence.

        Yields
        ------
        ndarray of shape (n_outputs, n_components)
        """
        stream = self.stream()
        return (stream(chunk) for chunk in chunks)


def check_long_enough(sequences: list[np.ndarray], min_steps: int, name: str) -> None:
    """Raise an error if a sequence is too short for one output."""
    for i, sequence in enumerate(sequences):
        if len(sequence) < min_steps:
            which = name if len(sequences) == 1 else f"{name}[{i}]"
            raise ValueError(
                f"the windows of all layers together need at least {min_steps} time steps, but {which} has"
                f" {len(sequence)}; pass longer sequences or use shorter windows"
            )


#: The distorted versions of one layer: for each version its sequences.
Versions = list[list[np.ndarray]]


def check_layer_versions(
    distorted: Any, layer_distorted: Any, X: Any, sequences: list[np.ndarray], n_layers: int
) -> list[Versions]:
    """Return the distorted versions of ``X`` for each layer; layers without their own share one object."""
    layers = [None] * n_layers if layer_distorted is None else layer_distorted
    if not isinstance(layers, (list, tuple)) or len(layers) != n_layers:
        got = f"{len(layers)} entries" if isinstance(layers, (list, tuple)) else type(layers).__name__
        raise ValueError(
            f"layer_distorted must be a list with one entry for each of the {n_layers} layers, a list of"
            f" distorted versions of X, or None for a layer that uses distorted; got {got}"
        )
    uses_shared = any(own is None for own in layers)
    if distorted is not None and not uses_shared:
        raise ValueError(
            "distorted is given, but every layer has its own versions in layer_distorted; omit distorted, or"
            " pass None for the layers that use it"
        )
    shared = _check_versions("distorted", distorted, X, sequences) if uses_shared else []
    return [
        shared if own is None else _check_versions(f"layer_distorted[{number}]", own, X, sequences)
        for number, own in enumerate(layers)
    ]


def _check_versions(name: str, distorted: Any, X: Any, sequences: list[np.ndarray]) -> Versions:
    """Return the distorted versions of ``X``, each aligned with it step by step."""
    if not isinstance(distorted, (list, tuple)) or not distorted:
        got = "an empty list" if isinstance(distorted, (list, tuple)) else type(distorted).__name__
        got = "None" if distorted is None else got
        raise ValueError(f"{name} must be a list of distorted versions of X, each shaped like X, got {got}")
    return [_check_version(f"{name}[{k}]", version, X, sequences) for k, version in enumerate(distorted)]


def _check_version(name: str, version: Any, X: Any, sequences: list[np.ndarray]) -> list[np.ndarray]:
    several = _is_list_of_sequences(X)
    if _is_list_of_sequences(version) != several:
        raise ValueError(f"{name} must be {'a list of sequences' if several else 'one sequence'}, like X")
    versions = _as_sequences(version, name)
    if len(versions) != len(sequences):
        raise ValueError(f"{name} has {len(versions)} sequences, but X has {len(sequences)}")
    for i, (distorted, clean) in enumerate(zip(versions, sequences, strict=True)):
        if distorted.shape != clean.shape:
            which = f"{name}[{i}]" if several else name
            raise ValueError(
                f"{which} has shape {distorted.shape}, but the sequence it distorts has {clean.shape}; align"
                " the versions step by step"
            )
    return [np.asarray(distorted, dtype=np.float64) for distorted in versions]


def check_layers(layers: Any) -> list[LayerShape]:
    """Validate ``[(n_components, window, step), ...]``, each a positive integer."""
    if not isinstance(layers, (list, tuple)) or not layers:
        raise ValueError(
            f"layers={layers!r} must be a list of (n_components, window, step), one for each layer"
        )
    names, shapes = ("n_components", "window", "step"), []
    for number, layer in enumerate(layers):
        if not isinstance(layer, (list, tuple)) or len(layer) != 3:
            raise ValueError(f"layers[{number}]={layer!r} must be (n_components, window, step)")
        named = zip(names, layer, strict=True)
        shapes.append(
            LayerShape(*(check_count(f"{name} of layers[{number}]", value) for name, value in named))
        )
    return shapes


def check_directions(shapes: list[LayerShape], n_channels: int) -> None:
    """Raise an error if a layer has more directions than its windows have values."""
    for number, shape in enumerate(shapes):
        size = shape.window * n_channels
        if shape.n_components > size:
            raise ValueError(
                f"n_components={shape.n_components} of layers[{number}] exceeds its window of {shape.window}"
                f" steps of {n_channels} channels = {size} numbers; lower n_components or widen the window"
            )
        n_channels = shape.n_components


def _is_list_of_sequences(X: Any) -> bool:
    """Return whether ``X`` is several sequences: a list of arrays or an array of three dimensions."""
    if isinstance(X, (list, tuple)):
        return bool(X) and all(np.ndim(x) > 0 and hasattr(x, "shape") for x in X)
    return np.ndim(X) == 3


def _as_sequence(X: Any, name: str, min_steps: int = 1) -> np.ndarray:
    """Return a finite array of shape (n_steps, n_channels); a vector is one channel."""
    if is_collection(X):
        raise TypeError(
            f"{name} is a dask collection, but windows over time need a whole sequence in memory; pass"
            f" {name}.compute()"
        )
    dtype = [np.float64, np.float32]
    X = check_matrix(X, name, dtype=dtype, ensure_2d=False, ensure_min_samples=min_steps)
    return X[:, None] if X.ndim == 1 else X


def _as_sequences(X: Any, name: str) -> list[np.ndarray]:
    """Return one or several sequences as a list of arrays with the same number of channels."""
    if not _is_list_of_sequences(X):
        return [_as_sequence(X, name)]
    sequences = [_as_sequence(x, f"{name}[{i}]") for i, x in enumerate(X)]
    for i, sequence in enumerate(sequences):
        _check_channels(sequence, sequences[0].shape[1], f"{name}[{i}]")
    return sequences


def _check_channels(sequence: np.ndarray, n_channels: int, name: str) -> None:
    """Raise an error unless the sequence has ``n_channels`` channels."""
    if sequence.shape[1] != n_channels:
        raise ValueError(
            f"{name} has {sequence.shape[1]} channel(s), but {n_channels} are expected; rows are time steps,"
            " columns channels"
        )
