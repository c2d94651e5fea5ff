"""Sandboxes of tests, with limits that fit small programs."""

from __future__ import annotations

from pddlego.sandbox.result import SandboxLimits
from pddlego.sandbox.sandbox import Sandbox, SandboxSession
from tests.scale import PATIENT


class SmallSandbox(Sandbox):
    """A sandbox with the limits of tests. Tests of the sandbox itself do not use it."""

    def session(
        self, limits: SandboxLimits | None = None, modules: tuple[str, ...] = (), driver: type | None = None
    ) -> SandboxSession:
        """Without `limits`, a program that does not end has two seconds of CPU time."""
        return super().session(limits or SandboxLimits(seconds=2.0, patience=PATIENT), modules, driver)
