"""AnnData objects of small data sets."""

from __future__ import annotations

import numpy as np
import pytest

anndata = pytest.importorskip("anndata", reason="eigenscape.sc needs the extra anndata")


@pytest.fixture
def adata():
    """300 cells of 12 genes near a curve, with labels."""
    import pandas as pd

    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 3, 300))
    genes = np.column_stack([np.cos((1 + j / 4) * t + j) for j in range(12)])
    cells = anndata.AnnData(genes + 0.1 * rng.standard_normal(genes.shape))
    cells.var_names = [f"gene{j}" for j in range(12)]
    cells.obs_names = [f"cell{i}" for i in range(300)]
    cells.obs["type"] = pd.Categorical(np.array(["early", "middle", "late"])[np.minimum(t, 2.9).astype(int)])
    cells.obs["t"] = t
    return cells


@pytest.fixture
def split(adata):
    """240 reference cells and 60 others."""
    new = np.zeros(300, dtype=bool)
    new[np.random.default_rng(1).permutation(300)[:60]] = True
    return adata[~new].copy(), adata[new].copy()
