"""The DistortionDiscriminantAnalysis estimator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigenscape._progress import reporting
from eigenscape.estimators._sequences import (
    as_sequence,
    as_sequences,
    check_channels,
    check_directions,
    check_layers,
    check_long_enough,
    check_versions,
    is_list_of_sequences,
)
from eigenscape.estimators._validation import check_regularization
from eigenscape.methods.distortion_discriminant import (
    Layer,
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
        checked = as_sequence(chunk, "chunk", min_steps=0)
        check_channels(checked, self._n_channels, "chunk")
        values = checked.astype(np.float64, copy=False)
        for stream in self._streams:
            values = stream(values)
        return values.astype(checked.dtype, copy=False)


class DistortionDiscriminantAnalysis(BaseEstimator):
    r"""Robust features of a sequence by layers of oriented PCA.

    A layer looks at windows of the sequence below it, finds the directions :math:`n` that maximise the
    quotient of signal variance and mean squared distortion,

    .. math:: C n = q R n,

    (Burges sec. 1.4) and passes on :math:`n'(x - \bar x)`, scaled so that the signal has mean zero and the
    noise unit variance. The next layer does the same over windows of these, and so sees longer stretches of
    time: distortions that short windows cannot tell from signal, such as a shift in time, are suppressed
    where the windows are long.

    Rows are time steps, and there are fewer of them after each layer. So this is no scikit-learn transformer,
    whose rows are samples that keep their number; parameters, clones and pipelines work as usual.

    Parameters
    ----------
    layers : list of (n_components, window, step), default=((8, 8, 4), (8, 8, 4))
        For each layer the number of directions, the number of steps (of the layer below) in a window, and
        from one window to the next.
    regularization : float or "auto", default="auto"
        As in :class:`~eigenscape.OrientedPCA`, for each layer.
    verbose : bool, default=False
        Show the layers as they are learnt.

    Attributes
    ----------
    eigenvalues_ : list of ndarray of shape (n_components,)
        For each layer the quotients :math:`q`, largest first.
    components_ : list of ndarray of shape (n_components, window, n_channels)
        For each layer the weights on a window, scaled as they are applied.
    offsets_ : list of ndarray of shape (n_components,)
        For each layer what is subtracted, so that the signal has mean zero.
    regularization_ : list of float
        What was added to the noise of each layer.
    residuals_ : list of ndarray of shape (n_components,)
        :math:`|C n - q R n| / (|R| |n|)` for each layer.
    receptive_field_ : int
        Time steps of the input behind one output.
    hop_ : int
        Time steps of the input from one output to the next.
    n_features_in_ : int
        Channels of the input.

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
    """

    def __init__(
        self,
        layers: Any = ((8, 8, 4), (8, 8, 4)),
        *,
        regularization: float | str = "auto",
        verbose: bool = False,
    ) -> None:
        self.layers = layers
        self.regularization = regularization
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, distorted: Any = None) -> Self:
        """Learn the layers.

        Parameters
        ----------
        X : array-like of shape (n_steps, n_channels) or (n_steps,), or a list of such arrays
            The undistorted sequence, or several of them.
        y : ignored
        distorted : list
            Distorted versions of ``X``, each shaped like ``X`` and aligned with it step by step.

        Returns
        -------
        self
        """
        plans = check_layers(self.layers)
        check_regularization(self.regularization)
        given = as_sequences(X, "X")
        channels = given[0].shape[1]
        check_directions(plans, channels)
        check_long_enough(given, receptive_field(plans), "X")
        versions = check_versions(distorted, X, given)
        signal = [np.asarray(sequence, dtype=np.float64) for sequence in given]
        with reporting(self.verbose):
            self._layers_ = distortion_layers(signal, versions, plans, self.regularization)
        self.eigenvalues_ = [layer.orientation.values for layer in self._layers_]
        self.components_ = [np.moveaxis(layer.weights, -1, 0) for layer in self._layers_]
        self.offsets_ = [layer.offset for layer in self._layers_]
        self.regularization_ = [layer.orientation.regularization for layer in self._layers_]
        self.residuals_ = [layer.orientation.residuals for layer in self._layers_]
        self.receptive_field_ = receptive_field(plans)
        self.hop_ = int(np.prod([plan.step for plan in plans]))
        self.n_features_in_ = channels
        return self

    def transform(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Features of whole sequences.

        Parameters
        ----------
        X : array-like of shape (n_steps, n_channels) or (n_steps,), or a list of such arrays

        Returns
        -------
        ndarray of shape (n_outputs, n_components), or a list of them
            Row ``t`` belongs to the input steps ``t * hop_`` to ``t * hop_ + receptive_field_ - 1``.
        """
        check_is_fitted(self)
        sequences = as_sequences(X, "X")
        check_channels(sequences[0], self.n_features_in_, "X")
        check_long_enough(sequences, self.receptive_field_, "X")
        outputs = [
            apply_layers(self._layers_, sequence.astype(np.float64)).astype(sequence.dtype, copy=False)
            for sequence in sequences
        ]
        return outputs if is_list_of_sequences(X) else outputs[0]

    def fit_transform(self, X: Any, y: Any = None, *, distorted: Any = None) -> np.ndarray | list[np.ndarray]:
        """Learn the layers and return the features of ``X``."""
        return self.fit(X, y, distorted=distorted).transform(X)

    def stream(self) -> DistortionStream:
        """A function that takes chunks of one sequence and returns the features each of them completes.

        Several streams of one model do not disturb one another. A chunk may have any number of time steps,
        none included."""
        check_is_fitted(self)
        return DistortionStream(self._layers_)

    def transform_stream(self, chunks: Iterable[Any]) -> Iterator[np.ndarray]:
        """For each chunk of one sequence the features it completes: together, what ``transform`` gives for
        the whole."""
        stream = self.stream()
        return (stream(chunk) for chunk in chunks)
