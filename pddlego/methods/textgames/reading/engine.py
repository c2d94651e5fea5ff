"""The engine of reading rules: it applies rules to observations, and returns the problem that they result in.

Of the rules that match a sentence, those with the most literal template are applied, first those for the command before
it. What these state, the others for the sentence leave alone. After each rule, placeholders are merged by the `once`
invariants of the setting: if an exit leads to one room, and the rules know `(connected kitchen loc3 north)` and
`(connected kitchen pantry north)`, then `loc3` is the pantry.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain

from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.reading.rules import (
    NOTE,
    Pattern,
    ReadingRule,
    leaf_types,
    slot_of,
    whole_group,
)
from pddlego.methods.textgames.reading.template import ASCII_LOWER, Values, sentences, split_list, split_name
from pddlego.methods.textgames.settings import MapRule, ReaderRules
from pddlego.pddl import Atom, Edit, Problem, SectionEdit, TypedName, apply_edit, edit_between, to_name
from pddlego.pddl.names import is_name
from pddlego.util.text import filled, names_in

_OPEN = re.compile(r"[?*{]").match
"""Matches a term that is not a name: a variable, any object, or a slot without a value."""

SCORE_UP, SCORE_DOWN = "The score goes up.", "The score goes down."
"""The sentences that are read after an observation with another score."""


@dataclass(frozen=True)
class ReadResult:
    """The problem after reading, and the objects that were `renamed` (old name: new name).

    `unread` are the sentences that no rule matches, each with the number of its exchange; `uses` counts the sentences
    that each rule, by its number, was applied to. `untyped` are new objects whose type has subtypes, each with the
    number of the rule that named it first. `unmet` are effects of the plan's steps that the rules contradict: the
    number of the exchange, the fact, and whether it should hold. `stated` are the facts that the rules have made true
    and those that they have made false, whether or not they were known.
    """

    problem: Problem
    renamed: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[tuple[int, str], ...] = ()
    uses: Mapping[int, int] = field(default_factory=dict)
    untyped: Mapping[str, int] = field(default_factory=dict)
    unmet: tuple[tuple[int, Atom, bool], ...] = ()
    stated: tuple[frozenset[Atom], frozenset[Atom]] = (frozenset(), frozenset())

    def edit_from(self, before: Problem, constants: Iterable[TypedName]) -> Edit:
        """The edit of `before` with this result, in which renamed objects are replacements."""
        types = {obj.name: obj.type for obj in before.objects}
        renamed = ((old, new) for old, new in self.renamed.items() if old in types)
        pairs = tuple((f"{old} - {types[old]}", f"{new} - {types[old]}") for old, new in renamed)
        base = apply_edit(before, Edit(SectionEdit(replace=pairs)), constants).problem if pairs else before
        change = edit_between(base, self.problem)
        return replace(change, objects=replace(change.objects, replace=pairs))


def sentences_of(exchange: Exchange, task: str = "") -> tuple[str, ...]:
    """The sentences of an exchange: those of the task with the first observation, and one about a changed score."""
    asked = sentences(f"Task: {task}") if task and exchange.command is None else ()
    score = (SCORE_UP,) if exchange.gained > 0 else (SCORE_DOWN,) if exchange.gained < 0 else ()
    return (*asked, *sentences(exchange.text), *score)


def with_present_names(exchange: Exchange, exits: Iterable[Sequence[str]], knowledge: Knowledge) -> Exchange:
    """An exchange whose effects have the placeholders that are now behind the same `exits`.

    Effects about a placeholder without such an exit are left out: its name may stand for another room now.
    """
    there = {(room, direction): other for room, other, direction in exits}
    behind = [fact.args for fact in exchange.unnamed if len(fact.args) == 3 and knowledge.is_placeholder(fact.args[1])]
    found = {name: there[room, direction] for room, name, direction in sorted(behind) if (room, direction) in there}
    lost = {name for _, name, _ in behind} - found.keys()
    true, false = (
        frozenset(
            Atom(fact.predicate, tuple(found.get(arg, arg) for arg in fact.args))
            for fact in facts
            if lost.isdisjoint(fact.args)
        )
        for facts in exchange.effects
    )
    return replace(exchange, effects=(true, false)) if behind else exchange


def read_news(situation: PromptContext, rules: Sequence[ReadingRule] | None = None) -> ReadResult:
    """Read the new observations with `rules`; None for those of the setting."""
    rules = situation.reader.rules if rules is None else rules
    number = int("".join(filter(str.isdigit, situation.placeholder)) or 1)
    reading = _Reading(rules, situation.knowledge, situation.reader, number)
    for index, exchange in enumerate(situation.seen.news):
        reading.read(index, exchange, situation.task)
    return reading.result()


class HistoryReader:
    """Reads the history of an episode. If it only grew since the last time, only the new exchanges are read.

    Placeholders get the same numbers as in a reading of fewer observations: a number is never used again.
    """

    def __init__(self) -> None:
        self._last: tuple[tuple[object, ...], tuple[Exchange, ...], _Reading | None] = ((), (), None)

    def read(
        self,
        situation: PromptContext,
        start: Knowledge,
        rules: Sequence[ReadingRule],
        opinions: Iterable[Pattern] = (),
        first: int = 0,
    ) -> ReadResult:
        """Read the observations from `first` with `rules`, beginning with the problem of `start`, and add opinions."""
        about, history = (tuple(rules), start, situation.reader, situation.task, first), situation.seen.history
        known, read, last = self._last
        if last is None or known != about or history[: len(read)] != read:
            read, last = (), _Reading(rules, start, situation.reader, 1)
        reading = last.copy()
        for index in range(max(first, len(read)), len(history)):
            reading.settle()
            reading.read(index, history[index], situation.task)
        self._last = about, history, reading
        return reading.copy().add_opinions(opinions).result()


class _Reading:
    """A problem while it changes. `facts` are the arguments of the facts by predicate."""

    def __init__(self, rules: Sequence[ReadingRule], knowledge: Knowledge, given: ReaderRules, number: int) -> None:
        self.rules, self.knowledge, self.given, self.number = rules, knowledge, given, number
        self.domain, self.before = knowledge.domain, knowledge.problem
        self.constants = {constant.name for constant in knowledge.domain.constants}
        self.types = {obj.name: obj.type for obj in self.before.sorted_objects()}
        self.facts: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for fact in self.before.facts:
            self.facts[fact.predicate].add(fact.args)
        self.alike = [(number, rule, rule.needed) for number, rule in enumerate(rules) if rule.like]
        self.once = [rule.once for rule in knowledge.invariants if rule.once and not rule.names and not rule.unless]
        if given.map is not None and given.map.exit:
            self.once.append(Atom(given.map.exit, ("?from", "*", "?direction")))
        self.renamed: dict[str, str] = {}
        self.unread: list[tuple[int, str]] = []
        self.uses: Counter[int] = Counter()
        self.origin: dict[str, int] = {}
        self.current = 0
        self.unmet: list[tuple[int, Atom, bool]] = []
        self.added, self.forgotten = set[Atom](), set[Atom]()
        self.settled = set(self.types)
        self.by_command = set[str]()

    def copy(self) -> _Reading:
        """A copy that changes apart from this one."""
        twin = copy(self)
        for name in ("types", "origin", "uses", "unread", "unmet", "added", "forgotten"):
            setattr(twin, name, copy(getattr(self, name)))
        twin.facts = defaultdict(set, {predicate: set(args) for predicate, args in self.facts.items()})
        return twin

    def result(self) -> ReadResult:
        """What was read so far."""
        facts = frozenset(
            Atom(predicate, args)
            for predicate, found in self.facts.items()
            for args in found
            if not predicate.startswith(NOTE)
        )
        objects = {TypedName(name, kind) for name, kind in self.types.items()}
        problem = replace(self.before, objects=frozenset(objects), facts=facts)
        leaves = leaf_types(self.domain)
        untyped = {
            name: number for name, number in self.origin.items() if self.types.get(name, leaves[0]) not in leaves
        }
        stated = frozenset(self.added & facts), frozenset(self.forgotten - facts)
        return ReadResult(
            problem, self.renamed, tuple(self.unread), self.uses, untyped, tuple(self.unmet), stated=stated
        )

    def settle(self) -> None:
        """Begin a new question: what has a name now keeps its number, and is renamed as a known object."""
        self.settled = set(self.types)
        used = [_number(name) for name in self.types if self.knowledge.is_placeholder(name)]
        self.number = max([self.number, *(number + 1 for number in used)])

    def add_opinions(self, opinions: Iterable[Pattern]) -> _Reading:
        """This reading with the opinions about objects that are known."""
        for opinion in opinions:
            if all(term in self.types or term in self.constants for term in opinion.terms):
                self._add(opinion.predicate, opinion.terms)
        return self

    def read(self, index: int, exchange: Exchange, task: str) -> None:
        """Apply the rules to an exchange: first those with `text`, in their order, then the others by sentence."""
        for note in [predicate for predicate in self.facts if predicate.startswith(NOTE)]:
            del self.facts[note]
        map_rule = self.given.map
        visited = frozenset(self.facts.get(map_rule.visited, ())) if map_rule else frozenset()
        for number, rule in enumerate(self.rules):
            for names in _matches(rule, exchange, task) if rule.text else ():
                self._apply_with(number, names)
        unread, found, command = list[str](), tuple[str, ...](), exchange.command or ""
        if not self.rules or not all(rule.text for rule in self.rules):
            found = sentences_of(exchange, task)
            unread = [one for one in found if not self._read_sentence(one, command)]
        if map_rule is not None:
            self._name_entered_room(exchange, map_rule, visited)
        changes = [*self._changes(exchange)]
        # The text says nothing but what the step does. It is one of this problem if the problem has what it deletes.
        is_planned = exchange.after is not None and all(holds or is_so for _, holds, is_so in changes)
        self.unread += ((index, sentence) for sentence in unread if not (exchange.refused or is_planned))
        matched = (number for one in found if is_planned for number, _ in matching(self.rules, one, command))
        ignored = {self.rules[number].ignore for number in matched} if not unread else {True}
        is_silent = ignored == {True}  # then no rule contradicts the step
        for fact, holds, is_so in changes:
            if is_so != holds and is_silent and is_planned:
                (self._add if holds else self._drop)(fact.predicate, fact.args)
            elif is_so != holds:
                self.unmet.append((index, fact, holds))

    def _name_entered_room(self, exchange: Exchange, map_rule: MapRule, visited: Collection[tuple[str, ...]]) -> None:
        """Merge the placeholder that the plan's step led to with the room where the agent is, if that one is new."""
        here = self.facts.get(map_rule.here, set())
        if len(here) == 1 and here.isdisjoint(visited):
            ((room,),) = here
            for fact, holds, _ in [*self._changes(exchange)]:
                if holds and fact.predicate == map_rule.here and fact.args != (room,):
                    self._merge(fact.args[0], room, {})

    def _changes(self, exchange: Exchange) -> Iterator[tuple[Atom, bool, bool]]:
        """The effects about known objects: each fact under its present name, its new value, and its present one."""
        exits = self.facts.get(self.given.map.exit, ()) if self.given.map else ()
        for fact, holds in with_present_names(exchange, exits, self.knowledge).changes:
            args = tuple(self.renamed.get(arg, arg) for arg in fact.args)
            if all(arg in self.types or arg in self.constants for arg in args):
                yield Atom(fact.predicate, args), holds, next(self._known(fact.predicate, args), None) is not None

    def _read_sentence(self, sentence: str, command: str) -> bool:
        """Whether a rule read the sentence. It did not if a fact of `find` without a sign was missing each time."""
        matched, read, self.by_command = False, list[bool](), set()
        for number, values in chain(self._alike(sentence), matching(self.rules, sentence, command)):
            matched = True
            read += [self._apply_with(number, names) for names in _names(self.rules[number], values)]
        return matched and (any(read) or not read)

    def _alike(self, sentence: str) -> Iterator[tuple[int, Values]]:
        """The numbers of the rules with `like` for a sentence, with the texts of their groups."""
        for number, rule, needed in self.alike:
            if needed and not self.facts.get(needed):  # the rules before may have added facts
                continue
            match = next(filter(None, (expression.search(sentence) for expression in rule.expressions)), None)
            if match is not None:
                yield number, _groups(rule, match.groupdict()) if match.re.groups else {}

    def _apply_with(self, number: int, names: Mapping[str, str]) -> bool:
        """Apply the rule of that number with the PDDL names of its slots, unless one of them is not a name.

        Returns False if a fact of `find` without a sign is missing.
        """
        rule = self.rules[number]
        self.current = number
        self.uses[number] += 1
        if not all(names.values()):
            rule = rule.without(frozenset(slot for slot, name in names.items() if not name))
        if not all(is_name(names.get(name, "")) for name in rule.used):
            return True
        binding: dict[str, str] = {}
        for term in rule.slot_terms:
            name = self._named(term, names)
            if name is None:
                return True
            binding[term] = name
        patterns, left_alone = rule.patterns, frozenset[str]() if rule.after else self.by_command
        forget, add = ([one for one in patterns[key] if one.predicate not in left_alone] for key in ("forget", "add"))
        for pattern in patterns["find"]:
            if not self._find(pattern, binding):
                return bool(pattern.sign)
        for left, right in rule.same:
            self._merge(binding.get(left, left), binding.get(right, right), binding)
        for _ in range(2):  # once more after a merge, under the new names
            for pattern in forget:
                self._forget(pattern, binding)
            for text in rule.objects:
                term, _, kind = filled(text, names).partition(" - ")
                self._declare(binding.get(term.strip(), term.strip()), kind.strip())
            for pattern in add:
                self._add(pattern.predicate, _bound(pattern, binding))
            if not self._merge_all({pattern.predicate for pattern in add}, binding):
                break
        self.by_command |= {one.predicate for one in (*forget, *add) if rule.after}
        merged = {term for pair in rule.same for term in pair}
        found = (one for one in patterns["find"] if one.sign == "+" or (not one.sign and merged & one.variables))
        self.added |= {Atom(one.predicate, _bound(one, binding)) for one in (*add, *found)}
        return True

    def _named(self, term: str, names: Mapping[str, str]) -> str | None:
        """The name that a term stands for; variables and `*` stand for themselves; None without an opposite."""
        if not term.startswith("{"):
            return term
        name = names.get(slot_of(term))
        return self._opposite(name) if name is not None and term.startswith("{back:") else name

    def _opposite(self, direction: str) -> str | None:
        offsets = self.given.map.directions if self.given.map else {}
        x, y = offsets.get(direction, (0, 0))
        return next((name for name, offset in offsets.items() if offset == (-x, -y) != (0, 0)), None)

    def _find(self, pattern: Pattern, binding: dict[str, str]) -> bool:
        """Look a pattern of `find` up, and bind its variables. Returns whether the rule still applies."""
        wanted = _bound(pattern, binding)
        found = next(self._known(pattern.predicate, wanted), None)
        if pattern.sign == "!":
            return found is None
        if found is None:
            if pattern.sign != "+":
                return False
            found = self._with_placeholder(pattern.predicate, wanted)
            if found is None:
                return False
            self._add(pattern.predicate, found)
        binding.update({term: name for term, name in zip(wanted, found, strict=True) if term.startswith("?")})
        return True

    def _known(self, predicate: str, wanted: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """The arguments of known facts that match `wanted`; variables and `*` match any name.

        They are in the reverse order of names, so that always the same one of contradictory facts is the first.
        """
        if not any(map(_OPEN, wanted)):
            options = (wanted, wanted[::-1]) if predicate in self.given.symmetric else (wanted,)
            yield from (args for args in options if args in self.facts[predicate])
            return
        fixed = [(place, term) for place, term in enumerate(wanted) if not _OPEN(term)]
        for args in sorted(self.facts.get(predicate, ()), reverse=True):
            for option in (args, args[::-1])[: 2 if predicate in self.given.symmetric else 1]:
                if len(option) == len(wanted) and all(option[place] == term for place, term in fixed):
                    yield option

    def _with_placeholder(self, predicate: str, wanted: tuple[str, ...]) -> tuple[str, ...] | None:
        """The fact with a room on the grid, or else a new placeholder, for its one variable; None if it has not one."""
        unbound = {term for term in wanted if term.startswith("?")}
        if len(unbound) != 1 or not self.knowledge.placeholder:
            return None
        name = self._across(predicate, wanted) or self._new_placeholder()
        return tuple(name if term in unbound else term for term in wanted)

    def _new_placeholder(self) -> str:
        prefix = self.knowledge.placeholder
        while f"{prefix}{self.number}" in self.types:
            self.number += 1
        return f"{prefix}{self.number}"

    def _across(self, predicate: str, wanted: tuple[str, ...]) -> str | None:
        """The known room behind an exit, found by its place on the grid (`[map] grid`); None if unknown."""
        map_rule = self.given.map
        if map_rule is None or not map_rule.grid or predicate != map_rule.exit or not wanted[1].startswith("?"):
            return None
        exits = {(room, direction): other for room, other, direction in sorted(self.facts[predicate])}
        places, waiting = {wanted[0]: (0, 0)}, deque([wanted[0]])
        while waiting:
            room = waiting.popleft()
            for direction, (dx, dy) in map_rule.directions.items():
                other = exits.get((room, direction))
                if other is not None and other not in places:
                    places[other] = (places[room][0] + dx, places[room][1] + dy)
                    waiting.append(other)
        there = map_rule.directions.get(wanted[2])
        rooms = (room for room, place in places.items() if place == there)
        return next((room for room in rooms if map_rule.grid == "all" or not self.knowledge.is_placeholder(room)), None)

    def _add(self, predicate: str, args: tuple[str, ...]) -> None:
        """Add a fact, and declare its new objects with the types of the predicate's parameters."""
        if predicate.startswith(NOTE):
            self.facts[predicate].add(args)
            return
        declared = self.domain.predicates_by_name.get(predicate)
        if declared is None or any(map(_OPEN, args)) or len(args) != len(declared.parameters):
            return
        if predicate in self.given.symmetric and args[::-1] in self.facts[predicate]:
            args = args[::-1]
        elif predicate in self.given.symmetric and self.given.map and predicate == self.given.map.closed:
            args = tuple(sorted(args))
        self.facts[predicate].add(args)
        for name, parameter in zip(args, declared.parameters, strict=True):
            self._declare(name, parameter.type)

    def _declare(self, name: str, kind: str) -> None:
        """Declare an object, or give a known object of a more general type this type."""
        known = self.types.get(name)
        is_new = self.domain.is_a(kind, known) if known else is_name(name)
        if is_new and name not in self.constants:
            self.types[name] = kind
            self.origin.setdefault(name, self.current)

    def _forget(self, pattern: Pattern, binding: Mapping[str, str]) -> None:
        self._drop(pattern.predicate, _bound(pattern, binding))

    def _drop(self, predicate: str, wanted: tuple[str, ...]) -> None:
        """Remove the facts that match `wanted`."""
        for args in list(self._known(predicate, wanted)):
            self.facts[predicate] -= {args, args[::-1]} if predicate in self.given.symmetric else {args}
            self.forgotten.add(Atom(predicate, args))

    def _merge_all(self, predicates: Iterable[str], binding: dict[str, str]) -> bool:
        """Merge placeholders until each `once` invariant about the predicates holds, or only names are in its way."""
        merged = False
        while (pair := next(self._twins(predicates), None)) is not None:
            self._merge(*pair, binding)
            merged = True
        return merged

    def _twins(self, predicates: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Pairs of a placeholder and the name of the same object, by the `once` invariants."""
        for once in self.once:
            stars = [index for index, term in enumerate(once.args) if term == "*"]
            if once.predicate not in predicates or len(stars) != 1:
                continue
            (star,) = stars
            groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
            for args in self.facts.get(once.predicate, ()):
                groups[args[:star] + args[star + 1 :]].append(args[star])
            several = {group: sorted(names) for group, names in groups.items() if len(names) > 1}
            unknown = (
                ((*group[:star], name, *group[star:]), group)
                for group, names in several.items()
                for name in names
                if self.knowledge.is_placeholder(name)
            )
            for _, group in sorted(unknown):
                hidden = [name for name in several[group] if self.knowledge.is_placeholder(name)]
                kept = next((name for name in several[group] if name not in hidden), min(hidden, key=_number))
                yield next(name for name in reversed(hidden) if name != kept), kept

    def _merge(self, old: str, new: str, binding: dict[str, str]) -> None:
        """Make the two names one object: the placeholder `old` becomes `new`."""
        if self.knowledge.is_placeholder(new) and not self.knowledge.is_placeholder(old):
            old, new = new, old
        if old == new or not self.knowledge.is_placeholder(old) or not is_name(new):
            return

        def name(candidate: str) -> str:
            return new if candidate == old else candidate

        kind = self.types.pop(old, None)
        if kind is not None and new not in self.constants:
            self.types.setdefault(new, kind)
        for predicate, found in list(self.facts.items()):
            if any(old in args for args in found):
                self.facts[predicate] = set()
                for args in found:
                    self._add(predicate, tuple(map(name, args)))
        self.renamed = {key: name(value) for key, value in self.renamed.items()}
        self.renamed |= {old: new} if old in self.settled else {}
        binding.update({term: name(value) for term, value in binding.items()})


def _number(name: str) -> int:
    return int(re.sub(r"\D", "", name) or 0)


def _bound(pattern: Pattern, binding: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(binding.get(term, term) for term in pattern.terms)


def matching(rules: Sequence[ReadingRule], sentence: str, command: str) -> list[tuple[int, Values]]:
    """The numbers of the rules for a sentence after a command, with the values of their slots.

    These are the rules with the most literal template of those that match, first those for the command; they are alone
    if one of them ignores the sentence. If none matches, a rule that ignores sentences matches whatever its slots hold.
    """
    fitting: list[tuple[int, tuple[str, ...], int, Values]] = []
    lowered = sentence.translate(ASCII_LOWER)
    for number, rule in enumerate(rules):
        for template in rule.templates:
            if not lowered.startswith(template.literals[0]):
                continue
            values = template.match(sentence)
            if values is not None and (given := _after(rule, command, values)) is not None:
                fitting.append((template.literal_length, template.literals, number, given))
    if not fitting:
        return _ignoring(rules, sentence, command)
    best = max(fitting, key=lambda fit: fit[0])
    found = [(number, values) for _, literals, number, values in fitting if literals == best[1]]
    by_command = [(number, values) for number, values in found if rules[number].after]
    if any(rules[number].ignore for number, _ in by_command):
        return by_command
    return [*by_command, *((number, values) for number, values in found if not rules[number].after)]


def _ignoring(rules: Sequence[ReadingRule], sentence: str, command: str) -> list[tuple[int, Values]]:
    """The first rule that ignores a sentence in whose slots there may be any text. Its templates have a word."""
    for number, rule in enumerate(rules):
        templates = (one for one in rule.templates if rule.ignore and re.search(r"\w", "".join(one.literals)))
        if any(one.texts(sentence) is not None for one in templates) and _after(rule, command, {}) is not None:
            return [(number, {})]
    return []


def _after(rule: ReadingRule, command: str, values: Values) -> Values | None:
    """The values together with those of the command; None if the command does not match, or they differ."""
    if rule.command_template is None:
        return values
    before = rule.command_template.match(command)
    if before is None or any(values[name] != before[name] for name in values.keys() & before.keys()):
        return None
    return {**before, **values}


def _groups(rule: ReadingRule, groups: Mapping[str, str | None]) -> Values:
    """The texts of an expression's groups, whole ones; empty if unmatched."""
    values: dict[str, tuple[str, ...]] = {}
    for name, text in sorted(groups.items()):
        whole = whole_group(name) if rule.like else name
        parts = (*values.get(whole, ()), text) if text else values.get(whole, ())
        values[whole] = split_list(text or "") if name == rule.list_group else (" ".join(parts),)
    return values


def _names(rule: ReadingRule, values: Values) -> Iterator[Mapping[str, str]]:
    """The PDDL names by slot, once for each name of the list if there is one, and for each of its `marks`."""
    if not values:
        yield {}
        return
    excluded = {to_name(name) for name in rule.excluded}
    several = next((slot for slot, texts in values.items() if len(texts) != 1), next(iter(values)))
    for index in range(len(values[several])):
        chosen = {slot: texts[index if slot == several else 0] for slot, texts in values.items()}
        split = {slot: split_name(text, (*rule.drop, *rule.marks)) for slot, text in chosen.items()}
        names = {slot: to_name(name) for slot, (_, name) in split.items()}
        marks = [word for words, _ in split.values() for word in words if word in rule.marks]
        if not excluded & set(names.values()):
            yield from ({**names, "mark": mark} for mark in marks or ("",)) if rule.marks else (names,)


def _matches(rule: ReadingRule, exchange: Exchange, task: str) -> Iterator[Mapping[str, str]]:
    """The texts of the rule's groups as PDDL names, for each match in the observation."""
    command_match, task_match = re.search(rule.command, exchange.command or ""), re.search(rule.task, task)
    if command_match is None or task_match is None:
        return
    given = {**task_match.groupdict(), **command_match.groupdict()}
    unknown = {name: f"{{{name}}}" for name in names_in(rule.text)}  # such as the {2} of two repetitions
    text = filled(rule.text, unknown | {name: re.escape(value or "") for name, value in given.items()})
    for match in re.finditer(text, exchange.text, re.MULTILINE):
        yield from _names(rule, _groups(rule, {**given, **match.groupdict()}))
