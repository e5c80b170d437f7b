"""Optional dependencies: import a package or name the extra that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from eigenscape.exceptions import MissingDependencyError

#: The extra of ``pip install "eigenscape[...]"`` that installs each optional package.
EXTRAS = {
    "anndata": "anndata",
    "anywidget": "notebook",
    "dask": "dask",
    "distributed": "dask",
    "jinja2": "cli",
    "matplotlib": "plot",
    "msgspec": "explore",
    "numpydoc": "cli",
    "onnx": "onnx",
    "PIL": "cli",
    "pyarrow": "cli",
    "rich": "cli",
    "starlette": "explore",
    "traitlets": "notebook",
    "typer": "cli",
    "uvicorn": "explore",
}


def optional_import(module: str, purpose: str) -> Any:
    """Import an optional dependency.

    Parameters
    ----------
    module : str
        Name of the module, such as ``"pyarrow.parquet"``.
    purpose : str
        What needs it, for the error message, such as ``"reading a parquet file"``.

    Raises
    ------
    MissingDependencyError
        If the package is not installed. The message names the extra that installs it.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        target = f'"eigenscape[{EXTRAS[package]}]"' if package in EXTRAS else package
        raise MissingDependencyError(
            f"{purpose} needs the package {package}, which is not installed;"
            f" install it with: pip install {target}",
            name=package,
        ) from error
