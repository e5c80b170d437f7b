"""The GreedySpectralEmbedding estimator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import check_gamma, check_parameters, with_constructor
from eigenscape.dictionary.readers import RowReader
from eigenscape.dictionary.source import PointArray, divided_source, kernel_source
from eigenscape.distributed import check_in_memory
from eigenscape.estimators._base import FitResult, KernelEstimator, width_attributes
from eigenscape.estimators._dictionary import (
    TrainingRows,
    dictionary_attributes,
    projection_error,
    select_members,
)
from eigenscape.estimators._inverse import InverseMixin, check_inverse, kernel_inverse, pairwise_kernel
from eigenscape.estimators._method import Memory, Method, Seed
from eigenscape.estimators._rows import CheckedChunks, KeptChunks, check_input
from eigenscape.estimators._running import available_if, by_blocks, fitting, running
from eigenscape.exceptions import RankError
from eigenscape.kernels import kernel_by_name
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.methods.dictionary_embedding import divided_greedy_embedding, greedy_embedding
from eigenscape.methods.dictionary_fit import (
    DictionaryOptions,
    DictionaryState,
    budget_fit,
    fit_dictionary,
    initial_state,
    partial_fit,
    second_pass,
)
from eigenscape.options import Dictionary, Inverse
from eigenscape.streams import as_chunks, can_repeat

#: Tolerance and largest size if the dictionary has neither ``tol`` nor ``size``. Rows in many dimensions do
#: not span one another: the tolerance alone would select all, in O(n^3) time. The size does not depend
#: on the memory or speed of the machine, since the result must not.
_DEFAULT_TOL, _DEFAULT_SIZE = 1e-3, 2000
#: Tolerances by default if larger ones give too few eigenfunctions, as for groups far from each other.
_SMALLER_TOLS = (1e-6, 1e-9)
#: Number of points over which ``normalize_first`` averages.
_N_AVERAGED = 1000
#: Parameters that must not change between the chunks of a stream.
_FIXED = ("kernel", "gamma", "degree", "coef0", "normalization", "sum_to_one", "normalize_first")


def _supports_single_pass(estimator: GreedySpectralEmbedding) -> bool:
    """Return True if the parameters allow a single pass over a stream; otherwise raise AttributeError."""
    dictionary = estimator._dictionary()
    fixed_size = dictionary.size is not None and dictionary.tol is None
    if not estimator._is_greedy():
        reason = f"{dictionary!r} needs all data; a stream needs selection='greedy'"
    elif fixed_size and estimator.normalization == "divisive" and not estimator.normalize_first:
        reason = (
            "a size without tol replaces members, and normalization='divisive' needs averages over"
            " the final ones; set tol or normalize_first=True"
        )
    elif estimator.averages == "random":
        reason = "averages='random' needs all data; use 'implicit' or 'dictionary'"
    elif estimator._is_precomputed():
        reason = "kernel='precomputed' is a matrix over all training points"
    else:
        return True
    raise AttributeError(f"these parameters do not allow fitting to a stream: {reason}")


@with_constructor
class GreedySpectralEmbedding(InverseMixin, KernelEstimator):
    r"""Kernel PCA or spectral embedding with a dictionary selected in one pass over the data (Ouimet).

    A point is added to the dictionary :math:`d_1 \dots d_m` if its squared distance in feature space from the
    span of the previous members exceeds the tolerance. With the Gram matrix :math:`M` of the members and the
    projection weights :math:`A(x)` of each point the kernel is approximated by

    .. math:: \hat K(x, y) = A(x)\, M\, A(y)',

    which is normalised without forming it (proposition 2). Its eigenvectors follow from the :math:`m \times
    m` problem :math:`A'A\,u = \lambda M^{-1} u`, and the coordinates of any point follow from its weights,
    :math:`A(x)\,u`. All points contribute to the estimate, not just the dictionary. Time is :math:`O(n m^2)`,
    memory :math:`O(m^2)`.

    Parameters
    ----------
    dictionary : Dictionary or None, default=None
        Size, tolerance and selection of the members (:class:`eigenscape.options.Dictionary`). With ``tol``
        the dictionary grows until each point is at most so far from its span, as a squared distance in
        feature space, to be compared with ``k(x, x)``, which is 1 for "rbf" (algorithm 1). With ``size``
        alone the members are selected greedily from all points. If None, ``tol=1e-3`` with at most 2000
        members; for data in memory 1e-6 or 1e-9 if the dictionary has too few members.
    n_components : int or None, default=2
        Number of coordinates; None for all eigenfunctions with a positive eigenvalue.
    kernel : str, callable or Kernel, default="rbf"
        "rbf", "linear", "poly", "laplacian", "cosine", "sigmoid", "precomputed", a Kernel, or a function of
        two samples (rows, or arbitrary objects if ``X`` is a list of objects) that returns a number.
        "precomputed": ``X`` is the matrix of similarities, and ``transform`` takes the similarities of new
        points to the training samples.

        The kernel must be positive semi-definite.
    normalization : {"additive", "divisive", None}, default="additive"
        "additive": kernel PCA, with coordinates :math:`\sqrt{\lambda_r} v_r`. "divisive": the normalisation
        of spectral clustering and Laplacian eigenmaps, with coordinates :math:`\sqrt n\, v_r` without the
        trivial one. None: no normalisation.
    gamma : float or None, default=None
        Width of "rbf", "laplacian", "poly" and "sigmoid". If None, it is estimated from the data: one over
        the median (squared) distance for "rbf" and "laplacian", one over the mean squared norm for "poly" and
        "sigmoid".

        For a stream it is estimated from the first chunk.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    sum_to_one : bool or None, default=None
        Whether projection weights sum to one (eq. 7), which makes them invariant to translation in feature
        space. If None, True for "additive" only.
    averages : {"implicit", "dictionary", "random"}, default="implicit"
        Points over which the normalisation averages: all (by proposition 2), the dictionary, or 1000 random
        points.
    normalize_first : bool, default=False
        Whether divisive normalisation precedes the selection (sec. 3.2): members are selected, and points
        projected, in the feature space of :math:`k(x, y) / \sqrt{E(x) E(y)}`, with averages :math:`E` over at
        most 1000 random points (of the first chunk of a stream). The tolerance is to be compared with
        :math:`k(x, x) / E(x)`, and eigenvalues are ``n_samples`` times the eigenvalues of a kernel divided by
        sums. ``averages`` is ignored. For ``normalization="divisive"`` only.
    degree : float, default=3
        Degree of "poly". Ignored by other kernels.
    coef0 : float, default=1
        Constant term of "poly" and "sigmoid". Ignored by other kernels.
    inverse : {"auto", "fixed-point", "ridge"} or Inverse, default="auto"
        Method of ``inverse_transform``. "fixed-point" iterates to the row whose kernel features are nearest,
        for "rbf". "ridge" is a kernel ridge regression from coordinates to rows, for any kernel; an
        :class:`~eigenscape.options.Inverse` sets its penalty and width. "auto" chooses "fixed-point" for
        "rbf", the exact inverse for "linear", otherwise "ridge". It may be changed after ``fit``.

        "fixed-point" is not available for divisive normalisation. After fitting to a stream the dictionary is
        used in place of the training rows.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples. For data larger than memory they are computed on access, by
        reading the data again.
    dictionary_ : array of shape (m, n_features)
        Points of the dictionary.
    dictionary_indices_ : ndarray of shape (m,)
        Their row indices, counted from the start of the stream; -1 for points that are not rows of the data.
    gram_error_bound_ : float
        Upper bound of the error of every entry of the approximated Gram matrix, centred if "additive", before
        division if "divisive" (proposition 1).
    stream_error_bound_ : float
        Only after a single pass over a stream with the ``size`` of a dictionary and without its ``tol``:
        upper bound of the mean squared distance in feature space between the samples and the projections
        from which the eigenfunctions were computed (:meth:`partial_fit`).
    n_samples_seen_ : int
        Number of samples seen.
    n_passes_ : int
        1 after ``partial_fit`` or for an iterator; 2 if every point was projected on the final dictionary.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` are its values between any points and the training samples.

        After fitting to a stream, values are those between any points and the dictionary.
    residuals_ : ndarray
        Residual norms ``|K v - l v|`` of the eigenpairs, in the shape of ``eigenvalues_``.
    solver_ : str
        Name of the eigensolver used.
    n_iter_ : int
        Number of iterations of the eigensolver; 0 or 1 for direct solvers.
    gamma_ : float
        Width of the kernel. Set for kernels that have one.
    inverse_error_ : float
        Error of ``inverse_transform``: root mean square distance between at most 1000 training rows and their
        reconstructions, relative to the spread of the rows. Computed on first access.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import GreedySpectralEmbedding
    >>> from eigenscape.options import Dictionary
    >>> X = np.random.default_rng(0).random((5000, 3))
    >>> model = GreedySpectralEmbedding(n_components=2, dictionary=Dictionary(tol=1e-2)).fit(X)
    >>> model.dictionary_.shape, model.embedding_.shape
    ((59, 3), (5000, 2))

    From a stream, in one pass:

    >>> stream = GreedySpectralEmbedding(n_components=2, dictionary=Dictionary(tol=1e-2))
    >>> for start in range(0, 5000, 1000):
    ...     stream = stream.partial_fit(X[start : start + 1000])
    >>> stream.transform(X[:3]).shape
    (3, 2)
    """

    n_components: int | None = 2
    _: KW_ONLY
    kernel: Any = "rbf"
    normalization: Literal["additive", "divisive"] | None = "additive"
    dictionary: Dictionary | None = None
    sum_to_one: bool | None = None
    averages: Literal["implicit", "dictionary", "random"] = "implicit"
    normalize_first: bool = False
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    inverse: Literal["auto", "fixed-point", "ridge"] | Inverse = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method(
        "greedy", aliases=("greedy-spectral-embedding",), streams="fit", memory=Memory(dictionary=True)
    )
    _meaning = "The kernel's eigenfunctions are estimated with a small dictionary of points."
    _make_inverse = kernel_inverse
    _objects = True
    _pairwise_parameter = "kernel"
    _precomputed_means = "kernel"

    projection_error = projection_error

    @by_blocks("dictionary.fit")
    def fit(self, X: Any, y: object = None) -> Self:
        """Select a dictionary from ``X`` and estimate the eigenfunctions from all points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or a stream
            A stream is a :class:`numpy.memmap`, the chunks of a file (``read(path, stream=True).array``), a
            list of arrays, or any iterable of chunks of rows. It is never held in memory as a whole and is
            read twice, an iterator only once. A dask array or dataframe is processed on its workers, and
            ``embedding_`` is then a dask array.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self
        """
        with fitting(self):
            options = self._options()
            self._stream_: KeptChunks | None = None
            self._embedding_: Any = None
            check_in_memory(self, X)
            chunks = None if self._is_precomputed() else as_chunks(X)
            if chunks is not None:
                return self._fit_stream(chunks, options)
            X = check_input(self, X, reset=True)
            self._fit_dictionary(TrainingRows(X), options)
            self._embedding_ = self._match_dtype(X, self._model_.coordinates)
        return self

    def _fit_dictionary(self, rows: Any, options: DictionaryOptions) -> None:
        """Fit a dictionary and the model to training rows, in memory or elsewhere."""
        similarity = self._bind(rows)
        if not self._is_greedy():
            members = select_members(self._dictionary(), similarity, rows, options, self._source_)
            options = replace(options, members=members)
        given = self._dictionary()
        tolerances = _SMALLER_TOLS if given.tol is None is given.size and self._is_greedy() else ()
        for tol in tolerances:
            try:
                return self._set_model(rows.fit(self._source_, options), options, rows.stored)
            except RankError:
                options = replace(options, tol=tol)
        return self._set_model(rows.fit(self._source_, options), options, rows.stored)

    @available_if(_supports_single_pass)
    @by_blocks("dictionary.partial_fit")
    def partial_fit(self, X: Any, y: object = None) -> Self:
        r"""Continue with a further chunk of a stream; the dictionary is extended, or its members replaced.

        With the ``tol`` of a ``Dictionary`` it grows as needed, up to its ``size`` if that is given,
        otherwise without limit; with neither, ``tol=1e-3`` and at most 2000 members. Memory is
        :math:`O(m^2)` for :math:`m` members, time :math:`O(m^2)` a row. Points of earlier chunks are not
        projected on members added later, and for divisive normalisation early points are weighted by averages
        over few points.

        With ``Dictionary(m)`` the dictionary has at most :math:`m` members after a chunk, and
        :math:`2m` (or :math:`m + 512`) within one. All rows of a block of :math:`m` (or 512) are candidates.
        Members are kept greedily for a span near the projections :math:`\psi(x_i)` of all points seen,
        which are then projected on it. Time is :math:`O(m^2)` a row for chunks of at least :math:`m` rows,
        :math:`O(m^3)` for smaller ones. New members replace old ones less and less often, since the
        components of earlier points in new directions are lost. ``stream_error_bound_`` is at least

        .. math:: E = \frac 1n \sum_i |\phi(x_i) - \psi(x_i)|^2,

        and equal to it until members are replaced. With it, :math:`|\sqrt{\lambda_r / n} -
        \sqrt{\hat\lambda_r / n}| \le \sqrt E` for every eigenvalue of the Gram matrix (centred if
        "additive") and its estimate, and the mean over all pairs of :math:`|k(x_i, x_j) - \psi(x_i) \cdot
        \psi(x_j)|` is at most :math:`\sqrt E` times the sum of the root mean squares of :math:`|\phi|` and
        :math:`|\psi|`. The bound is 1.3 to 7 times :math:`E` on digits and uniform points, least for long
        chunks.

        :meth:`second_pass` projects all points on the final dictionary. With ``verbose`` the limits are
        shown. If the chunk is invalid, the model is not changed.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_chunk, n_features), or a dask collection
            The chunk.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self
        """
        options, state = self._continued()
        n_seen = 0 if state is None else self.n_samples_seen_
        with running(self):
            X = check_input(self, X, reset=state is None, chunk=True, first_row=n_seen)
            self._set_model(self._fit_chunk(state, X, options), options)
            self._stream_ = self._embedding_ = None
        return self

    def _continued(self) -> tuple[DictionaryOptions, DictionaryState | None]:
        """Return the options, and the state of the stream, None at its begin; check that they agree."""
        options = self._options()
        if not vars(self).get("n_samples_seen_", 0):
            return options, None
        for name, before in self._fixed_.items():
            if getattr(self, name) != before:
                raise ValueError(
                    f"{name}={getattr(self, name)!r}, but the stream began with {before!r}; call fit to start"
                    " again"
                )
        state = self._state_
        if not state.exact and (state.total_error is None) != (options.tol is not None):
            before = "with" if state.total_error is None else "without"
            raise ValueError(
                f"{self._dictionary()!r}, but the stream began {before} a tolerance; call second_pass with"
                " the rows seen to continue, or fit to start again"
            )
        return options, state

    @by_blocks("dictionary.second_pass")
    def second_pass(self, chunks: Any) -> Self:
        """Estimate the eigenfunctions again, with every point projected on the whole dictionary.

        Parameters
        ----------
        chunks : a stream, or an array
            The data from which the dictionary was selected, or similar data.

        Returns
        -------
        self
        """
        check_is_fitted(self, "n_samples_seen_")
        options, dictionary = self._options(), self._state_.dictionary
        stream = as_chunks(chunks)
        chunks = [chunks] if stream is None else stream
        if not can_repeat(chunks) and (options.normalization == "divisive" or options.averages == "random"):
            raise ValueError(
                "divisive normalisation and averages='random' read the data twice, and an iterator can be"
                " read only once; pass the chunks again"
            )
        with running(self):
            reader = RowReader(CheckedChunks(self, chunks))
            self._set_model(second_pass(dictionary, reader, options), options)
        self._embedding_, self._stream_ = None, KeptChunks(chunks) if can_repeat(chunks) else None
        return self

    @property
    def embedding_(self) -> np.ndarray:  # type: ignore[override]
        """Coordinates of the training points."""
        if vars(self).get("_embedding_") is not None:
            return self._embedding_
        stream = vars(self).get("_stream_")
        if not stream:
            raise AttributeError(
                "embedding_ is available after fit with data that can be read again; after partial_fit, an"
                " iterator or unpickling call transform with each chunk"
            )
        return np.concatenate([self.transform(chunk) for chunk in stream])

    def _fit_stream(self, chunks: Iterable[PointArray], options: DictionaryOptions) -> Self:
        """Fit to chunks: in one pass for an iterator, otherwise in two or more."""
        if not can_repeat(chunks) or not self._is_greedy():
            try:
                _supports_single_pass(self)
            except AttributeError as error:
                raise ValueError(str(error)) from None
        if options.tol is not None or not can_repeat(chunks):
            self._first_pass(chunks, options)
        if can_repeat(chunks):
            reader = RowReader(CheckedChunks(self, chunks, first=options.tol is None))
            if options.tol is None:
                self._bind(TrainingRows(next(iter(reader.chunks))))
                state = fit_dictionary(self._source_, reader, options)
            else:
                state = second_pass(self._state_.dictionary, reader, options)
            self._set_model(state, options)
            self._stream_ = KeptChunks(chunks)
        elif "eigenvalues_" not in vars(self):
            raise RankError(
                f"{self.n_samples_seen_} row(s) gave a dictionary of {self._state_.dictionary.size} point(s),"
                f" too few for n_components={self.n_components}; lower tol or n_components, or pass more rows"
            )
        return self

    def _first_pass(self, chunks: Iterable[PointArray], options: DictionaryOptions) -> None:
        """Fit to the stream in one pass. If it is interrupted, the model of the rows seen remains."""
        state: DictionaryState | None = None
        try:
            for chunk in CheckedChunks(self, chunks, first=True):
                state = self._fit_chunk(state, chunk, options)
        finally:
            if state is not None and state.moments.count:
                self._set_model(state, options)

    def _fit_chunk(
        self, state: DictionaryState | None, chunk: PointArray, options: DictionaryOptions
    ) -> DictionaryState:
        """Continue a stream, or begin it, with a tolerance or with a dictionary of fixed size."""
        if state is None:
            self._bind(TrainingRows(chunk))
            state = initial_state(self._source_, chunk, options)
        return (budget_fit if options.tol is None else partial_fit)(state, chunk, options)

    def _bind(self, rows: Any) -> BoundKernel:
        """Bind the kernel to training rows; set ``gamma_`` and the source of kernel values."""
        kernel = kernel_by_name(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        similarity = rows.bind(kernel)
        check_inverse(self, None if self.normalization == "divisive" else pairwise_kernel(similarity))
        self.__dict__.update(width_attributes(similarity))
        self._source_ = kernel_source(similarity)
        if self.normalize_first:
            rng = np.random.default_rng(self._options().seed)
            chosen = np.sort(rng.permutation(n_points(rows.X))[:_N_AVERAGED])
            self._source_ = divided_source(self._source_, rows.X[chosen])
        return similarity

    def _set_model(
        self, state: DictionaryState, options: DictionaryOptions, X: PointArray | None = None
    ) -> None:
        """Set the fitted attributes, and the model if there are enough points for it."""
        attributes = {}
        try:
            embed = divided_greedy_embedding if self.normalize_first else greedy_embedding
            model = embed(state, options, self.n_components, X)
            attributes = FitResult(model, dictionary_attributes(state, options, X)).fitted()
            attributes["_model_"] = model
        except RankError:
            if X is not None or state.exact:
                raise  # otherwise further chunks of the stream may follow
        self._state_, self.n_samples_seen_, self.n_passes_ = state, state.moments.count, 1 + state.exact
        self._fixed_ = {name: getattr(self, name) for name in _FIXED}
        self.__dict__.pop("stream_error_bound_", None)
        if state.total_error is not None:
            self.stream_error_bound_ = state.total_error / state.moments.count
        if attributes:
            self.__dict__.pop("_inverse_", None)  # of the previous model
            self.__dict__.update(attributes)

    def _dictionary(self) -> Dictionary:
        """Return the parameter ``dictionary``, or its default."""
        return Dictionary() if self.dictionary is None else self.dictionary

    def _is_greedy(self) -> bool:
        points, selection = self._dictionary().points, self._dictionary().selection
        return points is None and isinstance(selection, str) and selection == "greedy"

    def _options(self) -> DictionaryOptions:
        """Validate the parameters and return the options of the dictionary."""
        check_parameters(self)
        check_gamma(self.kernel, self.gamma)
        dictionary = self._dictionary()
        if self.normalize_first and self.normalization != "divisive":
            raise ValueError(
                f"normalize_first=True is for normalization='divisive', got {self.normalization!r}: additive"
                " normalisation before the selection gives the same dictionary"
            )
        given = dictionary.size is not None or dictionary.tol is not None
        if not self._is_greedy():
            if dictionary.tol is not None:
                raise ValueError(f"tol={dictionary.tol!r} is for selection='greedy' only; leave it None")
            is_named = dictionary.points is None and isinstance(dictionary.selection, str)
            if is_named and dictionary.size is None:
                raise ValueError(f"selection={dictionary.selection!r} needs size")
        return DictionaryOptions(
            dictionary.tol if given else _DEFAULT_TOL,
            dictionary.size if given else _DEFAULT_SIZE,
            normalization=None if self.normalize_first else self.normalization,
            averages="implicit" if self.normalize_first else self.averages,
            sum_to_one=self.normalization == "additive" if self.sum_to_one is None else self.sum_to_one,
            seed=self._seed(),
            n_jobs=self.n_jobs,
        )
