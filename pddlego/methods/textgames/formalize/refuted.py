"""Exits that a refused command refutes, and the rules that state them."""

from __future__ import annotations

from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.methods.textgames.formalize.lifting import name_spans
from pddlego.methods.textgames.reading.rules import LearnedRules, ReadingRule, parse_rule
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Atom, Problem


def refuted_exits(problem: Problem, situation: PromptContext) -> tuple[Atom, ...]:
    """The exits of a problem that the last command names, if the game refused to lead the agent out of its room."""
    places, history = situation.reader.map, situation.seen.history
    if places is None or not places.exit or not history or not history[-1].refused:
        return ()
    exits = (fact for fact in problem.sorted_facts() if fact.predicate == places.exit)
    return tuple(fact for fact in exits if _leads_through(history[-1], fact, places))


def is_same_exit(one: Atom, other: Atom) -> bool:
    """Whether two facts are exits of a room in one direction. The rooms behind them may have different placeholders."""
    return (one.predicate, one.args[0], one.args[-1]) == (other.predicate, other.args[0], other.args[-1])


def refused_directions(room: str, situation: PromptContext) -> frozenset[str]:
    """The directions in which the game refused to lead the agent out of a room, and never did."""
    places, history = situation.reader.map, situation.seen.history
    if places is None or not places.exit:
        return frozenset()
    exits = {name: Atom(places.exit, (room, name)) for name in places.directions}
    refused = [exchange for exchange in history if exchange.refused]
    wrong = (name for name, way in exits.items() if any(_leads_through(one, way, places) for one in refused))
    return frozenset(name for name in wrong if not was_taken(exits[name], situation))


def was_taken(exit_: Atom, situation: PromptContext) -> bool:
    """Whether the agent has left a room through this exit."""
    places = situation.reader.map
    taken = (one for one in situation.seen.history if places and not one.refused and _leads_through(one, exit_, places))
    return next(taken, None) is not None


def _leads_through(exchange: Exchange, exit_: Atom, places: MapRule) -> bool:
    """Whether a command was to lead the agent out of the room of an exit, to its place or in its direction."""
    leaves = str(Atom(places.here, exit_.args[:1])) in (exchange.undone or ())
    return leaves and bool(name_spans(exchange.command or "", exit_.args[1:]))


def states_exit(rule: ReadingRule, situation: PromptContext) -> bool:
    """Whether a rule can read an exit in a sentence."""
    places, patterns = situation.reader.map, (*rule.patterns["add"], *rule.patterns["find"])
    return places is not None and any(pattern.predicate == places.exit for pattern in patterns)


def without_meaning(learned: LearnedRules, rules: list[ReadingRule], sentence: str) -> LearnedRules:
    """The learned rules, without what some `rules` read in sentences of the form of this one: it is ignored."""
    parts = (part for rule in rules for part in rule.parts if part.templates[0].match(sentence) is not None)
    tables = ({"sentence": part.sentence[0], "after": part.after, "ignore": True} for part in parts)
    return learned.with_rules(map(parse_rule, tables))
