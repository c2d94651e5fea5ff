"""Models of files on this machine: what the file says, the server that is started, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.errors import ModelError, NoTimeLeftError, UsageError
from pddlego.evaluation.config import resolve
from pddlego.evaluation.prepare import make_setup
from pddlego.models import Message, Request
from pddlego.models.base import Delta, RetryNotice
from pddlego.models.endpoint import Access, Endpoint, make_endpoint
from pddlego.models.local import LocalModel, _header, find_file, model_file
from pddlego.models.local_server import physical_cores
from pddlego.pddl import EDIT_SCHEMA
from tests.children import started
from tests.cli.command import run
from tests.models.tiny_model import CONTEXT, write_model
from tests.scale import PATIENCE

server = pytest.mark.server


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_model(path)
    return path


def local(path: Path, access: Access) -> LocalModel:
    model = make_endpoint(f"local:{path}", Endpoint(), access, seed=1)
    assert isinstance(model, LocalModel)
    return model


def is_running(process: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def ends(process: int) -> bool:
    end = time.monotonic() + PATIENCE
    while is_running(process) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_running(process)


@server
def test_a_file_says_its_name_and_context(tiny: Path) -> None:
    file = model_file(f"local:{tiny}")
    assert file.context == min(CONTEXT, 16_384)
    assert file.sentence == "tiny.gguf: tiny.gguf, license: not stated in the file"


@server
@given(data=st.data())
def test_a_damaged_file_says_less_and_nothing_fails(tiny: Path, data: st.DataObject) -> None:
    whole = tiny.read_bytes()[:4_096]
    at = data.draw(st.integers(4, len(whole) - 1))
    said = _header(whole[:at] + data.draw(st.binary(max_size=20)) + whole[at + 1 :])
    before = {name: value for name, value in _header(whole).items() if whole.find(name.encode()) + 200 < at}
    assert before.items() <= said.items()


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    assert isinstance(_header(data), dict)


@server
def test_what_names_no_model_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.gguf"
    text.write_text("not a model")
    for name, reason in (
        ("local:", "The path of the file is missing"),
        (f"local:{tmp_path}/none.gguf", "cannot be read"),
        (f"local:{tmp_path}", "cannot be read"),
        (f"local:{text}", "is not a model"),
        ("hf:Qwen", "is not the name"),
        ("hf:../../etc/passwd", "is not the name"),
    ):
        with pytest.raises(UsageError, match=reason):
            find_file(name)


@server
@pytest.mark.slow
def test_a_download_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="cannot be downloaded"):
        find_file("hf:nobody/nothing/none.gguf")


@server
@pytest.mark.slow
def test_a_file_that_is_no_whole_model_ends_in_words(tiny: Path, tmp_path: Path) -> None:
    half = tmp_path / "half.gguf"
    half.write_bytes(tiny.read_bytes()[: tiny.stat().st_size // 2])
    with pytest.raises(ModelError, match=r"not loaded\n.*half.gguf: .*(load|init|tensor)"):
        local(half, Access()).complete(Request("probe", (Message("user", "Hello"),)))


@server
@pytest.mark.slow
def test_a_server_is_started_once_and_again_after_its_death(tiny: Path) -> None:
    access, heard = Access("a key that is for others"), list[RetryNotice | Delta]()
    model = local(tiny, access)
    request = Request("edit", (Message("user", "JSON?"),), schema=EDIT_SCHEMA, report=heard.append)
    assert set(json.loads(model.complete(request).text)) == {"objects", "init"}
    assert any(isinstance(part, Delta) for part in heard)
    first = access.servers.of(model.file).process
    assert local(tiny, access).servers.of(model.file).process is first
    first.kill()
    first.wait()
    assert model.complete(request).text
    assert access.servers.of(model.file).process is not first


@server
@pytest.mark.slow
def test_a_server_that_dies_in_an_answer_is_started_again(tiny: Path) -> None:
    model = local(tiny, Access())
    killed: list[int] = []

    def kill(update: RetryNotice | Delta) -> None:
        if isinstance(update, Delta) and not killed:
            killed.append(model.servers.of(model.file).process.pid)
            os.kill(killed[0], signal.SIGKILL)
            assert ends(killed[0])  # a busy machine takes its time, and the answer may be whole already

    request = Request("edit", (Message("user", "JSON?"),), schema=EDIT_SCHEMA, report=kill)
    assert model.complete(request).text
    assert killed
    assert model.servers.of(model.file).process.pid != killed[0]


@server
@pytest.mark.slow
def test_a_load_is_abandoned_with_its_episode(tiny: Path) -> None:
    model = local(tiny, Access())
    with pytest.raises(NoTimeLeftError):
        model.complete(Request("probe", (Message("user", "Hello"),), seconds=0.0))
    with pytest.raises((KeyboardInterrupt, ConnectionError)):  # while it loads, or before the request is sent
        model.complete(Request("probe", (Message("user", "Hello"),), wanted=lambda: False))


@server
@pytest.mark.slow
def test_a_server_ends_when_its_model_is_forgotten(tiny: Path) -> None:
    model = local(tiny, Access())
    child = model.servers.of(model.file).process.pid
    del model
    assert ends(child)


PLAYER = """
import sys
from pddlego.models.endpoint import Access, Endpoint, make_endpoint
model = make_endpoint(sys.argv[1], Endpoint(), Access())
print(model.servers.of(model.file).process.pid, flush=True)
sys.stdin.read()
"""


@server
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_server_ends_with_its_process_whatever_ends_that(tiny: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", PLAYER, f"local:{tiny}"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as player:
        child = int(player.stdout.readline())  # type: ignore[union-attr]
        assert is_running(child)
        player.send_signal(number)
        player.wait(PATIENCE)
    assert ends(child)


@server
@pytest.mark.slow
def test_a_server_that_is_loading_ends_with_its_process(tiny: Path) -> None:
    command = [sys.executable, "-m", "pddlego.models.local_server", str(tiny), "2048"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as loading:
        assert loading.stdin is not None
        loading.stdin.close()
        loading.wait(PATIENCE)
        assert loading.returncode == 0


@server
@pytest.mark.slow
def test_commands_play_evaluate_and_repeat(tiny: Path, tmp_path: Path) -> None:
    model = f"local:{tiny}"
    played = run("play", "coin", "--mode", "act", "--model", model, "--max-calls", "2", "--pace", "0", cwd=tmp_path)
    assert played.returncode == 1, played.stdout + played.stderr
    assert "tiny.gguf: tiny.gguf, license" in played.stdout
    arguments = ("coin", "--modes", "act", "--models", model, "--seeds", "0-1", "--max-calls", "4", "--run", "all")
    nowhere = "http://127.0.0.1:9/v1"
    done = run("eval", *arguments, cwd=tmp_path, OPENAI_BASE_URL=nowhere, HTTP_PROXY=nowhere, http_proxy=nowhere)
    assert "Traceback" not in done.stderr
    assert "license" in done.stdout
    ledger = (tmp_path / "runs/all/ledger.jsonl").read_text()
    assert ledger.count('"sent"') == 4


@server
def test_a_local_model_has_one_worker_unless_the_user_says_otherwise(tiny: Path) -> None:
    flags = {"games": ("coin",), "models": (f"local:{tiny}",)}
    assert make_setup(resolve(flags, {}), sends=False).workers == 1
    assert make_setup(resolve({**flags, "workers": 3}, {}), sends=False).workers == 3
    assert make_setup(resolve({**flags, "models": ("reader",)}, {}), sends=False).workers == 4
    with pytest.raises(UsageError, match="--base-url has no effect"):
        make_setup(resolve({**flags, "base_url": "http://127.0.0.1:9/v1"}, {}), sends=False)


@server
@pytest.mark.parametrize("context", [b"\x08", b"\x00", b"\x0a"], ids=["text", "zero", "many"])
def test_a_context_that_is_no_number_of_tokens_is_not_used(tmp_path: Path, context: bytes) -> None:
    def text(value: bytes) -> bytes:
        return len(value).to_bytes(8, "little") + value

    values = {b"\x08": b"\x08\0\0\0" + text(b"many"), b"\x00": b"\x04\0\0\0" + bytes(4)}
    value = values.get(context, b"\x0a\0\0\0" + b"\xff" * 8)
    head = b"GGUF\x03\0\0\0" + bytes(8) + (2).to_bytes(8, "little")
    pairs = text(b"general.architecture") + b"\x08\0\0\0" + text(b"llama") + text(b"llama.context_length") + value
    path = tmp_path / "odd.gguf"
    path.write_bytes(head + pairs)
    assert model_file(f"local:{path}").context == 16_384


def test_cores_are_counted() -> None:
    assert 1 <= physical_cores() <= (os.cpu_count() or 1)


@server
@pytest.mark.slow
@pytest.mark.small_model
def test_a_real_small_model_plays(tmp_path: Path) -> None:
    limits = ("--max-answer-tokens", "60", "--pace", "0", "--retries", "1")
    for mode, calls in (("act", "2 calls"), ("edit", "1 call")):
        budget = ("--max-calls", calls[0])
        played = run("play", "coin", "--mode", mode, "--model", "local", *budget, *limits, cwd=tmp_path)
        assert played.returncode == 1, played.stdout + played.stderr
        assert "apache-2.0" in played.stdout
        assert calls in played.stdout
