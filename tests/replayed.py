"""Recorded answers of a strong language model, found again by the texts of their requests (`recorded/strong-2`).

A request finds the answer to the recorded request with the most words in common, the problem file and rules aside, so
that answers are found by changed prompts, too. An answer is given once; a request that has too few words of every
recorded one is `lost`. Opinions are given for all things of a request: a model that is asked earlier has them, too.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pddlego.errors import ModelError
from pddlego.models.base import Completion, Request
from tests.shared import RECORDED

FOLDER = RECORDED / "strong-2"

_LEAST = 0.5
"""The least share of common words with which an answer is taken for that of a request."""


def _words(message: str) -> Counter[str]:
    """The words of the last message of a request, but for facts and rules."""
    lines = (line for line in message.split("\n") if not re.fullmatch(r"\s*(\(.*\)|\{.*)", line))
    return Counter(re.findall(r"[\w'-]+", "\n".join(lines)))


@dataclass(frozen=True)
class Recorded:
    """A recorded answer with its number and the words of its request."""

    number: int
    words: Counter[str]
    answer: str

    def likeness(self, words: Counter[str]) -> float:
        """The share of the words of both requests that they have in common, from 0 to 1."""
        return 2 * (self.words & words).total() / max(1, self.words.total() + words.total())


def read(name: str, folder: Path = FOLDER) -> list[Recorded]:
    """The recorded answers of an episode or an evaluation."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [Recorded(row["n"], _words(row["messages"][-1]["content"]), row["answer"]) for row in rows]


@dataclass
class ReplayedModel:
    """Gives the `recorded` answers. `given` are their numbers, and `lost` the last messages without an answer."""

    recorded: list[Recorded]
    name: str = "strong"
    description: Mapping[str, Any] = field(default_factory=dict)
    given: list[int] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """The number of requests so far."""
        return len(self.given) + len(self.lost)

    def complete(self, request: Request) -> Completion:
        """Raises `ModelError` for a request that is like none of the recorded ones."""
        last = request.messages[-1].content
        words = _words(last)
        left = [answer for answer in self.recorded if answer.number not in self.given]
        best = max(left, key=lambda answer: answer.likeness(words), default=None)
        if best is None or best.likeness(words) < _LEAST:
            self.lost.append(last)
            raise ModelError("No recorded answer", last)
        self.given.append(best.number)
        return Completion(self._with_opinions(best.answer, set(re.findall(r"[\w-]+", last))))

    def _with_opinions(self, answer: str, named: set[str]) -> str:
        """A learned answer with the recorded opinions about all things that a request names, if it has any."""
        if not re.search(r'"opinions": *\[', answer):
            return answer
        opinions = [one for other in self.recorded for one in _opinions(other.answer)]
        about = [one for one in opinions if named.issuperset(one.strip("!()").split()[1:])]
        return json.dumps({**json.loads(answer), "opinions": about})


def _opinions(answer: str) -> list[str]:
    try:
        found = json.loads(answer).get("opinions", [])
    except (ValueError, AttributeError):
        return []
    return list(map(str, found))
