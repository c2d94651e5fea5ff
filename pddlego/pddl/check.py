"""Errors in domains, in problems, and in the declarations that both share."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from pddlego.pddl import foreign
from pddlego.pddl.conditions import (
    ANY_TYPE,
    ARITHMETIC,
    CHANGES,
    NOT_A_FORM,
    And,
    Atom,
    AtTime,
    Change,
    Compare,
    Equal,
    Exists,
    Forall,
    Formula,
    Preference,
    Scope,
    Term,
    TypedName,
    Unreadable,
    When,
    arguments_in,
    atoms_of,
    changed_atoms,
    conjuncts,
    number,
    parts_of,
    scope_of,
    walk,
    written,
)
from pddlego.pddl.constraints import constraints_in
from pddlego.pddl.costs import counts_cost, needs_numbers, needs_time
from pddlego.pddl.domain import (
    MAX_TYPES,
    Action,
    Domain,
    DurativeAction,
    Function,
    Predicate,
    at_time,
    either,
    heads_of,
    reachable,
    times_of,
    too_many_types,
    undeclared_types,
    wrong_heads,
)
from pddlego.pddl.foreign import CALCULATIONS, LEVELS, TIMES, form_of, infix_form, numeric_form, plain_name
from pddlego.pddl.names import MAX_NAME, is_name
from pddlego.pddl.numbers import (
    ADDITIVE,
    DURATION,
    IS_VIOLATED,
    TOTAL_COST,
    TOTAL_TIME,
    allows_duration,
    duration_bounds,
    fluents_in,
    is_cost,
    linear,
    not_a_number,
)
from pddlego.pddl.preferences import is_goal
from pddlego.pddl.problem import Later, Metric, Problem, ProblemReading, read_problem
from pddlego.pddl.rules import Defect, DefectKind, Level, Position, Reason, Where, not_supported, warning
from pddlego.pddl.sexpr import Sexpr, placed, read_sexprs, show
from pddlego.util.text import natural, nearest

_T = TypeVar("_T")

MAX_OBJECTS = 10_000
_MAX_FACTS = 100_000
_MAX_LATER = 10_000
"""The maximum size of a problem: larger ones would take hours to plan for, and no text game is a tenth as large."""

MAX_DEFECTS = 50
"""The maximum number of errors that are reported, and of warnings."""

MAX_MESSAGE = 500
"""The maximum length of a message: a name in it may be as long as an answer."""


def check(domain: Domain, problem: Problem | str, level: Level = Level.CLASSICAL) -> tuple[Defect, ...]:
    """Find the defects of a problem, or of the text of a problem file, in the order: text, objects, facts, goal.

    At most `MAX_DEFECTS` errors and as many warnings are returned. Never raises, whatever the text. What is above the
    `level` is a defect: numbers other than action costs, and time.
    """
    if isinstance(problem, str):
        return check_reading(domain, read_problem(problem), level)
    return _some_defects(_problem_defects(domain, problem, level))


def check_reading(domain: Domain, reading: ProblemReading, level: Level = Level.CLASSICAL) -> tuple[Defect, ...]:
    """Find the defects of a problem file that was already read, like `check`."""
    if reading.unbalanced and not reading.source:
        return _some_defects(iter(reading.defects))
    header = next((place for part, place in placed(reading.source) if part[:1] == (":domain",)), None)
    defects = itertools.chain(reading.all_defects(), _problem_defects(domain, reading.problem, level))
    return _some_defects(
        replace(defect, place=header, word=reading.problem.domain) if defect.kind is DefectKind.DOMAIN_NAME else defect
        for defect in defects
    )


def _some_defects(defects: Iterator[Defect]) -> tuple[Defect, ...]:
    """At most `MAX_DEFECTS` errors and as many warnings, with shortened messages."""
    shown: list[Defect] = []
    counts = {True: 0, False: 0}
    for defect in defects:
        counts[defect.blocking] += 1
        if counts[True] > MAX_DEFECTS:
            break
        if counts[defect.blocking] > MAX_DEFECTS:
            continue
        shown.append(_shortened(defect) if len(defect.message) > MAX_MESSAGE else defect)
    return tuple(shown)


def _shortened(defect: Defect) -> Defect:
    def short(text: str) -> str:
        return text if len(text) <= MAX_MESSAGE // 4 else f"{text[: MAX_MESSAGE // 4 - 2]} …"

    where = defect.where and Where(*map(short, defect.where))
    return replace(defect, where=where, part=short(defect.part), fault=short(defect.fault), advice=short(defect.advice))


def _problem_defects(domain: Domain, problem: Problem, level: Level) -> Iterator[Defect]:
    if level < Level.TIME and (timed := needs_time(domain, problem)):
        yield _time_not_supported(timed)
        return
    for what, size, most in (
        ("objects", len(problem.objects), MAX_OBJECTS),
        ("facts", len(problem.facts), _MAX_FACTS),
        ("numbers", len(problem.values), _MAX_FACTS),
        ("timed literals", len(problem.later), _MAX_LATER),
    ):
        if size > most:
            fault = f"the problem has {size:,} {what}, and at most {most:,} are planned with"
            yield Defect(DefectKind.TOO_LARGE, what, fault, "", None)
            return
    yield from _ProblemChecker(domain, problem, level).defects()


def _near(name: str, known: Iterable[str]) -> str | None:
    """The known name that is as similar as carrying and carries; a short one has to be more similar."""
    return nearest(name, known, cutoff=0.6 if len(name) > _SHORT else 0.75)


_SHORT = 4
"""The length of a short name."""


def _undeclared(name: str, known: Iterable[str], fault: str, section: str) -> Reason:
    """The fault of a name that is not declared, and the advice to write the known name that is meant, or add it."""
    close = _near(name, known) or ""
    hint = f"did you mean {close}? Else add" if close else "add"
    return Reason(fault, f"{hint} it to ({section} …)", close)


def _with_calls(part: Sequence[Sexpr], domain: Domain, in_effect: bool) -> Sexpr:
    """A change or comparison whose functions lack parentheses, with these; empty for other expressions."""
    if not {*part[:1]} & {*CHANGES, "=", "<", ">", "<=", ">="}:
        return ""
    rest, functions = iter(part[1:]), domain.functions_by_name
    calls = ((head, functions.get(head) if isinstance(head, str) else None) for head in rest)
    values = [(head, *itertools.islice(rest, len(call.parameters))) if call else head for head, call in calls]
    nested = any(isinstance(value, tuple) and not {*value[1:]}.isdisjoint(functions) for value in values)
    form = (part[0], *values) if len(values) == 2 < len(part) - 1 and not nested else ""
    return form and (numeric_form(form, in_effect) or form)


class _Checker:
    """Checks the parts of a domain, or a problem (see the subclass): one for all of them indexes the names once.

    `where` is the part of the file that is checked now.
    """

    is_durative = False  # whether it belongs to a durative action, whose duration has a name
    in_effect = False  # whether the part that is checked is an effect

    def __init__(self, domain: Domain, where: Where, names: Iterable[TypedName], level: Level) -> None:
        self.domain = domain
        self.numbers = level >= Level.NUMBERS
        self.allows_constraints = level >= Level.TIME
        self.where = where
        self.preferences = set[str]()  # their names, which only a metric uses
        self.functions = CALCULATIONS.union((name,) for name in domain.functions_by_name)
        self.kinds: dict[str, set[str]] = defaultdict(set)
        self._printed: tuple[Formula | Metric | None, str] = None, ""
        self._overlaps: dict[tuple[str, str], bool] = {}
        for name in names:
            self.kinds[name.name].add(name.type)

    def formula(self, formula: Formula, bound: Scope, is_effect: bool = False) -> Iterator[Defect]:
        """The defects of a condition or an effect, in the order of its text."""
        conditions = set[int]()
        for node, scope in walk(formula, bound):
            self.in_effect = is_effect and id(node) not in conditions
            match node:
                case When():
                    conditions.update(id(part) for part, _ in walk(node.condition))
                case Unreadable():
                    yield self.unreadable(node)
                case AtTime():
                    fault, advice = "only the outer parts of a durative action have a time", f"write {node.part}"
                    yield self.defect(DefectKind.MISPLACED, node, fault, advice)
                case Compare() if self.numbers:
                    wrong = self._calculated(node, node.left, node.right)
                    yield from wrong
                    for term in () if wrong else (node.left, node.right):
                        yield from self.expression(node, term, scope)
                case Compare():
                    fault = "conditions on numbers are not supported (only action costs are)"
                    yield self.defect(DefectKind.NOT_SUPPORTED, node, fault, LEVELS)
                case Change():
                    yield from self._change(node, scope)
                case Preference():
                    fault = "preferences are supported only in the :goal and the :constraints of a problem"
                    advice = "write it there, alone or below 'and' and 'forall', or write its condition here"
                    yield self.defect(DefectKind.NOT_SUPPORTED, node, fault, advice)
                case Exists() | Forall():
                    yield from self._variables(node)
                case Equal():
                    for name in (node.left, node.right):
                        yield from self.argument(node, name, None, scope)
                case Atom():
                    yield from self.atom(node, scope)

    def unreadable(self, node: Unreadable) -> Defect:
        reason = self._compared(node) or node.reason
        return self.defect(node.kind, node, reason.fault, reason.advice, node.word, reason.meant)

    def _compared(self, node: Unreadable) -> Reason | None:
        """What is wrong with a change or comparison of the domain's functions in another form; None for others."""
        sexprs = read_sexprs("" if node.parts else node.text)  # parts have defects of their own
        part = next((one for one in sexprs.expressions if isinstance(one, tuple)), ())
        if misplaced := self.misplaced(part):
            return misplaced
        functions = self.functions
        form = numeric_form(part, False, functions) if "=>" in part else _with_calls(part, self.domain, self.in_effect)
        if part and not self.is_durative and (timed := numeric_form(part, False))[:1] in (("at",), ("over",)):
            return written("only a durative action has parts with a time", timed[2])
        calls = [one for one in part[1:] if isinstance(one, tuple) and one[:1] in functions - CALCULATIONS]
        if calls and not form and node.kind is DefectKind.NOT_SUPPORTED:
            what, sign = ("change", "increase") if self.in_effect else ("comparison", ">=")
            advice = f"write a {what} such as ({sign} {show(calls[0])} 1)"
            return Reason(f"{show(calls[0])} is a number", advice)
        return written(NOT_A_FORM, form) if form else None

    def misplaced(self, part: Sequence[Sexpr]) -> Reason | None:
        """What is wrong with a comparison of another form in an effect, or such a change in a condition; else None."""
        if not part or numeric_form(part, self.in_effect):
            return None
        form = numeric_form(part, not self.in_effect, self.functions) or foreign.chain_form(part)
        if form in ("", part) or not (self.in_effect or form[0] in {*CHANGES} - {"assign"}):
            return None
        what = "comparison is not allowed in an effect" if self.in_effect else "change is not allowed in a condition"
        return Reason(f"a {what}", f"write {show(form)} in the {'condition' if self.in_effect else 'effect'}")

    def _calculated(self, node: Change | Compare | Metric, *terms: Term) -> list[Defect]:
        """The first function in numeric expressions that only other languages have, or a number in parentheses."""
        known = self.domain.functions_by_name
        unknown = [part for term in terms for part in fluents_in(term) if part.head not in known]
        digits = next((part.head for part in unknown if number(part.head) is not None and not part.parts), "")
        others = (part for part in unknown if part.head in foreign.FUNCTIONS and part.parts)
        names = (
            part.head for part in others if any(arg.parts is not None or number(arg.head) for arg in part.parts or ())
        )
        wrong = digits or next(names, "")
        if not wrong:
            return []
        what = "is written without parentheses" if digits else "is not a function of PDDL, which has +, -, * and /"
        text = show(foreign.arithmetic_form(read_sexprs(str(node)).expressions[0], known))
        is_other = any(f"({name} " in text for name in foreign.FUNCTIONS.difference(known))
        advice = "use a function whose numbers :init gives" if is_other else f"write {text}"
        return [self.defect(DefectKind.SYNTAX, node, f"{wrong} {what}", advice, meant="" if is_other else text)]

    def _variables(self, node: Exists | Forall) -> Iterator[Defect]:
        for variable in node.variables:
            yield from self.undeclared_types(node, variable)
            if not variable.name.startswith("?") or not is_name(variable.name[1:]):
                fault, advice = f"{variable.name} is not a variable", "write ?x, ?from or the like"
                yield self.defect(DefectKind.PARAMETER_NAME, node, fault, advice)
        for variable in _repeated(node.variables, key=lambda name: name.name):
            fault, advice = f"variable {variable.name} is bound twice", "rename one"
            yield self.defect(DefectKind.DUPLICATE_PARAMETER, node, fault, advice)

    def effect(self, effect: Formula, scope: Scope) -> Iterator[Defect]:
        """The defects of an effect, which must not change a derived predicate."""
        yield from self.formula(effect, scope, is_effect=True)
        costs = [part for part in conjuncts(effect) if isinstance(part, Change)]
        outside = {*costs}
        for node, _ in walk(effect):
            if isinstance(node, Change) and is_cost(node) and node not in outside and not self.numbers:
                fault, advice = "a cost under 'when' or 'forall' is not supported", "write it outside"
                yield self.defect(DefectKind.NOT_SUPPORTED, node, fault, advice)
        if sum(map(is_cost, costs)) > 1:
            fault, advice = "the action increases (total-cost) twice", "write one increase"
            yield self.defect(DefectKind.TWO_VALUES, costs[1], fault, advice)
        for first, second in _conflicts(effect):
            fault, advice = f"{first} changes {first.fluent} at the same time", "keep one"
            yield self.defect(DefectKind.TWO_VALUES, second, fault, advice)
        for atom, _ in changed_atoms(effect):
            if atom.predicate in self.domain.rules:
                fault, advice = f"{atom.predicate} follows by rule", "change what the rule asks for"
                yield self.defect(DefectKind.DERIVED_EFFECT, atom, fault, advice)

    def defect(
        self, kind: DefectKind, node: Formula | Metric, fault: str, advice: str, word: str = "", meant: str = ""
    ) -> Defect:
        if self._printed[0] is not node:  # a long expression may have many defects
            self._printed = node, str(node)
        part = self._printed[1]
        return Defect(kind, part, fault, advice, node.place, where=self.where, part=part, word=word, meant=meant)

    def _change(self, node: Change, scope: Scope) -> Iterator[Defect]:
        """The defects of a change of a number, which must be an action cost."""
        value = number(node.value.head) if node.value.parts is None else None
        if self.numbers and (wrong := self._calculated(node, node.fluent, node.value)):
            yield from wrong
        elif self.numbers:
            yield from self.function(node, node.fluent, scope)
            yield from self.expression(node, node.value, scope)
            if node.operator == "scale-down" and number(node.value.head) == 0:
                yield self._divides_by_zero(node, node)
        elif not is_cost(node) or node.value.head == TOTAL_COST.head:
            fault = "numeric fluents are not supported (only action costs are)"
            yield self.defect(DefectKind.NOT_SUPPORTED, node, fault, LEVELS)
        elif value is not None and value < 0:
            fault, advice = "negative costs are not supported", "write a number from 0"
            yield self.defect(DefectKind.NOT_SUPPORTED, node, fault, advice)
        else:
            yield from self.function(node, node.fluent, scope)
            if value is None:
                yield from self.function(node, node.value, scope)

    def expression(self, node: Change | Compare | Metric, term: Term, scope: Scope) -> Iterator[Defect]:
        """The defects of a numeric expression."""
        parts = term.parts or ()
        if term == DURATION and self.is_durative:
            return
        if term.head == IS_VIOLATED and isinstance(node, Metric):
            yield from self._violation(node, term)
        elif term.head in _NOT_NUMERIC:
            fault = f"{_NOT_NUMERIC[term.head]} ({term.head}) are not supported"
            yield self.defect(DefectKind.NOT_SUPPORTED, node, fault, "")
        elif term.parts is None and number(term.head) is None:
            if reason := not_a_number(term.head, ", or a function in parentheses"):
                yield self.defect(DefectKind.SYNTAX, node, *reason[:2], term.head)
        elif term.head in ARITHMETIC and term.parts is not None:
            least, most = ARITHMETIC[term.head]
            if not least <= len(parts) <= most:
                fault = f"'{term.head}' takes {'two numbers or more' if most > 2 else 'two numbers'}"
                yield self.defect(DefectKind.ARITY, node, fault, "")
            elif term.head == "/" and number(parts[1].head) == 0:
                yield self._divides_by_zero(node, term)
            for part in parts:
                yield from self.expression(node, part, scope)
        elif term.parts is not None and not (term == TOTAL_TIME and isinstance(node, Metric)):
            yield from self.function(node, term, scope)

    def _violation(self, node: Metric, term: Term) -> Iterator[Defect]:
        """The defects of `(is-violated NAME)` in a metric."""
        parts = term.parts or ()
        name = parts[0].head if len(parts) == 1 and parts[0].parts is None else ""
        if not name:
            advice = f"write ({IS_VIOLATED} NAME)"
            yield self.defect(DefectKind.ARITY, node, f"{term} needs the name of one preference", advice)
        elif name not in self.preferences:
            close = nearest(name, self.preferences) or ""
            advice = f"did you mean {close}?" if close else f"write (preference {name} (…))"
            fault = f"no preference has the name {name}"
            yield self.defect(DefectKind.UNDECLARED_PREFERENCE, node, fault, advice, name, close)

    def _linearity(self, metric: Metric) -> Iterator[Defect]:
        """The defect of a metric with preferences that is no sum of their factors."""
        if any(term.head == IS_VIOLATED for term in fluents_in(metric.term)) and linear(metric.term) is None:
            fault = "a metric with preferences that is not linear is not supported"
            advice = f"write a sum of terms such as (* 3 ({IS_VIOLATED} NAME)), with numbers as factors"
            yield self.defect(DefectKind.NOT_SUPPORTED, metric, fault, advice)

    def _divides_by_zero(self, node: Change | Compare | Metric, part: Term | Change) -> Defect:
        fault, advice = f"{part} divides by zero, so it has no value", "write another divisor"
        return replace(self.defect(DefectKind.DIVISION_BY_ZERO, node, fault, advice), blocking=False)

    def function(self, node: Change | Compare | Metric, term: Term, scope: Scope) -> Iterator[Defect]:
        """The defects of a numeric term such as `(distance ?a ?b)`."""
        function = self.domain.functions_by_name.get(term.head)
        if any(part.parts is not None for part in term.parts or ()):
            fault, advice = f"{term} is not a number or a function of objects", ""
            if term.head[:1] == "(":
                advice = "write an operator or a function first, as in (+ (f) 1)"
            else:
                fault += f"; {'functions of functions' if self.numbers else 'calculated costs'} are not supported"
            yield self.defect(DefectKind.NOT_SUPPORTED, node, fault, advice)
        elif function is None and term.head in self.domain.predicates_by_name:
            fault, advice = f"{term.head} is a predicate, not a function", f"write {term} or (not {term})"
            yield self.defect(DefectKind.UNDECLARED_FUNCTION, node, fault, advice)
        elif function is None:
            known = [*self.domain.functions_by_name, *([TOTAL_TIME.head] if isinstance(node, Metric) else [])]
            reason = _undeclared(term.head, known, f"function {term.head} is not declared", ":functions")
            yield self.undeclared(DefectKind.UNDECLARED_FUNCTION, node, term.head, reason, f"function {term.head}")
        elif len(term.parts or ()) != len(function.parameters):
            fault = f"{term.head} takes {len(function.parameters)} argument(s), as in {function}"
            yield self.defect(DefectKind.ARITY, node, fault, "")
        else:
            atom = Atom(term.head, tuple(map(str, term.parts or ())), place=node.place)
            for arg, parameter in zip(atom.args, function.parameters, strict=True):
                yield from self.argument(atom, arg, parameter.type, scope)

    def _misread(self, atom: Atom) -> Defect | None:
        """The defect of an atom of another language, or with a name in the wrong role; None for any other."""
        if misplaced := self.misplaced((atom.predicate, *atom.args)):
            return self.defect(DefectKind.MISPLACED, atom, misplaced.fault, misplaced.advice)
        form = self._meant(atom)
        reason = Reason(NOT_A_FORM, f"write {form}") if form else self._in_wrong_role(atom)
        is_syntax = form or atom.predicate in self.domain.predicates_by_name
        rule = DefectKind.SYNTAX if is_syntax else DefectKind.UNDECLARED_PREDICATE
        return self.defect(rule, atom, reason.fault, reason.advice) if reason else None

    def _meant(self, atom: Atom) -> str:
        """The PDDL form of an atom, if it is of another language; else empty."""
        name, args, domain = atom.predicate, atom.args, self.domain
        if _has_type(args):
            return ""
        own = (name, *args)
        form = show(numeric_form(own, self.in_effect) or foreign.chain_form(own))
        form = form or infix_form(own)
        form = form or show(_with_calls(own, domain, self.in_effect))
        if form or name in domain.predicates_by_name or name in domain.functions_by_name:
            return form
        negated = re.sub(r"^(?:not[-_]|\W)", "", name)
        if name.startswith("?") and args and args[0] in domain.predicates_by_name:
            return str(Atom(args[0], (name, *args[1:])))
        if negated in domain.predicates_by_name:
            return f"{Atom(negated, args)}" if name.startswith("?") else f"(not {Atom(negated, args)})"
        return form_of(name, (args,) if args and args[0] in domain.predicates_by_name else args)

    def _in_wrong_role(self, atom: Atom) -> Reason | None:
        """What is wrong with an atom that begins with a function, a type or an action, or has types; else None."""
        name, args, domain = atom.predicate, atom.args, self.domain
        if _has_type(args):
            kept = [arg for number, arg in enumerate(args) if "-" not in args[max(0, number - 1) : number + 1]]
            form = str(Atom(name, tuple(kept)))
            return Reason("types are written where names are declared", f"write {form}", form)
        if name in domain.predicates_by_name:
            return None
        if name in domain.functions_by_name:
            parameters = domain.functions_by_name[name].parameters
            given = args if number(" ".join(args[-1:])) is not None else (*args, "NUMBER")
            given = given if len(given) == len(parameters) + 1 else (*(item.name for item in parameters), "NUMBER")
            call = f"{Atom(name, given[:-1])} {given[-1]}"
            use = f"write (= {call})" if self.where.kind == ":init" else f"compare it, as in (>= {call})"
            use += f", or change it, as in (assign {call})" if self.in_effect else ""
            return Reason(f"{name} is a function, not a predicate", use)
        if name in domain.types and len(args) == 1:
            where = f"where {args[0]} is declared, and no condition"
            return Reason(f"{name} is a type", f"write '{args[0]} - {name}' {where}")
        if name in domain.actions_by_name:
            return Reason(f"{name} is an action", "write the facts that it makes true or false")
        return None

    def undeclared_types(self, node: Formula, variable: TypedName) -> Iterator[Defect]:
        for kind in either(variable.type):
            if kind not in self.domain.types:
                reason = _undeclared(kind, self.domain.types, f"type {kind} is not declared", ":types")
                yield self.undeclared(DefectKind.UNDECLARED_TYPE, node, kind, reason, f"type {kind}")

    def undeclared(
        self, kind: DefectKind, node: Formula | Metric, word: str, reason: Reason, missing: str = ""
    ) -> Defect:
        """The defect of a word without the declaration that is `missing`, unless another predicate is meant."""
        is_slip = reason.meant and kind not in (DefectKind.UNDECLARED_TYPE, DefectKind.UNDECLARED_OBJECT)
        defect = self.defect(kind, node, reason.fault, reason.advice, word, reason.meant)
        return replace(defect, missing="" if is_slip else missing)

    def atom(self, atom: Atom, scope: Scope) -> Iterator[Defect]:
        name = atom.predicate
        predicate = self.domain.predicates_by_name.get(name)
        wanted: tuple[str | None, ...] = (None,) * len(atom.args)
        if misread := self._misread(atom):
            yield misread
            return
        if predicate is None:
            known = self.domain.predicates_by_name
            reason = _undeclared(name, known, f"predicate {name} is not declared", ":predicates")
            yield self.undeclared(DefectKind.UNDECLARED_PREDICATE, atom, name, reason, f"predicate {name}")
        elif len(atom.args) != len(predicate.parameters):
            fault = f"{name} takes {len(predicate.parameters)} argument(s), as in {predicate}"
            yield self.defect(DefectKind.ARITY, atom, fault, "")
        else:
            wanted = tuple(parameter.type for parameter in predicate.parameters)
        for arg, kind in zip(atom.args, wanted, strict=True):
            yield from self.argument(atom, arg, kind, scope)

    def argument(self, node: Atom | Equal, name: str, wanted: str | None, scope: Scope) -> Iterator[Defect]:
        kinds = {scope[name]} if name in scope else self.kinds.get(name, set())
        if not kinds and name.startswith("?"):
            yield self._unbound(node, name, wanted, scope)
        elif not kinds:
            fault = f"{name} is not a constant of the domain"
            known = _undeclared(name, self.kinds, fault, ":constants")
            yield self.undeclared_name(node, name, fault, scope, known)
        elif wanted is not None and isinstance(node, Atom) and not any(self._overlap(kind, wanted) for kind in kinds):
            fault = f"{name} is a {'/'.join(sorted(kinds))}, and {node.predicate} takes a {wanted} there"
            yield self.defect(DefectKind.ARGUMENT_TYPE, node, fault, "", name)

    def undeclared_name(self, node: Formula, name: str, fault: str, scope: Scope, declared: Reason) -> Defect:
        """The defect of an undeclared name, which may be meant as a variable; else the reason is `declared`."""
        kind, variable = DefectKind.UNDECLARED_OBJECT, f"?{plain_name(name)}"
        if variable in scope:
            return self.undeclared(
                kind, node, name, Reason(fault, f"write {variable}, which is declared here", variable)
            )
        if name in self.domain.types:
            kinds = [variable for variable, kind in scope.items() if self.domain.is_a(kind, name)]
            advice = f"write {' or '.join(kinds) or 'an object'} in place of the type"
            return self.undeclared(kind, node, name, Reason(fault, advice, kinds[0] if len(kinds) == 1 else ""))
        reason = declared if number(name) is None else Reason(fault, LEVELS)
        return self.undeclared(kind, node, name, reason, f"object {name}")

    def _unbound(self, node: Formula, name: str, wanted: str | None, scope: Scope) -> Defect:
        """The defect of a variable that is not bound."""
        fault, missing = f"variable {name} is not a parameter", ""
        glued = next((other for other in scope if other.startswith(f"{name}-")), "").removeprefix(f"{name}-")
        if glued in self.domain.types:
            advice, meant = f"write blanks around the hyphen of {name}-{glued}, as in '{name} - {glued}'", ""
        elif name[1:] in self.kinds:
            advice, meant = f"write {name[1:]}, which is a constant", name[1:]
        else:
            advice, meant = f"add '{name} - {wanted or 'TYPE'}' to :parameters", ""
            missing = f"{self.where.kind} {self.where.name}: {name}"
        return replace(self.defect(DefectKind.VARIABLE, node, fault, advice, name, meant), missing=missing)

    def _overlap(self, kind: str, wanted: str) -> bool:
        """Whether some object may be of both types, according to the declarations."""
        if (kind, wanted) not in self._overlaps:  # many atoms ask for the same types
            self._overlaps[kind, wanted] = self.domain.is_a(kind, wanted) or self._share(kind, wanted)
        return self._overlaps[kind, wanted]

    def _share(self, kind: str, wanted: str) -> bool:
        known = self.domain.types
        if any(kind_name not in known for kind_name in (*either(kind), *either(wanted))):
            return True  # undeclared types are reported elsewhere
        below = {candidate for candidate in known if any(one in known[candidate] for one in either(wanted))}
        return any(one in known[candidate] for candidate in below for one in either(kind)) or ANY_TYPE in either(kind)


class _ProblemChecker(_Checker):
    """Checks one problem against one domain."""

    def __init__(self, domain: Domain, problem: Problem, level: Level) -> None:
        super().__init__(domain, Where(":init"), (*domain.constants, *problem.objects), level)
        self.problem = problem

    def defects(self) -> Iterator[Defect]:
        if self.problem.domain not in (self.domain.name, "unknown"):
            fault = f"the problem's :domain is {self.problem.domain}, but the domain is called {self.domain.name}"
            advice = f"write (:domain {self.domain.name})"
            defect = warning(DefectKind.DOMAIN_NAME, self.problem.domain, fault, advice, None)
            yield replace(defect, meant=self.domain.name)
        yield from self._objects()
        for atom in self.problem.sorted_facts():
            yield from self.atom(atom, {})
            if atom.predicate in self.domain.rules:
                fault = f"{atom.predicate} follows from other facts by rule"
                yield self.defect(DefectKind.DERIVED_INIT, atom, fault, "leave it out of :init")
        yield from self._values()
        yield from self._later()
        self.where = Where(":goal")
        yield from self.formula(self.problem.goal, {})
        self.where = Where(":constraints")
        yield from _constraint_defects(self, self.problem.constraints)
        yield from _preference_defects(self, self.problem.preferences)
        self.where = Where(":metric")
        demanded = (part for one in (self.problem.goal, self.problem.constraints) for part, _ in walk(one))
        misplaced = (part for part in demanded if isinstance(part, Preference))  # which has a defect of its own
        self.preferences = {one.name for one in (*self.problem.preferences, *misplaced)} - {""}
        metric = self.problem.metric
        if metric is not None and (self.numbers or counts_cost(self.problem)):
            faults = iter(self._calculated(metric, metric.term) or self.expression(metric, metric.term, {}))
            first = next(faults, None)
            yield from self._linearity(metric) if first is None else itertools.chain([first], faults)

    def _values(self) -> Iterator[Defect]:
        """The defects of the numbers that `:init` assigns."""
        assigned: dict[Term, Compare] = {}
        negative = self.numbers and needs_numbers(self.domain, self.problem) is not None
        for value in sorted(self.problem.values, key=str):
            amount = number(str(value.right))
            if number(value.left.head) is not None:
                is_call = value.right.parts is not None
                form = f"(= {value.right if is_call else '(function …)'} {value.left.head})"
                meant = form if is_call else ""
                fault, advice = "the function comes first", f"write {form}"
                yield self.defect(DefectKind.SYNTAX, value, fault, advice, meant=meant)
                continue
            if amount is None and (wrong := self._calculated(value, value.right)):
                yield from wrong
            elif amount is None:
                if reason := not_a_number(str(value.right) if value.right.parts else value.right.head):
                    yield self.defect(DefectKind.SYNTAX, value, *reason[:2], meant=reason.meant)
            elif amount < 0 and not negative:
                fault, advice = "negative costs are not supported", "write a number from 0"
                yield self.defect(DefectKind.NOT_SUPPORTED, value, fault, advice)
            elif value.left in assigned:
                fault = f"{value.left} is also {assigned[value.left].right}"
                yield self.defect(DefectKind.TWO_VALUES, value, fault, "keep one")
            assigned[value.left] = value
            yield from self.function(value, value.left, {})

    def _later(self) -> Iterator[Defect]:
        """The defects of timed literals."""
        assigned: dict[object, Later] = {}
        for literal in self.problem.sorted_later():
            part = literal.part
            if literal.time < 0:
                defect = self.defect(
                    DefectKind.SYNTAX, part, f"time {literal.time:f} is before the start", "write a time from 0"
                )
                yield replace(defect, part=str(literal))
            yield from self.formula(part, {})
            for atom in atoms_of(part):
                if atom.predicate in self.domain.rules:
                    fault = f"{atom.predicate} follows by rule"
                    defect = self.defect(DefectKind.DERIVED_INIT, atom, fault, "leave it out of :init")
                    yield replace(defect, part=str(literal))
            what = part.left if isinstance(part, Compare) else next(atoms_of(part), None)
            first = assigned.setdefault((literal.time, what), literal)
            if first.part != part:
                fault = f"{first.part} is at {literal.time:f}, too"
                yield self.defect(DefectKind.TWO_VALUES, part, fault, "keep one")

    def _objects(self) -> Iterator[Defect]:
        places = {obj.name: obj.place for obj in sorted(self.problem.objects, key=lambda obj: obj.place or (0, 0))}
        for name, kinds in sorted(self.kinds.items(), key=lambda item: natural(item[0])):
            place = places.get(name)
            if not is_name(name):
                fault = f"object {name[:MAX_NAME]}: a PDDL name is a letter followed by letters, digits, - or _"
                fault += f", at most {MAX_NAME} of them" * (len(name) > MAX_NAME)
                yield Defect(DefectKind.BAD_NAME, name, fault, "", place)
            if len(kinds) > 1:
                types = " and ".join(sorted(kinds))
                fault = f"object {name} has two types, {types}"
                yield Defect(DefectKind.TWO_TYPES, name, fault, "give it one", place)
            for kind in sorted(kinds):
                if len(either(kind)) > 1:
                    yield Defect(DefectKind.TWO_TYPES, name, f"object {name} is {kind}", "give it one type", place)
                yield from self._type(TypedName(name, kind, place=place))

    def _type(self, name: TypedName) -> Iterator[Defect]:
        for kind in either(name.type):
            if kind not in self.domain.types:
                close = _near(kind, self.domain.types)
                hint = f"did you mean {close}? The" if close else "the"
                fault, advice = (
                    f"type {kind} does not exist",
                    f"{hint} types are {', '.join(sorted(self.domain.types))}",
                )
                defect = Defect(DefectKind.UNDECLARED_TYPE, str(name), fault, advice, name.place, part=str(name))
                yield replace(defect, word=kind, meant=close or "", missing=f"type {kind}")

    def undeclared_types(self, node: Formula, variable: TypedName) -> Iterator[Defect]:
        return self._type(variable)

    def atom(self, atom: Atom, scope: Scope) -> Iterator[Defect]:
        predicates = self.domain.predicates_by_name
        predicate = predicates.get(atom.predicate)
        misread = self._misread(atom) if predicate is None or "-" in atom.args else None
        if misread:
            yield misread
        elif predicate is None:
            close, names = _near(atom.predicate, predicates), ", ".join(sorted(predicates))
            use = f"use one of {names}" if names else "the domain declares none: add it to (:predicates …)"
            hint = f"did you mean {close}?" if close else use
            reason = Reason(f"predicate {atom.predicate} is not declared", hint, close or "")
            missing = f"predicate {atom.predicate}"
            yield self.undeclared(DefectKind.UNDECLARED_PREDICATE, atom, atom.predicate, reason, missing)
        elif len(atom.args) != len(predicate.parameters):
            fault = f"{predicate.name} takes {len(predicate.parameters)} argument(s), as in {predicate}"
            has_more = len(atom.args) > len(predicate.parameters)
            advice = f"a name has no blanks, as in {'_'.join(atom.args[-2:])}" if has_more else ""
            yield self.defect(DefectKind.ARITY, atom, fault, advice)
        else:
            types = self.domain.types
            for arg, parameter in zip(atom.args, predicate.parameters, strict=True):
                kinds = () if arg.startswith("?") else self.kinds.get(arg, ())
                if not any(parameter.type in types.get(kind, ()) for kind in kinds):
                    yield from self.argument(atom, arg, parameter.type, scope)

    def argument(self, node: Atom | Equal, name: str, wanted: str | None, scope: Scope) -> Iterator[Defect]:
        wanted = wanted or ANY_TYPE
        if name.startswith("?"):
            kinds = {scope[name]} if name in scope else set()
            if not kinds:
                remedy = (
                    f", or write (exists ({name} - {wanted}) …)" if self.where.kind == ":goal" else ", or leave it out"
                )
                meant = name[1:] if name[1:] in self.kinds else ""
                fault = f"variable {name} is not bound; {self.where} names objects"
                advice = f"write {meant}" if meant else f"name one{remedy}"
                yield self.defect(DefectKind.VARIABLE, node, fault, advice, name, meant)
        else:
            kinds = self.kinds.get(name, set())
            if not kinds:
                close = _near(name, self.kinds) or ""
                hint = f" (did you mean {close}?)" if close else ""
                fault = f"object {name} is not declared"
                declared = Reason(fault, f"add '{name} - {wanted}' to the objects{hint}", close)
                yield self.undeclared_name(node, name, fault, scope, declared)
        if any(self.domain.is_a(kind, wanted) for kind in kinds):
            return
        undeclared = {one for kind in (*kinds, wanted) for one in either(kind)} - self.domain.types.keys()
        if kinds and not undeclared:  # which are reported above
            taker = node.predicate if isinstance(node, Atom) else "="
            fault = f"{name} is a {'/'.join(sorted(kinds))}, but {taker} takes a {wanted} there"
            yield self.defect(DefectKind.ARGUMENT_TYPE, node, fault, "", name)


def _has_type(args: Sequence[str]) -> bool:
    """Whether arguments have a type behind a hyphen, as in `?x - room`, and are not a subtraction."""
    subtracts = any(one == "-" and number(other) is not None for one, other in itertools.pairwise(args))
    return "-" in args and not subtracts


_NOT_NUMERIC = {"#t": "continuous effects", IS_VIOLATED: "violations outside of the metric", "?duration": "durations"}
"""Words in numeric expressions that are not supported, with the names of their features."""


def _conflicts(effect: Formula) -> Iterator[tuple[Change, Change]]:
    """The unconditional changes of one number, in pairs, that depend on their order (PDDL 2.1, definition 11)."""
    waiting = [effect]
    while waiting:
        firsts: dict[Term, Change] = {}
        for part in conjuncts(waiting.pop()):
            if isinstance(part, Forall):
                waiting.append(part.part)
            elif isinstance(part, Change):
                first = firsts.setdefault(part.fluent, part)
                if first is not part and not {first.operator, part.operator} <= ADDITIVE:
                    yield first, part


_RESERVED = frozenset(
    ("and", "or", "not", "imply", "exists", "forall", "when", "either", "define", "problem", "domain")
)
"""Words of PDDL that cannot be used as names."""

_RESERVED_HERE = {"type": {"number"}, "predicate": {*CHANGES, "preference"}}
"""Words that cannot be names of one kind, because some planners read them as words of PDDL."""


def _declaration_defects(domain: Domain) -> Iterator[Defect]:
    """The errors in the declarations of a domain. Total."""
    # A parameter without its ? is reported below.
    heads = [
        (f"{where}, parameter", head) for where, those in heads_of(domain) for head in those if head.name[:1] == "?"
    ]
    variables = {(what, head.name) for what, head in heads}
    for (what, name), place in _names(domain, heads).items():
        if not is_name(name.removeprefix("?") if (what, name) in variables else name):
            fault, advice = f"{what} {name}: a PDDL name is a letter followed by letters, digits, - or _", "rename it"
            yield Defect(DefectKind.BAD_NAME, name, fault, advice, place)
        elif name in _RESERVED or name in _RESERVED_HERE.get(what, ()):
            fault, advice = f"{what} {name}: that is a word of PDDL", "rename it"
            yield Defect(DefectKind.RESERVED_WORD, name, fault, advice, place)
    for function in domain.functions:
        if function.type != "number":
            yield not_supported(f"function {function.name}: object fluents are not supported", "", function.place)
    for where, kind, place in undeclared_types(domain):
        reason = _undeclared(kind, domain.types, f"type {kind} is not declared", ":types")
        defect = Defect(DefectKind.UNDECLARED_TYPE, kind, reason.fault, reason.advice, place, where=where, word=kind)
        yield replace(defect, meant=reason.meant, missing=f"type {kind}")
    yield from wrong_heads(domain)
    yield from _cycles(domain)
    yield from _constants(domain)
    for action in _repeated((*domain.actions, *domain.durative), key=lambda declared: declared.name):
        fault, advice = f"action {action.name} is defined twice", "rename or remove one"
        yield Defect(DefectKind.DUPLICATE_ACTION, action.name, fault, advice, action.place)
    for predicate, arities in _repeated_predicates(domain):
        if len(arities) > 1:
            fault, advice = (
                f"predicate {predicate.name} is declared with two numbers of arguments",
                "rename or remove one",
            )
            yield Defect(DefectKind.DUPLICATE_PREDICATE, predicate.name, fault, advice, predicate.place)
    for where, parameters in heads_of(domain):
        for parameter in _repeated(parameters, key=lambda parameter: parameter.name):
            fault, advice = f"parameter {parameter.name} is listed twice", "rename one"
            blocking = where.kind != "predicate"  # the names of parameters in a declaration have no meaning
            kind = DefectKind.DUPLICATE_PARAMETER
            yield Defect(kind, parameter.name, fault, advice, parameter.place, blocking, where=where)
        for parameter in parameters:
            if not parameter.name.startswith("?"):
                name = plain_name(parameter.name)
                remedy = f"'?{name[0]} - {name}', a name and its type" if name in domain.types else f"?{name or 'x'}"
                fault, advice = f"parameter {parameter.name} is not a variable", f"write {remedy}"
                kind = DefectKind.PARAMETER_NAME
                yield Defect(kind, parameter.name, fault, advice, parameter.place, where=where)


def declaration_warnings(domain: Domain) -> Iterator[Defect]:
    """The warnings about the declarations of a domain. Total."""
    # Every type is below object anyway.
    below = sorted(
        {supertype for supertype in domain.supertypes if supertype.type != ANY_TYPE},
        key=lambda supertype: (supertype.name, supertype.type),
    )
    parents: dict[str, list[str]] = defaultdict(list)
    for supertype in below:
        parents[supertype.name].append(supertype.type)
    for supertype in _repeated(below, key=lambda supertype: supertype.name):
        both = " and ".join(parents[supertype.name])
        fault, advice = f"type {supertype.name} has the parents {both}", "keep one unless both are meant"
        yield warning(DefectKind.DUPLICATE_TYPE, supertype.name, fault, advice, supertype.place)
    for supertype in _repeated(domain.supertypes):
        fault, advice = f"type {supertype.name} is declared twice", "once is enough"
        yield warning(DefectKind.DUPLICATE_TYPE, supertype.name, fault, advice, supertype.place)
    declared = {supertype.name for supertype in domain.supertypes} | {ANY_TYPE}
    above = {
        kind: supertype.place
        for supertype in domain.supertypes
        for kind in either(supertype.type)
        if kind not in declared
    }
    for name, place in sorted(above.items()):
        close = nearest(name, declared)  # its use as a parent declares a type, unless the type is misspelt
        if close is not None:
            fault, advice = f"type {name} is used as a parent but not declared", f"did you mean {close}?"
            yield warning(DefectKind.UNDECLARED_SUPERTYPE, name, fault, advice, place)
    for predicate, arities in _repeated_predicates(domain):
        if len(arities) == 1:
            fault, advice = f"predicate {predicate.name} is declared twice", "keep one"
            yield warning(DefectKind.DUPLICATE_PREDICATE, predicate.name, fault, advice, predicate.place)
    for constant in _repeated(domain.constants):
        fault, advice = f"constant {constant.name} is declared twice", "once is enough"
        yield warning(DefectKind.DUPLICATE_CONSTANT, constant.name, fault, advice, constant.place)
    if not domain.schemas:
        fault, advice = "the domain has no actions", "add an (:action …)"
        yield warning(DefectKind.NO_ACTIONS, domain.name, fault, advice, None)


def _names(domain: Domain, heads: Iterable[tuple[str, TypedName]]) -> dict[tuple[str, str], Position | None]:
    """The kind and the name of each declaration of a domain and of its `heads`, with its first position."""
    declared: list[tuple[str, TypedName | Predicate | Function | Action]] = [
        *(("type", supertype) for supertype in domain.supertypes),
        *(("constant", constant) for constant in domain.constants),
        *(("predicate", predicate) for predicate in domain.predicates),
        *(("function", function) for function in domain.functions),
        *(("action", action) for action in (*domain.actions, *domain.durative)),
        *heads,
    ]
    names: dict[tuple[str, str], Position | None] = {}
    for what, declaration in declared:
        names.setdefault((what, declaration.name), declaration.place)
    return names


def _cycles(domain: Domain) -> Iterator[Defect]:
    parents: dict[str, set[str]] = {}
    for supertype in domain.supertypes:
        if supertype.type.startswith("(either "):
            fault = f"type {supertype.name} has the parent {supertype.type}, which has two readings"
            yield Defect(DefectKind.TWO_TYPES, supertype.name, fault, "give it one parent", supertype.place)
    for supertype in domain.supertypes:
        parents.setdefault(supertype.name, set()).update(set(either(supertype.type)) - {ANY_TYPE})
    places = {supertype.name: supertype.place for supertype in domain.supertypes}
    for name in parents:
        above = reachable(parents[name], parents)
        if name in above or (name == ANY_TYPE and above):
            fault = f"type {name} is its own ancestor, over {', '.join(sorted(above))}"
            advice = "give one of them another parent"
            if name in parents[name] and name != ANY_TYPE:
                fault = f"type {name} is its own parent, which has two readings: {name} stands in the wrong list, or"
                fault, advice = f"{fault} the parent is wrong", f"write '{name} - object' apart, or another parent"
            yield Defect(DefectKind.TYPE_CYCLE, name, fault, advice, places[name])


def _constants(domain: Domain) -> Iterator[Defect]:
    types: dict[str, set[str]] = {}
    for constant in domain.constants:
        types.setdefault(constant.name, set()).add(constant.type)
    places = {constant.name: constant.place for constant in domain.constants}
    for name, kinds in types.items():
        if any(kind.startswith("(either ") for kind in kinds):
            fault, advice = f"constant {name} is {min(kinds)}", "give it one type"
            yield Defect(DefectKind.TWO_TYPES, name, fault, advice, places[name])
        if len(kinds) > 1:
            fault, advice = f"constant {name} has two types, {' and '.join(sorted(kinds))}", "give it one"
            yield Defect(DefectKind.TWO_TYPES, name, fault, advice, places[name])


def _repeated_predicates(domain: Domain) -> Iterator[tuple[Predicate, set[int]]]:
    """The predicates that are declared more than once, with their numbers of arguments."""
    arities: dict[str, set[int]] = defaultdict(set)
    for predicate in domain.predicates:
        arities[predicate.name].add(len(predicate.parameters))
    for predicate in _repeated(domain.predicates, key=lambda declared: declared.name):
        yield predicate, arities[predicate.name]


def _repeated(items: Iterable[_T], key: Callable[[_T], object] = lambda item: item) -> list[_T]:
    """The second item with each repeated key, in the order of the first items."""
    groups: dict[object, list[_T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return [group[1] for group in groups.values() if len(group) > 1]


def check_domain(domain: Domain, level: Level = Level.CLASSICAL) -> tuple[Defect, ...]:
    """The blocking defects of a domain, at most `MAX_DEFECTS`. Total. For `level` see `check`."""
    return _some_defects(_domain_defects(domain, level))


_HAVE_TIME = "only check, solve, validate and build have time and constraints"


def _time_not_supported(part: DurativeAction | Later) -> Defect:
    what = f"{part}: timed literals" if isinstance(part, Later) else f"action {part.name}: durative actions"
    return not_supported(f"{what} are not supported here", _HAVE_TIME, part.place)


_BOUNDS = ("=", "<=", ">=")
"""The comparisons of durations in PDDL 2.1."""


def _durative_defects(checker: _Checker, action: DurativeAction, level: Level) -> Iterator[Defect]:
    if level < Level.TIME:
        yield _time_not_supported(action)
        return
    scope = scope_of(action.parameters)
    checker.where, checker.is_durative = Where("action", action.name, "duration"), True
    is_right = True
    for part in conjuncts(action.duration):
        is_bound = isinstance(part, Compare) and part.operator in _BOUNDS and DURATION in (part.left, part.right)
        if is_bound and str(part).count(DURATION.head) == 1:
            yield from checker.formula(part, scope)
        else:
            is_right = False
            if isinstance(part, AtTime) and part.time == "end":
                fault = "a duration that is compared at the end is not supported"
                yield checker.defect(DefectKind.NOT_SUPPORTED, part, fault, "")
                continue
            words = (part.left, part.right) if isinstance(part, Equal) else ()
            reasons = (not_a_number(word) for word in words if not re.match("[a-z?]", word))
            form = show(foreign.duration_form(read_sexprs(str(part)).expressions[0], checker.functions))
            advice = f"write {form or f'(= {DURATION} NUMBER), or bounds with <= and >='}"
            reason = next(filter(None, reasons), Reason("this is not a duration", advice, form))
            slip = next(_misspelt_durations(part, scope), "")
            if slip:
                reason = Reason(f"variable {slip} is not a parameter", f"did you mean {DURATION}?", DURATION.head)
            yield checker.defect(DefectKind.SYNTAX, part, *reason[:2], slip, reason.meant)
    values = [(sign, number(term.head)) for sign, term in duration_bounds(action.duration) if term.parts is None]
    if is_right and not allows_duration((sign, value) for sign, value in values if value is not None):
        fault, advice = "this allows no duration from 0, so the action can never be applied", "correct it"
        yield checker.defect(DefectKind.IMPOSSIBLE_DURATION, action.duration, fault, advice)
    for what, formula, times, find in (
        ("condition", action.precondition, ("start", "all", "end"), checker.formula),
        ("effect", action.effect, ("start", "end"), checker.effect),
    ):
        checker.where, checker.in_effect = Where("action", action.name, what), what == "effect"
        wrong = list(_without_time(checker, formula, times))
        yield from wrong
        for time in () if wrong else times:
            yield from find(at_time(formula, time), scope)


def _misspelt_durations(part: Formula, scope: Scope) -> Iterator[str]:
    """The variables that are not parameters and have nearly the name of the duration."""
    for word in arguments_in(part):
        if word not in scope and word != DURATION.head and nearest(word, (DURATION.head,)):
            yield word


_NO_TIME = "this has no time"


def _without_time(checker: _Checker, formula: Formula, times: tuple[str, ...]) -> Iterator[Defect]:
    """The outer parts of a condition or an effect of a durative action that have none of the `times`."""
    match formula:
        case AtTime() if formula.time in times:
            return
        case And() | Forall():
            for part in parts_of(formula):
                yield from _without_time(checker, part, times)
        case When():
            yield from _when_without_time(checker, formula, times)
        case Unreadable():
            words = read_sexprs(formula.text).expressions[0]
            words = words if isinstance(words, tuple) and words else ("",)
            meant = numeric_form(words, checker.in_effect) or ("" if checker.in_effect else foreign.chain_form(words))
            if meant[:1] in ("", ("at",), ("over",)):
                yield checker.unreadable(formula)
            else:
                yield checker.defect(formula.kind, formula, _NO_TIME, f"write (at start {show(meant)})", formula.word)
        case Change() if "#t" in arguments_in(formula):
            yield checker.defect(DefectKind.NOT_SUPPORTED, formula, "continuous effects (#t) are not supported", "")
        case Atom() if reason := checker.misplaced((formula.predicate, *formula.args)):
            yield checker.defect(DefectKind.MISPLACED, formula, reason.fault, reason.advice)
        case Atom() if form := _timed_atom(formula, checker.domain):
            yield checker.defect(DefectKind.MISPLACED, formula, _NO_TIME, f"write {form}", meant=form)
        case AtTime():
            fault, advice = "an effect is at the start or at the end", f"write (at end {formula.part})"
            yield checker.defect(DefectKind.MISPLACED, formula, fault, advice)
        case _:
            other = ", or over all or at end" if "all" in times else ", or at end" if times[1:] else ""
            inner = times_of(formula)
            time = next(iter(inner & {*times}), times[0])
            fault, advice = _NO_TIME, f"write {AtTime(time, formula)}{other}"
            if len(inner) == 1:
                fault, advice = "a time is outside", f"write {AtTime(time, at_time(formula, time))}"
            if len(inner) > 1:
                fault, advice = "this has two times", "write one (and …) of parts with one time each"
            yield checker.defect(DefectKind.MISPLACED, formula, fault, advice)


def _when_without_time(checker: _Checker, formula: When, times: tuple[str, ...]) -> Iterator[Defect]:
    """The defects of the times in a conditional effect, whose condition must have the time of its effect."""
    own, after = tuple(times_of(formula)), times_of(formula.effect)
    if not own or (len(own) == 1 and own[0] in times):
        for part in parts_of(formula):
            checker.in_effect = part is not formula.condition
            yield from _without_time(checker, part, own or times)
    elif after and after <= {*times}:
        remedy = "one (when …) for each time" if len(after) > 1 else f"at {after.pop()} in both"
        fault, advice = "a condition at another time than its effect is not supported", f"write {remedy}"
        yield checker.defect(DefectKind.NOT_SUPPORTED, formula, fault, advice)
    else:
        yield from _without_time(checker, formula.effect, times)


def _constraint_defects(checker: _Checker, constraints: Formula) -> Iterator[Defect]:
    """The defects of the constraints of a domain or a problem."""
    first = next(constraints_in(constraints), None)
    if first is not None and not checker.allows_constraints:
        yield checker.defect(DefectKind.NOT_SUPPORTED, first, "constraints are not supported here", _HAVE_TIME)
    else:
        yield from checker.formula(constraints, {})


def _preference_defects(checker: _Checker, preferences: Sequence[Preference]) -> Iterator[Defect]:
    """The defects of the preferences of a problem."""
    if preferences and not checker.numbers:
        fault, advice = "preferences are not supported here", "only check, solve, validate and simulate have them"
        yield checker.defect(DefectKind.NOT_SUPPORTED, preferences[0], fault, advice)
        return
    for own in preferences:
        checker.where = Where(":goal" if is_goal(own) else ":constraints")
        yield from checker.formula(Forall(own.variables, own.part) if own.variables else own.part, {})


def _timed_atom(atom: Atom, domain: Domain) -> str:
    """The form of an atom without its own parentheses in a part with a time, as in `(overall hot)`; else empty."""
    words = (atom.predicate, *atom.args)
    for end in (1, 2):
        time = TIMES.get("-".join(words[:end]))
        if time and not domain.predicates_by_name.keys().isdisjoint(words[end : end + 1]):
            return show((*time, words[end:]))
    return ""


def _domain_defects(domain: Domain, level: Level) -> Iterator[Defect]:
    if len(domain.supertypes) > MAX_TYPES:
        yield Defect(DefectKind.TOO_LARGE, "types", too_many_types(domain), "", domain.supertypes[MAX_TYPES].place)
        return
    yield from _declaration_defects(domain)
    checker = _Checker(domain, Where(":constraints"), domain.constants, level)  # one, which knows every constant
    for action in domain.actions:
        scope = scope_of(action.parameters)
        checker.where = Where("action", action.name, "precondition")
        yield from checker.formula(action.precondition, scope)
        checker.where = Where("action", action.name, "effect")
        yield from checker.effect(action.effect, scope)
    for durative in domain.durative:
        yield from _durative_defects(checker, durative, level)
    checker.is_durative = False
    for rule in domain.derived:
        checker.where = Where("derived predicate", rule.predicate.name)
        yield from checker.formula(rule.condition, scope_of(rule.predicate.parameters))
    checker.where = Where(":constraints")
    yield from _constraint_defects(checker, domain.constraints)
    circle = domain.unstratified
    if circle is not None:
        fault, advice = (
            f"derived predicate {circle} follows from its own negation",
            "write its rules without this circle",
        )
        place = domain.rules[circle][0].predicate.place
        yield Defect(DefectKind.RECURSIVE, circle, fault, advice, place)
