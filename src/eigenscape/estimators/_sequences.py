"""Sequences as users have them: one array, or a list of arrays; and their distorted versions, which must
fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from eigenscape.distributed import is_collection
from eigenscape.estimators._validation import check_count
from eigenscape.methods.distortion_discriminant import LayerShape


def is_list_of_sequences(X: Any) -> bool:
    """A list of arrays (or one array of three dimensions) holds several sequences; anything else is one."""
    if isinstance(X, (list, tuple)):
        return bool(X) and all(np.ndim(x) > 0 and hasattr(x, "shape") for x in X)
    return np.ndim(X) == 3


def as_sequence(X: Any, name: str, min_steps: int = 1) -> np.ndarray:
    """Time steps by channels (T, c), finite; a vector is one channel."""
    if is_collection(X):
        raise TypeError(
            f"{name} is a dask collection, and windows over time need a whole sequence in memory; pass {name}.compute()"
        )
    X = check_array(
        X, dtype=[np.float64, np.float32], ensure_2d=False, ensure_min_samples=min_steps, input_name=name
    )
    return X[:, None] if X.ndim == 1 else X


def as_sequences(X: Any, name: str) -> list[np.ndarray]:
    """One sequence or several, as a list of arrays with the same number of channels."""
    if not is_list_of_sequences(X):
        return [as_sequence(X, name)]
    sequences = [as_sequence(x, f"{name}[{i}]") for i, x in enumerate(X)]
    for i, sequence in enumerate(sequences):
        check_channels(sequence, sequences[0].shape[1], f"{name}[{i}]")
    return sequences


def check_channels(sequence: np.ndarray, channels: int, name: str) -> None:
    """Every sequence has the channels of the first."""
    if sequence.shape[1] != channels:
        raise ValueError(
            f"{name} has {sequence.shape[1]} channel(s), but {channels} are expected; rows are time steps, columns channels"
        )


def check_long_enough(sequences: list[np.ndarray], least: int, name: str) -> None:
    """Each sequence must give one output at least."""
    for i, sequence in enumerate(sequences):
        if len(sequence) < least:
            which = name if len(sequences) == 1 else f"{name}[{i}]"
            raise ValueError(
                f"the windows of all layers together need at least {least} time steps, but {which} has {len(sequence)};"
                " pass longer sequences or use shorter windows"
            )


def check_versions(distorted: Any, X: Any, sequences: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Distorted versions of ``X``, each aligned with it step by step."""
    if distorted is None or not isinstance(distorted, (list, tuple)) or not distorted:
        got = "None" if distorted is None else f"{type(distorted).__name__}"
        got = "an empty list" if isinstance(distorted, (list, tuple)) else got
        raise ValueError(
            f"distorted must be a list of distorted versions of X, each shaped like X, got {got}"
        )
    versions = []
    for k, version in enumerate(distorted):
        name = f"distorted[{k}]"
        if is_list_of_sequences(version) != is_list_of_sequences(X):
            raise ValueError(
                f"{name} must be {'a list of sequences' if is_list_of_sequences(X) else 'one sequence'}, like X"
            )
        made = as_sequences(version, name)
        if len(made) != len(sequences):
            raise ValueError(f"{name} has {len(made)} sequences, but X has {len(sequences)}")
        for i, (mine, clean) in enumerate(zip(made, sequences, strict=True)):
            which = f"{name}[{i}]" if is_list_of_sequences(X) else name
            if mine.shape != clean.shape:
                raise ValueError(
                    f"{which} has shape {mine.shape}, but the sequence it distorts has {clean.shape}; align the versions step by step"
                )
        versions.append([np.asarray(mine, dtype=np.float64) for mine in made])
    return versions


def check_layers(layers: Any) -> list[LayerShape]:
    """``[(n_components, window, step), ...]``, each a positive integer."""
    if not isinstance(layers, (list, tuple)) or not layers:
        raise ValueError(
            f"layers={layers!r} must be a list of (n_components, window, step), one for each layer"
        )
    plans = []
    for number, layer in enumerate(layers):
        if not isinstance(layer, (list, tuple)) or len(layer) != 3:
            raise ValueError(f"layers[{number}]={layer!r} must be (n_components, window, step)")
        names = ("n_components", "window", "step")
        plans.append(
            LayerShape(
                *(
                    check_count(f"{name} of layers[{number}]", value)
                    for name, value in zip(names, layer, strict=True)
                )
            )
        )
    return plans


def check_directions(plans: list[LayerShape], channels: int) -> None:
    """No layer can give more directions than its windows have numbers."""
    for number, plan in enumerate(plans):
        if plan.n_components > plan.window * channels:
            raise ValueError(
                f"n_components={plan.n_components} of layers[{number}] exceeds its window of {plan.window} steps of {channels} channels"
                f" = {plan.window * channels} numbers; lower n_components or widen the window"
            )
        channels = plan.n_components
