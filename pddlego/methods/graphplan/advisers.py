"""Advisers: planning while models are asked, and advisers without a language model (rules, chance, the worst answer).

Those answer in words, as a language model does, so that what they say is read in the same way.
"""

from __future__ import annotations

import contextlib
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Rejected
from pddlego.errors import UsageError
from pddlego.methods.base import BuiltIn
from pddlego.models.base import Completion, Feedback, Message, Model, Request
from pddlego.models.limiter import SLICE
from pddlego.pddl import Domain
from pddlego.planning import PlanResult
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
from pddlego.util.answers import spoken

if TYPE_CHECKING:
    from pddlego.models.prompts import Prompts


NAMES = ("relaxed", "oracle", "keep-all", "random", "adversarial")

_ORACLE_SECONDS = 60.0
"""Seconds that the oracle looks for a plan; without one it keeps everything."""

_RANDOM = re.compile(r"random(?::(0|1|0?\.\d+|1\.0*))?\Z")

Choose = Callable[[AdviceQuestion, random.Random], Sequence[str]]
"""Names some of the candidates, in an order."""


@dataclass
class Adviser:
    """Answers with what `choose` names."""

    name: str
    choose: Choose
    rng: random.Random
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        question = request.context
        assert isinstance(question, AdviceQuestion)
        assert question.domain is not None
        return Completion("\n".join(written(name, question.domain) for name in self.choose(question, self.rng)))


def make_adviser(name: str, seed: str) -> Adviser | None:
    """The adviser of that name; None for a language model's. Raises `UsageError` for one that is written wrongly."""
    rng = random.Random(f"{name}/{seed}")
    built_in = BuiltIn() if name == "relaxed" else BuiltIn.parse(name)
    if built_in is not None and built_in.rate is None:
        return Adviser(name, Relaxed(), rng)
    if built_in is not None and built_in.rate is not None:
        return Adviser(name, Noisy(Relaxed(), built_in.rate), rng, {"noise": built_in.rate})
    if name.partition(":")[0] == "random":
        match = _RANDOM.match(name)
        if match is None:
            reason = "random:P keeps every action with the probability P."
            raise UsageError(f"Unknown model {name}", reason, "Example: random:0.5.")
        return Adviser(name, Chance(float(match.group(1) or 0.5)), rng)
    made: dict[str, Callable[[], Choose]] = {"keep-all": KeepAll, "oracle": Oracle, "adversarial": Adversarial}
    return Adviser(name, made[name](), rng) if name in made else None


class KeepAll:
    """Keeps everything in its order."""

    def __call__(self, question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
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
    """Keeps what may help by the delete relaxation, and tries first what is nearest to the goal."""

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
    """Another's choice, of which each action is left out with the probability `noise`, and another put in."""

    choose: Choose
    noise: float

    def __call__(self, question: AdviceQuestion, rng: random.Random) -> Sequence[str]:
        chosen = list(self.choose(question, rng))
        others = [name for name in question.candidates if name not in chosen] or question.candidates
        return [rng.choice(others) if rng.random() < self.noise else name for name in chosen]


class Oracle:
    """Knows a shortest plan: keeps its actions, and tries first those of the level."""

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
    """The actions of each level of a plan; nothing where none is found in time."""
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
    """Keeps the one action that helps least, invents others, answers with prose, and reverses every order."""

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


PROMPTS = ("task", "prune", "sort")
"""The templates in `prompts/graphplan/`."""

_UNUSABLE = "unusable advice"
"""The category of an answer that names no candidate."""


Answer = tuple[str, ...]

React = Callable[[AdviceQuestion | SearchMoment], Generator[Event, None, Answer]]
"""The events of a question or of a moment; returns the answer, which is empty for a moment."""


class _LeftError(Exception):
    """The caller no longer waits for the plan."""


def planning(solve: Callable[[Advise, SearchWatcher], PlanResult], react: React) -> Generator[Event, None, PlanResult]:
    """Plan in a thread of its own, so that questions and moments are events here, where an episode can yield them.

    Raises what `solve` and `react` raise. If iteration stops early, the planning ends at its next question or moment.
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
            with contextlib.suppress(Empty):  # not for ever: a signal to another thread waits for this one to wake
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
    """Asks models, within the limits of an episode: which actions to keep, and in which order to try them."""

    budget: Budget
    prune: Model | None = None
    sort: Model | None = None

    def ask(self, question: AdviceQuestion) -> Generator[Event, None, Answer]:
        """Ask. An answer that names no candidate is rejected, and nothing follows from it.

        Raises what `episode.ask.ask` raises.
        """
        from pddlego.models.prompts import Prompts  # what renders templates is loaded when a model is asked

        model = self.prune if question.purpose == "prune" else self.sort
        if model is None:
            return ()
        completion = yield from ask(model, _question_request(Prompts("graphplan"), question), self.budget)
        answer = _read_advice(completion.text, question)
        if not answer:
            kept = "everything is kept" if question.purpose == "prune" else "the order stays as it is"
            yield Rejected(0, Feedback(_UNUSABLE, f"it names none of the candidates, and {kept}"))
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


def _read_advice(text: str, question: AdviceQuestion) -> tuple[str, ...]:
    """The candidates that an answer names; an order may name no-ops, too."""
    assert question.domain is not None
    facts = question.facts if question.purpose == "sort" else ()
    return named_actions(spoken(text), question.candidates, question.domain, facts)


_LIST = re.compile(r"\(([^()]*)\)")
_PAIR = re.compile(r"""['"]?\?([\w-]+)['"]?\s*[:=]\s*['"]?([\w-]+)['"]?""")
_WORD = re.compile(r"[\w-]+")
_BULLET = re.compile(r"^\s*(?:[-*+\u2022]|\d+[.):])\s+")


def written(action: str, domain: Domain) -> str:
    """A ground action as the paper writes it: each argument behind the name of its parameter."""
    name, *args = action.strip("()").split()
    known = domain.actions_by_name.get(name)
    if known is None or len(known.parameters) != len(args):
        return " ".join((name, *args))
    pairs = (f"'{parameter.name}': '{arg}'" for parameter, arg in zip(known.parameters, args, strict=True))
    return f"{name} {', '.join(pairs)}".strip()


def named_actions(text: str, candidates: Iterable[str], domain: Domain, facts: Iterable[str] = ()) -> tuple[str, ...]:
    """The candidates that an answer names, each once, in its order; no-ops of the `facts` may be among them.

    Read are `(move a b)`, `move(a, b)`, `move a b` and the paper's `move '?from': 'a', '?to': 'b'`, with bullets or
    numbers before them, in any case. Anything else is ignored.
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
