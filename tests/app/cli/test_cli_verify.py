"""``eigenscape info MODEL --verify [INPUT]``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_cli import bad, good, run, write_csv

import eigenscape


@pytest.fixture
def files(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 4))
    table, model = tmp_path / "rows.csv", tmp_path / "rows.model"
    write_csv(table, X)
    good("embed", table, "-m laplacian-eigenmaps --standardize --quiet --save", model)
    return table, model


@pytest.mark.long
def test_a_saved_model_is_verified(files) -> None:
    table, model = files
    assert "training rows:  not checked" in good("info", model, "--verify").stdout
    shown = good("info", model, "--verify", table).stdout
    assert "LaplacianEigenmaps: verified" in shown
    assert "training rows:  ok" in shown
    found = json.loads(good("info", model, "--verify", table, "--json").stdout)["verification"]
    assert found["passed"] is True
    assert len(found["checks"]) == 3
    assert "--verify only" in bad("info", model, table)


@pytest.mark.long
def test_a_changed_model_fails_with_exit_code_1(files, tmp_path) -> None:
    changed = eigenscape.load(files[1])
    estimator = changed.steps[-1][1] if hasattr(changed, "steps") else changed
    estimator._model_.eigenfunctions.pairs.vectors[0, 1] += 0.1
    eigenscape.save(changed, tmp_path / "changed.model")
    result = run("info", tmp_path / "changed.model", "--verify", files[0])
    assert result.exit_code == 1
    assert "training rows:  FAILED" in result.stdout
    assert "verification" not in json.loads(good("info", files[1], "--json").stdout)
