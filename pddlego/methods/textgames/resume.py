"""Goes back to a step of a recorded episode, with a problem that a person corrected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pddlego.episode.events import Accepted, Answered
from pddlego.episode.trace import Trace
from pddlego.errors import JournalError, UsageError
from pddlego.methods.textgames.events import Observed, Resumed
from pddlego.methods.textgames.formalize import ProblemProposal, Situation
from pddlego.methods.textgames.formalize.problems import read_file
from pddlego.methods.textgames.knowledge import Knowledge, beginning_with
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.world import Episode, Restart
from pddlego.pddl import PddlSyntaxError, Problem, parse_problem
from pddlego.runs.store import DOMAIN, DOMAIN_FROM


@dataclass(frozen=True)
class RecordedGame:
    """A recorded episode: its journal, what was played, and what happened."""

    journal: Path
    episode: Episode
    trace: Trace


def moment_at(played: RecordedGame, step: int) -> Restart:
    """The episode after `step`, with all that the model made of it there. Raises `UsageError` for no such step."""
    observed = played.trace.all(Observed)
    last = observed[-1].step if observed else -1
    if not 0 <= step <= last:
        reason = f"The episode has the steps 0 to {last}." if last >= 0 else "The game never answered."
        raise UsageError(f"Unknown step {step}", reason, "Choose another.")
    _check_not_before_resumption(played, step)
    problem, known, seen = played.episode.setting.start.problem, 0, 0
    commands: list[Observed] = []
    answer, written = "", played.episode.setting.sources.get(DOMAIN_FROM, "")
    for event in played.trace.events:
        if isinstance(event, Observed) and event.repeated:
            continue  # the game began anew, and these brought it back
        if isinstance(event, Accepted) and event.kind == DOMAIN:
            written = event.text
        elif isinstance(event, Observed):
            if event.step > step:
                break
            seen, answer = seen + 1, ""
            if event.command is not None:
                commands.append(event)
        elif isinstance(event, Answered):
            answer = event.completion.text
        elif isinstance(event, (Accepted, Resumed)):
            if isinstance(event, Resumed):
                written = event.written
                problem, known = _recorded_problem(played, event.corrected or event.before), event.known
            else:
                # Without an answer it is what a plan expected, or what a person gave, which covers no more than before.
                covers_all = bool(answer) or event.source == "plan"
                problem, known = _recorded_problem(played, event.text), seen if covers_all else known
            answer = ""
    source, look = str(played.journal), observed[0].text
    moment = Restart(source, step, commands, problem, known, look=look, written=written)
    return replace(moment, rejected=_proposed(played, moment, answer)) if answer else moment


def _recorded_problem(played: RecordedGame, text: str) -> Problem:
    try:
        return parse_problem(text)
    except PddlSyntaxError as error:
        reason = f"A problem file in it cannot be read: {error}."
        raise JournalError(f"{played.journal} is damaged", reason, "Choose another run.") from error


def _proposed(played: RecordedGame, moment: Restart, answer: str) -> Problem | None:
    """The problem in an answer that was not accepted; None if it cannot be read."""
    episode = played.episode
    if not episode.plans or episode.writes_domain:
        return None
    method = make_method(episode.mode, episode.setting, episode.seed)
    proposal = method.read(answer, _situation(played, moment))
    assert isinstance(proposal, ProblemProposal)
    problem = proposal.problem
    return problem if problem.facts and problem != moment.before else None


def read_correction(played: RecordedGame, moment: Restart, text: str) -> ProblemProposal:
    """A person's problem file, read as a model's is. `feedback` says what is wrong with it."""
    return read_file(text, _situation(played, moment))


def known_at(played: RecordedGame, moment: Restart) -> Knowledge:
    """What the agent knew at that moment, with the domain that the model had written, if any."""
    start = played.episode.setting.start
    known = beginning_with(start, moment.written) if moment.written else start
    return known.with_problem(moment.before)


def _situation(played: RecordedGame, moment: Restart) -> Situation:
    return Situation(known_at(played, moment), reader=played.episode.setting.reader)


def check_not_over(played: RecordedGame, step: int) -> None:
    """Raises `UsageError` where the game was over."""
    if any(observed.won or observed.lost for observed in played.trace.all(Observed) if observed.step <= step):
        raise UsageError(f"Cannot resume from step {step}", "The game was over.", "Choose an earlier one.")


def with_correction(moment: Restart, corrected: Problem | None) -> Restart:
    """The moment with what a person made of its problem.

    A correction of what the model made of everything that was seen covers all of that.
    """
    if corrected is None or moment.rejected is None:
        return replace(moment, corrected=corrected)
    return replace(moment, before=moment.rejected, known=len(moment.commands) + 1, corrected=corrected)


def _check_not_before_resumption(played: RecordedGame, step: int) -> None:
    """Raises `UsageError` for a step that was only repeated: what the agent thought there is in the other journal."""
    resumed = played.trace.last(Resumed)
    if resumed is not None and step < resumed.step:
        reason = f"The episode itself begins after step {resumed.step}."
        raise UsageError(f"Step {step} was only repeated here", reason, f"Use {resumed.source}.")
