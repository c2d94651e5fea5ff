"""Events, and questions to a person, made of what a method and the goal ladder gave."""

from __future__ import annotations

from collections.abc import Sequence

from pddlego.episode.approval import Question
from pddlego.episode.events import Accepted, Event, Rejected, Source, Started
from pddlego.episode.loop import Retry
from pddlego.methods.textgames.episode import Episode, Restart
from pddlego.methods.textgames.events import GameEvent, Resumed
from pddlego.methods.textgames.formalize.base import ProblemProposal, Proposal
from pddlego.methods.textgames.formalize.gen import read_file
from pddlego.methods.textgames.knowledge import Knowledge, written_text
from pddlego.methods.textgames.situation import Situation
from pddlego.models import Model
from pddlego.models.base import Feedback
from pddlego.pddl import Defect, DefectKind, Diff, Problem, diff
from pddlego.pddl.diff import domain_diff
from pddlego.pddl.exclusive import contradictions
from pddlego.runs.store import DOMAIN, DOMAIN_FROM

MODELS_GOALS = "a goal of the model's"
"""Stands on the ladder before the model has written its goals."""


def started(episode: Episode, model: Model) -> Started:
    """What is played, by which method and model, under which limits."""
    setting = episode.setting
    begun_with = setting.sources.get(DOMAIN_FROM, "")
    goals = tuple(rung.name for rung in setting.start.ladder) or (MODELS_GOALS,) if episode.plans else ()
    return Started(
        setting=setting.name,
        title=setting.title,
        mode=episode.mode,
        model=model.name,
        seed=episode.seed,
        task=setting.about,
        limits=episode.limits,
        played_by=GameEvent.method,
        details={
            "goals": goals,
            "map": setting.map.model_dump() if setting.map else None,
            **({"writes_domain": True} if episode.writes_domain else {}),
            **({DOMAIN: begun_with} if episode.writes_domain and begun_with else {}),
        },
    )


def rejected(retry: Retry, feedback: Feedback, proposal: Proposal) -> Rejected:
    """An answer could not be used; `proposal` is what it was read as."""
    if not isinstance(proposal, ProblemProposal):
        return Rejected(retry.attempt, feedback)
    lines = proposal.report.entries if proposal.report else ()
    kinds = tuple(defect.kind.value for defect in proposal.defects)
    return Rejected(retry.attempt, feedback, lines, kinds)


def accepted(before: Problem, proposal: ProblemProposal, source: Source = "model") -> Accepted:
    """A proposal is accepted: what it changed, and what was wrong with it and harmless."""
    report = proposal.report
    renamed = report.renamed if report else ()
    changed = diff(before, proposal.problem, dict(renamed))
    # The model is told of them with its next request.
    messages = contradictions(proposal.problem, proposal.knowledge.invariants)
    harmless = (Defect(DefectKind.CONTRADICTION, each, each, blocking=False) for each in messages)
    defects = (*proposal.defects, *harmless)
    return Accepted(
        kind="problem",
        text=str(proposal.problem),
        added=added(changed),
        removed=removed(changed),
        renamed=renamed,
        lines=report.entries if report else (),
        defects=tuple(defect.message for defect in defects),
        kinds=tuple(defect.kind.value for defect in defects),
        source=source,
    )


def domain_accepted(before: Knowledge, after: Knowledge) -> tuple[Accepted, ...]:
    """A domain of the model's is accepted, if it is another than before or its commands are: what changed in it."""
    last, written = before.written, after.written
    if written is None or written is last:
        return ()
    changed = domain_diff(before.domain, written.domain)
    same_commands = last is not None and last.commands == written.commands
    if not changed.added and not changed.removed and same_commands:
        return ()
    return (Accepted(kind=DOMAIN, text=written_text(written), added=changed.added, removed=changed.removed),)


def added(changed: Diff) -> tuple[str, ...]:
    """Objects and facts that are new."""
    return tuple(str(each) for each in (*changed.added_objects, *changed.added_facts))


def removed(changed: Diff) -> tuple[str, ...]:
    """Objects and facts that are gone."""
    return tuple(str(each) for each in (*changed.removed_objects, *changed.removed_facts))


def resumed(restart: Restart) -> Resumed:
    """Where an episode goes on, and what a person changed in the problem there."""
    corrected = restart.corrected
    changed = diff(restart.before, corrected or restart.before)
    return Resumed(
        source=restart.source,
        step=restart.step,
        before=str(restart.before),
        known=restart.known,
        corrected=str(corrected) if corrected else None,
        written=restart.written,
        added=added(changed),
        removed=removed(changed),
    )


def edit_question(before: Problem, proposal: ProblemProposal, situation: Situation) -> Question:
    """A proposal as a person is asked about it."""
    renamed = proposal.report.renamed if proposal.report else ()
    changed = diff(before, proposal.problem, dict(renamed))
    return Question(
        what="edits",
        title="a change of the problem",
        text=str(proposal.problem),
        changes=True,
        added=added(changed),
        removed=removed(changed),
        renamed=renamed,
        faults=lambda text: read_file(text, situation).faults,
        suffix=".pddl",
    )


def plan_question(commands: Sequence[str], goal: str, preview: tuple[Event, ...]) -> Question:
    """A plan as a person is asked about it, with the problem that it was made for."""
    return Question("plans", "a plan", "\n".join(commands), reason=goal, preview=preview)
