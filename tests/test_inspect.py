"""Inspect: our episodes as its tasks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pytest

import pddlego
from pddlego.errors import ModelError, RefusedError
from pddlego.methods.setting_files import setting_names
from pddlego.models import Message, Request
from tests.scale import PATIENCE

if TYPE_CHECKING:  # importing Inspect takes seconds, which every worker would spend to collect the tests
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ModelOutput

pytestmark = pytest.mark.skipif(find_spec("inspect_ai") is None, reason="the extra inspect is not installed")

Outputs: TypeAlias = "Sequence[ModelOutput] | Callable[..., Any]"


def evaluated(tmp_path: Path, model: Any, seeds: str = "12", **options: Any) -> EvalLog:
    """Play `coin` as Inspect does from its command line."""
    import inspect_ai
    from inspect_ai.log import read_eval_log

    logs = inspect_ai.eval(
        "pddlego/coin", model=model, task_args={"seeds": seeds}, display="none", log_dir=str(tmp_path), **options
    )
    return read_eval_log(logs[0].location, resolve_attachments="full")


def only_sample(log: EvalLog) -> EvalSample:
    assert log.samples is not None
    (sample,) = log.samples
    return sample


def mocked(outputs: Outputs) -> Any:
    from inspect_ai.model import get_model

    return get_model("mockllm/model", custom_outputs=outputs)


def output(text: str) -> ModelOutput:
    """An output with its usage: without it, mockllm downloads a tokenizer."""
    from inspect_ai.model import ModelOutput, ModelUsage

    made = ModelOutput.from_content("mockllm/model", text)
    made.usage = ModelUsage(input_tokens=700, output_tokens=100, total_tokens=800)
    return made


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The answers of the built-in reader that win seed 12."""
    sample = only_sample(evaluated(tmp_path_factory.mktemp("logs"), "pddlego/reader"))
    return tuple(message.text for message in sample.messages if message.role == "assistant")


def outcome(sample: EvalSample) -> tuple[Any, ...]:
    assert sample.scores is not None
    score = sample.scores["outcome"]
    assert score.metadata is not None
    return score.value["won"] if isinstance(score.value, dict) else None, score.answer, score.metadata["cause"]


def test_every_setting_is_a_task_that_the_entry_point_registers() -> None:
    from inspect_ai._util.registry import registry_lookup

    for name in setting_names():
        assert registry_lookup("task", f"pddlego/{name}") is not None, name


def test_scripted_outputs_win_and_the_log_tells_the_episode(tmp_path: Path, script: tuple[str, ...]) -> None:
    sample = only_sample(evaluated(tmp_path, mocked([output(text) for text in script])))
    assert outcome(sample) == (1.0, "won", "")
    assert sample.scores is not None and sample.scores["outcome"].metadata is not None
    assert sample.scores["outcome"].metadata["calls"] == len(script)
    infos = [event for event in sample.events if event.event == "info"]
    assert {"started", "observed", "accepted", "planned", "ended"} <= {event.source for event in infos}
    assert any("+ (at driveway)" in str(event.data) for event in infos)


def test_the_episode_is_the_one_that_pddlego_plays(script: tuple[str, ...]) -> None:
    assert pddlego.play("coin", seed=12).usage.calls == len(script)


def test_a_rejected_answer_is_a_message_of_the_transcript(tmp_path: Path) -> None:
    sample = only_sample(evaluated(tmp_path, mocked(lambda *_: output("I do not know."))))
    assert outcome(sample) == (0.0, "no plan", "")
    assert sum(event.event == "info" and event.source == "rejected" for event in sample.events) == 6


@pytest.mark.parametrize(
    ("limit", "kind", "cause"),
    [
        ({"message_limit": 5}, "message", "calls"),
        ({"token_limit": 3000}, "token", "tokens"),
        ({"turn_limit": 3}, "turn", "calls"),
    ],
)
def test_limits_of_inspect_end_an_episode_as_ours_do(
    tmp_path: Path, script: tuple[str, ...], limit: dict[str, Any], kind: str, cause: str
) -> None:
    sample = only_sample(evaluated(tmp_path, mocked([output(text) for text in script]), **limit))
    assert sample.limit is not None and sample.limit.type == kind
    assert outcome(sample) == (0.0, "budget", cause)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["time", "working"])
def test_a_time_limit_ends_a_request_under_way(tmp_path: Path, kind: str) -> None:
    import anyio

    async def slow(*_: Any) -> ModelOutput:
        await anyio.sleep(PATIENCE)
        return output("")

    limit: dict[str, Any] = {f"{kind}_limit": 3}
    sample = only_sample(evaluated(tmp_path, mocked(slow), **limit))
    assert sample.limit is not None and sample.limit.type == kind
    assert outcome(sample) == (0.0, "budget", "seconds")


@pytest.mark.slow
def test_an_error_of_a_provider_is_an_error_of_the_sample(tmp_path: Path) -> None:
    def down(*_: Any) -> ModelOutput:
        raise ValueError("the provider is down")

    log = evaluated(tmp_path, mocked(down))
    assert log.status == "error" and "the provider is down" in str(only_sample(log).error)


@pytest.mark.slow
def test_cached_answers_cost_nothing(tmp_path: Path, script: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    for expected in (0, len(script)):
        sample = only_sample(evaluated(tmp_path, mocked([output(text) for text in script]), cache=True))
        assert sample.scores is not None and sample.scores["outcome"].metadata is not None
        assert sample.scores["outcome"].metadata["from_cache"] == expected


@pytest.mark.slow
def test_twenty_seeds_are_played_at_once(tmp_path: Path) -> None:
    log = evaluated(tmp_path, "pddlego/reader", "0-19", max_samples=20)
    assert log.samples is not None and len(log.samples) == 20
    assert all(outcome(sample)[0] == 1.0 for sample in log.samples)


def test_nothing_of_inspect_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, pddlego; pddlego.play('coin', seed=3); print(sorted({'inspect_ai', 'anyio'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("reason", ["stop", "max_tokens", "model_length", "tool_calls", "content_filter", "unknown"])
def test_an_answer_of_inspect_failed_if_it_has_an_error(reason: Any) -> None:
    """Its reason `unknown` proves nothing: an endpoint that names no reason has it, too."""
    from inspect_ai.model import ModelOutput

    from pddlego.api.inspect_messages import completion_of

    output = ModelOutput.from_content("m", "look", reason)
    request = Request("act", (Message("user", "What?"),))
    assert completion_of(output, request, 0.0).text == "look"
    with pytest.raises(ModelError, match="no whole answer"):
        completion_of(output.model_copy(update={"error": "overloaded"}), request, 0.0)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "Incorrect API key provided", RefusedError),
        (403, "Your input was flagged", ModelError),
        (529, "Overloaded", ModelError),
        (None, "No connection", ModelError),
    ],
)
def test_the_error_of_a_provider_that_refuses_every_request(
    status: int | None, message: str, kind: type[ModelError]
) -> None:
    from pddlego.api.inspect_messages import failure

    class ProviderError(Exception):
        status_code = status
        body: ClassVar = {"message": message}

    assert type(failure("m", ProviderError(message))) is kind
