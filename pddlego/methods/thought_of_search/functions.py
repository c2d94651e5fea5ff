"""The two functions that a model wrote, in one session of the sandbox."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import chain
from typing import Any, Literal

from pddlego.methods.thought_of_search.expander import FUNCTIONS, Expander
from pddlego.methods.thought_of_search.space import SearchTask, Which, brief
from pddlego.sandbox import CallResult, Sandbox, SandboxLimits, SandboxSession, Status, differs
from pddlego.sandbox.jail.values import tagged
from pddlego.sandbox.sandbox import modules_of
from pddlego.util.answers import python_blocks, spoken


class FunctionFault(str, Enum):
    """The categories of feedback about a function, in the order of the paper's list, and that of a person."""

    TRANSITION = "unsound transition"
    CHANGED = "input changed"
    MISSING = "successors missing"
    GOAL = "wrong goal test"
    SUCCESSOR_ERROR = "successor exception"
    GOAL_ERROR = "goal exception"
    SEARCH_TIME = "search timeout"
    SUCCESSOR_TIME = "successor timeout"
    GOAL_TIME = "goal timeout"
    UNREADABLE = "no function"
    PERSON = "feedback of a person"


@dataclass(frozen=True)
class Fault:
    """What is wrong with one of the functions: a `message` of one line, and what prompts show, which may be empty.

    `shown` holds values by their names: the state, a wrong successor, the function's other arguments. `as_goal` is true
    for a goal test that accepts a state that is not a goal. `limit` is the option whose limit was exceeded.
    """

    kind: FunctionFault
    which: Which
    message: str
    shown: tuple[tuple[str, Any], ...] = ()
    trace: str = ""
    reason: str = ""
    as_goal: bool = False
    limit: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The shown values, one line for each."""
        return tuple(f"{name}: {brief(value)}" for name, value in self.shown)


_DEF = re.compile(r"^(?:async\s+)?def\s+([A-Za-z_]\w*)", re.MULTILINE)
_HEAD = re.compile(r"def\s+([A-Za-z_]\w*)\s*\(")
_DEFINITION = re.compile(r"(?:def|class|import|from|async def|@|#|[)\]}]|\s|$)|[A-Za-z_]\w*\s*(?::[^=]*)?=[^=(]*$")

_REQUESTED: dict[Which, str] = {"successors": "successors", "goal": "is_goal"}
"""The names in the prompts."""

_WORDS: dict[Which, str] = {"successors": "succ", "goal": "goal"}
"""Parts of similar names."""

_PAPER_WORDS: dict[Which, str] = {"successors": "successor", "goal": "goal"}


@dataclass(frozen=True)
class Code:
    """The text of a program, and the name of the requested function in it."""

    text: str
    name: str


def function_code(answer: str, which: Which) -> Code | None:
    """Read the last block of code that defines the function, with the definitions of earlier blocks.

    A model may show its old function before the new one. Returns None if the answer defines no function.
    """
    text = spoken(answer)
    blocks = [block.rstrip("` \n") for block in python_blocks(text)]  # a fence that is cut off leaves backticks
    if not blocks and (first := _DEF.search(text)):
        blocks = [text[first.start() :]]
    named = [(number, _named(block, which)) for number, block in enumerate(blocks)]
    named_blocks = [(number, name) for number, name in named if name] or [
        (number, names[-1]) for number, block in enumerate(blocks) if (names := _DEF.findall(block))
    ]
    if not named_blocks:
        return None
    last, name = named_blocks[-1]
    # Other blocks call something or have loops at their top level.
    helpers = [block for block in blocks[:last] if all(map(_DEFINITION.match, block.splitlines()))]
    return Code("\n\n\n".join((*helpers, blocks[last])).rstrip(), name)


def _named(block: str, which: Which) -> str | None:
    """The function of a block with the requested name, or else the last one with a similar name."""
    names = [name for name in _DEF.findall(block) if _WORDS[which] in name.lower()]
    if _REQUESTED[which] in names:
        return _REQUESTED[which]
    names = [name for name in names if not name.startswith("_")] or names
    return names[-1] if names else None


def code_as_the_paper(answer: str, which: Which) -> Code | None:
    """Read the function as the paper's code does: the first one of the first block that begins with such a function.

    Lines before it, such as imports, are moved into it. A function with a return annotation is not found.
    """
    parts = answer.replace("<|endoftext|>", "").split("```")
    blocks = parts if len(parts) == 1 else parts[1::2]
    for block in blocks:
        text = block[6:].strip() if block[:6].lower() == "python" else block
        lines = text.split("\n")
        first = next((number for number, line in enumerate(lines) if line.startswith("def ")), None)
        if first is None or not any(word in lines[first].lower() for word in _PAPER_WORDS.values()):
            if len(parts) == 1:
                return None
            continue
        after = lines[first + 1 :]
        end = next((number for number, line in enumerate(after) if line[:1].isalpha()), len(after))
        moved = [f"    {line}" for line in lines[:first]]
        code = "\n".join((lines[first], *moved, *after[:end])).strip("`")
        fitting = [name for name in _heads(code) if _PAPER_WORDS[which] in name.lower()]
        return Code(code, fitting[0]) if fitting else None
    return None


def _heads(code: str) -> list[str]:
    """The names of functions whose head is one line without a return annotation."""
    matches = ((line, _HEAD.search(line)) for line in code.split("\n"))
    return [match[1] for line, match in matches if match and "):" in line[match.end() :]]


BOTH: tuple[Which, ...] = ("successors", "goal")

KNOWN = 100_000
"""States that the sandbox remembers. Then both sides number states anew, so that its memory does not grow."""

_PART = 0.1
"""Seconds of wall time after which a search in the sandbox reports, at most a quarter of the time of a call."""

_ERRORS: dict[Which, FunctionFault] = {"successors": FunctionFault.SUCCESSOR_ERROR, "goal": FunctionFault.GOAL_ERROR}
_TIMES: dict[Which, FunctionFault] = {"successors": FunctionFault.SUCCESSOR_TIME, "goal": FunctionFault.GOAL_TIME}
_LIMITS = {Status.TIMEOUT: "call_timeout", Status.MEMORY: "memory"}


Expanded = Literal[True] | Sequence[int]
"""An expanded state: True for a goal, or the numbers of its successors in `ModelFunctions.states`."""


@dataclass(frozen=True)
class Changed:
    """The function `successors` changed one of its arguments: its index (0: the state), and its value afterwards."""

    value: Any
    place: int = 0


@dataclass(frozen=True)
class Expansion:
    """What `Expander.expand` reports: `done` has a result for each state, up to the first goal, change or exception.

    States are numbered in the order in which they first occur as successors; `new` are the states that first occur in
    this expansion. After an exception, the function `at` raised it, on the state after those in `done`.
    """

    done: tuple[Literal[True] | Changed | list[int], ...]
    new: tuple[Any, ...]
    at: Which


def read_expansion(result: CallResult, states: int, arguments: int) -> CallResult:
    """Read a report of `Expander.expand`. `states` and the `arguments` of the successor function are numbers of these.

    Raises `ValueError` for a report that it never sends.
    """
    report = result.value[0] if len(result.value) == 1 else None
    if not isinstance(report, tuple) or list(map(type, report)) != [list, list, str] or report[2] not in FUNCTIONS:
        raise ValueError("an expansion has the states that are done, those that are new, and a function")
    entries, new, at = report
    numbers = list(chain.from_iterable(item for item in entries if isinstance(item, list)))
    if not set(map(type, numbers)) <= {int} or min(numbers, default=0) < 0:
        raise ValueError("successors are numbers of states")
    done = tuple(item if isinstance(item, list) or item is True else _changed(item, arguments) for item in entries)
    ended = bool(done) and not isinstance(done[-1], list)
    complete = len(done) == states or (ended and len(done) < states)
    if complete is not result.returned or len(done) > states:
        raise ValueError(f"{len(done)} of {states} states cannot be done")
    return replace(result, value=Expansion(done, tuple(new), at))


@dataclass(frozen=True)
class SearchPart:
    """What `Expander.search` reports: counts, whether the search `is_over`, and the states from the start to a goal."""

    expansions: int
    generated: int
    is_over: bool
    path: tuple[Any, ...] | None


def read_search(result: CallResult) -> CallResult:
    """Read a report of `Expander.search`. Raises `ValueError` for a report that it never sends."""
    if not result.returned:
        return result
    report = result.value[0] if len(result.value) == 1 else None
    if not isinstance(report, list) or list(map(type, report[:3])) != [int, int, bool] or len(report) != 4:
        raise ValueError("a search has two counts, whether it is over, and a path")
    expansions, generated, is_over, path = report
    is_path = path is None or (isinstance(path, list) and is_over and len(path) <= expansions + 1)
    if not 0 <= expansions <= KNOWN or generated < 0 or not is_path:
        raise ValueError("a search has counts, and at its end a path of states that it expanded")
    return replace(result, value=SearchPart(expansions, generated, is_over, None if path is None else tuple(path)))


def _changed(item: Any, arguments: int) -> Changed:
    place = item.get("place") if isinstance(item, dict) else None
    if type(place) is not int or not 0 <= place < arguments or "changed" not in item:
        raise ValueError("a change has the place of an argument and its value")
    return Changed(item["changed"], place)


@dataclass
class _Batch:
    """States to be expanded, and the session to which they were sent."""

    numbers: Sequence[int]
    watched: bool
    session: SandboxSession | None = None


class ModelFunctions:
    """Both functions, in one session of the sandbox. `states` are all states of the current search, by their numbers.

    `seconds` is the CPU time of all calls. Not for use by several threads.
    """

    def __init__(self, sandbox: Sandbox, limits: SandboxLimits) -> None:
        self.limits = limits
        self.seconds = 0.0
        self.codes: dict[Which, Code] = {}
        self.states: list[Any] = []
        self._size = self._memory = 0
        self._search = SearchTask(None)
        self._offset = 0
        self._fresh, self._again = True, False
        self._sandbox = sandbox
        self._session: SandboxSession | None = None
        self._pending: deque[_Batch] = deque()
        self._sent: dict[Which, tuple[Any, ...]] = {}  # the last arguments of each function in the session

    @property
    def process(self) -> int | None:
        """The number of the process that runs the functions, if there is one."""
        return self._session.child if self._session is not None else None

    def put(self, which: Which, code: Code) -> Fault | None:
        """Load a function, which replaces the one before. Returns what is wrong with it if it cannot be loaded."""
        if modules_of(code.text):  # a new session imports them before it is locked
            self.close()
        self._forget()
        self.codes.pop(which, None)
        session = self._open(code)
        self.codes[which] = code
        result = session.load(code.text, module=which)
        self.seconds += result.seconds
        if result.unreadable:
            return Fault(FunctionFault.UNREADABLE, which, result.message, trace=result.traceback or result.message)
        if result.returned or (result.status is Status.RAISED and session.defines(code.name, which)):
            return None  # an example call after the function may fail
        return failed(which, result, ())

    def call(self, which: Which, search: SearchTask, state: Any, echo: bool = False) -> CallResult:
        """Call one function on one state."""
        self._forget()
        return self._call(which, search, state, echo)

    def _call(self, which: Which, search: SearchTask, state: Any, echo: bool = False) -> CallResult:
        code = self.codes[which]
        wanted: Literal["truth", "list"] = "truth" if which == "goal" else "list"
        arguments = (state, *search.arguments(which))
        result = self._open().call(code.name, *arguments, echo=echo, module=which, result=wanted)
        self.seconds += result.seconds
        return result

    def begin(self, search: SearchTask, memory: int) -> None:
        """Begin a search whose states may take `memory` MiB. The first state has the number 0."""
        self._search = search
        self._forget()
        self.states, self._size, self._memory = [search.start], 0, memory
        self._offset, self._fresh, self._again = 1, True, False

    def search(self, key: tuple[str, Sequence[str]], depth_first: bool, begins: bool, most: int) -> SearchPart | None:
        """Search from the first state, or go on, in the sandbox. Returns None if that fails, or exceeds a limit.

        Then the caller expands the states again, in the order of this search: the sandbox has kept the results.
        `most` is the limit of states; those of sizes are estimated. The functions can forge the result, as they can
        forge successors: the caller validates the path.
        """
        session, self._again = self._open(), True
        start = {"v": tagged(self.states[0], self.limits.most * 10)} if begins else None
        functions = {which: self._function(which) for which in BOTH}
        limits = min(KNOWN, most), self.limits.most, self._memory << 20
        seconds = min(_PART, self.limits.seconds / 4)
        options = {"key": key, "depth_first": depth_first, "most": limits, "seconds": seconds}
        session.post("search", start, functions, options, check=read_search)
        result = session.collect()
        self.seconds += result.seconds
        part: SearchPart | None = result.value if result.returned else None
        if part is not None and part.path is not None:
            part = replace(part, path=(self.states[0], *part.path[1:]))
        return part

    def post(self, numbers: Sequence[int], watched: bool) -> None:
        """Send a batch of states to be expanded. If they are `watched`, changing an argument is a fault."""
        batch = _Batch(numbers, watched)
        session = self._open()
        in_order = not self._is_full and all(other.session is session for other in self._pending)
        if in_order or not self._pending:
            self._send(batch)
        self._pending.append(batch)

    @property
    def _is_full(self) -> bool:
        """Whether the sandbox remembers so many states that it must forget them."""
        return len(self.states) - self._offset > KNOWN

    def _send(self, batch: _Batch) -> None:
        session = self._open()
        if self._is_full and not any(other.session is session for other in self._pending):
            self._offset, self._fresh = len(self.states), True
        functions = {which: self._function(which) for which in BOTH}
        known, most = len(self.states) if self._fresh else self._offset, self.limits.most * 10
        sent = [{"v": tagged(self.states[number], most)} if number < known else number for number in batch.numbers]
        fresh = self._offset if self._fresh else None
        arguments = 1 + len(self._search.successor_arguments)
        check = partial(read_expansion, states=len(sent), arguments=arguments)
        session.post("expand", sent, functions, batch.watched, fresh, self._again, check=check)
        self._fresh = False
        batch.session = session

    def _function(self, which: Which) -> Mapping[str, Any]:
        """A function for `Expander.expand`. Its arguments are None if they are the same object as the time before."""
        arguments, before = self._search.arguments(which), self._sent.get(which)
        self._sent[which] = arguments
        sent = None if arguments is before else tagged(list(arguments), self.limits.most * 10)
        return {"function": (which, self.codes[which].name), "arguments": sent}

    def expanded(self) -> tuple[list[Expanded], Fault | None]:
        """Wait for the first batch: its expanded states, in order, up to the first goal or fault."""
        batch = self._pending.popleft()
        states = [self.states[number] for number in batch.numbers]
        if batch.session is None:  # the session of an earlier batch ended, or the sandbox had to forget first
            for waiting in (batch, *self._pending):
                self._send(waiting)
        if batch.session is not self._session or batch.session is None:
            return self._one_by_one(states, batch.watched)
        result = batch.session.collect()
        self.seconds += result.seconds
        if result.status not in (Status.RETURNED, Status.RAISED):
            self.close()  # batches that were sent may refer to states that this one lost
            return self._one_by_one(states, batch.watched)
        done: list[Expanded] = []
        expansion: Expansion = result.value
        if (fault := self._add(expansion.new, result.size)) is not None:
            return done, fault
        most = len(self.states)
        for item in expansion.done:
            if isinstance(item, Changed):
                before = (states[len(done)], *self._search.successor_arguments)
                return done, argument_fault(before[item.place], item.value)
            if item is not True and item and max(item) >= most:
                return done, _forged(states[len(done)])
            done.append(item)
        if result.returned:
            return done, None
        return done, failed(expansion.at, result, (("state", states[len(done)]),))

    def close(self) -> None:
        """End the session. Safe to call twice; the next call begins another."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _one_by_one(self, states: Sequence[Any], watched: bool) -> tuple[list[Expanded], Fault | None]:
        """Expand the states one call at a time, to find the state at which a batch failed."""
        done: list[Expanded] = []
        for state in states:
            result = self._call("goal", self._search, state)
            if not result.returned:
                return done, failed("goal", result, (("state", state),))
            if result.value is True:
                return [*done, True], None
            result = self._call("successors", self._search, state, echo=watched)
            if not result.returned:
                return done, failed("successors", result, (("state", state),))
            fault = change_of((state, *self._search.successor_arguments), result.echo) if watched else None
            if fault is not None:
                return done, fault
            first = len(self.states)
            if (fault := self._add(result.value, result.size)) is not None:
                return done, fault
            done.append(range(first, len(self.states)))
        self._offset, self._fresh = len(self.states), True
        return done, None

    def _add(self, states: Sequence[Any], size: int) -> Fault | None:
        """Add new states, which take `size` bytes. Returns a fault if all states together take too much memory."""
        self.states.extend(states)
        self._size += size
        if self._size <= self._memory << 20:
            return None
        reason = f"the states of the search need more than {self._memory:,} MiB of memory"
        return Fault(FunctionFault.SEARCH_TIME, "successors", reason, limit="memory")

    def _forget(self) -> None:
        """Discard pending answers, so that the next answer belongs to the next call."""
        while self._pending:
            session = self._pending.popleft().session
            if session is not None and session is self._session:
                self.seconds += session.collect().seconds

    def _open(self, new: Code | None = None) -> SandboxSession:
        """The session with all functions; a new one if it has ended. `new` is the function that is loaded next."""
        if self._session is None or self._session.child is None:
            self.close()
            texts = [code.text for code in (*self.codes.values(), new) if code is not None]
            modules = dict.fromkeys(name for text in texts for name in modules_of(text))
            self._session = self._sandbox.session(self.limits, tuple(modules), Expander)
            self._sent.clear()
            self._offset, self._fresh = len(self.states), True
            for which, code in self.codes.items():
                self.seconds += self._session.load(code.text, module=which).seconds
        return self._session


def failed(which: Which, result: CallResult, shown: tuple[tuple[str, Any], ...]) -> Fault:
    """The fault of a call that did not return."""
    kind = (_TIMES if result.status is Status.TIMEOUT else _ERRORS)[which]
    trace = _last(result.traceback) or result.message
    return Fault(kind, which, result.message, shown, trace=trace, limit=_LIMITS.get(result.status, ""))


def _last(trace: str) -> str:
    """The last place of a traceback with its line and its error, as in the paper's prompts."""
    lines = trace.splitlines()
    places = [number for number, line in enumerate(lines) if line.lstrip().startswith("File ")]
    return "\n".join(line.rstrip() for line in lines[places[-1] :]) if places else trace


def argument_fault(before: Any, after: Any) -> Fault:
    """The fault of a successor function that changed an argument."""
    shown = (("before the call", before), ("after the call", after))
    return Fault(FunctionFault.CHANGED, "successors", "the function changed its argument", shown)


def change_of(before: Sequence[Any], after: Sequence[Any]) -> Fault | None:
    """The fault of a call after which an argument differs, if one does."""
    return next((argument_fault(*pair) for pair in zip(before, after, strict=False) if differs(*pair)), None)


def _forged(state: Any) -> Fault:
    return Fault(FunctionFault.SUCCESSOR_ERROR, "successors", "it wrote to the sandbox's own pipe", (("state", state),))
