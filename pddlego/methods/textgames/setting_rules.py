"""Rules of a setting that are data: reading rules and fixed rules, with the patterns that they are made of."""

from __future__ import annotations

import re

from pddlego.methods.textgames.setting_schema import FixedRule, ReadingRule
from pddlego.pddl import Atom, DefectKind, Domain, Edit, Problem, SectionEdit, apply_edit, check
from pddlego.pddl.problem import read_atom
from pddlego.pddl.sexpr import read_sexprs
from pddlego.util.text import names_in


def groups_of(where: str, pattern: str) -> set[str]:
    """The names of the pattern's groups. Raises `ValueError`, which says where, if it is no regular expression."""
    try:
        return set(re.compile(pattern).groupindex)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{where}: '{pattern}' is no regular expression ({error})") from error


def checked_command(where: str, text: str) -> str:
    """The command, or nothing. Raises `ValueError`, which says where, if it cannot be sent."""
    if not text.isprintable() or text != text.strip():
        raise ValueError(f"{where}: {text!r} is no command: one line without blanks at its ends")
    if re.search(r"[{}]", re.sub(r"\{\w+\}", "", text)):
        raise ValueError(f"{where}: '{text}' has a brace that belongs to no {{name}}")
    return text


def reading_rule(domain: Domain, number: int, read: ReadingRule) -> ReadingRule:
    """The rule, its templates tried out with a name in place of every group."""
    groups = groups_of(f"reading rule {number}", read.text) | groups_of(f"reading rule {number}", read.command)
    if not read.text:
        raise ValueError(f"reading rule {number}: its text matches everything")
    for template in (*read.forget, *read.objects, *read.add):
        unknown = sorted(names_in(template) - groups)
        if unknown:
            raise ValueError(f"reading rule {number}: '{template}' names {unknown}, which no group matches")
    filled = [[re.sub(r"\{\w+\}", "x", each) for each in part] for part in (read.objects, read.add, read.forget)]
    forgotten = (each.replace("*", "x") for each in filled[2])
    edit = Edit(SectionEdit(add=tuple(filled[0])), SectionEdit(add=(*filled[1], *forgotten)))
    report = apply_edit(Problem("trial", domain.name), edit, domain.constants)
    unreadable = [str(each) for each in report.refused]
    unreadable += [f"'{each}' is no fact" for part in filled[1:] for each in part if not _is_facts(each)]
    kinds = (DefectKind.UNDECLARED_OBJECT, DefectKind.ARGUMENT_TYPE, DefectKind.TWO_TYPES)  # `x` stands for anything
    wrong = [str(each) for each in check(domain, report.problem) if each.blocking and each.kind not in kinds]
    if unreadable or wrong:
        raise ValueError(f"reading rule {number}: {(unreadable + wrong)[0]}")
    return read


def _is_facts(text: str) -> bool:
    reading = read_sexprs(text)
    atoms = [read_atom(each) for each in reading.expressions]
    return bool(atoms) and None not in atoms and not reading.faults


def fixed_rule(rule: FixedRule) -> FixedRule:
    """The rule, its pattern and its command checked."""
    unknown = names_in(rule.command) - groups_of("rule.when", rule.when)
    if not rule.when or not rule.command:
        raise ValueError("rule: it needs a regular expression in 'when' and a command")
    if unknown:
        raise ValueError(f"rule: '{rule.command}' names {sorted(unknown)}, which no group of '{rule.when}' matches")
    checked_command("rule.command", rule.command)
    return rule


def looked_up_in(domain: Domain, name: str, text: str) -> Atom | None:
    """The fact in which a command looks a value up. Raises `ValueError`, which says where, if it is none."""
    if not text:
        return None
    atom = domain.atom(text)
    if atom is None:
        raise ValueError(f"actions.{name}.where: '{text}' is no fact that the domain has")
    if not {parameter.name for parameter in domain.actions_by_name[name].parameters} & set(atom.args):
        raise ValueError(f"actions.{name}.where: '{text}' has no parameter of the action in it")
    return atom
