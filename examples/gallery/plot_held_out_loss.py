"""
How many components? The held-out loss
======================================

The training loss falls with every component. The loss of pairs of rows that the model has not seen stops falling where components
describe the noise of the sample.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import ClassicalMDS
from eigenscape.quality import choose_n_components

# %%
# Points with three coordinates. Only their distances are known, each measured with an error: no points have exactly these
# distances, and further components fit the errors.
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 3)) * [3, 2, 1.5]
errors = rng.normal(0, 0.5, (200, 200))
D = np.abs(np.linalg.norm(X[:, None] - X, axis=2) + (errors + errors.T) / 2)
np.fill_diagonal(D, 0)
choice = choose_n_components(ClassicalMDS(metric="precomputed"), D, max_components=10)
print(f"best {choice.best}, as good from {choice.low} to {choice.high}")

# %%
figure, ax = plt.subplots(figsize=(6.5, 3.8))
ax.plot(choice.candidates[1:], choice.training[1:], "o-", label="training rows")
ax.plot(choice.candidates[1:], [score.value for score in choice.scores[1:]], "s-", label="held-out rows")
ax.axvline(choice.best, color="grey", linewidth=0.8)
ax.set(xlabel="components", ylabel="loss")
ax.legend(frameon=False)
plt.show()
