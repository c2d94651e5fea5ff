"""Between plan and game: commands in the game's own spelling, and answers compared with what the plan expected."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Problem, from_name, same_name, to_name
from pddlego.planning import PlanStep


def surprise(setting: GameSetting, step: PlanStep, text: str, problem: Problem, said: Iterable[str]) -> str:
    """How `text` differs from what `step` should bring; empty if it does not.

    A parameter whose name the game has never said (`said` are its answers so far) is a placeholder: it may turn out to
    be anything new, but not something that the problem already knows under another name, because then the plan was
    made for a map that is wrong.
    """
    expect = setting.actions[step.action].expect
    if not expect:
        return ""
    match = re.search(expect, text)
    if match is None:
        return "the game answered otherwise than the plan expected"
    predicted = _predicted(setting, step)
    known = {each.name for each in problem.objects}
    for name, seen in match.groupdict().items():
        wanted = predicted[name]
        if seen is None or same_name(seen, wanted):
            continue
        if to_name(seen) in known or _was_said(wanted, said):
            return f"the plan expected {from_name(wanted)}, and it is {seen}"
    return ""


def says_nothing_new(setting: GameSetting, step: PlanStep, read: str, said: Iterable[str]) -> bool:
    """Whether what was `read` of an answer that is no surprise tells nothing but what `step` should bring.

    It does not if it is that and no word more, or if the game has said all of it before.
    """
    expect = setting.actions[step.action].expect
    if not expect or read in said:
        return bool(expect)
    match = re.fullmatch(expect, read)
    predicted = _predicted(setting, step)
    return match is not None and all(
        seen is not None and same_name(seen, predicted[name]) for name, seen in match.groupdict().items()
    )


def _predicted(setting: GameSetting, step: PlanStep) -> dict[str, str]:
    """What each parameter of a step stands for, without its `?`."""
    return {name.lstrip("?"): value for name, value in setting.given(step).items()}


def as_said(command: str, valid: Iterable[str]) -> str:
    """The valid command that means the same, if `command` is none itself.

    Games tell `TV stand` from `tv stand`, PDDL does not, and what a model calls `tv-stand` is the same thing.
    """
    listed = list(valid)
    if command in listed or not command:
        return command
    return next((each for each in listed if same_name(each, command)), command)


def _was_said(name: str, said: Iterable[str]) -> bool:
    pattern = re.compile(rf"\b{re.escape(from_name(name))}\b", re.IGNORECASE)
    return any(pattern.search(text) for text in said)
