"""Loads programs and answers calls of their functions, in a locked process.

Each request is one line of JSON, and so is each answer. The host must not trust an answer: the program runs in this
process, and could write to the pipe itself.
"""

from __future__ import annotations

import io
import json
import linecache
import marshal
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from types import CodeType, FrameType, ModuleType
from typing import Any

from . import layers, values
from .guide import Guide

FILE = "<file-name-omitted>"
"""The name of the program's file in tracebacks."""

MOST_TRACEBACK = 20_000
"""Maximum characters of a traceback."""

MOST_MESSAGE = 1_000
"""Maximum characters of an error message."""

GAP = "\n[…]\n"
"""Replaces the middle of a long traceback."""

GOAL, SUCCESSORS = "goal", "successors"

GUIDE = "<guide>"
"""The module name of the searches that a program's heuristic guides. No program can have it."""

FUNCTIONS = (GOAL, SUCCESSORS)
"""The two functions of a search space, as requests and answers name them."""


def as_list(value: Any) -> list[Any]:
    """The items of a function's result as a list. Raises `TypeError` for texts, bytes and dictionaries."""
    if isinstance(value, (str, bytes, dict)):
        raise TypeError(f"a list of states is wanted, and it returned a {type(value).__name__}")
    return list(value)


_CONVERTED: dict[str, Callable[[Any], Any]] = {"any": lambda value: value, "truth": bool, "list": as_list}
"""The conversions of results before they are sent, because only this process has the program's own classes."""


class _Silence(io.TextIOBase):
    """A stream that discards the output of a program."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)


class Program:
    """The loaded programs of a session, which it calls by name. An answer has at most `most` bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        guide = Guide()
        self._modules: dict[str, dict[str, Any]] = {
            GUIDE: {"begin": guide.begin, "add": guide.add, "make": guide.make, "search": guide.search}
        }
        self._expander = Expander(most)
        self._code: CodeType | None = None
        self._running = self._stopped = False

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal to stop: interrupt the program, so that its traceback shows where it was."""
        self._stopped = True  # also before the call: reading its arguments may take all of the time
        if self._running:
            self._running = False
            raise KeyboardInterrupt

    def answer(self, line: bytes) -> dict[str, Any]:
        """The answer to one request."""
        request = json.loads(line)
        if "compile" in request:
            return self._guarded(lambda: self._compile(request["compile"], request["module"]))
        if "load" in request:
            return self._guarded(lambda: self._load(request["load"], request["names"]))
        if "defines" in request:
            return self._guarded(lambda: request["defines"] in self._modules.get(request["module"], {}))
        if "states" in request:
            return self._expanded(request)
        arguments: list[Any] = []

        def run() -> Any:
            arguments.extend(values.plain(request["arguments"]))
            value = self._function(request["module"], request["call"])(*arguments)
            return _CONVERTED[request["result"]](value)

        return self._guarded(run, arguments if request["echo"] else None)

    def _compile(self, source: str, module: str) -> None:
        file = FILE if module == "program" else f"<file of {module}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        self._code = compile(source, file, "exec")

    def _load(self, name: str, names: Any) -> None:
        module = ModuleType(name)  # classes of the program need their module in `sys.modules`
        sys.modules[name] = module
        self._modules[name] = module.__dict__
        module.__dict__.update(values.plain(names))
        if self._code is not None:
            exec(self._code, self._modules[name])

    def _function(self, module: str, name: str) -> Callable[..., Any]:
        if name not in self._modules.get(module, {}):
            raise NameError(f"name '{name}' is not defined")
        function: Callable[..., Any] = self._modules[module][name]
        return function

    def _expanded(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to an expansion: the state of `Expander.expand` and the status of the call."""
        answer: dict[str, Any] = {"done": [], "new": [], "at": GOAL}

        def run() -> None:
            goal, successors = (self._function(*request[name]["function"]) for name in FUNCTIONS)
            self._expander.expand(request, goal, successors, answer)

        return {**self._guarded(run), **answer}

    def _guarded(self, run: Callable[[], Any], echoed: Any = None) -> dict[str, Any]:
        """The answer of a call of the program. Its exceptions become answers too."""
        sys.stdout = sys.stderr = _Silence()
        answer: dict[str, Any] = {}
        starved = False
        try:
            self._running = not self._stopped
            if self._stopped:
                raise KeyboardInterrupt
            answer["value"] = values.tagged(run(), self.most)
            if echoed is not None:
                answer["echo"] = values.tagged(echoed, self.most)
            self._running = False
            answer["status"] = "returned"
        except MemoryError:
            self._running = False
            starved = True
        except values.TooLargeError as error:
            self._running = False
            answer = _too_large(str(error))
        except KeyboardInterrupt as error:
            interrupted, self._running = self._stopped, False  # the program may raise KeyboardInterrupt itself
            answer = {"status": "timeout" if interrupted else "raised", **_error_texts(error)}
        except BaseException as error:  # noqa: BLE001 -- what a program raises ends its call and nothing else
            self._running = False
            answer = {"status": "raised", **_error_texts(error)}
        if starved:  # outside of the handler: the exception keeps the objects alive that fill the memory
            for names in self._modules.values():
                names.clear()
            layers.more_memory()
            answer = {"status": "memory", "message": "MemoryError"}
        return answer


def _error_texts(error: BaseException) -> dict[str, str]:
    """The traceback of an exception, without the frames of the sandbox, its message, and the name of its class."""
    try:
        trace = traceback.TracebackException.from_exception(error, compact=True)
        _only_own(trace)
        lines = list(trace.format())
        text = "".join(lines).strip()
        shown = "".join(trace.format_exception_only()).strip().splitlines()
        message = shown[
            -1 if isinstance(error, SyntaxError) else 0
        ]  # a SyntaxError begins with the text of the program
    except BaseException:  # noqa: BLE001 -- formatting may call code of the program
        text = message = type(error).__name__
    text, message = values.without_addresses(text), values.without_addresses(message)
    if len(text) > MOST_TRACEBACK:
        half = MOST_TRACEBACK // 2
        text = f"{text[:half]}{GAP}{text[-half:]}"
    return {"traceback": text, "message": message[:MOST_MESSAGE], "error": type(error).__name__[: values.REPR]}


def _only_own(trace: traceback.TracebackException | None) -> None:
    """Remove the frames of the sandbox from an exception and from the exceptions that led to it."""
    seen = set()
    while trace is not None and id(trace) not in seen:
        seen.add(id(trace))
        trace.stack[:] = [frame for frame in trace.stack if frame.filename.startswith("<file")]
        trace = trace.__cause__ or trace.__context__


def serve(incoming: int, outgoing: int, most: int) -> None:
    """Answer requests until the host closes the pipe."""
    program = Program(most)
    signal.signal(signal.SIGINT, program.interrupt)
    random.seed(0)  # the same random numbers in every run
    with open(incoming, "rb") as lines:
        while line := lines.readline():
            data = json.dumps(program.answer(line)).encode()
            if len(data) >= most or values.parts(data) > values.MOST_PARTS:
                data = json.dumps(_too_large("it is too large")).encode()
            send(outgoing, data)


def _too_large(reason: str) -> dict[str, Any]:
    return {"status": "too large", "message": f"the result cannot be sent: {reason}"}


def send(outgoing: int, data: bytes) -> None:
    """Write a line."""
    data += b"\n"
    while data:
        data = data[os.write(outgoing, data) :]


class Expander:
    """Expands states, and keeps all successors so that requests can refer to them by number.

    `_kept` has a state as marshal's bytes, or tagged if marshal cannot write it. `_numbers` has the numbers of the
    former. `_sent` has the last arguments of each function.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._first = 0
        self._numbers: dict[bytes, int] = {}
        self._kept: list[bytes | dict[str, Any]] = []
        self._sent: dict[str, Any] = {}

    def expand(
        self, request: dict[str, Any], goal: Callable[..., Any], successors: Callable[..., Any], answer: dict[str, Any]
    ) -> None:
        """Call both functions on every state in order, and fill the `answer`.

        `done` gets `True` for a goal, which ends the expansion, or the numbers of the successors. If changes are
        `watched`, an argument that `successors` changed also ends it; `done` gets the `changed` value. `new` are the
        states that were not sent before; `at` is the function that runs.
        """
        if request["fresh"] is not None:
            self._first = request["fresh"]
            self._numbers.clear()
            self._kept.clear()
        before = len(self._kept)
        try:
            self._expand(request, goal, successors, answer)
        finally:
            answer["new"] = values.tagged([_copied(kept) for kept in self._kept[before:]], self.most)

    def _expand(
        self, request: dict[str, Any], goal: Callable[..., Any], successors: Callable[..., Any], answer: dict[str, Any]
    ) -> None:
        for name in FUNCTIONS:
            if request[name]["arguments"] is not None:
                self._sent[name] = request[name]["arguments"]
        goal_arguments, arguments = (_Arguments(self._sent[name]) for name in FUNCTIONS)
        watched, done = request["watched"], answer["done"]
        numbers, first, dumps = self._numbers, self._first, marshal.dumps
        for sent in request["states"]:
            kept = self._kept[sent - first] if type(sent) is int else sent
            answer["at"] = GOAL
            if goal(_copied(kept), *goal_arguments.values):
                done.append(True)
                return
            goal_arguments.renew()
            answer["at"] = SUCCESSORS
            state = _copied(kept)
            next_states = as_list(successors(state, *arguments.values))
            if watched and values.differs(state, _copied(kept)):
                done.append({"changed": values.tagged(state, self.most), "place": 0})
                return
            place = arguments.renew()
            if watched and place is not None:
                done.append({"changed": values.tagged(arguments.changed, self.most), "place": place + 1})
                return
            if "numpy" in sys.modules:  # marshal would write numpy's values as bytes
                next_states = [values.plain(values.tagged(state, self.most)) for state in next_states]
            try:
                forms = [dumps(state, values.WITHOUT_REFERENCES) for state in next_states]
                done.append([numbers[form] if form in numbers else self._keep(form) for form in forms])
            except ValueError:  # a state contains an instance of a class of the program
                done.append([self._keep({"v": values.tagged(state, self.most)}) for state in next_states])

    def _keep(self, form: bytes | dict[str, Any]) -> int:
        """Keep a new state; returns its number."""
        number = self._first + len(self._kept)
        if isinstance(form, bytes):
            self._numbers[form] = number
        self._kept.append(form)
        return number


class _Arguments:
    """The arguments of a function after the state, with the same values at every call even if a call changes them."""

    def __init__(self, sent: Any) -> None:
        self._sent = sent
        self.values, self._before = values.plain(sent), values.plain(sent)
        self.changed: Any = None

    def renew(self) -> int | None:
        """Restore changed arguments; returns the index of the first changed argument, or None."""
        if self.values == self._before:
            return None
        place = next(
            (n for n, pair in enumerate(zip(self.values, self._before, strict=False)) if values.differs(*pair)), None
        )
        if place is not None:
            self.changed = self.values[place]
        self.values = values.plain(self._sent)
        return place


def _copied(kept: bytes | dict[str, Any]) -> Any:
    """A fresh copy of a kept state, so that a call cannot change the state for later calls."""
    return marshal.loads(kept) if isinstance(kept, bytes) else values.plain(kept["v"])
