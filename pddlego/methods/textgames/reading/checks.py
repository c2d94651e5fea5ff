"""Checks of the rules that a model has written, before and after they are applied to what the game has said."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pddlego.methods.textgames.reading.rules import MOST_RULES, Pattern, ReadingRule, leaf_types, slot_of, used_slots
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Domain, Problem, from_name
from pddlego.util.text import names_in


@dataclass(frozen=True)
class RuleChecker:
    """Checks rules of a model against the domain, the map's directions, and the names that are known so far."""

    domain: Domain
    problem: Problem
    map: MapRule | None
    has_placeholders: bool

    def faults(self, rules: Sequence[ReadingRule], known: Sequence[ReadingRule]) -> Iterator[tuple[int, str]]:
        """The number of each faulty one of the new `rules`, with the reason; `known` are those that stay."""
        used: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for rule in (*known, *rules):
            for template in rule.templates:
                used[template.literals] |= used_slots([rule])
        for number, rule in enumerate(rules):
            fault = f"a game has at most {MOST_RULES} rules: write one rule for sentences that mean the same"
            if len(known) + number < MOST_RULES:
                fault = next(self._faults(rule), "") or _unused_slot(rule, used)
            if fault:
                yield number, fault

    def _faults(self, rule: ReadingRule) -> Iterator[str]:
        for template in rule.all_templates():
            text = " ".join(template.literals)
            if rule.ignore and not rule.after and not re.search(r"\w", text):
                yield f"'{template.text}' has no word of the sentence: write what is the same in all such sentences"
            word = next((name for name in self._names if re.search(rf"\b{re.escape(name)}\b", text)), None)
            if word is not None:
                yield f"'{word}' in '{template.text}' is a name: write a {{slot}} in its place"
        slots = set.intersection(*({name for name, _ in template.slots} for template in rule.templates))
        slots |= {name for name, _ in rule.command_template.slots} if rule.command_template else set()
        slots |= {"mark"} if rule.marks else set()
        bound = {"*"}
        for key in ("find", "forget", "add"):
            for pattern in rule.patterns[key]:
                yield from self._pattern_faults(pattern, key, slots, bound)
                bound |= pattern.variables if key == "find" and pattern.sign != "!" else set()
        yield from self._type_faults(rule)
        for text in rule.objects:
            name, _, kind = text.partition(" - ")
            is_bound = names_in(name) <= slots if names_in(name) else name.strip() in bound
            if not is_bound or kind.strip() not in leaf_types(self.domain):
                kinds = ", ".join(leaf_types(self.domain))
                yield f"'{text}' is not {{slot}} - TYPE, where TYPE has no subtypes: one of {kinds}"
        for term in (term for pair in rule.same for term in pair):
            if term not in bound and slot_of(term) not in slots:
                yield f"'{term}' in `same` is neither a slot nor a variable that `find` binds"

    def _type_faults(self, rule: ReadingRule) -> Iterator[str]:
        """Terms that one fact needs as one type and another fact as a different one, such as a room and a direction."""
        types: dict[str, tuple[str, Pattern]] = {}
        for pattern in rule.all_patterns():
            predicate = self.domain.predicates_by_name.get(pattern.predicate)
            for term, parameter in zip(pattern.terms, predicate.parameters if predicate else (), strict=False):
                if term[0] not in "?{":
                    continue
                name = f"{{{slot_of(term)}}}" if term.startswith("{") else term
                kind, first = types.setdefault(name, (parameter.type, pattern))
                if not (self.domain.is_a(kind, parameter.type) or self.domain.is_a(parameter.type, kind)):
                    yield f"{name} is a {kind} in {first.unsigned} and a {parameter.type} in {pattern.unsigned}"

    def _pattern_faults(self, pattern: Pattern, key: str, slots: set[str], bound: set[str]) -> Iterator[str]:
        predicate = self.domain.predicates_by_name.get(pattern.predicate)
        if predicate is None:
            names = ", ".join(sorted(self.domain.predicates_by_name))
            yield f"{pattern}: there is no predicate {pattern.predicate}, only {names}"
            return
        if len(predicate.parameters) != len(pattern.terms):
            yield f"{pattern}: {pattern.predicate} has {len(predicate.parameters)} arguments: {predicate}"
            return
        if pattern.sign and key != "find":
            yield f"{pattern}: + and ! belong to `find`"
        constants = {constant.name: constant.type for constant in self.domain.constants}
        for term, parameter in zip(pattern.terms, predicate.parameters, strict=True):
            if term.startswith("{") and slot_of(term) not in slots:
                yield f"{pattern}: {term} is not a slot of the sentence or of `after`"
            elif term.startswith("{back:") and not (self.map and self.map.directions):
                yield f"{pattern}: this game has no directions, so nothing has an opposite"
            elif term == "*" and key != "forget":
                yield f"{pattern}: * belongs to `forget`"
            elif term.startswith("?") and key != "find" and term not in bound:
                yield f"{pattern}: `find` does not bind {term}"
            elif term[0] not in "?{*" and term not in constants:
                yield f"{pattern}: '{term}' is a name of this game: write a slot or a variable in its place"
            elif term in constants and not self.domain.is_a(constants[term], parameter.type):
                yield f"{pattern}: {term} is a {constants[term]}, and {pattern.predicate} needs a {parameter.type}"
        if pattern.sign == "+" and (len(pattern.variables - bound) != 1 or not self.has_placeholders):
            yield f"{pattern}: + needs exactly one variable that is not bound yet, for the placeholder"

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The names that a template may not contain: directions, and the objects of the problem."""
        directions = self.map.directions if self.map else {}
        return tuple(sorted({*directions, *(from_name(obj.name) for obj in self.problem.objects)}))


def _unused_slot(rule: ReadingRule, used: Mapping[tuple[str, ...], Collection[str]]) -> str:
    """The fault of a rule whose template has a slot that no rule for it uses or lists as unused; empty without one.

    `used` are the slots that rules use or list, by the literals of their templates.
    """
    for template in rule.templates if not rule.ignore else ():
        unused = sorted({name for name, _ in template.slots} - set(used[template.literals]))
        if unused:
            return f"no fact uses {{{unused[0]}}}: add the fact that it is for, or list it as unused"
    return ""
