"""Loads programs and answers calls of their functions, in a locked process.

Each request is one line of JSON, and so is each answer. The host must not trust an answer: the program runs in this
process, and could write to the pipe itself.
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
from types import CodeType, FrameType, GeneratorType, ModuleType
from typing import Any

from . import layers, values

FILE = "<file-name-omitted>"
"""The name of the program's file in tracebacks."""

MOST_TRACEBACK = 20_000
"""Maximum characters of a traceback."""

MOST_MESSAGE = 1_000
"""Maximum characters of an error message."""

GAP = "\n[…]\n"
"""Replaces the middle of a long traceback."""

DRIVER = "<driver>"
"""The file and the module name of a driver's code. Tracebacks do not show it."""

_CONVERTED: dict[str, Callable[[Any], Any]] = {"any": lambda value: value, "truth": bool, "list": values.as_list}
"""The conversions of results before they are sent, because only this process has the program's own classes."""


class _Silence(io.TextIOBase):
    """A stream that discards the output of a program."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)


def make_driver(code: CodeType, name: str) -> tuple[Any, str]:
    """Run a driver's code, and make an instance of its class. Returns None and the reason if that fails."""
    module = ModuleType(DRIVER)
    known = {DRIVER: module, f"pddlego.sandbox.{values.__name__}": values}  # for its dataclasses and its imports
    sys.modules.update(known)
    try:
        exec(code, vars(module))
        return vars(module)[name](), ""
    except BaseException as error:  # noqa: BLE001 -- what a driver raises is reported
        return None, _error_texts(error)["message"]
    finally:
        for module_name in known:
            sys.modules.pop(module_name, None)


class Program:
    """The loaded programs of a session, which it calls by name. An answer has at most `most` bytes.

    The `driver` is an object of the host's own code, which calls functions of the programs.
    """

    def __init__(self, most: int, driver: Any) -> None:
        self.most = most
        self._driver = driver
        self._parts: list[Any] = []  # what the driver has sent in the current request
        self._modules: dict[str, dict[str, Any]] = {}
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
        if "drive" in request:
            return self._driven(request["drive"], request["arguments"])
        arguments: list[Any] = []

        def run() -> Any:
            arguments.extend(values.plain(request["arguments"]))
            value = self._function(request["module"], request["call"])(*arguments)
            return _CONVERTED[request["result"]](value)

        tag = values.tagged_whole if request["result"] == "list" else values.tagged
        return self._guarded(run, arguments if request["echo"] else None, tag)

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

    def _driven(self, method: str, arguments: list[Any]) -> dict[str, Any]:
        """The answer of the driver: a list of what its method yields, or returns; also if an exception ends it."""
        self._parts = []

        def run() -> list[Any]:
            value = getattr(self._driver, method)(*arguments)
            self._parts.extend(value if isinstance(value, GeneratorType) else [value])
            return self._parts

        answer = self._guarded(run)
        if answer["status"] != "raised":
            return answer
        sent = self._guarded(lambda: self._parts)
        return {**sent, **answer} if sent["status"] == "returned" else sent

    def _guarded(
        self, run: Callable[[], Any], echoed: Any = None, tag: Callable[[object, int], object] = values.tagged
    ) -> dict[str, Any]:
        """The answer of a call of the program, whose value is represented by `tag`. Exceptions become answers too."""
        sys.stdout = sys.stderr = _Silence()
        answer: dict[str, Any] = {}
        starved = False
        try:
            self._running = not self._stopped
            if self._stopped:
                raise KeyboardInterrupt
            answer["value"] = tag(run(), self.most)
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
            self._driver = None
            self._parts.clear()
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


def serve(incoming: int, outgoing: int, most: int, driver: Any) -> None:
    """Answer requests until the host closes the pipe."""
    program = Program(most, driver)
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
