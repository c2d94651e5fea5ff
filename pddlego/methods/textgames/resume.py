"""Where a recorded episode goes on: the agent's state after a step, and the user's correction of the problem there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pddlego.episode.events import Accepted, Answered, Started
from pddlego.episode.trace import Trace
from pddlego.errors import JournalError, UsageError
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import Observed, Resumed
from pddlego.methods.textgames.formalize import ProblemProposal, Situation
from pddlego.methods.textgames.formalize.problems import read_file
from pddlego.methods.textgames.knowledge import Knowledge, beginning_with
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.options import MODES, PLANNING, WRITES_DOMAIN
from pddlego.methods.textgames.play import first_domain, make_method
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import Restart
from pddlego.pddl import PddlSyntaxError, Problem, parse_problem
from pddlego.runs.store import DOMAIN, DOMAIN_FROM


@dataclass(frozen=True)
class RecordedGame:
    """A recorded episode of a text game: its journal, its events, and its setting as it was loaded."""

    journal: Path
    trace: Trace
    loaded: GameSetting

    @property
    def started(self) -> Started:
        started = self.trace.started
        assert started is not None, "a recorded episode has begun"
        return started

    @property
    def seed(self) -> int:
        return self.started.seed or 0

    @property
    def mode(self) -> str:
        """The name of the mode without the parts that were taken out."""
        return parse_variant(self.started.mode, MODES).mode.name

    @cached_property
    def setting(self) -> GameSetting:
        """The setting as the variant of the mode played it."""
        variant = parse_variant(self.started.mode, MODES)
        return setting_for(self.loaded, variant, first_domain(self.trace.events))

    @property
    def plans(self) -> bool:
        """Whether the agent had problems and plans."""
        return self.mode in PLANNING


def recorded_game(journal: Path, trace: Trace, loaded: object) -> RecordedGame:
    """The recorded episode in its setting. Raises `UsageError` if it is not an episode of a text game."""
    if not isinstance(loaded, GameSetting):
        played_by = trace.started.played_by if trace.started is not None else "no method"
        reason = f"It was played by the method {played_by}."
        raise UsageError(f"{journal.name} is not a text game", reason, "Name an episode of a text game.")
    return RecordedGame(journal, trace, loaded)


def moment_at(played: RecordedGame, step: int) -> Restart:
    """The state of the agent after a step, with the model's last problem. Raises `UsageError` for an unknown step."""
    observed = played.trace.all(Observed)
    last = observed[-1].step if observed else -1
    if not 0 <= step <= last:
        reason = f"The episode has the steps 0 to {last}." if last >= 0 else "The game never answered."
        raise UsageError(f"Unknown step {step}", reason, "Choose another.")
    _check_not_before_resumption(played, step)
    problem, known, seen = played.setting.start.problem, 0, 0
    commands: list[Observed] = []
    answer, written = "", played.setting.sources.get(DOMAIN_FROM, "")
    for event in played.trace.events:
        if isinstance(event, Observed) and event.repeated:
            continue  # sent again after a restart of the game
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
                # Without an answer, a plan expected the problem, or the user gave it: it covers no more than before.
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
    if not played.plans or played.mode in WRITES_DOMAIN:
        return None
    method = make_method(played.started.mode, played.setting, played.seed)
    proposal = method.read(answer, _situation(played, moment))
    assert isinstance(proposal, ProblemProposal)
    problem = proposal.problem
    return problem if problem.facts and problem != moment.before else None


def read_correction(played: RecordedGame, moment: Restart, text: str) -> ProblemProposal:
    """Read a problem file of the user like that of a model. `feedback` says what is wrong with it."""
    return read_file(text, _situation(played, moment))


def known_at(played: RecordedGame, moment: Restart) -> Knowledge:
    """The agent's knowledge at that moment, with the domain that the model had written, if any."""
    start = played.setting.start
    known = beginning_with(start, moment.written) if moment.written else start
    return known.with_problem(moment.before)


def _situation(played: RecordedGame, moment: Restart) -> Situation:
    return Situation(known_at(played, moment), reader=played.setting.reader)


def check_not_over(played: RecordedGame, step: int) -> None:
    """Raises `UsageError` if the game was over after the step."""
    if any(observed.won or observed.lost for observed in played.trace.all(Observed) if observed.step <= step):
        raise UsageError(f"Cannot resume from step {step}", "The game was over.", "Choose an earlier one.")


def with_correction(moment: Restart, corrected: Problem | None) -> Restart:
    """The moment with the user's version of the problem.

    If the user corrects the problem of a rejected answer, it covers all observations that the answer covered.
    """
    if corrected is None or moment.rejected is None:
        return replace(moment, corrected=corrected)
    return replace(moment, before=moment.rejected, known=len(moment.commands) + 1, corrected=corrected)


def _check_not_before_resumption(played: RecordedGame, step: int) -> None:
    """Raises `UsageError` for a step before the resumption, for which the journal has no requests and problems."""
    resumed = played.trace.last(Resumed)
    if resumed is not None and step < resumed.step:
        reason = f"The episode itself begins after step {resumed.step}."
        raise UsageError(f"Step {step} was only repeated here", reason, f"Use {resumed.source}.")
