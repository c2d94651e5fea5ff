"""Conditions and effects of PDDL as values: a closed set of frozen classes with their text, reader and visitors.

The text of a condition or an effect is read as an equal value: positions are not compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, cast

from pddlego.pddl.foreign import TYPE_SIGNS, chain_form, form_of, infix_form, joined_infix, numeric_form
from pddlego.pddl.names import is_name
from pddlego.pddl.rules import Defect, DefectKind, PddlSyntaxError, Position, Reason, syntax_defect
from pddlego.pddl.sexpr import MAX_NUMBER, NUMBER, Sexpr, place_at, place_of, placed, read_sexprs, show
from pddlego.util.text import natural, nearest

ANY_TYPE = "object"


@dataclass(frozen=True)
class Located:
    """A value with its position in the text that it was read from, if any. Positions are not compared."""

    place: Position | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class TypedName(Located):
    """A name with its type: an object, a constant or a parameter. A type may be `(either a b)`.

    `untyped`: the text that it was read from has no type for it.
    """

    name: str
    type: str = ANY_TYPE
    untyped: bool = field(default=False, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        return f"{self.name} - {self.type}"


@dataclass(frozen=True)
class Atom(Located):
    """A predicate and its arguments, in lower case: a fact, a condition, or an effect that makes it true."""

    predicate: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"({' '.join((self.predicate, *self.args))})"

    @property
    def sort_key(self) -> tuple[object, ...]:
        return (self.predicate, tuple(natural(arg) for arg in self.args))


@dataclass(frozen=True)
class Equal(Located):
    """A condition that two names mean the same object."""

    left: str
    right: str

    def __str__(self) -> str:
        return f"(= {self.left} {self.right})"


@dataclass(frozen=True)
class Not(Located):
    """A negated condition; in an effect, an atom that becomes false."""

    part: Formula

    def __str__(self) -> str:
        return f"(not {self.part})"


@dataclass(frozen=True)
class And(Located):
    """A conjunction of conditions or of effects. Without parts it is always true, and changes nothing."""

    parts: tuple[Formula, ...] = ()

    def __str__(self) -> str:
        return f"({' '.join(('and', *map(str, self.parts)))})"


@dataclass(frozen=True)
class Or(Located):
    """A disjunction. Without parts it is never true."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return f"({' '.join(('or', *map(str, self.parts)))})"


@dataclass(frozen=True)
class Imply(Located):
    """An implication."""

    condition: Formula
    consequence: Formula

    def __str__(self) -> str:
        return f"(imply {self.condition} {self.consequence})"


@dataclass(frozen=True)
class Exists(Located):
    """A condition that is true for some values of its variables."""

    variables: tuple[TypedName, ...]
    part: Formula

    def __str__(self) -> str:
        return f"(exists ({typed_text(self.variables)}) {self.part})"


@dataclass(frozen=True)
class Forall(Located):
    """A condition that is true for all values of its variables, or an effect that happens for all of them."""

    variables: tuple[TypedName, ...]
    part: Formula

    def __str__(self) -> str:
        return f"(forall ({typed_text(self.variables)}) {self.part})"


@dataclass(frozen=True)
class When(Located):
    """An effect that happens only if a condition is true."""

    condition: Formula
    effect: Formula

    def __str__(self) -> str:
        return f"(when {self.condition} {self.effect})"


@dataclass(frozen=True)
class Term:
    """A numeric expression: a number or a name (then `parts` is None), or a list such as `(distance ?a ?b)`."""

    head: str
    parts: tuple[Term, ...] | None = None

    def __str__(self) -> str:
        return self.head if self.parts is None else f"({' '.join((self.head, *map(str, self.parts)))})"


@dataclass(frozen=True)
class Compare(Located):
    """A comparison of two numbers with `=`, `<`, `>`, `<=` or `>=`."""

    operator: str
    left: Term
    right: Term

    def __str__(self) -> str:
        return f"({self.operator} {self.left} {self.right})"


@dataclass(frozen=True)
class Change(Located):
    """An effect that changes a number with `increase`, `decrease`, `assign`, `scale-up` or `scale-down`."""

    operator: str
    fluent: Term
    value: Term

    def __str__(self) -> str:
        return f"({self.operator} {self.fluent} {self.value})"


@dataclass(frozen=True)
class AtTime(Located):
    """A condition or an effect of a durative action: at its `start`, at its `end` or over `all` of it."""

    time: str
    part: Formula

    def __str__(self) -> str:
        return f"({'over' if self.time == 'all' else 'at'} {self.time} {self.part})"


@dataclass(frozen=True)
class Trajectory(Located):
    """A constraint on all states of a plan, such as `(always (p))` or `(within 5 (p))`: see `pddl.constraints`."""

    operator: str
    parts: tuple[Formula, ...]
    times: tuple[Decimal, ...] = ()

    def __str__(self) -> str:
        return f"({' '.join((self.operator, *(f'{time:f}' for time in self.times), *map(str, self.parts)))})"


@dataclass(frozen=True)
class Preference(Located):
    """A constraint that a plan may violate, at the cost that the metric says: see `pddl.preferences`.

    The `name` may be empty. `variables` are those of `forall` around it: each instance is violated or not. In the text
    of a goal, `part` is a condition.
    """

    name: str
    part: Formula
    variables: tuple[TypedName, ...] = ()

    def __str__(self) -> str:
        own = f"({' '.join(filter(None, ('preference', self.name, str(self.part))))})"
        return f"(forall ({typed_text(self.variables)}) {own})" if self.variables else own


@dataclass(frozen=True)
class Unreadable(Located):
    """A part of a text that is not a condition or effect, with the reason. `parts` are its readable parts.

    `word` is its faulty beginning, if it is shorter. It `is_form` if the reason has another form with the same meaning.
    """

    text: str
    reason: Reason
    kind: DefectKind = DefectKind.SYNTAX
    parts: tuple[Formula, ...] = ()
    word: str = field(default="", compare=False)
    is_form: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return self.text


Formula: TypeAlias = (
    "Atom | Equal | Not | And | Or | Imply | Exists | Forall | When | Compare | Change | AtTime | Trajectory"
    "| Preference | Unreadable"
)
"""A condition, an effect or a constraint. Conditions contain no `When` and `Change`. Effects contain no `Equal`, `Or`,
`Imply`, `Exists` and `Compare`, except in the condition of a `When`. Only durative actions contain `AtTime`, and only
constraints `Trajectory` and `Preference`."""

TRUE = And()

Scope = Mapping[str, str]
"""The variables that are bound at a point of a formula, with their types."""


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """The direct parts of a condition or an effect."""
    match formula:
        case Atom():
            return ()
        case And() | Or() | Trajectory() | Unreadable():
            return formula.parts
        case Not() | Exists() | Forall() | AtTime() | Preference():
            return (formula.part,)
        case Imply():
            return (formula.condition, formula.consequence)
        case When():
            return (formula.condition, formula.effect)
    return ()


def word_of(formula: Formula) -> str:
    """The word that a condition or effect begins with: `and`, `forall`, or the predicate of an atom."""
    match formula:
        case Atom():
            return formula.predicate
        case Equal():
            return "="
        case Compare() | Change() | Trajectory():
            return formula.operator
        case Unreadable():
            return formula.text.strip("() ").partition(" ")[0]
    return type(formula).__name__.lower()


def walk(formula: Formula, scope: Scope | None = None) -> Iterator[tuple[Formula, Scope]]:
    """A condition or effect and all parts inside it, outermost first, each with the variables that are bound there."""
    stack = [(formula, scope or {})]
    while stack:
        node, bound = stack.pop()
        yield node, bound
        if isinstance(node, Exists | Forall | Preference):
            bound = {**bound, **scope_of(node.variables)}
        stack += [(part, bound) for part in reversed(parts_of(node))]


def atoms_of(formula: Formula) -> Iterator[Atom]:
    """Every atom in a condition or effect, negated ones and those under quantifiers included."""
    return (node for node, _ in walk(formula) if isinstance(node, Atom))


def changed_atoms(effect: Formula) -> Iterator[tuple[Atom, bool]]:
    """The atoms that an effect may change, each with its new value."""
    match effect:
        case Atom():
            yield effect, True
        case Not(part=Atom() as atom):
            yield atom, False
        case When():
            yield from changed_atoms(effect.effect)
        case _:
            for part in parts_of(effect):
                yield from changed_atoms(part)


def arguments_in(formula: Formula) -> Iterator[str]:
    """The objects and variables that a condition or effect names."""
    for node, _ in walk(formula):
        match node:
            case Atom():
                yield from node.args
            case Equal():
                yield from (node.left, node.right)
            case Compare():
                yield from (*_names_in(node.left), *_names_in(node.right))
            case Change():
                yield from (*_names_in(node.fluent), *_names_in(node.value))


def _names_in(term: Term) -> Iterator[str]:
    """The objects, variables and numbers in a numeric expression."""
    if term.parts is None:
        yield term.head
    for part in term.parts or ():
        yield from _names_in(part)


def scope_of(variables: Iterable[TypedName]) -> dict[str, str]:
    """The types of variables by their names."""
    return {variable.name: variable.type for variable in variables}


def with_parts(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """The same condition or effect with each of its direct parts replaced by `change(part)`."""
    match formula:
        case And() | Or() | Trajectory() | Unreadable():
            return replace(formula, parts=tuple(map(change, formula.parts)))
        case Not() | Exists() | Forall() | AtTime() | Preference():
            return replace(formula, part=change(formula.part))
        case Imply():
            return replace(formula, condition=change(formula.condition), consequence=change(formula.consequence))
        case When():
            return replace(formula, condition=change(formula.condition), effect=change(formula.effect))
    return formula


def with_functions(formula: Formula, functions: Collection[str]) -> Formula:
    """The formula with comparisons of `functions` in place of equalities of objects with the same names."""
    match formula:
        case Equal(left, right) if left in functions and right in functions:
            return Compare("=", read_number(left), read_number(right), place=formula.place)
    return with_parts(formula, lambda part: with_functions(part, functions)) if functions else formula


@dataclass(frozen=True)
class Renaming:
    """New names for objects and variables, for predicates and for types. Names that are not listed stay."""

    names: Mapping[str, str] = field(default_factory=dict)
    predicates: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    def typed(self, variables: Iterable[TypedName]) -> tuple[TypedName, ...]:
        return tuple(TypedName(self._name(variable.name), self._type(variable.type)) for variable in variables)

    def atom(self, atom: Atom) -> Atom:
        return Atom(self.predicates.get(atom.predicate, atom.predicate), tuple(map(self._name, atom.args)))

    def formula(self, formula: Formula) -> Formula:
        """The condition or effect under the new names. A variable that is bound again is no object there."""
        match formula:
            case Atom():
                return self.atom(formula)
            case Equal():
                return Equal(self._name(formula.left), self._name(formula.right))
            case Compare():
                return replace(formula, left=self.term(formula.left), right=self.term(formula.right))
            case Change():
                return replace(formula, fluent=self.term(formula.fluent), value=self.term(formula.value))
            case Exists() | Forall() | Preference():
                bound = {one.name for one in formula.variables if not self._name(one.name).startswith("?")}
                if not bound.isdisjoint(self.names):
                    names = {name: new for name, new in self.names.items() if name not in bound}
                    return replace(self, names=names).formula(formula)
                formula = replace(formula, variables=self.typed(formula.variables))
        return with_parts(formula, self.formula)

    def term(self, term: Term) -> Term:
        if term.parts is None:
            return Term(self._name(term.head))
        return Term(self.predicates.get(term.head, term.head), tuple(map(self.term, term.parts)))

    def _type(self, kind: str) -> str:
        """The new name of a type; in `(either a b)`, each type is renamed."""
        if not kind.startswith("(either "):
            return self.types.get(kind, kind)
        return f"(either {' '.join(self.types.get(name, name) for name in kind[8:-1].split())})"

    def _name(self, name: str) -> str:
        return self.names.get(name, name)


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction and of conjunctions in it; any other formula is its own single conjunct."""
    if isinstance(formula, And):
        return tuple(conjunct for part in formula.parts for conjunct in conjuncts(part))
    return (formula,)


def required_atoms(condition: Formula) -> list[Atom]:
    """The conjuncts of a condition that are atoms."""
    return [part for part in conjuncts(condition) if isinstance(part, Atom)]


def typed_text(names: Iterable[TypedName]) -> str:
    """Typed names as PDDL writes them, `?a ?b - room ?c - door`, without the type `object` at the end."""
    names = tuple(names)
    last = max((number for number, name in enumerate(names) if name.type != ANY_TYPE), default=-1)
    words = []
    for number, name in enumerate(names):
        words.append(name.name)
        following = names[number + 1].type if number + 1 < len(names) else None
        if number <= last and name.type != following:
            words += ["-", name.type]
    return " ".join(words)


# reading

_COMPARISONS = frozenset(("=", "<", ">", "<=", ">="))

CHANGES = frozenset(("increase", "decrease", "assign", "scale-up", "scale-down"))

_NOT_CLASSICAL = {
    "preference": "preferences",
    "oneof": "nondeterministic facts and effects",
    "probabilistic": "probabilistic effects",
    "unknown": "unknown facts",
    **dict.fromkeys(("at", "over"), "conditions with a time"),
}
"""Words that begin conditions and effects outside classical planning, with the names of their features."""

CONSTRAINTS = {
    "at end": (0, 1),
    "always": (0, 1),
    "sometime": (0, 1),
    "at-most-once": (0, 1),
    "sometime-after": (0, 2),
    "sometime-before": (0, 2),
    "within": (1, 1),
    "always-within": (1, 2),
    "hold-during": (2, 1),
    "hold-after": (1, 1),
}
"""The constraints on the states of a plan, each with the number of its times and of its conditions."""

_TIMES = (["at", "start"], ["at", "end"], ["over", "all"])
"""The words that begin parts of durative actions."""

_ARGUMENTS = {"not": 1, "imply": 2, "when": 2, "exists": 2, "forall": 2, "=": 2, "<": 2, ">": 2, "<=": 2, ">=": 2}
"""The number of parts that must follow a connective or a comparison."""

_CONNECTIVES = frozenset(("and", "or", "not", "imply", "exists", "forall", "when", "="))

_NOT_PREDICATES = _CONNECTIVES | _COMPARISONS


def parse_condition(text: str) -> Formula:
    """Read a text that holds one condition. Raises `PddlSyntaxError` for a text that is not one expression."""
    reading = read_sexprs(text)
    if reading.defects:
        raise PddlSyntaxError(reading.defects)
    if len(reading.expressions) != 1:
        raise PddlSyntaxError([syntax_defect("the text is not one condition", "write one condition", (1, 1))])
    return read_condition(reading.expressions[0])


def read_condition(part: Sexpr) -> Formula:
    """Read an expression as a condition. Total: an expression that is not a condition becomes `Unreadable`."""
    return _read(part, read_condition, "a condition", frozenset({"when"}))


def read_effect(part: Sexpr) -> Formula:
    """Read an expression as an effect. Total: an expression that is not an effect becomes `Unreadable`."""
    misplaced = _NOT_PREDICATES - {"and", "not", "forall", "when"}
    formula = _read(part, read_effect, "an effect", misplaced)
    if isinstance(formula, Not) and not isinstance(formula.part, Atom | Unreadable):
        return _misplaced(part[1], str(part[1][0]) if part[1] else "and", "an effect")
    return formula


def _read(part: Sexpr, inner: Callable[[Sexpr], Formula], what: str, misplaced: frozenset[str]) -> Formula:
    if isinstance(part, str) or (part and not isinstance(part[0], str)):
        reason = Reason(f"this is not {what}", f"write {_meant(part, inner is read_effect)}")
        return Unreadable(show(part), reason, place=place_of(part))
    head, rest = (str(part[0]), part[1:]) if part else ("and", ())
    if head not in _ARGUMENTS and head not in ("and", "or"):
        return _read_leaf(part, head, rest, changes=inner is read_effect)
    place = place_of(part)
    if head in misplaced:
        form: Sexpr = numeric_form(part, in_effect=True) if head == "=" else ""
        if head in _OTHER:
            form = _with_two_parts((_OTHER[head], *rest), inner is read_effect)
        return _misplaced(part, head, what, show(form))
    if head in _ARGUMENTS and len(rest) != _ARGUMENTS[head] and head not in ("exists", "forall"):
        fault = f"'{head}' takes {_ARGUMENTS[head]} part(s)"
        form = _with_two_parts(part, inner is read_effect)
        reason = Reason(
            fault, f"write {show(form)}" if form else "write as many, several conditions or effects as one (and …)"
        )
        parts = _inner_parts(part, inner) if head in ("not", "imply", "when") and not form else ()
        return Unreadable(show(part), reason, DefectKind.SYNTAX, parts, place=place, is_form=form != "")
    match head:
        case "and":
            return And(_inner_parts(part, inner), place=place)
        case "or":
            return Or(_inner_parts(part, inner), place=place)
        case "not":
            return Not(read_at(part, 1, inner), place=place)
        case "imply":
            return Imply(read_at(part, 1, inner), read_at(part, 2, inner), place=place)
        case "when":
            return When(read_at(part, 1, read_condition), read_at(part, 2, inner), place=place)
        case "exists" | "forall":
            return _read_quantified(part, inner)
    return _read_leaf(part, head, rest, changes=False)


def read_at(parts: Sequence[Sexpr], number: int, read: Callable[[Sexpr], Formula]) -> Formula:
    """Read part `number` of a list with `read`; a word has its position, too."""
    formula = read(parts[number])
    return replace(formula, place=place_at(parts, number)) if isinstance(parts[number], str) else formula


def _with_two_parts(part: tuple[Sexpr, ...], in_effect: bool) -> Sexpr:
    """The probable meaning of a connective or a comparison with a wrong number of parts; else empty."""
    head, rest = part[0], part[1:]
    if head in _COMPARISONS or numeric_form(part, in_effect=False):
        return numeric_form(part, in_effect=False) or chain_form(part)
    if head == "not" and rest:
        if (form := infix_form(rest)) or isinstance(rest[0], str):
            return f"(not {form or show(rest)})"
        return ("and", *(("not", one) for one in rest)) if str not in map(type, rest) else ""
    for start in (0, 1):  # a condition may be written infix, or only an effect
        parts = [*rest[:start], *(one for one, _ in joined_infix(rest, bool(start) and in_effect, start))]
        if head in _OTHER and str not in map(type, parts):
            parts = [numeric_form(one, in_effect and at > 0) or one for at, one in enumerate(parts)]
            parts += ("CONDITION", "EFFECT" if head == "when" else "CONSEQUENCE")[len(parts) :]
            return (head, parts[0], parts[1] if len(parts) == 2 else ("and", *parts[1:]))
    return ""


def _meant(part: Sexpr, in_effect: bool) -> str:
    """The form of PDDL in place of a word, or of a list that begins with a list."""
    if isinstance(part, str):
        own = part in _ARGUMENTS or part in ("and", "or")
        word = f"({part})" if is_name(part) else "(predicate ?x …)"
        return f"the word inside the parentheses, as in ({part} …)" if own else form_of(part, ()) or word
    together = f"(and {show(part)[1:-1]})" if all(isinstance(child, tuple) for child in part) else "(predicate ?x …)"
    return show(numeric_form(part, in_effect) or chain_form(part)) or infix_form(part, in_effect) or together


def _inner_parts(part: tuple[Sexpr, ...], inner: Callable[[Sexpr], Formula]) -> tuple[Formula, ...]:
    """The parts of a connective, read by `inner`. A word among them becomes `Unreadable` with its own position."""
    if str not in map(type, part[1:]):
        return tuple(map(inner, part[1:]))
    is_when = part[0] == "when"  # whose first part is a condition
    joined = zip(part[1:], range(1, len(part)), strict=True) if is_when else joined_infix(part, inner is read_effect, 1)
    return tuple(
        inner(child) if type(child) is type(part) else replace(inner(child), place=place_at(part, number))
        for child, number in joined
    )


def _read_quantified(part: tuple[Sexpr, ...], inner: Callable[[Sexpr], Formula]) -> Formula:
    place = place_of(part)
    variables, defects = read_typed_list(part[1]) if len(part) == 3 and isinstance(part[1], tuple) else ((), [])
    if not variables and (not defects or part[1][0] == "-"):
        form: Sexpr = f"({part[0]} (?x - type) (…))"
        if len(part) > 3 and part[1] and str not in map(type, part[1:]):
            form = (part[0], part[1], ("and", *part[2:]))
        reason = Reason(f"'{part[0]}' takes a list of variables and one part", f"write {show(form)}")
        return Unreadable(show(part), reason, place=place)
    if defects:
        return Unreadable(show(part), Reason(defects[0].fault, defects[0].advice), place=place)
    return (Exists if part[0] == "exists" else Forall)(variables, read_at(part, 2, inner), place=place)


def _read_leaf(part: tuple[Sexpr, ...], head: str, rest: tuple[Sexpr, ...], changes: bool) -> Formula:
    """Read an atom, an equality, a comparison of numbers or, if `changes` are allowed, a change of a number."""
    place = place_of(part)
    if head == "preference" and not changes:
        return read_preference(part, read_condition)
    words = _words(rest)
    if words is not None:
        if head == "=" and not any(number(word) is not None for word in words):
            return Equal(words[0], words[1], place=place)
        if head not in _COMPARISONS and not (changes and head in CHANGES and len(words) == 2):
            return Atom(head, words, place=place)
    form = show(numeric_form(part, changes))
    is_right = form in ("", show(part))
    if head in _COMPARISONS and is_right and not (head == "=" and form_of(head, rest)):
        return Compare(head, read_number(rest[0]), read_number(rest[1]), place=place)
    if changes and head in CHANGES and is_right and len(rest) == 2:
        return Change(head, read_number(rest[0]), read_number(rest[1]), place=place)
    if [head, *rest[:1]] in _TIMES and len(rest) == 2:
        return AtTime(str(rest[0]), (read_effect if changes else read_condition)(rest[1]), place=place)
    timed = head not in ("at", "over") or rest[0] in ("start", "end", "all") or number(show(rest[0])) is not None
    if head in _NOT_CLASSICAL and timed and not form:
        reason = Reason(f"{_NOT_CLASSICAL[head]} are not supported", "")
        return Unreadable(show(part), reason, DefectKind.NOT_SUPPORTED, place=place)
    if head in CONSTRAINTS and not form:
        reason = Reason(f"'{head}' is a constraint on all states, no condition", "write it in (:constraints …)")
        return Unreadable(show(part), reason, DefectKind.MISPLACED, place=place)
    if head in CHANGES and not changes:
        return _misplaced(part, head, "a condition", show(("=", *rest)) if head == "assign" else "it in the effect")
    if own := form or show(chain_form(part)):
        return Unreadable(show(part), written(NOT_A_FORM, own), place=place, is_form=True)
    if form := infix_form(part, changes) or form_of(head, rest, changes):
        return Unreadable(show(part), Reason(NOT_A_FORM, f"write {form}"), place=place, is_form=True)
    wrong = next(show(argument) for argument in rest if not isinstance(argument, str))
    times, connectives = map(" ".join, _TIMES), (word for word in _CONNECTIVES if word.isalpha())
    for name, known in ((f"{head} {show(rest[0])}", times), (head, connectives)):
        if meant := nearest(name, known, cutoff=0.6):
            reason = Reason(f"{wrong} is an argument of '{name}'", f"did you mean '{meant}'?", meant)
            return Unreadable(show(part), reason, DefectKind.SYNTAX, place=place, word=name)
    fault = f"{wrong} is not a variable or an object; object functions are not supported"
    return Unreadable(show(part), Reason(fault, "make it a parameter"), DefectKind.NOT_SUPPORTED, place=place)


def read_preference(part: tuple[Sexpr, ...], inner: Callable[[Sexpr], Formula]) -> Formula:
    """Read `(preference NAME …)`, whose name may be missing; its part is read by `inner`."""
    name = part[1] if len(part) == 3 else ""
    if len(part) not in (2, 3) or not isinstance(part[-1], tuple) or not isinstance(name, str):
        reason = Reason("a preference has a name and one part", "write (preference NAME (…))")
        return Unreadable(show(part), reason, place=place_of(part))
    if name and not is_name(name):
        reason = Reason(f"{name} is not a name", "write letters from a to z, digits, - and _, with a letter first")
        return Unreadable(show(part), reason, place=place_of(part))
    return Preference(name, inner(part[-1]), place=place_of(part))


NOT_A_FORM = "this is not a form of PDDL"


def written(fault: str, form: Sexpr) -> Reason:
    """The reason to write a part in another form, which is complete."""
    return Reason(fault, f"write {show(form)}", show(form))


def number(text: str) -> Fraction | None:
    """The exact value of a number; None for any other text, and for a number that is too long."""
    return Fraction(text) if len(text) <= MAX_NUMBER and NUMBER.match(text) else None


ARITHMETIC = {"+": (2, math.inf), "*": (2, math.inf), "-": (1, 2), "/": (2, 2)}
"""The operators of numeric expressions, each with its least and greatest number of operands."""


def read_number(part: Sexpr) -> Term:
    """Read an expression as a numeric expression. A function without arguments may lack its parentheses."""
    if isinstance(part, str):
        return Term(part, () if is_name(part) else None)
    head = show(part[0]) if part else ""
    return Term(head, tuple(map(read_number if head in ARITHMETIC else _read_argument, part[1:])))


def _read_argument(part: Sexpr) -> Term:
    return Term(part) if isinstance(part, str) else read_number(part)


_LITERALS = "the literals that hold in every case"

_OTHER = {"when": "imply", "imply": "when"}
"""What is `when` in an effect is `imply` in a condition."""

_REMEDIES = {
    "=": "(predicate ?x) for what becomes true, (not (predicate ?x)) for what becomes false",
    **dict.fromkeys(("<", ">", "<=", ">="), "it in the condition, or a change such as (assign (f) 3)"),
}
"""What to write in place of a word that is not allowed in a condition or in an effect."""


def _misplaced(part: Sexpr, head: str, what: str, form: str = "") -> Unreadable:
    reason = Reason(f"'{head}' is not allowed in {what}", f"write {form or _REMEDIES.get(head, _LITERALS)}")
    return Unreadable(show(part), reason, DefectKind.MISPLACED, place=place_of(part))


def read_atom(part: Sexpr) -> Atom | None:
    """Read a list of words that begins with a predicate as an atom; None for any other expression."""
    words = _words(part) if isinstance(part, tuple) else None
    return Atom(words[0], words[1:], place=place_of(part)) if words and words[0] not in _NOT_PREDICATES else None


def _words(parts: tuple[Sexpr, ...]) -> tuple[str, ...] | None:
    """The parts of a list if all of them are words."""
    return cast(tuple[str, ...], tuple(parts)) if set(map(type, parts)) <= {str} else None


def read_typed_list(part: Sequence[Sexpr], start: int = 0) -> tuple[tuple[TypedName, ...], list[Defect]]:
    """Read the parts of a list from number `start` on as `a b - t c`; return the typed names and the defects.

    The names before a `-` have the type after it, other names the type `object`.
    """
    names: list[TypedName] = []
    defects: list[Defect] = []
    waiting: list[tuple[str, Position | None]] = []
    parts = placed(part, start)
    for word, place in parts:
        glued = word[1:] if isinstance(word, str) and word[0] == "-" and word[1:2].isalpha() else ""
        if glued:
            defects.append(
                syntax_defect(f"there is no blank in '{word}'", f"write - {glued}", place, meant=f"- {glued}")
            )
        elif word in TYPE_SIGNS:
            fault = f"'{word}' does not begin a type in PDDL"
            defects.append(syntax_defect(fault, "write NAME - TYPE", place, meant="-"))
        if glued or word == "-" or word in TYPE_SIGNS:
            kind = glued or next(parts, (None, None))[0]
            if kind in (None, "-"):
                untyped = " ".join(name for name, _ in waiting[-3:])  # as many hyphens may follow as there are names
                advice = "write a type there, or remove the hyphen"
                defects.append(syntax_defect(f"the type is missing after '{untyped} -'", advice, place))
                continue
            if not waiting:
                fault = f"there is no name before '- {in_short(kind or ())}'"
                defects.append(syntax_defect(fault, "write NAME - TYPE, with one type", place))
            shown = show(kind or ())
            names += [TypedName(name, shown, place=at) for name, at in waiting]
            waiting = []
        elif isinstance(word, str):
            waiting.append((word, place))
        else:
            fault = f"'{in_short(word)}' is not a typed name"
            defects.append(syntax_defect(fault, "write NAME - TYPE without parentheses", place))
    return (*names, *(TypedName(name, place=at, untyped=True) for name, at in waiting)), defects


def in_short(part: Sexpr) -> str:
    """The text of an expression, shortened to at most 60 characters."""
    text = show(part)
    return text if len(text) <= 60 else text[:57] + "…"
