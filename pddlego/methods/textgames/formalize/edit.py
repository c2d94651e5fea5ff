"""PDDL-edit: the model writes what changes in the problem (paper, equation 4')."""

from __future__ import annotations

import re

from pddlego.methods.textgames.formalize.base import (
    ProblemProposal,
    defects_feedback,
    problem_request,
    with_unmatched,
    without_planned,
)
from pddlego.methods.textgames.formalize.gen import PddlGen
from pddlego.methods.textgames.situation import Situation
from pddlego.models import Request
from pddlego.models.base import Feedback, cut_off
from pddlego.models.prompts import Prompts
from pddlego.pddl import EditSyntaxError, EntryKind, apply_edit, check, parse_edit
from pddlego.util.answers import spoken

WHOLE_FILE = re.compile(r"\(\s*define\s*\(\s*problem\b", re.IGNORECASE)

WHOLE = 2
"""Repetitions of a rejected edit after which the whole problem is asked for: whoever is stuck in one form may not be in
another."""

UNFIT = (EntryKind.REFUSED, EntryKind.TOLERATED, EntryKind.UNMATCHED, EntryKind.ALREADY)
"""Lines of an edit that only tolerance takes."""


class PddlEdit:
    """Asks for JSON edits and applies them to the last accepted problem; as a last remedy for the whole problem."""

    def __init__(
        self, prompts: Prompts, tolerant: bool = True, one_message: bool = False, ignores_unmatched: bool = False
    ) -> None:
        self._prompts, self._tolerant, self._one_message = prompts, tolerant, one_message
        self._unfit = () if ignores_unmatched else UNFIT
        self._whole = PddlGen(prompts, tolerant, one_message)

    def request(self, situation: Situation) -> Request:
        if situation.retry.repeated >= WHOLE:
            return self._whole.request(situation)
        return problem_request(self._prompts, "edit", situation, schema=True, one_message=self._one_message)

    def read(self, answer: str, situation: Situation) -> ProblemProposal:
        """An edit is accepted or rejected as a whole: after a rejected one the problem is what it was.

        An answer that is a problem file is read as one, whatever was asked for. Without tolerance the answer must be
        the edit and nothing else, and each of its lines must do what it says.
        """
        said = spoken(answer) if self._tolerant else answer
        if WHOLE_FILE.search(said):
            return self._whole.read(said, situation)
        try:
            edit = parse_edit(said, alone=not self._tolerant)
        except EditSyntaxError as error:
            unfinished = error.cut_off or (answer.strip() and not said.strip())
            invalid = cut_off() if unfinished else Feedback("invalid answer", f"{error}.")
            return ProblemProposal(situation.knowledge, invalid)
        known = situation.knowledge
        report = apply_edit(known.problem, edit, known.domain.constants)
        problem, left_out = without_planned(report.problem, known.only_planned)
        defects = (*check(known.domain, problem), *left_out)
        feedback = defects_feedback(defects)
        refused = report.refused if self._tolerant else report.of(*self._unfit)
        if refused:
            lines = tuple(str(entry) for entry in refused) + (feedback.evidence if feedback else ())
            feedback = Feedback("refused lines", "these lines of the edit cannot be applied:", lines)
        if feedback is not None:
            feedback = with_unmatched(feedback, report)
        return ProblemProposal(known.with_problem(problem), feedback, report, defects)
