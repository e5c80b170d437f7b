"""Validation of sequences, their distorted versions, and the layers of distortion discriminant analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape.distributed import is_collection
from eigenscape.estimators._rows import check_matrix
from eigenscape.estimators._validation import check_count
from eigenscape.methods.distortion_discriminant import LayerShape


def is_list_of_sequences(X: Any) -> bool:
    """Return whether ``X`` is several sequences: a list of arrays or an array of three dimensions."""
    if isinstance(X, (list, tuple)):
        return bool(X) and all(np.ndim(x) > 0 and hasattr(x, "shape") for x in X)
    return np.ndim(X) == 3


def as_sequence(X: Any, name: str, min_steps: int = 1) -> np.ndarray:
    """Return a finite array of shape (n_steps, n_channels); a vector is one channel."""
    if is_collection(X):
        raise TypeError(
            f"{name} is a dask collection, but windows over time need a whole sequence in memory; pass"
            f" {name}.compute()"
        )
    dtype = [np.float64, np.float32]
    X = check_matrix(X, name, dtype=dtype, ensure_2d=False, ensure_min_samples=min_steps)
    return X[:, None] if X.ndim == 1 else X


def as_sequences(X: Any, name: str) -> list[np.ndarray]:
    """Return one or several sequences as a list of arrays with the same number of channels."""
    if not is_list_of_sequences(X):
        return [as_sequence(X, name)]
    sequences = [as_sequence(x, f"{name}[{i}]") for i, x in enumerate(X)]
    for i, sequence in enumerate(sequences):
        check_channels(sequence, sequences[0].shape[1], f"{name}[{i}]")
    return sequences


def check_channels(sequence: np.ndarray, n_channels: int, name: str) -> None:
    """Raise an error unless the sequence has ``n_channels`` channels."""
    if sequence.shape[1] != n_channels:
        raise ValueError(
            f"{name} has {sequence.shape[1]} channel(s), but {n_channels} are expected; rows are time steps,"
            " columns channels"
        )


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
    if layer_distorted is None:
        return [_check_versions("distorted", distorted, X, sequences)] * n_layers
    if not isinstance(layer_distorted, (list, tuple)):
        raise ValueError(
            "layer_distorted must be a list with one entry per layer, each a list of distorted versions of X"
            f" or None, got {type(layer_distorted).__name__}"
        )
    if len(layer_distorted) != n_layers:
        raise ValueError(
            f"layer_distorted has {len(layer_distorted)} entries, but there are {n_layers} layers; pass one"
            " list of distorted versions per layer, or None for a layer that uses distorted"
        )
    without = [number for number, own in enumerate(layer_distorted) if own is None]
    if without and distorted is None:
        raise ValueError(
            f"layer_distorted[{without[0]}] is None, so that layer uses distorted, which is not given; pass"
            f" distorted or layer_distorted[{without[0]}]"
        )
    if distorted is not None and not without:
        raise ValueError(
            "distorted is given, but every layer has its own versions in layer_distorted; omit distorted, or"
            " pass None for the layers that use it"
        )
    shared = [] if distorted is None else _check_versions("distorted", distorted, X, sequences)
    return [
        shared if own is None else _check_versions(f"layer_distorted[{number}]", own, X, sequences)
        for number, own in enumerate(layer_distorted)
    ]


def _check_versions(name: str, distorted: Any, X: Any, sequences: list[np.ndarray]) -> Versions:
    """Return the distorted versions of ``X``, each aligned with it step by step."""
    if not isinstance(distorted, (list, tuple)) or not distorted:
        got = "an empty list" if isinstance(distorted, (list, tuple)) else type(distorted).__name__
        got = "None" if distorted is None else got
        raise ValueError(f"{name} must be a list of distorted versions of X, each shaped like X, got {got}")
    return [_check_version(f"{name}[{k}]", version, X, sequences) for k, version in enumerate(distorted)]


def _check_version(name: str, version: Any, X: Any, sequences: list[np.ndarray]) -> list[np.ndarray]:
    several = is_list_of_sequences(X)
    if is_list_of_sequences(version) != several:
        raise ValueError(f"{name} must be {'a list of sequences' if several else 'one sequence'}, like X")
    versions = as_sequences(version, name)
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
