"""Repairs of the arrangement: sections by their right names in the right file, fields of actions, lists, facts.

`Parts` holds a domain and a problem file taken apart into their sections, and writes them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pddlego.pddl.conditions import TypedName
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant.lexical import Note

DOMAIN_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":action", ":derived")
PROBLEM_SECTIONS = (":domain", ":objects", ":init", ":goal")
FIELDS = (":parameters", ":precondition", ":effect")

_MISSPELT = {
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
    ":precond": ":precondition",
    ":preconds": ":precondition",
    ":pre": ":precondition",
    ":effects": ":effect",
    ":eff": ":effect",
    ":postcondition": ":effect",
    ":postconditions": ":effect",
}
"""Names of sections and fields that models write, with the ones that they mean."""

_ALL_SECTIONS = frozenset({*DOMAIN_SECTIONS, *PROBLEM_SECTIONS})
SECTIONS = _ALL_SECTIONS - {":domain"}

WORDS = {"implies": "imply", "implication": "imply"}
"""Connectives that models write, with the ones that they mean."""

_ADDING, _DELETING = frozenset({"add"}), frozenset({"delete", "remove", "del"})
"""Words of STRIPS lists that models put around the literals of an effect."""

Section = tuple[Sexpr, ...]


def head(part: Sexpr) -> str:
    """The first word of an expression, correctly spelt; empty without one."""
    word = part[0] if isinstance(part, tuple) and part else ""
    return _MISSPELT.get(word, word) if isinstance(word, str) else ""


def _key(part: Sexpr) -> str:
    """The word of a part of a section, or its first word, correctly spelt."""
    return _MISSPELT.get(part, part) if isinstance(part, str) else head(part)


def sections(parts: Iterable[Sexpr], note: Note) -> Iterator[Section]:
    """The sections of a file, each action one, with those that stood inside others."""
    for part in _rejoined(_with_colons(tuple(parts), note), note):
        if not isinstance(part, tuple) or not part:
            note(f"'{show(part)[:40]}' stood among the sections")
            continue
        name = head(part)
        if name != part[0]:
            note(f"section {show(part[0])} is called {name}")
        nested = [child for child in part[1:] if head(child) in _ALL_SECTIONS]
        own = tuple(child for child in part[1:] if head(child) not in _ALL_SECTIONS)
        group = name == ":action" and bool(own) and isinstance(own[0], tuple)
        if group:
            note("several actions stood in one section")
            members = [(":action", *child) for child in own if isinstance(child, tuple) and head(child) not in FIELDS]
            yield from (_action(member, note) for member in members)
        elif name == ":action" and part[0] == ":actions" and all(isinstance(child, str) for child in own):
            note("the actions stood in a section around them")  # which may have listed their names
        elif name == ":action":
            yield _action((name, *own), note)
        else:
            yield (name, *own)
        if nested and not group:
            note(f"section {', '.join(dict.fromkeys(head(section) for section in nested))} stood inside {name}")
        yield from sections(nested, note)


def _with_colons(parts: Section, note: Note) -> Section:
    """The sections of a file, with the colon before their names that some models leave out."""
    sections: list[Sexpr] = []
    there = {head(part) for part in parts}
    for part in parts:
        word = part[0] if isinstance(part, tuple) and part else ""
        meant = _MISSPELT.get(f":{word}", f":{word}") if isinstance(word, str) else ""
        if meant in SECTIONS and meant not in there:
            note(f"section {word} is called :{word}")
            part = (f":{word}", *part[1:])
        sections.append(part)
    return tuple(sections)


def _rejoined(parts: Section, note: Note) -> Iterator[Sexpr]:
    """The parts, with fields after an action moved back into it: it was closed too early."""
    waiting: list[Sexpr] | None = None
    key = ""
    for part in _with_facts(parts, note):
        word = _key(part)
        if waiting is not None and (key or word in FIELDS):
            note("an action was closed before its end")
            waiting.append(part)
            key = word if isinstance(part, str) else ""
            continue
        if waiting is not None:
            yield tuple(waiting)
        waiting = list(part) if isinstance(part, tuple) and word == ":action" else None
        if waiting is None:
            yield part
    if waiting is not None:
        yield tuple(waiting)


def _with_facts(parts: Section, note: Note) -> list[Sexpr]:
    """The parts, with facts after `:init` moved back into it: it was closed too early."""
    joined: list[Sexpr] = []
    behind: list[Sexpr] = []
    for part in (*parts, ()):
        if joined and head(joined[-1]) == ":init" and _is_fact(part):
            behind.append(part)
            continue
        if behind:
            note("facts stood behind :init, which was closed before its end")
            joined[-1] = (*joined[-1], *behind)
            behind.clear()
        joined.append(part)
    return joined[:-1]


def _is_fact(part: Sexpr) -> bool:
    """Whether a part of a file may be a fact, and no section."""
    words = part[1] if isinstance(part, tuple) and len(part) == 2 and part[0] == "not" else part
    if not isinstance(words, tuple) or not words or not all(isinstance(word, str) for word in words):
        return False
    return not str(words[0]).startswith(":") and words[0] not in ("define", "problem", "domain")


def _action(section: Section, note: Note) -> Section:
    """An action as `:action NAME :parameters (…) :precondition … :effect …`."""
    name, fields, key = section[1] if len(section) > 1 else "unnamed", dict[str, list[Sexpr]](), ""
    there = set(map(_key, section[2:]))
    for part in section[2:]:
        word = _key(part)
        bare = part if isinstance(part, str) else part[0] if part else ""
        meant = _MISSPELT.get(f":{bare}", f":{bare}") if isinstance(bare, str) else ""
        if meant in FIELDS and meant not in there:  # without its colon
            word = meant
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
        return section  # a misplaced part: the check reports it
    action: list[Sexpr] = [":action", name]
    for key in FIELDS:
        if key in fields:
            action += [key, _field(key, fields[key], note)]
    return tuple(action)


def _field(key: str, parts: list[Sexpr], note: Note) -> Sexpr:
    if key == ":parameters":
        whole = parts[0] if len(parts) == 1 and isinstance(parts[0], tuple) else tuple(parts)
        return flat_list(whole, lambda what: None)
    condition = _condition(parts, note)
    return _literals(condition, note) if key == ":effect" else condition


def _literals(effect: Sexpr, note: Note) -> Sexpr:
    """An effect whose literals are no longer in lists to add and to delete."""
    if not isinstance(effect, tuple) or not effect:
        return effect
    word, rest = effect[0], effect[1:]
    if word in _ADDING | _DELETING and rest and all(isinstance(part, tuple) for part in rest):
        note(f"an effect stood in '{word}'")
        literals = [one for part in rest for one in (part[1:] if part[:1] == ("and",) else (part,))]
        signed = tuple(literal if word in _ADDING else ("not", literal) for literal in literals)
        return signed[0] if len(signed) == 1 else ("and", *signed)
    if word == "and":
        return (word, *(_literals(part, note) for part in rest))
    if word in ("when", "forall") and len(rest) == 2:
        return (word, rest[0], _literals(rest[1], note))
    return effect


def _condition(parts: list[Sexpr], note: Note) -> Sexpr:
    if len(parts) == 1:
        return joined(parts[0], note)
    if parts:
        note("conditions stood side by side without 'and'")
    return ("and", *(joined(part, note) for part in parts))


def joined(condition: Sexpr, note: Note) -> Sexpr:
    """A condition; a bare list of conditions is their conjunction."""
    if not isinstance(condition, tuple) or not condition:
        return condition
    if all(isinstance(part, tuple) for part in condition):
        if len(condition) == 1:
            note("a condition stood in parentheses twice")
            return joined(condition[0], note)
        note("conditions stood side by side without 'and'")
        return ("and", *(joined(part, note) for part in condition))
    if condition[0] in WORDS and len(condition) == 3:
        meant = WORDS[str(condition[0])]
        note(f"'{condition[0]}' is called {meant}")
        condition = (meant, *condition[1:])
    if condition[0] in ("and", "or", "not", "imply"):
        return (condition[0], *(joined(part, note) for part in condition[1:]))
    if len(condition) == 3 and condition[0] in ("forall", "exists", "when"):
        first = joined(condition[1], note) if condition[0] == "when" else condition[1]
        return (condition[0], first, joined(condition[2], note))
    return condition


def flat_list(parts: Section, note: Note) -> Section:
    """A typed list without parentheses around its entries, and with `-` before its types.

    A group in parentheses is a list of its own, unless a type follows it: untyped names in it stay
    untyped, whatever follows the group. `(either a b)` after a `-` stays.
    """
    items: list[Sexpr] = []
    without_type: list[Sexpr] = []
    for number, part in enumerate(parts):
        if isinstance(part, str) and part.startswith(":"):
            note("a type stood behind ':' and not behind '-'")
            items += ["-", part[1:]] if part != ":" else ["-"]
            continue
        if isinstance(part, tuple) and not (number and parts[number - 1] == "-"):
            note("entries of a list stood in parentheses")
            group = flat_list(part, note)
            end = len(group) - group[::-1].index("-") + 1 if "-" in group else 0
            following = parts[number + 1] if number + 1 < len(parts) else ""
            typed_from_outside = isinstance(following, str) and following[:1] in ("-", ":")
            items += group if typed_from_outside else group[:end]
            without_type += () if typed_from_outside else group[end:]
        else:
            items.append(part)
    return (*items, *without_type)


def facts(parts: Section, note: Note) -> Section:
    """The facts of `:init`, each once, without `and` around them and without what is not true."""
    unique: dict[Sexpr, None] = {}
    for part in parts:
        if head(part) == "and" and isinstance(part, tuple):
            note("the facts stood in 'and'")
            unique |= dict.fromkeys(facts(part[1:], note))
        elif head(part) == "not":
            note("a negated fact was left out: what is not listed is false")
        elif isinstance(part, tuple) and part and all(isinstance(fact, tuple) for fact in part):
            note("the facts stood in parentheses of their own")
            unique |= dict.fromkeys(facts(part, note))
        else:
            unique[part] = None
    return tuple(unique)


def renamed(expressions: Section, names: Mapping[str, str]) -> Section:
    """The expressions with predicates (the first words of lists) under other names."""

    def inner(part: Sexpr) -> Sexpr:
        if not isinstance(part, tuple) or not part:
            return part
        first, *rest = part
        word = names.get(first, first) if isinstance(first, str) else inner(first)
        return (word, *map(inner, rest))

    return tuple(map(inner, expressions))


@dataclass
class Parts:
    """Both files as sections, while they are repaired. `goals` are the goals of the problem, of which there is one.

    `others` and `problem_others` are unknown sections: they are kept, so that the check reports them.
    """

    name: str = "unnamed"
    problem_name: str = "unnamed"
    asked_domain: str | None = None
    requirements: list[str] = field(default_factory=list)
    types: list[TypedName] = field(default_factory=list)
    constants: list[TypedName] = field(default_factory=list)
    predicates: list[Section] = field(default_factory=list)
    actions: list[Section] = field(default_factory=list)
    others: list[Section] = field(default_factory=list)
    problem_others: list[Section] = field(default_factory=list)
    objects: list[TypedName] | None = None
    unread_objects: Section = ()
    init: Section | None = None
    goals: list[Section] = field(default_factory=list)

    @property
    def goal(self) -> Section:
        """The conditions of all goals."""
        return tuple(part for goal in self.goals for part in goal)

    @property
    def objects_and_constants(self) -> tuple[TypedName, ...]:
        return (*self.constants, *(self.objects or ()))

    def domain_text(self) -> str:
        """The domain file."""
        parts: list[Section] = [("domain", self.name)]
        lists: list[tuple[str, Iterable[Sexpr]]] = [
            (":requirements", self.requirements),
            (":types", untyped(self.types)),
            (":constants", untyped(self.constants)),
            (":predicates", self.predicates),
        ]
        parts += [(name, *items) for name, items in lists if tuple(items)]
        return _written([*parts, *self.others, *self.actions])

    def problem_text(self) -> str:
        """The problem file."""
        parts: list[Section] = [("problem", self.problem_name), (":domain", self.asked_domain or self.name)]
        if self.objects is not None:
            parts.append((":objects", *untyped(self.objects), *self.unread_objects))
        if self.init is not None:
            parts.append((":init", *self.init))
        parts += self.problem_others
        parts += [(":goal", *goal) for goal in self.goals]
        return _written(parts)


def untyped(names: Iterable[TypedName]) -> Section:
    """Typed names as a list again."""
    return tuple(word for name in names for word in (name.name, "-", name.type))


def _written(parts: Iterable[Section]) -> str:
    return "(define\n" + "\n".join(f"  {show(part)}" for part in parts) + "\n)"
