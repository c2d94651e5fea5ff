"""Searching with functions in the sandbox, against the same functions in the host process; memory over many searches.

Both search with the same code and the same keys of states; only where the functions run differs. A minimal
textbook search is measured beside them.
"""

from __future__ import annotations

import resource
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.table import show
from pddlego.methods.thought_of_search.expander import canonical
from pddlego.methods.thought_of_search.functions import Code, Expanded, Fault, ModelFunctions
from pddlego.methods.thought_of_search.loading import call_limits, load, search_limits
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.methods.thought_of_search.reference_model import reference_functions
from pddlego.methods.thought_of_search.search import StateSearch
from pddlego.methods.thought_of_search.space import SearchTask, StateKey
from pddlego.sandbox import Sandbox

SETTINGS, INSTANCES, MANY = ("24game", "blocksworld"), 100, 1_000_000

OPTIONS = SearchOptions()


class HostFunctions(ModelFunctions):
    """The same functions, called in this process."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.seconds, self.states = 0.0, []
        names: dict[str, Any] = {}
        for text in texts.values():
            exec(text, names)
        self._both: tuple[Callable[..., Any], Callable[..., Any]] = (names["successors"], names["is_goal"])
        self._waiting: deque[Sequence[int]] = deque()

    def begin(self, search: SearchTask, memory: int) -> None:
        self._search, self.states = search, [search.start]
        self._waiting.clear()

    def post(self, numbers: Sequence[int], watched: bool) -> None:
        self._waiting.append(numbers)

    def expanded(self) -> tuple[list[Expanded], Fault | None]:
        successors, is_goal = self._both
        done: list[Expanded] = []
        for number in self._waiting.popleft():
            state = self.states[number]
            if is_goal(state, *self._search.goal_arguments):
                return [*done, True], None
            first = len(self.states)
            self.states.extend(successors(state, *self._search.successor_arguments))
            done.append(range(first, len(self.states)))
        return done, None


def main() -> None:
    rows = []
    for name in SETTINGS:
        setting, texts = load(name, OPTIONS), dict(reference_functions(name))
        key = canonical(setting.space.unordered)
        with Sandbox() as sandbox:
            with setting.space.judge(sandbox, 0) as judge:
                searches = [instance.searches[0] for instance in judge.instances[:: len(judge.instances) // INSTANCES]]
            functions = ModelFunctions(sandbox, call_limits(OPTIONS))
            for which in ("successors", "goal"):
                functions.put(which, Code(texts[which], "successors" if which == "successors" else "is_goal"))
            inside = _rate(_searcher(functions, key, ("canonical", setting.space.unordered)), searches)
            functions.close()
        host = _rate(_searcher(HostFunctions({str(which): text for which, text in texts.items()}), key), searches)
        textbook = _rate(_textbook({str(which): text for which, text in texts.items()}, key), searches)
        rows.append((name, f"{inside:,.0f}", f"{host:,.0f}", f"{inside / host:.2f}", f"{textbook:,.0f}"))
    titles = ("", "in the sandbox", "in the host process", "share", "textbook search in the host")
    show(f"search: expansions a second, {INSTANCES} instances", titles, rows)
    _memory()


def _searcher(
    functions: ModelFunctions, key: StateKey, form: tuple[str, Sequence[str]] | None = None
) -> Callable[[SearchTask], int]:
    search = StateSearch(functions, "breadth-first", key, search_limits(OPTIONS, True), key_form=form)

    def run(task: SearchTask) -> int:
        result = None
        running = search.run(task)
        while result is None:
            try:
                next(running)
            except StopIteration as end:
                result = end.value
        assert result.fault is None
        return int(result.expansions)

    return run


def _textbook(texts: dict[str, str], key: StateKey) -> Callable[[SearchTask], int]:
    names: dict[str, Any] = {}
    for text in texts.values():
        exec(text, names)

    def run(task: SearchTask) -> int:
        waiting: deque[tuple[Any, Any]] = deque([(task.start, None)])
        parents: dict[Any, Any] = {}
        while waiting:
            state, parent = waiting.popleft()
            known = key(state)
            if known in parents:
                continue
            parents[known] = parent
            if names["is_goal"](state, *task.goal_arguments):
                return len(parents) - 1
            waiting.extend((after, state) for after in names["successors"](state, *task.successor_arguments))
        return len(parents)

    return run


def _rate(run: Callable[[SearchTask], int], searches: Iterable[SearchTask]) -> float:
    """Expansions a second, after three searches to get warm."""
    names = list(searches)
    for task in names[:3]:
        run(task)
    began = time.perf_counter()
    return sum(run(task) for task in names) / (time.perf_counter() - began)


def _memory() -> None:
    """Memory of both processes, by the number of states that were expanded."""
    setting, texts = load("24game", OPTIONS), reference_functions("24game")
    rows = []
    with Sandbox() as sandbox:
        with setting.space.judge(sandbox, 0) as judge:
            searches = [instance.searches[0] for instance in judge.instances]
        functions = ModelFunctions(sandbox, call_limits(OPTIONS))
        functions.put("successors", Code(texts["successors"], "successors"))
        functions.put("goal", Code(texts["goal"], "is_goal"))
        form, expanded, printed = ("canonical", setting.space.unordered), 0, 0
        run = _searcher(functions, canonical(setting.space.unordered), form)
        while expanded < MANY:
            for task in searches:
                expanded += run(task)
                if expanded >= printed:
                    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                    rows.append((f"{expanded:,}", f"{ours:.0f}", _resident(functions)))
                    printed += MANY // 5
                if expanded >= MANY:
                    break
        functions.close()
    show("search: memory in MiB", ("states expanded", "host, at most", "sandbox"), rows)


def _resident(functions: ModelFunctions) -> str:
    """The memory of the functions' process, where the system says it."""
    child = functions.process
    status = Path(f"/proc/{child}/status")
    if child is None or not status.exists():
        return "-"
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return f"{int(line.split()[1]) / 1024:.0f}"
