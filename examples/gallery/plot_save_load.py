"""
Save a model, place rows in another process
===========================================

Model files contain no code. A compact one keeps few training rows.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import eigenscape
from eigenscape import KernelPCA
from eigenscape.quality import aligned_error

X, y = load_digits(return_X_y=True)
model = KernelPCA(n_components=2).fit(X[:1000])
folder = Path(tempfile.mkdtemp())
eigenscape.save(model, folder / "whole.model")
eigenscape.save(model, folder / "compact.model", compact=100)

maps = {}
for name in ("whole", "compact"):
    again = eigenscape.load(folder / f"{name}.model")
    maps[name] = again.transform(X[1000:])
    difference = aligned_error(maps[name], model.transform(X[1000:]))
    size = (folder / f"{name}.model").stat().st_size / 1e3
    print(f"{name:8s} {size:6.0f} kB, difference {difference:.1e}")
print("the same places:", np.allclose(maps["whole"], model.transform(X[1000:])))

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
for ax, (name, Y) in zip(axes, maps.items(), strict=True):
    ax.scatter(*Y.T, c=y[1000:], cmap="tab10", s=8)
    ax.set_title(name)
plt.show()
