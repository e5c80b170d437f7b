"""
Novelty in the eigen-space
==========================

:class:`~eigenscape.EigenspaceDensity` joins two ways of being unusual: coordinates where there are few rows, and a distance from the
span of the eigenfunctions, for rows that the coordinates do not describe. It is trained on zeros, and shown all digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from eigenscape import EigenspaceDensity

X, y = load_digits(return_X_y=True)
zeros, others = X[y == 0], X[y != 0]
model = EigenspaceDensity().fit(zeros[:120])
new = np.concatenate([zeros[120:], others])
is_zero = np.arange(len(new)) < len(zeros) - 120

scores = {
    "density of the coordinates": model.score_samples(new),
    "distance from the span": -model.span_distances(new),
    "both": model.decision_function(new),
}
for name, score in scores.items():
    print(f"{name:27s} area under the ROC curve {roc_auc_score(is_zero, score):.3f}")

# %%
# New zeros that are called unusual, and other digits that pass for zeros:
found = model.decision_function(new)
order = np.argsort(found)
odd = order[is_zero[order]][:6]
alike = order[~is_zero[order]][::-1][:6]
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 2.9))
for ax, rows, title in ((top, odd, "least usual new zeros"), (bottom, alike, "most usual other digits")):
    ax.imshow(np.hstack(new[rows].reshape(-1, 8, 8)), cmap="gray_r")
    ax.set_title(f"{title}: scores {', '.join(f'{found[r]:.1f}' for r in rows)}", fontsize=9)
    ax.set(xticks=[], yticks=[])
plt.show()
print(
    f"called outliers: {np.mean(found[is_zero] < 0):.0%} of new zeros, {np.mean(found[~is_zero] < 0):.0%} of other digits"
)
