"""Recipes of the words of the Brown corpus and of the NIPS papers."""

from __future__ import annotations

import itertools
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np
from scipy import sparse

_N_WORDS = 300
#: Coarse classes by the beginning of the tag, the longest that fits.
_COARSE = {
    "determiner": "AB AP AT DT WDT",
    "aux/modal": "BE DO HV MD",
    "conjunction": "CC CS",
    "number": "CD OD",
    "existential there": "EX",
    "preposition": "IN",
    "adjective": "JJ",
    "noun": "NN NP NR",
    "pronoun": "PN PP WP",
    "adverb/particle": "QL RB RP WRB",
    "infinitive to": "TO",
    "verb": "VB",
}
_CLASS_OF = {start: name for name, starts in _COARSE.items() for start in starts.split()}


def brown_bigrams(path: Path) -> dict[str, np.ndarray]:
    """Count left and right neighbours of the 300 most frequent words; ties in alphabetical order.

    Words are lower case; a token without a letter or digit is not a word. No pair crosses the end of a
    sentence. In ``X`` the words are adjacent, in ``X_bridged`` punctuation is removed first.
    """
    sentences = [[_token(token) for token in line.split()] for line in _brown_lines(path)]
    frequency: Counter[str] = Counter()
    tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word, tag in sentence:
            if word:
                frequency[word] += 1
                tags[word][tag] += 1
    words = sorted(frequency, key=lambda word: (-frequency[word], word))[:_N_WORDS]
    index = {word: i for i, word in enumerate(words)}
    common = [tags[word].most_common(1)[0] for word in words]
    return {
        "X": _neighbours(([word for word, _ in sentence] for sentence in sentences), index),
        "X_bridged": _neighbours(([word for word, _ in s if word] for s in sentences), index),
        "words": np.array(words),
        "frequency": np.array([frequency[word] for word in words], dtype=np.int32),
        "tag": np.array([tag for tag, _ in common]),
        "tag_share": np.array(
            [count / frequency[word] for word, (_, count) in zip(words, common, strict=True)], np.float32
        ),
        "coarse": np.array([_coarse(tag) for tag, _ in common]),
    }


def _brown_lines(path: Path) -> Iterator[str]:
    """Yield the sentences of the files ``ca01`` to ``cr09``, one per line that is not empty."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(n for n in archive.namelist() if re.fullmatch(r"c[a-r]\d\d", PurePosixPath(n).name))
        if not names:
            raise ValueError(f"{path} contains no file such as brown/ca01")
        for name in names:
            yield from (line for line in archive.read(name).decode().splitlines() if line.strip())


def _token(token: str) -> tuple[str, str]:
    """Return word and tag of ``word/tag``; the word is empty if it is punctuation.

    The prefix FW- (foreign) and the suffixes -TL, -HL and -NC (title, headline, cited) are removed.
    """
    word, _, tag = token.rpartition("/")
    tag = re.sub(r"(-(tl|hl|nc))+$", "", tag.lower().removeprefix("fw-")).upper()
    return (word.lower() if any(c.isalnum() for c in word) else ""), tag


def _coarse(tag: str) -> str:
    """Return the coarse class of a tag."""
    return next((_CLASS_OF[tag[:n]] for n in (3, 2) if tag[:n] in _CLASS_OF), "other")


def _neighbours(sentences: Iterator[list[str]], index: dict[str, int]) -> np.ndarray:
    """Return counts (n, 2 n): words on the left, then words on the right."""
    n = len(index)
    counts = np.zeros((n, 2 * n), dtype=np.int32)
    for sentence in sentences:
        numbers = [index.get(word, -1) for word in sentence]
        for left, right in itertools.pairwise(numbers):
            if left >= 0 and right >= 0:
                counts[right, left] += 1
                counts[left, n + right] += 1
    return counts


def nips12(path: Path) -> dict[str, np.ndarray]:
    """Read the files ``nips.*`` of the collection NIPS0-12: counts, words, titles, volumes and labels."""
    with zipfile.ZipFile(path) as archive:
        members = {PurePosixPath(name).name: name for name in archive.namelist()}

        def lines(name: str, *, optional: bool = False) -> list[str]:
            if name not in members:
                if optional:
                    return []
                raise ValueError(f"{path} contains no file {name}")
            return archive.read(members[name]).decode(errors="replace").rstrip("\n").split("\n")

        documents, vocabulary = lines("nips.corpus"), lines("nips.vocab")
        titles, labels, names = lines("nips.docs"), lines("nips.labels"), lines("nips.labels.key")
        volumes, doc_names = lines("nips.vols"), lines("nips.docnames", optional=True)
    words = [re.split(r"[\s=]", line.strip(), maxsplit=1)[0] for line in vocabulary]
    counts = _counts(documents, len(words))
    arrays = {
        "data": counts.data.astype(np.uint16),
        "indices": counts.indices.astype(np.int32),
        "indptr": counts.indptr.astype(np.int32),
        "shape": np.array(counts.shape),
        "words": np.array(words),
        "titles": np.array([title.strip() for title in titles]),
        "volume": np.array(volumes).astype(np.int8),
        "label": np.array([label.split()[0] for label in labels]).astype(np.int16),
        "label_names": np.array([name.strip() for name in names]),
    }
    for name in ("titles", "volume", "label"):
        if len(arrays[name]) != len(documents):
            raise ValueError(f"{path} has {len(documents)} documents and {len(arrays[name])} of {name}")
    return {**arrays, "doc_names": np.array(doc_names)} if doc_names else arrays


def _counts(documents: list[str], n_words: int) -> sparse.csr_array:
    """Return counts (documents, words) from lines ``n_terms term:count ...``, terms counted from 0."""
    indices, data, indptr = [], [], [0]
    for number, line in enumerate(documents):
        n_terms, *pairs = line.split()
        if int(n_terms) != len(pairs):
            raise ValueError(f"document {number} announces {n_terms} terms and has {len(pairs)}")
        for pair in pairs:
            term, count = pair.split(":")
            indices.append(int(term))
            data.append(int(count))
        indptr.append(len(indices))
    counts = sparse.csr_array((data, indices, indptr), shape=(len(documents), n_words))
    counts.sort_indices()
    return counts
