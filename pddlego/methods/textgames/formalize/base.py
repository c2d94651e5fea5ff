"""What a method is: it turns a situation into a request, and the answer into a proposal.

Methods are pure: the agent asks the model. Most propose a problem to plan with, others the next command directly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.situation import Situation
from pddlego.models import Message, Request
from pddlego.models.base import Feedback, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import EDIT_SCHEMA, Defect, DefectKind, EditReport, Problem
from pddlego.pddl.domain import outline


@dataclass(frozen=True)
class ProblemProposal:
    """What an answer makes of what is known. `feedback` says why it cannot be used; without it the problem is sound.

    `report` is there for edits. `defects` are all that the check found, the harmless ones too.
    """

    knowledge: Knowledge
    feedback: Feedback | None = None
    report: EditReport | None = None
    defects: tuple[Defect, ...] = ()

    @property
    def problem(self) -> Problem:
        return self.knowledge.problem

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with it, one message each; empty if it can be used."""
        return self.feedback.evidence if self.feedback else ()


@dataclass(frozen=True)
class CommandProposal:
    """The command that an answer stands for. `feedback` says why it cannot be used."""

    command: str
    feedback: Feedback | None = None


Proposal = ProblemProposal | CommandProposal


class Formalizer(Protocol):
    """A method. Without a request no model is asked, and the answer is empty."""

    def request(self, situation: Situation) -> Request | None: ...

    def read(self, answer: str, situation: Situation) -> Proposal: ...


def with_unmatched(feedback: Feedback, report: EditReport | None) -> Feedback:
    """The feedback with the lines that matched nothing, which are often the cause of what went wrong."""
    lines = tuple(str(entry) for entry in report.unmatched) if report else ()
    return replace(feedback, evidence=(*feedback.evidence, *lines))


def without_planned(problem: Problem, only_planned: tuple[str, ...]) -> tuple[Problem, tuple[Defect, ...]]:
    """The problem without facts that come about in plans only, and a harmless defect for each that was left out.

    Whoever opens a fridge may well write that it is open; but a goal that asks for an opened container would then be
    true for ever.
    """
    stated = [each for each in problem.sorted_facts() if each.predicate in only_planned]
    kind, why = DefectKind.ONLY_PLANNED, "this comes about in plans only, and is left out"
    defects = tuple(Defect(kind, str(each), f"{each}: {why}", blocking=False) for each in stated)
    return replace(problem, facts=problem.facts - set(stated)), defects


def defects_feedback(defects: tuple[Defect, ...]) -> Feedback | None:
    """What to tell the model about defects that make planning impossible; None if there are none."""
    blocking = [each for each in defects if each.blocking]
    if not blocking:
        return None
    return Feedback("defects", "the problem file has these defects:", tuple(each.message for each in blocking))


MAX_EVIDENCE, MAX_LINE = 50, 500
"""Lines of evidence in a request, and characters of one."""


def _bearable(feedback: Feedback | None) -> Feedback | None:
    """As much of a feedback as a model may have to read."""
    if feedback is None:
        return None
    lines = [each if len(each) <= MAX_LINE else f"{each[:MAX_LINE]} …" for each in feedback.evidence[:MAX_EVIDENCE]]
    if len(feedback.evidence) > MAX_EVIDENCE:
        lines.append(f"… and {len(feedback.evidence) - MAX_EVIDENCE} more")
    message = feedback.message if len(feedback.message) <= 2 * MAX_LINE else f"{feedback.message[: 2 * MAX_LINE]} …"
    return replace(feedback, message=message, evidence=tuple(lines))


def _changing(situation: Situation) -> dict[str, Any]:
    """What every request shows of a situation."""
    retry = situation.retry
    return {
        "problem": str(situation.knowledge.problem),
        "news": situation.seen.news,
        "feedback": _bearable(retry.feedback),
        "rejected": shortened(retry.rejected),
        "attempt": retry.attempt,
        "repeated": retry.repeated,
        "refused": situation.seen.refused,
        "reworded": situation.reworded,
    }


def problem_request(
    prompts: Prompts, purpose: str, situation: Situation, schema: bool = False, one_message: bool = False
) -> Request:
    """Ask for an edit or a whole problem file, as the purpose says. In `one_message` the fixed part stands first."""
    domain = situation.knowledge.domain
    in_short = outline(domain, situation.knowledge.only_planned)
    system = prompts.render(purpose, domain=domain.text, outline=in_short, task=situation.task)
    user = prompts.render(
        "problem",
        purpose=purpose,
        notes=situation.notes,
        contradictions=situation.contradictions,
        placeholder=situation.placeholder,
        **_changing(situation),
    )
    if one_message:
        messages: tuple[Message, ...] = (Message("user", f"{system}\n\n{user}"),)
    else:
        messages = (Message("system", system), Message("user", user))
    return Request(purpose, messages, situation, EDIT_SCHEMA if schema else None)


def full_request(prompts: Prompts, purpose: str, situation: Situation) -> Request:
    """Ask for a domain and a problem, as whole files or as edits (purpose `full-edit`)."""
    written, terms = situation.knowledge.written, situation.terms
    system = prompts.render(
        "textgames/full",
        task=situation.task,
        schemas=terms.schemas,
        goals=terms.goals,
        edits=purpose == "full-edit",
    )
    user = prompts.render(
        "textgames/full-turn",
        domain=situation.knowledge.domain.text,
        commands=dict(written.commands) if written else {},
        own_goals=tuple(map(str, written.goals)) if written else (),
        valid_commands=situation.seen.valid_commands,
        repeating=situation.seen.repeating,
        **_changing(situation),
    )
    return Request(purpose, (Message("system", system), Message("user", user)), situation)
