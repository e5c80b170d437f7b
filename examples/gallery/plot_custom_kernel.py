"""
A kernel of your own
====================

Any positive similarity of two objects is a kernel: here DNA-like strings, compared by the pieces of three letters that they share. New
strings are placed, too.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import KernelPCA


def common_pieces(a: str, b: str) -> float:
    """Return the cosine of the counts of three-letter pieces."""
    first, second = (Counter(s[i : i + 3] for i in range(len(s) - 2)) for s in (a, b))
    product = sum(first[piece] * second[piece] for piece in first)
    return product / np.sqrt(sum(v * v for v in first.values()) * sum(v * v for v in second.values()))


rng = np.random.default_rng(0)
parents = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(3)]


def mutate(text: str) -> str:
    return "".join(rng.choice(list("ACGT")) if rng.random() < 0.1 else letter for letter in text)


strings = [mutate(parents[i % 3]) for i in range(90)]
family = np.arange(90) % 3
model = KernelPCA(n_components=2, kernel=common_pieces).fit(strings)
new = model.transform([mutate(parents[i]) for i in range(3)])

figure, ax = plt.subplots(figsize=(5.5, 4))
ax.scatter(*model.embedding_.T, c=family, cmap="Set1", s=18)
ax.scatter(*new.T, c=range(3), cmap="Set1", s=140, marker="*", edgecolors="black")
ax.set_title("strings of three families; stars are new")
plt.show()
