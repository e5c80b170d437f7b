"""The context in which estimators compute: progress, callbacks and threads, or blocks of dask collections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial, update_wrapper, wraps
from importlib.util import find_spec
from types import MethodType
from typing import Any

from eigenscape._parameters import check_parameters
from eigenscape._progress import Line, reporting
from eigenscape._threads import kept_threads
from eigenscape.distributed import call_on_blocks, is_collection
from eigenscape.exceptions import NotConvergedError
from eigenscape.options import warn_unused
from eigenscape.solvers.solve import failures

#: Whether scikit-learn has callbacks. Their module loads rich, so it is imported when they are used.
HAS_CALLBACKS = find_spec("sklearn.callback") is not None  # since 1.9

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
#: Maximum number of subtasks of a stage.
_MAX_STEPS = 100


@contextmanager
def running(estimator: Any, fit: bool = False) -> Iterator[list[NotConvergedError]]:
    """Report progress if ``verbose``, and follow the thread policy (:mod:`eigenscape._threads`).

    Failures of eigensolvers are raised at the end; until then they are in the list. If ``fit``, fitted
    attributes are deleted at the beginning, before the parameters are checked, and if an eigensolver failed;
    and the stages are tasks of scikit-learn's callbacks, which get the fitted estimator at the end.
    """
    if fit:
        estimator._reset()
        check_parameters(estimator)
        if estimator._pairwise_parameter == "affinity":
            warn_unused(estimator)
    state = vars(estimator)
    has_callbacks = "_skl_callbacks" in state or "_parent_callback_ctx" in state
    reports = fit and has_callbacks and "_callback_fit_ctx" not in state  # not within a fit that reports
    found: list[NotConvergedError] = []
    with (
        _tasks(estimator) if reports else nullcontext(),
        reporting(True) if estimator.verbose else nullcontext(),
        kept_threads(getattr(estimator, "n_jobs", None)),
    ):
        token = failures.set(found)
        try:
            yield found
        except NotConvergedError as error:
            found.append(error)
        finally:
            failures.reset(token)
            if found:  # the cause of any other error
                if fit:
                    estimator._reset()
                raise found[0]


fitting = partial(running, fit=True)


def set_callbacks(self: Any, *callbacks: Any) -> Any:
    """Set the callbacks of ``fit``; none removes them.

    Parameters
    ----------
    *callbacks : callback instances
        The callbacks; see :mod:`sklearn.callback`.

    Returns
    -------
    self
    """
    from sklearn.callback import CallbackSupportMixin

    return CallbackSupportMixin.set_callbacks(self, *callbacks)


def by_blocks(way: str, **described: Any) -> _Decorator:
    """Decorate a method: for a collection, the function ``way`` of ``distributed`` is called instead.

    Its arguments are the estimator, the name of the method and the arguments of the method; ``described`` are
    keyword arguments on the output.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        name, first = method.__name__, method.__code__.co_varnames[1]  # after self

        @wraps(method)
        def turned_off(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_collection(args[0] if args else kwargs.get(first)):
                return method(self, *args, **kwargs)
            with fitting(self) if name == "fit" else running(self):
                found = call_on_blocks(way, self, name, *args, **kwargs, **described)
            return self if found is None else found  # None of a fit

        return turned_off

    return decorate


def rowwise(columns: str | None = "_n_features_out", **described: Any) -> _Decorator:
    """Decorate a method with one row of output per row of input.

    For the arguments see :func:`eigenscape.distributed.dispatch.map_rows`.
    """
    return by_blocks("dispatch.map_rows", columns=columns, **described)


#: A mean over the rows of ``X``.
averaged = by_blocks("dispatch.mean_over_rows")
#: ``loss`` and ``loss_curve``, means over the pairs of rows of ``X``.
paired = by_blocks("dispatch.losses_of_pairs")


class available_if:  # noqa: N801
    """A method that exists only if ``check(self)`` raises no AttributeError.

    As ``sklearn.utils.metaestimators.available_if``, but the error of the check is the one that users see,
    since it names the parameter and the remedy.
    """

    def __init__(self, check: Callable[[Any], object]) -> None:
        self.check = check

    def __call__(self, method: Callable[..., Any]) -> available_if:
        self.method = method
        update_wrapper(self, method)
        return self

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self.method
        self.check(instance)
        return MethodType(self.method, instance)


@contextmanager
def _tasks(estimator: Any) -> Iterator[None]:
    """Report a fit and its stages to the callbacks of the estimator."""
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context

    with callback_management_context(estimator):
        context = CallbackSupportMixin._init_callback_context(estimator, max_subtasks=None)
        context.call_on_fit_task_begin(estimator=estimator)
        with reporting(estimator.verbose, also=TaskDisplay(estimator, context)):
            yield
        context.call_on_fit_task_end(estimator=estimator, reconstruction_attributes={})


class TaskDisplay:
    """A progress display that calls callbacks. What they return is ignored: no stage can be stopped."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self._estimator, self._context = estimator, context
        self._tasks: dict[str, Any] = {}  # contexts of running stages
        self._reported: dict[str, tuple[float, int]] = {}  # beginning of a stage, and its steps so far

    def show(self, line: Line) -> None:
        task = self._tasks.get(line.name)
        if task is None:
            task = self._tasks[line.name] = self._context.subcontext(task_name=line.name, max_subtasks=None)
            task.call_on_fit_task_begin(estimator=self._estimator)
        if not line.running:
            self._tasks.pop(line.name).call_on_fit_task_end(estimator=self._estimator)
            return
        began, reported = self._reported.get(line.name, (0.0, 0))
        for _ in range(reported if began == line.stage_began else 0, n_steps(line)):
            step = task.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)
        self._reported[line.name] = line.stage_began, n_steps(line)

    def close(self) -> None:
        """Do nothing: callbacks are torn down by scikit-learn."""


def n_steps(line: Line) -> int:
    """Return the number of subtasks that the work done by a stage corresponds to."""
    if not line.total:
        return 0
    total, completed = line.total - line.earlier, line.completed - line.earlier
    return int(min(total, _MAX_STEPS) * min(1.0, completed / total)) if total > 0 else 0
