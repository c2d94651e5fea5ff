"""Loads the setting of a text game, as its options change it."""

from __future__ import annotations

from dataclasses import replace

from pddlego.errors import UsageError
from pddlego.methods.base import WorstCase, whole
from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.setting_files import load_setting, parse_search
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.feedback import MAX_REJECTED
from pddlego.runs.folders import place_of
from pddlego.runs.kept import DOMAIN_FROM, kept_domain
from pddlego.runs.store import read_results
from pddlego.util.files import read_text

GROWTH = 12_000
"""Characters that problem file, news and history may add to a request; a rejected answer comes on top."""


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
    return WorstCase(calls, own + len(setting.domain.text) + GROWTH + MAX_REJECTED)
