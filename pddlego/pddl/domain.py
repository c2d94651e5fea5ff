"""The domain: types, constants, predicates and actions, as a value, with the text it was read from."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from pddlego.pddl.conditions import (
    ANY_TYPE,
    TRUE,
    And,
    Atom,
    AtTime,
    Compare,
    Equal,
    Forall,
    Formula,
    Imply,
    Located,
    Not,
    Term,
    TypedName,
    When,
    atoms_of,
    changed_atoms,
    conjuncts,
    in_short,
    parts_of,
    read_at,
    read_atom,
    read_condition,
    read_effect,
    read_typed_list,
    typed_text,
    walk,
    with_functions,
    with_parts,
)
from pddlego.pddl.constraints import read_constraints
from pddlego.pddl.foreign import TIMES, without_foreign
from pddlego.pddl.names import is_name, spelt
from pddlego.pddl.numbers import DURATION, changed_fluents, numeric_part, read_fluents
from pddlego.pddl.parentheses import unbalanced
from pddlego.pddl.problem import is_define, is_one_word, misspelt_define
from pddlego.pddl.rules import Defect, DefectKind, PddlSyntaxError, Position, Where, not_supported, syntax_defect
from pddlego.pddl.sexpr import Sexpr, place_of, placed, read_sexprs, show
from pddlego.util.text import Shown, count, nearest


@dataclass(frozen=True)
class Predicate(Located):
    """A predicate with its typed parameters. `meaning` is the comment after its declaration."""

    name: str
    parameters: tuple[TypedName, ...]
    meaning: str = field(default="", compare=False)

    def __str__(self) -> str:
        return (
            "("
            + " ".join([self.name, *(f"{parameter.name} - {parameter.type}" for parameter in self.parameters)])
            + ")"
        )


@dataclass(frozen=True)
class Function(Located):
    """A numeric fluent with its typed parameters. `type` is `number` unless the domain declares another type."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    type: str = "number"

    def __str__(self) -> str:
        return f"{_signature(self)} - {self.type}"


@dataclass(frozen=True)
class Action(Located):
    """An action schema. Parameters keep their `?`."""

    name: str
    parameters: tuple[TypedName, ...]
    precondition: Formula
    effect: Formula

    def __str__(self) -> str:
        head = f"(:action {self.name} :parameters ({typed_text(self.parameters)})"
        return f"{head} :precondition {self.precondition} :effect {self.effect})"


@dataclass(frozen=True)
class DurativeAction(Action):
    """An action that takes time. The parts of `precondition` and `effect` are `AtTime`; `duration` compares `?duration`
    with numbers. As PDDL 2.1 writes it, `when` is outside: `(when (at end (p)) (at end (q)))`.
    """

    duration: Formula = TRUE

    def __post_init__(self) -> None:
        object.__setattr__(self, "effect", _standard(self.effect))

    def at(self, time: str) -> Action:
        """The conditions and effects of one time: `start`, `all` or `end`."""
        return Action(self.name, self.parameters, at_time(self.precondition, time), at_time(self.effect, time))

    def __str__(self) -> str:
        head = f"(:durative-action {self.name} :parameters ({typed_text(self.parameters)}) :duration {self.duration}"
        return f"{head} :condition {self.precondition} :effect {self.effect})"


def at_time(formula: Formula, time: str) -> Formula:
    """The parts of a condition or an effect that have this time, without it."""
    if isinstance(formula, AtTime):
        return formula.part if formula.time == time else TRUE
    if isinstance(formula, When) and time not in times_of(formula.effect):
        return TRUE
    return with_parts(formula, lambda part: at_time(part, time))


def _duration(formula: Formula) -> Formula:
    """A duration without `at start`, when it is looked at anyway, and with functions that may lack parentheses."""
    match formula:
        case And():
            return with_parts(formula, _duration)
        case AtTime("start", part) | AtTime("end", Compare(_, Term(parts=None), Term(parts=None)) as part):
            return _duration(part)
        case Equal(left, right) if DURATION.head in (left, right):
            return with_functions(formula, {name for name in (left, right) if is_name(name)} | {DURATION.head})
    return formula


def times_of(formula: Formula) -> set[str]:
    """The times of the parts of a condition or an effect."""
    return {node.time for node, _ in walk(formula) if isinstance(node, AtTime)}


def _standard(effect: Formula, time: str = "") -> Formula:
    """An effect of a durative action, at a `time` if there is one, with the times inside of `when`."""
    if isinstance(effect, AtTime) and not time and any(isinstance(node, When) for node, _ in walk(effect)):
        return _standard(effect.part, effect.time)
    if isinstance(effect, When) and time:
        return replace(effect, condition=AtTime(time, effect.condition), effect=_standard(effect.effect, time))
    if isinstance(effect, And | Forall):
        return with_parts(effect, lambda part: _standard(part, time))
    return AtTime(time, effect, place=effect.place) if time else effect


@dataclass(frozen=True)
class Rule:
    """A derived predicate, and the condition under which it is true."""

    predicate: Predicate
    condition: Formula

    def __str__(self) -> str:
        return f"(:derived {_signature(self.predicate)} {self.condition})"


@dataclass(frozen=True, repr=False)
class Domain(Shown):
    """A PDDL domain. `text` is the file without comments; `str(domain)` prints the value with one section per line.

    `supertypes` are the declared types, each with its parent type.
    """

    name: str
    requirements: tuple[str, ...] = ()
    supertypes: tuple[TypedName, ...] = ()
    constants: tuple[TypedName, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    functions: tuple[Function, ...] = ()
    actions: tuple[Action, ...] = ()
    derived: tuple[Rule, ...] = ()
    durative: tuple[DurativeAction, ...] = ()
    constraints: Formula = TRUE
    text: str = field(default="", compare=False, repr=False)

    @cached_property
    def types(self) -> dict[str, frozenset[str]]:
        """Each type with the set of its ancestors and itself."""
        parents: dict[str, set[str]] = {ANY_TYPE: set()}
        for supertype in self.supertypes:
            parents.setdefault(supertype.name, set()).add(supertype.type)
            parents.setdefault(supertype.type, set())
        return {name: frozenset(reachable([name], parents)) | {ANY_TYPE} for name in parents}

    @cached_property
    def predicates_by_name(self) -> dict[str, Predicate]:
        return {predicate.name: predicate for predicate in self.predicates}

    @cached_property
    def functions_by_name(self) -> dict[str, Function]:
        return {function.name: function for function in self.functions}

    @cached_property
    def actions_by_name(self) -> dict[str, Action]:
        return {action.name: action for action in self.actions}

    @cached_property
    def schemas(self) -> tuple[Action, ...]:
        """The actions, and the durative ones as if they took no time.

        Other actions may need what the start of one makes true (or false, if a condition negates it), or a number that
        it changes, for its later conditions: these are left out then.
        """
        if not self.durative:
            return self.actions
        actions = (*self.actions, *self.durative)
        changed = {*self.rules, *(atom.predicate for action in actions for atom, _ in changed_atoms(action.effect))}
        changed |= self.changed_functions
        conditions = [action.precondition for action in actions]
        parts = [node for action in actions for node, _ in walk(action.effect)]
        conditions += [part.condition for part in parts if isinstance(part, When)]
        nodes = [node for condition in conditions for node, _ in walk(condition)]
        negated = {atom.predicate for node in nodes if isinstance(node, Not | Imply) for atom in atoms_of(node)}
        nodes += [*parts, *(node for action in self.durative for node, _ in walk(action.duration))]
        read = {fluent.head for node in nodes for fluent in read_fluents(node)}

        def stays(part: Formula) -> bool:
            inner = [node for node, _ in walk(part)]
            fluents = {fluent.head for node in inner for fluent in read_fluents(node)}
            return changed.isdisjoint(fluents | {atom.predicate for atom in atoms_of(part)})

        def timeless(action: DurativeAction) -> Action:
            start, during, end = map(action.at, ("start", "all", "end"))
            later = conjuncts(And((during.precondition, end.precondition)))
            enables = any(value or atom.predicate in negated for atom, value in changed_atoms(start.effect))
            if enables or any(change.fluent.head in read for change in changed_fluents(start.effect)):
                later = tuple(filter(stays, later))
            condition, effect = And((start.precondition, *later)), And((start.effect, end.effect))
            return Action(action.name, action.parameters, condition, effect, place=action.place)

        return (*self.actions, *map(timeless, self.durative))

    @cached_property
    def rules(self) -> dict[str, list[Rule]]:
        """The rules of each derived predicate."""
        rules: dict[str, list[Rule]] = {}
        for rule in self.derived:
            rules.setdefault(rule.predicate.name, []).append(rule)
        return rules

    @cached_property
    def circles(self) -> dict[str, frozenset[str]]:
        """Each recursive derived predicate, with all predicates of its circle of definitions."""
        uses: dict[str, set[str]] = defaultdict(set)
        for rule in self.derived:
            uses[rule.predicate.name].update(atom.predicate for atom in atoms_of(rule.condition))
        return circles_of(uses)

    @property
    def unstratified(self) -> str | None:
        """A derived predicate that is defined by its own negation, directly or through others; None without one.

        In a domain without such a predicate, every derived fact is either true or false in each state.
        """
        for rule in self.derived:
            circle = self.circles.get(rule.predicate.name, frozenset())
            if any(atom.predicate in circle for atom, positive in _signed_atoms(rule.condition, True) if not positive):
                return rule.predicate.name
        return None

    @cached_property
    def numeric_part(self) -> Formula | None:
        """The first condition or effect that needs numbers other than action costs; None in a classical domain."""
        rules = (rule.condition for rule in self.derived)
        schemas = (part for action in self.schemas for part in (action.precondition, action.effect))
        conditions = (action.precondition for action in self.durative)
        return numeric_part((*schemas, *rules, *conditions, self.constraints))

    @cached_property
    def changed_functions(self) -> frozenset[str]:
        """The functions whose values actions change, costs included."""
        actions = (*self.actions, *self.durative)
        changes = (change for action in actions for change in changed_fluents(action.effect))
        return frozenset(change.fluent.head for change in changes)

    def conditions(self) -> Iterator[Formula]:
        """The preconditions and effects of all actions, and the conditions of all derived predicates."""
        for action in self.schemas:
            yield from (action.precondition, action.effect)
        yield from (rule.condition for rule in self.derived)

    def __repr__(self) -> str:
        return f"<Domain {self.name}: {count(len(self.schemas), 'action')}, {count(len(self.predicates), 'predicate')}>"

    def __str__(self) -> str:
        """Canonical text, one section a line."""
        sections = (
            ("requirements", " ".join(self.requirements)),
            ("types", typed_text(self.supertypes)),
            ("constants", typed_text(self.constants)),
            ("predicates", " ".join(map(_signature, self.predicates))),
            ("functions", " ".join(map(str, self.functions))),
        )
        lines = [f"(define (domain {self.name})", *(f"  (:{name} {text})" for name, text in sections if text)]
        lines += [f"  (:constraints {self.constraints})"] if self.constraints != TRUE else []
        return "\n".join([*lines, *(f"  {part}" for part in (*self.derived, *self.actions, *self.durative)), ")"])

    @cached_property
    def canonical(self) -> str:
        """The canonical text, for engines that expect sections and fields in this order."""
        return str(self)

    def atom(self, text: str) -> Atom | None:
        """Parse `text` as an atom of a declared predicate; None if it is not one, or has too few or many arguments."""
        reading = read_sexprs(text)
        atom = read_atom(reading.expressions[0]) if len(reading.expressions) == 1 and not reading.defects else None
        predicate = self.predicates_by_name.get(atom.predicate) if atom else None
        return atom if atom and predicate and len(predicate.parameters) == len(atom.args) else None

    def is_a(self, kind: str, wanted: str) -> bool:
        """Whether an object of type `kind` is also of type `wanted` (`(either a b)` accepts either)."""
        if wanted in self.types.get(kind, ()):
            return True

        def fits(one: str) -> bool:
            own = self.types.get(one, frozenset({one, ANY_TYPE}))
            return not own.isdisjoint(_alternatives(wanted))

        return all(fits(one) for one in either(kind))


def _signed_atoms(condition: Formula, positive: bool) -> Iterator[tuple[Atom, bool]]:
    """The atoms of a condition, each with whether it occurs positively."""
    match condition:
        case Atom():
            yield condition, positive
        case Not():
            yield from _signed_atoms(condition.part, not positive)
        case Imply():
            yield from _signed_atoms(condition.condition, not positive)
            yield from _signed_atoms(condition.consequence, positive)
        case _:
            for part in parts_of(condition):
                yield from _signed_atoms(part, positive)


MAX_TYPES = 1_000
"""The maximum number of types in a domain; the largest domains of competitions have some dozens."""


def too_many_types(domain: Domain) -> str:
    """The message about a domain with too many types."""
    return f"the domain has {len(domain.supertypes):,} types, and at most {MAX_TYPES:,} are planned with"


def either(kind: str) -> tuple[str, ...]:
    """The types that a type expression allows: `(either a b)` allows a and b."""
    return tuple(kind.strip("()").split()[1:]) if kind.startswith("(either ") else (kind,)


@lru_cache(maxsize=1000)
def _alternatives(kind: str) -> frozenset[str]:
    """The types of `either` as a set: many objects are compared with the same one."""
    return frozenset(either(kind))


@dataclass(frozen=True)
class DomainReading:
    """The result of reading a domain file: the readable part as a domain, and the defects of the text.

    `source` is the expression `(define …)`, empty without one. The defects of an `unbalanced` text are its parentheses
    alone, because other defects follow from these. `plain` is the text that was read (see `without_foreign`).
    """

    domain: Domain
    defects: tuple[Defect, ...] = ()
    source: tuple[Sexpr, ...] = ()
    unbalanced: bool = False
    plain: str = ""


def parse_domain(text: str) -> Domain:
    """Read one domain file. Raises `PddlSyntaxError` for defects of its structure and for undeclared types.

    `check_domain` checks conditions and effects.
    """
    reading = read_domain(text)
    if len(reading.domain.supertypes) > MAX_TYPES:
        raise PddlSyntaxError([syntax_defect(too_many_types(reading.domain), "", None)])
    defects = [defect for defect in reading.defects if defect.blocking]
    for where, kind, place in undeclared_types(reading.domain):
        defects.append(replace(syntax_defect(f"type {kind} is not declared", "", place), where=where))
    defects += wrong_heads(reading.domain)
    if defects:
        raise PddlSyntaxError(defects)
    return reading.domain


def read_domain(text: str) -> DomainReading:
    """Read a domain file as far as possible. Total: any text gives a reading."""
    plain, foreign = without_foreign(text)
    reading = _read_text(plain)
    parentheses, fixed = unbalanced(plain) if _is_wrong(reading) else ((), "")
    if parentheses and (plain.count("(") != plain.count(")") or not _is_wrong(_read_text(fixed))):
        return replace(reading, defects=(*foreign, *parentheses), unbalanced=True, plain=plain)
    return replace(reading, defects=(*foreign, *reading.defects), plain=plain)


def _is_wrong(reading: DomainReading) -> bool:
    return any(defect.blocking for defect in reading.defects)


def _read_text(text: str) -> DomainReading:
    sexprs = read_sexprs(text)
    reader = _DomainReader([*sexprs.defects, *sexprs.warnings])
    blocks = [
        expression
        for expression in sexprs.expressions
        if isinstance(expression, tuple) and expression and expression[0] == "define"
    ]
    if len(blocks) != 1 or len(sexprs.expressions) != 1:
        places = [
            place for expression, place in placed(sexprs.expressions) if not blocks or expression is not blocks[0]
        ]
        both = any(is_define(block, "problem") for block in blocks) and len(blocks) > 1
        if misspelt := misspelt_define(sexprs.expressions):
            return DomainReading(reader.domain(text), (misspelt,))
        two_files = "the file holds a domain and a problem", "write each into a file of its own"
        one_define = "a domain file is exactly one (define (domain …) …)", "remove the rest"
        no_define = "no (define (domain …) …) was found", "begin the file with it"
        reader.wrong(*(two_files if both else one_define if blocks else no_define), places[0] if places else (1, 1))
    elif is_define(blocks[0], "problem"):
        reader.wrong("the file defines a problem, not a domain", "give the domain file in its place", (1, 1))
    else:
        for part, place in placed(blocks[0], 1):
            reader.section(part, place)
        meanings = _meanings(text)
        reader.predicates = [
            replace(predicate, meaning=meanings.get(predicate.name, "")) for predicate in reader.predicates
        ]
        lines = (line.partition(";")[0].rstrip() for line in text.splitlines())
        text = "\n".join(line for line in lines if line)
    return DomainReading(reader.domain(text), tuple(reader.defects), blocks[0] if len(blocks) == 1 else ())


class _DomainReader:
    """Collects the sections of a domain and their `defects`."""

    def __init__(self, defects: list[Defect]) -> None:
        self.defects = defects
        self.name = "unnamed"
        self.requirements: tuple[str, ...] = ()
        self.types: list[TypedName] = []
        self.constants: list[TypedName] = []
        self.predicates: list[Predicate] = []
        self.functions: list[Function] = []
        self.actions: list[Action] = []
        self.derived: list[Rule] = []
        self.durative: list[DurativeAction] = []
        self.constraints: list[Formula] = []
        self._constant_names = set[str]()  # the constants
        self._plain_functions = set[str]()  # the functions without parameters that are not constants

    def wrong(self, fault: str, advice: str, place: Position | None) -> None:
        self.defects.append(syntax_defect(fault, advice, place))

    def section(self, part: Sexpr, place: Position | None) -> None:
        if not isinstance(part, tuple) or not part:
            self.wrong(f"'{show(part)}' is not a section of a domain", "remove it, or put it into a section", place)
            return
        head, rest = part[0], part[1:]
        if head == "domain":
            self.name = str(rest[0]) if rest else "unnamed"
            if not is_one_word(rest):
                own = ", and (:requirements …) as a section of its own" * (":requirements" in rest)
                self.wrong(f"'{in_short(part)}' is not one name", f"write (domain NAME){own}", place)
        elif head == ":requirements":
            self.requirements = tuple(map(show, rest))
        elif head == ":types":
            self.types += self._typed(part, start=1)
        elif head == ":constants":
            constants = self._typed(part, start=1)
            self.constants += constants
            self._constant_names.update(constant.name for constant in constants)
            self._plain_functions.difference_update(constant.name for constant in constants)
        elif head == ":predicates":
            self.predicates += [self._predicate(predicate, place) for predicate, place in placed(part, 1)]
        elif head == ":functions":
            self._functions(part)
        elif head in FIELDS_OF:
            self._action(part)
        elif head == ":constraints":
            more = self._full(read_constraints(part, self.defects))
            self.constraints += [more] if more != TRUE else []
        elif head == ":derived" and len(rest) != 2:
            self.wrong(f"'{show(part)}' is not a rule", "write (:derived (name ?x - type …) (condition))", place)
        elif head == ":derived" and rest[0][:1] == ("not",):
            fault = f"'{in_short(rest[0])}': the head of a rule cannot be negated"
            self.wrong(fault, "write when it is true, elsewhere it is false", place_of(rest[0]))
        elif head == ":derived":
            predicate = self._predicate(rest[0], place_of(rest[0]))
            self.derived.append(Rule(predicate, self._full(read_condition(rest[1]))))
        elif head in _NOT_CLASSICAL:
            what = f"{_NOT_CLASSICAL[head]} (section {head}) are not supported"
            self.defects.append(not_supported(what, "", place, word=str(head)))
        else:
            self.defects.append(_unknown_section(show(head), len(self.defects), place))

    def _typed(self, part: Sequence[Sexpr], start: int = 0) -> tuple[TypedName, ...]:
        names, defects = read_typed_list(part, start)
        self.defects += defects
        return names

    def _predicate(self, part: Sexpr, place: Position | None) -> Predicate:
        if not isinstance(part, tuple) or not part or not isinstance(part[0], str):
            self.wrong(f"'{show(part)}' is not a predicate", "write (name ?x - type …)", place)
            return Predicate(show(part), ())
        return Predicate(part[0], self._typed(part, start=1), place=place)

    def _functions(self, section: tuple[Sexpr, ...]) -> None:
        """Read the section `(:functions (f ?x - t) … - number)`."""
        waiting: list[Function] = []
        before, parts = len(self.functions), placed(section, 1)
        for part, place in parts:
            if part == "-":
                kind = show(next(parts, ("-", None))[0])
                if kind == "-":
                    advice = "write a type there, or remove the hyphen"
                    self.wrong("the type is missing after the hyphen in :functions", advice, place)
                    kind = "number"
                elif not waiting:
                    self.wrong(f"there is no function before '- {kind}'", "write (name ?x - type …) - number", place)
                self.functions += [replace(function, type=kind) for function in waiting]
                waiting = []
            elif isinstance(part, tuple) and part and isinstance(part[0], str):
                waiting.append(Function(part[0], self._typed(part, start=1), place=place))
            else:
                self.wrong(f"'{show(part)}' is not a function", "write (name ?x - type …) - number", place)
        self.functions += waiting
        bare = (function.name for function in self.functions[before:] if not function.parameters)
        self._plain_functions.update(name for name in bare if name not in self._constant_names)

    def _action(self, part: tuple[Sexpr, ...]) -> None:
        name = show(part[1]) if len(part) > 1 else "unnamed"
        durative = part[0] == ":durative-action"
        faults = list(_field_defects(name, part))
        if faults:
            self.defects += (replace(fault, where=Where("action", name)) for fault in faults)
            return
        numbers = {show(key): 2 * number + 3 for number, key in enumerate(part[2::2])}
        parameters = part[numbers[":parameters"]] if ":parameters" in numbers else ()
        typed = self._typed(parameters if isinstance(parameters, tuple) else (parameters,))
        number = numbers.get(":condition" if durative else ":precondition")
        precondition = self._full(read_at(part, number, read_condition) if number else TRUE)
        effect, place = self._full(read_at(part, numbers[":effect"], read_effect)), place_of(part)
        if durative:
            duration = _duration(read_at(part, numbers[":duration"], read_condition))
            self.durative.append(DurativeAction(name, typed, precondition, effect, duration, place=place))
        else:
            self.actions.append(Action(name, typed, precondition, effect, place=place))

    def _full(self, formula: Formula) -> Formula:
        return with_functions(formula, self._plain_functions)

    def domain(self, text: str) -> Domain:
        return Domain(
            name=self.name,
            requirements=self.requirements,
            supertypes=tuple(self.types),
            constants=tuple(self.constants),
            predicates=tuple(self.predicates),
            functions=tuple(self.functions),
            actions=tuple(self.actions),
            derived=tuple(self.derived),
            durative=tuple(self.durative),
            constraints=self.constraints[0] if len(self.constraints) == 1 else And(tuple(self.constraints)),
            text=text,
        )


DECLARATIONS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":constraints")
"""The sections before actions and rules."""

FIELDS = (":parameters", ":precondition", ":effect")
"""The fields of an action, in the order that most planners demand."""

FIELDS_OF = {":action": FIELDS, ":durative-action": (":parameters", ":duration", ":condition", ":effect")}
"""The fields of each kind of action."""

_NEEDED = {":action": (":effect",), ":durative-action": (":duration", ":effect")}

_OTHER_FIELDS = {
    ":vars": "variables that are not parameters",
    ":observe": "observations",
    ":expansion": "expansions",
    ":method": "methods",
    ":agent": "agents",
}
"""Fields of actions outside classical planning, with the names of their features."""


def _field_defects(name: str, action: tuple[Sexpr, ...]) -> Iterator[Defect]:
    """The defects in the fields of an action, which are pairs of a word and a list."""
    keys = [(show(key), place) for key, place in list(placed(action, 2))[::2]]
    known = FIELDS_OF[str(action[0])]
    seen: set[str] = set()
    for number, (key, place) in enumerate(keys):
        if key in (":duration", ":condition") and key not in known:
            form = f"(:durative-action {name}, or an action without it"
            if all(other != ":duration" for other, _ in keys) and not any(map(_is_timed, action[3::2])):
                form = f":precondition, or (:durative-action {name}"
            yield not_supported(f"{key} is a field of durative actions", f"write {form}", place_of(action))
            return
        if key in _OTHER_FIELDS and key not in known:
            yield not_supported(f"{_OTHER_FIELDS[key]} ({key}) are not supported", "write the action without it", place)
        elif key not in known:
            both = "one list, several conditions or effects as one (and …)" if re.match(r"\((?!:)", key) else "one list"
            meant = nearest(key, [word for word in known if word not in (key for key, _ in keys)])
            advice = f"did you mean {meant}?" if meant else f"write {', '.join(known)}, each with {both}"
            several = [*itertools.takewhile(lambda part: isinstance(part, tuple), action[2 * number + 1 :])]
            if number and len(several) > 1 and action[2 * number] in known[1:]:
                advice, meant = f"write {action[2 * number]} {show(('and', *several))}", None
            yield syntax_defect(f"'{in_short(key)}' is not a field", advice, place, meant=meant or "")
            return  # the rest may no longer consist of pairs
        elif key in seen:
            yield syntax_defect(f"{key} appears twice", "write it once", place)
        elif 2 * number + 3 >= len(action):
            yield syntax_defect(f"nothing follows {key}", f"write {key} (…)", place)
        seen.add(key)
    for needed in _NEEDED[str(action[0])]:
        if all(key != needed for key, _ in keys):
            form = "(= ?duration NUMBER)" if needed == ":duration" else "(…)"
            yield syntax_defect(f"there is no {needed}", f"write {needed} {form}", place_of(action))


def _is_timed(part: Sexpr) -> bool:
    """Whether a part has parts with a time, such as `(at start …)`."""
    return isinstance(part, tuple) and (part[:2] in TIMES.values() or any(map(_is_timed, part)))


def _meanings(text: str) -> dict[str, str]:
    """The comments after predicates, by predicate, from lines that declare one predicate only."""
    section = re.search(r"\(\s*:predicates\b.*?(?=\(\s*:|\Z)", text, re.DOTALL | re.IGNORECASE)
    meanings: dict[str, str] = {}
    for line in (section.group() if section else "").splitlines():
        declared, _, comment = line.partition(";")
        names = re.findall(r"\(\s*([^\s():]+)", declared)
        if len(names) == 1 and comment.strip("; \t"):
            meanings[names[0].lower()] = comment.strip("; \t")
    return meanings


_NOT_CLASSICAL = {
    ":process": "processes",
    ":event": "events",
    ":axiom": "axioms of PDDL 1",
    ":observe": "observations",
    ":method": "methods of hierarchical planning",
    ":task": "tasks of hierarchical planning",
    ":sensing-action": "observations",
}
"""Sections outside classical planning, with the names of their features."""


KEYWORDS = frozenset(
    {*DECLARATIONS, *FIELDS_OF, ":derived", ":length", *itertools.chain(*FIELDS_OF.values()), *_OTHER_FIELDS}
    | _NOT_CLASSICAL.keys()
)
"""The keywords of domains in PDDL and in its extensions."""


_MOST_COMPARED = 50
"""The number of defects of a domain after which unknown sections are not compared with the known ones any more."""


def _unknown_section(name: str, before: int, place: Position | None) -> Defect:
    """The defect of a section; after many defects `before` it, without the section that may be meant."""
    if name == "define":
        fault, advice = "the domain contains a second (define …)", "close the parenthesis before it"
        return syntax_defect(fault, advice, place, name)
    fault = f"section {name[:60]} is not supported in a domain"
    known = ["domain", *DECLARATIONS, *FIELDS_OF, ":derived"]
    meant = spelt(name, known) if before < _MOST_COMPARED else ""
    sections = ":requirements, :types, :constants, :predicates, :functions, :action and :derived"
    advice = f"did you mean {meant}?" if meant else f"its sections are {sections}"
    return syntax_defect(fault, advice, place, name, meant)


def heads_of(domain: Domain) -> Iterator[tuple[Where, tuple[TypedName, ...]]]:
    """The kind and name of each declaration with parameters, and its parameters."""
    yield from ((Where("predicate", predicate.name), predicate.parameters) for predicate in domain.predicates)
    yield from ((Where("function", function.name), function.parameters) for function in domain.functions)
    yield from ((Where("action", action.name), action.parameters) for action in (*domain.actions, *domain.durative))
    yield from ((Where("derived predicate", rule.predicate.name), rule.predicate.parameters) for rule in domain.derived)


def undeclared_types(domain: Domain) -> Iterator[tuple[Where, str, Position | None]]:
    """The uses of undeclared types: declaration, type and position. The translator would treat such a type as empty."""
    for where, names in ((Where(":constants"), domain.constants), *heads_of(domain)):
        for name in names:
            for kind in either(name.type):
                if kind not in domain.types:
                    yield where, kind, name.place


def wrong_heads(domain: Domain) -> Iterator[Defect]:
    """Derived predicates without a matching declaration, which crash the translator."""
    for rule in domain.derived:
        head = rule.predicate
        declared = domain.predicates_by_name.get(head.name)
        if declared is None:
            kind, fault = DefectKind.UNDECLARED_PREDICATE, f"{head.name} is not among the predicates"
        elif len(declared.parameters) != len(head.parameters):
            kind, fault = DefectKind.ARITY, f"{head.name} is declared with {len(declared.parameters)} argument(s)"
        else:
            continue
        where, advice = Where("derived predicate", head.name), "add it to (:predicates …) as it is defined"
        yield Defect(kind, head.name, fault, advice, head.place, where=where)


def reachable(start: Iterable[str], edges: Mapping[str, set[str]]) -> set[str]:
    """The nodes of a graph that can be reached from the `start` nodes, including these."""
    seen: set[str] = set()
    waiting = [*start]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += edges.get(node, ())
    return seen


def circles_of(edges: Mapping[str, Collection[str]]) -> dict[str, frozenset[str]]:
    """Every node of a graph that can be reached from itself, with all nodes of its strongly connected component."""
    backward: dict[str, list[str]] = defaultdict(list)
    for node, others in edges.items():
        for other in others:
            backward[other].append(node)
    circles: dict[str, frozenset[str]] = {}
    seen: set[str] = set()
    for root in reversed(_finished(edges)):  # the algorithm of Kosaraju and Sharir
        component, waiting = set(), [root]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                component.add(node)
                waiting += backward[node]
        if len(component) > 1 or (component and root in edges.get(root, ())):
            circles |= dict.fromkeys(component, frozenset(component))
    return {node: circles[node] for node in edges if node in circles}


def _finished(edges: Mapping[str, Collection[str]]) -> list[str]:
    """The nodes of a graph in the order in which a depth-first search leaves them."""
    order: list[str] = []
    seen: set[str] = set()
    waiting = [(node, False) for node in edges]
    while waiting:
        node, is_done = waiting.pop()
        if is_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting += [(other, False) for other in edges.get(node, ())]
    return order


def outline(domain: Domain, without: Collection[str] = ()) -> str:
    """The domain in a few lines: one for its types, one for its constants, one for each predicate.

    Derived predicates and the predicates in `without` are left out, because problems do not state them.
    """
    hidden = {*domain.rules, *without}
    lines = [f"Domain: {domain.name}"]
    lines += [f"Types: {_by_type(domain.supertypes)}"] if domain.supertypes else []
    lines += [f"Constants: {_by_type(domain.constants)}"] if domain.constants else []
    lines.append("Predicates:")
    shown = [predicate for predicate in domain.predicates if predicate.name not in hidden]
    return "\n".join([*lines, *(f"{_signature(predicate)} {predicate.meaning}".rstrip() for predicate in shown)])


def _signature(head: Predicate | Function) -> str:
    parameters = typed_text(head.parameters)
    return f"({head.name} {parameters})" if parameters else f"({head.name})"


def _by_type(names: Iterable[TypedName]) -> str:
    """`a b - type; c - other`, in the order of the types."""
    by_type: dict[str, list[str]] = {}
    for name in names:
        by_type.setdefault(name.type, []).append(name.name)
    return "; ".join(" ".join(group) + ("" if kind == ANY_TYPE else f" - {kind}") for kind, group in by_type.items())
