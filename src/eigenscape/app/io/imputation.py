"""Missing values filled in: by the means of their columns, or by probabilistic PCA."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._typing import is_sparse
from eigenscape.app.io.guards import empty_column_error
from eigenscape.app.io.table import Table
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    from eigenscape.methods.probabilistic_pca import LatentGaussian

#: Rows that are summed at a time: a fixed number, so that the sums do not depend on the chunks.
_SUM_ROWS = 1024
#: Numbers of components that are tried, rows on which they are, and the share of values that are hidden.
_COMPONENTS, _TRIAL_ROWS, _HIDDEN = (1, 2, 3, 5, 8, 13), 2000, 0.05


@dataclass(frozen=True, eq=False)
class Imputation:
    """How missing values are filled in, learnt from training rows and applied to new ones.

    Attributes
    ----------
    method : {"mean", "ppca"}
        "ppca" is the expected value given the observed values of the row, in the model of
        :class:`eigenscape.ProbabilisticPCA` for standardised columns.
    means : ndarray of shape (n_features,)
        Mean of the observed values of each column.
    scales : ndarray of shape (n_features,) or None
        Standard deviation of each column ("ppca").
    model : LatentGaussian or None
        The model of the standardised columns ("ppca").
    error : float or None
        Root mean square error on training values that were hidden, in units of their standard deviation, as
        the mean has an error of 1 ("ppca").
    n_values, n_rows : int
        Number of values that were filled in, and of rows with at least one of them.
    """

    method: str
    means: np.ndarray
    scales: np.ndarray | None = None
    model: LatentGaussian | None = None
    error: float | None = None
    n_values: int = 0
    n_rows: int = 0

    def __call__(self, rows: Any) -> Any:
        """Return the rows with missing values filled in; the type is kept."""
        if isinstance(rows, sparse.csr_array):
            gaps = np.isnan(rows.data)
            data = np.where(gaps, self.means[rows.indices], rows.data).astype(rows.dtype)
            return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
        gaps = np.isnan(rows)
        if not gaps.any():
            return rows
        filled = np.where(gaps, self.means, rows)
        if self.model is not None and self.scales is not None:
            partial = np.flatnonzero(gaps.any(axis=1) & ~gaps.all(axis=1))
            scaled = (np.asarray(rows[partial], dtype=np.float64) - self.means) / self.scales
            expected = _expected(self.model, scaled) * self.scales + self.means
            filled[partial] = np.where(gaps[partial], expected, rows[partial])
        return filled.astype(rows.dtype, copy=False)

    def to_notes(self) -> dict[str, Any]:
        """Return a description that JSON can store."""
        notes: dict[str, Any] = {"method": self.method, "means": self.means.tolist()}
        if self.model is not None and self.scales is not None:
            notes |= {
                "scales": self.scales.tolist(),
                "center": self.model.mean.tolist(),
                "loadings": self.model.loadings.tolist(),
                "noise": float(self.model.noise),
            }
        return notes

    @staticmethod
    def from_notes(notes: dict[str, Any]) -> Imputation:
        """Return the imputation that a description of :meth:`to_notes` describes."""
        from eigenscape.methods.probabilistic_pca import LatentGaussian

        model, scales = None, None
        if "loadings" in notes:
            scales = np.array(notes["scales"], dtype=np.float64)
            loadings = np.array(notes["loadings"], dtype=np.float64)
            model = LatentGaussian(np.array(notes["center"], np.float64), loadings, float(notes["noise"]))
            if not len(scales) == len(model.mean) == len(loadings) == len(notes["means"]):
                raise ValueError("the numbers that missing values are filled in with have different lengths")
        if notes["method"] not in ("mean", "ppca"):
            raise ValueError("unknown method of imputation")
        return Imputation(notes["method"], np.array(notes["means"], dtype=np.float64), scales, model)


@dataclass(frozen=True, eq=False)
class ImputedChunks:
    """Chunks of rows with missing values filled in."""

    chunks: Iterable[Any]
    imputation: Imputation

    def __iter__(self) -> Iterator[Any]:
        for chunk in self.chunks:
            yield self.imputation(chunk)


def impute(table: Table, method: str, known: Imputation | None = None) -> Table:
    """Fill in the missing values of a table without infinite values.

    Parameters
    ----------
    table : Table
        The table, whole or in chunks.
    method : {"mean", "ppca"}
        The method.
    known : Imputation, optional
        The imputation of the training rows of a model, which is used instead of the means of this table.
    """
    streamed = not hasattr(table.array, "shape")
    if method == "ppca" and known is None and (streamed or sparse.issparse(table.array)):
        needs = "all rows in memory" if streamed else "dense rows"
        raise InputFileError(f"missing='ppca' needs {needs}; use missing='mean' (--missing mean)")
    if known is not None and streamed:  # what is missing is not counted
        return replace(table, array=ImputedChunks(table.array, known), imputation=known)
    means, n_values, n_rows = _observed_means(table)
    if known is not None and len(known.means) != len(means):
        raise InputFileError(
            f"{table.source} has {len(means)} columns, but the model fills in missing values of"
            f" {len(known.means)}"
        )
    if known is None and np.isnan(means).any():
        raise empty_column_error(table.names[int(np.isnan(means).argmax())], table.source)
    found = known or Imputation("mean", means)
    if known is None and method == "ppca" and n_values:
        found = _fit_ppca(np.asarray(table.array, dtype=np.float64), means)
    found = replace(found, n_values=n_values, n_rows=n_rows)
    array = ImputedChunks(table.array, found) if streamed else found(table.array)
    return replace(table, array=array, imputation=found)


def _fixed_blocks(chunks: Iterable[Any]) -> Iterator[np.ndarray]:
    """Yield dense blocks of ``_SUM_ROWS`` rows, the last of them shorter."""
    rest: np.ndarray | None = None
    for chunk in chunks:
        rows = chunk.toarray() if is_sparse(chunk) else np.asarray(chunk)
        rest = rows if rest is None else np.concatenate([rest, rows])
        while len(rest) >= _SUM_ROWS:
            yield rest[:_SUM_ROWS]
            rest = rest[_SUM_ROWS:]
    if rest is not None and len(rest):
        yield rest


def _observed_means(table: Table) -> tuple[np.ndarray, int, int]:
    """Return the mean of the observed values of each column, the number of missing values and of their rows.

    A column without values has the mean NaN.
    """
    array, n_gaps, n_rows = table.array, 0, 0
    chunks = array
    totals, counts = np.zeros(()), np.zeros((), dtype=np.intp)
    if hasattr(array, "shape"):
        chunks = (array[part] for part in row_blocks(array.shape[0], 8 * max(array.shape[1], 1)))
    for block in _fixed_blocks(chunks):
        gaps = np.isnan(block)
        totals = totals + np.where(gaps, 0.0, block.astype(np.float64)).sum(axis=0)
        counts = counts + len(block) - gaps.sum(axis=0)
        n_gaps, n_rows = n_gaps + int(gaps.sum()), n_rows + int(gaps.any(axis=1).sum())
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan), n_gaps, n_rows


def _fit_ppca(X: np.ndarray, means: np.ndarray) -> Imputation:
    """Fit probabilistic PCA to standardised columns, with the number of components of the least error."""
    scales = np.nanstd(X, axis=0)
    scales = np.where(scales > 0, scales, 1.0)
    rows = (X - means) / scales
    rows = rows[~np.isnan(rows).all(axis=1)]
    trials = [q for q in _COMPONENTS if q < min(rows.shape[1], len(rows) - 1)]
    if not trials:  # one column, or too few rows: nothing to learn from
        return Imputation("ppca", means)
    count, error = _choose_components(rows, trials)
    return Imputation("ppca", means, scales, _fit(rows, count), error)


def _choose_components(rows: np.ndarray, trials: list[int]) -> tuple[int, float | None]:
    """Return the number of components that predicts hidden values best, and its error."""
    random = np.random.default_rng(0)
    part = rows[np.sort(random.permutation(len(rows))[:_TRIAL_ROWS])]
    share = max(_HIDDEN, min(0.2, 20 / part.size))
    hidden = ~np.isnan(part) & (random.random(part.shape) < share)
    shown = np.where(hidden, np.nan, part)
    usable = ~np.isnan(shown).all(axis=1)
    hidden[:, np.isnan(shown).all(axis=0)] = False
    part, hidden = part[usable], hidden[usable]
    shown = np.where(hidden, np.nan, part)
    if not hidden.any():
        return trials[0], None
    best, least = trials[0], np.inf
    for count in trials:
        expected = _expected(_fit(shown, count), shown)
        error = float(np.sqrt(np.mean((expected - part)[hidden] ** 2)))
        if error >= least:
            break
        best, least = count, error
    return best, least


def _fit(rows: np.ndarray, n_components: int) -> LatentGaussian:
    from eigenscape.estimators.probabilistic_pca import ProbabilisticPCA
    from eigenscape.methods.probabilistic_pca import LatentGaussian

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: the error on hidden values is measured
        model = ProbabilisticPCA(n_components=n_components, tol=1e-5, max_iter=300).fit(rows)
    return LatentGaussian(model.mean_, model.loadings_, float(model.noise_variance_))


def _expected(model: LatentGaussian, rows: np.ndarray) -> np.ndarray:
    """Return ``E[y | observed values]`` of each row (Burges eq. 1.7)."""
    from eigenscape.methods.observed_data import observed_data
    from eigenscape.methods.probabilistic_pca import compute_posterior

    if not len(rows):
        return rows
    return compute_posterior(model, observed_data(rows, training=False)).means @ model.loadings.T + model.mean
