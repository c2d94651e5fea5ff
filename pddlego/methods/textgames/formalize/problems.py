"""Formalizers for problems: whole files (PDDL-gen, equation 4 of the paper) and edits (PDDL-edit, equation 4')."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pddlego.methods.textgames.formalize import ProblemProposal, PromptContext, Proposal
from pddlego.methods.textgames.formalize.look import look_lines, read_look
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.models import Completion, Message, Request
from pddlego.models.base import (
    CHARACTERS_PER_TOKEN,
    INCOMPLETE,
    INVALID,
    THINKING,
    Feedback,
    cut_off,
    incomplete,
    shortened,
)
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
from pddlego.pddl.edit import LOOK_SCHEMA, read_edit
from pddlego.pddl.invariants import contradictions
from pddlego.pddl.nearly_json import note_on_key
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import remark
from pddlego.pddl.tolerant import Repair, is_cut_off, repair_problem
from pddlego.pddl.tolerant.by_use import declared_by_use, without_surplus
from pddlego.util.answers import file_in, spoken


def with_unmatched(feedback: Feedback, report: EditReport | None) -> Feedback:
    """The feedback with the lines of the edit that matched nothing, which are often the cause of a failure."""
    lines = tuple(str(entry) for entry in report.unmatched) if report else ()
    return replace(feedback, evidence=(*feedback.evidence, *lines))


def without_planned(problem: Problem, only_planned: tuple[str, ...]) -> tuple[Problem, tuple[Defect, ...]]:
    """The problem without facts of `only_planned` predicates, and a harmless defect for each removed fact.

    Such facts are effects of planned actions. If a model could write that a fridge is open, a goal that asks for an
    opened container would always be true.
    """
    removed = [fact for fact in problem.sorted_facts() if fact.predicate in only_planned]
    reason = "comes about in plans only, and is left out"
    defects = tuple(remark(DefectKind.ONLY_PLANNED, str(fact), f"{fact} {reason}") for fact in removed)
    return replace(problem, facts=problem.facts - set(removed)), defects


def _defects_feedback(defects: tuple[Defect, ...]) -> Feedback | None:
    """Feedback about defects that make planning impossible; None without any."""
    blocking = [defect for defect in defects if defect.blocking]
    if not blocking:
        return None
    return defects_feedback("the problem file has", blocking, [defect.message for defect in blocking])


def defects_feedback(where: str, defects: Iterable[Defect], lines: Iterable[str]) -> Feedback:
    """Feedback about defects of the files that `where` names, with a line for each."""
    return Feedback(
        "defects", f"{where} these defects:", tuple(lines), tuple(defect.part or defect.subject for defect in defects)
    )


_MAX_EVIDENCE, MAX_LINE = 50, 500
"""Maximum number of lines of evidence in a request, and of characters in a line."""


def brief_feedback(feedback: Feedback | None) -> Feedback | None:
    """The feedback with at most `_MAX_EVIDENCE` lines of at most `MAX_LINE` characters."""
    if feedback is None:
        return None
    lines = [line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} …" for line in feedback.evidence[:_MAX_EVIDENCE]]
    if len(feedback.evidence) > _MAX_EVIDENCE:
        lines.append(f"… and {len(feedback.evidence) - _MAX_EVIDENCE} more")
    message = feedback.message if len(feedback.message) <= 2 * MAX_LINE else f"{feedback.message[: 2 * MAX_LINE]} …"
    return replace(feedback, message=message, evidence=tuple(lines))


_NEW_LINES = 2_000
"""Tokens of an answer for what it adds to the last problem."""


def _turn_variables(situation: PromptContext) -> dict[str, Any]:
    """The variables of a situation in the templates of all user messages."""
    retry = situation.retry
    is_read = retry.feedback is not None and retry.feedback.category not in (INVALID, *INCOMPLETE)
    nobody_answered = is_read and not retry.rejected.strip()  # rules read everything
    return {
        "problem": str(situation.knowledge.problem),
        "news": situation.seen.news,
        "place": situation.seen.place,
        "notes": situation.notes[:_MAX_EVIDENCE],
        "feedback": brief_feedback(retry.feedback),
        "unread": situation.unread[:_MAX_EVIDENCE],
        "rejected": "" if nobody_answered else shortened(retry.rejected),
        "attempt": retry.attempt,
        "repeated": retry.repeated,
        "refused": situation.seen.refused,
        "reworded": situation.reworded,
    }


def rule_variables(situation: PromptContext) -> dict[str, Any]:
    """The variables of the template about reading rules."""
    places = situation.reader.map
    return {"directions": tuple(places.directions) if places else (), "placeholder": situation.knowledge.placeholder}


def _problem_request(
    prompts: Prompts,
    purpose: str,
    situation: PromptContext,
    schema: Mapping[str, Any] | None = None,
    plain_requests: bool = False,
    look: bool = False,
    rules: bool = False,
) -> Request:
    """The request for an edit or a whole problem file, as `purpose` says; `schema` is that of the answer.

    With `plain_requests`, the system message is the first part of the user message, and any JSON object may answer.
    """
    domain = situation.knowledge.domain
    in_short = outline(domain, (*situation.knowledge.only_planned, *situation.knowledge.unused))
    situation = replace(situation, offered=look)
    system = prompts.render(
        purpose,
        domain=domain.text,
        outline=in_short,
        task=situation.task,
        look=situation.offered,
        rules=rules,
        **rule_variables(situation),
    )
    user = prompts.render(
        "problem",
        purpose=purpose,
        contradictions=situation.contradictions,
        placeholder=situation.placeholder,
        **_turn_variables(situation),
    )
    if plain_requests:
        messages: tuple[Message, ...] = (Message("user", f"{system}\n\n{user}"),)
    else:
        messages = (Message("system", system), Message("user", user))
    longest = THINKING + _NEW_LINES + len(str(situation.knowledge.problem)) // CHARACTERS_PER_TOKEN
    return Request(purpose, messages, situation, schema, longest=longest)


def full_request(
    prompts: Prompts, purpose: str, situation: PromptContext, part: str = "", draft: Mapping[str, Any] | None = None
) -> Request:
    """The request for a domain and a problem, as whole files or edits (purpose `full-edit`), or for one `part` of them.

    The purpose of such a part is `full-steps`, so that old runs of mode `full+steps` can be replayed.
    `draft` are the parts from earlier answers, which the request shows instead of the last accepted files.
    """
    written, terms = situation.knowledge.written, situation.terms
    system = prompts.render(
        "textgames/full",
        task=situation.task,
        schemas=terms.schemas,
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
        **_turn_variables(situation),
        **(draft or {}),
    }
    user = prompts.render("textgames/full-turn", **shown)
    return Request(purpose, (Message("system", system), Message("user", user)), situation)


class PddlGen:
    """Asks for whole problem files. Unambiguous errors are repaired, with a harmless defect for each repair."""

    def __init__(
        self, prompts: Prompts, tolerant: bool = True, plain_requests: bool = False, look: bool = False
    ) -> None:
        self._prompts, self._tolerant, self._plain_requests = prompts, tolerant, plain_requests
        self._look = look and tolerant  # else the answer is the file and nothing else

    def request(self, situation: PromptContext) -> Request:
        return _problem_request(self._prompts, "gen", situation, None, self._plain_requests, self._look)

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Read the problem file in an answer. Without tolerance the answer must be the file and nothing else."""
        if not self._tolerant:
            return _read_strictly(answer, situation)
        text = spoken(answer)
        if is_cut_off(text, "problem") or (answer.strip() and not text.strip()):
            return ProblemProposal(situation.knowledge, cut_off())
        repaired = repair_problem(situation.knowledge.domain.text, text)
        repairs = tuple(map(remark_on, repaired.repairs))
        proposal = read_file(repaired.problem, situation)
        defects = proposal.defects + _old_names(repaired.declared, proposal.problem, situation.knowledge.problem)
        look, places = read_look(look_lines(text) if self._look else (), proposal.knowledge)
        wrong = tuple(
            remark(DefectKind.UNDECLARED_OBJECT, place.line, str(place)) for place in places if place.kind in _UNFIT
        )
        defects = defects + repairs + wrong
        return replace(proposal, feedback=_defects_feedback(defects), defects=defects, look=look)


def _old_names(undeclared: Iterable[str], problem: Problem, before: Problem) -> tuple[Defect, ...]:
    """Defects for undeclared names that were declared before, if the file declares new objects of the same type.

    The model may have renamed the object and kept the old name in one fact. If the repair declared the old name, the
    object would be in the problem twice.
    """
    old_names, types = {obj.name for obj in before.objects}, {obj.name: obj.type for obj in problem.objects}
    new_by_type: dict[str | None, list[str]] = {}
    for new_name in sorted(set(types) - old_names):
        new_by_type.setdefault(types[new_name], []).append(new_name)
    defects = []
    for name in undeclared:
        candidates = new_by_type.get(types.get(name))
        if name in old_names and candidates:
            fault = f"{name} is used and no longer among the objects. If it is called {' or '.join(candidates)} now, "
            fault += "write that in every fact"
            advice = f"if it is still {name}, declare '{name} - {types[name]}'"
            defects.append(Defect(DefectKind.UNDECLARED_OBJECT, name, fault, advice, None))
    return tuple(defects)


def read_file(text: str, situation: PromptContext) -> ProblemProposal:
    """Read the problem file in a text. Its goal is replaced, because the goal ladder has the goals."""
    return _read_strictly(file_in(text), situation)


def _read_strictly(text: str, situation: PromptContext) -> ProblemProposal:
    """Read a text that is a problem file and nothing else."""
    reading, knowledge = read_problem(text), situation.knowledge
    problem = replace(reading.problem, domain=knowledge.domain.name, goal=knowledge.problem.goal, preferences=())
    # The section of objects is optional in PDDL, but every game has objects.
    missing = tuple(name for name in (":objects", ":init") if name in reading.missing or name not in text.lower())
    problem, removed = without_planned(problem, knowledge.only_planned)
    defects = check_reading(knowledge.domain, replace(reading, problem=problem, missing=missing)) + removed
    return ProblemProposal(knowledge.with_problem(problem), _defects_feedback(defects), None, defects)


def remark_on(repair: Repair) -> Defect:
    """A harmless defect: a repair of a file, whose subject is what the repair concerns."""
    return remark(DefectKind.REPAIRED, repair.of or repair.kind.value, str(repair))


def repaired_json(what: str) -> Defect:
    """A harmless defect: `what` describes a repair of the JSON of an answer."""
    return remark(DefectKind.REPAIRED, "JSON", f"JSON: {what}")


def ignored_key(key: str) -> Defect:
    """A harmless defect: a remark in the JSON of an answer, which was left out."""
    return remark(DefectKind.IGNORED_KEY, key, f"JSON: {note_on_key(key)}")


_WHOLE_FILE = re.compile(r"\(\s*define\s*\(\s*problem\b", re.IGNORECASE)

WHOLE = 2
"""Number of repetitions of a rejected edit after which the whole problem file is requested instead."""

_UNFIT = (EntryKind.REFUSED, EntryKind.TOLERATED, EntryKind.UNMATCHED, EntryKind.ALREADY)
"""The outcomes of lines that make an edit unusable in strict reading."""


class PddlEdit:
    """Asks for JSON edits of the last accepted problem, and for the whole file if an edit is repeated too often."""

    def __init__(
        self,
        prompts: Prompts,
        tolerant: bool = True,
        plain_requests: bool = False,
        ignores_unmatched: bool = False,
        look: bool = False,
        rules: bool = False,
    ) -> None:
        self._prompts, self._tolerant, self._plain_requests = prompts, tolerant, plain_requests
        self._look, self._rules = look and not plain_requests, rules and not plain_requests
        self._schema = {} if plain_requests or rules else LOOK_SCHEMA if look else EDIT_SCHEMA
        self._unfit = () if ignores_unmatched else _UNFIT
        self._whole = PddlGen(prompts, tolerant, plain_requests, look)

    def request(self, situation: PromptContext) -> Request:
        if situation.retry.repeated >= WHOLE:
            return self._whole.request(situation)
        plain, look, rules = self._plain_requests, self._look, self._rules
        return _problem_request(self._prompts, "edit", situation, self._schema, plain, look=look, rules=rules)

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Apply the edit in an answer to the last accepted problem. The edit is accepted or rejected as a whole.

        An answer that is a problem file is read as a file. Without tolerance the answer must be the edit and nothing
        else, and each of its lines must be applicable without tolerance.
        """
        text = spoken(answer) if self._tolerant else answer
        if _WHOLE_FILE.search(text):
            return self._whole.read(text, situation)
        try:
            edit, repairs = read_edit(text, self._tolerant, self._look)
        except EditSyntaxError as error:
            unfinished = error.cut_off or (answer.strip() and not text.strip())
            invalid = cut_off() if unfinished else Feedback(INVALID, f"{error}.")
            return ProblemProposal(situation.knowledge, invalid)
        knowledge = situation.knowledge
        if self._tolerant:
            fitting = partial(without_surplus, knowledge.domain)
            report = apply_edit(knowledge.problem, edit, knowledge.domain.constants, fitting)
        else:
            report = apply_edit(knowledge.problem, edit, knowledge.domain.constants)
        problem, removed = without_planned(report.problem, knowledge.only_planned)
        declared: tuple[Defect, ...] = ()
        if self._tolerant:
            problem, declared = _with_declared(problem, knowledge)
        notes = *map(repaired_json, repairs), *map(ignored_key, edit.ignored)
        defects = (*check(knowledge.domain, problem), *declared, *removed, *notes)
        feedback = _defects_feedback(defects)
        refused = report.refused if self._tolerant else report.of(*self._unfit)
        if refused:
            lines = tuple(str(entry) for entry in refused) + (feedback.evidence if feedback else ())
            feedback = Feedback("refused lines", "these lines of the edit cannot be applied:", lines)
        if feedback is not None:
            return ProblemProposal(knowledge.with_problem(problem), with_unmatched(feedback, report), report, defects)
        look, places = read_look(edit.look, knowledge.with_problem(problem))
        report = replace(report, entries=(*report.entries, *places))
        return ProblemProposal(knowledge.with_problem(problem), None, report, defects, look)


def _with_declared(problem: Problem, before: Knowledge) -> tuple[Problem, tuple[Defect, ...]]:
    """The problem with the new objects that its facts use, and a harmless defect for each.

    An object that the edit has removed is not declared again.
    """
    old = {obj.name for obj in before.problem.objects}
    new = [obj for obj in declared_by_use(before.domain, problem) if obj.name not in old]
    defects = (
        remark(DefectKind.UNDECLARED_OBJECT, obj.name, f"'{obj}' was added to the objects, because facts use it")
        for obj in new
    )
    return replace(problem, objects=problem.objects.union(new)), tuple(defects)


def unless_contradicting(proposal: ProblemProposal, before: Knowledge, last: bool) -> ProblemProposal:
    """The proposal, with feedback if its problem has contradictions that the problem of `before` does not have.

    On the `last` attempt contradictions are accepted, because a map with an error is better than no map.
    """
    if last or (proposal.feedback is not None and proposal.feedback.category not in _CHECKED):
        return proposal
    old = contradictions(before.problem, before.invariants)
    new = tuple(
        str(contradiction)
        for contradiction in contradictions(proposal.problem, before.invariants)
        if contradiction not in old
    )
    if not new:
        return proposal
    if proposal.feedback is None:
        feedback = with_unmatched(Feedback(DefectKind.CONTRADICTION.value, _CONTRADICTS, new), proposal.report)
    else:  # everything that is wrong, in one message
        feedback = replace(proposal.feedback, evidence=(*proposal.feedback.evidence, *new))
    defects = tuple(Defect(DefectKind.CONTRADICTION, text, text, "", None) for text in new)
    return replace(proposal, feedback=feedback, defects=proposal.defects + defects)


_CHECKED = ("defects", "refused lines")
"""The categories of answers that were read and checked."""

_CONTRADICTS = (
    "the problem file contradicts itself. See which of these facts the game has said, and leave the others out:"
)
"""The message about a problem with contradictory facts."""


def unless_incomplete(proposal: Proposal, answer: Completion) -> Proposal:
    """The proposal, with other feedback if the answer is unusable because it ended too early.

    An incomplete answer that can be used without a repair of its end is accepted.
    """
    repaired = isinstance(proposal, ProblemProposal) and any(
        defect.kind is DefectKind.REPAIRED and defect.subject == "end" for defect in proposal.defects
    )
    feedback = incomplete(answer)
    if feedback is None or (proposal.feedback is None and not repaired):
        return proposal
    return replace(proposal, feedback=feedback)
