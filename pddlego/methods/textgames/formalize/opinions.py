"""Opinions: facts that no sentence states and that actions need, such as where a thing belongs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import Any

from pddlego.methods.textgames.formalize import PromptContext
from pddlego.models import Message
from pddlego.models.prompts import Prompts
from pddlego.pddl import Atom, Problem, from_name, to_name
from pddlego.pddl.conditions import required_atoms
from pddlego.pddl.nearly_json import last_object
from pddlego.util.answers import spoken

_MOST_OPTIONS, _LONGEST_REASON = 50, 80
"""The maximum number of facts of one question, and of characters of what an answer says of the thing."""


def opinions_of(situation: PromptContext) -> Mapping[str, str]:
    """The predicates about which a model has opinions, with their parameters: no sentence of the game states them."""
    predicates = situation.knowledge.domain.predicates
    return {one.name: str(one) for one in predicates if one.name in situation.reader.opinions}


def opinion_schema(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON schema of all answers to an `OpinionQuestion`, with the schema of the name that is chosen."""
    properties = {"because": {"type": "string", "maxLength": _LONGEST_REASON}, "answer": answer}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


@dataclass(frozen=True)
class OpinionQuestion:
    """Which of the `options` is the most usual: facts that differ after their first argument.

    `refuted` are facts that the game ruled out.
    """

    options: tuple[Atom, ...]
    refuted: tuple[Atom, ...] = ()

    @property
    def names(self) -> Mapping[str, Atom]:
        """The options by the words for what they say of the thing."""
        return {" ".join(map(from_name, fact.args[1:])): fact for fact in self.options}

    def messages(self, prompts: Prompts) -> tuple[Message, ...]:
        """The question after examples, in which the thing is named before one of the names is chosen.

        A small model that chose by the bare fact was right about 1 of 20 things, and asked like this about 28 of 60.
        """
        system, question, *rows = prompts.render("opinion-example").strip().splitlines()

        def turn(thing: str, names: str) -> Message:
            return Message("user", question.replace("{options}", names).replace("{thing}", thing))

        messages = [Message("system", system)]
        for row in rows:
            thing, names, reason, name = map(str.strip, row.split("|"))
            messages += [turn(thing, names), Message("assistant", json.dumps({"because": reason, "answer": name}))]
        return *messages, turn(from_name(self.options[0].args[0]), ", ".join(self.names))

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of an answer with one of the names."""
        return opinion_schema({"type": "string", "enum": [*self.names]})

    def chosen(self, answer: str) -> Atom | None:
        """The fact that an answer chooses; None if it is not an option. Raises `EditSyntaxError` without JSON."""
        found = last_object(spoken(answer), ("answer", "add")).value
        said = found.get("answer") or found.get("add") or ""
        by_name = {to_name(name): fact for name, fact in self.names.items()} | {str(one): one for one in self.options}
        names = (name for name in (said if isinstance(said, list) else [said]) if isinstance(name, str))
        facts = (by_name.get(to_name(name)) or by_name.get(name) for name in names)  # of facts, one may be an option
        return next(filter(None, facts), None)


def open_opinions(problem: Problem, situation: PromptContext) -> Iterator[OpinionQuestion]:
    """The questions about each thing that has no opinion, for a planner that needs one.

    These are facts that a precondition requires, about a thing (the first argument) whose place is known. A fact is not
    possible if another one relates the same objects, as `(tried pen desk)`.
    """
    domain, places = situation.knowledge.domain, situation.reader.map
    needed = {atom.predicate for action in domain.actions for atom in required_atoms(action.precondition)}
    objects = (*problem.sorted_objects(), *domain.constants)
    placed = {
        fact.args[0]
        for fact in problem.facts
        if places and fact.predicate in (places.things, places.holding) and fact.args
    }
    opinions = situation.reader.opinions
    related = {fact.args for fact in problem.facts if fact.predicate not in opinions}
    for head in domain.predicates:
        if head.name not in opinions & needed or len(head.parameters) < 2:  # else there is nothing to choose
            continue
        stated = (fact.args for fact in problem.facts if fact.predicate == head.name)
        known = {args[0] for args in stated if args not in related}
        first, *others = (
            [one.name for one in objects if domain.is_a(one.type, parameter.type)] for parameter in head.parameters
        )
        for thing in (name for name in first if name in placed - known):
            possible = (Atom(head.name, args) for args in product([thing], *others) if args not in related)
            if options := tuple(islice(possible, _MOST_OPTIONS)):
                about = (args for args in sorted(related) if args[:1] == (thing,) and len(args) == len(options[0].args))
                refuted = (Atom(head.name, args) for args in about if {*args[1:]} <= {*chain.from_iterable(others)})
                yield OpinionQuestion(options, tuple(refuted))
