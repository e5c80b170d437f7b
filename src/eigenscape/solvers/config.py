"""Eigensolver configuration, and the interface of user-defined eigensolvers."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from eigenscape.operators import Operator
    from eigenscape.solvers.semidefinite import SemidefiniteProblem

SolverName = Literal["auto", "dense", "lanczos", "shift-invert", "multilevel"]
Order = Literal["value", "magnitude"]
NAMES: tuple[SolverName, ...] = ("auto", "dense", "lanczos", "shift-invert", "multilevel")


@runtime_checkable
class EigenSolver(Protocol):
    """Interface of a user-defined eigensolver.

    An object with these two methods may be passed wherever the name of an eigensolver is accepted. Its
    results are verified in the same way as those of the built-in solvers: the residuals ``|A v - l v|`` are
    computed from the operator, and pairs that are not determined by them are rejected with
    :class:`~eigenscape.exceptions.NotConvergedError`. Signs and the order of the pairs are normalised by the
    caller.
    """

    def principal(self, operator: Operator, count: int, order: Order) -> tuple[np.ndarray, np.ndarray]:
        """Compute the leading eigenpairs of a symmetric operator.

        Parameters
        ----------
        operator : Operator
            Symmetric operator with ``shape`` (m, m), the product ``matmat(V)``, ``diagonal()`` and
            ``matrix()``, which returns the dense or sparse matrix, or None if it is not stored.
        count : int
            Number of eigenpairs.
        order : {"value", "magnitude"}
            Whether the largest eigenvalues or those of largest magnitude are wanted.

        Returns
        -------
        values : ndarray of shape (count,)
        vectors : ndarray of shape (m, count)
            Orthonormal columns.
        """
        ...

    def smallest(self, problem: SemidefiniteProblem, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Compute the smallest eigenpairs of a positive semi-definite operator next to its null vector.

        Parameters
        ----------
        problem : SemidefiniteProblem
            The operator ``problem.operator``, its unit null vector ``problem.null`` (m,) and an upper bound
            ``problem.bound`` of its eigenvalues.
        count : int
            Number of eigenpairs, the null vector not counted.

        Returns
        -------
        values : ndarray of shape (count,)
        vectors : ndarray of shape (m, count)
            Orthonormal columns, orthogonal to ``problem.null``.
        """
        ...


@dataclass(frozen=True)
class SolverConfig:
    """Eigensolver configuration.

    Parameters
    ----------
    method : {"auto", "dense", "lanczos", "shift-invert", "multilevel"} or EigenSolver, default="auto"
        Eigensolver. See :mod:`eigenscape.solvers.solve` for the rule that "auto" follows.
    tol : float, default=1e-10
        Largest angle between a computed and the exact eigenvector: residual divided by spectral gap.
    max_iter : int or None, default=None
        Maximum number of block iterations. If None, the limit depends on the method.
    seed : int, default=0
        Seed of the starting vectors.
    n_jobs : int or None, default=None
        Number of threads for sparse products.
    parts : ndarray of shape (m,), optional
        The part of each point, from 0, if a graph was joined from parts by few edges.
    """

    method: SolverName | EigenSolver = "auto"
    tol: float = 1e-10
    max_iter: int | None = None
    seed: int = 0
    n_jobs: int | None = None
    parts: np.ndarray | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        method: object = self.method
        names = ", ".join(map(repr, NAMES))
        if isinstance(method, str):
            if method not in NAMES:
                raise ValueError(f"eigen_solver={method!r} is not known; choose one of {names}")
        elif isinstance(method, type) or not isinstance(method, EigenSolver):
            raise ValueError(
                f"eigen_solver={method!r} is not known; choose one of {names}, or pass an object with the"
                " methods principal(operator, count, order) and smallest(problem, count)"
            )
        tol: object = self.tol
        max_iter: object = self.max_iter
        if isinstance(tol, bool) or not isinstance(tol, numbers.Real) or not 0 <= float(tol) < np.inf:
            raise ValueError(f"tol={tol!r} must be a number of at least 0")
        if max_iter is not None and (
            isinstance(max_iter, bool) or not isinstance(max_iter, numbers.Integral) or int(max_iter) < 1
        ):
            raise ValueError(f"max_iter={max_iter!r} must be an integer of at least 1, or None")

    def steps(self, default: int) -> int:
        """Return the maximum number of block iterations: ``max_iter``, or ``default`` if it is None."""
        return default if self.max_iter is None else self.max_iter
