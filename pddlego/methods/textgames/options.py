"""What can be set of text games, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from pddlego.errors import UsageError
from pddlego.methods.base import WorstCase, whole
from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.setting_files import load_setting, parse_search
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.feedback import MAX_REJECTED
from pddlego.runs.folders import place_of
from pddlego.runs.kept import DOMAIN_FROM, kept_domain
from pddlego.runs.store import read_results
from pddlego.util.files import read_text

GROWTH = 12_000
"""Characters that problem file, news and history may add to a request; a rejected answer comes on top."""


def _text(value: object) -> object:
    """A parameter of a game as text: in a file it may stand as the number that it is."""
    return str(int(value)) if isinstance(value, int) else value


class TextGameOptions(BaseModel):
    """The method's table in a configuration file, and its options on the command line.

    `parameters` are the game's own, as `--set` gives them; `java` is a Java to use instead of the one that comes along.
    `search` is a search for every goal, `searches` one for each goal by its name, which wins. With `history` all a
    model is shown all commands with their answers. With `rewind` the game begins anew after a refused command, and what
    had worked is repeated. Where the model writes the domain, `domain_from` is a run or a file with one to begin with.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    fold: str | None = None
    max_steps: int | None = Field(None, ge=1)
    search: str | None = None
    replan: Literal["on-surprise", "every-step"] = "on-surprise"
    history: Literal["news", "all"] = "news"
    rewind: bool = False
    domain_from: str | None = Field(None, min_length=1)
    java: str | None = None
    parameters: dict[str, Annotated[str, BeforeValidator(_text)]] = {}
    searches: dict[str, str] = {}

    @model_serializer(mode="wrap")
    def _without_defaults(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What came later stands in a run folder where it was chosen, so that older folders can be continued."""
        found: dict[str, Any] = dump(self)
        fields = type(self).model_fields
        return {key: value for key, value in found.items() if key not in LATER or value != fields[key].default}


LATER = ("history", "rewind", "domain_from")
"""Options that episodes which were played before did not have."""


def load(name: str, options: TextGameOptions) -> GameSetting:
    """The setting with what the user changed. Raises `UsageError` and `SettingError`."""
    setting = load_setting(name, options.parameters, options.max_steps, options.fold, options.search)
    searches = {rung: parse_search(text) for rung, text in options.searches.items()}
    ladder = tuple(replace(rung, search=searches.get(rung.name, rung.search)) for rung in setting.ladder)
    setting = replace(setting, ladder=ladder)
    if options.domain_from is None:
        return setting
    text = domain_of(options.domain_from, name)
    return replace(setting, begun_with=text, sources={**setting.sources, DOMAIN_FROM: text})


def domain_of(place: str, setting: str) -> str:
    """The domain in a file, or that with which a run won the setting last. Raises `UsageError` where there is none."""
    path = place_of(place)
    if not path.exists():
        raise UsageError(f"There is no domain in {place}", "There is no such file or folder.", "Check the path.")
    if path.is_file():
        return read_text(path)
    results = read_results(path) if path.is_dir() else []
    found = kept_domain(path, results, make_codec(), lambda each: each.cell.setting == setting)
    if not found:
        why = f"It holds no episode of {setting} that was won with a domain of the model's."
        raise UsageError(f"There is no domain in {place}", why, "Name a run in mode full, or a domain file.")
    return found


def worst_case(setting: GameSetting, mode: str, options: TextGameOptions, retries: int) -> WorstCase:
    """Every command may take a question of its own, and each question all its repeated ones."""
    base, *_ = whole(mode).split("-")  # the modes that write a domain share their prompts
    prompts = {name: len(text) for name, text in setting.sources.items() if name.startswith("prompts/")}
    own = sum(length for name, length in prompts.items() if base in name or "notes" in name)
    attempts = setting.protocol.attempts or 1 + retries
    calls = setting.max_steps * attempts
    return WorstCase(calls, own + len(setting.domain.text) + GROWTH + MAX_REJECTED, calls * len(setting.ladder))


OPTIONS = TextGameOptions
