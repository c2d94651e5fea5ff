"""The reader as a model: finds the rules of the game and puts what they read into the format of the purpose."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from pddlego.errors import ModelError
from pddlego.methods.textgames.modes import WRITES_DOMAIN
from pddlego.methods.textgames.reader.coin import CoinRules
from pddlego.methods.textgames.reader.cooking import CookingRules
from pddlego.methods.textgames.reader.full import as_given, full_answer, full_edit
from pddlego.methods.textgames.reader.house import HouseRules
from pddlego.methods.textgames.reader.mapreader import MapReaderRules
from pddlego.methods.textgames.reader.patterns import PatternRules
from pddlego.methods.textgames.reader.twc import TidyRules
from pddlego.methods.textgames.situation import Situation
from pddlego.models.base import Completion, Request
from pddlego.pddl import Edit, apply_edit


def situation_of(request: Request) -> Situation:
    """What a request was rendered from. Raises `ModelError` for a request of another method."""
    if not isinstance(request.context, Situation):
        raise ModelError("The built-in reader cannot answer", "It reads text games only.", "Choose another --model.")
    return request.context


@runtime_checkable
class CommandRules(Protocol):
    """Rules that can also choose commands without a planner."""

    def command(self, situation: Situation) -> str:
        """The command to send next, from `situation.history`."""


RULES: Mapping[str, type[HouseRules]] = {
    "coin": CoinRules,
    "cooking": CookingRules,
    "mapreader": MapReaderRules,
    "twc": TidyRules,
}
"""By the name that a setting gives (`prompts.reader`), which is that of its prompts where it gives none."""


ANSWERED = ("edit", "gen", "act", *WRITES_DOMAIN)
"""Modes that the reader plays."""


def can_answer(rules: str, reading: bool, purpose: str) -> tuple[str, str] | None:
    """Why the reader cannot answer, and what to do; None if it can.

    `rules` is the folder of the setting's prompts; `reading` says whether the setting brings rules of its own.
    """
    if purpose not in ANSWERED:
        return f"It knows {', '.join(ANSWERED)}.", "Choose a language model with --model."
    if not reading and rules not in RULES:
        listed = ", ".join(sorted(RULES))
        advice = "Choose a language model with --model, or write [[reading]] rules in the setting."
        return f"It has no rules for '{rules}', only for {listed}.", advice
    if purpose == "act" and (reading or not issubclass(RULES[rules], CommandRules)):
        advice = "Use --mode edit or gen, or a language model with --model."
        return "It reads what the game says, and in mode act nothing plans with that.", advice
    return None


class ReaderModel:
    """Answers `edit` with a JSON edit, `gen` with a whole problem file and `act` with a command, all by rule.

    Where no domain is given it writes the one that the setting has.
    """

    @property
    def name(self) -> str:
        return "reader"

    @property
    def description(self) -> Mapping[str, Any]:
        return {"rules": sorted(RULES)}

    def complete(self, request: Request) -> Completion:
        """Raises `ModelError` if there are no rules for the game or no answer for the purpose."""
        started = time.perf_counter()
        text = self._answer(request)
        return Completion(text, seconds=time.perf_counter() - started)

    def _answer(self, request: Request) -> str:
        situation = situation_of(request)
        why = can_answer(situation.rules, bool(situation.reading), request.purpose)
        if why:
            raise ModelError(f"The built-in reader cannot answer for '{request.purpose}'", *why)
        rules = PatternRules() if situation.reading else RULES[situation.rules]()
        if request.purpose == "act":
            assert isinstance(rules, CommandRules)
            return rules.command(situation)
        if situation.reference is not None:
            edit = rules.edit(as_given(situation, situation.reference))
            if request.purpose == "full-edit":
                return full_edit(situation, situation.reference, as_json(edit))
            return full_answer(situation, situation.reference, edit)
        edit = rules.edit(situation)
        if request.purpose == "gen":
            return str(apply_edit(situation.problem, edit, situation.domain.constants).problem)
        return json.dumps(as_json(edit), indent=1)


def as_json(edit: Edit) -> dict[str, Any]:
    """The edit in the paper's JSON."""
    return {
        name: {"add": list(section.add), "replace": dict(section.replace), "delete": list(section.delete)}
        for name, section in (("objects", edit.objects), ("init", edit.init))
    }
