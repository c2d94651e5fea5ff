"""Formalizers for models that also write the domain (PDDLego+): whole files, edits, or one part after another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import Field, ValidationError

from pddlego.methods.textgames.formalize import MOST_GOALS, ProblemProposal, PromptContext, Terms
from pddlego.methods.textgames.formalize.problems import (
    defects_feedback,
    full_request,
    ignored_key,
    remark_on,
    repaired_json,
    with_unmatched,
)
from pddlego.methods.textgames.knowledge import Knowledge, ModelDomain
from pddlego.methods.textgames.options import STEPS
from pddlego.models import Request
from pddlego.models.base import INVALID, Feedback, cut_off
from pddlego.models.prompts import Prompts
from pddlego.pddl import (
    Defect,
    DefectKind,
    Domain,
    EditReport,
    EditSyntaxError,
    EntryKind,
    SectionEdit,
    apply_edit,
    check,
    same_name,
)
from pddlego.pddl.conditions import Formula, read_condition
from pddlego.pddl.domain import read_domain
from pddlego.pddl.edit import NOT_ALONE, SECTION_KEYS, SECTIONS, SectionModel, apply_domain_edit, edit_of
from pddlego.pddl.nearly_json import Form, last_object
from pddlego.pddl.rules import Where
from pddlego.pddl.sexpr import read_sexprs
from pddlego.pddl.tolerant import is_cut_off, read_pair
from pddlego.util.answers import last_file, spoken
from pddlego.util.text import fault_of, names_in

PARTS = ("domain", "problem", "goals", "commands")

NAMES: Mapping[str, str] = {
    "df": "domain",
    "pf": "problem",
    "domain_file": "domain",
    "problem_file": "problem",
    "goal": "goals",
}
"""Other names of the parts, by which models call them: PDDLego+ has `df` and `pf`."""

_NAMES = "|".join((*PARTS, *NAMES))
_TAG = re.compile(rf"<({_NAMES})>(.*?)(?:</\1>|(?=<(?:{_NAMES})>)|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-z]*\n?", re.IGNORECASE)


@dataclass(frozen=True)
class FullAnswer:
    """The parts of an answer; missing parts are empty.

    `commands` are the templates of commands by action. `repairs` describe the repairs of the answer's JSON.
    """

    domain: str = ""
    problem: str = ""
    goals: str = ""
    commands: Mapping[str, str] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.domain.strip() or self.problem.strip())


def take_apart(answer: str) -> FullAnswer:
    """Split an answer into its parts, which are in tags, in a JSON object, or two files in succession. Never raises."""
    tagged, repairs = _tagged(answer), tuple[str, ...]()
    in_json: dict[str, str] = {}
    if not {"domain", "problem"} & set(tagged):
        in_json, repairs = _as_json(answer)
    parts = {**_files(answer), **in_json, **tagged}
    commands = (line.partition(":") for line in parts.get("commands", "").splitlines())
    return FullAnswer(
        parts.get("domain", ""),
        parts.get("problem", ""),
        parts.get("goals", ""),
        {name.strip(" -*`").lower(): in_braces(text) for name, colon, text in commands if colon and text.strip()},
        repairs,
    )


def in_braces(command: str) -> str:
    """The command with its parameters in braces: both `?from-room` and `{from-room}` become `{from_room}`."""

    def name(match: re.Match[str]) -> str:
        return "{" + (match[1] or match[2]).replace("-", "_") + "}"

    return re.sub(r"\{\??([\w-]+)\}|\?([\w-]+)", name, " ".join(command.split()).strip(" `\"'"))


def _tagged(answer: str) -> dict[str, str]:
    found = {match[1].lower(): _FENCE.sub("", match[2]).strip() for match in _TAG.finditer(answer)}
    return {NAMES.get(name, name): text for name, text in found.items()}


def _as_json(answer: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The parts in a JSON object of the answer, and descriptions of its repairs."""
    try:
        table = last_object(answer, (*PARTS, *NAMES))
    except EditSyntaxError:
        return {}, ()
    named = {NAMES.get(name, name): value for name, value in table.value.items()}
    parts: dict[str, str] = {}
    for name in PARTS:
        value = named.get(name)
        if isinstance(value, dict):
            value = "\n".join(f"{key}: {item}" for key, item in value.items())
        if isinstance(value, list):
            value = "\n".join(map(str, value))
        if isinstance(value, str):
            parts[name] = value
    return parts, table.repairs if parts else ()


def _files(answer: str) -> dict[str, str]:
    """The text of the last domain file and the last problem file."""
    places = {kind: last_file(answer, kind) for kind in ("domain", "problem")}
    return {kind: answer[slice(*place)] for kind, place in places.items() if place is not None}


NOTHING = Feedback(
    INVALID,
    "there is neither a domain file nor a problem file in it: write (define (domain …) …) and (define (problem …) …)",
)
"""The feedback on an answer without PDDL."""


class FullFormalizer:
    """Asks for a domain and a problem file. If an answer has only one file, the other is not changed.

    `blank` is the knowledge before the first answer, with the goals and commands for which the domain is written.
    """

    def __init__(self, prompts: Prompts, blank: Knowledge, terms: Terms, tolerant: bool = True) -> None:
        self._prompts, self._blank, self._terms, self._tolerant = prompts, blank, terms, tolerant

    def request(self, situation: PromptContext) -> Request:
        return full_request(self._prompts, "full", replace(situation, terms=self._terms))

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Read the files in an answer, with repairs of unambiguous errors. Without tolerance no repair is allowed."""
        text = spoken(answer)
        parts = take_apart(text)
        if parts.is_empty:
            unfinished = bool(answer.strip()) and not text.strip()
            return ProblemProposal(situation.knowledge, cut_off() if unfinished else NOTHING)
        return self.read_parts(parts, situation)

    def read_parts(self, parts: FullAnswer, situation: PromptContext) -> ProblemProposal:
        """Read the texts of the two files as a proposal."""
        if any(is_cut_off(text, kind) for text, kind in ((parts.domain, "domain"), (parts.problem, "problem")) if text):
            return ProblemProposal(situation.knowledge, cut_off())
        knowledge, terms = situation.knowledge, self._terms
        if not knowledge.domain.text and not parts.domain.strip():
            return ProblemProposal(situation.knowledge, _NO_DOMAIN)
        goals, unread = read_goals(parts.goals)
        if not goals and not parts.problem and knowledge.written is not None:
            goals = knowledge.written.goals  # they are kept until another answer changes them
        reading = read_pair(parts.domain or knowledge.domain.text, parts.problem or str(knowledge.problem), not goals)
        repairs = tuple(
            replace(  # nothing depends on requirements
                remark_on(repair),
                blocking=not self._tolerant and repair.of != "requirement",
            )
            for repair in reading.files.repairs
        )
        repairs += tuple(replace(repaired_json(what), blocking=not self._tolerant) for what in parts.repairs)
        in_problem = [*reading.in_problem, *unread]
        if reading.domain is None:
            return ProblemProposal(
                situation.knowledge, _feedback(reading.in_domain, ()), None, reading.in_domain + repairs
            )
        in_domain = (*reading.in_domain, *_of_actions(reading.domain, parts.commands, terms, knowledge.written))
        for goal in goals if not reading.defects else ():
            stated = reading.problem.with_goal(goal)
            in_problem += [
                defect for defect in check(reading.domain, stated) if defect.blocking and defect not in in_problem
            ]
        problem = replace(reading.problem, domain=reading.domain.name)
        if goals:
            problem = problem.with_goal(goals[0])
        defects = (*in_domain, *in_problem, *repairs)
        blocking = tuple(defect for defect in repairs if defect.blocking)
        commands = {} if terms.schemas else _commands(reading.domain, parts.commands, knowledge.written)
        written = ModelDomain(reading.domain, goals, commands)
        feedback = _feedback((*in_domain, *blocking), in_problem)
        return ProblemProposal(self._blank.rewritten(written, problem), feedback, None, defects)


class FullSteps(FullFormalizer):
    """Asks for the domain, the problem without a goal, and the goals, with a request for each.

    Only the requested part of an answer is read.
    """

    def request(self, situation: PromptContext) -> Request:
        parts, knowledge = _parts_of(situation.answers), situation.knowledge
        problem = str(knowledge.problem) if knowledge.written else ""
        draft: dict[str, Any] = {"domain": parts.domain or knowledge.domain.text, "problem": parts.problem or problem}
        if parts.commands:
            draft["commands"] = dict(parts.commands)
        asked = replace(situation, terms=self._terms)
        return full_request(self._prompts, "full-steps", asked, STEPS[len(situation.answers)], draft)

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Read the answers to all requests as one. If there are fewer answers than requests, the last was cut off."""
        answers = (*situation.answers, answer)
        if len(answers) < len(STEPS):
            return ProblemProposal(situation.knowledge, cut_off())
        parts = _parts_of(answers)
        missing = [part for part, text in (("problem", parts.problem), ("goals", parts.goals)) if "(" not in text]
        if missing:
            tags = " and ".join(f"<{part}>" for part in missing)
            return ProblemProposal(situation.knowledge, Feedback(INVALID, f"there is no {tags} in it."))
        return self.read_parts(parts, situation)


def _parts_of(answers: Sequence[str]) -> FullAnswer:
    """The requested part of each answer. The goals need no tag."""
    texts = [spoken(answer) for answer in answers]
    domain, problem, goals = (*map(take_apart, texts), *[FullAnswer()] * (len(STEPS) - len(texts)))
    bare = _FENCE.sub("", texts[-1]) if len(texts) == len(STEPS) else ""
    return FullAnswer(domain.domain, problem.problem, goals.goals or bare, domain.commands)


_NO_DOMAIN = Feedback(INVALID, "it contains no domain file: write (define (domain …) …)")


def read_goals(text: str) -> tuple[tuple[Formula, ...], tuple[Defect, ...]]:
    """Parse the goals of an answer, at most `MOST_GOALS` expressions, and return them with the defects of the text."""
    reading = read_sexprs(text)
    parts = dict.fromkeys(part for part in reading.expressions if isinstance(part, tuple) and part)
    goals = [read_condition(part[1] if part[0] == ":goal" and len(part) == 2 else part) for part in parts]
    defects = tuple(replace(defect, where=Where("goals")) for defect in reading.defects)
    return tuple(goals[:MOST_GOALS]), defects


def _of_actions(
    domain: Domain, commands: Mapping[str, str], terms: Terms, last: ModelDomain | None
) -> Iterator[Defect]:
    """Defects of the actions: unknown actions, other parameters than the schema's, and missing or invalid commands."""
    if not domain.actions:
        fault, advice = "the domain has no action", "write one for each thing that the agent can do"
        yield Defect(DefectKind.NO_ACTIONS, domain.name, fault, advice, None)
    heads = {schema.partition(" ")[0]: schema for schema in terms.schemas}
    for action in domain.actions:
        if terms.schemas:
            name = next((head for head in heads if same_name(head, action.name)), None)
            if name is None:
                fault, advice = f"action {action.name} is not an action of the game", f"these are {', '.join(heads)}"
                yield Defect(DefectKind.SYNTAX, action.name, fault, advice, action.place)
            elif heads[name].count("?") != len(action.parameters):
                fault, advice = f"action {action.name} has other parameters than the game's", f"write {heads[name]}"
                yield Defect(DefectKind.ARITY, action.name, fault, advice, action.place)
            continue
        command = commands.get(action.name) or (last.commands if last else {}).get(action.name)
        if command is None:
            advice = f"add a line '{action.name}: COMMAND' to <commands>"
            yield Defect(DefectKind.SYNTAX, action.name, f"action {action.name} has no command", advice, None)
            continue
        unknown = names_in(command) - {parameter.name.lstrip("?").replace("-", "_") for parameter in action.parameters}
        if unknown:
            fault = f"the command of {action.name} names {', '.join(sorted(unknown))}, which is not a parameter of it"
            yield Defect(DefectKind.VARIABLE, action.name, fault, "", None)


def _commands(domain: Domain, commands: Mapping[str, str], last: ModelDomain | None) -> dict[str, str]:
    """The commands of the domain's actions, from this answer or the last accepted domain."""
    merged = {**(last.commands if last else {}), **commands}
    return {action.name: merged[action.name] for action in domain.actions if action.name in merged}


def _feedback(in_domain: tuple[Defect, ...], in_problem: list[Defect] | tuple[Defect, ...]) -> Feedback | None:
    """Feedback about defects that make planning impossible; None without any."""
    if not in_domain and not in_problem:
        return None
    lines = [f"domain: {defect.message}" for defect in in_domain] + [
        f"problem: {defect.message}" for defect in in_problem
    ]
    where = "the domain file has" if not in_problem else "the problem file has" if not in_domain else "the files have"
    return defects_feedback(where, (*in_domain, *in_problem), lines)


KEYS = ("domain", "objects", "init", "goals", "commands")
"""The keys of an edit: a JSON object with any of them is read as one."""


class _FullEdit(Form):
    """The format of an edit in an answer."""

    domain: dict[Literal["types", "constants", "predicates", "rules", "actions"], SectionModel | None] = Field(
        default={}
    )
    objects: SectionModel = SectionModel()
    init: SectionModel = SectionModel()
    goals: list[str] | None = None
    commands: dict[str, str] = Field(default={})


class FullEditor:
    """Asks for edits of the domain and the problem. An answer with whole files is read as files."""

    def __init__(self, prompts: Prompts, blank: Knowledge, terms: Terms, tolerant: bool = True) -> None:
        self._prompts, self._terms, self._tolerant = prompts, terms, tolerant
        self._whole = FullFormalizer(prompts, blank, terms, tolerant)

    def request(self, situation: PromptContext) -> Request:
        return full_request(self._prompts, "full-edit", replace(situation, terms=self._terms))

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Apply the edit in an answer to both files. The edit is accepted or rejected as a whole."""
        text, ignored = spoken(answer) if self._tolerant else answer, list[str]()
        if "(define" in text.lower().replace(" ", ""):
            return self._whole.read(text, situation)
        try:
            found = last_object(text, KEYS, (*SECTIONS, *SECTION_KEYS), self._tolerant)
            if found.rest and not self._tolerant:
                raise EditSyntaxError(NOT_ALONE)
            edit = _FullEdit.model_validate(found.value, context=ignored if self._tolerant else None)
        except EditSyntaxError as error:
            unfinished = error.cut_off or (answer.strip() and not text.strip())
            return ProblemProposal(situation.knowledge, cut_off() if unfinished else Feedback(INVALID, f"{error}."))
        except ValidationError as error:
            faults = "; ".join(map(fault_of, error.errors()[:10]))
            return ProblemProposal(situation.knowledge, Feedback(INVALID, f"the JSON is not an edit: {faults}."))
        proposal = self._applied(edit, situation)
        notes = *map(repaired_json, found.repairs), *map(ignored_key, ignored)
        return replace(proposal, defects=(*proposal.defects, *notes))

    def _applied(self, edit: _FullEdit, situation: PromptContext) -> ProblemProposal:
        changes: dict[str, SectionEdit] = {
            name: section.as_value() for name, section in edit.domain.items() if section is not None
        }
        knowledge = situation.knowledge
        domain = apply_domain_edit(knowledge.domain, changes)
        constants = read_domain(domain.text).domain.constants
        report = apply_edit(knowledge.problem, edit_of(edit.objects, edit.init), constants)
        report = EditReport(report.problem, (*domain.entries, *report.entries), report.renamed)
        commands = {name.lower(): in_braces(text) for name, text in edit.commands.items() if text.strip()}
        last = map(str, knowledge.written.goals) if knowledge.written else ()
        goals = "\n".join(last if edit.goals is None else edit.goals)
        parts = FullAnswer(domain.text, str(report.problem), goals, commands)
        proposal = replace(self._whole.read_parts(parts, situation), report=report)
        feedback = proposal.feedback
        refused = report.of(EntryKind.REFUSED, *(() if self._tolerant else (EntryKind.UNMATCHED,)))
        if refused:
            lines = tuple(map(str, refused)) + (feedback.evidence if feedback else ())
            feedback = Feedback("refused lines", "these lines of the edit cannot be applied:", lines)
        return replace(proposal, feedback=with_unmatched(feedback, report) if feedback else None)
