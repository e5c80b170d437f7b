"""Counts of word stems in documents: NIPS papers, or documents sampled from a small topic model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from experiments._experiment import Context

#: Words that are coloured in Brand fig. 7. "marginal" is not among the first 1000 words of our copy.
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
    """Counts of word stems in documents.

    ``counts`` (stems, documents), one word per stem, its group ("" if none), the research area of each
    document, and a description of the data.
    """

    counts: np.ndarray
    words: list[str]
    groups: np.ndarray
    areas: np.ndarray
    data: str


def corpus(context: Context, n_words: int = 1000, n_documents: int = 200) -> Corpus:
    """Return the counts of the first words in the last documents, summed over word stems (Brand sec. 5)."""
    arrays = context.load("nips12")
    if arrays is None:
        return _sample_corpus(context.seed)
    parts = arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]
    counts = sparse.csr_array(parts, shape=tuple(arrays["shape"]))[-n_documents:, :n_words].toarray().T
    stems: dict[str, list[int]] = {}
    for index, word in enumerate(arrays["words"][:n_words]):
        stems.setdefault(stem(str(word)), []).append(index)
    group_of = {stem(word): group for group, members in GROUPS.items() for word in members}
    return Corpus(
        np.array([counts[indices].sum(axis=0) for indices in stems.values()]),
        [str(arrays["words"][indices[0]]) for indices in stems.values()],
        np.array([group_of.get(name, "") for name in stems]),
        arrays["label_names"][arrays["label"][-n_documents:]],
        "NIPS 0-12",
    )


def stem(word: str) -> str:
    """Return the word without its suffix, so that plurals and verb forms are counted together."""
    for ending, replacement in _ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word.endswith(("ss", "us", "is")))
        ):
            return word[: len(word) - len(ending)] + replacement
    return word


def _sample_corpus(seed: int) -> Corpus:
    """Return documents of three areas sampled from a topic model.

    Word frequencies are log-normal. Half of the words are equally frequent in all areas; each of the others,
    and each group of :data:`GROUPS`, is more frequent in one area.
    """
    rng = np.random.default_rng(seed)
    areas = rng.integers(3, size=150)
    words = [f"{'abc'[number % 3]}{number}" if number % 6 < 3 else f"w{number}" for number in range(300)]
    preferred_area = [number % 3 if number % 6 < 3 else None for number in range(300)]
    groups, document_factors = [""] * 300, [np.ones(150)] * 300
    for area, (group, members) in enumerate(GROUPS.items()):
        words += members
        preferred_area += [area] * len(members)
        groups += [group] * len(members)
        document_factors += [rng.lognormal(0, 0.7, size=150)] * len(members)
    area_factors = np.array(
        [np.ones(150) if area is None else np.where(areas == area, 2.0, 0.5) for area in preferred_area]
    )
    rates = 1.5 * rng.lognormal(0, 1, size=(len(words), 1)) * area_factors * np.array(document_factors)
    counts = rng.poisson(rates).astype(np.float64)
    used = counts.sum(axis=1) > 0
    kept = [word for word, is_used in zip(words, used, strict=True) if is_used]
    return Corpus(
        counts[used],
        kept,
        np.array(groups)[used],
        np.array(AREAS)[areas],
        "stand-in: documents sampled from a topic model",
    )
