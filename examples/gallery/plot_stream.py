"""
A stream in one pass
====================

Chunks arrive one after another and are not kept. A dictionary of few rows grows as long as new rows are not in its span.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import GreedySpectralEmbedding, KernelPCA
from eigenscape.options import Dictionary
from eigenscape.quality import aligned_error

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 5000)
X = np.column_stack([np.cos(angle), np.sin(angle), 0.3 * np.sin(3 * angle)]) + 0.03 * rng.standard_normal(
    (5000, 3)
)

model = GreedySpectralEmbedding(n_components=2, gamma=1.0, dictionary=Dictionary(tol=1e-3))
sizes = []
for chunk in np.array_split(X, 25):
    model.partial_fit(chunk)
    sizes.append(len(model.dictionary_))
placed = model.transform(X[:1500])

# %%
# The same kernel on 1500 rows, without a dictionary, gives the same map:
whole = KernelPCA(n_components=2, gamma=1.0).fit(X[:1500])
print(f"dictionary: {sizes[-1]} of {len(X)} rows; error bound {model.gram_error_bound_:.3g}")
print(f"difference from kernel PCA of 1500 rows: {aligned_error(placed, whole.embedding_):.3f} of the spread")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(np.arange(1, 26) * 200, sizes, "o-")
left.set(xlabel="rows seen", ylabel="rows in the dictionary")
right.scatter(*placed.T, c=angle[:1500], cmap="twilight", s=8)
right.set_title("the map")
plt.show()
