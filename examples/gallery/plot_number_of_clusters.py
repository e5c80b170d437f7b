"""
The number of clusters, with the evidence
=========================================

``n_clusters="auto"`` looks for a large eigengap among the numbers whose clusters are stable under random weights of the rows. The
evidence is kept, and a warning is raised if there is little of it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from eigenscape import SpectralClustering
from eigenscape.exceptions import WeakEvidenceWarning

groups, _ = make_blobs(300, centers=4, cluster_std=1.5, random_state=3)
noise = np.random.default_rng(0).random((300, 2))

figure, axes = plt.subplots(2, 2, figsize=(9, 6), width_ratios=(1, 1.3))
for (left, right), (name, X) in zip(axes, {"four groups": groups, "no groups": noise}.items(), strict=True):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SpectralClustering("auto").fit(X)
    weak = any(issubclass(w.category, WeakEvidenceWarning) for w in caught)
    print(f"{name}: {model.n_clusters_} clusters{', with a WeakEvidenceWarning' if weak else ''}")
    left.scatter(*X.T, c=model.labels_, cmap="tab10", s=8, linewidths=0)
    left.set(title=f"{name}: {model.n_clusters_} clusters", xticks=[], yticks=[])
    evidence = model.cluster_evidence_
    right.plot(evidence["n_clusters"], evidence["stability"], "o-", label="stability")
    right.bar(evidence["n_clusters"], 5 * evidence["eigengap"], color="C1", label="eigengap (5 times)")
    right.axhline(0.9, color="grey", linewidth=0.8, linestyle=":")
    right.axvline(model.n_clusters_, color="grey", linewidth=0.8)
    right.set(xlabel="number of clusters", ylim=(0, 1.05), title="weak evidence" if weak else "evidence")
    right.legend(loc="center right")
plt.show()

# %%
# For noise "auto" returns 1 if no number has a stability of 0.8. The warning, and stabilities that are all below 0.9, tell
# that the rows may be a continuum.
