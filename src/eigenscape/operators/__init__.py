"""Symmetric operators: Gram matrices, covariance matrices and their normalisations, by products ``K @ V``."""

from eigenscape.operators.centered_rows import CenteredRows, FactoredOperator, ScatterOperator, weighted_mean
from eigenscape.operators.gram import BlockedOperator, DenseOperator, Operator, SparseOperator, as_operator
from eigenscape.operators.similarity import (
    CenteredOperator,
    ComplementOperator,
    DividedOperator,
    centered,
    divided,
    gram,
    materialized,
    weighted,
)

__all__ = [
    "BlockedOperator",
    "CenteredOperator",
    "CenteredRows",
    "ComplementOperator",
    "DenseOperator",
    "DividedOperator",
    "FactoredOperator",
    "Operator",
    "ScatterOperator",
    "SparseOperator",
    "as_operator",
    "centered",
    "divided",
    "gram",
    "materialized",
    "weighted",
    "weighted_mean",
]
