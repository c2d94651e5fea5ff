"""A setting as a mode without some of its parts plays it (`modes.ABLATIONS`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pddlego.errors import UsageError
from pddlego.methods.base import Variant
from pddlego.methods.textgames.modes import WRITES_DOMAIN
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.written import beginning_with, unwritten


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
