"""A model that writes reading rules from a list, one for each sentence that it is asked about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pddlego.methods.textgames.reading.engine import matching
from pddlego.methods.textgames.reading.rules import ReadingRule, used_slots
from pddlego.models.base import Completion, Request

HERE, BEHIND = "(at ?here)", "+(connected ?here ?to {d})"
COIN: Sequence[Mapping[str, Any]] = (
    {"sentence": "You are in the {room}.", "forget": ["(at *)"], "add": ["(at {room})", "(visited {room})"]},
    {
        "sentence": "To the {d} you see the {room}.",
        "find": [HERE, BEHIND],
        "add": ["(connected ?here {room} {d})", "(connected {room} ?here {back:d})"],
    },
    {
        "sentence": "To the {d} you see a closed {kind} door.",
        "find": [HERE, BEHIND, "!(closed_door ?to ?here)"],
        "add": ["(connected ?to ?here {back:d})", "(closed_door ?here ?to)"],
    },
    {
        "sentence": "Through an open {kind} door, to the {d} you see the {room}.",
        "find": [HERE, BEHIND],
        "forget": ["(closed_door ?here {room})"],
        "add": ["(connected ?here {room} {d})", "(connected {room} ?here {back:d})"],
    },
    {
        "sentence": "You open the {kind} door, revealing the {room}.",
        "after": "open door to {d}",
        "find": [HERE, BEHIND],
        "forget": ["(closed_door ?here {room})"],
        "add": ["(connected ?here {room} {d})", "(connected {room} ?here {back:d})"],
    },
    {
        "sentence": [
            f"{start} {{i}}." for start in ("There is also", "You also see", "In one part of the room you see")
        ],
        "find": [HERE],
        "add": ["(item_at {i} ?here)"],
    },
    {"sentence": "In another part of the room you see {i}.", "find": [HERE], "add": ["(item_at {i} ?here)"]},
    {"sentence": "You take the {i}.", "forget": ["(item_at {i} *)"], "add": ["(have {i})"]},
)
"""Rules for Coin Collector."""


class RuleWriter:
    """Answers with the rules of `tables` for the sentences of a request, and ignores the other sentences.

    It lists the slots that no rule uses. `asked` are the sentences of each request.
    """

    name = "rule writer"
    description: Mapping[str, Any] = {}

    def __init__(self, tables: Iterable[Mapping[str, Any]] = COIN) -> None:
        self.tables = list(tables)
        self.rules = [ReadingRule.model_validate(table) for table in self.tables]
        self.asked: list[list[str]] = []
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        block = re.search(r"Sentences that no rule covers:\n(.*?)(?:\n\n|\Z)", request.messages[-1].content, re.DOTALL)
        lines = [
            re.fullmatch(r"(.*) \((?:after: (.*)|at the beginning)\)", line)
            for line in (block[1] if block else "").split("\n")
        ]
        pairs = [(line[1], line[2] or "") for line in lines if line is not None]
        self.asked.append([sentence for sentence, _ in pairs])
        answer = list[Mapping[str, Any]]()
        for sentence, command in pairs:
            answer += [table for table in self._for(sentence, command) if table not in answer]
        return Completion(json.dumps({"rules": answer}))

    def _for(self, sentence: str, command: str) -> list[Mapping[str, Any]]:
        numbers = {number for number, _ in matching(self.rules, sentence, command)}
        together = [
            n for n, rule in enumerate(self.rules) if any(rule.sentence == self.rules[m].sentence for m in numbers)
        ]
        typed = [n for n in together if "objects" in self.tables[n] or "find" not in self.tables[n]]
        chosen = typed if any("objects" in self.tables[n] for n in together) else together
        return [self._complete(n) for n in chosen] or [{"sentence": sentence, "ignore": True}]

    def _complete(self, number: int) -> Mapping[str, Any]:
        rule, table = self.rules[number], self.tables[number]
        same = [other for other in self.rules if other.sentence == rule.sentence]
        unused = sorted({name for template in rule.templates for name, _ in template.slots} - used_slots(same))
        return {**table, "unused": unused} if unused and not rule.ignore else table
