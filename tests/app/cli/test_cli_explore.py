"""Options of the explorer that are refused before anything is started."""

import numpy as np
import pytest
from test_cli import bad, write_csv

pytest.importorskip("uvicorn")


@pytest.mark.long
def test_options_are_refused_with_a_remedy(tmp_path):
    table = write_csv(tmp_path / "table.csv", np.random.default_rng(0).random((30, 4)), list("abcd"))
    assert "--allow-remote" in bad("explore", table, "--host", "0.0.0.0")
    assert "HEIGHTxWIDTH" in bad("explore", table, "--images", "8by8")
    assert "4 numbers" in bad("explore", table, "--images", "7x7", "--quiet")
    assert "not a model file" in bad("explore", table, table)
    assert "no such method" in bad("explore", table, "-m", "nothing")
    assert "--n-neighbors" in bad("explore", table, "-m", "isomap", "--n-neighbors", "500", "--quiet")
    assert ".csv" in bad("explore", table, "--annotations", "marks.txt", "--quiet")
