"""Gram matrices as symmetric operators: what a solver needs is ``K @ V``, not ``K``."""

from eigenscape.operators.gram import (
    BlockedOperator,
    DenseOperator,
    Operator,
    SparseOperator,
    as_operator,
    gram,
)
from eigenscape.operators.rows import CenteredRows, CrossOperator, weighted_mean
from eigenscape.operators.wrapped import CenteredOperator, ComplementOperator, DividedOperator, stored

__all__ = [
    "BlockedOperator",
    "CenteredOperator",
    "CenteredRows",
    "ComplementOperator",
    "CrossOperator",
    "DenseOperator",
    "DividedOperator",
    "Operator",
    "SparseOperator",
    "as_operator",
    "gram",
    "stored",
    "weighted_mean",
]
