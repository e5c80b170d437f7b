"""Reports without drawings, for tests of their text and data."""

import pytest


@pytest.fixture
def empty_charts(monkeypatch):
    """Leave out the drawings of matplotlib, which take most of the time of a report.

    Reports of every kind of model have theirs in ``test_every_kind_of_model_has_a_report``.
    """
    monkeypatch.setattr("eigenscape.app.report._charts._svg", lambda ax, prefix: "<svg/>")  # noqa: ARG005
