"""Requests about the problem: what does not change stands first, so that endpoints can cache it, then what is new."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pddlego.methods.textgames.situation import Situation
from pddlego.models import Message, Request
from pddlego.models.feedback import Feedback, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import EDIT_SCHEMA
from pddlego.pddl.outline import outline
from pddlego.pddl.sexpr import show

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
    return {
        "problem": str(situation.problem),
        "news": situation.news,
        "feedback": _bearable(situation.feedback),
        "rejected": shortened(situation.rejected),
        "attempt": situation.attempt,
        "repeated": situation.repeated,
        "refused": situation.refused,
        "reworded": situation.reworded,
    }


def problem_request(
    prompts: Prompts, purpose: str, situation: Situation, schema: bool = False, one_message: bool = False
) -> Request:
    """Ask for an edit or a whole problem file, as the purpose says. In `one_message` the fixed part stands first."""
    domain, in_short = situation.domain.text, outline(situation.domain, situation.only_planned)
    system = prompts.render(purpose, domain=domain, outline=in_short, task=situation.task)
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
    system = prompts.render(
        "textgames/full",
        task=situation.task,
        schemas=situation.schemas,
        goals=situation.goals,
        edits=purpose == "full-edit",
    )
    user = prompts.render(
        "textgames/full-turn",
        domain=situation.domain.text,
        commands=dict(situation.written.commands) if situation.written else {},
        own_goals=tuple(map(show, situation.written.goals)) if situation.written else (),
        valid_commands=situation.valid_commands,
        repeating=situation.repeating,
        **_changing(situation),
    )
    return Request(purpose, (Message("system", system), Message("user", user)), situation)
