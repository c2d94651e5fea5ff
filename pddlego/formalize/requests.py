"""Requests about the problem: what does not change stands first, so that endpoints can cache it, then what is new."""

from __future__ import annotations

from pddlego.formalize.base import shortened
from pddlego.formalize.prompts import Prompts
from pddlego.models import Message, Request
from pddlego.pddl import EDIT_SCHEMA
from pddlego.situation import Situation


def problem_request(prompts: Prompts, purpose: str, situation: Situation, schema: bool = False) -> Request:
    """Ask for an edit or a whole problem file, as the purpose says."""
    system = prompts.render(purpose, domain=situation.domain.text, task=situation.task)
    user = prompts.render(
        "problem",
        problem=str(situation.problem),
        news=situation.news,
        notes=situation.notes,
        feedback=situation.feedback,
        rejected=shortened(situation.rejected),
        attempt=situation.attempt,
        repeated=situation.repeated,
        contradictions=situation.contradictions,
    )
    messages = (Message("system", system), Message("user", user))
    return Request(purpose, messages, situation, EDIT_SCHEMA if schema else None)
