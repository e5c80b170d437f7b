"""Gram matrices as symmetric operators: what a solver needs is ``K @ V``, not ``K``."""

from eigenscape.operators.gram import BlockedOperator, DenseOperator, Operator, SparseOperator, as_operator, gram
from eigenscape.operators.wrapped import CenteredOperator, ComplementOperator, DividedOperator, stored

__all__ = [
    "BlockedOperator",
    "CenteredOperator",
    "ComplementOperator",
    "DenseOperator",
    "DividedOperator",
    "Operator",
    "SparseOperator",
    "as_operator",
    "gram",
    "stored",
]
