"""Servers of sandboxes that are kept between tests: starting one takes longer than most programs of tests take."""

from __future__ import annotations

import socket
import subprocess
from typing import IO

from pddlego.sandbox.result import SandboxLimits
from pddlego.sandbox.sandbox import Sandbox, SandboxSession
from tests.scale import PATIENT

_idle: list[tuple[subprocess.Popen[bytes], socket.socket, IO[bytes]]] = []


class KeptSandbox(Sandbox):
    """A sandbox that leaves its server to the next one. Tests of the sandbox itself do not use it."""

    def session(
        self, limits: SandboxLimits | None = None, modules: tuple[str, ...] = (), driver: type | None = None
    ) -> SandboxSession:
        """Without `limits`, a program that does not end has two seconds of CPU time."""
        return super().session(limits or SandboxLimits(seconds=2.0, patience=PATIENT), modules, driver)

    def close(self) -> None:
        with self._lock:
            server, control, errors = self._server, self._control, self._errors
            if server is None or control is None or errors is None or server.poll() is not None or _idle:
                self._stop()
                return
            _idle.append((server, control, errors))
            self._server = self._control = self._errors = None

    def _start(self) -> None:
        try:
            self._server, self._control, self._errors = _idle.pop()
        except IndexError:
            super()._start()


def close_kept() -> None:
    while _idle:
        last = Sandbox()
        last._server, last._control, last._errors = _idle.pop()
        last.close()
