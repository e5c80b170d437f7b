"""Graphs and kernels with several connected components: split them, embed each part, join the embeddings."""

from eigenscape.pieces.embedding import (
    AnyEmbedding,
    Piece,
    PiecewiseEmbedding,
    SinglePiece,
    embed_columns,
    merge_columns,
    sub_table,
)
from eigenscape.pieces.split import (
    ON_DISCONNECTED,
    Action,
    Affinity,
    OnDisconnected,
    Split,
    join,
    split_affinity,
    split_graph,
)

__all__ = [
    "ON_DISCONNECTED",
    "Action",
    "Affinity",
    "AnyEmbedding",
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
    "sub_table",
]
