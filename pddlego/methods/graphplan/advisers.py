"""Planning while a model is asked for advice, and the built-in models.

The built-in models answer in words, as a language model does, and their answers are read in the same way.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeVar

from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Rejected
from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL, BuiltIn, base_mode
from pddlego.methods.graphplan.options import PLANS_BY_MODEL
from pddlego.methods.graphplan.setting import shortest_plan
from pddlego.methods.planning_settings import PlanningSetting
from pddlego.models.base import Feedback, Message, Model, Request, RuleModel, incomplete
from pddlego.pddl import Domain, Problem
from pddlego.pddl.costs import needs_numbers
from pddlego.planning import Planner, PlanResult, ProcessPlanner, Search
from pddlego.planning.graphplan.graph import relevance
from pddlego.planning.graphplan.values import (
    NOOP,
    AdviceQuestion,
    Advise,
    GraphSearch,
    GraphTask,
    SearchMoment,
    SearchWatcher,
)
from pddlego.runs.cells import Cell
from pddlego.util.answers import spoken
from pddlego.util.limits import SLICE

Answer = tuple[str, ...]

T = TypeVar("T")


class _LeftError(Exception):
    """The caller no longer waits for the plan."""


def planning(
    solve: Callable[[Advise, SearchWatcher], PlanResult],
    react: Callable[[AdviceQuestion | SearchMoment], Generator[Event, None, Answer]],
) -> Generator[Event, None, PlanResult]:
    """Plan in a thread of its own, so that an episode can yield the events of its questions and moments.

    `react` yields these events and returns the answer to a question, or an empty answer to a moment. Raises what
    `solve` and `react` raise. If the iteration stops early, planning ends at its next question or moment.
    """
    arrived: SimpleQueue[AdviceQuestion | SearchMoment | PlanResult | BaseException] = SimpleQueue()
    answers: SimpleQueue[Answer | None] = SimpleQueue()

    def tell(moment: AdviceQuestion | SearchMoment) -> Answer:
        arrived.put(moment)
        answer = answers.get()
        if answer is None:
            raise _LeftError
        return answer

    def work() -> None:
        try:
            arrived.put(solve(tell, tell))
        except BaseException as error:  # noqa: BLE001 -- raised again below, in the thread that plays
            arrived.put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        while True:
            with contextlib.suppress(Empty):  # the timeout lets this thread handle signals
                update = arrived.get(timeout=SLICE)
                if isinstance(update, PlanResult):
                    return update
                if isinstance(update, BaseException):
                    raise update
                answers.put((yield from react(update)))
    finally:
        answers.put(None)


@dataclass(frozen=True)
class Advisers:
    """Asks a model which actions to keep, and a model in which order to try them, within the limits of an episode."""

    budget: Budget
    prune: Model | None = None
    sort: Model | None = None

    def ask(self, question: AdviceQuestion) -> Generator[Event, None, Answer]:
        """The answer of a model; empty, after the event `Rejected`, if it names no candidate.

        Raises what `episode.ask.ask` raises, and `SettingError` for a template that cannot be rendered.
        """
        from pddlego.models.prompts import Prompts  # the template engine is slow to import

        model = self.prune if question.purpose == "prune" else self.sort
        domain, problem = question.domain, question.problem
        if model is None:
            return ()
        assert domain is not None
        assert problem is not None
        text = Prompts("graphplan").render(
            f"graphplan/{question.purpose}",
            domain=domain.text.strip(),
            initial=sorted(map(str, problem.facts)),
            goal=problem.goal,
            level=question.level,
            facts=question.facts,
            candidates=[paper_form(name, domain) for name in question.candidates],
            useless=[paper_form(name, domain) for name in question.useless],
        )
        request = Request(question.purpose, (Message("user", text),), context=question)
        completion = yield from ask(model, request, self.budget)
        facts = question.facts if question.purpose == "sort" else ()  # an order may name no-ops
        said = completion.text
        if incomplete(completion):  # the last action is left out: `move a b1` may be the beginning of `move a b12`
            said = said[: max(said.rfind("\n"), said.rfind(")")) + 1]
        answer = named_actions(spoken(said), question.candidates, domain, facts)
        if not answer:
            kept = "everything is kept" if question.purpose == "prune" else "the order stays as it is"
            yield Rejected(0, Feedback("unusable advice", f"it names none of the candidates, and {kept}"))
        self.budget.check_time()
        return answer


_LIST = re.compile(r"\(([^()]*)\)")
_PAIR = re.compile(r"""['"]?\?([\w-]+)['"]?\s*[:=]\s*['"]?([\w-]+)['"]?""")
_WORD = re.compile(r"[\w-]+")
_BULLET = re.compile(r"^\s*(?:[-*+\u2022]|\d+[.):])\s+")


def paper_form(action: str, domain: Domain) -> str:
    """A ground action as the paper writes it: the name of its parameter before each argument."""
    name, *args = action.strip("()").split()
    known = domain.actions_by_name.get(name)
    if known is None or len(known.parameters) != len(args):
        return " ".join((name, *args))
    pairs = (f"'{parameter.name}': '{arg}'" for parameter, arg in zip(known.parameters, args, strict=True))
    return f"{name} {', '.join(pairs)}".strip()


def named_actions(text: str, candidates: Iterable[str], domain: Domain, facts: Iterable[str] = ()) -> tuple[str, ...]:
    """The candidates that an answer names, each once, in the order of the answer; also no-ops of the `facts`.

    The forms `(move a b)`, `move(a, b)`, `move a b` and the paper's `move '?from': 'a', '?to': 'b'` are read, in any
    case, after bullets or numbers. Anything else is ignored.
    """
    known = {tuple(name.strip("()").split()): name for name in candidates}
    known |= {(NOOP, *fact.strip("()").split()): f"({NOOP} {fact[1:-1]})" for fact in facts}
    orders = {action.name: [parameter.name.lstrip("?") for parameter in action.parameters] for action in domain.actions}
    actions = (known.get(words) for line in text.lower().splitlines() for words in _readings(line, orders))
    return tuple(dict.fromkeys(name for name in actions if name is not None))


def _readings(line: str, orders: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """The possible readings of a line; not all of them are candidates."""
    plain = _BULLET.sub("", line)
    for inner in _LIST.findall(plain):
        yield tuple(inner.replace(",", " ").split())
    first = _WORD.search(plain)
    if first is None:
        return
    name, rest = first.group(), plain[first.end() :]
    pairs = _PAIR.findall(rest)
    if pairs:
        values = dict(pairs)
        order = orders.get(name, ())
        named = [values[key] for key in order] if set(order) == set(values) else [value for _, value in pairs]
        yield (name, *named)
    yield (name, *_WORD.findall(rest))


_ORACLE_SECONDS = 60.0
"""Seconds that the oracle searches for a plan; without a plan it keeps all actions."""

_INTACT = "oracle:intact"
"""The adviser that knows the domain before its damage, so that it needs a setting."""

_RANDOM = re.compile(r"random(?::(0|1|0?\.\d+|1\.0*))?\Z")

_Steps = tuple[tuple[str, ...], ...]
"""The actions of each level of a plan; empty without a plan."""

Choose = Callable[[AdviceQuestion, random.Random], Sequence[str]]
"""A rule of an adviser: returns some of the candidates of a question, in an order."""


def adviser_rule(name: str) -> Choose | None:
    """The rule of the adviser of that name; None for a language model. Raises `UsageError` for a malformed name."""
    if name == _INTACT:
        reason = "It knows the intact domain of a setting, and a file of yours has none."
        raise UsageError(f"{name} cannot advise here", reason, "Choose oracle, or play a setting in mode graphplan.")
    built_in = BuiltIn() if name == "relaxed" else BuiltIn.parse(name)
    if built_in is not None:
        return _relaxed() if built_in.rate is None else _noisy(_relaxed(), built_in.rate)
    if name.partition(":")[0] == "random":
        match = _RANDOM.match(name)
        if match is None:
            reason = "random:P keeps every action with the probability P."
            raise UsageError(f"Unknown model {name}", reason, "Example: random:0.5.")
        return _chance(float(match.group(1) or 0.5))
    rules = {"keep-all": lambda: _keep_all, "oracle": _oracle, "adversarial": _adversarial}
    return rules[name]() if name in rules else None


def make_adviser(name: str, seed: str) -> RuleModel | None:
    """The adviser of that name; None for a language model. Raises `UsageError` for a malformed name."""
    choose = adviser_rule(name)
    return _adviser(name, choose, seed) if choose is not None else None


def _adviser(name: str, choose: Choose, seed: str) -> RuleModel:
    rng, built_in = random.Random(f"{name}/{seed}"), BuiltIn.parse(name)

    def answer(request: Request) -> str:
        question = request.context
        assert isinstance(question, AdviceQuestion)
        assert question.domain is not None
        return "\n".join(paper_form(action, question.domain) for action in choose(question, rng))

    return RuleModel(name, answer, {} if built_in is None or built_in.rate is None else {"noise": built_in.rate})


def _keep_all(question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
    """Keep every action, in the given order."""
    return question.candidates


def _chance(keep: float) -> Choose:
    """Keep each action with the probability `keep`, and shuffle."""

    def choose(question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        names = list(question.candidates)
        if question.purpose == "prune":
            return [name for name in names if rng.random() < keep]
        rng.shuffle(names)
        return names

    return choose


def _once(compute: Callable[[GraphTask], T]) -> Callable[[AdviceQuestion], T]:
    """A function from a question to `compute(question.task)`, which is computed once for each planning call."""
    last: list[tuple[GraphTask, T]] = []

    def result_for(question: AdviceQuestion) -> T:
        task = question.task
        assert task is not None
        if not last or last[0][0] is not task:
            last[:] = [(task, compute(task))]
        return last[0][1]

    return result_for


def _relaxed() -> Choose:
    """Keep the actions that are relevant in the delete relaxation, and sort them by their distance to the goal."""

    def distances(task: GraphTask) -> Mapping[str, int]:
        least: dict[str, int] = {}
        for action, distance in relevance(task).items():
            name = task.actions[action]
            least[name] = min(distance, least.get(name, distance))
        return least

    distances_for = _once(distances)

    def choose(question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        known = distances_for(question)
        if question.purpose == "prune":
            return [name for name in question.candidates if name in known]
        return sorted(question.candidates, key=lambda name: known.get(name, len(known)))

    return choose


def _noisy(rule: Choose, noise: float) -> Choose:
    """A rule in whose choices another action replaces each action with the probability `noise`."""

    def choose(question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        chosen = list(rule(question, rng))
        others = [name for name in question.candidates if name not in chosen] or question.candidates
        return [rng.choice(others) if rng.random() < noise else name for name in chosen]

    return choose


def _oracle() -> Choose:
    """Keep the actions of a shortest plan, those of the question's level first. Without a plan, keep all actions."""
    plan_for = _once(_plan_of)

    def choose(question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        steps = plan_for(question)
        planned = {name for level in steps for name in level}
        if not planned:
            return question.candidates
        if question.purpose == "prune":
            return [name for name in question.candidates if name in planned]
        now = set(steps[question.level - 1]) if question.level <= len(steps) else set()
        return sorted(question.candidates, key=lambda name: (name not in now, name not in planned))

    return choose


def _knowing(setting: PlanningSetting | None) -> Choose:
    """Keep, at each level, the actions of that level of a shortest plan in the domain before its damage."""
    plans: list[_Steps] = []

    def choose(question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        if not plans:
            assert setting is not None
            assert question.problem is not None
            with ProcessPlanner() as planner:  # that of the episode waits for the answer
                plans.append(shortest_plan(planner, setting.domain, question.problem, _ORACLE_SECONDS) or ())
        now = plans[0][question.level - 1 : question.level]
        return [name for name in question.candidates if any(name in level for level in now)]

    return choose


def _plan_of(task: GraphTask) -> _Steps:
    """The actions of each level of a shortest plan; empty if no plan is found in time."""
    from pddlego.planning.graphplan.search import plan_graph  # most advisers plan nothing

    ends = time.monotonic() + _ORACLE_SECONDS

    def tick(progress: object) -> None:
        if time.monotonic() > ends:
            raise TimeoutError

    try:
        return plan_graph(task, GraphSearch(), tick=tick).steps or ()
    except TimeoutError:
        return ()


def _adversarial() -> Choose:
    """Keep only the least relevant action, invent actions, answer with prose, and reverse every order."""
    rule, calls = _relaxed(), itertools.count(1)

    def choose(question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        call, backwards = next(calls), list(reversed(rule(question, rng)))
        if question.purpose == "sort":
            return ["(teleport everything)", *backwards]
        useless = [name for name in question.candidates if name not in backwards] or list(question.candidates)
        return ["(I would not do any of these)"] if call % 5 == 0 else ["(teleport everything)", useless[-1]]

    return choose


@dataclass(frozen=True)
class PlanRequest:
    """The context of a request for a plan, from which the built-in model computes its answer."""

    planner: Planner
    domain: Domain
    problem: Problem


def builtin_model(name: str, cell: Cell, setting: PlanningSetting | None) -> Model | None:
    """The built-in model of that name; None for a language model. Raises `UsageError` if it cannot play the cell."""
    seed = f"{cell.setting}/{cell.model_seed}"
    adviser = _adviser(name, _knowing(setting), seed) if name == _INTACT else make_adviser(name, seed)
    if adviser is None or base_mode(cell.mode) not in PLANS_BY_MODEL:
        return adviser
    built_in = BuiltIn.parse(name)
    if built_in is None:
        own = f"{BUILT_IN_MODEL} and {BUILT_IN_MODEL}+noise:P"
        reason = f"It advises Graphplan. The built-in models that write plans are {own}."
        raise UsageError(f"{name} cannot play {cell.mode}", reason, "Choose one of them, or a language model.")
    noise, rng = built_in.rate or 0.0, random.Random(f"{name}/{seed}")

    def answer(request: Request) -> str:
        """The planner's plan, without each of its actions with the probability of `noise`."""
        task = request.context
        assert isinstance(task, PlanRequest)
        engine = "pyperplan" if needs_numbers(task.domain, task.problem) is None else "auto"
        plan = task.planner.solve(task.domain, task.problem, Search("gbf", "hff", engine)).plan  # any plan is good
        if plan is None:
            return "The planner has no plan."
        return "\n".join(str(step) for step in plan.steps if rng.random() >= noise)

    return RuleModel(name, answer, adviser.description)
