"""Every defect of a problem at once, each with a message that names the atom and says what to do.

The messages are written for two readers: the model that must try again, and the person who looks why.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pddlego.pddl.domain import Domain, either
from pddlego.pddl.names import MAX_NAME, is_name, natural, nearest
from pddlego.pddl.problem import Atom, Problem, ProblemReading, is_numeric, read_problem, read_typed_list
from pddlego.pddl.rules import NUMBERS, Defect, DefectKind, text_defect
from pddlego.pddl.sexpr import Sexpr, show

MAX_OBJECTS = 10_000
MAX_FACTS = 100_000
"""Beyond these no problem is looked at: planning would take hours, and no text game is a tenth as large."""

MAX_DEFECTS = 50
"""So many blocking defects are found at most, and so many that do not block."""

MAX_MESSAGE = 500
"""Characters of a message: names may be as long as an answer."""


def check(domain: Domain, problem: Problem | str) -> tuple[Defect, ...]:
    """All defects of the problem, or of the text of a problem file, in the order: text, objects, facts, goal.

    At most `MAX_DEFECTS` blocking ones and as many others. Total: any problem value and any text gives a tuple.
    """
    if isinstance(problem, str):
        return check_reading(domain, read_problem(problem))
    return some_defects(_problem_defects(domain, problem))


def check_reading(domain: Domain, reading: ProblemReading) -> tuple[Defect, ...]:
    """Like `check`, for a text that was already read."""
    return some_defects(itertools.chain(_text_defects(reading), _problem_defects(domain, reading.problem)))


def some_defects(defects: Iterator[Defect]) -> tuple[Defect, ...]:
    """The defects up to the last that anybody reads, with messages of bearable length."""
    found: list[Defect] = []
    number = {True: 0, False: 0}
    for each in defects:
        number[each.blocking] += 1
        if number[True] > MAX_DEFECTS:
            break
        if number[each.blocking] > MAX_DEFECTS:
            continue
        long = len(each.message) > MAX_MESSAGE
        found.append(replace(each, message=f"{each.message[:MAX_MESSAGE]} …") if long else each)
    return tuple(found)


def _problem_defects(domain: Domain, problem: Problem) -> Iterator[Defect]:
    for what, number, most in (
        ("objects", len(problem.objects), MAX_OBJECTS),
        ("facts", len(problem.facts), MAX_FACTS),
    ):
        if number > most:
            message = f"the problem has {number:,} {what}, and at most {most:,} are planned with"
            yield Defect(DefectKind.TOO_LARGE, what, message)
            return
    yield from _Checker(domain, problem).defects()


def _text_defects(reading: ProblemReading) -> Iterator[Defect]:
    for fault in reading.faults:
        yield text_defect(fault)
    for section in reading.missing:
        yield Defect(DefectKind.MISSING_SECTION, section, f"section {section} is missing: add ({section} …)")
    for name in reading.duplicates:
        message = f"object {name} is declared twice: once is enough"
        yield Defect(DefectKind.DUPLICATE_OBJECT, name, message, blocking=False)
    for atom in reading.negated:
        both = atom in reading.problem.facts
        message = (
            f"{atom} is both listed and negated in :init: keep one of the two"
            if both
            else f"(not {atom}) in :init: leave it out, what is not listed is false"
        )
        yield Defect(DefectKind.NEGATED_INIT, str(atom), message, blocking=both)


class _Checker:
    """Checks one problem against one domain."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.problem = problem
        self.kinds: dict[str, set[str]] = defaultdict(set)
        for each in (*domain.constants, *problem.objects):
            self.kinds[each.name].add(each.type)

    def defects(self) -> Iterator[Defect]:
        if self.problem.domain not in (self.domain.name, "unknown"):
            message = f"the problem names domain {self.problem.domain}; this one is {self.domain.name}"
            yield Defect(DefectKind.DOMAIN_NAME, self.problem.domain, message, blocking=False)
        yield from self._objects()
        for atom in self.problem.sorted_facts():
            yield from self._atom(atom, {}, "fact")
            if atom.predicate in self.domain.rules:
                message = f"{atom}: {atom.predicate} follows from other facts by rule: leave it out of :init"
                yield Defect(DefectKind.DERIVED_INIT, str(atom), message)
        yield from self._condition(self.problem.goal, {})

    def _objects(self) -> Iterator[Defect]:
        for name, kinds in sorted(self.kinds.items(), key=lambda item: natural(item[0])):
            if not is_name(name):
                message = f"object {name[:MAX_NAME]}: a PDDL name is a letter followed by letters, digits, - or _"
                message += f", at most {MAX_NAME} of them" * (len(name) > MAX_NAME)
                yield Defect(DefectKind.BAD_NAME, name, message)
            if len(kinds) > 1:
                listed = " and ".join(sorted(kinds))
                message = f"object {name} has two types, {listed}: give it one"
                yield Defect(DefectKind.TWO_TYPES, name, message)
            for kind in sorted(kinds):
                if len(either(kind)) > 1:
                    yield Defect(DefectKind.TWO_TYPES, name, f"object {name} is {kind}: give it one type")
                yield from self._type(kind, f"{name} - {kind}")

    def _type(self, kind: str, where: str) -> Iterator[Defect]:
        for each in either(kind):
            if each not in self.domain.types:
                message = f"{where}: type {each} does not exist; the types are {_listed(self.domain.types)}"
                yield Defect(DefectKind.UNDECLARED_TYPE, where, message)

    def _atom(self, atom: Atom, scope: Mapping[str, str], where: str) -> Iterator[Defect]:
        predicate = self.domain.predicates_by_name.get(atom.predicate)
        if predicate is None:
            close = nearest(atom.predicate, self.domain.predicates_by_name)
            listed = _listed(self.domain.predicates_by_name)
            use = f"use one of {listed}" if listed else "the domain declares none: add it to (:predicates …)"
            hint = f"did you mean {close}?" if close else use
            message = f"{atom}: predicate {atom.predicate} is not declared; {hint}"
            yield Defect(DefectKind.UNDECLARED_PREDICATE, str(atom), message)
            return
        if len(atom.args) != len(predicate.parameters):
            message = f"{atom}: {predicate.name} takes {len(predicate.parameters)} argument(s), as in {predicate}"
            if len(atom.args) > len(predicate.parameters):
                message += f"; a name has no blanks, as in {'_'.join(atom.args[-2:])}"
            yield Defect(DefectKind.ARITY, str(atom), message)
            return
        for arg, parameter in zip(atom.args, predicate.parameters, strict=True):
            yield from self._argument(atom, arg, parameter.type, scope, where)

    def _argument(self, atom: Atom, arg: str, wanted: str, scope: Mapping[str, str], where: str) -> Iterator[Defect]:
        if arg.startswith("?"):
            kinds = {scope[arg]} if arg in scope else set()
            if not kinds:
                remedy = f", or write (exists ({arg} - {wanted}) …)" if where == "goal" else ", or leave it out"
                message = f"{atom}: variable {arg} is not bound here; a {where} names objects: name one{remedy}"
                yield Defect(DefectKind.VARIABLE, str(atom), message)
        else:
            kinds = self.kinds.get(arg, set())
            if not kinds:
                close = nearest(arg, self.kinds)
                hint = f" (did you mean {close}?)" if close else ""
                message = f"{atom}: object {arg} is not declared; add '{arg} - {wanted}' to the objects{hint}"
                yield Defect(DefectKind.UNDECLARED_OBJECT, str(atom), message)
        if kinds and not any(self.domain.is_a(kind, wanted) for kind in kinds):
            message = f"{atom}: {arg} is a {'/'.join(sorted(kinds))}, but {atom.predicate} takes a {wanted} there"
            yield Defect(DefectKind.ARGUMENT_TYPE, str(atom), message)

    def _condition(self, condition: Sexpr, scope: Mapping[str, str]) -> Iterator[Defect]:
        if isinstance(condition, str):
            message = f"'{condition}' in the goal is no condition: write it in parentheses"
            yield Defect(DefectKind.SYNTAX, condition, message)
            return
        if not condition:
            return
        head, parts = condition[0], condition[1:]
        if head in ("and", "or", "not", "imply"):
            wanted = {"not": 1, "imply": 2}.get(str(head))
            if wanted is not None and len(parts) != wanted:
                message = f"{show(condition)}: '{head}' takes exactly {wanted} condition(s)"
                yield Defect(DefectKind.SYNTAX, show(condition), message)
            for part in parts:
                yield from self._condition(part, scope)
        elif head in ("exists", "forall"):
            yield from self._quantified(condition, scope)
        elif head == "=" and len(parts) == 2 and all(isinstance(part, str) for part in parts):
            for part in parts:
                yield from self._argument(Atom("=", (str(parts[0]), str(parts[1]))), str(part), "object", scope, "goal")
        elif isinstance(head, str) and all(isinstance(part, str) for part in parts):
            yield from self._atom(Atom(head, tuple(str(part) for part in parts)), scope, "goal")
        elif is_numeric(condition):
            yield text_defect(f"{show(condition)} in the goal: {NUMBERS}")
        else:
            yield Defect(DefectKind.SYNTAX, show(condition), f"{show(condition)} in the goal is no condition")

    def _quantified(self, condition: tuple[Sexpr, ...], scope: Mapping[str, str]) -> Iterator[Defect]:
        if len(condition) != 3 or not isinstance(condition[1], tuple) or not condition[1]:
            message = f"{show(condition)}: write ({condition[0]} (?x - type) (condition))"
            yield Defect(DefectKind.SYNTAX, show(condition), message)
            return
        faults: list[str] = []
        variables = list(read_typed_list(condition[1], faults))
        for fault in faults:
            yield Defect(DefectKind.SYNTAX, show(condition), f"{show(condition)}: {fault}")
        for each in variables:
            yield from self._type(each.type, str(each))
        yield from self._condition(condition[2], {**scope, **{each.name: each.type for each in variables}})


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names))
