"""The sentences about what plans must keep that the built-in reader understands, as a table of forms."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import to_name
from pddlego.util.text import filled

SENTENCES: Mapping[str, str] = {
    "never DEED before you DEED": "(sometime-before {0} {1})",
    "do not DEED before you DEED": "(sometime-before {0} {1})",
    "DEED before you DEED": "(sometime-before {1} {0})",
    "after you DEED, DEED": "(sometime-after {0} {1})",
    "enter each room at most once": "(forall (?r - {room}) (at-most-once ({here} ?r)))",
    "DEED at most once": "(at-most-once {0})",
    "never DEED": "(always (not {0}))",
    "do not DEED": "(always (not {0}))",
    "end in the ROOM": "(at end {0})",
    "DEED": "(sometime {0})",
}
"""The forms of sentences, each with its constraint; the first one that matches counts. A DEED enters a room or takes a
thing: `see the pantry`, `take the coin`."""

_ENTER, _TAKE = "(?:go to|go into|walk through|be in|enter|visit|see) the ", "(?:take|have|hold|get) the "
_NAME = r"[a-z][\w -]*?"
_NO_NAME = frozenset(
    ["and", "or", "before", "after", "until", "while", "at", "if", "unless", "the", "you", "not", "more"]
)
"""Words that no name of a room or a thing has: with them, a sentence says more than the table knows."""


def in_pddl(text: str, rule: MapRule | None) -> str:
    """The constraints that sentences state, one in a line; empty if one of them has no form of the table."""
    sentences = filter(None, (" ".join(part.lower().split()) for part in re.split(r"[.;\n]", text)))
    stated = [_stated(sentence, rule) for sentence in sentences] if rule else []
    return "\n".join(stated) if all(stated) else ""


def _stated(sentence: str, rule: MapRule) -> str:
    for form, constraint in SENTENCES.items():
        pattern = form.replace("DEED", f"((?:{_ENTER}|{_TAKE}){_NAME})").replace("ROOM", f"({_NAME})")
        if match := re.fullmatch(pattern, sentence):
            facts = {f"{number}": _fact(deed, rule) for number, deed in enumerate(match.groups())}
            return filled(constraint, {**facts, "room": rule.room, "here": rule.here}) if all(facts.values()) else ""
    return ""


def _fact(deed: str, rule: MapRule) -> str:
    """The fact that a deed makes true, or that the agent is in a room; empty if the game has no predicate for it."""
    predicate, name = rule.holding if re.match(_TAKE, deed) else rule.here, re.sub(f"^(?:{_ENTER}|{_TAKE})", "", deed)
    return f"({predicate} {to_name(name)})" if predicate and _NO_NAME.isdisjoint(name.split()) else ""
