"""Lifts the ground facts that one sentence makes true to a reading rule for all sentences of its form.

A name of the facts that is in the sentence, or in the command before it, becomes a slot. The agent's room becomes
`?here`, the opposite of a direction `{back:d}`, and the room behind an exit `?to`, a new placeholder if it is unknown.
Names in a row with the same facts become a list. Other constants than rooms and directions stay. The invariants of the
setting complete what is not stated: ways back, and the facts that the new ones exclude.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.reading.engine import SCORE_DOWN, SCORE_UP, matching
from pddlego.methods.textgames.reading.rules import MOST_ENTRIES, LearnedRules, Pattern, ReadingRule, parse_rule
from pddlego.methods.textgames.reading.template import MOST_SLOTS, MOST_WORDS, parse_template, read_name
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Atom, to_name
from pddlego.pddl.conditions import changed_atoms

_WORD = re.compile(r"[^\s,;:.!?\"()]+")
_ARTICLE = re.compile(r"(?:\b(the )|\b(?:an?|some) )((?:[\w-]+ ){0,2})\Z", re.IGNORECASE)
"""An article at the end of a text, and words that are not part of the name after it."""
_BETWEEN = re.compile(r"(?:,? and|,) (?:(?:an?|the|some) )?((?:[\w-]+ ){0,2})", re.IGNORECASE)
"""What is between two names of a list, with words that are not part of the second name."""
DOOR = re.compile(r"(?:^|[ _])(?:door|gate|hatch)\b")
"""Matches the word for what is between two rooms, in a name or in a sentence."""
_VARYING = "word"
"""The slot for words that vary without meaning."""


@dataclass(frozen=True)
class Stated:
    """What a sentence makes true and false, and the `types` of its new objects."""

    add: tuple[Atom, ...] = ()
    delete: tuple[Atom, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """The names that its facts use."""
        return frozenset[str]().union(*(fact.args for fact in (*self.add, *self.delete)))


@dataclass(frozen=True)
class AskedSentence:
    """A sentence after a command, and the `knowledge` before it. `placeholder` is the next one, or empty.

    `effects` are those of the plan's step (`Exchange.effects`), for the first sentence after its command. `refused` are
    the directions in which the game did not lead the agent out of this room.
    """

    command: str
    sentence: str
    knowledge: Knowledge
    placeholder: str
    map: MapRule | None
    effects: tuple[frozenset[Atom], frozenset[Atom]] = (frozenset(), frozenset())
    speaks_directions: bool = True
    refused: frozenset[str] = frozenset()

    @property
    def spoken_directions(self) -> frozenset[str]:
        """The directions, if sentences of the game name them: then a sentence without one is not about an exit."""
        return frozenset(self.map.directions if self.map and self.speaks_directions else ())

    def said_names(self, names: Collection[str]) -> frozenset[str]:
        """Those of the names that are in the sentence, or in a command that helps to understand it."""
        return frozenset(name for _, _, name in name_spans(f"{self.sentence}\n{self.telling_command}", names))

    @property
    def telling_command(self) -> str:
        """The command if it helps to understand the sentence: that of an action that does not move the agent."""
        verb, domain = self.command.split(" ")[0], self.knowledge.domain
        verbs = {name: rule.command.split(" ")[0] for name, rule in self.knowledge.actions.items() if rule.command}
        moving = {
            action.name
            for action in domain.actions
            if self.map and any(atom.predicate == self.map.here for atom, _ in changed_atoms(action.effect))
        }
        return self.command if any(word == verb and name not in moving for name, word in verbs.items()) else ""

    @property
    def hidden(self) -> frozenset[str]:
        """The predicates that no sentence states."""
        return frozenset((*self.knowledge.domain.rules, *self.knowledge.only_planned, *self.knowledge.unused))

    @property
    def here(self) -> str:
        """The agent's room; empty if it is not known."""
        facts = self.knowledge.problem.sorted_facts()
        return next((fact.args[0] for fact in facts if self.map and fact.predicate == self.map.here), "")

    @property
    def known(self) -> Mapping[str, str]:
        """The types of the objects and constants, by name."""
        return {one.name: one.type for one in (*self.knowledge.problem.objects, *self.knowledge.domain.constants)}

    def mentioned(self) -> frozenset[str]:
        """The known names in the sentence."""
        return frozenset(name for _, _, name in name_spans(self.sentence, self.known))


def name_spans(text: str, names: Collection[str]) -> list[tuple[int, int, str]]:
    """Where names are in a text, in order; of names that overlap, the longest is taken."""
    words, found, taken = list(_WORD.finditer(text)), list[tuple[int, int, str]](), set[int]()
    for count in range(MOST_WORDS, 0, -1):
        for first in range(len(words) - count + 1):
            start, end = words[first].start(), words[first + count - 1].end()
            if taken.isdisjoint(range(first, first + count)) and (name := to_name(text[start:end])) in names:
                taken |= {*range(first, first + count)}
                found.append((start, end, name))
    return sorted(found)


@dataclass(frozen=True)
class _Slot:
    """The part of a text that a slot replaces: its names, and the words before them that belong to no name."""

    start: int
    end: int
    names: tuple[str, ...]
    words: tuple[str, ...] = ()


class _Lifting:
    """One sentence: `slots` and `in_command` hold its names by place; `terms` maps names to terms of the rule."""

    def __init__(self, stated: Stated, question: AskedSentence) -> None:
        self.stated, self.question = stated, question
        self.directions = question.map.directions if question.map else {}
        self.invariants = question.knowledge.invariants
        self._wild = {
            one.once.predicate: {place for place, term in enumerate(one.once.args) if term == "*"}
            for one in self.invariants
            if one.once and not one.names and not one.unless
        }
        self.add = tuple(dict.fromkeys((*stated.add, *self._ways_back(), *self._visited())))
        kept = {question.map.room if question.map else "", *(question.known.get(one, "") for one in self.directions)}
        constants = {one.name for one in question.knowledge.domain.constants if one.type not in kept}
        wanted = stated.names | question.known.keys()
        rows = self._rows(question.sentence, wanted)
        self.slots = [slot for slot in rows if slot.names[1:] or slot.names[0] not in constants]
        in_command = name_spans(question.command, wanted - constants)
        self.in_command = [_Slot(start, end, (name,)) for start, end, name in in_command]
        if max(len(self.slots), len(self.in_command)) > MOST_SLOTS:
            raise ValueError(f"the sentence has more than {MOST_SLOTS} names: it is not read")
        self.names = dict[str, str]()
        for slot in (*self.slots, *self.in_command):
            self._name(slot)
        is_said = question.speaks_directions or question.said_names(self.directions)
        implied = () if is_said else self.directions  # "a ladder climbs to …" is up
        self.terms = {name: name for name in implied}
        self.terms |= {self._opposite(name): f"{{back:{self.names[name]}}}" for name in self._names_of(self.in_command)}
        self.terms |= {name: f"{{{self.names[name]}}}" for name in self._names_of(self.in_command)}
        self.terms |= {question.here: "?here"} | {name: name for name in constants}
        self.terms |= {self._opposite(name): f"{{back:{self.names[name]}}}" for name in self._names_of(self.slots)}
        self.terms |= {name: f"{{{self.names[name]}}}" for name in self._names_of(self.slots)}

    @staticmethod
    def _names_of(slots: Iterable[_Slot]) -> list[str]:
        return [name for slot in slots for name in slot.names]

    def _opposite(self, direction: str) -> str:
        x, y = self.directions.get(direction, (0, 0))
        return next((name for name, offset in self.directions.items() if offset == (-x, -y) != (0, 0)), "")

    def _ways_back(self) -> Iterator[Atom]:
        """The ways back of exits, by the invariants of the setting."""
        both = {one.both_ways.predicate for one in self.invariants if one.both_ways is not None}
        for fact in self.stated.add:
            if fact.predicate in both and len(fact.args) == 3 and (back := self._opposite(fact.args[2])):
                yield Atom(fact.predicate, (fact.args[1], fact.args[0], back))

    def _visited(self) -> Iterator[Atom]:
        """The agent's room is visited."""
        places = self.question.map
        for fact in self.stated.add:
            if places and places.visited and fact.predicate == places.here:
                yield Atom(places.visited, fact.args)

    def _about(self, name: str) -> frozenset[tuple[object, ...]]:
        """The facts about a name, with a wildcard in its place."""
        return frozenset(
            (is_true, fact.predicate, *("*" if arg == name else arg for arg in fact.args))
            for is_true, facts in ((True, self.add), (False, self.stated.delete))
            for fact in facts
            if name in fact.args
        )

    def _rows(self, sentence: str, wanted: Collection[str]) -> Iterator[_Slot]:
        """The slots of the sentence: names in a row with the same facts are one slot."""
        row: _Slot | None = None
        for start, end, name in name_spans(sentence, wanted):
            between = _BETWEEN.fullmatch(sentence, row.end, start) if row else None
            if row and between and self._about(row.names[0]) == self._about(name) != frozenset():
                row = _Slot(row.start, end, (*row.names, name), (*row.words, *between[1].lower().split()))
                continue
            if row:
                yield row
            row, before = _Slot(start, end, (name,)), _ARTICLE.search(sentence, max(0, start - 60), start)
            words = tuple(before[2].lower().split()) if before else ()
            if before and read_name(sentence[before.start() : end]) and not {*words}.intersection(wanted):
                row = _Slot(before.end(1) if before[1] else before.start(), end, (name,), words)
        if row:
            yield row

    def _name(self, slot: _Slot) -> None:
        """Name a slot after the type of its names."""
        kinds = {**self.question.known}
        for fact in (*self.add, *self.stated.delete):
            predicate = self.question.knowledge.domain.predicates_by_name.get(fact.predicate)
            kinds |= zip(fact.args, (one.type for one in predicate.parameters) if predicate else (), strict=False)
        kind = re.sub(r"[^a-z0-9]", "_", kinds.get(slot.names[0], "name"))[:20]
        free = (f"{kind}{number}" for number in ("", *range(2, 99)))
        name = next(name for name in free if name not in self.names.values())
        self.names = dict.fromkeys(slot.names, name) | self.names

    def _place_of(self, strange: str) -> Atom | None:
        """The stated or known fact about a room that the sentence does not name; None without one."""
        allowed = strange == self.question.placeholder or strange in self.question.known
        terms = {**self.terms, strange: "?to"}
        exits = (fact for fact in self.add if self.question.map and fact.predicate == self.question.map.exit)
        facts = (*exits, *self.question.knowledge.problem.sorted_facts())
        fitting = [fact for fact in facts if allowed and strange in fact.args and terms.keys() >= {*fact.args}]
        ranks = {fact: (sum(terms[arg][:6] == "{back:" for arg in fact.args), -len(fact.args)) for fact in fitting}
        return min((fact for fact in fitting if fact.args[1:]), key=ranks.__getitem__, default=None)

    def _find(self) -> tuple[str, ...]:
        """The pattern that looks up the one room behind an exit. Raises `ValueError` for any other strange name."""
        names = [arg for fact in self.add for arg in fact.args]
        for fact in self.stated.delete:
            wild = self._wild.get(fact.predicate, ())
            names += (arg for place, arg in enumerate(fact.args) if place not in wild)
        strange = [name for name in dict.fromkeys(names) if name not in self.terms]
        place = self._place_of(strange[0]) if len(strange) == 1 else None
        if strange and place is None:
            known = {self.question.placeholder, *self.question.known}
            wrong = next((name for name in strange if name not in known), strange[0])
            room = f", or {self.question.placeholder} behind an exit" if self.question.placeholder else ""
            raise ValueError(
                f"'{wrong}' is not a name in the sentence: use its names, those of the command, the agent's room{room}"
            )
        if place is None:
            return ()
        self.terms[strange[0]] = "?to"
        is_exit = self.question.map is not None and place.predicate == self.question.map.exit
        self.add = tuple(fact for fact in self.add if fact != place or not is_exit)
        return (f"{'+' if is_exit else ''}{self._pattern(place)}",)

    def _pattern(self, fact: Atom, wild: Collection[int] = ()) -> str:
        terms = tuple("*" if place in wild else self.terms[arg] for place, arg in enumerate(fact.args))
        return str(Pattern(fact.predicate, terms))

    def _forget(self) -> Iterator[str]:
        """The facts that are false now: those that the new ones exclude by the invariants, and the stated ones."""
        exits = {self.question.map.exit} if self.question.map else set()  # the engine merges the rooms behind them
        excluding = (fact for fact in self.add if fact.predicate in self._wild.keys() - exits)
        yield from (
            self._pattern(fact, self._wild.get(fact.predicate, ())) for fact in (*excluding, *self.stated.delete)
        )

    def rule(self) -> ReadingRule:
        """The rule. Raises `ValueError` if the facts cannot be lifted."""
        find = self._find()
        add = tuple(dict.fromkeys(map(self._pattern, self.add)))
        forget = tuple(fact for fact in dict.fromkeys(self._forget()) if fact not in add)
        types = ((self.terms.get(name, ""), kind) for name, kind in self.stated.types.items())
        objects = dict.fromkeys(f"{term} - {kind}" for term, kind in types if term[:1] == "{" and ":" not in term)
        facts = " ".join((*find, *forget, *add, *objects))
        here = (f"({self.question.map.here} ?here)",) if self.question.map and "?here" in facts else ()
        sentence = self._template(self.question.sentence, self.slots)
        slots, used = {*parse_template(sentence).names}, {*re.findall(r"[{:](\w+)}", facts)}
        alone = sentence in (SCORE_UP, SCORE_DOWN) or not re.sub(r"\{[^}]*\}|\W", "", sentence)
        after = self._template(self.question.command, self.in_command) if alone or used - slots else ""
        slots |= parse_template(after).names if after else set()
        table = {
            "sentence": sentence,
            "after": after,
            "find": [*here, *find],
            "forget": forget,
            "add": add,
            "objects": [*objects],
            "drop": [*dict.fromkeys(word for slot in self.slots for word in slot.words)],
            "unused": sorted(slots - used) if add or forget else [],
            "ignore": not (add or forget),
        }
        return parse_rule(table)

    def _template(self, text: str, slots: Iterable[_Slot]) -> str:
        """The text with slots in place of names. A repeated name gets a slot of its own, which no fact uses."""
        parts, names, end = list[str](), list[str](), 0
        for slot in slots:
            name = self.names[slot.names[0]]
            names.append(f"{name}_{names.count(name) + 1}" if name in names else name)
            slot_text = f"{{{names[-1]}{'...' if slot.names[1:] else ''}}}"
            parts += [text[end : slot.start].replace("{", "(").replace("}", ")"), slot_text]
            end = slot.end
        return "".join((*parts, text[end:].replace("{", "(").replace("}", ")")))


def lift(stated: Stated, question: AskedSentence) -> tuple[ReadingRule, Mapping[str, str]]:
    """The rule for all sentences like that of the question, and the term of the rule for each name.

    Raises `ValueError` with the reason if a name is neither in the sentence nor known by its place.
    """
    lifting = _Lifting(stated, question)
    return lifting.rule(), lifting.terms


def other_meaning(rule: ReadingRule, terms: Mapping[str, str], rules: Iterable[ReadingRule]) -> str:
    """Why to doubt the rule of a sentence whose frame, the words around its one name, means other facts; or empty.

    `terms` are those of `lift`. "You see a {hat}." and "Then you see a {box}." have one frame.
    """
    frame, names = _frame(rule), {term: name for name, term in terms.items() if ":" not in term}
    for old in rules if frame else ():
        if _frame(old) == frame and old.after == rule.after and _added(old).isdisjoint(_added(rule)):
            ((new_slot, _),), ((old_slot, _),) = rule.templates[0].slots, old.templates[0].slots
            meant = {f"{{{old_slot}}}": names.get(f"{{{new_slot}}}", ""), "?here": names.get("?here", "")}
            facts = [
                Pattern(one.predicate, tuple(meant.get(term, term) for term in one.terms))
                for one in old.patterns["add"]
            ]
            if not any(term[0] in "?{" for fact in facts for term in fact.terms):
                said = f"by '{old.sentence[0]}', such a sentence means {' '.join(map(str, facts))}"
                return f"{said}: answer so, unless this is another kind of thing"
    return ""


def _added(rule: ReadingRule) -> set[str]:
    return {pattern.predicate for pattern in rule.patterns["add"]}


def _frame(rule: ReadingRule) -> tuple[tuple[str, ...], str] | None:
    """The two words before the only name of a rule's sentence, and the text after it; None for other sentences."""
    template = rule.templates[0]
    before = template.literals[0].split()[-2:]
    return (tuple(before), template.literals[1]) if len(template.slots) == 1 and len(before) == 2 and rule.add else None


def with_exception(learned: LearnedRules, question: AskedSentence) -> LearnedRules | None:
    """The rules for a sentence that says nothing, with exceptions for its names; None if no rule reads it."""
    constants, rules = {one.name for one in question.knowledge.domain.constants}, list(learned.rules)
    for number, values in matching(rules, question.sentence, question.command):
        used = (name for slot, texts in values.items() if slot in rules[number].used for name in texts)
        if names := [name for name in used if to_name(name) not in constants]:
            rules[number] = _changed(rules[number], **{"not": [*dict.fromkeys((*rules[number].excluded, *names))]})
    return replace(learned, rules=tuple(rules)) if rules != [*learned.rules] else None


def with_rule(learned: LearnedRules, rule: ReadingRule) -> LearnedRules:
    """The rules with a new one. If a rule differs only in words of its sentence, these words become an unused slot.

    Words that one rule drops before names are dropped by all. Rules for a command come first, because they
    need the facts before the sentence.
    """
    same: dict[str, object] = {"sentence": "", "unused": [], "drop": []}
    for old in learned.rules if not rule.ignore else ():
        text = _common(old.sentence[0], rule.sentence[0])
        if text and old.as_table() | same == rule.as_table() | same:
            rule = _changed(rule, sentence=text, unused=sorted({*old.unused, *rule.unused, _VARYING}))
            learned = replace(learned, rules=tuple(one for one in learned.rules if one != old))
    learned = learned.with_rules((rule,))
    drop = sorted({word for one in learned.rules for word in one.drop})
    rules = (
        _changed(one, drop=[*dict.fromkeys((*one.drop, *drop))][:MOST_ENTRIES]) if one.used and drop else one
        for one in learned.rules
    )
    return replace(learned, rules=tuple(sorted(rules, key=lambda one: not one.after)))


def _changed(rule: ReadingRule, **keys: object) -> ReadingRule:
    return parse_rule(rule.as_table() | keys)


def _common(left: str, right: str) -> str:
    """The sentence with a slot in place of the words in which two sentences differ; empty without one."""
    first, second = left.split(" "), right.split(" ")
    most = min(len(first), len(second)) - 1
    start = next((number for number in range(most) if first[number] != second[number]), most)
    end = next((number for number in range(most - start) if first[-1 - number] != second[-1 - number]), most - start)
    differing = [" ".join(words[start : len(words) - end]) for words in (first, second)]
    text = " ".join((*first[:start], f"{{{_VARYING}}}", *first[len(first) - end :]))
    try:
        has_literals = re.search(r"\w", "".join(parse_template(text).literals))
    except ValueError:
        return ""
    return text if has_literals and "{" not in "".join(differing) and all(map(read_name, differing)) else ""
