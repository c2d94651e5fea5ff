"""What stops planning: checks of domains, of problems, and of the declarations that both share."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from pddlego.pddl.derived import recursive_predicate
from pddlego.pddl.domain import (
    MAX_TYPES,
    Domain,
    Predicate,
    either,
    heads_of,
    reachable,
    too_many_types,
    undeclared_types,
    wrong_heads,
)
from pddlego.pddl.names import MAX_NAME, is_name, natural, nearest
from pddlego.pddl.problem import (
    ANY_TYPE,
    Atom,
    Problem,
    ProblemReading,
    TypedName,
    is_numeric,
    read_problem,
    read_typed_list,
)
from pddlego.pddl.rules import NUMBERS, Defect, DefectKind, remark, text_defect
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


RESERVED = frozenset(("and", "or", "not", "imply", "exists", "forall", "when", "either", "define", "problem", "domain"))
"""Words of PDDL that stand where a name may stand, so that nothing can be called so."""


def declaration_defects(domain: Domain) -> Iterator[Defect]:
    """What makes planning impossible. Total."""
    for what, name in _names(domain):
        if not is_name(name.removeprefix("?") if what.endswith("parameter") else name):
            message = f"{what} {name}: a PDDL name is a letter followed by letters, digits, - or _"
            yield Defect(DefectKind.BAD_NAME, name, f"{message}; rename it")
        elif name in RESERVED:
            yield Defect(DefectKind.RESERVED_WORD, name, f"{what} {name}: that is a word of PDDL; rename it")
    for where, kind in undeclared_types(domain):
        message = f"{where}: type {kind} is not declared; add it to (:types …)"
        yield Defect(DefectKind.UNDECLARED_TYPE, where, message)
    for defect_kind, fault in wrong_heads(domain):
        yield Defect(defect_kind, fault.partition(":")[0], f"{fault}; add it to (:predicates …) as it is defined")
    yield from _cycles(domain)
    yield from _constants(domain)
    for name in _twice(each.name for each in domain.actions):
        yield Defect(DefectKind.DUPLICATE_ACTION, name, f"action {name} is defined twice; rename or remove one")
    arities = _arities(domain)
    for name in _twice(each.name for each in domain.predicates):
        if len(arities[name]) > 1:
            message = f"predicate {name} is declared with two numbers of arguments; rename or remove one"
            yield Defect(DefectKind.DUPLICATE_PREDICATE, name, message)
    for where, parameters in heads_of(domain):
        for name in _twice(each.name for each in parameters):
            yield Defect(DefectKind.DUPLICATE_PARAMETER, where, f"{where}: parameter {name} stands twice; rename one")
        for each in parameters:
            if not each.name.startswith("?"):
                message = f"{where}: parameter {each.name} is no variable; write ?{each.name}"
                yield Defect(DefectKind.PARAMETER_NAME, where, message)


def declaration_remarks(domain: Domain) -> Iterator[Defect]:
    """What is most likely a mistake, though planning is possible. Total."""
    below = sorted({each for each in domain.supertypes if each[1] != ANY_TYPE})  # object is above all of them anyway
    for name in _twice(name for name, _ in below):
        parents = [parent for each, parent in below if each == name]
        message = f"type {name} stands below {' and '.join(parents)}; keep one unless it is of both"
        yield remark(DefectKind.DUPLICATE_TYPE, name, message)
    for name, _ in (each for each, times in Counter(domain.supertypes).items() if times > 1):
        yield remark(DefectKind.DUPLICATE_TYPE, name, f"type {name} is declared twice; once is enough")
    declared = {name for name, _ in domain.supertypes} | {ANY_TYPE}
    for above in sorted({each for _, parent in domain.supertypes for each in either(parent)} - declared):
        close = nearest(above, declared)  # that it stands behind a - declares it, unless it is a slip of the pen
        if close is not None:
            message = f"type {above} has types below it and is not declared itself; did you mean {close}?"
            yield remark(DefectKind.UNDECLARED_SUPERTYPE, above, message)
    arities = _arities(domain)
    for name in _twice(each.name for each in domain.predicates):
        if len(arities[name]) == 1:
            message = f"predicate {name} is declared twice; keep one"
            yield remark(DefectKind.DUPLICATE_PREDICATE, name, message)
    for each, times in Counter(domain.constants).items():
        if times > 1:
            message = f"constant {each.name} is declared twice; once is enough"
            yield remark(DefectKind.DUPLICATE_CONSTANT, each.name, message)
    if not domain.actions:
        yield remark(DefectKind.NO_ACTIONS, domain.name, "the domain has no action; add what can be done")


def _names(domain: Domain) -> Iterator[tuple[str, str]]:
    """Every name that the domain gives, once, and to what."""
    found = [("type", name) for name, _ in domain.supertypes]
    found += [("constant", each.name) for each in domain.constants]
    found += [("predicate", each.name) for each in domain.predicates]
    found += [("action", each.name) for each in domain.actions]
    found += [(f"{where}, parameter", each.name) for where, parameters in heads_of(domain) for each in parameters]
    yield from dict.fromkeys(found)


def _cycles(domain: Domain) -> Iterator[Defect]:
    parents: dict[str, set[str]] = {}
    for name, parent in domain.supertypes:
        parents.setdefault(name, set()).update(set(either(parent)) - {ANY_TYPE})
    for name in parents:
        above = reachable(parents[name], parents)
        if name in above or (name == ANY_TYPE and above):
            message = f"type {name} is its own ancestor, over {', '.join(sorted(above))}"
            message += "; give one of them another parent"
            yield Defect(DefectKind.TYPE_CYCLE, name, message)


def _constants(domain: Domain) -> Iterator[Defect]:
    types: dict[str, set[str]] = {}
    for each in domain.constants:
        types.setdefault(each.name, set()).add(each.type)
    for name, kinds in types.items():
        if len(kinds) > 1:
            message = f"constant {name} has two types, {' and '.join(sorted(kinds))}; give it one"
            yield Defect(DefectKind.TWO_TYPES, name, message)


def _arities(domain: Domain) -> dict[str, set[int]]:
    """The numbers of arguments that each predicate is declared with."""
    found: dict[str, set[int]] = {}
    for each in domain.predicates:
        found.setdefault(each.name, set()).add(len(each.parameters))
    return found


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


ARGUMENTS = {"not": 1, "imply": 2, "when": 2, "exists": 2, "forall": 2}
"""How many parts stand behind a word."""

IN_CONDITIONS = frozenset({"and", "or", "not", "imply", "exists", "forall", "="})

NUMERIC_EFFECTS = frozenset(("increase", "decrease", "assign", "scale-up", "scale-down"))
"""Effects that change numbers, where no predicate has the name."""

Scope = Mapping[str, str]
"""The variables that are bound somewhere, with their types."""

Inner = Callable[[Sexpr, str, Scope], Iterator[Defect]]
"""The check of what stands inside of a quantifier."""


def check_domain(domain: Domain) -> tuple[Defect, ...]:
    """What makes planning impossible, or means another thing than it says, at most `MAX_DEFECTS`. Total."""
    return some_defects(_domain_defects(domain))


def _domain_defects(domain: Domain) -> Iterator[Defect]:
    if len(domain.supertypes) > MAX_TYPES:
        yield Defect(DefectKind.TOO_LARGE, "types", too_many_types(domain))
        return
    checker = _DomainChecker(domain)
    yield from declaration_defects(domain)
    for action in domain.actions:
        where = f"action {action.name}"
        yield from checker.condition(action.precondition, f"{where}, precondition", _scope(action.parameters))
        yield from checker.effect(action.effect, f"{where}, effect", _scope(action.parameters))
    for predicate, condition in domain.derived:
        where = f"derived predicate {predicate.name}"
        yield from checker.condition(condition, where, _scope(predicate.parameters))
    circle = recursive_predicate(domain)
    if circle is not None:
        message = f"derived predicate {circle} is recursive, which is not supported: it follows from itself"
        message += "; write it without"
        yield Defect(DefectKind.RECURSIVE, circle, message)


class _DomainChecker:
    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.constants = {each.name: each.type for each in domain.constants}

    def condition(self, part: Sexpr, where: str, bound: Scope) -> Iterator[Defect]:
        """The defects of a condition."""
        if part in ((), ("and",)):
            return
        head = _head(part)
        if is_numeric(part):
            yield self._defect(DefectKind.NOT_SUPPORTED, where, f"{show(part)}: {NUMBERS}")
        elif head not in IN_CONDITIONS:
            yield from self._atom(part, where, bound, "when" if head == "when" else "")
        elif head == "=":
            yield from self._arguments(part, where, bound)
        elif head in ("exists", "forall"):
            yield from self._quantified(part, where, bound, self.condition)
        else:
            yield from self._parts(part, where)
            for each in part[1:]:
                yield from self.condition(each, where, bound)

    def effect(self, part: Sexpr, where: str, bound: Scope) -> Iterator[Defect]:
        """The defects of an effect."""
        if part in ((), ("and",)):
            return
        head = _head(part)
        if head == "forall":
            yield from self._quantified(part, where, bound, self.effect)
        elif head == "when":
            yield from self._parts(part, where)
            if len(part) == 3:
                yield from self.condition(part[1], where, bound)
                yield from self.effect(part[2], where, bound)
        elif head == "and":
            for each in part[1:]:
                yield from self.effect(each, where, bound)
        elif head == "not":
            yield from self._parts(part, where)
            for each in part[1:]:
                yield from self._atom(each, where, bound, _head(each) if _head(each) in IN_CONDITIONS else "")
        elif head in NUMERIC_EFFECTS and head not in self.domain.predicates_by_name:
            yield self._defect(DefectKind.NOT_SUPPORTED, where, f"{show(part)}: {NUMBERS}")
        else:
            yield from self._atom(part, where, bound, head if head in IN_CONDITIONS else "")

    def _parts(self, part: Sexpr, where: str) -> Iterator[Defect]:
        wanted = ARGUMENTS.get(_head(part))
        if wanted is not None and len(part) - 1 != wanted:
            yield self._defect(DefectKind.SYNTAX, where, f"{show(part)}: '{part[0]}' takes {wanted} part(s)")

    def _quantified(self, part: Sexpr, where: str, bound: Scope, inner: Inner) -> Iterator[Defect]:
        if len(part) != 3 or not isinstance(part[1], tuple):
            yield self._defect(DefectKind.SYNTAX, where, f"{show(part)}: write ({part[0]} (?x - type) (…))")
            return
        variables = tuple(read_typed_list(part[1], []))
        for each in variables:
            for kind in either(each.type):
                if kind not in self.domain.types:
                    message = f"{show(part)}: type {kind} is not declared; add it to (:types …)"
                    yield self._defect(DefectKind.UNDECLARED_TYPE, where, message)
        yield from inner(part[2], where, {**bound, **_scope(variables)})

    def _atom(self, part: Sexpr, where: str, bound: Scope, misplaced: str) -> Iterator[Defect]:
        """The defects of a literal. `misplaced` is a word that cannot stand there."""
        if misplaced:
            kind = "an effect" if where.endswith("effect") else "a condition"
            message = f"{show(part)}: '{misplaced}' cannot stand in {kind}; write the literals that hold in every case"
            yield self._defect(DefectKind.MISPLACED, where, message)
            return
        name = _head(part)
        if not name:
            yield self._defect(DefectKind.SYNTAX, where, f"{show(part)} is no condition: write (predicate ?x …)")
            return
        predicate = self.domain.predicates_by_name.get(name)
        if predicate is None:
            close = nearest(name, self.domain.predicates_by_name)
            hint = f"did you mean {close}? Else add it" if close else "add it"
            message = f"{show(part)}: predicate {name} is not declared; {hint} to (:predicates …)"
            yield self._defect(DefectKind.UNDECLARED_PREDICATE, where, message)
        elif len(part) - 1 != len(predicate.parameters):
            message = f"{show(part)}: {name} takes {len(predicate.parameters)} argument(s), as in {predicate}"
            yield self._defect(DefectKind.ARITY, where, message)
        else:
            yield from self._types(part, predicate, where, bound)
        if where.endswith("effect") and name in self.domain.rules:
            message = f"{show(part)}: {name} follows by rule; change what the rule asks for"
            yield self._defect(DefectKind.DERIVED_EFFECT, where, message)
        yield from self._arguments(part, where, bound)

    def _types(self, part: Sexpr, predicate: Predicate, where: str, bound: Scope) -> Iterator[Defect]:
        """Arguments that can never be of the type that the predicate takes."""
        for given, wanted in zip(part[1:], predicate.parameters, strict=True):
            kind = bound.get(given, self.constants.get(given)) if isinstance(given, str) else None
            if kind is not None and not self._overlap(kind, wanted.type):
                message = f"{show(part)}: {given} is a {kind}, and {predicate.name} takes a {wanted.type} there"
                yield self._defect(DefectKind.ARGUMENT_TYPE, where, message)

    def _overlap(self, kind: str, wanted: str) -> bool:
        """Whether some object can be of both types, as far as is declared."""
        known = self.domain.types
        if any(each not in known for each in (*either(kind), *either(wanted))):
            return True  # what is not declared is told elsewhere
        below = {each for each in known if any(one in known[each] for one in either(wanted))}
        return any(one in known[each] for each in below for one in either(kind)) or ANY_TYPE in either(kind)

    def _arguments(self, part: Sexpr, where: str, bound: Scope) -> Iterator[Defect]:
        for each in part[1:]:
            if not isinstance(each, str):
                why = "stands where a variable or an object must; there are no functions here: make it a parameter"
                yield self._defect(DefectKind.SYNTAX, where, f"{show(part)}: {show(each)} {why}")
            elif each.startswith("?") and each not in bound:
                message = f"{show(part)}: variable {each} is no parameter; add '{each} - TYPE' to :parameters"
                yield self._defect(DefectKind.VARIABLE, where, message)
            elif not each.startswith("?") and each not in self.constants:
                message = f"{show(part)}: {each} is no constant of the domain; add it to (:constants …)"
                yield self._defect(DefectKind.UNDECLARED_OBJECT, where, message)

    def _defect(self, kind: DefectKind, where: str, message: str) -> Defect:
        return Defect(kind, where, f"{where}: {message}")


def _head(part: Sexpr) -> str:
    return part[0] if isinstance(part, tuple) and part and isinstance(part[0], str) else ""


def _scope(parameters: tuple[TypedName, ...]) -> Scope:
    return {each.name: each.type for each in parameters}
