"""
Spectra, gaps and the dimension
===============================

The number of large eigenvalues of Isomap is the dimension of the data, if there is a gap. The intrinsic dimension from distances to
neighbours is a second opinion.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import Isomap, plot
from eigenscape.quality import intrinsic_dimension

rng = np.random.default_rng(0)
box = rng.random((500, 3)) * [2.4, 2.1, 1.9]  # three coordinates
X = np.column_stack([np.cos(box[:, 0]), np.sin(box[:, 0]), box[:, 1], box[:, 2]])  # bent, in four columns
model = Isomap(n_components=8, n_neighbors=10).fit(X)
dimension = intrinsic_dimension(X)
print(f"intrinsic dimension {dimension.value:.2f} ({dimension.low:.2f} to {dimension.high:.2f})")

figure, ax = plt.subplots(figsize=(6, 3.6))
plot.spectrum(model, ax=ax)
plt.show()
