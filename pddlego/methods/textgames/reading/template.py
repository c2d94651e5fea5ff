"""Templates of sentences: literal text with slots, such as `To the {d} you see a closed {kind} door.`

Matching takes linear time: the literals are searched from left to right, and the values are the texts between them. A
template is never turned into a regular expression, because models write templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

LONGEST, MOST_SLOTS, MOST_ITEMS, MOST_WORDS = 300, 8, 50, 6
"""The maximum number of characters and of slots of a template, of items of a list, and of words of a name."""

_SLOT = re.compile(r"\{([a-z][a-z0-9_]{0,30})(\.\.\.)?\}")
_ARTICLES = frozenset({"a", "an", "the", "some"})
_NEVER_IN_NAMES = _ARTICLES | frozenset(
    "and or that which is are was has have with in on to from you your it its there at contains nothing".split()  # noqa: SIM905
)
ASCII_LOWER = {ordinal: ordinal + 32 for ordinal in range(ord("A"), ord("Z") + 1)}
"""Lower case without a change of length, which `str.lower` makes with some letters."""

Values = Mapping[str, tuple[str, ...]]
"""The names by slot: one name, or all names of a list."""


@dataclass(frozen=True)
class Template:
    """A template: `literals` (one more than slots, in lower case), and the slots with whether each is a list."""

    text: str
    literals: tuple[str, ...]
    slots: tuple[tuple[str, bool], ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of the slots."""
        return frozenset(name for name, _ in self.slots)

    @property
    def literal_length(self) -> int:
        """The number of literal characters: of several matching templates, the one with most of them is meant."""
        return sum(map(len, self.literals))

    def match(self, sentence: str) -> Values | None:
        """The names in a sentence; None if it does not match, or if a slot would hold anything but a name or list."""
        texts = self.texts(sentence)
        if texts is None:
            return None
        values = {name: (read_names if is_list else read_name)(texts[name]) for name, is_list in self.slots}
        return values if all(values.values()) else None

    def texts(self, sentence: str) -> Mapping[str, str] | None:
        """The texts of the slots in a sentence, which are not empty; None if its literals do not match."""
        text = sentence.translate(ASCII_LOWER)
        first, *middle, last = self.literals if self.slots else (*self.literals, "")
        end = len(text) - len(last)
        if not self.slots:
            return {} if text == first else None
        if not text.startswith(first) or not text.endswith(last) or end <= len(first):
            return None
        bounds, start = [], len(first)
        for literal in middle:
            found = text.find(literal, start + 1, end)
            if found < 0:
                return None
            bounds.append((start, found))
            start = found + len(literal)
        bounds.append((start, end))
        return {name: sentence[begin:stop] for (name, _), (begin, stop) in zip(self.slots, bounds, strict=True)}


def parse_template(text: str) -> Template:
    """Parse a template. Raises `ValueError` with the reason if it is not one."""
    if not text.strip() or len(text) > LONGEST or not text.isprintable():
        raise ValueError(f"a sentence is one line of 1 to {LONGEST} characters")
    slots = tuple((match[1], bool(match[2])) for match in _SLOT.finditer(text))
    literals = tuple(_SLOT.sub("\n", text.strip()).translate(ASCII_LOWER).split("\n"))
    names = [name for name, _ in slots]
    if any(brace in literal for literal in literals for brace in "{}"):
        raise ValueError(f"'{text}' has a brace that belongs to no {{name}}")
    if len(slots) > MOST_SLOTS or len(set(names)) < len(names):
        raise ValueError(f"'{text}' needs at most {MOST_SLOTS} slots, each with a name of its own")
    if sum(is_list for _, is_list in slots) > 1:
        raise ValueError(f"'{text}' has more than one list")
    if any(not literal.strip(" ") for literal in literals[1:-1]):
        raise ValueError(f"'{text}' has two slots without a word between them")
    return Template(text.strip(), literals, slots)


def read_name(text: str) -> tuple[str, ...]:
    """The name in a text, without its article; empty if the text is not a name."""
    if len(text) > LONGEST:
        return ()
    words = text.split()
    if words and words[0].lower() in _ARTICLES:
        words = words[1:]
    if not 0 < len(words) <= MOST_WORDS or any(character in text for character in ',;:.!?"()'):
        return ()
    return () if any(word.lower() in _NEVER_IN_NAMES for word in words) else (" ".join(words),)


def read_names(text: str) -> tuple[str, ...]:
    """The names of a list such as `a knife, some salt, and an apple`; empty if the text is not a list of names."""
    parts = text.replace(", and ", ", ").replace(" and ", ", ").split(", ", MOST_ITEMS)
    names = [read_name(part) for part in parts]
    return tuple(name for (name,) in names) if all(names) and len(names) <= MOST_ITEMS else ()


_BETWEEN = re.compile(r",? and |, ")
_BEFORE_ARTICLE = re.compile(r"(?:,? and|,) (?=(?:an?|some) )")
_ARTICLE = re.compile(r"^(?:an?|some) ")


def split_list(text: str) -> tuple[str, ...]:
    """The names of a list that an expression of ours has matched. If it begins with an article, each name has one."""
    parts = (_BEFORE_ARTICLE if _ARTICLE.match(text) else _BETWEEN).split(text)
    return tuple(_ARTICLE.sub("", part) for part in parts)


def sentences(text: str) -> Iterator[str]:
    """The sentences of an observation: a sentence ends with a full stop before a blank, or with its line."""
    for line in text.split("\n"):
        yield from (part.strip() for part in re.split(r"(?<=[.!?])\s+", line) if part.strip())


def without_words(name: str, dropped: Sequence[str]) -> str:
    """The name without the words `dropped` before it; its last word always belongs to it."""
    return split_name(name, dropped)[1]


def split_name(name: str, dropped: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The words of `dropped` before a name, and the name without them; its last word always belongs to it."""
    words = name.split()
    count = 0
    while count < len(words) - 1 and words[count].lower() in dropped:
        count += 1
    return tuple(word.lower() for word in words[:count]), " ".join(words[count:])
