"""
Next month's map looks like this month's
========================================

Maps of last month's and of this month's rows have arbitrary axes. :func:`~eigenscape.align` turns one onto the other by the rows that both
have; what remains is the change. The result is a model that places new rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from eigenscape import Isomap, align

X, t = make_swiss_roll(1500, random_state=0)
rng = np.random.default_rng(0)
turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
first, second = np.arange(1000), np.arange(500, 1500)  # 500 rows in common
one = Isomap(n_neighbors=10).fit(X[first])
two = Isomap(n_neighbors=10).fit(X[second] @ turn)  # other units, other axes

common = X[500:1000]
aligned = align(two, one, common @ turn, common)
print(f"remaining difference of the common rows: {aligned.alignment_error_:.3f} of the spread")

figure, axes = plt.subplots(1, 3, figsize=(10, 3))
axes[0].scatter(*one.embedding_.T, c=t[first], s=8)
axes[0].set_title("first")
axes[1].scatter(*two.embedding_.T, c=t[second], s=8)
axes[1].set_title("second, axes of its own")
axes[2].scatter(*one.transform(common).T, s=14, facecolors="none", edgecolors="grey")
axes[2].scatter(*aligned.transform(common @ turn).T, s=5)
axes[2].set_title("common rows, aligned")
plt.show()
