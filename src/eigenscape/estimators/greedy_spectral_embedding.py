"""The GreedySpectralEmbedding estimator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eigenscape import distributed
from eigenscape._progress import reporting
from eigenscape.dictionary.readers import ArrayReader, ChunkReader
from eigenscape.dictionary.source import KernelSource, kernel_source
from eigenscape.distributed import is_collection
from eigenscape.estimators._base import Estimator, KernelMixin, spectral_attributes
from eigenscape.estimators._collections import check_in_memory, validate_blocks
from eigenscape.estimators._dictionary import (
    DictionaryMixin,
    bind,
    check_dictionary,
    check_size,
    dictionary_attributes,
    select_members,
    select_members_of_blocks,
)
from eigenscape.estimators._inverse import InverseMixin, check_inverse, kernel_inverse, pairwise_kernel
from eigenscape.estimators._samples import check_not_precomputed
from eigenscape.estimators._stream import CheckedChunks, KeptChunks, check_chunk
from eigenscape.estimators._validation import (
    check_choice,
    check_count,
    check_gamma,
    check_input,
    check_jobs,
    check_number,
)
from eigenscape.exceptions import RankError
from eigenscape.kernels import kernel_by_name
from eigenscape.methods.dictionary_embedding import greedy_embedding
from eigenscape.methods.dictionary_fit import (
    DictionaryOptions,
    DictionaryState,
    fit_dictionary,
    initial_state,
    partial_fit,
    second_pass,
)
from eigenscape.streams import as_chunks, can_repeat

SELECTIONS = ("greedy", "random", "maxmin", "kmeans")
#: Tolerance where neither it nor a size is given.
_TOL = 1e-3
#: What a stream is learnt with; it cannot change before the stream ends.
_SETTLED = ("kernel", "gamma", "degree", "coef0", "normalization", "sum_to_one")


def _one_pass(estimator: Any) -> bool:
    """Whether the parameters allow to learn from a stream that passes by once; an error that says why not."""
    if not isinstance(estimator.selection, str) or estimator.selection != "greedy":
        why = f"selection={estimator.selection!r} needs all data at hand; a stream is selected from greedily"
    elif estimator.dictionary_size is not None and estimator.tol is None:
        why = "dictionary_size without tol goes through the data several times; set tol"
    elif estimator.averages == "random":
        why = "averages='random' needs all data at hand; use 'implicit' or 'dictionary'"
    elif estimator._is_precomputed():
        why = "kernel='precomputed' is a matrix over all training points"
    else:
        return True
    raise AttributeError(f"these parameters do not allow to learn from a stream: {why}")


class GreedySpectralEmbedding(DictionaryMixin, InverseMixin, KernelMixin, Estimator):
    r"""Kernel PCA, or the map of spectral clustering, from a dictionary chosen in one pass (Ouimet and
    Bengio).

    Points :math:`d_1 \dots d_m` are taken into a dictionary when they are farther than ``tol`` from the span
    of those before them in feature space. With their Gram matrix :math:`M` and each point's projection
    weights :math:`A(x)` the kernel is

    .. math:: \hat K(x, y) = A(x)\, M\, A(y)',

    which is normalised without forming it (proposition 2). Its eigenvectors come from the :math:`m \times m`
    problem :math:`A'A\,u = \lambda M^{-1} u`, and any point is placed by its own weights, :math:`A(x)\,u`.
    All points take part in the estimate, not just the dictionary. Time is :math:`O(n m^2)`, memory
    :math:`O(m^2)`.

    Parameters
    ----------
    n_components : int or None, default=2
        None takes all eigenfunctions with a positive eigenvalue.
    kernel : str, function or Kernel, default="rbf"
        As for :class:`KernelPCA`; it must be positive semi-definite.
    normalization : {"additive", "divisive", None}, default="additive"
        "additive" is kernel PCA, coordinates :math:`\sqrt{\lambda_r} v_r`. "divisive" is spectral clustering
        and Laplacian eigenmaps, coordinates :math:`\sqrt n\, v_r` without the trivial one.
    tol : float or None, default=None
        Largest squared distance in feature space that a point may have from the dictionary's span (algorithm
        1). It compares with ``k(x, x)``, which is 1 for "rbf". None: 1e-3, or what ``dictionary_size``
        allows.
    dictionary_size : int or None, default=None
        A dictionary of this size with an almost minimal error (algorithm 2), for which the data are gone
        through several times. With ``tol`` given too, the most it may have.
    selection : {"greedy", "random", "maxmin", "kmeans"}, indices or points, default="greedy"
        How the dictionary is chosen. "random", "maxmin" (farthest first) and "kmeans" (rows nearest to
        centres) need ``dictionary_size``; row numbers or points (m, n_features) are taken as they are, save
        those that depend on others.
    sum_to_one : bool or None, default=None
        Whether projection weights sum to one (eq. 7), which makes them blind to translation in feature space.
        None: for "additive" only.
    averages : {"implicit", "dictionary", "random"}, default="implicit"
        Over which points the normalisation averages: all (by proposition 2), the dictionary, or a random
        thousand.
    gamma, degree, coef0
        As for :class:`KernelPCA`. ``gamma=None`` is taken from the data, for a stream from its first chunk.
    inverse, inverse_alpha, inverse_gamma
        As for :class:`KernelPCA`; "fixed-point" is not for divisive normalisation. After a stream the
        dictionary stands for the rows.
    random_state : int, RandomState or None, default=0
        For ``selection`` and ``averages``.
    n_jobs : int or None, default=None
        Cores for the kernel and the projections; -1 for all.
    verbose : bool, default=False

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        For data larger than memory it is made when asked for, from the same source.
    dictionary_ : ndarray of shape (m, n_features)
    dictionary_indices_ : ndarray of shape (m,)
        Their row numbers, counted from the start of the stream; -1 for points that are no rows.
    gram_error_bound_ : float
        No entry of the approximated Gram matrix (centred, if "additive"; before division) is farther from the
        true one (proposition 1).
    n_samples_seen_ : int
    n_passes_ : int
        1 after ``partial_fit`` or for an iterator; 2 where every point was projected on the final dictionary.
    eigenvalues_, kernel_, residuals_, gamma_, inverse_error_, n_features_in_
        As for :class:`KernelPCA`. After a stream ``kernel_`` is bound to the dictionary.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import GreedySpectralEmbedding
    >>> X = np.random.default_rng(0).random((5000, 3))
    >>> model = GreedySpectralEmbedding(n_components=2, tol=1e-2).fit(X)
    >>> model.dictionary_.shape, model.embedding_.shape
    ((59, 3), (5000, 2))

    From a stream, one pass:

    >>> stream = GreedySpectralEmbedding(n_components=2, tol=1e-2)
    >>> for start in range(0, 5000, 1000):
    ...     stream = stream.partial_fit(X[start : start + 1000])
    >>> stream.transform(X[:3]).shape
    (3, 2)
    """

    _make_inverse = kernel_inverse
    _objects = True
    _pairwise_parameter = "kernel"
    _precomputed_means = "kernel"

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        kernel: Any = "rbf",
        normalization: str | None = "additive",
        tol: float | None = None,
        dictionary_size: int | None = None,
        selection: Any = "greedy",
        sum_to_one: bool | None = None,
        averages: str = "implicit",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        inverse: str = "auto",
        inverse_alpha: float | None = None,
        inverse_gamma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.normalization = normalization
        self.tol = tol
        self.dictionary_size = dictionary_size
        self.selection = selection
        self.sum_to_one = sum_to_one
        self.averages = averages
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.inverse = inverse
        self.inverse_alpha = inverse_alpha
        self.inverse_gamma = inverse_gamma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # --- learning -------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose a dictionary from ``X`` and estimate the eigenfunctions with all of it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or a stream
            A stream is a :class:`numpy.memmap`, the path of a parquet or npy file, a list of arrays, or any
            iterable of chunks of rows; it is never held in memory. It is gone through twice, but an iterator
            only once. A dask array or dataframe is learnt from where its partitions lie, and ``embedding_``
            is then a dask array.
        y : ignored

        Returns
        -------
        self
        """
        choice = self._choice()
        self._reset()
        self._rows_ = self._embedding_ = None
        if is_collection(X):
            return self._fit_collection(X, choice)
        check_in_memory(self, X)
        chunks = None if self._is_precomputed() else as_chunks(X)
        with reporting(self.verbose):
            if chunks is not None:
                return self._fit_stream(chunks, choice)
            X = check_input(self, X, reset=True)
            self._source_ = self._bind(X)
            if choice.tol is None:
                check_size(self.dictionary_size, X)
            if not isinstance(self.selection, str) or self.selection != "greedy":
                choice = replace(
                    choice,
                    members=select_members(
                        self.selection, self.dictionary_size, self._source_, X, choice.seed
                    ),
                )
            self._solve(fit_dictionary(self._source_, ArrayReader(X), choice), choice, X)
            self._embedding_ = self._like(X, self._model_.coordinates)
        return self

    @available_if(_one_pass)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with one more chunk of a stream: the dictionary grows as points demand, and the estimate with
        it.

        Points seen before the dictionary grew are not looked at again, and for divisive normalisation early
        points are weighted by averages over few others: a first map, which :meth:`second_pass` makes exact. A
        chunk that is refused leaves the model as it was.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_chunk, n_features), or a dask collection
        y : ignored

        Returns
        -------
        self
        """
        choice = self._choice()
        seen = vars(self).get("n_samples_seen_", 0)
        for name, before in self._settled_.items() if seen else ():
            if getattr(self, name) != before:
                raise ValueError(
                    f"{name}={getattr(self, name)!r}, but the stream began with {before!r}; call fit to begin anew"
                )
        with reporting(self.verbose):
            if is_collection(X):
                blocks = validate_blocks(self, X, reset=seen == 0)
                few = distributed.evenly_spaced(blocks)
                self._source_ = self._source_ if seen else self._bind(few, blocks)
                learnt = distributed.partial_fit_blocks(
                    self._source_, self._learnt_ if seen else None, blocks, choice, few
                )
            else:
                X = check_chunk(self, X, reset=seen == 0, first_row=seen)
                self._source_ = self._source_ if seen else self._bind(X)
                learnt = partial_fit(
                    self._learnt_ if seen else initial_state(self._source_, X, choice), X, choice
                )
            self._solve(learnt, choice)
            self._rows_ = self._embedding_ = None
        return self

    def second_pass(self, chunks: Any) -> Self:
        """Estimate the eigenfunctions anew with the dictionary as it is, every point projected on all of it.

        Parameters
        ----------
        chunks : a stream, or an array
            The data that the dictionary was chosen from, or others like them.

        Returns
        -------
        self
        """
        check_is_fitted(self, "n_samples_seen_")
        choice = self._choice()
        if is_collection(chunks):
            with reporting(self.verbose):
                self._solve(
                    distributed.second_pass_blocks(
                        self._learnt_.dictionary, validate_blocks(self, chunks, reset=False), choice
                    ),
                    choice,
                )
            self._embedding_, self._rows_ = self.transform(chunks), None
            return self
        stream = as_chunks(chunks)
        chunks = [chunks] if stream is None else stream
        if not can_repeat(chunks) and (choice.normalization == "divisive" or choice.averages == "random"):
            raise ValueError(
                "divisive normalisation and averages='random' go through the data twice, and an iterator can be read only once; pass the"
                " chunks again"
            )
        with reporting(self.verbose):
            self._solve(
                second_pass(self._learnt_.dictionary, ChunkReader(CheckedChunks(self, chunks)), choice),
                choice,
            )
        self._embedding_, self._rows_ = None, KeptChunks(chunks) if can_repeat(chunks) else None
        return self

    @property
    def embedding_(self) -> np.ndarray:
        """Coordinates of the training points."""
        if self.__dict__.get("_embedding_") is not None:
            return self._embedding_
        if not self.__dict__.get("_rows_"):
            raise AttributeError(
                "embedding_ is there after fit with data that can be read again; after partial_fit, an iterator or unpickling call"
                " transform with each chunk"
            )
        return np.concatenate([self.transform(chunk) for chunk in self._rows_])

    # --- a collection ---------------------------------------------------------------------------------------

    def _fit_collection(self, X: Any, choice: DictionaryOptions) -> Self:
        blocks = validate_blocks(self, X, reset=True)
        check_not_precomputed(self)
        if choice.averages == "random" or (isinstance(self.selection, str) and self.selection != "greedy"):
            name = "averages='random'" if choice.averages == "random" else f"selection={self.selection!r}"
            raise ValueError(
                f"{name} needs all data at hand, and X is a dask collection; use averages='implicit' and selection='greedy'"
            )
        with reporting(self.verbose):
            few = distributed.evenly_spaced(blocks)
            self._source_ = self._bind(few, blocks)
            if not isinstance(self.selection, str):
                choice = replace(choice, members=select_members_of_blocks(self.selection, blocks, few))
            self._solve(distributed.fit_dictionary_blocks(self._source_, blocks, choice, few), choice)
        self._embedding_ = self.transform(X)
        return self

    # --- how it is done -------------------------------------------------------------------------------------

    def _fit_stream(self, chunks: Iterable[Any], choice: DictionaryOptions) -> Self:
        if not can_repeat(chunks) or not isinstance(self.selection, str) or self.selection != "greedy":
            try:
                _one_pass(self)
            except AttributeError as why:
                raise ValueError(str(why)) from None
        if choice.tol is not None:
            self._first_pass(chunks, choice)
        if can_repeat(chunks):
            rows = ChunkReader(CheckedChunks(self, chunks, first=choice.tol is None))
            if choice.tol is None:
                self._source_ = self._bind(next(iter(rows.chunks)))
                learnt = fit_dictionary(self._source_, rows, choice)
            else:
                learnt = second_pass(self._learnt_.dictionary, rows, choice)
            self._solve(learnt, choice)
            self._rows_ = KeptChunks(chunks)
        elif "eigenvalues_" not in vars(self):
            raise RankError(
                f"{self.n_samples_seen_} row(s) gave a dictionary of {self._learnt_.dictionary.size} point(s), too few for"
                f" n_components={self.n_components}; lower tol or n_components, or pass more rows"
            )
        return self

    def _first_pass(self, chunks: Iterable[Any], choice: DictionaryOptions) -> None:
        """Select from the stream. Whatever ends it, what was learnt until then stays usable."""
        learnt: DictionaryState | None = None
        try:
            for chunk in CheckedChunks(self, chunks, first=True):
                if learnt is None:
                    self._source_ = self._bind(chunk)
                    learnt = initial_state(self._source_, chunk, choice)
                learnt = partial_fit(learnt, chunk, choice)
        finally:
            if learnt is not None and learnt.moments.count:
                self._solve(learnt, choice)

    def _bind(self, X: Any, blocks: Any = None) -> KernelSource:
        similarity = bind(
            kernel_by_name(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0), X, blocks
        )
        check_inverse(self, None if self.normalization == "divisive" else pairwise_kernel(similarity))
        settled = getattr(getattr(similarity, "kernel", None), "gamma", None)
        if settled is not None:
            self.gamma_ = settled
        return kernel_source(similarity)

    def _solve(self, learnt: DictionaryState, choice: DictionaryOptions, X: Any = None) -> None:
        """Keep what was learnt, and make the model of it if there is enough for one."""
        model = attributes = None
        try:
            model = greedy_embedding(learnt, choice, self.n_components, X)
            attributes = dictionary_attributes(learnt, choice, X)
        except RankError:
            if X is not None or learnt.exact:
                raise  # else a stream that has not brought enough points yet
        self._learnt_, self.n_samples_seen_, self.n_passes_ = learnt, learnt.moments.count, 1 + learnt.exact
        self._settled_ = {name: getattr(self, name) for name in _SETTLED}
        if model is not None:
            vars(self).pop("_inverse_", None)  # of the previous model
            self._model_ = model
            vars(self).update({**spectral_attributes(model), **(attributes or {})})

    # --- wishes ---------------------------------------------------------------------------------------------

    def _choice(self) -> DictionaryOptions:
        if self.n_components is not None:
            check_count("n_components", self.n_components)
        if self.normalization is not None:
            check_choice("normalization", self.normalization, ("additive", "divisive"))
        check_choice("averages", self.averages, ("implicit", "dictionary", "random"))
        check_gamma(self.kernel, self.gamma)
        check_number("degree", self.degree)
        check_number("coef0", self.coef0)
        check_jobs(self.n_jobs)
        if self.sum_to_one not in (None, True, False):
            raise ValueError(f"sum_to_one={self.sum_to_one!r} must be True, False or None")
        by_name = isinstance(self.selection, str)
        if by_name:
            check_choice("selection", self.selection, SELECTIONS)
        tol = self.tol if check_dictionary(self.dictionary_size, self.tol, "tol") else _TOL
        if self.tol is not None and not (by_name and self.selection == "greedy"):
            raise ValueError(
                f"tol={self.tol!r} is for selection='greedy'; another selection is taken as it is, leave tol out"
            )
        if by_name and self.selection != "greedy" and self.dictionary_size is None:
            raise ValueError(f"selection={self.selection!r} needs dictionary_size")
        sum_to_one = self.normalization == "additive" if self.sum_to_one is None else self.sum_to_one
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return DictionaryOptions(
            tol, self.dictionary_size, None, self.normalization, self.averages, sum_to_one, seed, self.n_jobs
        )
