"""Mutants of right files with one unknown or misplaced section or field, and what a repair may make of them.

`python -m tests.pddl.mutants 40 7` tries 40 mutants of each right file of the competitions, of ours and of the levels
with seed 7, and prints each change outside of the place.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pddlego.pddl.rules import Level
from pddlego.pddl.sexpr import TOKEN, Expression, read_sexprs
from pddlego.pddl.tolerant import repair
from tests import shared

UNKNOWN = (
    *(":cost", ":vars", ":comment", ":doc", ":name", ":agent", ":observe", ":expansion", ":method", ":only-in"),
    *(":body", ":when", ":until", ":priority", ":foo", ":meaning", ":deadline", ":costs", ":task", ":ordered-subtasks"),
    *(
        ":length",
        ":process",
        ":event",
        ":axiom",
        ":sensing-action",
        ":situation",
        ":dynamics",
        ":notes",
    ),
    *(":initially", ":starts", ":invariants", ":macros", ":uses", ":extends", ":deterministic", ":probability"),
)
"""Names that neither the sections of PDDL nor the fields of `:action` and `:durative-action` have."""

FIELDS = (":parameters", ":precondition", ":effect", ":duration", ":condition")
OF_DOMAIN = (
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":action",
    ":durative-action",
    ":derived",
)
OF_PROBLEM = (":requirements", ":domain", ":objects", ":init", ":goal", ":metric")
SECTIONS = OF_DOMAIN + OF_PROBLEM
VALUES = (
    "3",
    "high",
    "(?q - object)",
    "(?q)",
    "()",
    "(and)",
    "(ready)",
    "(and (ready) (not (busy)))",
    "(= ?duration 3)",
    "",
)


@dataclass(frozen=True)
class Mutant:
    """A text with a part that is unknown or misplaced: `before`, `part` and `after` are its tokens.

    `original` is the right form of the part at this place; None if nothing belongs there.
    """

    kind: str
    text: str
    before: tuple[str, ...]
    part: tuple[str, ...]
    after: tuple[str, ...]
    original: tuple[str, ...] | None = None


def tokens(text: str) -> tuple[str, ...]:
    """The words and parentheses of a text, without comments."""
    return tuple(match[0].lower() for match in TOKEN.finditer(text) if match[0][0] != ";")


def mutants(text: str, count: int, chance: random.Random) -> Iterator[Mutant]:
    """Random mutants of a right file."""
    (define,) = read_sexprs(text).expressions
    assert isinstance(define, Expression)
    kinds = (_inserted, _inserted, _inserted, _renamed, _moved)
    made = 0
    while made < count:
        mutant = chance.choice(kinds)(text, define, chance)
        if mutant is not None:
            made += 1
            yield mutant


def outside(mutant: Mutant, result: str) -> str:
    """What a repair changed outside of the part; empty if nothing.

    The part may stay, leave, get its right name, or move as it is to a place between sections or fields.
    """
    text, before, part, after = tokens(result), mutant.before, mutant.part, mutant.after
    if text[: len(before)] == before and text[len(text) - len(after) :] == after and len(text) >= len(before + after):
        inside = text[len(before) : len(text) - len(after)]
        if inside in (part, mutant.original) or _within(_words(inside), _words(part)):
            return ""
    rest = before + after
    size = len(text) - len(rest)
    same = next(
        (n for n, (old, new) in enumerate(zip(rest, text, strict=False)) if old != new), min(len(rest), len(text))
    )
    for start in range(same, -1, -1):  # moved
        moved = text[start : start + size]
        if size > 0 and _within(_words(moved), _words(part)) and text[:start] + text[start + size :] == rest:
            return ""
    return f"{' '.join(text[max(0, same - 8) : same])} >>> {' '.join(text[same : same + 24])}"


def _words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens without parentheses and without the first word, which is a name that may be misspelt."""
    return tuple(word for word in words if word not in "()")[1:]


def _within(some: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether words are left in their order."""
    rest = iter(words)
    return all(word in rest for word in some)


def _lists(part: Expression, depth: int = 0) -> Iterator[tuple[Expression, int]]:
    yield part, depth
    for child in part:
        if isinstance(child, Expression):
            yield from _lists(child, depth + 1)


def _gap(define: Expression, chance: random.Random) -> tuple[Expression, int]:
    """A place behind a part of a list: mostly between sections or fields."""
    lists = list(_lists(define))
    actions = [one for one, depth in lists if depth == 1 and one and str(one[0]).endswith("action")]
    where = chance.choice([[define], actions, actions, [one for one, depth in lists if one and depth <= 4]])
    chosen = chance.choice(where or [define])
    return chosen, chosen.spans[chance.randrange(1, len(chosen.spans))][1]


def _text(chance: random.Random) -> str:
    name, value = chance.choice(chance.choice((UNKNOWN, FIELDS, SECTIONS))), chance.choice(VALUES)
    return chance.choice((f"{name} {value}", f"({name} {value})"))


def _made(kind: str, text: str, start: int, end: int, part: str, original: str | None = None) -> Mutant:
    mutant = f"{text[:start]} {part} {text[end:]}"
    return Mutant(
        kind, mutant, tokens(text[:start]), tokens(part), tokens(text[end:]), tokens(original) if original else None
    )


def _inserted(text: str, define: Expression, chance: random.Random) -> Mutant | None:
    list_, place = _gap(define, chance)
    part = _text(chance)
    own = OF_PROBLEM if define[1][:1] == ("problem",) else OF_DOMAIN
    if list_ is define and part.strip("(").split(" ")[0] in own:
        return None  # neither unknown nor misplaced
    return _made("inserted", text, place, place, part)


def _renamed(text: str, define: Expression, chance: random.Random) -> Mutant | None:
    """A section or field under an unknown name."""
    spans = [match.span() for match in re.finditer(r"(?<=[\s(]):[a-z-]+", text, re.IGNORECASE)]
    keys = [span for span in spans if text[slice(*span)].lower() in (*FIELDS, *SECTIONS)]
    keys = [span for span in keys if ";" not in text[text.rfind("\n", 0, span[0]) + 1 : span[0]]]  # not in a comment
    if not keys:
        return None
    start, end = chance.choice(keys)
    return _made("renamed", text, start, end, chance.choice(UNKNOWN), text[start:end])


def _moved(text: str, define: Expression, chance: random.Random) -> Mutant | None:
    """A section or field at another place."""
    parts = [define.spans[number + 1] for number in range(2, len(define))]
    for action, depth in _lists(define):
        if depth == 1 and action and str(action[0]).endswith("action"):
            parts += [(action.spans[n + 1][0], action.spans[n + 2][1]) for n in range(2, len(action) - 1, 2)]
    if not parts:
        return None
    start, end = chance.choice(parts)
    list_, place = _gap(define, chance)
    if start <= place <= end or start <= list_.spans[0][0] < end:
        return None
    part = text[start:end]
    rest = text[:start] + " " * (end - start) + text[end:]
    return _made("moved", rest, place, place, f"{part}\n")


def repaired(text: str) -> str:
    """A domain or a problem after its repair without the other file."""
    is_problem = "(problem" in text.lower()
    files = repair("", text, Level.TIME) if is_problem else repair(text, "", Level.TIME)
    return files.problem if is_problem else files.domain


def main(count: int, seed: str) -> None:
    ours = Path(__file__).parents[2] / "domains"
    folders = (shared.COMPETITION.glob("*/*.pddl"), ours.glob("*.pddl"), shared.SHARED.glob("cases/levels/*/*.pddl"))
    tried: Counter[str] = Counter()
    for file in sorted(path for folder in folders for path in folder):
        text = file.read_text(encoding="utf-8")
        # Without sections that are not supported, which are unknown parts themselves.
        if len(text) > 20_000 or ":process" in text or "(:constraints" in text or repaired(text) != text:
            tried["files left out"] += 1
            continue
        tried["files"] += 1
        for mutant in mutants(text, count, random.Random(f"{seed}{file.name}{file.parent.name}")):
            tried[mutant.kind] += 1
            if what := outside(mutant, repaired(mutant.text)):
                tried["changed outside"] += 1
                sys.stdout.write(f"{file.parent.name} {file.name} {mutant.kind} {' '.join(mutant.part)} => {what}\n")
    sys.stdout.write(f"{dict(tried)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
