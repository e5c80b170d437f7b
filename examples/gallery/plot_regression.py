"""
Values from forty rows
======================

The same for numbers: the way along a roll is known for 40 of 1200 rows (rings), and predicted everywhere else.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from eigenscape import EigenfunctionRegressor

X, t = make_swiss_roll(1500, random_state=0)
given = np.full(1200, np.nan)
given[:40] = t[:40]
model = EigenfunctionRegressor().fit(X[:1200], given)
predicted = model.predict(X[1200:])
print(f"R2 on rows not seen: {model.score(X[1200:], t[1200:]):.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.scatter(X[1200:, 0], X[1200:, 2], c=predicted, s=10)
left.scatter(X[:40, 0], X[:40, 2], s=30, facecolors="none", edgecolors="black")
left.set_title("predicted; rings are the 40 known rows")
right.scatter(t[1200:], predicted, s=8)
right.set(xlabel="true", ylabel="predicted")
plt.show()
