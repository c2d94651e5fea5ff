"""The question about one sentence of a game: its messages, with examples as turns, and the schema of its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pddlego.methods.textgames.formalize.invented import invented_deeds
from pddlego.methods.textgames.formalize.lifting import DOOR, AskedSentence
from pddlego.methods.textgames.reading.template import LONGEST, MOST_WORDS, read_name
from pddlego.models import Message
from pddlego.models.base import shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import to_name
from pddlego.pddl.domain import outline


@dataclass(frozen=True)
class Example:
    """A row `ROOM | COMMAND | SENTENCE | facts that are true now | facts that are false now`; parts may be empty."""

    room: str
    command: str
    sentence: str
    add: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """The right answer."""
        return json.dumps({"add": self.add, "delete": self.delete})


def parse_examples(text: str) -> tuple[str, tuple[Example, ...]]:
    """The lines before the rows, one for each predicate that they explain, and the rows. Empty lines are ignored.

    Raises `ValueError` for a row with fewer than three or more than five parts.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    examples = list[Example]()
    for line in (line for line in lines if "|" in line):
        room, command, sentence, *facts = map(str.strip, line.split("|"))
        add, delete = (tuple(re.findall(r"\([^()]*\)", part)) for part in [*facts, "", ""][:2])
        if len(facts) > 2:
            raise ValueError(f"'{line}' is not a row ROOM | COMMAND | SENTENCE | true | false")
        examples.append(Example(room, command, sentence, add, delete))
    return "\n".join(line for line in lines if "|" not in line), tuple(examples)


def question_messages(
    prompts: Prompts, question: AskedSentence, refused: tuple[str, str] | None = None
) -> tuple[Message, ...]:
    """The messages of a question. `refused` is the first answer to it with its fault, if it is asked a second time.

    All but the last are the same in every request of a game, so that a server reads them once.
    """
    knowledge, places = question.knowledge, question.map
    hidden = (*question.hidden, *([places.visited] if places else ()))
    unknown = f"{knowledge.placeholder}3" if knowledge.placeholder else ""
    invented = tuple(invented_deeds(knowledge, places, hidden)) if places else ()
    lines, examples = parse_examples(prompts.render("facts-example", map=places, deeds=invented, unknown=unknown))
    in_short = lines or outline(knowledge.domain, hidden)
    system = prompts.render("textgames/learn-facts", outline=in_short, placeholder=unknown)

    def turn(room: str, command: str, sentence: str, placeholder: str) -> str:
        variables = {"room": room, "command": command, "sentence": sentence, "placeholder": placeholder}
        return prompts.render("textgames/learn-facts-turn", **variables).strip()

    messages = [Message("system", system)]
    for example in examples:
        asked = turn(example.room, example.command, example.sentence, unknown)
        messages += [Message("user", asked), Message("assistant", example.answer)]
    last = turn(question.here, question.telling_command, question.sentence, question.placeholder)
    messages.append(Message("user", last))
    if refused:
        answer, fault = refused
        messages += [Message("assistant", shortened(answer)), Message("user", f"Wrong: {fault}\n{last}")]
    return tuple(messages)


KEYS = ("add", "delete")
"""The keys of an answer: the facts that are true now, and those that are false now."""

_MOST_FACTS = 8
"""The maximum number of facts of a list of an answer: small models repeat themselves."""


def _schema(fact: Mapping[str, Any]) -> Mapping[str, Any]:
    part = {"type": "array", "items": {"type": "string", **fact}, "maxItems": _MOST_FACTS}
    properties = dict.fromkeys(KEYS, part)
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


ANSWER_SCHEMA = _schema({})
"""The JSON schema of all answers."""


def narrow_schema(question: AskedSentence) -> Mapping[str, Any]:
    """The JSON schema of an answer to this question: facts about names of the sentence."""
    if len(question.sentence) > LONGEST:  # no rule has so long a sentence
        return ANSWER_SCHEMA
    places, forms = question.map, list[str]()
    for head in (head for head in question.knowledge.domain.predicates if head.name not in question.hidden):
        slots = [_names_for(parameter.type, question) for parameter in head.parameters]
        if places and question.here:
            for argument in {places.exit: (0,), places.closed: (0,), places.things: (1,)}.get(head.name, ()):
                slots[argument] = [question.here]
            if head.name == places.exit and not question.said_names(places.directions):
                slots[1] = [name for name in slots[1] if name != question.placeholder]
            if head.name == places.here:
                slots[0] = [name for name in slots[0] if name not in (question.here, question.placeholder)]
        if all(slots):
            forms.append(" ".join((head.name, *(f"({'|'.join(names)})" for names in slots))))
    return _schema({"pattern": rf"^\(({'|'.join(forms)})\)$"})


def _names_for(kind: str, question: AskedSentence) -> list[str]:
    """The names for a parameter of a type: those of the sentence, the agent's room and the next unknown room."""
    domain, places, known = question.knowledge.domain, question.map, question.known
    constants = [constant.name for constant in domain.constants if domain.is_a(constant.type, kind)]
    if places and {*constants} & {*places.directions}:
        said = sorted(question.said_names(constants))
        return said if said or question.speaks_directions else [one for one in constants if one not in _taken(question)]
    text = f"{question.sentence}\n{question.telling_command}"
    new = names_within(text, question.spoken_directions)
    names = [name for name in new if domain.is_a(known.get(name, kind), kind) or domain.is_a(kind, known[name])]
    beginnings = {word[:2] for word in text.lower().split()}  # "fry" may be said for the constant `fried`
    rooms = filter(None, (question.here, question.placeholder)) if places and kind == places.room else ()
    return [*dict.fromkeys((*rooms, *names, *(name for name in constants if name[:2] in beginnings)))]


def _taken(question: AskedSentence) -> frozenset[str]:
    """The directions in which no way leads, or one to a place that the sentence does not name."""
    exits = (fact for fact in question.knowledge.problem.facts if question.map and fact.predicate == question.map.exit)
    ways = (fact.args for fact in exits if fact.args[0] == question.here)
    return question.refused.union(direction for _, place, direction in ways if not question.said_names({place}))


def names_within(text: str, excluded: frozenset[str]) -> Iterator[str]:
    """The PDDL names that a text may have: words in a row without articles, verbs and `excluded` words between them.

    A door has no name that a fact needs, and neither have the words before it.
    """
    for line in text.splitlines():
        words = line.split()
        spans = ((start, start + count) for start in range(len(words)) for count in range(1, MOST_WORDS + 1))
        for start, end in spans:
            name = " ".join(words[start:end])
            is_door = DOOR.search(" ".join((name, *words[end : end + 1])).lower())
            name = name.rstrip(".,;:!?")
            if read_name(name) == (name,) and not is_door and excluded.isdisjoint(name.lower().split()):
                yield to_name(name)
