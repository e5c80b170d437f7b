"""
New cells on a reference
========================

:mod:`eigenscape.sc` follows scanpy's conventions: neighbours, a diffusion map and pseudotime of a reference, and new cells placed on it with
labels and novelty. The cells are simulated.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from eigenscape import sc

rng = np.random.default_rng(0)
time = rng.random(900)
branch = rng.integers(0, 2, 900)
late = np.maximum(time - 0.5, 0)
path = np.column_stack([time, late * (branch * 2 - 1)])
X = (path @ rng.standard_normal((2, 30)) * 4 + 0.25 * rng.standard_normal((900, 30))).astype("float32")
kind = np.where(time < 0.5, "early", np.where(branch == 1, "late A", "late B"))
cells = anndata.AnnData(
    X,
    obs=pd.DataFrame({"kind": pd.Categorical(kind)}, index=[f"cell_{i}" for i in range(900)]),
    var=pd.DataFrame(index=[f"gene_{i}" for i in range(30)]),
)
reference, new = cells[:700].copy(), cells[700:].copy()

sc.pp.neighbors(reference, use_rep="X")
sc.tl.diffmap(reference)
sc.tl.dpt(reference, root=reference.obs_names[int(np.argmin(time[:700]))])
del new.obs["kind"]
sc.tl.place(new, reference, obs="kind")

print(new.obs.head(3).round(3))
print(f"labels correct: {np.mean(new.obs['kind'] == kind[700:]):.1%}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
Y, Z = reference.obsm["X_diffmap"], new.obsm["X_diffmap"]
left.scatter(Y[:, 1], Y[:, 2], c=reference.obs["dpt_pseudotime"], s=8)
left.set_title("reference, pseudotime")
right.scatter(Y[:, 1], Y[:, 2], c="lightgrey", s=8)
right.scatter(Z[:, 1], Z[:, 2], c=time[700:], s=12)
right.set_title("new cells, true time")
plt.show()
