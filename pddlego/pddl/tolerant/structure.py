"""Repairs of the arrangement: sections by their right names in the right file, fields of actions, lists, facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant.lexical import Note

DOMAIN_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":action", ":derived")
PROBLEM_SECTIONS = (":domain", ":objects", ":init", ":goal")
FIELDS = (":parameters", ":precondition", ":effect")
CONNECTIVES = frozenset({"and", "or", "not", "imply", "exists", "forall", "when", "="})

MISSPELT = {
    ":requirement": ":requirements",
    ":type": ":types",
    ":constant": ":constants",
    ":predicate": ":predicates",
    ":actions": ":action",
    ":object": ":objects",
    ":initial": ":init",
    ":initial-state": ":init",
    ":goals": ":goal",
    ":parameter": ":parameters",
    ":params": ":parameters",
    ":preconditions": ":precondition",
    ":pre": ":precondition",
    ":effects": ":effect",
}
"""Names of sections and fields that models write, with the ones that they mean."""

Section = tuple[Sexpr, ...]


def head(part: Sexpr) -> str:
    """The first word of an expression, rightly spelt; empty if there is none."""
    word = part[0] if isinstance(part, tuple) and part else ""
    return MISSPELT.get(word, word) if isinstance(word, str) else ""


def sections(parts: Iterable[Sexpr], note: Note) -> Iterator[Section]:
    """The sections of a file, each action one, with those that stood inside others."""
    for part in _rejoined(tuple(parts), note):
        if not isinstance(part, tuple) or not part:
            note(f"'{show(part)[:40]}' stood among the sections")
            continue
        name = head(part)
        if name != part[0]:
            note(f"section {show(part[0])} is called {name}")
        nested = [each for each in part[1:] if head(each) in (*DOMAIN_SECTIONS, *PROBLEM_SECTIONS)]
        own = tuple(each for each in part[1:] if each not in nested)
        group = name == ":action" and bool(own) and isinstance(own[0], tuple)
        if group:
            note("several actions stood in one section")
            members = [(":action", *each) for each in own if isinstance(each, tuple) and head(each) not in FIELDS]
            yield from (_action(each, note) for each in members)
        elif name == ":action":
            yield _action((name, *own), note)
        else:
            yield (name, *own)
        if nested and not group:
            note(f"section {', '.join(dict.fromkeys(head(each) for each in nested))} stood inside {name}")
        yield from sections(nested, note)


def _rejoined(parts: Section, note: Note) -> Iterator[Sexpr]:
    """The parts, with fields that stand behind an action put back into it: it was closed too early."""
    waiting: Sexpr | None = None
    key = ""
    for part in parts:
        word = MISSPELT.get(part, part) if isinstance(part, str) else head(part)
        if waiting is not None and isinstance(waiting, tuple) and (key or word in FIELDS):
            note("an action was closed before its end")
            waiting = (*waiting, part)
            key = word if isinstance(part, str) else ""
            continue
        if waiting is not None:
            yield waiting
        waiting = part if head(part) == ":action" else None
        if waiting is None:
            yield part
    if waiting is not None:
        yield waiting


def _action(section: Section, note: Note) -> Section:
    """An action as `:action NAME :parameters (…) :precondition … :effect …`."""
    name, fields, key = section[1] if len(section) > 1 else "unnamed", dict[str, list[Sexpr]](), ""
    for part in section[2:]:
        word = MISSPELT.get(part, part) if isinstance(part, str) else head(part)
        if isinstance(part, str) and word in FIELDS:
            if word != part:
                note(f"{part} is called {word}")
            key = word
            fields.setdefault(key, [])
        elif isinstance(part, tuple) and word in FIELDS:
            note("the parts of an action stood in parentheses")
            fields.setdefault(word, []).extend(part[1:])
            key = ""
        else:
            fields.setdefault(key, []).append(part)
    if "" in fields:
        return section  # something stands where nothing can: that is for the check to say
    found: list[Sexpr] = [":action", name]
    for key in FIELDS:
        if key in fields:
            found += [key, _parameters(fields[key]) if key == ":parameters" else _condition(fields[key], note)]
    return tuple(found)


def _parameters(parts: list[Sexpr]) -> Sexpr:
    if len(parts) == 1 and isinstance(parts[0], tuple):
        return flat_list(parts[0], lambda what: None)
    return flat_list(tuple(parts), lambda what: None)


def _condition(parts: list[Sexpr], note: Note) -> Sexpr:
    if len(parts) == 1:
        return joined(parts[0], note)
    if parts:
        note("conditions stood side by side without 'and'")
    return ("and", *(joined(each, note) for each in parts))


def joined(condition: Sexpr, note: Note) -> Sexpr:
    """A condition; a bare list of conditions is their conjunction."""
    if isinstance(condition, tuple) and condition and all(isinstance(each, tuple) for each in condition):
        if len(condition) == 1:
            note("a condition stood in parentheses twice")
            return joined(condition[0], note)
        note("conditions stood side by side without 'and'")
        return ("and", *(joined(each, note) for each in condition))
    if isinstance(condition, tuple) and condition and condition[0] in ("and", "or", "not"):
        return (condition[0], *(joined(each, note) for each in condition[1:]))
    return condition


def flat_list(parts: Section, note: Note) -> Section:
    """A typed list without parentheses around its entries, and with `-` before its types.

    `(either a b)` after a `-` stays.
    """
    found: list[Sexpr] = []
    for number, part in enumerate(parts):
        if isinstance(part, str) and part.startswith(":"):
            note("a type stood behind ':' and not behind '-'")
            found += ["-", part[1:]] if part != ":" else ["-"]
            continue
        if isinstance(part, tuple) and not (number and parts[number - 1] == "-"):
            note("entries of a list stood in parentheses")
            found += flat_list(part, note)
        else:
            found.append(part)
    return tuple(found)


def facts(parts: Section, note: Note) -> Section:
    """The facts of `:init`, each once, without `and` around them and without what is not true."""
    found: dict[Sexpr, None] = {}
    for part in parts:
        if head(part) == "and" and isinstance(part, tuple):
            note("the facts stood in 'and'")
            found |= dict.fromkeys(facts(part[1:], note))
        elif head(part) == "not":
            note("a negated fact was left out: what is not listed is false")
        elif isinstance(part, tuple) and part and all(isinstance(each, tuple) for each in part):
            note("the facts stood in parentheses of their own")
            found |= dict.fromkeys(facts(part, note))
        else:
            found[part] = None
    return tuple(found)
