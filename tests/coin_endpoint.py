"""An endpoint that plays Coin Collector, from the messages alone, as a language model would."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from threading import Event
from typing import Any

from pddlego.methods.textgames.formalize import Exchange
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader import PatternRules, edit_as_json
from pddlego.methods.textgames.reader.houses import coin_command
from pddlego.methods.textgames.reading.engine import HistoryReader
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import apply_edit, parse_problem
from tests.methods.textgames.situations import situation_with
from tests.model_server import Reply, streamed_slowly


@lru_cache(maxsize=1)
def _coin() -> GameSetting:
    return load("coin")


def next_command(body: dict[str, Any]) -> str:
    """What to do next, after a request's messages."""
    exchanges = []
    command = None
    for message in body["messages"][1:]:
        if message["role"] == "assistant":
            command = message["content"]
        else:
            exchanges.append(Exchange(command, message["content"].split("\nValid actions:")[0]))
    coin = _coin()
    situation = situation_with("coin", "", coin.start.domain, coin.start.problem, (), tuple(exchanges))
    return coin_command(situation, HistoryReader())


def next_edit(body: dict[str, Any]) -> str:
    """The edit that mode edit asks for, read from the prompt as a language model would: problem file and news."""
    text = body["messages"][-1]["content"]
    problem, _, rest = text.partition("The problem file:\n")[2].partition("\n\n")
    placeholder = re.search(r"next new placeholder is (\w+)\.", rest)
    begun = re.search(r"^The game begins:\n(.*?)(?=^The agent did: |\Z)", rest, re.MULTILINE | re.DOTALL)
    did = re.findall(r"^The agent did: (.*)\n(.*?)(?=^The agent did: |\Z)", rest, re.MULTILINE | re.DOTALL)
    news = [Exchange(None, begun.group(1).strip())] if begun else []
    news += [Exchange(command, text.strip()) for command, text in did]
    coin = _coin()
    known = situation_with("coin", "", coin.start.domain, parse_problem(problem), tuple(news))
    return json.dumps(
        edit_as_json(PatternRules().edit(replace(known, placeholder=placeholder[1] if placeholder else "")))
    )


def next_files(body: dict[str, Any]) -> str:
    """The domain and the problem that mode full asks for, read from the prompt as a language model would."""
    text = body["messages"][-1]["content"]
    files = text.partition("The problem file:\n")[2].partition("\n\n")[0]
    coin = _coin()
    problem = parse_problem(files) if files else coin.start.problem
    begun = re.search(r"^The game begins:\n(.*?)(?=^Command: |\n\nCommands that)", text, re.MULTILINE | re.DOTALL)
    did = re.findall(r"^Command: (.*)\n(.*?)(?=^Command: |\n\nCommands that)", text, re.MULTILINE | re.DOTALL)
    news = [Exchange(None, begun.group(1).strip())] if begun else []
    news += [Exchange(command, text.strip()) for command, text in did]
    edit = PatternRules().edit(situation_with("coin", "", coin.start.domain, problem, tuple(news)))
    known = apply_edit(problem, edit, coin.start.domain.constants).problem
    goals = "\n".join(str(rung.goal) for rung in coin.start.ladder)
    domain = "" if files else f"<domain>\n{coin.start.domain.text}\n</domain>\n"
    return f"{domain}<problem>\n{known}\n</problem>\n<goals>\n{goals}\n</goals>"


def thinking_aloud(
    body: dict[str, Any], pause: float = 0.0, before_words: Event | None = None, before_end: Event | None = None
) -> Reply:
    """The same, thought over first, and streamed in pieces with a pause before each.

    The words wait for one event, and the last piece for another.
    """
    edit = next_edit(body)
    thought = "The agent has seen a room. Let me see which exits it has, and what is behind them."
    words = [(f"{word} ", "") for word in thought.split()]
    pieces = [("", edit[i : i + 24]) for i in range(0, len(edit), 24)]
    first, last = ([item] if item else [] for item in (before_words, before_end))
    return streamed_slowly([*words, *first, *pieces[:-1], *last, pieces[-1]], pause)
