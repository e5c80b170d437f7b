"""Symmetric operators: Gram matrices, covariance matrices and their normalisations, by products ``K @ V``."""

from eigenscape.operators.centered_rows import CenteredRows, ScatterOperator, weighted_mean
from eigenscape.operators.gram import (
    BlockedOperator,
    DenseOperator,
    Operator,
    SparseOperator,
    as_operator,
    gram,
)
from eigenscape.operators.wrapped import CenteredOperator, ComplementOperator, DividedOperator, materialized

__all__ = [
    "BlockedOperator",
    "CenteredOperator",
    "CenteredRows",
    "ComplementOperator",
    "DenseOperator",
    "DividedOperator",
    "Operator",
    "ScatterOperator",
    "SparseOperator",
    "as_operator",
    "gram",
    "materialized",
    "weighted_mean",
]
