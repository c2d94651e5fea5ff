"""A real server, that of llama.cpp, with a model of random weights: well-formed nonsense from end to end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego.episode.events import Accepted, Answered, Asked, Outcome, Rejected, Streamed
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Message, Request
from pddlego.models.base import Delta, RetryNotice
from pddlego.models.dialect import Sampling
from pddlego.models.local import LocalServers, model_file
from pddlego.models.openai import OpenAIModel
from pddlego.pddl import EDIT_SCHEMA, parse_edit
from pddlego.planning import ProcessPlanner
from tests.cli.command import run
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ended, of, play
from tests.models.tiny_model import write_model

pytestmark = [pytest.mark.slow, pytest.mark.server]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_model(path)
    servers = LocalServers()
    yield f"{servers.of(model_file(f'local:{path}')).address}/v1"


def test_an_answer_keeps_the_schema_and_comes_as_it_is_written(url: str) -> None:
    text: list[RetryNotice | Delta] = []
    request = Request("edit", (Message("user", "Answer in JSON."),), schema=EDIT_SCHEMA, report=text.append)
    result = OpenAIModel("tiny", base_url=url, sampling=Sampling(1.0, seed=1)).complete(request)
    assert set(json.loads(result.text)) == {"objects", "init"}
    parse_edit(result.text)
    assert "".join(item.text for item in text if isinstance(item, Delta)) == result.text
    assert not result.estimated
    assert result.tokens_out > 1
    assert result.attempts == 1


def test_nonsense_is_read_sent_back_and_ends_typed(url: str, coin: GameSetting, planner: ProcessPlanner) -> None:
    model = OpenAIModel("tiny", base_url=url, sampling=Sampling(1.0, seed=1))
    events = play(coin, planner, small_house(), model, retries=5)
    assert ended(events).outcome in (Outcome.NO_PLAN, Outcome.STEP_LIMIT)
    assert len(of(events, Asked)) == len(of(events, Answered)) >= 6
    assert of(events, Rejected)
    assert of(events, Streamed)
    assert not [item for item in of(events, Accepted) if "(" not in item.text]


def test_budgets_hold_from_the_command_line(url: str, tmp_path: Path) -> None:
    arguments = ("coin", "--modes", "edit,gen,act", "--models", "tiny", "--seeds", "0-1", "--base-url", url)
    limits = ("--max-calls", "9", "--run", "all", "--max-answer-tokens", "300", "--workers", "2")
    done = run("eval", *arguments, *limits, cwd=tmp_path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    ledger = (tmp_path / "runs/all/ledger.jsonl").read_text().splitlines()
    assert len(ledger) <= 2 * 9, "a line when a request is sent, and one when it is answered"
    assert run("report", "runs/all", cwd=tmp_path).returncode == 0
