"""Embeddings of data in several pieces: one for each connected component, or of the largest only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._typing import Rows
from eigenscape.eigenfunctions import Part, Spectrum
from eigenscape.graph.sparse_distances import assemble, with_explicit_zeros
from eigenscape.kernels.base import BoundKernel, Columns, n_points

#: A function that returns the index of the piece of each point, or -1.
Assignment: TypeAlias = Callable[[Any], np.ndarray]
#: A fitted map: an Embedding, a PiecewiseEmbedding, or an OrdinalEmbedding, which has no kernel.
AnyEmbedding: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Piece:
    """The embedding of a subset of the training points.

    Parameters
    ----------
    embedding : Embedding or None
        None for a single point, whose coordinates are zero.
    members : ndarray of shape (n_members,)
        Indices of the training points.
    by_table : bool
        Whether points are rows of distances to all training points. The piece uses the columns of its
        members.
    merge : ndarray of shape (n_samples,) or None
        For each column of a sparse table of distances, the column of the piece that it is merged into.
    """

    _shapes: ClassVar = {"members": "m", "embedding.columns": "* < m"}
    embedding: AnyEmbedding | None
    members: np.ndarray
    by_table: bool
    merge: np.ndarray | None = None

    @property
    def columns(self) -> np.ndarray:
        """Indices of the training points that the kernel of the piece has columns for."""
        return self.members if self.embedding is None else self.members[self.embedding.columns]

    def restrict(self, Y: Rows) -> Any:
        """Return points in the form that the embedding of the piece takes."""
        if not self.by_table:
            return Y
        if self.merge is not None and sparse.issparse(Y):
            return merge_columns(Y, self.merge, len(self.members))
        return Y[:, self.members]


def assigned(
    pieces: Sequence[Piece], label: np.ndarray, Y: Any
) -> Iterator[tuple[int, Any, np.ndarray, Any]]:
    """Yield the number of each embedded piece, the piece, the indices of its points, and the points.

    ``label`` (n,) is the number of the piece of each point. Pieces without points are left out.
    """
    for number, piece in enumerate(pieces):
        mine = np.flatnonzero(label == number)
        if piece.embedding is not None and len(mine):
            yield number, piece, mine, piece.restrict(Y[mine])


def sub_table(table: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Return a part of the precomputed values between points; None if there are none."""
    return None if table is None else table[rows][:, columns]


@dataclass(frozen=True, eq=False)
class PieceKernel:
    """The kernel of a single piece, for points in the form of all training points."""

    piece: Piece
    table: Any

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.table[self.piece.columns]

    def __call__(self, Y: Rows) -> Any:
        assert self.piece.embedding is not None
        return self.piece.embedding.kernel(self.piece.restrict(Y))

    def to(self, Z: Rows) -> Columns:
        assert self.piece.embedding is not None
        base = self.piece.embedding.kernel.to(self.piece.restrict(Z))
        return lambda Y, table=None: base(self.piece.restrict(Y), table)


@dataclass(frozen=True, eq=False)
class BlockKernel:
    """Block-diagonal kernel: it is zero between points of different pieces."""

    _shapes: ClassVar = {"table": "n ...", "members": "m < n"}
    pieces: tuple[Piece, ...]
    assign: Assignment
    table: Any
    members: np.ndarray  # indices of the training points that have columns, ascending

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.table[self.members]

    def __call__(self, Y: Rows) -> sparse.csr_array:
        label = self.assign(Y)
        blocks = [
            (mine, np.searchsorted(self.members, piece.columns), piece.embedding.kernel(points))
            for _, piece, mine, points in assigned(self.pieces, label, Y)
        ]
        return assemble(blocks, (len(label), len(self.members)))

    def to(self, Z: Rows) -> Columns:
        column_label = self.assign(Z)
        bases = {
            number: (theirs, piece.embedding.kernel.to(points))
            for number, piece, theirs, points in assigned(self.pieces, column_label, Z)
        }

        def values(Y: Rows, table: Any = None) -> sparse.csr_array:
            label = self.assign(Y)
            blocks = []
            for number, _, mine, points in assigned(self.pieces, label, Y):
                if number in bases:
                    theirs, base = bases[number]
                    blocks.append((mine, theirs, base(points, sub_table(table, mine, theirs))))
            return assemble(blocks, (len(label), len(column_label)))

        return values


@dataclass(frozen=True, eq=False)
class PiecewiseEmbedding:
    """Embeddings of several pieces. A point belongs to the piece that ``assign`` returns.

    Missing coordinates of a piece with fewer than ``n_components`` coordinates are zero.
    """

    _shapes: ClassVar = {"X": "n ...", "weights": "n"}
    pieces: tuple[Piece, ...]
    assign: Assignment
    X: Any
    n_components: int
    weights: np.ndarray | None = None  # weights of the training points of all pieces; None if all are 1

    __repr__ = short_repr

    @property
    def kernel(self) -> BoundKernel:
        if isinstance(self.assign, SinglePiece):
            return PieceKernel(self.pieces[0], self.X)
        return BlockKernel(self.pieces, self.assign, self.X, self.columns)

    @property
    def columns(self) -> np.ndarray:
        """Indices of the training points that the kernel has columns for."""
        return np.sort(np.concatenate([piece.columns for piece in self.pieces]))

    @property
    def n_train(self) -> int:
        return sum(len(piece.columns) for piece in self.pieces)

    @property
    def mass(self) -> float:
        """Total weight of the training points; their number if they are not weighted."""
        if self.weights is None:
            return float(self.n_train)
        return float(sum(self.weights[piece.columns].sum() for piece in self.pieces))

    @property
    def eigenvalues(self) -> np.ndarray:
        """(n_pieces, n_components): the spectrum of each piece, padded with zeros."""
        return self.spectrum.eigenvalues

    @property
    def spectrum(self) -> Spectrum:
        """The eigenvalues of the coordinates, and how they were computed."""
        spectra = [None if piece.embedding is None else piece.embedding.spectrum for piece in self.pieces]
        known = [spectrum for spectrum in spectra if spectrum is not None]
        solver, n_iter = (
            ", ".join(sorted({each.solver for each in known})),
            max(each.n_iter for each in known),
        )
        if len(spectra) == 1 == len(known):
            return Spectrum(known[0].eigenvalues, known[0].residuals, solver, n_iter)
        values, residuals = np.zeros((2, len(spectra), self.n_components))
        for row, spectrum in enumerate(spectra):
            if spectrum is not None:
                values[row, : len(spectrum.eigenvalues)] = spectrum.eigenvalues
                residuals[row, : len(spectrum.residuals)] = spectrum.residuals
        return Spectrum(values, residuals, solver, n_iter)

    @property
    def coordinates(self) -> np.ndarray:
        return self.transform(self.X)

    def transform(self, Y: Rows) -> np.ndarray:
        """Return the coordinates of any points, (n_new, n_components)."""
        return self._gather(Y, scaled=True)

    def functions(self, Y: Rows) -> np.ndarray:
        """Return the unscaled eigenfunctions of the coordinates, (n_new, n_components)."""
        return self._gather(Y, scaled=False)

    def _gather(self, Y: Rows, scaled: bool) -> np.ndarray:
        label = self.assign(Y)
        out = np.zeros((len(label), self.n_components))
        for _, piece, mine, points in assigned(self.pieces, label, Y):
            values = piece.embedding.transform(points) if scaled else piece.embedding.functions(points)
            out[mine, : values.shape[1]] = values
        return out

    def parts(self, Y: Rows) -> Iterator[Part]:
        """Yield the points of each piece, without those that are in none."""
        for _, piece, mine, points in assigned(self.pieces, self.assign(Y), Y):
            for part in piece.embedding.parts(points):
                yield part._replace(which=mine[part.which])


@dataclass(frozen=True, eq=False)
class SinglePiece:
    """Assigns all points to piece 0."""

    def __call__(self, Y: Rows) -> np.ndarray:
        return np.zeros(n_points(Y), dtype=np.intp)


def embed_columns(
    embedding: AnyEmbedding,
    members: np.ndarray,
    vertex: np.ndarray | None,
    X: Any,
    n_components: int,
    weights: np.ndarray | None = None,
) -> PiecewiseEmbedding:
    """Return an embedding for rows of a table ``X`` of distances or similarities, learnt from ``members``.

    ``vertex`` (n_samples,) is the index in ``members`` of the point that each column is equal to; None if
    other columns are not used. ``weights`` (n_samples,) are the weights of the members, or None if all are 1.
    """
    piece = Piece(embedding, members, True, vertex)
    return PiecewiseEmbedding((piece,), SinglePiece(), X, n_components, weights)


def merge_columns(table: Any, group: np.ndarray, n_groups: int) -> sparse.csr_array:
    """Merge the columns of each group of a sparse table of distances, keeping the smallest entries."""
    table = sparse.coo_array(with_explicit_zeros(table))
    row, column = table.row, group[table.col]
    order = np.lexsort((table.data, column, row))
    row, column, length = row[order], column[order], table.data[order]
    first = np.ones(len(row), dtype=bool)
    first[1:] = (np.diff(row) > 0) | (np.diff(column) > 0)
    return sparse.csr_array((length[first], (row[first], column[first])), shape=(table.shape[0], n_groups))
