"""Planning while a model is asked for advice, and the built-in models.

The built-in models answer in words, as a language model does, and their answers are read in the same way.
"""

from __future__ import annotations

import contextlib
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Rejected
from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL, BuiltIn, whole
from pddlego.methods.graphplan.options import BY_MODEL
from pddlego.models.base import Feedback, Message, Model, Request, RuleModel
from pddlego.models.limiter import SLICE
from pddlego.pddl import Domain, Problem
from pddlego.planning import Planner, PlanResult, Search
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

if TYPE_CHECKING:
    from pddlego.models.prompts import Prompts


Answer = tuple[str, ...]


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

        Raises what `episode.ask.ask` raises.
        """
        from pddlego.models.prompts import Prompts  # the template engine is slow to import

        model = self.prune if question.purpose == "prune" else self.sort
        if model is None:
            return ()
        completion = yield from ask(model, _question_request(Prompts("graphplan"), question), self.budget)
        assert question.domain is not None
        facts = question.facts if question.purpose == "sort" else ()  # an order may name no-ops
        answer = named_actions(spoken(completion.text), question.candidates, question.domain, facts)
        if not answer:
            kept = "everything is kept" if question.purpose == "prune" else "the order stays as it is"
            yield Rejected(0, Feedback("unusable advice", f"it names none of the candidates, and {kept}"))
        self.budget.check_time()
        return answer


def _question_request(prompts: Prompts, question: AdviceQuestion) -> Request:
    """The request that asks a question. Raises `SettingError` for a template that cannot be rendered."""
    assert question.domain is not None
    assert question.problem is not None
    text = prompts.render(
        f"graphplan/{question.purpose}",
        domain=question.domain.text.strip(),
        initial=sorted(map(str, question.problem.facts)),
        goal=question.problem.goal,
        level=question.level,
        facts=question.facts,
        candidates=[written(name, question.domain) for name in question.candidates],
    )
    return Request(question.purpose, (Message("user", text),), context=question)


_LIST = re.compile(r"\(([^()]*)\)")
_PAIR = re.compile(r"""['"]?\?([\w-]+)['"]?\s*[:=]\s*['"]?([\w-]+)['"]?""")
_WORD = re.compile(r"[\w-]+")
_BULLET = re.compile(r"^\s*(?:[-*+\u2022]|\d+[.):])\s+")


def written(action: str, domain: Domain) -> str:
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


NAMES = ("relaxed", "oracle", "keep-all", "random", "adversarial")

_ORACLE_SECONDS = 60.0
"""The time in which the oracle searches for a plan; without a plan it keeps everything."""

_RANDOM = re.compile(r"random(?::(0|1|0?\.\d+|1\.0*))?\Z")

Choose = Callable[[AdviceQuestion, random.Random], Sequence[str]]
"""Chooses some of the candidates of a question, in an order."""


def adviser_rule(name: str) -> Choose | None:
    """The rule of the adviser of that name; None for a language model. Raises `UsageError` for a malformed name."""
    built_in = BuiltIn() if name == "relaxed" else BuiltIn.parse(name)
    if built_in is not None:
        return Relaxed() if built_in.rate is None else Noisy(Relaxed(), built_in.rate)
    if name.partition(":")[0] == "random":
        match = _RANDOM.match(name)
        if match is None:
            reason = "random:P keeps every action with the probability P."
            raise UsageError(f"Unknown model {name}", reason, "Example: random:0.5.")
        return Chance(float(match.group(1) or 0.5))
    rules: dict[str, Callable[[], Choose]] = {
        "keep-all": lambda: keep_all,
        "oracle": Oracle,
        "adversarial": Adversarial,
    }
    return rules[name]() if name in rules else None


def make_adviser(name: str, seed: str) -> RuleModel | None:
    """The adviser of that name; None for a language model. Raises `UsageError` for a malformed name."""
    choose, rng = adviser_rule(name), random.Random(f"{name}/{seed}")

    def answer(request: Request) -> str:
        question = request.context
        assert isinstance(question, AdviceQuestion)
        assert question.domain is not None
        assert choose is not None
        return "\n".join(written(action, question.domain) for action in choose(question, rng))

    if choose is None:
        return None
    return RuleModel(name, answer, {"noise": choose.noise} if isinstance(choose, Noisy) else {})


def keep_all(question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
    """Keep every action, in the given order."""
    return question.candidates


@dataclass
class Chance:
    """Keeps each action with the probability `keep`, and shuffles."""

    keep: float

    def __call__(self, question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        names = list(question.candidates)
        if question.purpose == "prune":
            return [name for name in names if rng.random() < self.keep]
        rng.shuffle(names)
        return names


class Relaxed:
    """Keeps the actions that are relevant in the delete relaxation, and sorts them by their distance to the goal."""

    def __init__(self) -> None:
        self._known: tuple[GraphTask, dict[str, int]] | None = None

    def __call__(self, question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        distances = self._distances(question.task)
        if question.purpose == "prune":
            return [name for name in question.candidates if name in distances]
        return sorted(question.candidates, key=lambda name: distances.get(name, len(distances)))

    def _distances(self, task: GraphTask | None) -> Mapping[str, int]:
        assert task is not None
        if self._known is None or self._known[0] is not task:
            distances: dict[str, int] = {}
            for action, distance in relevance(task).items():
                name = task.actions[action]
                distances[name] = min(distance, distances.get(name, distance))
            self._known = task, distances
        return self._known[1]


@dataclass
class Noisy:
    """A choice in which another action replaces each action with the probability `noise`."""

    choose: Choose
    noise: float

    def __call__(self, question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        chosen = list(self.choose(question, rng))
        others = [name for name in question.candidates if name not in chosen] or question.candidates
        return [rng.choice(others) if rng.random() < self.noise else name for name in chosen]


class Oracle:
    """Keeps the actions of a shortest plan, and sorts those of the level first."""

    def __init__(self) -> None:
        self._known: tuple[GraphTask, tuple[tuple[str, ...], ...]] | None = None

    def __call__(self, question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        steps = self._plan(question.task)
        planned = {name for level in steps for name in level}
        if not planned:
            return question.candidates
        if question.purpose == "prune":
            return [name for name in question.candidates if name in planned]
        now = set(steps[question.level - 1]) if question.level <= len(steps) else set()
        return sorted(question.candidates, key=lambda name: (name not in now, name not in planned))

    def _plan(self, task: GraphTask | None) -> tuple[tuple[str, ...], ...]:
        assert task is not None
        if self._known is None or self._known[0] is not task:
            self._known = task, _plan_of(task)
        return self._known[1]


def _plan_of(task: GraphTask) -> tuple[tuple[str, ...], ...]:
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


class Adversarial:
    """Keeps only the least relevant action, invents actions, answers with prose, and reverses every order."""

    def __init__(self) -> None:
        self._relaxed = Relaxed()
        self._calls = 0

    def __call__(self, question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        self._calls += 1
        backwards = list(reversed(self._relaxed(question, rng)))
        if question.purpose == "sort":
            return ["(teleport everything)", *backwards]
        useless = [name for name in question.candidates if name not in backwards] or list(question.candidates)
        return ["(I would not do any of these)"] if self._calls % 5 == 0 else ["(teleport everything)", useless[-1]]


@dataclass(frozen=True)
class PlanRequest:
    """The context of a request for a plan, from which the built-in model computes its answer."""

    planner: Planner
    domain: Domain
    problem: Problem


def builtin_model(name: str, cell: Cell, setting: object) -> Model | None:
    """The built-in model of that name; None for a language model. Raises `UsageError` if it cannot play the cell."""
    seed = f"{cell.setting}/{cell.model_seed}"
    adviser = make_adviser(name, seed)
    if adviser is None or whole(cell.mode) != BY_MODEL:
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
        plan = task.planner.solve(task.domain, task.problem, Search("gbf", "hff")).plan  # any plan is good
        if plan is None:
            return "The planner has no plan."
        return "\n".join(str(step) for step in plan.steps if rng.random() >= noise)

    return RuleModel(name, answer, adviser.description)
