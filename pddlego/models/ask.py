"""Asks a model, and tells what goes wrong on the way while it happens."""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import replace
from queue import Empty, SimpleQueue

from pddlego.events import Retrying
from pddlego.models.base import Completion, Model, RemoteModel, Request, Trouble
from pddlego.models.gate import SLICE
from pddlego.text import writable


def ask(model: Model, request: Request, call: int) -> Generator[Retrying, None, Completion]:
    """The answer of the model; every trouble with the `call` is an event, as it happens. Raises what the model raises.

    A remote model is asked in a thread of its own. Whoever stops iterating, or throws something in, leaves the request:
    it is no longer wanted, and the model closes it.
    """
    if not (isinstance(model, RemoteModel) and model.is_remote):
        return model.complete(request)
    told: SimpleQueue[Trouble | Completion | BaseException] = SimpleQueue()
    left = threading.Event()
    watched = replace(request, report=told.put, wanted=lambda: not left.is_set() and request.wanted())

    def work() -> None:
        try:
            told.put(model.complete(watched))
        except BaseException as error:  # noqa: BLE001 -- raised again below, in the thread that asked
            told.put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        while True:
            try:  # not for ever: a signal that came to another thread waits for this one to wake
                found = told.get(timeout=SLICE)
            except Empty:
                continue
            if isinstance(found, Completion):
                return found
            if isinstance(found, BaseException):
                raise found
            yield Retrying(call, writable(found.why), found.tries, found.most, found.seconds)
    finally:
        left.set()
