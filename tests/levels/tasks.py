"""Tiny numeric and temporal tasks with plans, made with a seed, and changes of plans that often break them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning.plan_text import read_plan
from pddlego.planning.result import Plan, PlanStep, TimedStep

FLUENTS, FACTS = ("(x)", "(y)", "(z)"), ("(p)", "(q)", "(r)")

_HOLDS = {
    ">=": Fraction.__ge__,
    "<=": Fraction.__le__,
    ">": Fraction.__gt__,
    "<": Fraction.__lt__,
    "=": Fraction.__eq__,
}


@dataclass(frozen=True)
class Task:
    """The texts of a task, and of a plan for it. `valid`: whether the plan is; None if that is not known."""

    domain: str
    problem: str
    plan: str
    valid: bool | None = None

    @property
    def steps(self) -> Plan:
        """The plan as a value."""
        return read_plan(self.plan, parse_domain(self.domain), parse_problem(self.problem)).plan


@dataclass(frozen=True)
class _Action:
    """`needs`: (operator, fluent, number or fluent); `changes`: (kind, fluent, number or fluent)."""

    name: str
    facts: tuple[str, ...]
    needs: tuple[tuple[str, str, str], ...]
    changes: tuple[tuple[str, str, str], ...]
    adds: tuple[str, ...]
    deletes: tuple[str, ...]

    def after(self, facts: frozenset[str], numbers: dict[str, Fraction]) -> tuple[frozenset[str], dict[str, Fraction]]:
        """The next state. Raises `ValueError` if the action is not applicable."""
        needs = all(_HOLDS[sign](numbers[left], _value(right, numbers)) for sign, left, right in self.needs)
        if not (needs and facts.issuperset(self.facts)):
            raise ValueError(self.name)
        changed = dict(numbers)
        for kind, fluent, text in self.changes:
            value = _value(text, numbers)
            changed[fluent] = value if kind == "assign" else changed[fluent] + (value if kind == "increase" else -value)
        return (facts - {*self.deletes}) | {*self.adds}, changed

    def __str__(self) -> str:
        conditions = " ".join((*self.facts, *(f"({' '.join(need)})" for need in self.needs)))
        changes = (f"({' '.join(change)})" for change in self.changes)
        effects = " ".join((*self.adds, *(f"(not {fact})" for fact in self.deletes), *changes))
        return f"(:action {self.name} :parameters () :precondition (and {conditions}) :effect (and {effects}))"


def _value(text: str, numbers: dict[str, Fraction]) -> Fraction:
    return numbers[text] if text in numbers else Fraction(text)


def _decimal(rng: random.Random, places: int, low: int = 1, high: int = 9) -> str:
    return f"{Decimal(rng.randint(low, high * 10**places)).scaleb(-places):f}"


# numbers


def numeric_task(seed: int, places: int = 1, steps: int = 6) -> Task:
    """A solvable task with numbers of `places` decimals, whose goal states exact values, and a plan for it.

    Strict comparisons are a multiple of the smallest number away from their bound, so that VAL's tolerance cannot
    matter.
    """
    rng = random.Random(f"numeric {seed} {places}")
    numbers = {fluent: Fraction(_decimal(rng, places)) for fluent in FLUENTS}
    facts = frozenset(rng.sample(FACTS, 1))
    while True:
        actions = [_numeric_action(rng, name, places) for name in ("a", "b", "c", "d")]
        state, plan = (facts, numbers), []
        for _ in range(steps):
            possible = []
            for action in actions:
                try:
                    possible.append((action, action.after(*state)))
                except ValueError:
                    continue
            if not possible:
                break
            action, state = rng.choice(possible)
            plan.append(action.name)
        if len(plan) == steps and state[1] != numbers:
            break
    goal = " ".join(f"(= {fluent} {_text(value)})" for fluent, value in state[1].items())
    values = " ".join(f"(= {fluent} {_text(value)})" for fluent, value in numbers.items())
    problem = _problem(f"{' '.join(sorted(facts))} {values}", f"(and {' '.join(sorted(state[0]))} {goal})")
    return Task(_domain(map(str, actions)), problem, "".join(f"({name})\n" for name in plan), valid=True)


def _numeric_action(rng: random.Random, name: str, places: int) -> _Action:
    def operand() -> str:
        return rng.choice(FLUENTS) if rng.random() < 0.15 else _decimal(rng, places)

    needs = [(rng.choice((">=", "<=", ">", "<")), rng.choice(FLUENTS), operand()) for _ in range(rng.randint(0, 1))]
    changed = rng.sample(FLUENTS, rng.randint(1, 2))
    changes = [(rng.choice(("increase", "decrease", "increase", "assign")), fluent, operand()) for fluent in changed]
    added, deleted, needed = (rng.sample(FACTS, rng.choice((0, 0, 1))) for _ in range(3))
    deleted = [fact for fact in deleted if fact not in added]
    return _Action(name, tuple(needed), tuple(needs), tuple(changes), tuple(added), tuple(deleted))


def _text(value: Fraction) -> str:
    """A fraction whose denominator divides a power of ten, exactly."""
    return f"{(Decimal(value.numerator) / Decimal(value.denominator)):f}"


def _domain(actions: Iterator[str] | map[str]) -> str:
    needs = ":strips :numeric-fluents :durative-actions :duration-inequalities :timed-initial-literals"
    heads = f"(:requirements {needs})\n  (:predicates {' '.join(FACTS)})\n  (:functions {' '.join(FLUENTS)})"
    return f"(define (domain tiny)\n  {heads}\n  " + "\n  ".join(actions) + "\n)\n"


def _problem(init: str, goal: str) -> str:
    return f"(define (problem tiny-1) (:domain tiny)\n  (:init {init})\n  (:goal {goal})\n)\n"


# time


def temporal_task(seed: int) -> Task:
    """A task with durative actions, numbers and timed literals, and a random plan, of which some are valid."""
    rng = random.Random(f"temporal {seed}")
    actions = {name: _durative(rng, name) for name in ("a", "b", "c")}
    init = [*rng.sample(FACTS, rng.randint(1, 3)), *(f"(= {fluent} {rng.randint(0, 5)})" for fluent in FLUENTS)]
    for _ in range(rng.choice((0, 0, 1, 2))):
        literal = rng.choice((rng.choice(FACTS), f"(not {rng.choice(FACTS)})", f"(= {rng.choice(FLUENTS)} 4)"))
        init.append(f"(at {rng.randint(1, 6)} {literal})")
    goal = rng.choice((rng.choice(FACTS), f"(>= {rng.choice(FLUENTS)} {rng.randint(0, 4)})"))
    steps = []
    for name in rng.choices([*actions], k=rng.randint(1, 3)):
        steps.append(TimedStep(Decimal(rng.randint(0, 12)) / 2, PlanStep(name), _lasts(rng, actions[name][1])))
    texts = (text for text, _ in actions.values())
    return Task(_domain(iter(texts)), _problem(" ".join(init), f"(and {goal})"), f"{Plan.of(steps)}\n")


def _lasts(rng: random.Random, bounds: tuple[int, int]) -> Decimal:
    wrong = rng.random() < 0.05
    return Decimal(bounds[1] + 1 if wrong else rng.randint(2 * bounds[0], 2 * bounds[1])) / (1 if wrong else 2)


def _durative(rng: random.Random, name: str) -> tuple[str, tuple[int, int]]:
    """A durative action, and the least and the greatest duration."""
    low = rng.randint(1, 3)
    high = low + rng.choice((0, 0, 2))
    exact = f"(= ?duration {low})"
    duration = exact if low == high else f"(and (>= ?duration {low}) (<= ?duration {high}))"
    conditions = []
    for time in ("at start", "over all", "at end"):
        if rng.random() < 0.3:
            condition = rng.choice((rng.choice(FACTS), f"(>= {rng.choice(FLUENTS)} {rng.randint(0, 3)})"))
            conditions.append(f"({time} {condition})")
    effects = []
    for time in ("at start", "at end"):
        effect = rng.choice((*FACTS, f"(not {rng.choice(FACTS)})", _change(rng), _change(rng)))
        effects.append(f"({time} {effect})")
    parts = f":condition (and {' '.join(conditions)}) :effect (and {' '.join(effects)})"
    return f"(:durative-action {name} :parameters () :duration {duration} {parts})", (low, high)


def _change(rng: random.Random) -> str:
    return f"({rng.choice(('increase', 'decrease', 'assign'))} {rng.choice(FLUENTS)} {rng.randint(1, 3)})"


# changes of plans


def mutants(task: Task, seed: int, count: int = 3) -> Iterator[Task]:
    """The task with changed plans: a step is dropped, repeated, exchanged, shifted, or lasts longer."""
    rng = random.Random(f"mutants {seed}")
    for _ in range(count):
        changed = _timed_mutant(task.steps, rng) if ":" in task.plan else _mutant(task.plan, rng)
        if changed != task.plan:
            yield replace(task, plan=changed, valid=None)


def _mutant(plan: str, rng: random.Random) -> str:
    steps = plan.splitlines()
    place, other = rng.randrange(len(steps)), rng.randrange(len(steps))
    match rng.choice(("drop", "repeat", "exchange")):
        case "drop":
            del steps[place]
        case "repeat":
            steps.insert(other, steps[place])
        case _:
            steps[place], steps[other] = steps[other], steps[place]
    return "".join(f"{step}\n" for step in steps)


def _timed_mutant(plan: Plan, rng: random.Random) -> str:
    steps = list(plan.timed)
    place, other = rng.randrange(len(steps)), rng.randrange(len(steps))
    step, half = steps[place], Decimal("0.5")
    match rng.choice(("drop", "shift", "last", "together")):
        case "drop":
            del steps[place]
        case "shift":
            steps[place] = replace(step, start=max(Decimal(0), step.start + rng.choice((half, -half, 1))))
        case "last":
            lasts = None if step.duration is None else step.duration + half
            steps[place] = replace(step, duration=lasts)
        case _:
            steps[place] = replace(step, start=steps[other].start)
    return f"{Plan.of(steps)}\n"
