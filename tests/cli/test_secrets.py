"""Canaries: a key, an address with secrets, an endpoint that repeats them all, and everything that pddlego writes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.command import run
from tests.model_server import ModelServer, Reply, answer, fault

pytestmark = pytest.mark.slow

KEY = "sk-canary1-0123456789abcdef"
PASSWORD = "canary2 pass/word"
QUERY = "canary3/ab+cd=0123456789"
BOTH = base64.b64encode(f"somebody:{PASSWORD}".encode()).decode()
CANARIES = (KEY, PASSWORD, "canary2%20pass%2Fword", "canary2", "canary3", BOTH, base64.b64encode(KEY.encode()).decode())


class Parrot:
    """Repeats every header and the path of a request, in an answer or in an error."""

    def __init__(self, server: ModelServer, status: int, password: str) -> None:
        self._server, self._status, self._password = server, status, password

    def __call__(self, body: dict[str, Any]) -> Reply:
        headers = self._server.headers[-1]
        text = " ".join(f"{name}: {value}" for name, value in headers.items()) + f" {self._server.paths[-1]}"
        text += f" {self._password}"
        edit = json.dumps({"objects": {"add": [text]}, "init": {"add": [f"(at {text})"]}})
        return answer(edit) if self._status == 200 else fault(self._status, text)


@pytest.fixture
def secrets(request: pytest.FixtureRequest, model_server: ModelServer, tmp_path: Path) -> dict[str, str]:
    url = model_server.url
    if request.param == "password":
        url = url.replace("//", "//somebody:canary2%20pass%2Fword@") + f"?api_key={quote(QUERY, safe='')}"
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url, "PDDLEGO_CACHE_DIR": str(tmp_path / "cache")}


def check(texts: dict[str, str]) -> None:
    for where, text in texts.items():
        for canary in CANARIES:
            assert canary not in text, f"{canary} stands in {where}: …{text[max(0, text.find(canary) - 100) :][:200]}"


def written(folder: Path) -> dict[str, str]:
    result = {str(item): item.read_bytes().decode("utf-8", "replace") for item in folder.rglob("*") if item.is_file()}
    assert result
    return result


@pytest.mark.parametrize(
    ("secrets", "status"),
    [("key", 200), ("key", 401), ("password", 200), ("password", 400), ("password", 500)],
    indirect=["secrets"],
)
@pytest.mark.usefixtures("quick_doctor")
def test_no_secret_is_ever_written(
    tmp_path: Path, model_server: ModelServer, secrets: dict[str, str], status: int
) -> None:
    model_server.replies = [Parrot(model_server, status, PASSWORD * ("@" in secrets["OPENAI_BASE_URL"]))]
    model = ("--model", "m", "--retries", "1") if status != 500 else ("--model", "m", "--max-seconds", "1")
    commands = [
        ("play", "coin", *model, "--cache", "use"),
        ("play", "coin", *model, "--format", "json"),
        ("doctor", "--model", "m"),
        ("config",),
        ("cache", "info"),
    ]
    if status != 500:
        commands.append(("eval", "coin", "--models", "m", "--seeds", "0,1", "--retries", "1", "--run", "all"))
        commands += [("report", "runs/all", "--format", item) for item in ("text", "markdown", "csv", "json", "html")]
        commands += [("show", "runs/all", "--seed", "0", *item) for item in (("--problem",), ("-o", "picture.svg"))]
        commands += [("replay", "runs/all"), ("watch", "runs/all")]
        commands += [("export", "runs/all", "-o", "chat.jsonl")]
        commands += [("resume", "runs/all", "--seed", "0", "--from-step", "0")]
    text = {}
    for command in commands:
        done = run(*command, cwd=tmp_path, **secrets)
        text[f"{command}: output"], text[f"{command}: errors"] = done.stdout, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
    assert model_server.requests, "the endpoint was asked, so that it could repeat what it was sent"
    check(text)
    check(written(tmp_path))


@pytest.mark.parametrize(
    "url",
    [
        "http://somebody:canary2@127.0.0.1:99999/v1",
        "http://somebody:canary2@[::1/v1",
        "ftp://somebody:canary2@127.0.0.1/v1",
        "somebody:canary2@127.0.0.1/v1",
        "http://somebody:canary2@127.0.0.1:1/v1?key=canary3-0123456789",
        "http://somebody:canary2@no such host/v1",
        "http://somebody:canary2%00@127.0.0.1/v1",
        "http://somebody:canary2/ss@127.0.0.1/v1",
        "http://somebody:canary2#ss@127.0.0.1/v1",
        "http://somebody:canary2?ss@127.0.0.1/v1",
        "http://somebody:12/canary2@127.0.0.1/v1",
    ],
)
def test_an_address_that_is_wrong_is_not_repeated_with_its_secrets(tmp_path: Path, url: str) -> None:
    commands = (
        ("config",),
        ("play", "coin", "--model", "m", "--max-seconds", "0.5"),
        ("eval", "coin", "--models", "m", "--seeds", "0", "--max-calls", "1"),
    )
    for arguments in commands:
        done = run(*arguments, cwd=tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url)
        assert "Traceback" not in done.stderr
        check({"output": done.stdout, "errors": done.stderr})
