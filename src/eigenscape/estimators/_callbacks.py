"""Callbacks of scikit-learn 1.9 and later: the stages of a fit are tasks, whose steps are subtasks."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eigenscape._progress import reporting

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ModuleNotFoundError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Estimators have no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method."""
        return method


__all__ = ["CallbackSupportMixin", "report_tasks"]

#: Maximum number of subtasks of a stage.
_MAX_STEPS = 100


def report_tasks(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``fit``: its stages are reported to the callbacks of the estimator, if it has any."""

    @with_callbacks
    def fit_with_tasks(self: Any, *arguments: Any, **options: Any) -> Any:
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self)
        with reporting(self.verbose, also=TaskDisplay(self, context)):
            fitted = fit(self, *arguments, **options)
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes={})
        return fitted

    @functools.wraps(fit)
    def reported(self: Any, *arguments: Any, **options: Any) -> Any:
        state = vars(self)
        has_callbacks = "_skl_callbacks" in state or "_parent_callback_ctx" in state
        if not has_callbacks or "_callback_fit_ctx" in state:  # none, or within a fit that reports
            return fit(self, *arguments, **options)
        return fit_with_tasks(self, *arguments, **options)

    return reported


@dataclass(eq=False)
class _Task:
    """A running or finished stage."""

    context: Any
    total: float | None
    completed: float = 0.0
    n_reported: int = 0  # steps reported as subtasks
    running: bool = True

    @property
    def n_steps(self) -> int:
        """Number of subtasks that the work done so far corresponds to."""
        if not self.total:
            return 0
        return int(min(self.total, _MAX_STEPS) * min(1.0, self.completed / self.total))


class TaskDisplay:
    """A progress display that calls callbacks. What they return is ignored: no stage can be stopped."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self._estimator, self._context = estimator, context
        self._tasks: dict[str, _Task] = {}
        self._lock = threading.Lock()

    def add(self, name: str, total: float | None, bound: bool = False) -> None:
        with self._lock:
            context = self._context.subcontext(task_name=name, max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self._estimator)
            self._tasks[name] = _Task(context, total)

    def line(self, name: str) -> _Task:
        return self._tasks[name]

    def restart(self, name: str, total: float | None, bound: bool = False) -> None:
        task = self._tasks.get(name)
        if task is None or not task.running:
            self.add(name, total, bound)
        else:  # a stage within the stage, which has a total
            task.total, task.completed, task.n_reported = total, 0.0, 0

    def advance(self, name: str, steps: float) -> None:
        with self._lock:
            task = self._tasks[name]
            task.completed += steps
            while task.n_reported < task.n_steps:
                task.n_reported += 1
                step = task.context.subcontext(task_name="step")
                step.call_on_fit_task_begin(estimator=self._estimator)
                step.call_on_fit_task_end(estimator=self._estimator)

    def finish(self, name: str) -> None:
        with self._lock:
            task = self._tasks[name]
            if task.running:
                task.running = False
                task.context.call_on_fit_task_end(estimator=self._estimator)

    def close(self) -> None:
        """Do nothing: callbacks are torn down by scikit-learn."""
