"""Events made of what a method and the goal ladder gave."""

from __future__ import annotations

from pddlego import events as ev
from pddlego.formalize import ProblemProposal
from pddlego.pddl import EditReport
from pddlego.planning import RungResult
from pddlego.refine import Retry
from pddlego.situation import Feedback


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
