"""The first part of what was built that differs from the gold files."""

from __future__ import annotations

from dataclasses import replace

from pddlego.pddl import Domain, Problem, check
from pddlego.pddl.conditions import And, Formula, Renaming
from pddlego.pddl.diff import domain_parts
from pddlego.pddl.domain import Action
from pddlego.planning.compare import Verdict, compare_domains, compare_problems


def first_difference(domain: Domain, problem: Problem, gold: Domain, gold_problem: Problem) -> str:
    """The first part that is not as in the gold files, in the order of a file; empty if none was found.

    Parts are paired by name, spelt with `-` or `_`. Domains that `compare` calls the same may only differ in the names
    of actions, which plans use.
    """
    renamed = compare_domains(gold, domain).verdict is Verdict.SAME
    difference = _first_unnamed(domain, gold) if renamed else _domain_difference(domain, gold)
    if difference:
        return difference
    problem = replace(problem, domain=gold.name)
    defect = next((defect.message for defect in check(gold, problem) if defect.blocking), "")
    if defect:
        return f"problem: {defect}"
    compared = compare_problems(gold, problem, gold_problem)
    if compared.verdict is Verdict.SAME:
        return ""
    parts = [f"not in the reference: {', '.join(compared.only_left[:3])}"] if compared.only_left else []
    parts += [f"only in the reference: {', '.join(compared.only_right[:3])}"] if compared.only_right else []
    return "; ".join((f"problem: {compared.reason}", *parts))


def _first_unnamed(domain: Domain, gold: Domain) -> str:
    names = {_spelt(action.name) for action in domain.actions}
    missing = next((action.name for action in gold.actions if _spelt(action.name) not in names), "")
    return f"action {missing} is missing" if missing else ""


def _domain_difference(domain: Domain, gold: Domain) -> str:
    own, wanted = ({_spelt(name): text for name, text in domain_parts(side).items()} for side in (domain, gold))
    actions = {_spelt(f"action {action.name}"): action for action in domain.actions}
    gold_actions = {_spelt(f"action {action.name}"): action for action in gold.actions}
    for name, text in wanted.items():
        if name not in own:
            return f"{name} is missing"
        if name in gold_actions:
            difference = _action_difference(actions[name], gold_actions[name])
            if difference:
                return f"{name}: {difference}"
        elif _spelt(own[name]) != _spelt(text):
            return f"{name} is {own[name]}; the reference has {text}"
    extra = next((name for name in own if name not in wanted), None)
    return f"{extra} is not in the reference" if extra is not None else ""


def _action_difference(own: Action, gold: Action) -> str:
    """The first difference of two actions: parameters, a condition, an effect."""
    kinds = [[_spelt(parameter.type) for parameter in action.parameters] for action in (own, gold)]
    if kinds[0] != kinds[1]:
        return f"its parameters are of the types {', '.join(kinds[0])}; in the reference {', '.join(kinds[1])}"
    names = {mine.name: theirs.name for mine, theirs in zip(own.parameters, gold.parameters, strict=True)}
    renaming = Renaming(names)
    pairs = (
        ("condition", renaming.formula(own.precondition), gold.precondition),
        ("effect", renaming.formula(own.effect), gold.effect),
    )
    for what, mine, theirs in pairs:
        missing, extra = _parts(theirs) - _parts(mine), _parts(mine) - _parts(theirs)
        if missing or extra:
            texts = [f"{what} {part} is missing" for part in sorted(missing)]
            texts += [f"{what} {part} is not in the reference" for part in sorted(extra)]
            return "; ".join(texts)
    return ""


def _parts(whole: Formula) -> set[str]:
    """The parts of a conjunction, also of one within another."""
    if isinstance(whole, And):
        return {text for part in whole.parts for text in _parts(part)}
    return {_spelt(str(whole))}


def _spelt(text: str) -> str:
    return text.lower().replace("_", "-")
