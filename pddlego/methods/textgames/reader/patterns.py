"""Reading rules that are data: `[[reading]]` of a setting. Enough for small games; a house takes rules in Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pddlego.methods.textgames.setting_schema import ReadingRule
from pddlego.methods.textgames.situation import Exchange, Situation
from pddlego.pddl import Atom, Edit, Problem, edit_between, to_name
from pddlego.pddl.names import is_name
from pddlego.pddl.problem import read_atom, read_typed_list
from pddlego.pddl.sexpr import read_sexprs
from pddlego.util.text import filled, names_in


class PatternRules:
    """The rules that a situation carries. Stateless."""

    def edit(self, situation: Situation) -> Edit:
        """The difference between the problem and what the rules, in their order, make of each answer."""
        before = after = situation.problem
        constants = frozenset(each.name for each in situation.domain.constants)
        for exchange in situation.news:
            for rule in situation.reading:
                for match in _matches(rule, exchange):
                    after = _applied(rule, match, after, constants)
        return edit_between(before, after)


def _matches(rule: ReadingRule, exchange: Exchange) -> Iterable[Mapping[str, str]]:
    """What the groups of the rule matched, as PDDL names, once for each place in the text."""
    said = re.search(rule.command, exchange.command or "")
    if said is None:
        return
    for match in re.finditer(rule.text, exchange.text, re.MULTILINE):
        groups = {**said.groupdict(), **match.groupdict()}
        yield {name: to_name(value or "") for name, value in groups.items()}


def _applied(rule: ReadingRule, names: Mapping[str, str], problem: Problem, constants: frozenset[str]) -> Problem:
    used = {name for each in (*rule.forget, *rule.objects, *rule.add) for name in names_in(each)}
    if not all(is_name(names[name]) for name in used):
        return problem
    patterns = [atom for each in rule.forget for atom in _atoms(filled(each, names))]
    kept = {fact for fact in problem.facts if not any(_fits(fact, pattern) for pattern in patterns)}
    facts = kept | {fact for each in rule.add for fact in _atoms(filled(each, names))}
    known = {each.name for each in problem.objects} | constants
    declared = (each for text in rule.objects for each in read_typed_list(tuple(filled(text, names).split()), []))
    objects = {each for each in declared if each.name not in known}
    return Problem(problem.name, problem.domain, problem.objects | objects, frozenset(facts), problem.goal)


def _fits(fact: Atom, pattern: Atom) -> bool:
    """Whether the fact is what the pattern says; `*` stands for any one object."""
    same = fact.predicate == pattern.predicate and len(fact.args) == len(pattern.args)
    return same and all(wanted in ("*", arg) for arg, wanted in zip(fact.args, pattern.args, strict=True))


def _atoms(text: str) -> Iterable[Atom]:
    return (atom for each in read_sexprs(text).expressions for atom in [read_atom(each)] if atom is not None)
