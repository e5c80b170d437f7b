"""
Few anchors, all rows
=====================

A map learnt from a sample of rows has the graph of the sample. A map by anchors has the graph of all rows, and as few unknowns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from eigenscape import LaplacianEigenmaps
from eigenscape.options import Anchors
from eigenscape.quality import aligned_error

X, t = make_swiss_roll(4000, random_state=0)
exact = LaplacianEigenmaps(n_components=2, n_neighbors=10).fit_transform(X)

# %%
# The same number of points, as a sample and as anchors.
numbers = [50, 100, 200, 400, 800]
errors = {"sample": [], "anchors": []}
for number in numbers:
    some = X[np.random.default_rng(0).permutation(len(X))[:number]]
    sample = LaplacianEigenmaps(n_components=2, n_neighbors=10).fit(some).transform(X)
    model = LaplacianEigenmaps(n_components=2, n_neighbors=10, approximation=Anchors(number)).fit(X)
    sample *= np.linalg.norm(exact) / np.linalg.norm(sample)  # coordinates depend on the number of edges
    errors["sample"].append(aligned_error(sample, exact))
    errors["anchors"].append(aligned_error(model.embedding_, exact))
    print(f"{number:4d}: sample {errors['sample'][-1]:.3f}, anchors {errors['anchors'][-1]:.3f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
for name, values in errors.items():
    left.loglog(numbers, values, "o-", label=name)
left.set(xlabel="points", ylabel="difference from the map of all rows")
left.legend()
right.scatter(*model.embedding_.T, c=t, s=3)
right.set_title("800 anchors")
plt.show()
