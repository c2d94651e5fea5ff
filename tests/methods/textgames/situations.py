"""Situations in one call: what tests vary, by the name of its innermost field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pddlego.episode.loop import Retry
from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext, Terms
from pddlego.methods.textgames.knowledge import Knowledge, ModelDomain
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reading.rules import ReadingRule
from pddlego.methods.textgames.settings import GameSetting, ReaderRules
from pddlego.pddl import Domain, Problem

PARTS: Mapping[str, tuple[str, ...]] = {
    "seen": ("refused", "repeating"),
    "retry": ("attempt", "rejected", "feedback", "repeated"),
    "terms": ("schemas", "goals"),
}


SHIPPED = ("coin", "cooking-easy", "mapreader", "twc")


@lru_cache
def loaded(name: str) -> GameSetting:
    """The setting of that name, loaded once."""
    return load(name)


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
    """`fields` are those of a situation, and those of `Observations`, `Retry` and `Terms`.

    If `reader` is one of our settings, the reader's rules are those of the setting, unless there are others.
    """
    rules, placeholder = ReaderRules(reader, reading, reference), ""
    if reader in SHIPPED and not reading:
        setting = loaded(reader)
        rules, placeholder = replace(setting.reader, reference=reference), setting.start.placeholder
    parts = {part: {name: fields.pop(name) for name in names if name in fields} for part, names in PARTS.items()}
    return PromptContext(
        Knowledge(domain, problem, only_planned=only_planned, written=written, placeholder=placeholder),
        task,
        Observations(news, history, valid_commands, **parts["seen"]),
        Retry(**parts["retry"]),
        terms=Terms(**parts["terms"]),
        reader=rules,
        **fields,
    )
