"""Answers that are kept: by their content, safely, and for nothing."""

from __future__ import annotations

import multiprocessing
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pddlego.errors import ModelError, UsageError
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Message, Request
from pddlego.models.cache import FOLDER, AnswerCache, CachedModel, default_path
from pddlego.models.endpoint import Access, Endpoint, make_endpoint, prepare_cache
from tests.methods.textgames.situations import situation_with
from tests.model_server import ModelServer, answer


@dataclass
class CountingModel:
    """Gives a new answer every time: `1`, `2`, …"""

    description: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 1.0})
    name: str = "counting"
    calls: int = 0

    def complete(self, request: Request) -> Completion:
        self.calls += 1
        return Completion(str(self.calls), 10, 5, seconds=2.0, finish="length")


@pytest.fixture
def cache(tmp_path: Path) -> AnswerCache:
    result = AnswerCache(tmp_path / "deep" / "answers.sqlite")
    result.prepare()
    return result


@pytest.fixture
def request_(coin: GameSetting) -> Request:
    return Request(
        "edit", (Message("user", "What now?"),), situation_with("coin", "", coin.start.domain, coin.start.problem)
    )


def test_the_same_request_of_another_episode_costs_nothing(cache: AnswerCache, request_: Request) -> None:
    model = CountingModel()
    first = CachedModel(model, cache, "use").complete(request_)
    again = CachedModel(model, cache, "use").complete(request_)
    assert (first.text, first.from_cache, first.tokens_in) == ("1", False, 10)
    assert (again.text, again.from_cache, again.finish) == ("1", True, "length")
    assert (again.tokens_in, again.tokens_out, again.attempts) == (0, 0, 0)
    assert model.calls == 1


def test_everything_that_determines_an_answer_is_in_its_key(cache: AnswerCache, request_: Request) -> None:
    model = CountingModel()
    others = [
        replace(request_, purpose="gen"),
        replace(request_, messages=(Message("system", "What now?"),)),
        replace(request_, messages=(Message("user", "What then?"),)),
        replace(request_, schema={"type": "object"}),
        replace(request_, temperature_increase=0.3),
        replace(request_, max_tokens=100),
    ]
    models = [
        CachedModel(replace(model, description={"temperature": 0.5}), cache, "use"),
        CachedModel(replace(model, description={"temperature": 1.0, "seed": 3}), cache, "use"),
        CachedModel(replace(model, description={"temperature": 1.0, "base_url": "http://there"}), cache, "use"),
        CachedModel(model, cache, "use", repeat=2),
    ]
    CachedModel(model, cache, "use").complete(request_)
    for other in others:
        assert not CachedModel(model, cache, "use").complete(other).from_cache
    for one in models:
        assert not one.complete(request_).from_cache
    assert CachedModel(model, cache, "use").complete(replace(request_, seconds=3.0)).from_cache, (
        "a limit is not a content"
    )


def test_who_asks_the_same_again_gets_another_answer_and_the_same_two_the_next_time(
    cache: AnswerCache, request_: Request
) -> None:
    model = CountingModel()
    one, two = CachedModel(model, cache, "use"), CachedModel(model, cache, "use")
    assert [one.complete(request_).text for _ in range(2)] == ["1", "2"]
    assert [two.complete(request_).text for _ in range(3)] == ["1", "2", "3"]


def test_refresh_asks_again_and_keeps_that(cache: AnswerCache, request_: Request) -> None:
    model = CountingModel()
    CachedModel(model, cache, "use").complete(request_)
    assert CachedModel(model, cache, "refresh").complete(request_).text == "2"
    assert CachedModel(model, cache, "use").complete(request_).text == "2"


def test_what_failed_is_not_kept(cache: AnswerCache, request_: Request) -> None:
    class Failing(CountingModel):
        def complete(self, request: Request) -> Completion:
            raise ModelError("no")

    with pytest.raises(ModelError):
        CachedModel(Failing(), cache, "use").complete(request_)
    assert cache.held() == []


def test_what_is_held_and_cleared(cache: AnswerCache, request_: Request) -> None:
    for name in ("a", "b"):
        model = CachedModel(CountingModel({"model": name}, name), cache, "use")
        for _ in range(3):
            model.complete(request_)
    assert [(item.model, item.answers, item.tokens) for item in cache.held()] == [("a", 3, 45), ("b", 3, 45)]
    assert cache.clear("a") == 3
    assert [item.model for item in cache.held()] == ["b"]
    assert cache.clear() == 3
    assert cache.held() == []


def test_nobody_else_may_read_it(cache: AnswerCache) -> None:
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o600


def test_without_a_file_there_is_nothing(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "none.sqlite")
    assert cache.held() == []
    assert cache.clear() == 0


def test_a_file_that_is_no_cache(tmp_path: Path, request_: Request) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite")
    cache.path.write_text("this is not a database, and long enough to be looked at " * 10)
    for call in (cache.prepare, cache.held, lambda: cache.clear("a")):
        with pytest.raises(UsageError, match="cannot be used"):
            call()
    model = CountingModel()
    assert CachedModel(model, cache, "use").complete(request_).text == "1", "a paid answer is not lost with its cache"
    cache.clear()
    assert not cache.path.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be used"):
        AnswerCache(tmp_path / "file" / "answers.sqlite").prepare()


def _write_and_read(path: Path, number: int) -> int:
    cache = AnswerCache(path)
    cache.prepare()
    for item in range(50):
        cache.put(f"{number}/{item}", f"m{number}", Completion(f"answer {number}/{item}", 1, 1))
    return sum(cache.get(f"{number}/{item}") is not None for item in range(50))


@pytest.mark.slow
def test_many_processes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.starmap(_write_and_read, [(path, number) for number in range(4)]) == [50] * 4
    assert [item.answers for item in AnswerCache(path).held()] == [50] * 4


def test_a_real_model_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_server: ModelServer, request_: Request
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    model_server.replies = [answer("one"), answer("two")]
    options, access = Endpoint(base_url=model_server.url, cache="use"), Access("sk-canary-0123456789abcdef")
    prepare_cache("use")
    assert [make_endpoint("m", options, access, seed=1).complete(request_).text for _ in range(2)] == ["one", "one"]
    uncached = options.model_copy(update={"cache": "off"})
    assert make_endpoint("m", uncached, access, seed=1).complete(request_).text == "two"
    assert len(model_server.requests) == 2
    assert b"canary" not in b"".join(item.read_bytes() for item in tmp_path.iterdir())
    assert default_path() == tmp_path / "answers.sqlite"
