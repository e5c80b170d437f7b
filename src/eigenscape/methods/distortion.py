"""Distortion discriminant analysis (Burges sec. 1.4): layers of oriented PCA over windows of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.exceptions import RankError
from eigenscape.methods.oriented_pca import (
    Blocks,
    Noise,
    Orientation,
    noise_moments,
    oriented_directions,
    signal_moments,
)

#: A sequence: time steps by channels (T, c).
Sequences = Sequence[np.ndarray]
#: Below this variance (of a mean square of one) the noise along a direction is a constant, and its mean
#: square is the scale.
_CONSTANT = 1e-6


@dataclass(frozen=True)
class LayerPlan:
    """How many directions, over how many steps of the layer below, how often."""

    n_components: int
    window: int
    step: int

    def n_windows(self, length: int) -> int:
        """Complete windows in a sequence of ``length`` steps."""
        return max((length - self.window) // self.step + 1, 0)


def receptive_field(plans: Sequence[LayerPlan]) -> int:
    """Steps of the input behind one output of the last layer."""
    length = 1
    for plan in reversed(plans):
        length = (length - 1) * plan.step + plan.window
    return length


@dataclass(frozen=True, eq=False)
class Layer:
    """A fitted layer: ``y_t = weights' (window at t step) - offset``; signal of mean zero, noise of unit
    variance."""

    plan: LayerPlan
    weights: np.ndarray  # (window, c, n_components)
    offset: np.ndarray  # (n_components,)
    orientation: Orientation

    def __call__(self, sequence: np.ndarray) -> np.ndarray:
        """Outputs (n_windows, n_components) of one sequence (T, c), without making the windows."""
        n, step = self.plan.n_windows(len(sequence)), self.plan.step
        outputs = np.tile(-self.offset, (n, 1))
        for lag, weights in enumerate(self.weights):
            outputs += sequence[lag : lag + (n - 1) * step + 1 : step] @ weights if n else 0.0
        return outputs


def window_blocks(sequences: Sequences, plan: LayerPlan) -> Iterator[np.ndarray]:
    """All windows of all sequences as rows (b, window * c), in blocks; a row holds one step after another."""
    for sequence in sequences:
        if len(sequence) < plan.window:
            continue
        windows = np.lib.stride_tricks.sliding_window_view(sequence, plan.window, axis=0)[
            :: plan.step
        ]  # (n, c, window)
        for rows in _memory.row_blocks(len(windows), 24.0 * plan.window * sequence.shape[1]):
            yield windows[rows].transpose(0, 2, 1).reshape(rows.stop - rows.start, -1)


def fit_layer(
    signal: Sequences, versions: Sequence[Sequences], plan: LayerPlan, regularization: float | str
) -> Layer:
    """One layer of oriented PCA: the windows of ``signal`` against what the distorted ``versions`` differ
    from them."""
    channels = signal[0].shape[1]
    differences = [
        version - clean
        for version_of_all in versions
        for version, clean in zip(version_of_all, signal, strict=True)
    ]
    clean = signal_moments(_windows(signal, plan))
    noise = noise_moments(_windows(differences, plan), plan.window * channels)
    if clean.count <= plan.n_components:
        raise RankError(
            f"n_components={plan.n_components} needs at least {plan.n_components + 1} windows, but the training sequences have"
            f" {clean.count}; lower n_components, or pass longer or more sequences"
        )
    orientation = oriented_directions(clean, noise, plan.n_components, regularization)
    scaled = orientation.directions / noise_scale(orientation, noise)
    return Layer(plan, scaled.reshape(plan.window, channels, -1), clean.mean @ scaled, orientation)


def noise_scale(orientation: Orientation, noise: Noise) -> np.ndarray:
    """Standard deviation of the noise along directions with ``n'Rn = 1``; one where the noise is only a
    constant."""
    variance = 1 - np.square(noise.mean @ orientation.directions)
    return np.sqrt(np.where(variance > _CONSTANT, variance, 1.0))


def _windows(sequences: Sequences, plan: LayerPlan) -> Blocks:
    return lambda: window_blocks(sequences, plan)


def distortion_layers(
    signal: Sequences, versions: Sequence[Sequences], plans: Sequence[LayerPlan], regularization: float | str
) -> list[Layer]:
    """Layer upon layer: each learns from what the one below makes of the signal and of its distorted
    versions."""
    layers: list[Layer] = []
    for number, plan in enumerate(plans, start=1):
        with stage(f"layer {number}"):
            layer = fit_layer(signal, versions, plan, regularization)
            layers.append(layer)
            signal = [layer(sequence) for sequence in signal]
            versions = [[layer(sequence) for sequence in version] for version in versions]
    return layers


def apply_layers(layers: Iterable[Layer], sequence: np.ndarray) -> np.ndarray:
    """Outputs of the last layer for a whole sequence (T, c)."""
    for layer in layers:
        sequence = layer(sequence)
    return sequence


class DistortionStream:
    """The layers applied to a sequence that arrives in chunks.

    ``stream(chunk)`` takes some time steps (any number of them) and returns the outputs they complete;
    together these are the outputs for the whole sequence. Memory holds the steps that further windows need
    and no others."""

    def __init__(self, layers: Sequence[Layer], check: Callable[[object], np.ndarray]) -> None:
        self._stages = [_LayerStream(layer) for layer in layers]
        self._check = check

    def __call__(self, chunk: object) -> np.ndarray:
        """Outputs (n, n_components), none as long as no window is complete."""
        checked = self._check(chunk)
        values = checked.astype(np.float64, copy=False)
        for layer in self._stages:
            values = layer(values)
        return values.astype(checked.dtype, copy=False)


class _LayerStream:
    """One layer with the steps that its next window has seen so far."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._waiting = np.zeros((0, layer.weights.shape[1]))
        self._skip = 0  # steps to come that lie between two windows

    def __call__(self, chunk: np.ndarray) -> np.ndarray:
        fresh = chunk[self._skip :]
        self._skip -= len(chunk) - len(fresh)
        waiting = np.concatenate([self._waiting, fresh])
        outputs = self._layer(waiting)
        used = len(outputs) * self._layer.plan.step
        self._skip += max(used - len(waiting), 0)
        self._waiting = waiting[used:]
        return outputs
