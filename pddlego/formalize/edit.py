"""PDDL-edit: the model writes what changes in the problem (paper, equation 4')."""

from __future__ import annotations

from typing import Literal

from pddlego.formalize.base import ProblemProposal, defects_feedback, shortened, with_unmatched, without_planned
from pddlego.formalize.prompts import Prompts
from pddlego.models import Message, Request
from pddlego.pddl import EDIT_SCHEMA, EditSyntaxError, apply_edit, check, parse_edit
from pddlego.situation import Feedback, Situation


class PddlEdit:
    """Asks for JSON edits and applies them to the last accepted problem."""

    mode = "edit"
    plans: Literal[True] = True

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    def request(self, situation: Situation) -> Request:
        return problem_request(self._prompts, "edit", situation, schema=True)

    def read(self, answer: str, situation: Situation) -> ProblemProposal:
        """An edit is accepted or rejected as a whole: after a rejected one the problem is what it was."""
        try:
            edit = parse_edit(answer)
        except EditSyntaxError as error:
            return ProblemProposal(situation.problem, Feedback("invalid answer", f"{error}."))
        report = apply_edit(situation.problem, edit, situation.domain.constants)
        problem, left_out = without_planned(report.problem, situation.only_planned)
        defects = (*check(situation.domain, problem), *left_out)
        feedback = defects_feedback(defects)
        if report.refused:
            lines = tuple(str(entry) for entry in report.refused) + (feedback.evidence if feedback else ())
            feedback = Feedback("refused lines", "these lines of the edit cannot be applied:", lines)
        if feedback is not None:
            feedback = with_unmatched(feedback, report)
        return ProblemProposal(problem, feedback, report, defects)


def problem_request(prompts: Prompts, purpose: str, situation: Situation, schema: bool = False) -> Request:
    """A request about the problem: the unchanging part first, so that endpoints can cache it, then what is new."""
    system = prompts.render(purpose, domain=situation.domain.text, task=situation.task)
    user = prompts.render(
        "problem",
        problem=str(situation.problem),
        news=situation.news,
        notes=situation.notes,
        feedback=situation.feedback,
        rejected=shortened(situation.rejected),
        attempt=situation.attempt,
    )
    messages = (Message("system", system), Message("user", user))
    return Request(purpose, messages, situation, EDIT_SCHEMA if schema else None)
