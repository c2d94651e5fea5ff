"""What a method is: it turns a situation into a request, and the answer into a proposal.

Methods are pure: the agent asks the model. Most propose a problem to plan with, others the next command directly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from pddlego.methods.textgames.situation import Situation
from pddlego.methods.textgames.written import Written
from pddlego.models import Request
from pddlego.models.feedback import Feedback
from pddlego.pddl import Defect, DefectKind, EditReport, Problem


@dataclass(frozen=True)
class ProblemProposal:
    """What an answer makes of the problem. `feedback` says why it cannot be used; without it the problem is sound.

    `report` is there for edits. `defects` are all that the check found, the harmless ones too. `written` is there where
    the model writes the domain, too.
    """

    problem: Problem
    feedback: Feedback | None = None
    report: EditReport | None = None
    defects: tuple[Defect, ...] = ()
    written: Written | None = None

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
