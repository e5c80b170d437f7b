"""Methods that some parameters exclude."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any


class available_if:  # noqa: N801
    """A method that exists only if ``check(self)`` is True or raises no AttributeError.

    As ``sklearn.utils.metaestimators.available_if``, but the error of the check is the one that users see,
    since it names the parameter and the remedy.
    """

    def __init__(self, check: Callable[[Any], bool]) -> None:
        self.check = check

    def __call__(self, method: Callable[..., Any]) -> available_if:
        self.method = method
        update_wrapper(self, method)
        return self

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self.method
        if not self.check(instance):
            raise AttributeError(
                f"{self.method.__name__} is not available with these parameters of {owner.__name__}"
            )
        return MethodType(self.method, instance)
