"""Situations in one call: what tests vary, by the name of its innermost field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pddlego.episode.loop import Retry
from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext, Terms
from pddlego.methods.textgames.knowledge import Knowledge, ModelDomain
from pddlego.methods.textgames.settings import ReaderRules, ReadingRule
from pddlego.pddl import Domain, Problem

PARTS: Mapping[str, tuple[str, ...]] = {
    "seen": ("refused", "repeating"),
    "retry": ("attempt", "rejected", "feedback", "repeated"),
    "terms": ("schemas", "goals"),
}


def situation_with(
    reader: str,
    task: str,
    domain: Domain,
    problem: Problem,
    news: tuple[Exchange, ...] = (),
    history: tuple[Exchange, ...] = (),
    valid_commands: tuple[str, ...] = (),
    *,
    only_planned: tuple[str, ...] = (),
    written: ModelDomain | None = None,
    reading: tuple[ReadingRule, ...] = (),
    reference: Knowledge | None = None,
    **fields: Any,
) -> PromptContext:
    """`fields` are those of a situation, and those of `Observations`, `Retry` and `Terms`."""
    parts = {part: {name: fields.pop(name) for name in names if name in fields} for part, names in PARTS.items()}
    return PromptContext(
        Knowledge(domain, problem, only_planned=only_planned, written=written),
        task,
        Observations(news, history, valid_commands, **parts["seen"]),
        Retry(**parts["retry"]),
        terms=Terms(**parts["terms"]),
        reader=ReaderRules(reader, reading, reference),
        **fields,
    )
