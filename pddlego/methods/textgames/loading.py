"""Loads the setting of a text game, as its options change it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pddlego.errors import UsageError
from pddlego.methods.base import Variant, WorstCase, whole
from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.options import WRITES_DOMAIN, TextGameOptions
from pddlego.methods.textgames.setting_files import load_setting, parse_search
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.situation import beginning_with, unwritten
from pddlego.models.base import MAX_REJECTED
from pddlego.runs.folders import place_of
from pddlego.runs.store import DOMAIN_FROM, kept_domain, read_results
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


def setting_for(setting: GameSetting, variant: Variant, given: str | None = None) -> GameSetting:
    """The setting as a variant of a mode plays it. Where the model writes the domain it may begin with the `given` one,
    else with that which the setting has from a run.

    Raises `UsageError` for a part that the setting does not have, and for a text that is no domain.
    """
    setting = without_parts(setting, variant.without)
    if variant.mode.name not in WRITES_DOMAIN:
        return setting
    text = setting.begun_with if given is None else given
    blank = unwritten(setting, variant.mode.name == "full-own-goals", variant.without)
    return beginning_with(blank, text) if text else replace(blank, begun_with="")


def without_parts(setting: GameSetting, without: Collection[str]) -> GameSetting:
    """The setting with what stands in place of the parts that are taken out: its ladder, domain, prompts, recipe.

    Raises `UsageError` for a part that the setting does not have.
    """
    for part in without:
        _check_part(setting, part, without)
    removable = setting.removable
    if "ladder" in without and "domain" not in without:  # with another domain there is another ladder anyway
        setting = replace(setting, ladder=removable.ladder, rules=(*setting.rules, *removable.rules))
    if "recipe" in without:
        setting = replace(setting, hidden=(*setting.hidden, *removable.recipe))
    baseline = removable.baseline
    if "domain" in without and baseline is not None:
        setting = replace(
            setting,
            domain=baseline.domain,
            start=baseline.start,
            ladder=baseline.ladder,
            actions=baseline.actions,
            rules=baseline.rules,
            script=baseline.script,
            only_planned=baseline.only_planned,
            invariants=baseline.invariants,
            map=baseline.map,
        )
    if "prompts" in without and baseline is not None:
        own = setting.protocol.model_copy(update={"one_message": baseline.protocol.one_message})
        setting = replace(setting, prompts=baseline.prompts, hidden=(*setting.hidden, *baseline.hidden), protocol=own)
    return setting


def _check_part(setting: GameSetting, part: str, without: Collection[str]) -> None:
    """Raises `UsageError` if the part cannot be taken out of the setting, or is out already."""
    removable = setting.removable
    there = {
        "ladder": bool(removable.ladder) or (removable.baseline is not None and "domain" in without),
        "domain": removable.baseline is not None,
        "prompts": removable.baseline is not None,
        "recipe": bool(removable.recipe),
    }
    why = "" if there.get(part, True) else f"Its file does not say what to play without its {part}."
    if part in setting.protocol.without:
        why = f"It is played without {', '.join(setting.protocol.without)} in every mode."
    if why:
        raise UsageError(f"{setting.name} has no {part} to take out", why, f"Leave '-no-{part}' out.")
