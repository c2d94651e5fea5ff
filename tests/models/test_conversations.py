from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pddlego.errors import ModelError, UsageError
from pddlego.models.base import Message, Request
from pddlego.models.transcript import (
    DIFFERS,
    Conversation,
    ConversationModel,
    TranscriptName,
    Turn,
    choose,
    is_conversations,
    parse_place,
    read_conversations,
)


def conversation(
    model: str = "m", variant: str = "", seed: int | None = 0, domain: str = "d", **more: str
) -> Conversation:
    return Conversation(
        model=model, domain=domain, seed=seed, variant=variant or model, turns=(Turn(answer="a", **more),)
    )


def request(purpose: str = "implement", text: str = "q") -> Request:
    return Request(purpose, (Message("user", text),))


def test_a_place_may_say_which() -> None:
    assert parse_place("a,b.jsonl") == TranscriptName("a,b.jsonl")
    result = parse_place("f.jsonl,model=gpt-4,variant=gpt-4 no-cot,domain=ferry")
    assert result == TranscriptName("f.jsonl", "gpt-4", "gpt-4 no-cot", ("ferry",))


def test_the_variant_without_the_same_parts_is_chosen() -> None:
    items = [conversation(), conversation(variant="m no-cot"), conversation(seed=1)]
    assert choose(items, TranscriptName("f")).variant == "m"
    assert choose(items, TranscriptName("f", parts=("cot",))).variant == "m no-cot"
    assert choose(items, TranscriptName("f", parts=("cot", "debug"))).variant == "m no-cot"
    assert choose(items, TranscriptName("f", parts=("debug",))).variant == "m"
    assert choose(items, TranscriptName("f", seed=1)).seed == 1
    with pytest.raises(UsageError, match="no such conversation"):
        choose(items, TranscriptName("f", seed=2))


def test_of_several_models_one_must_be_named() -> None:
    items = [conversation("m"), conversation("n"), conversation("o", domain="other")]
    for wanted in (TranscriptName("f", domains=("d",)), TranscriptName("f", domains=("d",), variant="n")):
        with pytest.raises(UsageError, match="with 2 models") as refused:
            choose(items, wanted)
        assert "m, n." in refused.value.reason
        assert "model=m" in refused.value.next_step
    assert choose(items, TranscriptName("f", domains=("d",), model="n")).model == "n"
    assert choose(items, TranscriptName("f", domains=("other",))).model == "o"


def test_of_several_domains_it_must_be_one_that_is_meant() -> None:
    items = [conversation(domain="a"), conversation(domain="b")]
    assert choose(items, TranscriptName("f", domains=("x", "b"))).domain == "b"
    with pytest.raises(UsageError, match="other domains"):
        choose(items, TranscriptName("f", domains=("x",)))


def test_answers_are_given_in_turn_and_another_prompt_is_noted() -> None:
    model = ConversationModel(conversation(purpose="implement", prompt="q"), "f", "m")
    assert model.complete(request()).note == ""
    with pytest.raises(ModelError, match="at its end"):
        model.complete(request())
    model = ConversationModel(conversation(prompt="other"), "f", "m")
    assert model.complete(request()).note == DIFFERS


def test_an_answer_to_another_question_is_an_error() -> None:
    model = ConversationModel(conversation(purpose="summarize"), "f", "m")
    with pytest.raises(ModelError, match="another question"):
        model.complete(request())


def test_files_may_be_compressed_and_damage_is_said(tmp_path: Path) -> None:
    line = json.dumps({"model": "m", "domain": "d", "seed": 0, "turns": [{"answer": "a"}], "more": 1})
    plain, packed, wrong = tmp_path / "a.jsonl", tmp_path / "a.gz", tmp_path / "b.jsonl"
    plain.write_text(f"{line}\n\n")
    packed.write_bytes(gzip.compress(line.encode()))
    wrong.write_text(f'{line}\n{{"turns": 3}}\n')
    assert read_conversations(plain) == read_conversations(packed)
    assert all(map(is_conversations, (plain, packed, wrong)))
    with pytest.raises(UsageError, match="holds no conversations") as refused:
        read_conversations(wrong)
    assert "Line 2" in refused.value.reason
    packed.write_bytes(gzip.compress(line.encode())[:20])
    assert not is_conversations(packed)
    assert not is_conversations(tmp_path)
    (tmp_path / "journal.jsonl").write_text('{"v":2,"event":{"type":"started"}}\n')
    assert not is_conversations(tmp_path / "journal.jsonl")
