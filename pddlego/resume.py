"""Goes back to a step of a recorded episode, with a problem that a person corrected."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pddlego.errors import UsageError
from pddlego.events import EpisodeEnded, Event, Formalized, Observed, Resumed
from pddlego.formalize import read_file
from pddlego.formalize.base import ProblemProposal
from pddlego.pddl import Problem, parse_problem
from pddlego.recorded import Recorded
from pddlego.restart import Restart
from pddlego.situation import Situation


@dataclass(frozen=True)
class Moment:
    """A recorded episode after a step: its commands with their answers, and the problem that the agent had there.

    The problem was made from the first `known` observations.
    """

    commands: tuple[tuple[str, str], ...]
    problem: Problem
    known: int


def moment_at(recorded: Recorded, step: int) -> Moment:
    """The episode after `step`, with all that the model made of it there. Raises `UsageError` for no such step."""
    last = max((each.step for each in recorded.observed), default=0)
    ended = isinstance(recorded.events[-1], EpisodeEnded)
    won = any(each.won or each.lost for each in recorded.observed)
    highest = last - 1 if ended and won else last
    if not 0 <= step <= highest:
        why = f"The episode has the steps 0 to {last}" + (", and the last one ended the game." if won else ".")
        raise UsageError(f"There is no going on from step {step}", why, "Choose another with --from-step.")
    problem, known, seen = recorded.episode.setting.start, 0, 0
    commands = []
    for event in recorded.events:
        if isinstance(event, Observed):
            if event.step > step:
                break
            seen += 1
            if event.step:
                commands.append((event.command or "", event.text))
        else:
            found = _problem_in(event)
            if found is not None:
                problem, known = found, event.known if isinstance(event, Resumed) else seen
    return Moment(tuple(commands), problem, known)


def _problem_in(event: Event) -> Problem | None:
    if isinstance(event, Formalized):
        return parse_problem(event.problem)
    return parse_problem(event.before) if isinstance(event, Resumed) else None


def read_correction(recorded: Recorded, moment: Moment, text: str) -> ProblemProposal:
    """A person's problem file, read as a model's is. `feedback` says what is wrong with it."""
    setting = recorded.episode.setting
    return read_file(
        text,
        Situation(setting.prompts, "", setting.domain, moment.problem, only_planned=setting.only_planned),
    )


def restart_at(journal: Path, step: int, moment: Moment, corrected: Problem | None) -> Restart:
    """Where the new episode begins."""
    return Restart(str(journal), step, moment.commands, moment.problem, moment.known, corrected)
