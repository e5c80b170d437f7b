"""Counts of word roots in documents: NIPS papers, or documents drawn from a small model of topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from experiments._experiment import Context

#: The words that the caption of Brand's fig. 7 colours. "marginal" is not among the first thousand of our
#: copy.
GROUPS = {
    "publishing": ("ieee", "conference", "number", "paper", "proceedings", "volume"),
    "probability": (
        "bayesian",
        "estimate",
        "independent",
        "map",
        "marginal",
        "posterior",
        "joint",
        "statistical",
    ),
    "locations": ("cambridge", "department", "institute", "university"),
}
AREAS = ("Algorithms and Architectures", "Neuroscience", "Theory")
_ENDINGS = (
    *(
        ("ations", "at"),
        ("ation", "at"),
        ("ating", "at"),
        ("ated", "at"),
        ("ates", "at"),
        ("ate", "at"),
        ("ities", "iti"),
        ("ity", "iti"),
    ),
    *(
        ("ies", "i"),
        ("ings", ""),
        ("ing", ""),
        ("edly", ""),
        ("ed", ""),
        ("ers", "er"),
        ("es", ""),
        ("s", ""),
        ("ly", ""),
        ("e", ""),
        ("y", "i"),
    ),
)


class Corpus(NamedTuple):
    """``counts`` (roots, documents), a word for each root, its group ("" for most), the documents' areas, and
    what it is."""

    counts: np.ndarray
    words: list[str]
    groups: np.ndarray
    areas: np.ndarray
    data: str


def corpus(context: Context, n_words: int = 1000, n_documents: int = 200) -> Corpus:
    """The first words and the last documents, roots combined (Brand sec. 5)."""
    found = context.load("nips12")
    if found is None:
        return _drawn(context.seed)
    parts = found["data"].astype(np.float64), found["indices"], found["indptr"]
    counts = sparse.csr_array(parts, shape=tuple(found["shape"]))[-n_documents:, :n_words].toarray().T
    roots: dict[str, list[int]] = {}
    for number, word in enumerate(found["words"][:n_words]):
        roots.setdefault(root(str(word)), []).append(number)
    group_of = {root(word): group for group, members in GROUPS.items() for word in members}
    return Corpus(
        np.array([counts[numbers].sum(axis=0) for numbers in roots.values()]),
        [str(found["words"][numbers[0]]) for numbers in roots.values()],
        np.array([group_of.get(name, "") for name in roots]),
        found["label_names"][found["label"][-n_documents:]],
        "NIPS 0-12",
    )


def root(word: str) -> str:
    """The word without its ending: enough to bring plurals and forms of verbs together."""
    for ending, instead in _ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word.endswith(("ss", "us", "is")))
        ):
            return word[: len(word) - len(ending)] + instead
    return word


def _drawn(seed: int) -> Corpus:
    """Documents of three areas. Words are common or rare; half belong to all areas, the rest and each group
    lean towards one."""
    rng = np.random.default_rng(seed)
    areas = rng.integers(3, size=150)
    words = [f"{'abc'[number % 3]}{number}" if number % 6 < 3 else f"w{number}" for number in range(300)]
    leaning = [number % 3 if number % 6 < 3 else None for number in range(300)]
    groups, together = [""] * 300, [np.ones(150)] * 300
    for area, (group, members) in enumerate(GROUPS.items()):
        words += members
        leaning += [area] * len(members)
        groups += [group] * len(members)
        together += [rng.lognormal(0, 0.7, size=150)] * len(members)
    tilt = np.array([np.ones(150) if area is None else np.where(areas == area, 2.0, 0.5) for area in leaning])
    rates = 1.5 * rng.lognormal(0, 1, size=(len(words), 1)) * tilt * np.array(together)
    counts = rng.poisson(rates).astype(np.float64)
    used = counts.sum(axis=1) > 0
    kept = [word for word, is_used in zip(words, used, strict=True) if is_used]
    return Corpus(
        counts[used],
        kept,
        np.array(groups)[used],
        np.array(AREAS)[areas],
        "stand-in: documents drawn from a model of topics",
    )
