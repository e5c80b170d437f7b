"""Whether an error is one that the package raises on purpose."""

from __future__ import annotations

from pathlib import Path

import sklearn.utils.validation

import eigenscape

_PACKAGE = str(Path(eigenscape.__file__).parent)
_VALIDATION = str(Path(sklearn.utils.validation.__file__))


def is_own(error: BaseException) -> bool:
    """Return whether the package, or scikit-learn's validation of input, raised the error with a message.

    Errors from NumPy, SciPy or an assertion reached the user by accident.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = "" if trace is None else trace.tb_frame.f_code.co_filename
    accidental = isinstance(error, (AssertionError, IndexError, KeyError, ArithmeticError, Warning))
    return not accidental and bool(str(error)) and (file.startswith(_PACKAGE) or file == _VALIDATION)
