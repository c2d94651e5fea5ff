"""Child processes that run this interpreter."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys

import pytest

from pddlego.errors import EngineError
from pddlego.planning import ProcessPlanner
from pddlego.util.children import in_a_fork, start_python


@pytest.mark.parametrize("executable", ["", None, "/nowhere/python"])
def test_a_missing_interpreter_is_an_error_with_a_name(monkeypatch: pytest.MonkeyPatch, executable: str | None) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(EngineError, match="It did not start"):
        start_python("It", [])
    with pytest.raises(EngineError, match="The planner did not start"):
        ProcessPlanner()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
def test_a_crash_of_compiled_code_is_not_lack_of_memory() -> None:
    def crash() -> None:
        faulthandler.disable()
        os.kill(os.getpid(), signal.SIGSEGV)

    with pytest.raises(ChildProcessError, match="crashed with SIGSEGV"):
        in_a_fork(crash, ())
    with pytest.raises(MemoryError):
        in_a_fork(lambda: os.kill(os.getpid(), signal.SIGKILL), ())
    with pytest.raises(MemoryError):
        in_a_fork(lambda: os._exit(1), ())
    with pytest.raises(KeyError):
        in_a_fork(lambda: os.environ["NO_SUCH_VARIABLE"], (KeyError,))
    assert in_a_fork(lambda: 7, ()) == 7
