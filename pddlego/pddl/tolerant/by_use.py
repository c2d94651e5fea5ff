"""Declares undeclared names from their uses: types, constants, predicates, functions, parameters and objects."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pddlego.pddl.conditions import (
    ANY_TYPE,
    And,
    Atom,
    AtTime,
    Change,
    Compare,
    Equal,
    Formula,
    Or,
    Scope,
    TypedName,
    When,
    atoms_of,
    changed_atoms,
    read_atom,
    read_condition,
    read_effect,
    read_typed_list,
    scope_of,
    walk,
)
from pddlego.pddl.domain import MAX_TYPES, Action, Domain
from pddlego.pddl.lint import CONSTRAINED, NUMERIC, READ_REQUIREMENTS, TIMED
from pddlego.pddl.names import is_name
from pddlego.pddl.numbers import TOTAL_COST, numeric_part, read_fluents
from pddlego.pddl.problem import Problem
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant.layout import Section, same_or
from pddlego.pddl.tolerant.lexical import Note
from pddlego.pddl.tolerant.parts import Parts, Slot
from pddlego.pddl.tolerant.structure import changed_list, renamed, typed_words
from pddlego.util.text import nearest

_Use = tuple[Atom, Scope]
"""An atom with the types of the variables that are bound around it."""

_ArgumentTypes = Mapping[str, tuple[str, ...]]
"""The types of the arguments of each predicate or function."""

_Ancestors = Mapping[str, frozenset[str]]
"""Each type with its ancestors and itself."""


def declare(parts: Parts, note: Note, numbers: bool = False) -> tuple[str, ...]:
    """Declare undeclared names if their uses allow one declaration only, functions if the caller can handle `numbers`.

    Returns the new objects.
    """
    declarer = _Declarer(parts, note)
    is_numeric = numbers and (declarer.is_numeric() or declarer.is_timed())
    readable = READ_REQUIREMENTS | NUMERIC | TIMED if is_numeric else READ_REQUIREMENTS
    declarer.requirements(readable | CONSTRAINED if numbers else readable)
    if not parts.in_domain:
        return ()
    declarer.types()
    declarer.constants()
    declarer.spelling()
    declarer.glued()
    declarer.predicates()
    if numbers:
        declarer.functions()
    declarer.argument_types()
    declarer.variables()
    objects = declarer.objects()
    if parts.problem_domain is None and parts.in_problem:
        note(f"the problem is of the domain {parts.name}")
        parts.problem_domain = parts.name
    return objects


def declared_by_use(domain: Domain, problem: Problem) -> tuple[TypedName, ...]:
    """The undeclared objects of a problem whose facts allow one type only.

    A type with subtypes is not the only one. A name that may be a misspelt name of another object is left out.
    """
    known = {obj.name for obj in (*domain.constants, *problem.objects)}
    parameters = {name: tuple(p.type for p in one.parameters) for name, one in domain.predicates_by_name.items()}
    types = _used_objects(problem.sorted_facts(), known, parameters)
    is_slip = _slips(known.union(types))
    wide = {above for kind, types_above in domain.types.items() for above in types_above - {kind}}
    return tuple(
        TypedName(name, kind) for name, kind in sorted(types.items()) if kind not in wide and not is_slip(name)
    )


def without_surplus(domain: Domain, atom: Atom) -> tuple[Atom, str]:
    """The atom without surplus arguments, and a note; unchanged with an empty note if they are not certain.

    Models write `(closed-door kitchen hall north)` where the predicate takes two rooms. Surplus are constants of the
    domain whose type the predicate does not take at all, if without them the number of arguments is right.
    """
    predicate = domain.predicates_by_name.get(atom.predicate)
    taken = [parameter.type for parameter in predicate.parameters] if predicate else []
    constants = {constant.name: constant.type for constant in domain.constants}
    surplus = {
        arg for arg in atom.args if arg in constants and not any(domain.is_a(constants[arg], kind) for kind in taken)
    }
    args = tuple(arg for arg in atom.args if arg not in surplus)
    if not surplus or not args or len(args) != len(taken):
        return atom, ""
    return replace(atom, args=args), f"{atom.predicate} does not take {' and '.join(sorted(surplus))}"


_MOST_NEW = 50
"""The maximum number of new predicates of `:init` that are compared with declared ones as possible misspellings."""


class _Declarer:
    """Declares the undeclared names of one pair of files by their uses."""

    def __init__(self, parts: Parts, note: Note) -> None:
        self.parts, self.note = parts, note
        self._read()

    def _read(self) -> None:
        """Read the actions and every atom of them, of the facts and of the goals from their sections."""
        self.actions = list(map(_action_of, self.parts.actions))
        self.uses = [use for action in self.actions for use in _uses_in(action)]
        facts = (read_atom(fact) for fact in self.parts.init or () if isinstance(fact, tuple))
        self.facts = [fact for fact in facts if fact is not None]
        self.wanted = [atom for goal in self.parts.goal for atom in atoms_of(read_condition(goal))]

    def types(self) -> None:
        parts = self.parts
        used = [constant.type for constant in parts.objects_and_constants]
        for predicate in parts.declared_predicates:
            used += [parameter.type for parameter in read_typed_list(predicate[1:])[0]]
        for action in self.actions:
            used += [parameter.type for parameter in action.parameters]
        known = {type_name.name for type_name in parts.types} | {type_name.type for type_name in parts.types}
        is_slip = _slips(known)
        for name in sorted(set(used) - known - {ANY_TYPE}):
            if is_name(name) and not is_slip(name):
                self.note(f"{name} is a type", "type")
                parts.types.append(TypedName(name))

    def constants(self) -> None:
        """Make constants of objects that actions name, and of undeclared names that actions compare with variables."""
        parts = self.parts
        pairs = {use for action in self.actions for use in _compared(action)}
        times = Counter(name for name, _ in pairs)
        # A name that is compared with variables of several types has no type that could be inferred.
        compared = {name: kind for name, kind in sorted(pairs) if times[name] == 1}
        named = {arg for atom, _ in self.uses for arg in atom.args}
        moved = [obj for obj in parts.objects or () if obj.name in named or obj.name in compared]
        for obj in moved:
            self.note(f"{obj.name} is a constant: an action names it")
        parts.constants += moved
        if moved and parts.objects is not None:
            gone = set(moved)
            parts.objects = [obj for obj in parts.objects if obj not in gone]
        known = {constant.name for constant in parts.constants}
        for name, kind in compared.items():
            if name not in known:
                self.note(f"{name} is a constant, a {kind}: an action compares with it")
                parts.constants.append(TypedName(name, kind))

    def spelling(self) -> None:
        """Rename undeclared predicates such as `at` to a declared `is-at`, or the other way round, if only that
        fits."""
        parts = self.parts
        declared = self._declared()
        meant: dict[str, str] = {}
        for atom in (*(atom for atom, _ in self.uses), *self.facts, *self.wanted):
            name = atom.predicate
            bare = name.removeprefix("is-").removeprefix("is_")
            close = [
                spelling for spelling in (f"is-{bare}", f"is_{bare}", bare) if spelling in declared and spelling != name
            ]
            if name not in declared and len(close) == 1 and len(declared[close[0]]) == len(atom.args):
                meant[name] = close[0]
        for name, right in meant.items():
            self.note(f"{name} is the predicate {right}")
        if meant:
            parts.actions = [renamed(action, meant) for action in parts.actions]
            parts.init = None if parts.init is None else renamed(parts.init, meant)
            parts.goals = [renamed(goal, meant) for goal in parts.goals]
            self._read()

    def predicates(self) -> None:
        parts = self.parts
        known = {show(head[0]) for head in (*parts.declared_predicates, *parts.derived_heads)}
        kinds = {constant.name: constant.type for constant in parts.objects_and_constants}
        can_be_true = {fact.predicate for fact in self.facts}
        can_be_true |= {atom.predicate for action in self.actions for atom, _ in changed_atoms(action.effect)}
        is_required = {atom.predicate for action in self.actions for atom in _conditions(action)}
        is_required |= {atom.predicate for atom in self.wanted}
        is_slip = _slips(known, ends=True)
        used = _used_predicates(self.uses, known, kinds.get)
        for name, types in used.items():
            # Nothing makes it true, or nothing needs it, or it is similar: it may be a wrong name of another predicate.
            if name in can_be_true and name in is_required and not is_slip(name):
                self._add_predicate(name, types)
        # A predicate of :init and the goal alone.
        rest = known.union(show(predicate[0]) for predicate in parts.declared_predicates)
        facts: list[_Use] = [(fact, {}) for fact in self.facts]
        new = _used_predicates(facts, rest, lambda word: kinds.get(word, ANY_TYPE))
        for name, types in new.items():
            if name in is_required and (len(new) > _MOST_NEW or (nearest(name, rest) is None and not is_slip(name))):
                self._add_predicate(name, types)

    def _add_predicate(self, name: str, types: tuple[str, ...]) -> None:
        self.note(f"{name} is a predicate", "predicate")
        arguments = (TypedName(f"?x{number}", kind) for number, kind in enumerate(types, start=1))
        self.parts.predicates.append((name, *typed_words(arguments)))

    def is_numeric(self) -> bool:
        """Whether the actions, the goal or the metric need numbers other than action costs."""
        formulas = [formula for action in self.actions for formula in (action.precondition, action.effect)]
        metrics = [slot.section[1:] for slot in self.parts.in_problem if slot.kind == ":metric"]
        goals = map(read_condition, self.parts.goal)
        return numeric_part((*formulas, *goals)) is not None or metrics not in ([], [("minimize", ("total-cost",))])

    def is_timed(self) -> bool:
        """Whether the domain has durative actions, or `:init` timed literals."""
        later = (fact for fact in self.parts.init or () if isinstance(fact, tuple) and len(fact) == 3)
        return any(slot.kind == ":durative-action" for slot in self.parts.in_domain) or any(
            at == "at" and isinstance(time, str) and time[:1].isdigit() for at, time, _ in later
        )

    def functions(self) -> None:
        """Declare functions that actions use, and that :init or an action gives a value."""
        parts, uses, given = self.parts, list[_Use](), set[str]()
        for action in self.actions:
            uses += _numbers_in(action)
            given |= {node.fluent.head for node, _ in _parts_of(action) if isinstance(node, Change)}
        values = [read_condition(fact) for fact in parts.init or () if isinstance(fact, tuple)]
        given |= {value.left.head for value in values if isinstance(value, Compare)}
        known = {show(head[0]) for head in parts.functions if isinstance(head, tuple) and head} | {TOTAL_COST.head}
        kinds = {constant.name: constant.type for constant in parts.objects_and_constants}
        is_slip = _slips(known, ends=True)
        for name, types in _used_predicates(uses, known, kinds.get).items():
            if name in given and not is_slip(name):
                self.note(f"{name} is a function")
                arguments = (TypedName(f"?x{number}", kind) for number, kind in enumerate(types, start=1))
                parts.functions = (*parts.functions, (name, *typed_words(arguments)))

    def argument_types(self) -> None:
        """Correct the declared types of arguments that disagree with every action, unless a fact agrees with them.

        For example, `(closed ?loc ?dir - direction)` declares two directions, but every action passes a location first.
        """
        parts = self.parts
        ancestors = self._types()
        if not ancestors:
            return
        demanded = _demanded(self.uses)
        kinds = {constant.name: constant.type for constant in parts.objects_and_constants}
        stated = {(fact.predicate, place, kinds.get(arg)) for fact in self.facts for place, arg in enumerate(fact.args)}

        def is_at_odds(name: str, place: int, kind: str) -> bool:
            other = demanded.get((name, place), kind)
            if {ancestors.get(kind), ancestors.get(other)} != {
                frozenset({kind, ANY_TYPE}),
                frozenset({other, ANY_TYPE}),
            }:
                return False  # only types without parents
            shared = any({kind, other} <= above for above in ancestors.values())
            return kind != other and not shared and (name, place, kind) not in stated

        for number, predicate in enumerate(parts.predicates):
            if not isinstance(predicate, tuple) or not predicate:
                continue
            name, arguments = show(predicate[0]), read_typed_list(predicate[1:])[0]
            right = [
                replace(argument, type=demanded[name, place]) if is_at_odds(name, place, argument.type) else argument
                for place, argument in enumerate(arguments)
            ]
            if tuple(right) != arguments:
                self.note(f"{name} takes {', '.join(argument.type for argument in right)}, as every action says")
                parts.predicates[number] = (name, *typed_words(right))

    def _types(self) -> _Ancestors:
        """Each type with its ancestors and itself; empty with too many types."""
        return Domain("", supertypes=tuple(self.parts.types)).types if len(self.parts.types) <= MAX_TYPES else {}

    def glued(self) -> None:
        """Split names such as `?x-room` in the lists of variables of actions."""
        types = {name for kind in self.parts.types for name in (kind.name, kind.type)} | {ANY_TYPE}
        sections = list(self.parts.actions)
        for number, action in enumerate(self.actions):
            names = _glued_names(sections[number], {name.name for name in action.parameters}, types)
            section = _unglued(sections[number], names)
            if isinstance(section, tuple) and section != sections[number]:
                self.note(f"blanks were missing around '-' in {', '.join(names)}")
                sections[number] = section
        if sections != self.parts.actions:
            self.parts.actions = sections
            self._read()

    def variables(self) -> None:
        """Make parameters of undeclared variables of an action, with the narrowest type that the action demands.

        Variables that occur only in effects or in negated conditions are ambiguous, and stay. So does one that may be a
        wrong name of a parameter.
        """
        functions = self._declared(part for part in self.parts.functions if isinstance(part, tuple) and part)
        parameters, types = {**self._parameters(), **functions}, self._types()
        sections = self.parts.actions
        for number, action in enumerate(self.actions):
            is_slip = _slips(parameter.name for parameter in action.parameters)
            # A parameter such as `?x-rom` may be a variable and its misspelt type.
            starts = {re.split(r"(?<=.)[-_:]", parameter.name)[0] for parameter in action.parameters}
            missing = [
                name
                for name in _free_variables(action, parameters, types)
                if not is_slip(name.name) and name.name not in starts and not self._may_be(name, action)
            ]
            if missing:
                self.note(
                    f"{action.name} has the parameters {', '.join(map(str, missing))}, too: its precondition names them"
                )
                sections[number] = _with_parameters(sections[number], (*action.parameters, *missing))
        if sections != self.parts.actions:
            self.parts.actions = sections
            self._read()

    def _may_be(self, variable: TypedName, action: Action) -> bool:
        """Whether a variable may be a wrong name of a parameter that the precondition does not use."""
        used = {name for atom in atoms_of(action.precondition) for name in atom.args}
        unused = [parameter.type for parameter in action.parameters if parameter.name not in used]
        return bool(unused) and (variable.type == ANY_TYPE or variable.type in unused)

    def objects(self) -> tuple[str, ...]:
        parts, parameters, facts = self.parts, self._parameters(), self.facts
        wanted = self.wanted
        if parts.types:
            self._type_by_use([*facts, *wanted])
        known = [constant.name for constant in parts.objects_and_constants]
        uses = Counter(arg for fact in facts for arg in fact.args)
        types = _used_objects([*facts, *wanted], known, parameters)
        # A name that only the goal has, or that is similar to a declared one, may be misspelt; one of several facts
        # may differ in its digits.
        once, often = _slips(known, ends=True, digits=True), _slips(known)
        glued = self._glued(known, types)
        new = [
            TypedName(name, kind)
            for name, kind in types.items()
            if name in uses and name not in glued and not (often if uses[name] > 1 else once)(name)
        ]
        for obj in new:
            self.note(f"{obj.name} is a {obj.type}")
        if new:
            parts.objects = [*(parts.objects or ()), *new]
        return tuple(obj.name for obj in new)

    def _glued(self, known: Iterable[str], used: Collection[str]) -> set[str]:
        """The names that may be glued in a declared name: `k2-box` may be `k2 - box`, `k1-k2` the objects k1 and k2."""
        kinds = {type_name.name for type_name in self.parts.types}
        glued: set[str] = set()
        for name in known:
            first, hyphen, last = name.rpartition("-")
            words = name.split("-")
            if hyphen and last in kinds:
                glued.add(first)
            elif hyphen and all(word in used for word in words):
                glued.update(words)
        return glued

    def _parameters(self) -> _ArgumentTypes:
        """The types of predicates' arguments: as declared, else as the parameters of actions demand."""
        demanded = _demanded(self.uses)
        return {
            name: tuple(
                demanded.get((name, place), kind) if kind == ANY_TYPE else kind for place, kind in enumerate(kinds)
            )
            for name, kinds in self._declared().items()
        }

    def _declared(self, heads: Iterable[Section] | None = None) -> _ArgumentTypes:
        """The types of the arguments of each predicate, or of each of some other heads, as declared."""
        return {
            show(head[0]): tuple(one.type for one in read_typed_list(head[1:])[0])
            for head in (self.parts.declared_predicates if heads is None else heads)
        }

    def _type_by_use(self, facts: list[Atom]) -> None:
        """Give objects of the type `object` the other type that predicates demand of them."""
        parts = self.parts
        typed = {constant.name for constant in parts.objects_and_constants if constant.type != ANY_TYPE}
        types = _used_objects(facts, typed, self._declared())

        def retyped(names: list[TypedName]) -> list[TypedName]:
            return [replace(obj, type=types.get(obj.name, obj.type)) for obj in names]

        for name in parts.objects_and_constants:
            if name.name in types and types[name.name] != name.type:
                self.note(f"{name.name} is a {types[name.name]}")
        parts.constants = retyped(parts.constants)
        parts.objects = None if parts.objects is None else retyped(parts.objects)

    def requirements(self, read: Collection[str]) -> None:
        """Remove requirements other than those that planners `read`. Nothing depends on them."""
        parts = self.parts
        stated = [
            *parts.requirements,
            *(word for slot in parts.in_problem if slot.kind == ":requirements" for word in slot.section[1:]),
        ]
        unknown = [show(word) for word in stated if show(word) not in read]
        if not unknown:
            return
        self.note(f"requirements {' '.join(unknown)} are of no use here", "requirement")
        parts.requirements = [name for name in parts.requirements if name in read]
        parts.in_problem = [_without_unknown(slot, read) for slot in parts.in_problem]


def _without_unknown(slot: Slot, read: Collection[str]) -> Slot:
    if slot.kind != ":requirements":
        return slot
    return Slot(
        slot.kind,
        same_or(slot.section, tuple(word for word in slot.section if word == slot.kind or show(word) in read)),
    )


# inference from uses


def _action_of(section: Section) -> Action:
    """The action of a section, as far as it can be read."""
    pairs = zip(section[2::2], section[3::2], strict=False)
    fields: dict[str, Sexpr] = {str(key): value for key, value in pairs if str(key).startswith(":")}
    parameters = fields.get(":parameters", ())
    return Action(
        show(section[1]) if len(section) > 1 else "unnamed",
        read_typed_list(parameters if isinstance(parameters, tuple) else ())[0],
        read_condition(fields.get(":precondition", fields.get(":condition", ()))),
        read_effect(fields.get(":effect", ())),
    )


def _with_parameters(section: Section, parameters: Sequence[TypedName]) -> Section:
    """The section of an action with other parameters."""
    if ":parameters" not in section:
        return (*section[:2], ":parameters", changed_list((), parameters), *section[2:])
    place = section.index(":parameters") + 1
    words = section[place] if isinstance(section[place], tuple) else ()
    return same_or(section, (*section[:place], changed_list(tuple(words), parameters), *section[place + 1 :]))


def _uses_in(action: Action) -> Iterator[_Use]:
    """Every atom of an action."""
    return ((node, bound) for node, bound in _parts_of(action) if isinstance(node, Atom))


def _parts_of(action: Action) -> Iterator[tuple[Formula, Scope]]:
    """Every part of the precondition and the effect of an action, with the variables that are bound there."""
    for formula in (action.precondition, action.effect):
        yield from walk(formula, scope_of(action.parameters))


def _numbers_in(action: Action) -> Iterator[_Use]:
    """Every function that an action reads or changes, as an atom."""
    for node, bound in _parts_of(action):
        for fluent in (*read_fluents(node), *((node.fluent,) if isinstance(node, Change) else ())):
            yield Atom(fluent.head, tuple(part.head for part in fluent.parts or ())), bound


def _conditions(action: Action) -> Iterator[Atom]:
    """Every atom of the precondition of an action, and of the conditions in its effect."""
    conditions = (node.condition for node, _ in walk(action.effect) if isinstance(node, When))
    yield from (atom for condition in (action.precondition, *conditions) for atom in atoms_of(condition))


def _unglued(part: Sexpr, split: Mapping[str, Section]) -> Sexpr:
    """A section with glued names in its lists of variables split, as in `?x - room` for `?x-room`."""
    if not isinstance(part, tuple):
        return part

    def is_typed_list(number: int) -> bool:
        return part[number - 1] == ":parameters" or (number == 1 and part[0] in ("forall", "exists"))

    def read(number: int, child: Sexpr) -> Sexpr:
        if not (number and is_typed_list(number) and isinstance(child, tuple)):
            return _unglued(child, split)
        return same_or(child, tuple(word for name in child for word in split.get(show(name), (name,))))

    return same_or(part, tuple(read(number, child) for number, child in enumerate(part)))


def _glued_names(action: Section, declared: Collection[str], types: Collection[str]) -> dict[str, Section]:
    """The names such as `?x-room` in an action whose part behind a hyphen is a type, if other parts use `?x`."""
    words = Counter(re.findall(r"[^\s()]+", show(action)))
    glued: dict[str, Section] = {}
    for word in words:
        pieces = word.split("-") if word.startswith("?") and words[word] == 1 and len(word) <= _COMPARED else ()
        ways = [("-".join(pieces[:at]), "-", "-".join(pieces[at:])) for at in range(1, len(pieces))]
        fits = [way for way in ways if way[2] in types and words[way[0]] and way[0] not in declared]
        if len(fits) == 1:
            glued[word] = fits[0]
    return glued


def _free_variables(action: Action, parameters: _ArgumentTypes, ancestors: _Ancestors) -> tuple[TypedName, ...]:
    """The undeclared variables of a precondition, each with the type that is a subtype of all that its uses demand."""
    bound = {parameter.name for parameter in action.parameters}
    types: dict[str, set[str]] = defaultdict(set)
    for atom, scope in (*_uses_in(action), *_numbers_in(action)):
        kinds = parameters.get(atom.predicate, ())
        for place, arg in enumerate(atom.args):
            if arg.startswith("?") and arg not in bound and arg not in scope:
                types[arg].add(kinds[place] if len(kinds) == len(atom.args) else "")
    names = dict.fromkeys(arg for atom in _plain_atoms(action.precondition) for arg in atom.args)
    pairs = ((name, kind) for name in names for kind in types[name] if "" not in types[name])
    return tuple(TypedName(*pair) for pair in pairs if types[pair[0]] <= ancestors.get(pair[1], {pair[1], ANY_TYPE}))


def _plain_atoms(condition: Formula) -> Iterator[Atom]:
    """The atoms of a condition that are neither negated nor quantified."""
    if isinstance(condition, Atom):
        yield condition
    elif isinstance(condition, AtTime):
        yield from _plain_atoms(condition.part)
    elif isinstance(condition, And | Or):
        for part in condition.parts:
            yield from _plain_atoms(part)


def _compared(action: Action) -> Iterator[tuple[str, str]]:
    """The names that an action compares with its parameters, each with the type of the parameter."""
    kinds = scope_of(action.parameters)
    for formula in (action.precondition, action.effect):
        for node, _ in walk(formula):
            if isinstance(node, Equal):
                for variable, name in ((node.left, node.right), (node.right, node.left)):
                    if variable in kinds and is_name(name):
                        yield name, kinds[variable]


def _demanded(uses: Iterable[_Use]) -> dict[tuple[str, int], str]:
    """The type of each argument of a predicate, by its index, where all variables that are used there have one type."""
    types: dict[tuple[str, int], set[str]] = defaultdict(set)
    for atom, bound in uses:
        for place, arg in enumerate(atom.args):
            if arg in bound:
                types[atom.predicate, place].add(bound[arg])
    return {key: kinds.pop() for key, kinds in types.items() if len(kinds) == 1 and ANY_TYPE not in kinds}


def _used_predicates(
    uses: Iterable[_Use], declared: Collection[str], type_of: Callable[[str], str | None]
) -> dict[str, tuple[str, ...]]:
    """Undeclared predicates with the types of their arguments, where all uses agree."""
    signatures: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for atom, bound in uses:
        if atom.predicate not in declared and is_name(atom.predicate):
            kinds = tuple(bound.get(arg) or type_of(arg) or "" for arg in atom.args)
            signatures[atom.predicate].add(kinds)
    agreed = {name: _agreed(several) for name, several in signatures.items()}
    return {name: kinds for name, kinds in agreed.items() if kinds is not None}


def _agreed(signatures: set[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The only list of types that fits all uses; None without one. An empty type in a use fits any type."""
    if len({len(row) for row in signatures}) != 1:
        return None
    row = []
    for column in zip(*signatures, strict=True):
        types = {kind for kind in column if kind}
        if len(types) != 1:
            return None
        row.append(types.pop())
    return tuple(row)


def _used_objects(
    atoms: Iterable[Atom], known: Iterable[str], parameters: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Undeclared objects with the type inferred from their use: all predicates must agree on one."""
    there = set(known)
    types: dict[str, set[str]] = defaultdict(set)
    for atom in atoms:
        kinds = parameters.get(atom.predicate)
        for place, arg in enumerate(atom.args):
            if arg not in there and is_name(arg) and not arg.startswith("?"):
                types[arg].add(kinds[place] if kinds is not None and len(kinds) == len(atom.args) else "")
    specific = {name: kinds - {ANY_TYPE} or kinds for name, kinds in types.items()}  # `object` carries no information
    return {name: kinds.pop() for name, kinds in specific.items() if len(kinds) == 1 and "" not in kinds}


_COMPARED = 40
"""The maximum length of a name that is compared with others; longer names are not misspelt by accident."""


def _slips(known: Iterable[str], ends: bool = False, digits: bool = False) -> Callable[[str], bool]:
    """A test whether a name may be a known name with one character too many, too few, or wrong, or with two swapped.

    The last character of a name, or its digits, may tell it from others, as in `room-a` and `room-b`: these are
    compared if `ends` and `digits`.
    """
    names = {name for name in known if len(name) <= _COMPARED}
    shortened = {short for name in names for short in _shortened(name, digits)}
    gaps = {gap for name in names for gap in _gaps(name, ends, digits)}

    def is_slip(name: str) -> bool:
        if len(name) > _COMPARED:
            return False
        swapped = (name[:at] + name[at + 1] + name[at] + name[at + 2 :] for at in range(len(name) - 1))
        if name in shortened or any(other in names for other in (*_shortened(name, digits), *swapped) if other != name):
            return True
        return name not in names and not gaps.isdisjoint(_gaps(name, ends, digits))

    return is_slip


def _gaps(name: str, ends: bool, digits: bool) -> Iterator[tuple[str, str]]:
    """The parts of a name around each of its characters, except digits unless wanted; none of a short name."""
    for at in range(len(name) - (not ends)) if len(name) > (1 if digits else 3) else ():
        if digits or not name[at].isdigit():
            yield name[:at], name[at + 1 :]


def _shortened(name: str, digits: bool) -> Iterator[str]:
    """The name without each of its characters, except digits, which number objects (but not variables)."""
    counts = not (digits or name.startswith("?"))
    return (name[:at] + name[at + 1 :] for at in range(len(name)) if not (counts and name[at].isdigit()))
