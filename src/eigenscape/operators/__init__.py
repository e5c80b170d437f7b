"""Gram matrices as symmetric operators: what a solver needs is ``K @ V``, not ``K``."""

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
