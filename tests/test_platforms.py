"""What works without the modules and functions of Unix (docs/platforms.md): commands in a process that lacks them.

Here they are hidden from pddlego, and from the processes that it starts. Python's own library keeps its modules, as it
has others on Windows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pddlego.display.person import _restored_terminal
from pddlego.util.children import die_with, limit_memory
from tests.scale import PATIENCE

ROOT = Path(__file__).parent.parent

HIDDEN = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty")
MISSING = {
    "os": (
        *("fork", "forkpty", "getuid", "geteuid", "killpg", "setsid", "wait4", "WIFSIGNALED", "WTERMSIG"),
        *("sched_getaffinity", "set_blocking", "mkfifo", "O_NOFOLLOW", "O_NONBLOCK", "setresuid", "setresgid"),
    ),
    "signal": ("SIGHUP", "SIGVTALRM", "SIGBUS", "SIGALRM", "setitimer", "ITIMER_VIRTUAL"),
    "select": ("poll",),
    "socket": ("send_fds", "recv_fds", "AF_UNIX"),
}

_HIDE = f"""
import builtins, os, select, signal, socket, subprocess, tempfile
usual = builtins.__import__
def imported(name, globals=None, *others, **more):
    if name in {HIDDEN} and str((globals or {{}}).get("__name__")).partition(".")[0] in ("pddlego", "__main__"):
        raise ImportError(name)
    return usual(name, globals, *others, **more)
builtins.__import__ = imported
for module, names in {MISSING}.items():
    for name in names:
        vars(globals()[module]).pop(name, None)
"""


@pytest.fixture
def without_unix(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that lacks what Windows lacks, as its own children do."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(_HIDE, encoding="utf-8")
    return {**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": os.pathsep.join((str(tmp_path / "hidden"), str(ROOT)))}


def _run(environment: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )


_IMPORT_ALL = """
import importlib, json, pkgutil, sys, pddlego
assert not hasattr(__import__("os"), "fork")
try:
    import resource
except ImportError:
    pass
else:
    raise AssertionError("nothing is hidden")
failed = {}
for module in pkgutil.walk_packages(pddlego.__path__, "pddlego."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        if error.args[0] in %r or (error.name or "").partition(".")[0] == "pddlego":
            failed[module.name] = repr(error)
    except AttributeError as error:
        failed[module.name] = repr(error)
print(json.dumps(failed))
"""


@pytest.mark.slow
def test_every_module_is_imported_without_unix(without_unix: dict[str, str], tmp_path: Path) -> None:
    """Packages of extras may be missing; modules and functions of Unix are not needed while a module is imported."""
    done = _run(without_unix, tmp_path, "-c", _IMPORT_ALL % (HIDDEN,))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("--help",),
        ("games",),
        ("check", str(ROOT / "domains" / "coin.pddl")),
        ("play", "coin", "--mode", "edit", "--seed", "12", "--pace", "0"),
    ],
    ids=" ".join,
)
def test_a_command_works_without_unix(command: tuple[str, ...], without_unix: dict[str, str], tmp_path: Path) -> None:
    done = _run(without_unix, tmp_path, "-m", "pddlego", *command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("mode, isolation", [("program", "required"), ("program", "off"), ("tos", "required")])
def test_a_program_is_refused_without_unix(
    mode: str, isolation: str, without_unix: dict[str, str], tmp_path: Path
) -> None:
    """In three lines, which say what to use instead."""
    command = ("play", "ferry", "--mode", mode, "--seed", "0", "--pace", "0", "--isolation", isolation)
    done = _run(without_unix, tmp_path, "-m", "pddlego", *command)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.splitlines()[-3:] == [
        "Error: Programs cannot be run here",
        "  why: The system has no Unix sockets.",
        "  do:  Use Linux or macOS.",
    ]
    assert not (tmp_path / "runs").exists(), "nothing was begun"


def test_a_proposal_is_not_asked_about_without_unix(without_unix: dict[str, str], tmp_path: Path) -> None:
    """Before an episode begins: its keys could not be read."""
    done = _run(without_unix, tmp_path, "-c", _CONFIRM)
    assert done.stdout.splitlines() == ["Proposals cannot be confirmed here", "Use Linux, macOS or WSL."], done.stderr


_CONFIRM = """
from pddlego.display.console import UNICODE
from pddlego.display.person import AskingApprover
from pddlego.errors import UsageError
try:
    AskingApprover(None, ("files",), UNICODE, lambda: 80)
except UsageError as error:
    print(error.what, error.next_step, sep="\\n")
"""


def test_the_terminal_is_left_as_it_is_without_unix(monkeypatch: pytest.MonkeyPatch) -> None:
    """While an editor runs: nothing could be restored."""
    monkeypatch.setitem(sys.modules, "termios", None)
    with _restored_terminal():
        pass


def test_a_process_does_not_look_for_its_parent_without_unix(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows the launcher of a virtual environment lies between the two: the process would end at once."""
    monkeypatch.delattr(os, "killpg", raising=False)
    die_with(os.getpid())


def test_a_system_that_refuses_a_limit_of_memory_plans_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS does."""
    resource = pytest.importorskip("resource")
    usual = resource.getrlimit(resource.RLIMIT_AS)

    def refused(kind: int, limits: tuple[int, int]) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refused)
    limit_memory(4096)
    assert resource.getrlimit(resource.RLIMIT_AS) == usual
