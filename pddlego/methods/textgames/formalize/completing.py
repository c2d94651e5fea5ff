"""Completes the facts that a model states for a sentence with what needs no model, and drops what cannot be meant.

Small models state most facts of a sentence correctly, and make the same few mistakes: an exit from another room, a door
as a room, a name that the sentence does not have. A program repairs these more reliably than another question.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from pddlego.methods.textgames.formalize.lifting import DOOR, AskedSentence, Stated, name_spans
from pddlego.methods.textgames.reading.rules import leaf_types
from pddlego.methods.textgames.reading.template import LONGEST, read_names
from pddlego.pddl import Atom, to_name
from pddlego.pddl.conditions import changed_atoms
from pddlego.pddl.names import is_name

_WORD = re.compile(r"[\w'-]+")
_LISTS = re.compile(r"(?:,? and|,) (?:an?|some) |,.*\.\Z")
"""Matches a list in a text: names with articles, or names up to the end. Other texts may go on with a verb."""


def completed_facts(stated: Stated, question: AskedSentence) -> Stated:
    """The facts of an answer, repaired and completed. Facts that are dropped are in none of its parts.

    Exits begin in the agent's room, and ways back follow from the invariants. An exit that leads through a named door
    leads to the placeholder. The confirmed effects of the plan's step are added, and a type for each new thing.
    """
    stated = _with_lists(_with_whole_names(_from_here(stated, question), question), question)
    add = [fact for fact in stated.add if _is_said(fact, question, True) and _is_shown(fact, question)]
    ended, known = _ended(question), question.knowledge.problem.facts
    gone = [fact for fact in add if fact.predicate in ended and not _describes(question, fact.predicate)]
    delete = [fact for fact in (*stated.delete, *gone) if _is_said(fact, question, False)]
    seen = [fact for fact in delete if fact not in known and _describes(question, fact.predicate)]
    add = [fact for fact in dict.fromkeys((*add, *seen)) if fact not in gone]
    delete = [fact for fact in dict.fromkeys(delete) if fact not in seen]
    stated = replace(stated, add=tuple(add), delete=tuple(delete))
    return _with_types(_with_effects(stated, question), question)


def as_exit(stated: Stated, question: AskedSentence) -> Atom | None:
    """The exit that a sentence may state if it names a direction that no fact has; None without such a direction.

    It is looked for in games without examples of their own, where a model does not know what a direction is for.
    """
    places = question.map
    if places is None or not places.exit or question.speaks_directions or not stated.add:
        return None
    said = {name for _, _, name in name_spans(question.sentence, places.directions)}
    said -= {name for _, _, name in name_spans(question.command, places.directions)}
    left = sorted(said - stated.names)
    names = (*sorted(question.mentioned()), *stated.add[0].args)  # "The Attic lies north" may be `attic_lies` in a fact
    rooms = (name for name in names if question.known.get(name, places.room) == places.room)
    place = next((name for name in rooms if name != question.here), question.placeholder)
    return Atom(places.exit, (question.here, place, left[0])) if left and place and question.here else None


def _describes(question: AskedSentence, predicate: str) -> bool:
    """Whether the sentence has the words of the predicate, as in "a chest that is closed"."""
    return all(name_spans(question.sentence, {word}) for word in re.split(r"[_-]", predicate))


def _ended(question: AskedSentence) -> frozenset[str]:
    """The predicates of facts that an action ends whose verb is the command or describes a thing: "an open chest"."""
    knowledge, ended = question.knowledge, set[str]()
    for action in knowledge.domain.actions:
        verb = knowledge.actions[action.name].command.split(" ")[0] if action.name in knowledge.actions else ""
        described = re.compile(rf"\b(?:an?|the|some) {re.escape(verb)} ", re.IGNORECASE).search(question.sentence)
        if verb and (described or question.telling_command.split(" ")[0] == verb):
            ended |= {atom.predicate for atom, is_true in changed_atoms(action.effect) if not is_true}
    return frozenset(ended)


def _is_said(fact: Atom, question: AskedSentence, is_true: bool) -> bool:
    """Whether the sentence or its command names the arguments, or they are the agent's room or a room without a name.

    The agent's place is always named, and of an exit its place or its direction. A fact that is false has no new room.
    """
    places, knowledge, unnamed = question.map, question.knowledge, {*fact.args} - {*question.said_names({*fact.args})}
    head = knowledge.domain.predicates_by_name.get(fact.predicate)
    if head is None or head.name in question.hidden or len(head.parameters) != len(fact.args):
        return False
    if places and (head.name == places.visited or (head.name == places.exit and fact.args[0] == fact.args[1])):
        return False
    if places and head.name == places.exit and unnamed >= {*fact.args[1:]}:
        return False
    kinds = zip(fact.args, head.parameters, strict=True)
    known = [(question.known[name], parameter.type) for name, parameter in kinds if name in question.known]
    if not all(knowledge.domain.is_a(kind, wanted) or knowledge.domain.is_a(wanted, kind) for kind, wanted in known):
        return False
    other = {question.here, *(constant.name for constant in knowledge.domain.constants)} - question.spoken_directions
    other -= question.refused
    other |= {name for name in fact.args if knowledge.is_placeholder(name) and (is_true or name in question.known)}
    return not unnamed - other and not (unnamed and places and fact.predicate == places.here)


def _is_shown(fact: Atom, question: AskedSentence) -> bool:
    """Whether a fact can be new: one that an action makes true needs its command, unless the sentence describes it.

    A sentence describes it if it has a word of the predicate, or if the last of several arguments is in it or is the
    agent's room: "a sliced onion", "You see a pen".
    """
    places, verb = question.map, question.command.split(" ")[0]
    made, by_command = set[str](), set[str]()
    for action in question.knowledge.domain.actions:
        effects = {atom.predicate for atom, value in changed_atoms(action.effect) if value}
        made |= effects
        rule = question.knowledge.actions.get(action.name)
        by_command |= effects if rule is not None and rule.command.split(" ")[0] == verb else set()
    if places and fact.predicate == places.here:
        return True
    if not fact.args:
        return bool(question.command)
    last = fact.args[-1]
    described = fact.args[1:] and (last == question.here or name_spans(question.sentence, {last}))
    return fact.predicate not in made - by_command or bool(described) or _describes(question, fact.predicate)


def _renamed(stated: Stated, name: Callable[[str], str]) -> Stated:
    add, delete = (
        tuple(dict.fromkeys(Atom(fact.predicate, tuple(map(name, fact.args))) for fact in facts))
        for facts in (stated.add, stated.delete)
    )
    return replace(stated, add=add, delete=delete, types={name(old): kind for old, kind in stated.types.items()})


def _with_whole_names(stated: Stated, question: AskedSentence) -> Stated:
    """With the names of known things: `block_of_cheese` for `cheese`, and, for a thing without a place, `leek` for
    `raw_leek`.
    """
    places, facts = question.map, question.knowledge.problem.facts
    placed = {fact.args[0] for fact in facts if places and fact.predicate in {places.things, places.holding} - {""}}
    longer = [name for name in question.mentioned() if "_of_" in name]

    def name(part: str) -> str:
        if part in question.known:
            return part
        whole = (name for name in longer if part in name.split("_of_"))
        shorter = (name for name in question.mentioned() - placed if part.endswith(f"_{name}"))
        return next(itertools.chain(whole, shorter), part)

    return _renamed(stated, name)


def _with_lists(stated: Stated, question: AskedSentence) -> Stated:
    """With the facts of a name also for the names listed after it that have none: "some water, a leek"."""
    add, sentence = [*stated.add], question.sentence[:LONGEST]
    for start, end, name in name_spans(sentence, stated.names - {question.here}):
        stops = [word.end() for word in _WORD.finditer(sentence, end)]
        ends = (stop for stop in reversed(stops) if _LISTS.search(sentence, start, stop + 1))
        listed = next((names for stop in ends if (names := read_names(sentence[start:stop]))[1:]), ())
        for other in map(to_name, listed):
            is_stated = any(f"_{other}".endswith(f"_{known}") for known in stated.names)  # "sliced leek" has "leek"
            if is_name(other) and not is_stated:
                about = (fact for fact in stated.add if name in fact.args)
                add += (
                    Atom(fact.predicate, tuple(other if arg == name else arg for arg in fact.args)) for fact in about
                )
    return replace(stated, add=tuple(dict.fromkeys(add)))


def _is_door(name: str, question: AskedSentence) -> bool:
    """Whether a name is that of a door, or is a word before "door" in the sentence."""
    spans = name_spans(question.sentence, {name})
    before_door = spans and all(DOOR.match(question.sentence, end) for _, end, _ in spans)
    return bool(before_door or DOOR.search(name))


def _from_here(stated: Stated, question: AskedSentence) -> Stated:
    """With all exits from the agent's room, which the game describes, to one room in each direction, the known one."""
    places, here, unknown = question.map, question.here, question.placeholder
    if not places or not places.exit:
        return stated
    stated = _renamed(stated, lambda name: unknown if unknown and _is_door(name, question) else name)

    def exits(facts: Iterable[Atom]) -> Iterator[Atom]:
        return (fact for fact in facts if fact.predicate == places.exit and len(fact.args) == 3)

    ends, facts = {fact.args[1] for fact in exits(stated.add) if fact.args[0] == here}, list[Atom]()
    for fact in stated.add:
        if fact in exits([fact]) and here and fact.args[0] != here:
            start, end, direction = fact.args
            if end == here and start in ends:
                continue  # the way back
            fact = Atom(fact.predicate, (here, start if end == here else end, direction))
        facts.append(fact)
    if places.closed and _describes(question, places.closed):
        facts += [Atom(places.closed, (fact.args[0], unknown)) for fact in exits(facts) if fact.args[1] == unknown]
    blocked, said = Atom(places.closed, (here, unknown)), question.said_names(places.directions)
    if blocked in facts and len(said) == 1 and here and unknown:
        facts += [Atom(places.exit, (here, unknown, *said))]
    stated = replace(stated, add=tuple(dict.fromkeys(facts)))
    known = (fact for fact in exits(question.knowledge.problem.sorted_facts()) if fact.args[0] == here)
    behind = {fact.args[2]: fact.args[1] for fact in (*known, *exits(facts)) if fact.args[1] != unknown}
    other = next((behind.get(fact.args[2], "") for fact in exits(facts) if fact.args[1] == unknown), "")
    return _renamed(stated, lambda name: other if other and name == unknown else name)


def _with_effects(stated: Stated, question: AskedSentence) -> Stated:
    """With the confirmed effects of the plan's step, if the answer states anything.

    The agent's new place is read, because it may be a placeholder. If the sentence names it, it is what the sentence
    says, and the way that the plan took is nothing new.
    """
    places = question.map
    arrived = [fact for fact in question.effects[0] if places and fact.predicate == places.here]
    if (
        arrived
        and question.said_names(arrived[0].args)
        and not any(arrived[0].predicate == one.predicate for one in stated.add)
    ):
        new = (fact for fact in stated.add if fact not in question.knowledge.problem.facts)
        stated = replace(stated, add=(*arrived, *new))
    hidden = question.hidden | ({places.here, places.visited} if places else set())
    true, false = (
        [fact for fact in sorted(facts, key=lambda fact: fact.sort_key) if fact.predicate not in hidden]
        for facts in question.effects
    )
    if not stated.add and not stated.delete:
        return stated
    ended = {fact.predicate for fact in false}
    delete = (*(fact for fact in stated.delete if fact.predicate not in ended), *false)
    add = tuple(fact for fact in dict.fromkeys((*stated.add, *true)) if fact not in false)
    return replace(stated, add=add, delete=delete)


def _with_types(stated: Stated, question: AskedSentence) -> Stated:
    """With a type for each new name whose facts leave it open: the first fitting type without subtypes."""
    domain, types = question.knowledge.domain, dict(stated.types)
    leaves, constants = leaf_types(domain), {one.name for one in domain.constants}
    for fact in stated.add:
        head = domain.predicates_by_name.get(fact.predicate)
        for name, parameter in zip(fact.args, head.parameters if head else (), strict=False):
            if name not in constants and name not in types and parameter.type not in leaves:
                fitting = [leaf for leaf in domain.types if leaf in leaves and domain.is_a(leaf, parameter.type)]
                known = question.known.get(name, "")
                types[name] = known if known in fitting else fitting[0]
    return replace(stated, types=types)
