"""The tab with the actions that play has taught (mode `edit+learn-actions`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.episode.trace import Step, Trace
from pddlego.errors import PddlegoError
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.lessons import Lessons
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import LEARN_ACTIONS, MODES, TRANSITIONS
from pddlego.pddl.conditions import Formula, conjuncts
from pddlego.planning.learning.learner import LearnedAction
from pddlego.runs.store import last_text
from pddlego.util.text import clean, count

_MOST_SHOWN = 8
"""The maximum number of conditions of an action that are listed as not needed: most have hundreds."""


def learns_actions(trace: Trace) -> bool:
    """Whether play teaches the actions."""
    return parse_variant(trace.begun.mode, MODES).mode.name == LEARN_ACTIONS


def actions_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """What is known of each action: its conditions and effects, first and in green what this step has taught."""
    try:
        setting = load(step.after.begun.setting)
        before, after = (
            Lessons.begin(setting, last_text(trace, TRANSITIONS.kind)) for trace in (step.before, step.after)
        )
    except PddlegoError as error:  # a setting of another folder, or a damaged journal
        return [Text(clean(f"{error}"))]
    lines = list[Text]()
    for name in sorted(after.actions, key=lambda name: after.actions[name] == before.actions[name]):  # the taught first
        lines += [*_action_lines(before.actions[name], after.actions[name], glyphs), Text()]
    return lines


def _action_lines(before: LearnedAction, action: LearnedAction, glyphs: Glyphs) -> Iterator[Text]:
    """The head of an action with its successes, and below it its conditions and effects."""
    head = action.optimistic
    tried = f"succeeded {count(action.successes, 'time')}" if action.successes else "never succeeded"
    tried += f", refused {count(action.failures, 'time')}" if action.failures else ""
    is_new = (before.successes, before.failures) != (action.successes, action.failures)
    parameters = " ".join(f"{one.name} - {one.type}" for one in head.parameters)
    title = Text(clean(f"{action.name} ({parameters})"), "bold green" if is_new else "bold")
    yield title.append(f"  {tried}", "not bold dim")
    if action.fault:
        yield Text(clean(f"  not learned: {action.fault}"), "yellow")
    if not action.successes:
        return
    if not before.successes:  # its conditions were those that no failure excluded: nothing was known
        before = replace(before, sure=(), open=(), excluded=())
    yield from _listed("needs", action.sure, before.sure, glyphs)
    yield from _listed("may need", action.open, before.open, glyphs)
    earlier = frozenset(before.excluded)
    excluded = sorted(action.excluded, key=earlier.__contains__)  # those of this step first
    yield from _listed("does not need", excluded[:_MOST_SHOWN], earlier, glyphs)
    if excluded[_MOST_SHOWN:]:
        yield Text(f"    and {count(len(excluded) - _MOST_SHOWN, 'other')}", "dim")
    now, then = (tuple(conjuncts(one.optimistic.effect)) for one in (action, before))
    yield from _listed("makes", now, then, glyphs)


def _listed(what: str, conditions: Sequence[Formula], before: Collection[Formula], glyphs: Glyphs) -> Iterator[Text]:
    """Conditions or effects, one a line, below a line that says `what` they are."""
    if conditions:
        yield Text(f"  {what}")
    for condition in conditions:
        is_new = condition not in before
        yield Text(clean(f"  {glyphs.added if is_new else ' '} {condition}"), "green" if is_new else "dim")
