"""Restarts of recorded episodes: the agent's state after a step, and the user's correction of its problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pddlego.episode.events import Accepted, Asked, Ended, Outcome
from pddlego.episode.trace import Trace
from pddlego.errors import JournalError, UsageError
from pddlego.methods.base import Variant, parse_variant
from pddlego.methods.old_modes import refuse_removed
from pddlego.methods.textgames.events import Observed, Resumed
from pddlego.methods.textgames.formalize import ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.constraint import CONSTRAINT
from pddlego.methods.textgames.formalize.contents import CONTENTS
from pddlego.methods.textgames.formalize.problems import read_file
from pddlego.methods.textgames.keeping import constraint_after
from pddlego.methods.textgames.knowledge import Knowledge, restored
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.options import LEARNING, MODES, PLANNING, WRITES_DOMAIN, repeats_answers
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import Restart
from pddlego.pddl import PddlSyntaxError, Problem, parse_problem
from pddlego.runs.store import begun_with, first_text


@dataclass(frozen=True)
class RecordedGame:
    """A recorded episode of a text game. `loaded` is its setting before the variant of the mode changes it."""

    journal: Path
    trace: Trace
    loaded: GameSetting

    @property
    def seed(self) -> int:
        return self.trace.begun.seed or 0

    @property
    def variant(self) -> Variant:
        """The parsed mode: its base and the removed parts."""
        return parse_variant(self.trace.begun.mode, MODES)

    @property
    def mode(self) -> str:
        """The name of the mode without the removed parts, such as `edit` for `edit-no-feedback`."""
        return self.variant.mode.name

    @cached_property
    def setting(self) -> GameSetting:
        """The setting without the removed parts, and with the text that the episode began with."""
        return setting_for(self.loaded, self.variant, begun_with(self.trace, self.variant.mode.carries.kind))

    @property
    def plans(self) -> bool:
        """Whether a planner chose the commands."""
        return self.mode in PLANNING


def recorded_game(journal: Path, trace: Trace, loaded: object) -> RecordedGame:
    """The recorded episode with its setting. Raises `UsageError` if it is not an episode of a text game."""
    if not isinstance(loaded, GameSetting):
        played_by = trace.started.played_by if trace.started is not None else "no method"
        reason = f"It was played by the method {played_by}."
        raise UsageError(f"{journal.name} is not a text game", reason, "Name an episode of a text game.")
    return RecordedGame(journal, trace, loaded)


def restart_at(recorded: RecordedGame, step: int) -> Restart:
    """The state from which the episode can be restarted after `step`.

    It holds the commands so far, the last accepted problem, and the problem of the last answer if that was rejected.
    Raises `UsageError` for a step that the episode does not have.
    """
    refuse_removed(recorded.trace.begun.mode)
    observed = recorded.trace.all(Observed)
    last = observed[-1].step if observed else -1
    shown = recorded.trace.step(step)
    if shown is None:
        reason = f"The episode has the steps 0 to {last}." if last >= 0 else "The game never answered."
        raise UsageError(f"Unknown step {step}", reason, "Choose another.")
    _check_not_before_resumption(recorded, step)
    other = (CONTENTS, CONSTRAINT)
    part, verdicts = shown.after, [call.verdict for call in shown.after.calls if call.purpose not in other]
    resumed = part.last(Resumed)
    problem = part.last(Accepted, where=lambda event: event.kind == "problem")
    kind = recorded.variant.mode.carries.kind
    own = part.last(Accepted, where=lambda event: event.kind == kind)
    text = problem.text if problem else resumed.corrected or resumed.before if resumed else ""
    # A user's correction that was accepted without an answer covers no more observations than before.
    covering = part.place(Accepted, where=lambda event: event.source == "plan" or any(event is v for v in verdicts))
    read = [event for event in part.until(max(0, covering)).all(Observed) if not event.repeated]
    begun_with = resumed.written if resumed else first_text(recorded.trace, kind)
    commands = [event for event in part.all(Observed) if event.command is not None and not event.repeated]
    constraint, broken = constraint_after(part, recorded.setting.start)
    restart = Restart(
        source=str(recorded.journal),
        step=step,
        commands=commands,
        before=_recorded_problem(recorded, text) if text else recorded.setting.start.problem,
        covered_observations=resumed.known if resumed and covering < 0 else len(read),
        first_observation=observed[0].text,
        written=own.text if own else begun_with,
        repeated=part.until(_end_of_repetition(part)) if repeats_answers(recorded.variant) else None,
        constraint=constraint,
        broken=broken,
    )
    call = shown.calls[-1] if shown.calls else None
    if call is None or isinstance(call.verdict, Accepted) or not call.completion.text:
        return restart
    return replace(restart, rejected=_rejected_problem(recorded, restart, call.completion.text))


def _end_of_repetition(part: Trace) -> int:
    """The number of events that are repeated: not the decision that led to no plan, nor a request without an answer."""
    if part.ended is not None:
        if part.ended.outcome is Outcome.NO_PLAN:
            return part.place(Observed) + 1
        part = part.until(part.place(Ended))
    return part.place(Asked) if part.request else len(part)


def problem_at(journal: Path, trace: Trace, loaded: object, step: int) -> str:
    """The problem after a step as PDDL. Raises `UsageError` for a step and an episode without a problem."""
    played = recorded_game(journal, trace, loaded)
    if not played.plans:
        reason = f"Mode {played.trace.begun.mode} has no problems."
        raise UsageError(f"Step {step} has no problem", reason, "Show an episode of mode edit or gen.")
    return str(restart_at(played, step).latest)


def _recorded_problem(recorded: RecordedGame, text: str) -> Problem:
    try:
        return parse_problem(text)
    except PddlSyntaxError as error:
        reason = f"A problem file in it cannot be read: {error}."
        raise JournalError(f"{recorded.journal} is damaged", reason, "Choose another run.") from error


def _rejected_problem(recorded: RecordedGame, restart: Restart, answer: str) -> Problem | None:
    """The problem in a rejected answer. None if it cannot be read, or if it equals the last accepted problem."""
    if not recorded.plans or recorded.mode in (*LEARNING, *WRITES_DOMAIN):
        return None
    method = make_method(recorded.trace.begun.mode, recorded.setting, recorded.seed)
    proposal = method.read(answer, _situation(recorded, restart))
    assert isinstance(proposal, ProblemProposal)
    problem = proposal.problem
    return problem if problem.facts and problem != restart.before else None


def read_correction(recorded: RecordedGame, restart: Restart, text: str) -> ProblemProposal:
    """Parse a problem file of the user with the same rules as a model's answer. `feedback` lists its errors.

    Raises `UsageError` in mode `learn`, where the problem is what the rules read.
    """
    if recorded.mode in LEARNING:
        reason = f"In mode {recorded.mode}, the problem is what the rules read from the game."
        raise UsageError("The problem cannot be corrected", reason, "Correct the rules, and begin with --from.")
    return read_file(text, _situation(recorded, restart))


def knowledge_at(recorded: RecordedGame, restart: Restart) -> Knowledge:
    """The agent's knowledge at the restart: the last accepted problem, and the model's own domain or rules."""
    return restored(recorded.setting.start, restart.written, restart.before)


def _situation(recorded: RecordedGame, restart: Restart) -> PromptContext:
    return PromptContext(knowledge_at(recorded, restart), reader=recorded.setting.reader)


def check_not_over(recorded: RecordedGame, step: int) -> None:
    """Raise `UsageError` if the game was won or lost by the end of the step."""
    if any(observed.won or observed.lost for observed in recorded.trace.all(Observed) if observed.step <= step):
        raise UsageError(f"Cannot resume from step {step}", "The game was over.", "Choose an earlier one.")


def with_correction(restart: Restart, corrected: Problem | None) -> Restart:
    """The restart with the user's version of the problem, or with None if the user did not correct it.

    The correction of a rejected problem covers all observations that the rejected answer covered.
    """
    if corrected is None or restart.rejected is None:
        return replace(restart, corrected=corrected)
    covered = len(restart.commands) + 1
    return replace(restart, before=restart.rejected, covered_observations=covered, corrected=corrected)


def _check_not_before_resumption(recorded: RecordedGame, step: int) -> None:
    """Raise `UsageError` for a step before the resumption: the journal has no requests and problems of such steps."""
    resumed = recorded.trace.last(Resumed)
    if resumed is not None and step < resumed.step:
        reason = f"The episode itself begins after step {resumed.step}."
        raise UsageError(f"Step {step} was only repeated here", reason, f"Use {resumed.source}.")
