"""Errors of the application: options or fields of a form that cannot be used."""

from __future__ import annotations


class CommandError(ValueError):
    """Raised if options or parameters given by the user are invalid or contradict each other."""
