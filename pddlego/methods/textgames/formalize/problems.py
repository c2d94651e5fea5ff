"""Methods that propose problems: whole files (PDDL-gen, equation 4 of the paper) and edits (PDDL-edit, equation 4').

A method turns a situation into a request, and the answer into a proposal. Methods are pure: the agent asks the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pddlego.methods.textgames.formalize import ProblemProposal, Proposal, Situation
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.models import Completion, Message, Request
from pddlego.models.base import Feedback, cut_off, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import (
    EDIT_SCHEMA,
    Defect,
    DefectKind,
    EditReport,
    EditSyntaxError,
    EntryKind,
    Problem,
    apply_edit,
    check,
)
from pddlego.pddl.check import check_reading
from pddlego.pddl.domain import outline
from pddlego.pddl.edit import read_edit
from pddlego.pddl.exclusive import contradictions
from pddlego.pddl.problem import read_problem
from pddlego.pddl.tolerant import MISSING, is_cut_off, repair_problem
from pddlego.util.answers import file_in, spoken


def with_unmatched(feedback: Feedback, report: EditReport | None) -> Feedback:
    """The feedback with the lines that matched nothing, which are often the cause of what went wrong."""
    lines = tuple(str(entry) for entry in report.unmatched) if report else ()
    return replace(feedback, evidence=(*feedback.evidence, *lines))


def without_planned(problem: Problem, only_planned: tuple[str, ...]) -> tuple[Problem, tuple[Defect, ...]]:
    """The problem without facts that come about in plans only, and a harmless defect for each that was left out.

    A model that opens a fridge may write that it is open; but then a goal that asks for an opened container would
    always be true.
    """
    stated = [fact for fact in problem.sorted_facts() if fact.predicate in only_planned]
    kind, reason = DefectKind.ONLY_PLANNED, "this comes about in plans only, and is left out"
    defects = tuple(Defect(kind, str(fact), f"{fact}: {reason}", blocking=False) for fact in stated)
    return replace(problem, facts=problem.facts - set(stated)), defects


def _defects_feedback(defects: tuple[Defect, ...]) -> Feedback | None:
    """Feedback about defects that make planning impossible; None without any."""
    blocking = [defect for defect in defects if defect.blocking]
    if not blocking:
        return None
    return Feedback("defects", "the problem file has these defects:", tuple(defect.message for defect in blocking))


_MAX_EVIDENCE, MAX_LINE = 50, 500
"""Lines of evidence in a request, and characters of one."""


def _bearable(feedback: Feedback | None) -> Feedback | None:
    """As much of a feedback as a model may have to read."""
    if feedback is None:
        return None
    lines = [line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} …" for line in feedback.evidence[:_MAX_EVIDENCE]]
    if len(feedback.evidence) > _MAX_EVIDENCE:
        lines.append(f"… and {len(feedback.evidence) - _MAX_EVIDENCE} more")
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


def _problem_request(
    prompts: Prompts, purpose: str, situation: Situation, schema: bool = False, one_message: bool = False
) -> Request:
    """Ask for an edit or a whole problem file, as the purpose says. With `one_message`, the fixed part comes first."""
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


def full_request(
    prompts: Prompts, purpose: str, situation: Situation, part: str = "", draft: Mapping[str, Any] | None = None
) -> Request:
    """Ask for a domain and a problem, as whole files or as edits (purpose `full-edit`), or for one `part` of them.

    `draft` replaces what is shown of the files by the parts that were written before.
    """
    written, terms = situation.knowledge.written, situation.terms
    system = prompts.render(
        "textgames/full",
        task=situation.task,
        schemas=terms.schemas,
        goals=terms.goals,
        hint=terms.hint,
        detailed=terms.detailed,
        edits=purpose == "full-edit",
        steps=purpose == "full-steps",
    )
    shown = {
        "domain": situation.knowledge.domain.text,
        "commands": dict(written.commands) if written else {},
        "own_goals": tuple(map(str, written.goals)) if written else (),
        "valid_commands": situation.seen.valid_commands,
        "kinds": situation.seen.kinds,
        "things": situation.seen.things,
        "repeating": situation.seen.repeating,
        "part": part,
        **_changing(situation),
        **(draft or {}),
    }
    user = prompts.render("textgames/full-turn", **shown)
    return Request(purpose, (Message("system", system), Message("user", user)), situation)


class PddlGen:
    """Asks for whole problem files. What has one possible meaning is repaired, with a note among the defects."""

    def __init__(self, prompts: Prompts, tolerant: bool = True, one_message: bool = False) -> None:
        self._prompts, self._tolerant, self._one_message = prompts, tolerant, one_message

    def request(self, situation: Situation) -> Request:
        return _problem_request(self._prompts, "gen", situation, one_message=self._one_message)

    def read(self, answer: str, situation: Situation) -> ProblemProposal:
        """The file in an answer. Without tolerance the answer must be the file and nothing else."""
        if not self._tolerant:
            return _read_strictly(answer, situation)
        text = spoken(answer)
        if is_cut_off(text, "problem") or (answer.strip() and not text.strip()):
            return ProblemProposal(situation.knowledge, cut_off())
        repaired = repair_problem(situation.knowledge.domain.text, text)
        repairs = tuple(
            Defect(DefectKind.REPAIRED, repair.kind.value, str(repair), False) for repair in repaired.repairs
        )
        proposal = read_file(repaired.problem, situation)
        defects = proposal.defects + _old_names(repaired.declared, proposal.problem, situation.knowledge.problem)
        return replace(proposal, feedback=_defects_feedback(defects), defects=defects + repairs)


def _old_names(undeclared: Iterable[str], problem: Problem, before: Problem) -> tuple[Defect, ...]:
    """Defects for names that are used and not declared any more, in a file that also brings new names.

    It may be that a thing got another name, and one fact kept the old one: declared by its use it would be there twice.
    """
    known, now = {obj.name for obj in before.objects}, {obj.name: obj.type for obj in problem.objects}
    came: dict[str | None, list[str]] = {}
    for added in sorted(set(now) - known):
        came.setdefault(now[added], []).append(added)
    names = []
    for name in undeclared:
        new = came.get(now.get(name))
        if name in known and new:
            message = f"{name} is used and no longer among the objects. If it is called {' or '.join(new)} now, "
            message += f"write that in every fact; if it is still {name}, declare '{name} - {now[name]}'"
            names.append(Defect(DefectKind.UNDECLARED_OBJECT, name, message))
    return tuple(names)


def read_file(text: str, situation: Situation) -> ProblemProposal:
    """The problem file in a text. The goal ladder sets the goal: one that is missing or wrong does no harm."""
    return _read_strictly(file_in(text), situation)


def _read_strictly(text: str, situation: Situation) -> ProblemProposal:
    """The problem file that a text is, with nothing around it."""
    reading, known = read_problem(text), situation.knowledge
    problem = replace(reading.problem, domain=known.domain.name, goal=known.problem.goal)
    # PDDL lets a file do without objects, but in every game there are some.
    needed = tuple(name for name in (":objects", ":init") if name in reading.missing or name not in text.lower())
    problem, left_out = without_planned(problem, known.only_planned)
    defects = check_reading(known.domain, replace(reading, problem=problem, missing=needed)) + left_out
    return ProblemProposal(known.with_problem(problem), _defects_feedback(defects), None, defects)


def repaired_json(what: str) -> Defect:
    """A harmless defect: what was repaired in the JSON of an answer."""
    return Defect(DefectKind.REPAIRED, "JSON", f"JSON: {what}", blocking=False)


_WHOLE_FILE = re.compile(r"\(\s*define\s*\(\s*problem\b", re.IGNORECASE)

WHOLE = 2
"""Repetitions of a rejected edit after which the whole problem is requested: a model that is stuck in one form may
succeed in another."""

_UNFIT = (EntryKind.REFUSED, EntryKind.TOLERATED, EntryKind.UNMATCHED, EntryKind.ALREADY)
"""Lines of an edit that only tolerance takes."""


class PddlEdit:
    """Asks for JSON edits and applies them to the last accepted problem; as a last remedy for the whole problem."""

    def __init__(
        self, prompts: Prompts, tolerant: bool = True, one_message: bool = False, ignores_unmatched: bool = False
    ) -> None:
        self._prompts, self._tolerant, self._one_message = prompts, tolerant, one_message
        self._unfit = () if ignores_unmatched else _UNFIT
        self._whole = PddlGen(prompts, tolerant, one_message)

    def request(self, situation: Situation) -> Request:
        if situation.retry.repeated >= WHOLE:
            return self._whole.request(situation)
        return _problem_request(self._prompts, "edit", situation, schema=True, one_message=self._one_message)

    def read(self, answer: str, situation: Situation) -> ProblemProposal:
        """An edit is accepted or rejected as a whole: after a rejected one the problem is what it was.

        An answer that is a problem file is read as one, whatever was asked for. Without tolerance the answer must be
        the edit and nothing else, and each of its lines must do what it says.
        """
        text = spoken(answer) if self._tolerant else answer
        if _WHOLE_FILE.search(text):
            return self._whole.read(text, situation)
        try:
            edit, repairs = read_edit(text, self._tolerant)
        except EditSyntaxError as error:
            unfinished = error.cut_off or (answer.strip() and not text.strip())
            invalid = cut_off() if unfinished else Feedback("invalid answer", f"{error}.")
            return ProblemProposal(situation.knowledge, invalid)
        known = situation.knowledge
        report = apply_edit(known.problem, edit, known.domain.constants)
        problem, left_out = without_planned(report.problem, known.only_planned)
        defects = (*check(known.domain, problem), *left_out, *map(repaired_json, repairs))
        feedback = _defects_feedback(defects)
        refused = report.refused if self._tolerant else report.of(*self._unfit)
        if refused:
            lines = tuple(str(entry) for entry in refused) + (feedback.evidence if feedback else ())
            feedback = Feedback("refused lines", "these lines of the edit cannot be applied:", lines)
        if feedback is not None:
            feedback = with_unmatched(feedback, report)
        return ProblemProposal(known.with_problem(problem), feedback, report, defects)


def unless_contradicting(proposal: ProblemProposal, before: Knowledge, last: bool) -> ProblemProposal:
    """The proposal, with a feedback of its own if the problem contradicts itself in a way in which `before` did not.

    On the `last` try it is planned with all the same: a map with a fault is better than none.
    """
    if proposal.feedback is not None or last:
        return proposal
    known = contradictions(before.problem, before.invariants)
    new = tuple(
        contradiction
        for contradiction in contradictions(proposal.problem, before.invariants)
        if contradiction not in known
    )
    if not new:
        return proposal
    feedback = with_unmatched(Feedback(DefectKind.CONTRADICTION.value, _CONTRADICTS, new), proposal.report)
    defects = tuple(Defect(DefectKind.CONTRADICTION, message, message) for message in new)
    return replace(proposal, feedback=feedback, defects=proposal.defects + defects)


_CONTRADICTS = (
    "the problem file contradicts itself. See which of these facts the game has said, and leave the others out:"
)
"""What is said of a problem that cannot be true."""

_FILTERED = Feedback(
    "content filter",
    "the endpoint's content filter withheld the answer. Write nothing but what was asked for, in plain words.",
)
"""What is said of an answer that a filter took away."""


INCOMPLETE = ("length", "content_filter")
"""Why an endpoint ends an answer before it is whole."""


def unless_incomplete(proposal: Proposal, answer: Completion) -> Proposal:
    """The proposal, with a feedback of its own if the endpoint cut the answer off before it was whole, or filtered it.

    What is complete counts, whatever would have followed it.
    """
    repaired = isinstance(proposal, ProblemProposal) and any(
        defect.kind is DefectKind.REPAIRED and MISSING in defect.message for defect in proposal.defects
    )
    if answer.finish not in INCOMPLETE or (proposal.feedback is None and not repaired):
        return proposal
    return replace(proposal, feedback=cut_off() if answer.finish == "length" else _FILTERED)
