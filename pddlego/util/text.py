"""Text for terminals, files, tables and notebooks: cleaning, shortening, escaping, sorting, suggestions."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any


def writable(text: str) -> str:
    """The text with its lone surrogates replaced: JSON and keyboards produce them, but UTF-8 cannot encode them."""
    return text.encode(errors="replace").decode()


class Shown:
    """A base class: notebooks show its objects as their `str`."""

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"
    r"\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"  # direction
    r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164"
    r"\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Control characters, and the characters with Unicode's property `Bidi_Control` or `Default_Ignorable_Code_Point`.

The two variation selectors for emoji and text are not among them: texts of models often contain these.
"""


def clean(text: str) -> str:
    """The text with control characters, direction marks and invisible characters replaced by U+FFFD, tabs by blanks."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\t", "    "))


def csv_cell(value: object) -> object:
    """A value as a cell of a CSV file, safe for spreadsheets (not a formula) and terminals (no escape sequences)."""
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def markdown_cell(text: str) -> str:
    """A text as a cell of a Markdown table or a word in a paragraph, with all markup escaped."""
    return re.sub(r"([\\`*\[\]<>|])", r"\\\1", " ".join(clean(text).split()))


def one_line(text: str, width: int) -> str:
    """The cleaned text on one line of at most `width` characters, with an ellipsis if it was longer."""
    line = " ".join(clean(text).split())
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"


def slug(title: str) -> str:
    """A title as a name for labels, anchors and files: words in lower case with hyphens, without parentheses."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)", "", title).lower()).strip("-")


def both_ends(name: str, width: int) -> str:
    """The name if it has at most `width` characters, else its beginning, an ellipsis, and its end."""
    if len(name) <= width:
        return name
    end = max(0, width - 1) // 2
    return f"{name[: max(0, width - 1 - end)]}…{name[len(name) - end :]}"


def is_alike(cells: Collection[str]) -> bool:
    """Whether all rows of a column are equal, or none has a value."""
    return {*cells} <= {"", "n/a"} or (len({*cells}) == 1 < len(cells))


def left_out(alike: Iterable[tuple[str, str]], hidden: Iterable[str]) -> list[str]:
    """Lines about columns that a table has no room for: the values of those that are `alike`, and other names."""
    values, names = (", ".join(f"{name} {value or 'n/a'}" for name, value in alike), ", ".join(hidden))
    texts = (f"In all rows: {values}." if values else "", f"A wider terminal also shows: {names}." if names else "")
    return [text for text in texts if text]


def count(number: float, noun: str) -> str:
    """`1 step`, `2 steps`, `0.5 steps`, `1,200,000 steps`."""
    digits = f"{number:,.0f}" if number % 1 == 0 or number >= 1e6 else f"{number:g}"
    return f"{digits} {noun}{'' if number == 1 else 's'}"


def hours(seconds: float) -> str:
    """Hours, rounded up to a tenth: `0.1`, `2.0`."""
    return f"{math.ceil(seconds / 360) / 10}"


def money(dollars: float | None) -> str:
    """`$12.40`, `$0.0031`; `n/a` if it is unknown."""
    return "n/a" if dollars is None else f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"


def reason_of(fault: Mapping[str, Any]) -> str:
    """The reason of an error of pydantic in the words of JSON, without the class of a validator's exception."""
    reason = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    reason = re.sub(r"^(Input should be a valid) dictionary( or instance of \w+)?$", r"\1 JSON object", reason)
    return re.sub(r"^(Input should be a valid) tuple$", r"\1 list", reason)


def fault_of(fault: Mapping[str, Any]) -> str:
    """An error of pydantic: where it is, and its reason."""
    return f"{'.'.join(map(str, fault['loc'])) or 'the object'}: {reason_of(fault)}"


def names_in(template: str) -> set[str]:
    """The names in braces in a template from a data file, such as `c` in the command `open {c}`."""
    return set(_PLACEHOLDER.findall(template))


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with a value in place of each name in braces. Raises `KeyError` for a name without a value."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


_PLACEHOLDER = re.compile(r"\{(\w+)\}")


_COMPARED, MOST_COMPARED = 40, 300
"""Maximum length of a name, and maximum number of names, that are compared with a misspelt word."""


def nearest(word: str, known: Iterable[str], cutoff: float = 0.75) -> str | None:
    """The known name that is most similar to `word`; None if none is close or there are too many names to compare."""
    import difflib

    candidates = [name for name in known if len(name) <= _COMPARED]
    if len(word) > _COMPARED or len(candidates) > MOST_COMPARED:
        return None
    close = difflib.get_close_matches(word, sorted(candidates), n=1, cutoff=cutoff)
    return close[0] if close else None


def is_whole(value: object) -> bool:
    """Whether a value is an integer of any type, such as `int` or one of numpy's types."""
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


_FAMILY = 6
"""The maximum number of names that are suggested for a part of a name."""


def suggestion(word: str, known: Iterable[str], otherwise: str) -> str:
    """`Did you mean 'edit'?` if a known name is close to a misspelt word, or has it as a part; else `otherwise`."""
    folded = {name.casefold(): name for name in known}
    family = [name for key, name in folded.items() if f"-{word.casefold()}-" in f"-{key}-"]
    if family:
        return f"Did you mean {' or '.join(repr(name) for name in family[:_FAMILY])}?"
    close = nearest(word.casefold(), folded, cutoff=0.6)
    return otherwise if close is None else f"Did you mean '{folded[close]}'?"


_NUMBER = re.compile(r"([0-9]+)")


@lru_cache(maxsize=10_000)
def natural(word: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key that puts `loc2` before `loc10`, for any text."""
    return tuple(_natural_part(part) for part in _NUMBER.split(word) if part)


def _natural_part(part: str) -> tuple[int, int, str]:
    if not _NUMBER.fullmatch(part):
        return 1, 0, part
    digits = part.lstrip("0")
    return 0, len(digits), digits  # shorter numbers are smaller; numbers of equal length compare digit by digit


def shown_command(command: str | None, first: str = "start") -> str:
    """A command for people: `first` if it is None, and a note in place of an empty one."""
    return first if command is None else command or "(empty command)"


def capitalized(text: str) -> str:
    """The text with a capital letter at its beginning; other letters stay."""
    return text[:1].upper() + text[1:]
