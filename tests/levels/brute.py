"""A second semantics of PDDL, written apart from the package: it reads texts and looks at every state.

Numbers are exact. A comparison of a number without a value is neither true nor false. A task with time has a few
ground actions that start at most once, with whole durations: then its plans differ only in the order of what happens,
so all orders are those of starts at multiples of 1 / (number of actions + 1).
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Expression = Any
"""A word, or a list of expressions."""

Fact = tuple[str, ...]
Facts = frozenset[Fact]
Numbers = frozenset[tuple[Fact, Fraction]]
State = tuple[Facts, Numbers]
Binding = Mapping[str, str]

_WORDS = frozenset(("and", "or", "not", "imply", "=", "<", ">", "<=", ">="))

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?\Z")


class TooManyStatesError(Exception):
    """The task is too large to look at all of it."""


def read(text: str) -> Expression:
    """The first expression of a text."""
    stack: list[list[Expression]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text.lower()):
        if token == "(":
            stack.append([])
        elif token == ")":
            part = stack.pop()
            stack[-1].append(part)
        else:
            stack[-1].append(token)
    return stack[0][0]


def _typed(words: list[str]) -> list[tuple[str, str]]:
    names: list[tuple[str, str]] = []
    waiting: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-":
            kind = next(rest)
            names += [(name, kind) for name in waiting]
            waiting = []
        else:
            waiting.append(word)
    return names + [(name, "object") for name in waiting]


@dataclass(frozen=True)
class Step:
    """A ground action: its name and arguments, and its parts under a binding; `lasts` is None without a duration."""

    name: str
    args: tuple[str, ...]
    parts: Mapping[str, tuple[Expression, Expression]]
    binding: Binding
    lasts: int | None = None

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.args))})"


@dataclass(frozen=True)
class Effects:
    """What a step does in one state, and what it reads."""

    adds: frozenset[Fact]
    deletes: frozenset[Fact]
    changes: tuple[tuple[str, Fact, Fraction], ...]
    reads: frozenset[Fact]

    def interferes(self, other: Effects) -> bool:
        touched = other.adds | other.deletes | {fluent for _, fluent, _ in other.changes}
        if self.reads & touched or self.adds & other.deletes:
            return True
        mine = {fluent: operator for operator, fluent, _ in self.changes}
        additive = {"increase", "decrease"}
        return any(fluent in mine and not {mine[fluent], name} <= additive for name, fluent, _ in other.changes)


_Node = tuple[int, State, tuple[tuple[int, int], ...]]
"""A time, the state before its moment, and the ends of the steps that run, with their numbers."""


class Brute:
    """A task, and everything that can happen in it."""

    def __init__(self, domain: str, problem: str, most: int = 3_000) -> None:
        self.most = most
        parts, task = read(domain), read(problem)
        sections = {part[0]: part[1:] for part in [*parts[2:], *task[2:]] if not part[0].endswith("action")}
        self.objects = _typed(sections.get(":constants", [])) + _typed(sections.get(":objects", []))
        facts: list[Fact] = []
        numbers: list[tuple[Fact, Fraction]] = []
        self.later: list[tuple[int, Expression]] = []
        for part in sections[":init"]:
            if part[0] == "=":
                numbers.append((tuple(part[1]), Fraction(part[2])))
            elif part[0] == "at" and _NUMBER.match(str(part[1])):
                self.later.append((int(part[1]), part[2]))
            else:
                facts.append(tuple(part))
        self.start: State = frozenset(facts), frozenset(numbers)
        self.goal = sections[":goal"][0]
        self.steps = [step for part in parts[2:] if part[0].endswith("action") for step in self._ground(part)]
        self._known: dict[tuple[int, str, State], Effects | None] = {}
        self.timed = bool(self.later) or any(step.lasts is not None for step in self.steps)

    def _of(self, kind: str) -> list[str]:
        return [name for name, own in self.objects if kind in ("object", own)]

    def _cases(self, words: list[str], binding: Binding) -> Iterator[Binding]:
        variables = _typed(words)
        for chosen in itertools.product(*(self._of(kind) for _, kind in variables)):
            yield {**binding, **{name: value for (name, _), value in zip(variables, chosen, strict=True)}}

    def _ground(self, part: Expression) -> Iterator[Step]:
        fields = dict(zip(part[2::2], part[3::2], strict=True))
        is_timed = part[0] == ":durative-action"
        condition, effect = fields.get(":condition" if is_timed else ":precondition", ["and"]), fields[":effect"]
        times = ("start", "all", "end") if is_timed else ("start",)
        parts = {one: (_at(condition, one), _at(effect, one)) if is_timed else (condition, effect) for one in times}
        for binding in self._cases(fields.get(":parameters", []), {}):
            lasts = None
            if is_timed:
                value = self.value(fields[":duration"][2], self.start, binding)
                if value is None or value < 0:
                    continue
                if value.denominator != 1:
                    raise TooManyStatesError
                lasts = int(value)
            yield Step(part[1], tuple(binding.values()), parts, binding, lasts)

    # conditions

    def value(self, term: Expression, state: State, binding: Binding) -> Fraction | None:
        if isinstance(term, str):
            return Fraction(term) if _NUMBER.match(term) else dict(state[1]).get((term,))
        if term[0] in "+-*/":
            values = [self.value(part, state, binding) for part in term[1:]]
            if None in values or (term[0] == "/" and values[1] == 0):
                return None
            one, *others = [value for value in values if value is not None]
            for other in others:
                one = {"+": one + other, "-": one - other, "*": one * other, "/": one / (other or 1)}[term[0]]
            return one if others else -one
        return dict(state[1]).get(_ground_fact(term, binding))

    def true(self, part: Expression, state: State, binding: Binding | None = None) -> bool | None:
        """Whether a condition is true; None if that depends on a number without a value."""
        binding = binding or {}
        if not part:
            return True
        match part[0]:
            case "and":
                return _all(self.true(one, state, binding) for one in part[1:])
            case "or":
                return _not(_all(_not(self.true(one, state, binding)) for one in part[1:]))
            case "not":
                return _not(self.true(part[1], state, binding))
            case "imply":
                return self.true(["or", ["not", part[1]], part[2]], state, binding)
            case "forall":
                return _all(self.true(part[2], state, case) for case in self._cases(part[1], binding))
            case "exists":
                return _not(self.true(["forall", part[1], ["not", part[2]]], state, binding))
            case "=" | "<" | ">" | "<=" | ">=":
                if part[0] == "=" and isinstance(part[1], str) and isinstance(part[2], str):
                    names: list[str] = [binding.get(name, name) for name in part[1:]]
                    if not any(map(_NUMBER.match, names)):
                        return names[0] == names[1]
                left, right = (self.value(one, state, binding) for one in part[1:])
                if left is None or right is None:
                    return None
                signs = {"=": left == right, "<": left < right, ">": left > right, "<=": left <= right}
                return signs.get(part[0], left >= right)
        return _ground_fact(part, binding) in state[0]

    # effects

    def effects(self, condition: Expression, effect: Expression, state: State, binding: Binding) -> Effects | None:
        """What happens, or None if an effect is impossible."""
        adds, deletes, changes = set[Fact](), set[Fact](), list[tuple[str, Fact, Fraction]]()
        reads = {*self._reads(condition, binding)}
        waiting = [(effect, binding)]
        while waiting:
            part, bound = waiting.pop()
            if not part:
                continue
            match part[0]:
                case "and":
                    waiting += [(one, bound) for one in part[1:]]
                case "forall":
                    waiting += [(part[2], case) for case in self._cases(part[1], bound)]
                case "when":
                    reads |= {*self._reads(part[1], bound)}
                    if self.true(part[1], state, bound):
                        waiting.append((part[2], bound))
                case "not":
                    deletes.add(_ground_fact(part[1], bound))
                case "increase" | "decrease" | "assign":
                    fluent, value = _ground_fact(part[1], bound), self.value(part[2], state, bound)
                    reads |= {*self._reads(part[2], bound)}
                    if value is None or (part[0] != "assign" and fluent not in dict(state[1])):
                        return None
                    changes.append((part[0], fluent, value))
                case _:
                    adds.add(_ground_fact(part, bound))
        assigned = [fluent for name, fluent, _ in changes if name == "assign"]
        if any([fluent for _, fluent, _ in changes].count(one) > 1 for one in assigned):
            return None
        return Effects(frozenset(adds), frozenset(deletes - adds), tuple(changes), frozenset(reads))

    def _reads(self, part: Expression, binding: Binding) -> Iterator[Fact]:
        if isinstance(part, str) or not part:
            return
        if part[0] in ("forall", "exists"):
            for case in self._cases(part[1], binding):
                yield from self._reads(part[2], case)
        elif isinstance(part[0], str) and all(isinstance(one, str) for one in part[1:]) and part[0] not in _WORDS:
            yield _ground_fact(part, binding)
        else:
            for one in part[1:]:
                yield from self._reads(one, binding)

    def after(self, state: State, effects: Iterable[Effects]) -> State:
        facts, numbers = set(state[0]), dict(state[1])
        effects = list(effects)
        for one in effects:
            facts -= one.deletes
        for one in effects:
            facts |= one.adds
            for name, fluent, value in one.changes:
                numbers[fluent] = value if name == "assign" else numbers[fluent] + value * (1 if name[0] == "i" else -1)
        return frozenset(facts), frozenset(numbers.items())

    # everything that can happen

    def explore(self) -> None:
        """Find all `states`, and the `ends`: each state in which a plan may end, with such a plan."""
        self.states: dict[State, str] = {self.start: ""}
        self.ends: dict[State, str] = {}
        if self.timed:
            self._explore_time()
            return
        waiting = deque([self.start])
        while waiting:
            state = waiting.popleft()
            for step in self.steps:
                condition, effect = step.parts["start"]
                effects = self.effects(condition, effect, state, step.binding)
                if effects is None or not self.true(condition, state, step.binding):
                    continue
                new = self.after(state, [effects])
                if new not in self.states:
                    self.states[new] = f"{self.states[state]}{step}\n"
                    waiting.append(new)
                    if len(self.states) > self.most:
                        raise TooManyStatesError
        self.ends = self.states

    def _explore_time(self) -> None:
        parts = len(self.steps) + 1
        last = max((time for time, _ in self.later), default=-1)
        waiting: list[tuple[int, State, tuple[tuple[int, int], ...], str]] = [(0, self.start, (), "")]
        seen: set[_Node] = set()
        before: dict[_Node, list[_Node]] = defaultdict(list)
        finished: list[_Node] = []
        while waiting:
            now, state, running, plan = waiting.pop()
            if (now, state, running) in seen:
                continue
            seen.add((now, state, running))
            if len(seen) > 20 * self.most:
                raise TooManyStatesError
            for chosen, new, left in self._moments(now, parts, state, running):
                started = "".join(
                    f"{now // parts}.{1000 * (now % parts) // parts:03}: {step}"
                    + (f" [{step.lasts}]\n" if step.lasts is not None else "\n")
                    for step in chosen
                )
                before[now + 1, new, left].append((now, state, running))
                if now >= last * parts and not left:
                    finished.append((now + 1, new, left))
                    self.ends.setdefault(new, plan + started)
                if chosen or left or running or now <= last * parts:
                    waiting.append((now + 1, new, left, plan + started))

        # States from which what runs cannot end are part of no plan.
        done = {*finished}
        while finished:
            node = finished.pop()
            self.states.setdefault(node[1], "")
            new_nodes = {*before[node]} - done
            done |= new_nodes
            finished += new_nodes

    def _happens(self, number: int, time: str, state: State) -> Effects | None:
        """What a step does at its start or end; None if it is not possible then."""
        key = number, time, state
        if key not in self._known:
            step = self.steps[number]
            condition, effect = step.parts[time]
            is_possible = self.true(condition, state, step.binding) and step.lasts != 0
            self._known[key] = self.effects(condition, effect, state, step.binding) if is_possible else None
        return self._known[key]

    def _moments(
        self, now: int, parts: int, state: State, running: tuple[tuple[int, int], ...]
    ) -> Iterator[tuple[list[Step], State, tuple[tuple[int, int], ...]]]:
        """What may happen at a moment: the steps that start, the state after it, and what runs on."""
        events = [part for time, part in self.later if time * parts == now]
        literals: list[Effects | None] = []
        for part in events:
            effect = ["assign", *part[1:]] if part[0] == "=" else part
            literals.append(self.effects(["and"], effect, state, {}))
        ending = [self._happens(number, "end", state) for end, number in running if end == now]
        left = tuple(one for one in running if one[0] != now)
        fixed = [*literals, *ending]
        starts = {number: self._happens(number, "start", state) for number in range(len(self.steps))}
        able = [number for number, effects in starts.items() if effects is not None]
        for size in range(len(able) + 1):
            for numbers in itertools.combinations(able, size):
                chosen = [self.steps[number] for number in numbers]
                effects = [*fixed, *(starts[number] for number in numbers)]
                known = [one for one in effects if one is not None]
                if len(known) < len(effects) or _clash(known, len(literals)):
                    continue
                new = self.after(state, known)
                more = (
                    (now + step.lasts * parts, number)
                    for number, step in zip(numbers, chosen, strict=True)
                    if step.lasts
                )
                going = tuple(sorted((*left, *more)))
                if all(self.true(self.steps[one].parts["all"][0], new, self.steps[one].binding) for _, one in going):
                    yield chosen, new, going


def _clash(effects: list[Effects], literals: int) -> bool:
    """Whether two events of a moment interfere. Timed literals do not interfere with each other."""
    pairs = itertools.combinations(enumerate(effects), 2)
    return any(
        (first.interferes(second) or second.interferes(first))
        for (_, first), (other, second) in pairs
        if other >= literals
    )


def _at(part: Expression, time: str) -> Expression:
    """The parts of a durative condition or effect with this time."""
    if part[:1] == ["and"]:
        return ["and", *(_at(one, time) for one in part[1:])]
    if part[:1] == ["forall"]:
        return ["forall", part[1], _at(part[2], time)]
    return part[2] if part and part[1] == time else ["and"]


def _ground_fact(part: Expression, binding: Binding) -> Fact:
    words = [part] if isinstance(part, str) else part
    return (words[0], *(binding.get(word, word) for word in words[1:]))


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _all(values: Iterable[bool | None]) -> bool | None:
    known = [*values]
    return False if False in known else None if None in known else True
