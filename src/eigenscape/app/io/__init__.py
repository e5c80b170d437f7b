"""Reading and writing tables and models, whole or in chunks of rows."""

from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

__all__ = [
    "Table",
    "check_target",
    "describe",
    "export_onnx",
    "load",
    "read",
    "save",
    "whole_file",
    "write_table",
]

if TYPE_CHECKING:
    from eigenscape.app.io.atomic import check_target, whole_file
    from eigenscape.app.io.models import describe, load
    from eigenscape.app.io.onnx_export import export_onnx
    from eigenscape.app.io.reading import read
    from eigenscape.app.io.saving import save
    from eigenscape.app.io.table import Table
    from eigenscape.app.io.writing import write_table

_MODULES = {
    "Table": "table",
    "check_target": "atomic",
    "describe": "models",
    "export_onnx": "onnx_export",
    "load": "models",
    "read": "reading",
    "save": "saving",
    "whole_file": "atomic",
    "write_table": "writing",
}
_HOMES = {name: f"{__name__}.{module}" for name, module in _MODULES.items()}
__getattr__, __dir__ = attach(__name__, _HOMES)
