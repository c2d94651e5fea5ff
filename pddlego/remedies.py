"""What is changed when a model is asked again: the ladder of remedies.

1. Every retry says what was wrong with the last answer, and shows the atoms or lines that are to blame.
2. An answer that is, word for word, the one that was just rejected: the request says so, and the temperature is raised
   (`WARMER` for each repetition, up to the model's bound).
3. The same again: in `edit` the whole problem file is asked for in place of an edit (`PddlEdit`).

An answer that the endpoint cut off is not read as if it were whole: it is asked for again with more room.
"""

from __future__ import annotations

from dataclasses import replace

from pddlego.formalize import CommandProposal, ProblemProposal
from pddlego.models import Completion, Request
from pddlego.pddl import DefectKind
from pddlego.pddl.tolerant import UNCLOSED
from pddlego.situation import Feedback, Situation

WARMER = 0.3
"""Added to the temperature for each repetition."""

ROOM = 16_384
"""Tokens that an answer may have after one that was cut off."""

CUT_OFF = "cut off"
"""The category of an answer that the endpoint cut off."""


def remedied(request: Request, situation: Situation) -> Request:
    """The request with what the last failure asks for."""
    cut_off = situation.feedback is not None and situation.feedback.category == CUT_OFF
    return replace(request, warmth=WARMER * situation.repeated, room=ROOM if cut_off else None)


def unless_cut_off(
    proposal: ProblemProposal | CommandProposal, answer: Completion
) -> ProblemProposal | CommandProposal:
    """The proposal, with a feedback of its own if the endpoint cut the answer off before it was whole.

    What is complete counts, whatever would have followed it.
    """
    if answer.finish != "length":
        return proposal
    mended = isinstance(proposal, ProblemProposal) and any(
        each.kind is DefectKind.REPAIRED and UNCLOSED in each.message for each in proposal.defects
    )
    if proposal.feedback is None and not mended:
        return proposal
    message = "the answer was cut off before its end. Answer at once, without thinking aloud and without explanations."
    return replace(proposal, feedback=Feedback(CUT_OFF, message))
