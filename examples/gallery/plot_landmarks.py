"""
Isomap with landmarks
=====================

All geodesic distances of n rows take n x n numbers. Those to a few landmarks are enough, and all other rows are placed by them.
"""

from time import process_time

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll

from eigenscape import Isomap
from eigenscape.quality import aligned_error

X, t = make_swiss_roll(2500, random_state=0)
start = process_time()
whole = Isomap(n_components=2, n_neighbors=10).fit(X)
seconds = process_time() - start

# %%
errors, numbers = [], [5, 10, 20, 50, 100, 200]
for number in numbers:
    start = process_time()
    few = Isomap(n_components=2, n_neighbors=10, n_landmarks=number).fit(X)
    errors.append(aligned_error(few.embedding_, whole.embedding_))
    took = process_time() - start
    print(f"{number:4d} landmarks: difference {errors[-1]:.4f}, {took:.2f} s (all rows {seconds:.2f} s)")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.loglog(numbers, errors, "o-")
left.set(xlabel="landmarks", ylabel="difference from the map of all rows")
right.scatter(*few.embedding_.T, c=t, s=4)
right.scatter(*few.embedding_[few.landmarks_].T, s=14, facecolors="none", edgecolors="black")
right.set_title("landmarks are rings")
plt.show()
