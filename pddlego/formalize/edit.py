"""PDDL-edit: the model writes what changes in the problem (paper, equation 4')."""

from __future__ import annotations

import re
from typing import Literal

from pddlego.formalize.base import ProblemProposal, defects_feedback, with_unmatched, without_planned
from pddlego.formalize.gen import PddlGen
from pddlego.formalize.prompts import Prompts
from pddlego.formalize.requests import problem_request
from pddlego.models import Request
from pddlego.pddl import EditSyntaxError, apply_edit, check, parse_edit
from pddlego.situation import Feedback, Situation

WHOLE_FILE = re.compile(r"\(\s*define\s*\(\s*problem\b", re.IGNORECASE)

WHOLE = 2
"""Repetitions of a rejected edit after which the whole problem is asked for: whoever is stuck in one form may not be in
another."""


class PddlEdit:
    """Asks for JSON edits and applies them to the last accepted problem; as a last remedy for the whole problem."""

    mode = "edit"
    plans: Literal[True] = True

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._whole = PddlGen(prompts)

    def request(self, situation: Situation) -> Request:
        if situation.repeated >= WHOLE:
            return self._whole.request(situation)
        return problem_request(self._prompts, "edit", situation, schema=True)

    def read(self, answer: str, situation: Situation) -> ProblemProposal:
        """An edit is accepted or rejected as a whole: after a rejected one the problem is what it was.

        An answer that is a problem file is read as one, whatever was asked for.
        """
        if WHOLE_FILE.search(answer):
            return self._whole.read(answer, situation)
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
