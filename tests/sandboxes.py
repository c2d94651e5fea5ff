"""Sandboxes of tests, with limits that fit small programs, and one server for all of them in a process."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from functools import cache
from typing import Any

from pddlego.sandbox.result import SandboxLimits
from pddlego.sandbox.sandbox import Isolation, Sandbox, SandboxSession
from tests.scale import PATIENT


class SmallSandbox(Sandbox):
    """A sandbox with the limits of tests, whose sessions are forked from a server that the tests of a process share.

    Tests of the sandbox itself do not use it.
    """

    def session(
        self, limits: SandboxLimits | None = None, modules: tuple[str, ...] = (), driver: type | None = None
    ) -> SandboxSession:
        """Without `limits`, a program that does not end has two seconds of CPU time."""
        return super().session(limits or SandboxLimits(seconds=2.0, patience=PATIENT), modules, driver)

    def _ask(self, request: Mapping[str, Any], pipes: tuple[int, ...]) -> dict[str, Any]:
        return _shared(self.isolation)._ask(request, pipes)


@cache
def _shared(isolation: Isolation) -> Sandbox:
    sandbox = Sandbox(isolation)
    atexit.register(sandbox.close)
    return sandbox
