"""Embeddings of data in several pieces: one for each connected component, or of the largest alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape.eigenfunctions import Embedding, Functions
from eigenscape.graph.sparse_distances import with_explicit_zeros
from eigenscape.kernels.base import BoundKernel, n_points


@dataclass(frozen=True, eq=False)
class Piece:
    """The embedding of some training points; None for a point alone, which has no coordinates but the
    origin."""

    embedding: Embedding | PiecewiseEmbedding | None
    members: np.ndarray
    by_table: (
        bool  # a point is its row of distances to all training points: this piece takes the members' columns
    )
    merge: np.ndarray | None = (
        None  # (n_samples,) the piece's column that each column of a sparse table belongs to
    )

    @property
    def columns(self) -> np.ndarray:
        """The training points that the piece's kernel has columns for."""
        return self.members if self.embedding is None else self.members[self.embedding.columns]

    def view(self, Y: Any) -> Any:
        if not self.by_table:
            return Y
        if self.merge is not None and sparse.issparse(Y):
            return merge_columns(Y, self.merge, len(self.members))
        return Y[:, self.members]


@dataclass(frozen=True, eq=False)
class ViewedKernel:
    """The kernel of a single piece, for points in the form that all training points have."""

    piece: Piece
    table: Any

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.table[self.piece.columns]

    def __call__(self, Y: Any) -> Any:
        assert self.piece.embedding is not None
        return self.piece.embedding.kernel(self.piece.view(Y))


@dataclass(frozen=True, eq=False)
class BlockKernel:
    """Block-diagonal kernel: a point has similarities within its own piece only."""

    pieces: tuple[Piece, ...]
    assign: Callable[[Any], np.ndarray]
    table: Any
    members: np.ndarray  # the training points that have columns, in order

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.table[self.members]

    def __call__(self, Y: Any) -> sparse.csr_array:
        label = self.assign(Y)
        rows, columns, values = [], [], []
        for number, piece in enumerate(self.pieces):
            mine = np.flatnonzero(label == number)
            if piece.embedding is None or len(mine) == 0:
                continue
            block = sparse.coo_array(piece.embedding.kernel(piece.view(Y[mine])))
            rows.append(mine[block.row])
            columns.append(np.searchsorted(self.members, piece.columns[block.col]))
            values.append(block.data)
        shape = (len(label), len(self.members))
        if not rows:
            return sparse.csr_array(shape)
        return sparse.csr_array(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape
        )


@dataclass(frozen=True, eq=False)
class PiecewiseEmbedding:
    """Several embeddings side by side. A point belongs to the piece of its nearest training point.

    A piece with fewer coordinates than asked for (it has too few points) is filled up with zeros.
    """

    pieces: tuple[Piece, ...]
    assign: Callable[[Any], np.ndarray]
    X: Any
    n_components: int

    __repr__ = short_repr

    @property
    def kernel(self) -> BoundKernel:
        if len(self.pieces) == 1:
            return ViewedKernel(self.pieces[0], self.X)
        return BlockKernel(self.pieces, self.assign, self.X, self.columns)

    @property
    def columns(self) -> np.ndarray:
        """The training points that the kernel has columns for: those of the pieces."""
        return np.sort(np.concatenate([piece.columns for piece in self.pieces]))

    @property
    def n_train(self) -> int:
        return sum(len(piece.columns) for piece in self.pieces)

    @property
    def eigenvalues(self) -> np.ndarray:
        """(n_pieces, n_components): the spectrum of each piece, zeros where it has no more."""
        return self._spectra(lambda embedding: embedding.eigenvalues)

    @property
    def residuals(self) -> np.ndarray:
        return self._spectra(lambda embedding: embedding.residuals)

    def _spectra(self, read: Callable[[Embedding | PiecewiseEmbedding], np.ndarray]) -> np.ndarray:
        if len(self.pieces) == 1 and self.pieces[0].embedding is not None:
            return read(self.pieces[0].embedding)
        table = np.zeros((len(self.pieces), self.n_components))
        for row, piece in zip(table, self.pieces, strict=True):
            if piece.embedding is not None:
                values = read(piece.embedding)
                row[: len(values)] = values
        return table

    @property
    def solver(self) -> str:
        return ", ".join(sorted({p.embedding.solver for p in self.pieces if p.embedding is not None}))

    @property
    def n_iter(self) -> int:
        return max(p.embedding.n_iter for p in self.pieces if p.embedding is not None)

    @property
    def coordinates(self) -> np.ndarray:
        return self.transform(self.X)

    def transform(self, Y: Any) -> np.ndarray:
        return self._gather(Y, lambda embedding, points: embedding.transform(points))

    def functions(self, Y: Any) -> np.ndarray:
        return self._gather(Y, lambda embedding, points: embedding.functions(points))

    def _gather(
        self, Y: Any, evaluate: Callable[[Embedding | PiecewiseEmbedding, Any], np.ndarray]
    ) -> np.ndarray:
        label = self.assign(Y)
        out = np.zeros((len(label), self.n_components))
        for number, piece in enumerate(self.pieces):
            mine = np.flatnonzero(label == number)
            if piece.embedding is not None and len(mine):
                values = evaluate(piece.embedding, piece.view(Y[mine]))
                out[mine, : values.shape[1]] = values
        return out

    def parts(self, Y: Any) -> Iterator[tuple[Functions, Any]]:
        label = self.assign(Y)
        for number, piece in enumerate(self.pieces):
            mine = np.flatnonzero(label == number)
            if piece.embedding is not None and len(mine):
                yield from piece.embedding.parts(piece.view(Y[mine]))


@dataclass(frozen=True, eq=False)
class OnePiece:
    """Every point belongs to piece 0."""

    def __call__(self, Y: Any) -> np.ndarray:
        return np.zeros(n_points(Y), dtype=np.intp)


def on_columns(
    embedding: Embedding | PiecewiseEmbedding,
    members: np.ndarray,
    group: np.ndarray,
    X: Any,
    n_components: int,
) -> PiecewiseEmbedding:
    """An embedding that takes rows of a table over all training points ``X`` but was learnt on the columns
    ``members``.

    ``group`` says which of them stands for each column: equal points were merged.
    """
    return PiecewiseEmbedding((Piece(embedding, members, True, group),), OnePiece(), X, n_components)


def merge_columns(table: Any, group: np.ndarray, n_groups: int) -> sparse.csr_array:
    """A sparse table of distances in which columns of one group are one: the least of their entries."""
    table = sparse.coo_array(with_explicit_zeros(table))
    row, column = table.row, group[table.col]
    order = np.lexsort((table.data, column, row))
    row, column, length = row[order], column[order], table.data[order]
    first = np.ones(len(row), dtype=bool)
    first[1:] = (np.diff(row) > 0) | (np.diff(column) > 0)
    return sparse.csr_array((length[first], (row[first], column[first])), shape=(table.shape[0], n_groups))
