"""The tables of ``rules.toml``: limits, rules, and texts of reports."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

TABLES: dict[str, Any] = tomllib.loads(files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
#: Limits of what is computed and shown, by name.
LIMITS = SimpleNamespace(**TABLES["limits"])
