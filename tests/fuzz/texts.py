"""Where the texts come from: real ones, changed at random in a few places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from pddlego.util import resources
from tests.shared import CORPUS

RECORDED = Path(__file__).parent.parent / "recorded"

WORDS = (
    *("(", ")", "()", "((", "))", "(define", "(define (problem p)", ":init", ":objects", ":goal", "(:goal", "(:init"),
    *("and", "(and", "(not", "(forall (?x)", "(exists (?x - location)", "(either a b)", "(= ?x ?y)", "?x", "-", ";"),
    *("- location", "{", "}", "[", "]", '"', ":", ",", "null", "true", "1e999", "-0", '{"init": {', '"add": ['),
    *('"replace": {', "\\u0000", "\\ud800", "\\n", "\n", "\r", "\t", "\x00", "\x1b[31m", "\ud800", "é", "²", "İ"),
    *("<think>", "</think>", "```", "```json", "{{ 7*7 }}", "{0}", "%s", "../../etc/passwd", "--", "'", '"""', "[["),
    *("]]", "=", "[[ladder]]", "[map]", "goal = ", "nan", "inf", "0x10", "1979-05-27", "(?P<x>", "(((((", "\\1", "*"),
    *("x" * 300, "9" * 400, "(" * 200),
)


def _changed(text: str, changes: list[tuple[str, float, float, str]]) -> str:
    """Each change cuts, doubles or moves a span, or puts a word somewhere. Places are shares of the length."""
    for kind, first, second, word in changes:
        start, end = sorted((round(first * len(text)), round(second * len(text))))
        end = min(end, start + 200) if kind != "end" else end
        span = text[start:end]
        if kind == "put":
            text = text[:start] + word + text[start:]
        elif kind == "cut":
            text = text[:start] + text[end:]
        elif kind == "swap":
            text = text[:start] + word + text[end:]
        elif kind == "twice":
            text = text[:end] + span + text[end:]
        else:
            text = text[:end]
    return text


def changed(seeds: list[str]) -> st.SearchStrategy[str]:
    """One of the texts, changed in up to six places; or a text of words alone."""
    kinds = st.sampled_from(["put", "put", "cut", "swap", "twice", "end"])
    share = st.floats(0, 1)
    changes = st.lists(st.tuples(kinds, share, share, st.sampled_from(WORDS)), max_size=6)
    return st.builds(_changed, st.sampled_from(seeds), changes) | st.lists(st.sampled_from(WORDS), max_size=30).map(
        "".join
    )


def _lines(name: str) -> list[dict[str, object]]:
    """The lines of a file of the corpus; none where it is not here."""
    file = CORPUS / name
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def _events(kind: str) -> list[dict[str, Any]]:
    """The events of this type in the recorded episodes."""
    events = (json.loads(line)["event"] for text in journals() for line in text.splitlines())
    return [event for event in events if event["type"] == kind]


def edits() -> list[str]:
    """Answers in mode edit, and some in mode gen."""
    recorded = [event["completion"]["text"] for event in _events("answered")]
    return [*recorded, *(str(line["edit"]) for line in _lines("edits.jsonl"))]


def pairs() -> list[tuple[str, str]]:
    """Domains with a problem."""
    domains = [resources.read("domains", f"{name}.pddl") for name in ("coin", "cooking")]
    recorded = [(domains["cooking-world" in event["text"]], event["text"]) for event in _events("accepted")]
    return [*recorded, *((str(line["domain"]), str(line["problem"])) for line in _lines("pairs.jsonl"))]


def answers() -> list[str]:
    """Answers of every kind, readable or not."""
    unreadable = [str(line["answer"]) for line in _lines("unreadable-answers.jsonl")]
    return [*edits(), *unreadable, *(problem for _, problem in pairs()[:100])]


def settings() -> list[str]:
    """The settings that come along, as TOML."""
    return [resources.read("envs", f"{name}.toml") for name in resources.names("envs", ".toml")]


def journals() -> list[str]:
    """The journals of two recorded episodes."""
    return [item.read_text(encoding="utf-8") for item in sorted(RECORDED.glob("*/episodes/*.jsonl"))]
