"""Distortion discriminant analysis (Burges sec. 1.4): layers of oriented PCA over windows of a sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.exceptions import RankError
from eigenscape.methods.oriented_pca import (
    NoiseMoments,
    Orientation,
    Regularization,
    noise_moments,
    oriented_directions,
    signal_moments,
)

#: Several sequences, each of shape (n_steps, n_channels).
Sequences = Sequence[np.ndarray]


@dataclass(frozen=True)
class LayerShape:
    """Number of directions of a layer, length of its windows and step between windows, in inputs."""

    n_components: int
    window: int
    step: int

    def n_windows(self, length: int) -> int:
        """Return the number of complete windows in a sequence of ``length`` steps."""
        return max((length - self.window) // self.step + 1, 0)


def receptive_field(shapes: Sequence[LayerShape]) -> int:
    """Return the number of input steps that one output of the last layer depends on."""
    length = 1
    for shape in reversed(shapes):
        length = (length - 1) * shape.step + shape.window
    return length


@dataclass(frozen=True, eq=False)
class Layer:
    """Fitted layer ``y_t = weights' (window at t step) - offset``.

    The outputs have a signal of mean zero and noise of unit variance.
    """

    _shapes: ClassVar = {"weights": "... r", "offset": "r"}
    shape: LayerShape
    weights: np.ndarray  # (window, c, n_components)
    offset: np.ndarray  # (n_components,)
    orientation: Orientation

    def __call__(self, sequence: np.ndarray) -> np.ndarray:
        """Return the outputs (n_windows, n_components) for a sequence (T, c), without forming the windows."""
        n, step = self.shape.n_windows(len(sequence)), self.shape.step
        outputs = np.tile(-self.offset, (n, 1))
        for lag, weights in enumerate(self.weights):
            outputs += sequence[lag : lag + (n - 1) * step + 1 : step] @ weights if n else 0.0
        return outputs


@dataclass(frozen=True, eq=False)
class WindowBlocks:
    """Iterable of blocks (b, window * c) of the windows of all sequences, one window per row."""

    sequences: Sequences
    shape: LayerShape

    def __iter__(self) -> Iterator[np.ndarray]:
        window, step = self.shape.window, self.shape.step
        for sequence in self.sequences:
            if len(sequence) < window:
                continue
            views = np.lib.stride_tricks.sliding_window_view(sequence, window, axis=0)  # (n, c, window)
            windows = views[::step]
            for rows in _memory.row_blocks(len(windows), 24.0 * window * sequence.shape[1]):
                yield windows[rows].transpose(0, 2, 1).reshape(rows.stop - rows.start, -1)


def fit_layer(
    signal: Sequences, versions: Sequence[Sequences], shape: LayerShape, regularization: Regularization
) -> Layer:
    """Fit oriented PCA to the windows of ``signal``; noise is the difference of ``versions`` from it."""
    channels = signal[0].shape[1]
    differences = [
        distorted - clean for version in versions for distorted, clean in zip(version, signal, strict=True)
    ]
    moments = signal_moments(WindowBlocks(signal, shape))
    noise = noise_moments(WindowBlocks(differences, shape), shape.window * channels)
    if moments.n_rows <= shape.n_components:
        raise RankError(
            f"n_components={shape.n_components} needs at least {shape.n_components + 1} windows, but the"
            f" training sequences have {moments.n_rows}; lower n_components, or pass longer or more sequences"
        )
    orientation = oriented_directions(moments, noise, shape.n_components, regularization)
    scaled = orientation.directions / noise_scale(orientation, noise)
    return Layer(shape, scaled.reshape(shape.window, channels, -1), moments.mean @ scaled, orientation)


def noise_scale(orientation: Orientation, noise: NoiseMoments) -> np.ndarray:
    """Return the standard deviation of the noise along each direction.

    Where the variance is below 1e-6 of the mean square, the noise is constant, and its mean square of one is
    the scale.
    """
    variance = 1 - np.square(noise.mean @ orientation.directions)  # n'Rn = 1
    return np.sqrt(np.where(variance > 1e-6, variance, 1.0))


def distortion_layers(
    signal: Sequences,
    versions: Sequence[Sequence[Sequences]],
    shapes: Sequence[LayerShape],
    regularization: Regularization,
) -> list[Layer]:
    """Fit the layers in order, each to the outputs of the layers below it.

    ``versions[i]`` are the distorted versions of layer ``i``, as sequences of the input. Layers with the same
    object share these versions, and their outputs are computed once.
    """
    layers: list[Layer] = []
    outputs = {id(own): own for own in versions}  # of the layers fitted so far
    for number, shape in enumerate(shapes, start=1):
        with stage(f"layer {number}"):
            layer = fit_layer(signal, outputs[id(versions[number - 1])], shape, regularization)
            layers.append(layer)
            signal = [layer(sequence) for sequence in signal]
            outputs = {
                key: [[layer(sequence) for sequence in version] for version in outputs[key]]
                for key in {id(own): None for own in versions[number:]}
            }
    return layers


def apply_layers(layers: Iterable[Layer], sequence: np.ndarray) -> np.ndarray:
    """Return the outputs of the last layer for a whole sequence (T, c)."""
    for layer in layers:
        sequence = layer(sequence)
    return sequence


class LayerStream:
    """One layer applied to a sequence that arrives in chunks; stores the steps that later windows need."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._buffer = np.zeros((0, layer.weights.shape[1]))
        self._skip = 0  # number of future steps between two windows

    def __call__(self, chunk: np.ndarray) -> np.ndarray:
        """Return the outputs (n, n_components) that the chunk completes."""
        fresh = chunk[self._skip :]
        self._skip -= len(chunk) - len(fresh)
        steps = np.concatenate([self._buffer, fresh])
        outputs = self._layer(steps)
        used = len(outputs) * self._layer.shape.step
        self._skip += max(used - len(steps), 0)
        self._buffer = steps[used:]
        return outputs
