"""`pddlego learn-domain`: learns the actions of a domain from transitions, or from the plans of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pddlego.cli.printing import Format, Line, check_target, end, show_lines
from pddlego.errors import UsageError
from pddlego.util.files import write_whole
from pddlego.util.text import count

if TYPE_CHECKING:
    from pddlego.planning.learning.learner import LearnedAction, LearnedDomain

Source = Annotated[
    Path,
    typer.Argument(metavar="DOMAIN|RUN", help="A domain file (types, predicates, parameters); without FILE: a run."),
]
TransitionFile = Annotated[Path | None, typer.Argument(metavar="[FILE]", help="JSON lines: state, action, next state.")]
Game = Annotated[str | None, typer.Option("--game", help="Of a run: only this game.")]
Truth = Annotated[bool, typer.Option("--truth", help="Of a run: use the true facts, not those that the model read.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="File for the domain.")]
Optimistic = Annotated[
    bool, typer.Option("--optimistic", help="Write the domain that allows all that is not excluded, not the safe one.")
]


def command(
    domain: Source,
    transitions: TransitionFile = None,
    output: Output = None,
    optimistic: Optimistic = False,
    game: Game = None,
    truth: Truth = False,
    form: Format = "text",
) -> None:
    """Learn the actions of a domain from transitions or from the plans of a run, and print the domain.

    Standard error gets the number of successes, and the sure and open conditions of each action.

    A precondition is every condition that held whenever the action succeeded, so an action that the learned domain
    allows is possible. With failures, conditions are sure, open or excluded. Conditions and effects in DOMAIN are not
    used.
    Exit code: 0 all actions were learned, 1 some were not, 2 wrong usage.
    """
    check_target(output, (".pddl",), (domain, *([transitions] if transitions is not None else [])))
    if transitions is None:
        learned = _learned_from_run(str(domain), game, truth)
    elif game is not None or truth:
        what = "--game and --truth are for runs"
        raise UsageError(what, f"{transitions} is a file of transitions.", "Leave out the options, or the file.")
    else:
        from pddlego.tools import learn_actions

        learned = learn_actions(domain, transitions)
    text = f"{learned.optimistic if optimistic else learned.safe}\n"
    if output is not None:
        write_whole(output, text)
    if form == "json":
        typer.echo(json.dumps({"domain": text, "actions": [_values(action) for action in learned.actions]}, indent=2))
    else:
        show_lines((line for action in learned.actions for line in _lines(action)), errors=True)
        if output is None:
            typer.echo(text, nl=False)
    end(not learned.unknown)


def _learned_from_run(run: str, game: str | None, true: bool) -> LearnedDomain:
    """The domain learned from the last attempts at a run's episodes. Raises `UsageError` if it has several settings."""
    from pddlego.evaluation.replay import SettingLoader, load_recorded
    from pddlego.runs.folders import EpisodeFilter, find_journals, find_run, last_journals

    loader, place = SettingLoader(), find_run(run)
    journals = last_journals(find_journals(place, EpisodeFilter(game)))
    episodes = [load_recorded(journal, loader=loader) for journal in journals]
    if open_ones := sum(item.trace.ended is None for item in episodes):
        text = f"{open_ones} of {count(len(episodes), 'episode')} did not end: what is there so far is used"
        show_lines([(text, "yellow")], errors=True)
    methods = {(item.played.setting.name, item.played.method.name): item.played.method for item in episodes}
    if len(methods) > 1:
        reason = f"Its episodes are of {', '.join(sorted(' by '.join(names) for names in methods))}."
        raise UsageError(f"{place} has more than one domain", reason, "Choose one with --game, or another run.")
    (method,) = methods.values()
    return method.learned([(item.trace, item.played.setting, item.played.options) for item in episodes], true)


def _values(action: LearnedAction) -> dict[str, Any]:
    parts = {name: [str(condition) for condition in getattr(action, name)] for name in ("sure", "open", "excluded")}
    experiments = [{"condition": str(item.condition), "goal": str(item.goal)} for item in action.experiments()]
    numbers = {"successes": action.successes, "failures": action.failures}
    return {"name": action.name, **numbers, **parts, "experiments": experiments, "fault": action.fault}


def _lines(action: LearnedAction) -> Iterator[Line]:
    numbers = f"{action.successes} succeeded, {action.failures} refused"
    fault = action.fault or ("" if action.successes else "it never succeeded")
    yield f"{action.name}: {numbers}{f'; not learned: {fault}' if fault else ''}", "yellow" if fault else "green"
    for word, conditions in (("sure", action.sure), ("open", action.open)):
        if action.successes and conditions:
            yield f"  {word}: {' '.join(map(str, conditions))}", ""
