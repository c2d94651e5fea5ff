"""What the reader writes where no domain is given: the setting's own domain, and the problem that it keeps in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.situation import Situation
from pddlego.pddl import Edit, apply_edit
from pddlego.pddl.edit_domain import as_lines, domain_edit_between
from pddlego.pddl.sexpr import show


def as_given(situation: Situation, reference: GameSetting) -> Situation:
    """The situation as it would be with the setting's own domain: what the reading rules work in."""
    known = situation.problem if situation.problem.objects or situation.problem.facts else reference.start
    return replace(situation, domain=reference.domain, problem=known, only_planned=reference.only_planned)


def full_answer(situation: Situation, reference: GameSetting, edit: Edit) -> str:
    """Domain, problem, goals and commands as whole files, in the form that is asked for."""
    given = as_given(situation, reference)
    problem = apply_edit(given.problem, edit, reference.domain.constants).problem
    same = not domain_edit_between(situation.domain, reference.domain)
    parts = [] if same else [_part("domain", reference.domain.text)]
    parts.append(_part("problem", str(problem.with_goal(reference.ladder[0].goal))))
    if not situation.goals:
        parts.append(_part("goals", "\n".join(_goals(reference))))
    if not situation.schemas:
        parts.append(_part("commands", "\n".join(f"{name}: {said}" for name, said in _commands(reference).items())))
    return "\n".join(parts)


def full_edit(situation: Situation, reference: GameSetting, edit: Mapping[str, object]) -> str:
    """The same as an edit; `edit` is that of the problem, in the paper's JSON."""
    domain = domain_edit_between(situation.domain, reference.domain)
    value: dict[str, object] = {"domain": as_lines(domain), **edit} if domain else dict(edit)
    if not situation.goals and not (situation.written and situation.written.goals):
        value["goals"] = _goals(reference)
    if not situation.schemas:
        value["commands"] = _commands(reference)
    return json.dumps(value, indent=1)


def _goals(reference: GameSetting) -> list[str]:
    return [show(rung.goal) for rung in reference.ladder]


def _commands(reference: GameSetting) -> dict[str, str]:
    return {name: rule.command for name, rule in reference.actions.items()}


def _part(name: str, text: str) -> str:
    return f"<{name}>\n{text}\n</{name}>"
