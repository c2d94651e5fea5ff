"""The words of PDDL that can be written at a place of a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from pddlego.pddl.conditions import ARITHMETIC, CHANGES, CONSTRAINTS
from pddlego.pddl.domain import FIELDS_OF
from pddlego.pddl.sexpr import Expression
from pddlego.tools.editor.document import TIMES

_CONDITIONS = ("and", "or", "not", "imply", "forall", "exists", "=", "<", ">", "<=", ">=")
_EFFECTS = ("and", "not", "forall", "when", *sorted(CHANGES))
_NUMERIC = {*CHANGES, *ARITHMETIC, "=", "<", ">", "<=", ">="}
"""Words whose operands may be numbers."""

Names = Literal["all", "functions", "none"]
"""The declared names that a list may begin with."""


def first_words(lists: Sequence[Expression]) -> tuple[tuple[str, ...], Names]:
    """What the last of the `lists` may begin with. Each list is inside the one before; the first is a section."""
    section, field, outer = lists[0][0], _field(lists), lists[-2][:1]
    if section == ":metric" or (outer and outer[0] in _NUMERIC):
        words = (*sorted(ARITHMETIC), *["is-violated", "total-time"] * (section == ":metric"))
        return () if section == ":init" else words, "functions"
    if section == ":init":
        return ("=", "at"), "all"
    above = {str(part[0]) for part in lists[1:-1]}
    if section == ":constraints" and above.isdisjoint({*CONSTRAINTS, "at"}):
        return ("and", "forall", "preference", *CONSTRAINTS), "none"
    if section == ":goal" and above <= {"and", "forall"}:
        return (*_CONDITIONS, "preference"), "all"
    if field == ":duration":
        return ("=", "<=", ">=", "and"), "none"
    is_when = any(before[:1] == ("when",) and before.spans[2] == inner.spans[0] for before, inner in pairwise(lists))
    in_effect = field == ":effect" and not is_when
    if section == ":durative-action" and not any(part[:2] in TIMES for part in lists):
        return ("at start", "at end", *(("when",) if in_effect else ("over all",)), "and", "forall"), "none"
    return (_EFFECTS if in_effect else _CONDITIONS), "all"


def next_words(lists: Sequence[Expression], before: int) -> tuple[str, ...]:
    """What may follow the first `before` parts of the last of the `lists`, beside names."""
    section, head, is_section = lists[0][0], lists[-1][0], len(lists) == 1
    if is_section and section in FIELDS_OF:
        return tuple(word for word in FIELDS_OF[str(section)] if word not in lists[0]) if before % 2 == 0 else ()
    if is_section and section == ":metric":
        return ("minimize", "maximize") if before == 1 else ()
    if section == ":durative-action" and before == 1 and head in ("at", "over"):
        return ("start", "end") if head == "at" else ("all",)
    is_timed = section == ":durative-action" and _field(lists) in (":duration", ":effect")
    return ("?duration",) if is_timed and head in _NUMERIC else ()


def _field(lists: Sequence[Expression]) -> str:
    """The field of an action that holds the lists, such as `:effect`; empty for other sections."""
    action = lists[0]
    if action[0] not in FIELDS_OF or len(lists) < 2:
        return ""
    return str(action[action.spans.index(lists[1].spans[0]) - 2])
