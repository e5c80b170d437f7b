"""Reading and writing tables and models.

Public names of :mod:`eigenscape.app.io`.
"""

from eigenscape.app.io import (
    Table,
    check_target,
    describe,
    export_onnx,
    load,
    read,
    save,
    whole_file,
    write_table,
)

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
