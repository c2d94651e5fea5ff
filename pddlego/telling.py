"""Events, and words for the model, made of what a method and the goal ladder gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from pddlego import events as ev
from pddlego.episode import Episode
from pddlego.formalize import ProblemProposal, read_file
from pddlego.models import Completion, Model
from pddlego.oversight import Question
from pddlego.pddl import Defect, DefectKind, Diff, EditReport, Problem, diff
from pddlego.pddl.invariants import Invariant, contradictions
from pddlego.planning import LadderResult, PlanStatus, RungResult
from pddlego.refine import Retry
from pddlego.restart import Restart
from pddlego.situation import Feedback, Situation
from pddlego.text import writable

MAX_ANSWER = 200_000
"""Characters of an answer that are read and kept; the longest useful one is a problem file of some thousand."""

UNREACHABLE = "goal unreachable"
"""The category of an answer whose problem leaves no goal within reach."""

NO_PLAN = {
    PlanStatus.UNSOLVABLE: (UNREACHABLE, "with this problem file no sequence of actions reaches any goal:"),
    PlanStatus.ALREADY_TRUE: ("goal already true", "in this problem file the goal is true before any action:"),
    PlanStatus.INVALID: ("invalid problem", "the planner cannot read the problem file:"),
    PlanStatus.TIMEOUT: ("planner timeout", "the planner found no plan in time for this problem file:"),
    PlanStatus.MEMORY: (
        "planner out of memory",
        "the planner ran out of memory with this problem file; make it smaller:",
    ),
}
"""What the model is told when the ladder gives no plan, by the status of the rung that says most."""

SAYS_MOST = (PlanStatus.INVALID, PlanStatus.MEMORY, PlanStatus.TIMEOUT)
"""Of goals that failed in several ways these are told first: that another goal is true already says nothing then."""


def no_plan(ladder: LadderResult) -> Feedback:
    """What the model is told when no goal of the ladder has a plan."""
    statuses = [each.result.status for each in ladder.tried]
    telling = next((each for each in SAYS_MOST if each in statuses), statuses[-1])
    category, message = NO_PLAN[telling]
    tried = (f"{each.name}: {each.result.status.value} ({each.result.message})" for each in ladder.tried)
    return Feedback(category, message, tuple(tried))


def started(episode: Episode, model: Model) -> ev.EpisodeStarted:
    """What is played, by which method and model, under which limits."""
    setting = episode.setting
    goals = tuple(rung.name for rung in setting.ladder) if episode.plans else ()
    drawn = asdict(setting.map) if setting.map else None
    names = setting.name, setting.title, episode.mode, model.name
    return ev.EpisodeStarted(*names, episode.seed, setting.about, goals, episode.limits, drawn)


def rejected(retry: Retry, feedback: Feedback, proposal: ProblemProposal | None) -> ev.Rejected:
    """An answer could not be used; `proposal` is what it was read as, if it was about a problem."""
    told = (lines(proposal.report), kinds(proposal)) if proposal else ((), ())
    return ev.Rejected(retry.attempt, feedback.category, feedback.message, feedback.evidence, *told)


def kinds(proposal: ProblemProposal) -> tuple[str, ...]:
    """The kinds of all defects that the check found."""
    return tuple(each.kind.value for each in proposal.defects)


def tried(rung: RungResult) -> ev.TriedRung:
    """A rung of the ladder and what came of it."""
    result = rung.result
    return ev.TriedRung(rung.name, result.status.value, result.message, result.seconds, len(result.plan or ()))


def lines(report: EditReport | None) -> tuple[ev.EditLine, ...]:
    """What became of each line of an edit."""
    entries = report.entries if report else ()
    return tuple(ev.EditLine(each.kind.value, each.where, each.line, each.note) for each in entries)


def contradicting(problem: Problem, invariants: Sequence[Invariant]) -> tuple[Defect, ...]:
    """How an accepted problem contradicts itself, as harmless defects: the model is told with its next request."""
    messages = contradictions(problem, invariants)
    return tuple(Defect(DefectKind.CONTRADICTION, each, each, blocking=False) for each in messages)


def formalized(before: Problem, proposal: ProblemProposal, invariants: Sequence[Invariant]) -> ev.Formalized:
    """A proposal is accepted: what it changed, and what was wrong with it and harmless."""
    report = proposal.report
    renamed = report.renamed if report else ()
    changed = diff(before, proposal.problem, dict(renamed))
    defects = proposal.defects + contradicting(proposal.problem, invariants)
    return ev.Formalized(
        str(proposal.problem),
        added(changed),
        removed(changed),
        renamed,
        lines(report),
        tuple(each.message for each in defects),
        tuple(each.kind.value for each in defects),
    )


def added(changed: Diff) -> tuple[str, ...]:
    """Objects and facts that are new."""
    return tuple(str(each) for each in (*changed.added_objects, *changed.added_facts))


def removed(changed: Diff) -> tuple[str, ...]:
    """Objects and facts that are gone."""
    return tuple(str(each) for each in (*changed.removed_objects, *changed.removed_facts))


def resumed(restart: Restart) -> ev.Resumed:
    """Where an episode goes on, and what a person changed in the problem there."""
    corrected = restart.corrected
    changed = diff(restart.before, corrected) if corrected else diff(restart.before, restart.before)
    text = str(corrected) if corrected else None
    return ev.Resumed(
        restart.source, restart.step, str(restart.before), restart.known, text, added(changed), removed(changed)
    )


def edit_question(before: Problem, proposal: ProblemProposal, situation: Situation) -> Question:
    """A proposal as a person is asked about it."""
    renamed = proposal.report.renamed if proposal.report else ()
    changed = diff(before, proposal.problem, dict(renamed))
    changes = added(changed), removed(changed), renamed
    return Question("edits", str(proposal.problem), *changes, faults=lambda text: read_file(text, situation).faults)


def recordable(answer: Completion) -> Completion:
    """An answer that can be written down; an endless one helps nobody."""
    text, thought = writable(answer.text[:MAX_ANSWER]), writable(answer.reasoning[:MAX_ANSWER])
    return replace(answer, text=text, reasoning=thought)


def answered(number: int, answer: Completion) -> ev.Answered:
    """The answer to a call."""
    return ev.Answered(
        number,
        answer.text,
        answer.tokens_in,
        answer.tokens_out,
        answer.tokens_cached,
        answer.seconds,
        answer.attempts,
        answer.estimated,
        answer.finish,
        answer.from_cache,
        answer.reasoning,
    )
