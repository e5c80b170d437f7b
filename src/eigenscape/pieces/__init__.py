"""Graphs and kernels with several connected components: split them, embed each part, join the embeddings."""

from eigenscape.pieces.embedding import Piece, PiecewiseEmbedding, SinglePiece, embed_columns, merge_columns
from eigenscape.pieces.split import (
    ON_DISCONNECTED,
    Affinity,
    OnDisconnected,
    Split,
    join,
    split_affinity,
    split_graph,
)

__all__ = [
    "ON_DISCONNECTED",
    "Affinity",
    "OnDisconnected",
    "Piece",
    "PiecewiseEmbedding",
    "SinglePiece",
    "Split",
    "embed_columns",
    "join",
    "merge_columns",
    "split_affinity",
    "split_graph",
]
