"""Loads a description to build from."""

from __future__ import annotations

from pddlego.methods.base import WorstCase, parse_variant
from pddlego.methods.builders.modes import MODES
from pddlego.methods.builders.options import BuilderOptions
from pddlego.methods.builders.settings import TextSetting, load_text
from pddlego.util import resources

LISTED = 12_000
"""Characters of a description, a domain and a problem in a question (an estimate)."""

MOST_COMPONENTS = 40
"""Components of a domain and a problem, at most ten actions three times each (an estimate)."""


def load(name: str, options: BuilderOptions) -> TextSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    from pddlego.methods.builders.components import COMPONENTS

    fields = load_text(name)
    names = ("component", "review", *(f"kinds/{each}" for each in COMPONENTS))
    prompts = {f"prompts/builders/{each}.j2": resources.read("prompts", f"builders/{each}.j2") for each in names}
    return TextSetting(**{**fields, "sources": {**fields["sources"], **prompts}})


def worst_case(setting: TextSetting, mode: str, options: BuilderOptions, retries: int) -> WorstCase:
    """Every component again and again, and four opinions a round."""
    without = parse_variant(mode, MODES).without
    rounds = options.rounds if options.feedback == "model" and "review" not in without else 0
    calls = MOST_COMPONENTS * (1 + retries) + rounds * (4 + 1 + retries)
    return WorstCase(calls, LISTED)
