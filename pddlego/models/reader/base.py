"""The reader as a model: finds the rules of the game and puts what they read into the format of the purpose."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Protocol

from pddlego.errors import ModelError
from pddlego.models.base import Completion, Request
from pddlego.models.reader.coin import CoinRules
from pddlego.pddl import Edit, apply_edit
from pddlego.situation import Situation


class Rules(Protocol):
    """Reading rules for one family of games. Stateless: everything they need is in the situation."""

    def edit(self, situation: Situation) -> Edit:
        """The edit that brings `situation.problem` up to date with `situation.news`."""

    def command(self, situation: Situation) -> str:
        """The command to send next, from `situation.history`."""


RULES: Mapping[str, type[Rules]] = {"coin": CoinRules}


class ReaderModel:
    """Answers `edit` with a JSON edit, `gen` with a whole problem file and `act` with a command, all by rule."""

    def __init__(self, rules: Mapping[str, type[Rules]] = RULES) -> None:
        self._rules = rules

    @property
    def name(self) -> str:
        return "reader"

    @property
    def description(self) -> Mapping[str, Any]:
        return {"rules": sorted(self._rules)}

    def complete(self, request: Request) -> Completion:
        """Raises `ModelError` if there are no rules for the game or no answer for the purpose."""
        started = time.perf_counter()
        text = self._answer(request)
        return Completion(text, seconds=time.perf_counter() - started)

    def _answer(self, request: Request) -> str:
        situation = request.situation
        chosen = self._rules.get(situation.rules)
        if chosen is None:
            raise ModelError(
                f"The built-in reader has no rules for '{situation.rules}'",
                f"It can read: {', '.join(sorted(self._rules))}.",
                "Choose a language model with --model, or write rules for the game.",
            )
        rules = chosen()
        if request.purpose == "act":
            return rules.command(situation)
        edit = rules.edit(situation)
        if request.purpose == "gen":
            return str(apply_edit(situation.problem, edit, situation.domain.constants).problem)
        if request.purpose == "edit":
            return json.dumps(as_json(edit), indent=1)
        raise ModelError(
            f"The built-in reader cannot answer for '{request.purpose}'", "It knows edit, gen and act.", ""
        )


def as_json(edit: Edit) -> dict[str, Any]:
    """The edit in the paper's JSON."""
    return {
        name: {"add": list(section.add), "replace": dict(section.replace), "delete": list(section.delete)}
        for name, section in (("objects", edit.objects), ("init", edit.init))
    }
