"""
Words by edit distance
======================

Only distances between objects are needed. ``metric`` may be a function of two objects, and ``X`` a list of them.
"""

import matplotlib.pyplot as plt

from eigenscape import ClassicalMDS


def edits(a: str, b: str) -> int:
    """Return the number of insertions, deletions and substitutions that turn a into b."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


words = [
    "cat",
    "cats",
    "hat",
    "hats",
    "bat",
    "bats",
    "chat",
    "rat",
    "graph",
    "graphs",
    "grape",
    "grapes",
    "kernel",
    "kernels",
    "colonel",
    "vector",
    "vectors",
    "sector",
    "matrix",
    "metric",
    "metrics",
    "eigen",
    "even",
    "seven",
]
model = ClassicalMDS(n_components=2, metric=edits).fit(words)
placed = model.transform(["grapefruit", "flat", "rector"])

figure, ax = plt.subplots(figsize=(7, 4.6))
ax.scatter(*model.embedding_.T, s=6, color="grey")
for word, place in zip(words, model.embedding_, strict=True):
    ax.annotate(word, place, fontsize=8)
for word, place in zip(("grapefruit", "flat", "rector"), placed, strict=True):
    ax.annotate(word, place, fontsize=9, color="#c44", fontweight="bold")
ax.set_title("words by edit distance; red words are new")
plt.show()

# %%
# No points in a Euclidean space have exactly these edit distances; the negative share of the spectrum is the deviation:
print(f"negative share of the spectrum: {model.negative_fraction_:.2f}")
