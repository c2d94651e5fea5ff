"""Typical faults of reading rules that a model writes: each mutant of a rule has one of them.

The built-in model with noise makes them, and a benchmark counts which of them the checks of mode `learn` find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from pddlego.methods.textgames.reading.rules import ReadingRule
from pddlego.util.text import names_in

KINDS = ("left out", "swapped", "direction", "condition", "literal name", "ignored")
"""A fact is left out; its arguments are swapped; a direction is turned, or not turned; a condition or another key is
left out; a name is written in place of a slot; the sentence is ignored."""


def mutants(rule: ReadingRule, name: str) -> Iterator[tuple[str, ReadingRule]]:
    """The mutants of a rule, each with its kind. `name` is the name that is written in place of a slot."""
    table = rule.as_table()
    for kind, changed in _changes(table, name):
        try:
            yield kind, ReadingRule.model_validate(changed)
        except ValidationError:  # it would not be a rule
            continue


def _changes(table: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key in ("add", "forget", "find"):
        facts = table.get(key, [])
        for number, fact in enumerate(facts):
            yield "left out", {**table, key: [*facts[:number], *facts[number + 1 :]]}
            for kind, changed in _changed_facts(fact):
                yield kind, {**table, key: [*facts[:number], changed, *facts[number + 1 :]]}
    for key in ("after", "same", "objects", "not", "drop"):
        if key in table:
            yield "condition", {other: value for other, value in table.items() if other != key}
    sentences = table.get("sentence", [])
    for slot in sorted({slot for sentence in sentences for slot in names_in(sentence)}):
        literal = {key: [text.replace(f"{{{slot}}}", name) for text in table.get(key, [])] for key in ("add", "forget")}
        yield (
            "literal name",
            {**table, **literal, "sentence": [text.replace(f"{{{slot}}}", name) for text in sentences]},
        )
    if sentences and not table.get("ignore"):
        yield "ignored", {key: table[key] for key in ("sentence", "after") if key in table} | {"ignore": True}


def _changed_facts(fact: str) -> Iterator[tuple[str, str]]:
    sign, body = ("", fact) if fact.startswith("(") else (fact[0], fact[1:])
    predicate, *terms = body.strip("()").split()
    for number in range(len(terms) - 1):
        swapped = [*terms[:number], terms[number + 1], terms[number], *terms[number + 2 :]]
        yield "swapped", f"{sign}({' '.join((predicate, *swapped))})"
    for number, term in enumerate(terms):
        if term == "{d}" or term.startswith("{back:"):
            turned = "{d}" if term.startswith("{back:") else "{back:d}"
            yield "direction", f"{sign}({' '.join((predicate, *terms[:number], turned, *terms[number + 1 :]))})"
