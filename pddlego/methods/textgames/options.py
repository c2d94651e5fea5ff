"""What can be set of text games, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pddlego.methods.base import WorstCase, whole
from pddlego.methods.textgames.setting_files import load_setting, parse_search
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.feedback import MAX_REJECTED

GROWTH = 12_000
"""Characters that problem file, news and history may add to a request; a rejected answer comes on top."""


def _text(value: object) -> object:
    """A parameter of a game as text: in a file it may stand as the number that it is."""
    return str(int(value)) if isinstance(value, int) else value


class TextGameOptions(BaseModel):
    """The method's table in a configuration file, and its options on the command line.

    `parameters` are the game's own, as `--set` gives them; `java` is a Java to use instead of the one that comes along.
    `search` is a search for every goal, `searches` one for each goal by its name, which wins.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    fold: str | None = None
    max_steps: int | None = Field(None, ge=1)
    search: str | None = None
    replan: Literal["on-surprise", "every-step"] = "on-surprise"
    java: str | None = None
    parameters: dict[str, Annotated[str, BeforeValidator(_text)]] = {}
    searches: dict[str, str] = {}


def load(name: str, options: TextGameOptions) -> GameSetting:
    """The setting with what the user changed. Raises `UsageError` and `SettingError`."""
    setting = load_setting(name, options.parameters, options.max_steps, options.fold, options.search)
    searches = {rung: parse_search(text) for rung, text in options.searches.items()}
    ladder = tuple(replace(rung, search=searches.get(rung.name, rung.search)) for rung in setting.ladder)
    return replace(setting, ladder=ladder)


def worst_case(setting: GameSetting, mode: str, options: TextGameOptions, retries: int) -> WorstCase:
    """Every command may take a question of its own, and each question all its repeated ones."""
    base = whole(mode)
    prompts = {name: len(text) for name, text in setting.sources.items() if name.startswith("prompts/")}
    own = sum(length for name, length in prompts.items() if base in name or "notes" in name)
    attempts = setting.protocol.attempts or 1 + retries
    calls = setting.max_steps * attempts
    return WorstCase(calls, own + len(setting.domain.text) + GROWTH + MAX_REJECTED, calls * len(setting.ladder))


OPTIONS = TextGameOptions
