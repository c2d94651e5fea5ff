"""Relaxed reachability: what can be true if no fact ever becomes false, and no number leaves its interval again.

A condition that may not hold here holds in no reachable state. The converse is not true.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import (
    ANY_TYPE,
    ARITHMETIC,
    And,
    Change,
    Compare,
    Equal,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Renaming,
    Term,
    changed_atoms,
    conjuncts,
    number,
    scope_of,
    walk,
)
from pddlego.pddl.domain import Action
from pddlego.pddl.implied import breaks_order
from pddlego.pddl.numbers import DURATION, read_fluents
from pddlego.planning.checked import MOST_TOGETHER, Explorer, schema_name
from pddlego.planning.numbers import shown
from pddlego.planning.result import PlanStep
from pddlego.planning.why.intervals import (
    ANY_NUMBER,
    Interval,
    bounds_text,
    changed_interval,
    combined_interval,
    is_infinite,
)
from pddlego.planning.world import ground_term
from pddlego.util.limits import Work

Binding = Mapping[str, str]

_EXACT_ROUNDS = 3
"""Rounds after which a bound of a number that still moves counts as infinite."""

_MOST_CASES = 2_000
"""The maximum number of calls of an action that are looked at for a sentence."""

_MOST_MAKERS = 3
"""The maximum number of actions with one effect that sentences name."""


_MOST_CHAIN = 40
"""The maximum number of sentences through which missing facts are looked for."""


class Relaxation(Explorer):
    """All facts and steps that are possible if nothing is deleted, and the intervals of the numbers.

    `numbers` are the values at the beginning, if not those of the problem. Raises `TooManyCasesError` if that takes
    more than `work`.
    """

    def __init__(
        self, domain: Domain, problem: Problem, work: Work, numbers: Mapping[Term, Fraction] | None = None
    ) -> None:
        super().__init__(domain, problem, work)
        self.steps: dict[PlanStep, tuple[frozenset[Atom], frozenset[Atom]]] = {}
        """The possible steps, each with the facts that it may add and delete."""
        self._blocked: list[tuple[Action, PlanStep, Binding]] = []
        self._deletes = {atom for later in problem.later for atom, new in changed_atoms(later.part) if not new}
        self._then = "" if numbers is None else " from then on"
        self._last: dict[Atom | Term, tuple[str, bool | Fraction]] = {}
        """The values at the end that timed literals give to what no possible step changes as well, with their times."""
        self._is_end, self._most_lacking = False, 1
        self._unmade: list[Atom] = []
        start = self._initial.numbers if numbers is None else numbers
        self._bounds: dict[Term, Interval] = {term: (value, value) for term, value in start.items()}
        for part in [later.part for later in problem.later if isinstance(later.part, Compare)]:
            value = Fraction(part.right.head)
            low, high = self._bounds.get(part.left, (value, value))
            self._bounds[part.left] = min(low, value), max(high, value)
        self._unbounded = set[str]()
        self._others = {
            action.name: [part for part in conjuncts(action.precondition) if part not in self.required[action.name]]
            for action in self.world.domain.actions
        }
        for round_number in itertools.count():
            before = len(self._known), len(self._deletes), len(self.steps), dict(self._bounds)
            self.explore()
            blocked, self._blocked = self._blocked, []
            for retried in blocked:
                self._execute(*retried)
            for step in self.steps if self.world.changing else ():
                self._change_numbers(step, round_number >= _EXACT_ROUNDS)
            if before == (len(self._known), len(self._deletes), len(self.steps), self._bounds):
                break
        adds, deletes = ({atom for effects in self.steps.values() for atom in effects[index]} for index in (0, 1))
        for literal in sorted(problem.later, key=lambda literal: (literal.time, not isinstance(literal.part, Not))):
            new, when = literal.part, f"{literal.time:f}"
            if isinstance(new, Compare) and new.left.head not in domain.changed_functions:
                self._last[new.left] = when, Fraction(new.right.head)
            self._last |= {atom: (when, is_true) for atom, is_true in changed_atoms(new)}
        for key in [key for key, (_, last) in self._last.items() if key in (deletes if last else adds)]:
            del self._last[key]

    def may_end_with(self, goal: Formula) -> bool:
        """Whether a condition may be true when all timed literals are over."""
        self._is_end = True
        try:
            return self.may_hold(goal, {})
        finally:
            self._is_end = False

    def _execute(self, action: Action, step: PlanStep, values: Binding) -> bool:
        if not all(self.may_hold(part, values) for part in self._others[action.name]):
            self._blocked.append((action, step, values))
            return False
        if not super()._execute(action, step, values):
            return False
        adds, deletes = self.world.effects(self._effects[action.name], self.state, values)
        self.steps[step] = frozenset(adds), frozenset(deletes)
        self._deletes |= deletes
        return True

    def may_hold(self, condition: Formula, binding: Binding, wanted: bool = True) -> bool:
        """Whether a condition may be true, or with `wanted=False` false, in some reachable state."""
        self.world.work.spend()
        match condition:
            case Atom() if condition.predicate in self.world.domain.rules:
                return True
            case Atom():
                atom = Renaming(binding).atom(condition)
                if self._is_end and atom in self._last:
                    return self._last[atom][1] is wanted
                return atom in self._known if wanted else atom not in self._initial.facts or atom in self._deletes
            case Not():
                return self.may_hold(condition.part, binding, not wanted)
            case And() | Or() | Exists() | Forall():
                parts = (self.may_hold(part, case, wanted) for part, case in self._instances(condition, binding))
                return all(parts) if isinstance(condition, And | Forall) is wanted else any(parts)
            case Imply():
                return self.may_hold(Or((Not(condition.condition), condition.consequence)), binding, wanted)
            case Equal():
                return self.world.holds(condition, self.state, binding) is wanted
            case Compare():
                return self._may_compare(condition, binding, wanted)
        return True

    def _instances(self, condition: And | Or | Exists | Forall, binding: Binding) -> Iterator[tuple[Formula, Binding]]:
        if isinstance(condition, And | Or):
            return ((part, binding) for part in condition.parts)
        return ((condition.part, case) for case in self.world.bindings(condition.variables, binding))

    # numbers

    def _may_compare(self, condition: Compare, binding: Binding, wanted: bool) -> bool:
        left, right = self.interval(condition.left, binding), self.interval(condition.right, binding)
        if left is None or right is None:
            return False  # a comparison of a number without a value is neither true nor false
        below, above = left[0] < right[1], left[1] > right[0]
        equal = left[0] <= right[1] and right[0] <= left[1]
        true = {"<": below, ">": above, "=": equal, "<=": below or equal, ">=": above or equal}
        false = {"<": above or equal, ">": below or equal, "=": below or above, "<=": above, ">=": below}
        return (true if wanted else false)[condition.operator]

    def interval(self, term: Term, binding: Binding) -> Interval | None:
        """Bounds of the value of an expression; None if it never has one."""
        if term == DURATION:
            return ANY_NUMBER
        if term.parts is None:
            value = number(term.head)
            return None if value is None else (value, value)
        if term.head in ARITHMETIC:
            parts = [self.interval(part, binding) for part in term.parts]
            known = [part for part in parts if part is not None]
            return combined_interval(term.head, known) if len(known) == len(parts) else None
        fluent = ground_term(term, binding)
        if term.head in self._unbounded:
            return ANY_NUMBER
        if self._is_end and fluent in self._last:
            last = Fraction(self._last[fluent][1])
            return last, last
        value = None if term.head in self.world.changing else self.world.values.get(fluent)
        return self._bounds.get(fluent) if value is None else (value, value)

    def _change_numbers(self, step: PlanStep, widen: bool) -> None:
        """Widen the intervals of the numbers that a possible step changes."""
        values = self.world.binding(step)
        for change, _ in walk(self._effects[step.action]):
            if not isinstance(change, Change):
                continue
            fluent, amount = ground_term(change.fluent, values), self.interval(change.value, values)
            names = "".join(map(str, (fluent, Renaming(values).term(change.value))))
            if "?" in names:  # under a quantifier: all numbers of the function
                self._unbounded.add(fluent.head)
                continue
            old = self._bounds.get(fluent)
            if amount is None or (old is None and change.operator != "assign"):
                continue
            new = changed_interval(change.operator, old or amount, amount)
            low, high = (min(old[0], new[0]), max(old[1], new[1])) if old else new
            low = -math.inf if is_infinite(low) or (old and widen and low < old[0]) else low
            high = math.inf if is_infinite(high) or (old and widen and high > old[1]) else high
            self._bounds[fluent] = low, high

    def missing(self, part: Formula, most: int) -> tuple[Atom, ...]:
        """Facts that no action makes true and that a part of a goal needs which is never true.

        They may have variables. Of several conditions that are never true, up to `most` are followed.
        """
        self._unmade, self._most_lacking = [], most
        self.causes(part, _MOST_CHAIN)
        self._most_lacking = 1
        return tuple(dict.fromkeys(self._unmade))

    # sentences

    def causes(self, part: Formula, most: int) -> list[str]:
        """Up to `most` sentences on what a part of a goal lacks that is never true, or not at the end.

        For a fact: the actions that make it true, what these lack, and so on.
        """
        self._is_end = is_ended = self.may_hold(part, {})
        lacking, bounds = list(dict.fromkeys(self._blocking(part, {}))), self._bounds_text(part)
        self._is_end = False
        sentences: list[str] = []
        if not is_literal(part):
            lack = self.missing_type(part)
            never = "is false at the end" if is_ended else f"is never true{self._then}"
            sentences.append(f"{part} {never}{f': {lack}' if lack else bounds}")
        last = self._last if is_ended else {}
        keys = {one: [_atom_of(one)] if is_literal(one) else read_fluents(one) for one in lacking}
        ended = {one: [key for key in keys[one] if key in last] for one in lacking}
        sentences += [self._ended(key) for over in ended.values() for key in over]
        waiting = [one for one in lacking if not ended[one] and is_literal(one)]
        seen = {*waiting}
        while waiting and len(sentences) < most:
            wanted = waiting.pop(0)
            atom, value = _atom_of(wanted), isinstance(wanted, Atom)
            makers = list(self._makers(atom, value))
            if not makers:
                self._unmade += [atom] if value else []
                before = ("true" if not value else "false") + " by then" if self._then else f"{'not ' * value}in :init"
                sentences.append(f"no action makes {atom} {_truth(value)}, and it is {before}")
            fitting = [maker for maker in makers if self._fits(*maker)] or makers
            unmade, ways = len(self._unmade), list[int]()
            for action, binding in fitting[:_MOST_MAKERS]:
                text, needed = self._lack(action, binding)
                name = schema_name(action.name)
                sentences += [f"{name} could make {atom} {_truth(value)}, but {text}"] if text else []
                waiting += [one for one in needed if one not in seen]
                seen |= {*needed}
                ways.append(len(self._unmade))
            if len({unmade, *ways}) <= len(ways):  # another action lacks something that can be made
                del self._unmade[unmade:]
        return list(dict.fromkeys(sentences))

    def _ended(self, key: Atom | Term) -> str:
        time, value = self._last[key]
        if isinstance(key, Term):
            return f"a timed literal sets {key} to {shown(Fraction(value))} at {time}, and no action changes it"
        change, back = _truth(bool(value)), _truth(not value)
        return f"a timed literal makes {key} {change} at {time}, and no possible action makes it {back}"

    def _blocking(self, condition: Formula, binding: Binding, wanted: bool = True) -> Iterator[Formula]:
        """The facts, negated facts and comparisons that a condition lacks that may never be true, or false."""
        match condition:
            case Atom():
                atom = Renaming(binding).atom(condition)
                yield atom if wanted else Not(atom)
            case Compare():
                yield Renaming(binding).formula(condition)
            case Not():
                yield from self._blocking(condition.part, binding, not wanted)
            case Imply():
                yield from self._blocking(Or((Not(condition.condition), condition.consequence)), binding, wanted)
            case And() | Or() | Exists() | Forall():
                lacking = (one for one in self._instances(condition, binding) if not self.may_hold(*one, wanted))
                most = self._most_lacking if isinstance(condition, And | Forall) is wanted else MOST_TOGETHER
                for one in itertools.islice(lacking, most):
                    yield from self._blocking(*one, wanted)

    def _makers(self, fact: Atom, wanted: bool) -> Iterator[tuple[Action, Binding]]:
        """The actions that can make a fact true, or else false, with the objects that it fixes."""
        for action in self.world.domain.actions:
            kinds = scope_of(action.parameters)
            for atom, value in changed_atoms(action.effect):
                if value is wanted and (atom.predicate, len(atom.args)) == (fact.predicate, len(fact.args)):
                    match = self._matched(atom, fact, {}, {**dict.fromkeys(atom.args, ANY_TYPE), **kinds})
                    if match is not None:
                        yield action, {name: match[name] for name in match.keys() & kinds.keys()}

    def _bounds_text(self, condition: Formula) -> str:
        return bounds_text((condition,), lambda fluent: self.interval(fluent, {}))

    def _fits(self, action: Action, binding: Binding) -> bool:
        """Whether the objects are of the kinds that a domain without types requires, as in `(truck ?t)`."""
        kinds = (
            atom for atom in self.required[action.name] if len(atom.args) == 1 and atom.predicate not in self.added
        )
        return all(atom in self._known or "?" in str(atom) for atom in map(Renaming(binding).atom, kinds))

    def _lack(self, action: Action, binding: Binding) -> tuple[str, list[Formula]]:
        """What an impossible action lacks, as the end of a sentence, and the literals that it would need for it."""
        if lack := self.missing_type(Exists(action.parameters, action.precondition)):
            return lack, []
        atoms = self.never_together(action, binding)
        if atoms:
            return self._lacking_facts(action, atoms, binding)
        for part in self._others[action.name]:
            if cases := self._impossible_cases(action, part, self.required[action.name], binding):
                first = Renaming(cases[0]).formula(part)
                bounds = self._bounds_text(first)
                never = (first,) if bounds else self._with_least(action, part, binding)
                needed = dict.fromkeys(one for case in cases for one in self._blocking(part, case))
                literals = [one for one in needed if is_literal(one)]
                more = [one for one in literals if self._is_changed(one)]
                is_static = literals and not more and is_literal(part) and len(never) == 1
                static = ", and no action makes it true" if is_static else ""
                return f"{_never(never)}{self._then}{bounds}{static}", more[:MOST_TOGETHER]
        if action.name in self.possible:
            return "", []
        steps = ((term, step) for terms in self._missing.values() for term, step in terms.items())
        lacking = (f"{term} has no number" for term, step in steps if step.action == schema_name(action.name))
        return next(lacking, "no call of it is possible"), []

    def _impossible_cases(
        self, action: Action, part: Formula, atoms: Sequence[Atom], binding: Binding
    ) -> list[Binding]:
        """The calls of an action in which atoms are true, if a condition is never true in them; empty for too many."""
        cases = list(itertools.islice(self._bindings(action, atoms, binding), _MOST_CASES))
        return cases if len(cases) < _MOST_CASES and not any(self.may_hold(part, case) for case in cases) else []

    def _with_least(self, action: Action, part: Formula, binding: Binding) -> tuple[Formula, ...]:
        """A condition, after the required atoms of the action without which it may be true."""
        atoms = self.required[action.name]
        for atom in atoms:
            fewer = [other for other in atoms if other is not atom]
            atoms = fewer if self._impossible_cases(action, part, fewer, binding) else atoms
        return tuple(map(Renaming(binding).formula, (*atoms, part)))

    def _is_changed(self, literal: Formula) -> bool:
        return _atom_of(literal).predicate in (self.added if isinstance(literal, Atom) else self.deleted)

    def _lacking_facts(self, action: Action, atoms: Sequence[Atom], binding: Binding) -> tuple[str, list[Formula]]:
        """What `_lack` says about conditions that are never true together, with examples of facts that are missing.

        Each example would be enough, with the other conditions of the action, or else with the other `atoms`.
        """
        near: list[Atom] = []
        for needed in (self.required[action.name], atoms):
            near = near or self._missing_facts(atoms, needed, binding, scope_of(action.parameters))
        near = [a for a in near if a.predicate in self.added or not breaks_order(a, self._initial.facts)]
        wanted = [*map(Renaming(binding).atom, atoms)]
        examples = [str(atom) for atom in near if atom not in wanted]
        more = len(examples) - MOST_TOGETHER
        examples = [*examples[:MOST_TOGETHER], *([f"one of {more} other facts"] if more > 0 else [])]
        text = f"{_never(wanted)}{self._then}"
        text += f": {' or '.join(examples)} is missing" if examples else ""
        is_static = len(wanted) == 1 and wanted[0].predicate not in self.added
        self._unmade += wanted if is_static else []
        text += ", and no action makes it true" if is_static else ""
        makeable: list[Formula] = [
            atom for atom in near or wanted if atom.predicate in self.added and "?" not in str(atom)
        ]
        return text, makeable[:MOST_TOGETHER]

    def _missing_facts(
        self, atoms: Sequence[Atom], needed: Sequence[Atom], binding: Binding, kinds: Mapping[str, str]
    ) -> list[Atom]:
        """The facts for one of the atoms that are missing, each alone, for all needed atoms to be true."""
        facts: set[Atom] = set()
        for left in atoms:
            others = [atom for atom in needed if atom is not left]
            for match in itertools.islice(self._joined(others, binding, kinds), _MOST_CASES):
                facts.add(Renaming(match).atom(left))
        return sorted(facts, key=str)


def is_literal(part: Formula) -> bool:
    """Whether a condition is a fact or a negated fact."""
    return isinstance(part.part if isinstance(part, Not) else part, Atom)


def _atom_of(literal: Formula) -> Atom:
    atom = literal.part if isinstance(literal, Not) else literal
    assert isinstance(atom, Atom)
    return atom


def _never(parts: Sequence[Formula]) -> str:
    verb = "condition {} is never true" if len(parts) == 1 else "conditions {} are never true together"
    return f"its {verb.format(' and '.join(map(str, parts)))}"


def _truth(value: bool) -> str:
    return "true" if value else "false"
