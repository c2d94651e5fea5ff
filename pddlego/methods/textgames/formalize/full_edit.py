"""The model edits the domain and the problem: PDDL-edit where no domain is given."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pddlego.methods.textgames.formalize.base import ProblemProposal, with_unmatched
from pddlego.methods.textgames.formalize.full import FullFormalizer
from pddlego.methods.textgames.formalize.full_answer import FullAnswer, in_braces
from pddlego.methods.textgames.formalize.requests import full_request
from pddlego.methods.textgames.situation import Situation
from pddlego.models import Request
from pddlego.models.feedback import Feedback, cut_off
from pddlego.models.prompts import Prompts
from pddlego.pddl import Edit, EditReport, EditSyntaxError, EntryKind, SectionEdit, apply_edit
from pddlego.pddl.domain import read_domain
from pddlego.pddl.edit_domain import apply_domain_edit
from pddlego.pddl.edit_json import SectionModel, first_object
from pddlego.pddl.sexpr import show
from pddlego.util.answers import spoken

KEYS = ("domain", "objects", "init", "goals", "commands")
"""Parts of an answer; one of them makes a JSON object an edit."""


class _FullEdit(BaseModel):
    """The JSON border."""

    model_config = ConfigDict(extra="forbid")
    domain: dict[Literal["types", "constants", "predicates", "rules", "actions"], SectionModel | None] = {}
    objects: SectionModel = SectionModel()
    init: SectionModel = SectionModel()
    goals: list[str] | None = None
    commands: dict[str, str] = {}


class FullEditor:
    """Asks for edits of both files. An answer that is whole files is read as such."""

    def __init__(self, prompts: Prompts, tolerant: bool = True) -> None:
        self._prompts, self._tolerant = prompts, tolerant
        self._whole = FullFormalizer(prompts, tolerant)

    def request(self, situation: Situation) -> Request:
        return full_request(self._prompts, "full-edit", situation)

    def read(self, answer: str, situation: Situation) -> ProblemProposal:
        """An edit is accepted or rejected as a whole: after a rejected one both files are what they were."""
        said = spoken(answer) if self._tolerant else answer
        if "(define" in said.lower().replace(" ", ""):
            return self._whole.read(said, situation)
        try:
            value, rest = first_object(said, KEYS)
            if rest and not self._tolerant:
                raise EditSyntaxError("there is text around the JSON object: answer with the object and nothing else")
            edit = _FullEdit.model_validate(value)
        except EditSyntaxError as error:
            unfinished = error.cut_off or (answer.strip() and not said.strip())
            return ProblemProposal(
                situation.problem, cut_off() if unfinished else Feedback("invalid answer", f"{error}.")
            )
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:10])
            return ProblemProposal(situation.problem, Feedback("invalid answer", f"the JSON is no edit: {faults}."))
        return self._applied(edit, situation)

    def _applied(self, edit: _FullEdit, situation: Situation) -> ProblemProposal:
        changes: dict[str, SectionEdit] = {
            name: section.as_value() for name, section in edit.domain.items() if section is not None
        }
        domain = apply_domain_edit(situation.domain, changes)
        constants = read_domain(domain.text).domain.constants
        report = apply_edit(situation.problem, Edit(edit.objects.as_value(), edit.init.as_value()), constants)
        report = EditReport(report.problem, (*domain.entries, *report.entries), report.renamed)
        commands = {name.lower(): in_braces(said) for name, said in edit.commands.items() if said.strip()}
        last = map(show, situation.written.goals) if situation.written else ()
        goals = "\n".join(last if edit.goals is None else edit.goals)
        parts = FullAnswer(domain.text, str(report.problem), goals, commands)
        proposal = replace(self._whole.read_parts(parts, situation), report=report)
        feedback = proposal.feedback
        refused = report.of(EntryKind.REFUSED, *(() if self._tolerant else (EntryKind.UNMATCHED,)))
        if refused:
            lines = tuple(map(str, refused)) + (feedback.evidence if feedback else ())
            feedback = Feedback("refused lines", "these lines of the edit cannot be applied:", lines)
        return replace(proposal, feedback=with_unmatched(feedback, report) if feedback else None)
