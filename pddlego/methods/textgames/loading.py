"""Loads the setting of a text game, as its options change it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pddlego.errors import UsageError
from pddlego.methods.base import Variant, WorstCase, whole
from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.knowledge import beginning_with, reference_of, unwritten
from pddlego.methods.textgames.options import WRITES_DOMAIN, TextGameOptions
from pddlego.methods.textgames.setting_files import load_setting, parse_search, with_searches
from pddlego.methods.textgames.settings import Asking, GameSetting, Removable
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
    setting = with_searches(setting, lambda rung: searches.get(rung.name, rung.search))
    if options.domain_from is None:
        return setting
    text = domain_of(options.domain_from, name)
    return replace(setting, sources={**setting.sources, DOMAIN_FROM: text})


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
    attempts = setting.asking.protocol.attempts or 1 + retries
    calls = setting.max_steps * attempts
    return WorstCase(calls, own + len(setting.start.domain.text) + GROWTH + MAX_REJECTED)


def setting_for(setting: GameSetting, variant: Variant, given: str | None = None) -> GameSetting:
    """The setting as a variant of a mode plays it. Where the model writes the domain it may begin with the `given` one,
    else with that which the setting has from a run.

    Raises `UsageError` for a part that the setting does not have, and for a text that is no domain.
    """
    setting = without_parts(setting, variant.without)
    if variant.mode.name not in WRITES_DOMAIN:
        return setting
    text = setting.sources.get(DOMAIN_FROM, "") if given is None else given
    reference = reference_of(setting.start)
    blank = unwritten(reference, variant.mode.name == "full-own-goals", variant.without)
    return replace(
        setting,
        sources={**setting.sources, DOMAIN_FROM: text},
        start=beginning_with(blank, text) if text else blank,
        reader=replace(setting.reader, reference=reference),
        fixed=replace(setting.fixed, script=""),
        removable=Removable(),
    )


def without_parts(setting: GameSetting, without: Collection[str]) -> GameSetting:
    """The setting with what stands in place of the parts that are taken out: its ladder, domain, prompts, recipe.

    Raises `UsageError` for a part that the setting does not have.
    """
    for part in without:
        _check_part(setting, part, without)
    removable = setting.removable
    if "ladder" in without and "domain" not in without:  # with another domain there is another ladder anyway
        rules = (*setting.fixed.rules, *removable.rules)
        start = replace(setting.start, ladder=removable.ladder)
        setting = replace(setting, start=start, fixed=replace(setting.fixed, rules=rules))
    if "recipe" in without:
        hidden = (*setting.asking.hidden, *removable.recipe)
        setting = replace(setting, asking=replace(setting.asking, hidden=hidden))
    baseline = removable.baseline
    if "domain" in without and baseline is not None:
        start = replace(baseline.start, placeholder=setting.start.placeholder)
        setting = replace(setting, start=start, fixed=baseline.fixed, map=baseline.map)
    if "prompts" in without and baseline is not None:
        own, theirs = setting.asking, baseline.asking
        protocol = own.protocol.model_copy(update={"one_message": theirs.protocol.one_message})
        setting = replace(setting, asking=Asking(theirs.prompts, (*own.hidden, *theirs.hidden), protocol))
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
    out = setting.asking.protocol.without
    if part in out:
        why = f"It is played without {', '.join(out)} in every mode."
    if why:
        raise UsageError(f"{setting.name} has no {part} to take out", why, f"Leave '-no-{part}' out.")
