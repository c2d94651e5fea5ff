"""Everything that `solve` says about a goal without a plan is true, by a second semantics and by VAL.

"Can be reached" is shown by a plan that VAL accepts, and "cannot", "never" and "no plan" by looking at all states.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar

import pytest

from pddlego import tools
from pddlego.pddl import Domain, Problem
from pddlego.pddl.rules import Level
from pddlego.planning.abilities import turns_for
from pddlego.planning.result import EXPLAIN, NO_PLAN, PlanResult, PlanStatus, Search, WhyNoPlan
from pddlego.planning.why import explain_no_plan, why_no_plan
from pddlego.planning.worker import solve
from tests.levels.brute import Brute, State, TooManyStatesError, read
from tests.levels.judges import VALID, judges
from tests.scale import PATIENCE, scaled

pytestmark = pytest.mark.kairos

GREEDY = Search("gbf", "hff", "auto")


class RandomTask:
    """A small task of random actions: the text of its domain, and of its problem for a goal.

    A timed one has three ground actions, each of which starts at most once.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"reasons {seed}")
        self.timed, self.numeric = seed % 3 == 0, seed % 3 < 2
        one = "s" if self._chance(0.1) else "a"  # an object may have the name of a predicate
        self.objects = {"thing": (one, "b"), "place": ("c",)}
        number = 3 if self.timed else self.rng.randint(2, 4)
        self.counts = self.numeric and self._chance(0.3)
        actions = " ".join(self._action(index) for index in range(number))
        functions = "(:functions (n) (m ?x - thing) (counter))" if self.numeric else ""
        kinds = " ".join(f"{' '.join(names)} - {kind}" for kind, names in self.objects.items())
        todo = " ".join(f"(todo{index})" for index in range(number)) if self.timed else ""
        self.domain = f"""(define (domain random) (:requirements :adl :typing :numeric-fluents :durative-actions
  :timed-initial-literals) (:types thing place) (:constants {kinds})
  (:predicates (p ?x - thing) (q ?x - thing) (r ?x - thing ?y - place) (s) {todo}) {functions}
  {actions})"""
        facts = {self._fact({}) for _ in range(self.rng.randint(1, 3))}
        values = [f"(= {name} {self.rng.randint(0, 3)})" for name in self._fluents() if self._chance(0.85)]
        later = {
            self.rng.randint(1, 4): self.rng.choice((self._literal({}), self._literal({}), self._set()))
            for _ in range(self.rng.choice((0, 1, 1, 2)))
        }
        if self.timed and later and self._chance(0.3):  # what one literal adds, another one deletes
            fact = self._fact({})
            later |= {1: fact, 3: f"(not {fact})"}
        self.init = [*sorted(facts), *(values if self.numeric else ())]
        self.init += ["(= (counter) 0)"] if self.numeric else []
        self.init += [*todo.replace(") (", ")#(").split("#")] if self.timed else []
        self.later = [*later.values()] if self.timed else []
        self.init += [f"(at {time} {part})" for time, part in later.items()] if self.timed else []

    def problem(self, goal: str, init: Iterable[str] | None = None) -> str:
        metric = "(:metric minimize (counter))" if self.counts else ""
        facts = " ".join(self.init if init is None else init)
        return f"(define (problem one) (:domain random) (:init {facts}) (:goal {goal}) {metric})"

    def goal(self) -> str:
        parts = [self._condition({}) for _ in range(self.rng.randint(1, 3))]
        if self.later and self._chance(0.4):  # what a timed literal ends
            part = self.rng.choice(self.later)
            parts[0] = part[5:-1] if part.startswith("(not") else f"(not {part})"
        return f"(and {' '.join(dict.fromkeys(parts))})"

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share

    def _fluents(self) -> list[str]:
        return ["(n)", *(f"(m {name})" for name in self.objects["thing"])]

    def _set(self) -> str:
        fluent = self.rng.choice(self._fluents())
        return f"(= {fluent} {self.rng.randint(0, 3)})" if self.numeric else self._literal({})

    def _name(self, kind: str, bound: dict[str, str]) -> str:
        variables = [name for name, own in bound.items() if own == kind]
        return self.rng.choice(variables if variables and self._chance(0.8) else self.objects[kind])

    def _fact(self, bound: dict[str, str]) -> str:
        thing, place = self._name("thing", bound), self._name("place", bound)
        return self.rng.choice((f"(p {thing})", f"(q {thing})", f"(r {thing} {place})", "(s)"))

    def _literal(self, bound: dict[str, str]) -> str:
        return f"(not {self._fact(bound)})" if self._chance(0.35) else self._fact(bound)

    def _number(self, bound: dict[str, str]) -> str:
        return self.rng.choice(("(n)", f"(m {self._name('thing', bound)})"))

    def _condition(self, bound: dict[str, str], depth: int = 2) -> str:
        kind = self.rng.random() if depth else 1
        inner = self._condition
        if kind < 0.08:
            return f"(or {inner(bound, depth - 1)} {inner(bound, depth - 1)})"
        if kind < 0.14:
            return f"(imply {inner(bound, depth - 1)} {inner(bound, depth - 1)})"
        if kind < 0.24:
            variable = self.rng.choice(("?x", "?z"))  # may hide a parameter
            part = inner({**bound, variable: "thing"}, depth - 1)
            return f"({self.rng.choice(('forall', 'exists'))} ({variable} - thing) {part})"
        if kind < 0.4 and self.numeric:
            value = self.rng.choice(
                (self._number(bound), f"(+ {self._number(bound)} 1)", f"(- 3 {self._number(bound)})")
            )
            compare = f"({self.rng.choice(('>=', '<', '=', '<='))} {value} {self.rng.randint(0, 4)})"
            return f"(not {compare})" if self._chance(0.15) else compare
        return self._literal(bound)

    def _change(self, bound: dict[str, str]) -> str:
        if self.timed:
            change = self.rng.choice(("increase", "decrease", "assign"))
            return f"({change} {self._number(bound)} {self.rng.randint(1, 2)})"
        return f"(assign {self._number(bound)} {self.rng.choice(('0', '1', '2', self._number(bound)))})"

    def _effect(self, bound: dict[str, str]) -> str:
        kind = self.rng.random()
        if kind < 0.15 and self.numeric:
            return self._change(bound)
        if kind < 0.32:
            part = self._change(bound) if self.numeric and self._chance(0.2) else self._literal(bound)
            return f"(when {self._condition(bound, 1)} {part})"
        if kind < 0.42:
            inside = {**bound, self.rng.choice(("?x", "?z")): "thing"}
            variable = [*inside][-1] if len(inside) > len(bound) else "?x"
            part = f"(when {self._condition(inside, 0)} {self._literal(inside)})"
            return f"(forall ({variable} - thing) {part})"
        return self._literal(bound)

    def _action(self, index: int) -> str:
        bound = (
            {} if self.timed or self._chance(0.3) else {"?x": "thing"} | ({"?y": "place"} if self._chance(0.4) else {})
        )
        kinds = " ".join(f"{name} - {kind}" for name, kind in bound.items())
        needs = [self._condition(bound) for _ in range(self.rng.randint(0 if self.timed else 1, 2))]
        makes = [self._effect(bound) for _ in range(self.rng.randint(1, 3))]
        head = f"action a{index} :parameters ({kinds})"
        counter = ["(increase (counter) 1)"] if self.counts else []
        if not self.timed or index == 2:
            makes += counter
            needs += [f"(todo{index})"] if self.timed else []
            makes += [f"(not (todo{index}))"] if self.timed else []
            if self.numeric and not self.timed and self._chance(0.3):
                needs.append("(>= (n) 1)")
                makes.append("(decrease (n) 1)")
            return f"(:{head} :precondition (and {' '.join(needs)}) :effect (and {' '.join(makes)}))"
        needs = [f"({self.rng.choice(('at start', 'over all', 'at end'))} {part})" for part in needs]
        makes = [f"({self.rng.choice(('at start', 'at end', 'at end'))} {part})" for part in makes]
        needs, makes = (
            [*needs, f"(at start (todo{index}))"],
            [*makes, f"(at start (not (todo{index})))", *(f"(at end {part})" for part in counter)],
        )
        lasts = f":duration (= ?duration {self.rng.randint(1, 3)})"
        return f"(:durative-{head} {lasts} :condition (and {' '.join(needs)}) :effect (and {' '.join(makes)}))"


class Here:
    """The planner of a worker's process, in this one."""

    description: ClassVar[dict[str, object]] = {}

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        if search == EXPLAIN:
            why = explain_no_plan(domain, problem, PATIENCE)
            return PlanResult(PlanStatus.BOUND, problem.goal, why=why)
        tries = turns_for(domain, problem, search, PATIENCE)[:1]
        tries = [replace(one, seconds=PATIENCE) for one in tries]
        return solve(domain, problem, search, tries)

    def close(self) -> None:
        pass


class Judge:
    """What is true of a task: `told` counts the statements by kind, `untrue` and `disputed` list those that failed."""

    def __init__(self, task: RandomTask) -> None:
        self.task, self.told = task, Counter[str]()
        self.untrue: list[str] = []
        self.disputed: list[str] = []
        self.brute = explored(task, "(and)")

    def ends(self, goal: str, brute: Brute | None = None) -> list[str]:
        """Plans that reach a goal."""
        brute, part = brute or self.brute, read(goal)
        return [plan for state, plan in brute.ends.items() if brute.true(part, state)]

    def never(self, kind: str, parts: Iterable[str], sentence: str, states: Iterable[State] | None = None) -> None:
        """Check that conditions are together true in no state. A condition with free variables is a pattern."""
        self.told[kind] += 1
        goal = ["and", *map(read, parts)]
        for state in self.brute.states if states is None else states:
            if matches(self.brute, goal, state):
                self.untrue.append(f"{kind}: {sentence}")
                return

    def can(self, kind: str, goal: str, sentence: str, problem: str = "", brute: Brute | None = None) -> None:
        """Check that a plan reaches a goal, and that VAL accepts it."""
        self.told[kind] += 1
        plans = self.ends(goal, brute)
        if not plans:
            self.untrue.append(f"{kind}: {sentence}")
            return
        task = problem or self.task.problem(goal)
        for plan in sorted(plans, key=len)[:4]:
            verdicts = judges(self.task.domain, task, plan, ("val",))
            if verdicts["val"] != VALID:  # it does not read all, and compares with a tolerance
                verdicts |= judges(self.task.domain, task, plan, ("kairos",))
            if VALID in verdicts.values():
                self.told[f"plans accepted: {[f'{name} {verdict[:7]}' for name, verdict in verdicts.items()]}"] += 1
                return
        self.disputed.append(f"{kind}: {sentence}: {task}: {verdicts}")

    def verdict(self, goal: str, result: PlanResult, why: WhyNoPlan | None = None) -> None:
        if result.status is PlanStatus.UNSOLVABLE or (why and why.is_proof):
            self.never("no plan", [goal], f"{NO_PLAN}: {goal}", self.brute.ends)

    def reasons(self, goal: str, why: WhyNoPlan) -> None:
        for part in why.goals:
            if part.reachable:
                self.can("can be reached", part.goal, part.goal)
            elif part.reachable is False:
                self.never("cannot be reached", [part.goal], part.goal, self.brute.ends)
        if why.exclusive:
            self.never("never together", why.exclusive, str(why.exclusive), self.brute.ends)
        for cure in why.cures:
            new = cure.removeprefix("with ").removesuffix(" in :init")
            head = new.split(") ")[0]
            rest = [fact for fact in self.task.init if not (new.startswith("(= ") and fact.startswith(head + ") "))]
            problem = self.task.problem(goal, [*rest, new])
            try:
                brute = explored(self.task, goal, [*rest, new])
            except TooManyStatesError:
                self.told["cure, too large"] += 1
                continue
            self.can("cure", goal, cure, problem, brute)
        self.chain(why.chain)

    def findings(self, goal: str, texts: tuple[str, str]) -> None:
        """What `check` says of goals and actions that are never possible."""
        steps = {
            line.split("(")[1].split()[0].strip(")\n")
            for plan in self.brute.ends.values()
            for line in plan.splitlines()
        }
        for finding in tools.check(*texts).findings:
            if part := re.match(r"the goal (\(.*\)) can never be true", finding.message):
                self.never("unreachable-goal", [part[1]], finding.message, self.brute.ends)
            elif names := re.match(r".*?actions? (.*?) can never be applied", finding.message):
                self.told["never applied"] += 1
                if steps & {*re.split(r", | and ", names[1])}:
                    self.untrue.append(f"{finding.rule}: {finding.message}")

    def chain(self, sentences: Iterable[str]) -> None:
        states = self.brute.states
        for sentence in sentences:
            after = re.match(
                r"(?:after (.*?)|at the beginning), (\(.*\)) (?:is|are) true, and (.*) can never", sentence
            )
            if after:
                steps = after[1].replace(") (", ")\n(") + "\n" if after[1] else ""
                found = next((state for state, plan in states.items() if plan == steps), None)
                if found is None:
                    found = run(self.brute, steps)
                if found is None or not all(self.brute.true(part, found) for part in read(f"({split(after[2])})")):
                    self.untrue.append(f"after: {sentence}")
                    return
                there = Brute(self.task.domain, self.task.problem("(and)"))
                there.start = found
                try:
                    there.explore()
                except TooManyStatesError:
                    return
                states = there.states
                self.never("later", [after[3]], sentence, states)
                continue
            for kind, pattern in STATEMENTS.items():
                for said in re.findall(pattern, sentence):
                    parts = [said] if kind in ("condition", "whole") else [*map(text_of, read(f"({split(said)})"))]
                    if kind == "false":
                        parts = [f"(not {part})" for part in parts]
                    where = self.brute.ends if kind in ("end", "ended true", "ended false") else states
                    if kind == "ended true":
                        parts = [f"(not {part})" for part in parts]
                    self.never(kind, parts, sentence, where)
            where = self.brute.ends if "at the end" in sentence else states
            for fluent, low, high in bounds(sentence):
                self.told["bounds"] += 1
                values = [value for state in where if (value := self.brute.value(read(fluent), state, {})) is not None]
                if any(not low <= value <= high for value in values):
                    self.untrue.append(f"bounds: {sentence}")
            if not any(re.search(pattern, sentence) for pattern in (*STATEMENTS.values(), *OTHERS)):
                self.untrue.append(f"not checked: {sentence}")


STATEMENTS = {
    "condition": r"its condition (\(.*?\)) is never true(?: from then on)?(?:[,:]|$)",
    "together": r"its conditions (\(.*?\)) are never true together",
    "needs": r"but needs (.*), never true",
    "absent": r"no action makes (\(.*?\)) true, and it is (?:not in :init|false by then)",
    "false": r"no action makes (\(.*?\)) false, and it is (?:in :init|true by then)",
    "no step": r"no possible step makes (\(.*\)) true",
    "end": r"^(\(.*\)) is false at the end",
    "whole": r"^(\(.*\)) is never true",
    "ended true": r"a timed literal makes (\(.*\)) true at",
    "ended false": r"a timed literal makes (\(.*\)) false at",
}
OTHERS = (r"a timed literal sets", r"has no number", r"no call of it is possible", r"no object has the type")


def bounds(sentence: str) -> Iterator[tuple[str, float, float]]:
    number = r"(-?[\d.]+)"
    for fluent, one in re.findall(rf"(\([nm][^()]*\)) is {number}(?:,|$)", sentence):
        yield fluent, float(one), float(one)
    for fluent, one, other in re.findall(rf"(\([nm][^()]*\)) is between {number} and {number}", sentence):
        yield fluent, float(one), float(other)
    for fluent, kind, one in re.findall(rf"(\([nm][^()]*\)) is at (least|most) {number}", sentence):
        yield fluent, float(one) if kind == "least" else -1e9, float(one) if kind == "most" else 1e9


def split(words: str) -> str:
    return words.replace(") and (", ") (").replace(", ", " ")


def text_of(part: object) -> str:
    return f"({' '.join(map(text_of, part))})" if isinstance(part, list) else str(part)


def matches(brute: Brute, goal: list[object], state: State) -> bool:
    """Whether a condition is true in a state, or an instance of a pattern with variables of a sentence."""
    free = sorted(set(re.findall(r"\?[\w-]+", text_of(goal))) - bound_in(goal))
    kinds = [(name, "place" if name.startswith("?y") else "thing") for name in free]
    words = [word for name, kind in kinds for word in (name, "-", kind)]
    return any(brute.true(goal, state, case) for case in brute._cases(words, {}))


def bound_in(part: object) -> set[str]:
    if not isinstance(part, list):
        return set()
    own = {word for word in part[1] if word[0] == "?"} if part[:1] in (["forall"], ["exists"]) else set()
    return own.union(*map(bound_in, part))


def run(brute: Brute, plan: str) -> State | None:
    state = brute.start
    for line in plan.splitlines():
        step = next(step for step in brute.steps if str(step) == line)
        effects = brute.effects(*step.parts["start"], state, step.binding)
        if effects is None or not brute.true(step.parts["start"][0], state, step.binding):
            return None
        state = brute.after(state, [effects])
    return state


def explored(task: RandomTask, goal: str, init: Iterable[str] | None = None) -> Brute:
    """Everything that can happen in a task; a counter that nothing reads is left out."""
    domain = task.domain.replace("(increase (counter) 1)", "(and)")
    brute = Brute(domain, task.problem(goal, init), most=600)
    brute.explore()
    return brute


def judged(seed: int) -> Judge | None:
    """Judge what is said of a random task with a goal that no plan reaches, and of one with any goal."""
    task = RandomTask(seed)
    try:
        judge = Judge(task)
    except TooManyStatesError:
        return None
    goals = [task.goal() for _ in range(20)]
    impossible = [goal for goal in goals if not judge.ends(goal)]
    exclusive = (goal for goal in impossible if all(judge.ends(text_of(part)) for part in read(goal)[1:]))
    without = next(exclusive, "") or next(iter(impossible), "")
    planner = Here()
    for goal in dict.fromkeys((goals[0], without)):
        if not goal:
            continue
        texts = task.domain, task.problem(goal)
        if any(finding.severity == "error" for finding in tools.check(*texts).findings):
            judge.told["not sound"] += 1
            continue
        domain = tools.read_domain_file(texts[0], Level.TIME)
        problem = tools.read_problem_file(domain, texts[1], Level.TIME)
        result = planner.solve(domain, problem, GREEDY)
        judge.told[result.status.value] += 1
        judge.verdict(goal, result)
        if result.status in (PlanStatus.UNSOLVABLE, PlanStatus.BOUND, PlanStatus.TIMEOUT):
            why = why_no_plan(planner, domain, problem, result, PATIENCE)
            judge.verdict(goal, result, why)
            judge.reasons(goal, why)
            judge.findings(goal, texts)
    return judge


@pytest.mark.val
def test_nothing_untrue_is_said_of_random_tasks() -> None:
    told = Counter[str]()
    for seed in range(scaled(15, in_ci=120)):
        judge = judged(seed)
        if judge is not None:
            assert not judge.untrue, (seed, judge.untrue)
            told += judge.told
    assert min(told[kind] for kind in ("no plan", "can be reached", "cannot be reached", "never together", "cure")) > 2
