"""Loads a program and answers calls of its functions, in a process that is locked already.

One line of JSON comes in for each call, and one goes out. Whatever goes out is only a claim: the program shares this
process, and could write it itself.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from types import CodeType, FrameType, ModuleType
from typing import Any

from . import batches, layers, values

FILE = "<file-name-omitted>"
"""What a traceback calls the file of the program."""

MOST_TRACEBACK = 20_000
"""Characters of a traceback that are kept."""

MOST_MESSAGE = 1_000
"""Characters of an error's last line that are kept."""

GAP = "\n[…]\n"
"""Stands in a long traceback for its middle."""

_CONVERTED: dict[str, Callable[[Any], Any]] = {"any": lambda value: value, "truth": bool, "list": batches.as_list}
"""What is made of a result before it is sent: only here it is known what a class of the program's own is worth."""


class _Silence(io.TextIOBase):
    """Takes what a program prints, and keeps nothing of it."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)


class Program:
    """The functions of a program, and what happens when they are called. An answer has at most `most` bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._modules: dict[str, dict[str, Any]] = {}
        self._expander = batches.Expander(most)
        self._code: CodeType | None = None
        self._running = self._stopped = False

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The time is up: stop what runs, so that its traceback says where it was."""
        self._stopped = True  # also before it runs: its arguments may take all of the time
        if self._running:
            self._running = False
            raise KeyboardInterrupt

    def answer(self, line: bytes) -> dict[str, Any]:
        """What comes of a line that came in."""
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
        module = ModuleType(name)  # classes of a program look for their module by its name
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
        """Expand states in their order, up to the first that is a goal or makes a function fail.

        `done` holds `true` for a goal, and else the successors' numbers; `at` says which function ran last.
        """
        answer: dict[str, Any] = {"done": [], "new": [], "at": batches.GOAL}

        def run() -> None:
            goal, successors = (self._function(*request[name]["function"]) for name in batches.FUNCTIONS)
            self._expander.expand(request, goal, successors, answer)

        return {**self._guarded(run), **answer}

    def _guarded(self, run: Callable[[], Any], echoed: Any = None) -> dict[str, Any]:
        """Run something of the program's; whatever it raises is an answer."""
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
            interrupted, self._running = self._stopped, False  # it may raise one itself
            answer = {"status": "timeout" if interrupted else "raised", **_told(error)}
        except BaseException as error:  # noqa: BLE001 -- what a program raises ends its call and nothing else
            self._running = False
            answer = {"status": "raised", **_told(error)}
        if starved:  # not in a handler: as long as there is an error, all that filled the memory is still in use
            for names in self._modules.values():
                names.clear()
            layers.more_memory()
            answer = {"status": "memory", "message": "MemoryError"}
        return answer


def _told(error: BaseException) -> dict[str, str]:
    """An error as its traceback, without our frames, and its last line."""
    try:
        trace = traceback.TracebackException.from_exception(error, compact=True)
        _only_own(trace)
        lines = list(trace.format())
        text = "".join(lines).strip()
        shown = "".join(trace.format_exception_only()).strip().splitlines()
        message = shown[-1 if isinstance(error, SyntaxError) else 0]  # what is wrong comes after the text of a program
    except BaseException:  # noqa: BLE001 -- an error of a class of the program's own may refuse to be shown
        text = message = type(error).__name__
    text, message = values.without_addresses(text), values.without_addresses(message)
    if len(text) > MOST_TRACEBACK:
        half = MOST_TRACEBACK // 2
        text = f"{text[:half]}{GAP}{text[-half:]}"
    return {"traceback": text, "message": message[:MOST_MESSAGE], "error": type(error).__name__[: values.REPR]}


def _only_own(trace: traceback.TracebackException | None) -> None:
    """Leave out the frames that are not the program's, of an error and of those that led to it."""
    seen = set()
    while trace is not None and id(trace) not in seen:
        seen.add(id(trace))
        trace.stack[:] = [frame for frame in trace.stack if frame.filename.startswith("<file")]
        trace = trace.__cause__ or trace.__context__


def serve(incoming: int, outgoing: int, most: int) -> None:
    """Answer until the other side closes."""
    program = Program(most)
    signal.signal(signal.SIGINT, program.interrupt)
    random.seed(0)  # a program that draws lots draws the same ones in every run
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
