"""Plays the episodes of a strong language model with its recorded answers: `python -m tests.strong [FILE]`.

`tests/data/strong.jsonl.gz` has a line for each episode: what is played, and the answers, each with its question. A
question is the data of a request: its purpose, what it is about (news of the game, the part of a build, the candidates
of a level), and a digest of the files that it shows. The wording is not part of it, so answers are found by changed
prompts, too. `tests/data/strong.tsv` has what came of each episode; `tests/test_strong.py` compares. The command writes
this table, and prints the questions that have no recorded answer: the built-in model answers these, if it can.

The evaluation of `blocks-heuristic` has a limit of time that no task can meet, because with any other the machine
decides how many are solved (25 of 30 with 10 seconds a task: it is the one that was lost).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pddlego
from pddlego.errors import ModelError
from pddlego.methods.builders.building import BuilderRequest
from pddlego.methods.graphplan.advisers import PlanRequest
from pddlego.methods.old_modes import current_name
from pddlego.methods.registry import method_of
from pddlego.methods.textgames.formalize import PromptContext
from pddlego.models import Completion, Model, Request
from pddlego.planning.graphplan.values import AdviceQuestion
from pddlego.runs.cells import Cell
from tests.traces import shared_beginning

ANSWERS = Path(__file__).parent / "data" / "strong.jsonl.gz"
TABLE = Path(__file__).parent / "data" / "strong.tsv"

HEAD = ("episode", "outcome", "score", "steps", "requests", "characters", "shared", "same", "similar", "lost")


@dataclass(frozen=True)
class Question:
    """What a request is about. `files` is a digest of the files that it shows."""

    purpose: str
    about: tuple[str, ...] = ()
    files: str = ""

    @classmethod
    def of(cls, request: Request) -> Question:
        """The question of a request. Without a context, it is the next one of its purpose."""
        about, files = _data(request.context)
        return cls(request.purpose, about, hashlib.sha256(files.encode()).hexdigest()[:8] if files else "")


def _data(context: object) -> tuple[tuple[str, ...], str]:
    """What a request is about, and the files that it shows."""
    if isinstance(context, PromptContext):
        news = context.seen.news or context.seen.history[-1:]
        written = context.knowledge.written
        files = f"{written.domain if written is not None else ''}{context.knowledge.problem}"
        return tuple(f"> {exchange.command or ''}\n{exchange.text}" for exchange in news), files
    if isinstance(context, BuilderRequest):
        return (context.target.action,), f"{context.draft.domain}{context.draft.problem}"
    if isinstance(context, AdviceQuestion):
        return context.candidates, "\n".join(context.facts)
    return (), str(context.problem) if isinstance(context, PlanRequest) else ""


@dataclass(frozen=True)
class Recorded:
    """An episode: the arguments of `pddlego.play` or `pddlego.build`, and the answers with their questions."""

    name: str
    play: Mapping[str, Any]
    answers: tuple[tuple[Question, str], ...]


def read(file: Path = ANSWERS) -> tuple[Recorded, ...]:
    """The recorded episodes."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return tuple(map(_recorded, lines))


def _recorded(line: str) -> Recorded:
    row = json.loads(line)
    answers = (
        (Question(item["purpose"], tuple(item["about"]), item["files"]), item["answer"]) for item in row["answers"]
    )
    return Recorded(row["name"], row["play"], tuple(answers))


def written(episodes: Iterable[Recorded]) -> bytes:
    """The episodes as a file for `read`."""
    lines = (
        json.dumps(
            {
                "name": episode.name,
                "play": episode.play,
                "answers": [{**asdict(question), "answer": answer} for question, answer in episode.answers],
            }
        )
        for episode in episodes
    )
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


@dataclass
class StrongModel:
    """Gives the recorded answer to each question: to the same one, or else to one that is about the same.

    That is the same news with other files, or with the same last observation. An answer is given once. Without one, the
    question is `lost`, and the built-in model answers if it has rules for it.
    """

    episode: Recorded
    builtin: Model | None = None
    name: str = "strong"
    description: Mapping[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    lost: dict[int, Question] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._left = list(self.episode.answers)

    def complete(self, request: Request) -> Completion:
        """Raises `ModelError` for a question that nothing answers."""
        question = Question.of(request)
        self.texts.append("".join(message.content for message in request.messages))
        for answered in self._left:
            if answered[0] == question:
                return self._given(answered, "same")
        for last in (slice(None), slice(-1, None)):
            for answered in self._left:
                about = (answered[0].purpose, answered[0].about[last])
                if about == (question.purpose, question.about[last]):
                    return self._given(answered, "similar")
        self.lost[len(self.texts)] = question
        if self.builtin is None or request.context is None:
            raise ModelError("No recorded answer", f"None is about {question.purpose}: {question.about}.")
        return self.builtin.complete(request)

    def _given(self, answered: tuple[Question, str], how: str) -> Completion:
        self._left.remove(answered)
        self.found.append(how)
        return Completion(answered[1])


def play(recorded: Recorded) -> tuple[tuple[str, ...], StrongModel]:
    """Play an episode again. Returns its row of the table, and the model, which says what was lost."""
    if "description" in recorded.play:
        model = StrongModel(recorded)
        built = pddlego.build("task", model=model, **recorded.play)
        outcome: tuple[object, ...] = ("won" if built.sound else "lost", float(built.sound), 0)
    else:
        arguments = dict(recorded.play)
        game, mode, seed = (arguments.pop(name) for name in ("game", "mode", "seed"))
        mode = current_name(mode)
        builtin = method_of(game, mode).builtin_model("reader", Cell(game, mode, "reader", seed), None)
        model = StrongModel(recorded, builtin)
        episode = pddlego.play(game, mode, seed, model, **arguments)
        outcome = (episode.outcome.value, episode.score, episode.steps)
    found = (model.found.count(how) for how in ("same", "similar"))
    texts = (len(model.texts), sum(map(len, model.texts)), f"{100 * shared_beginning(model.texts):.0f} %")
    lost = ", ".join(map(str, model.lost))
    return tuple(map(str, (recorded.name, *outcome, *texts, *found, lost))), model


def table(rows: Iterable[Iterable[str]]) -> str:
    """The rows as text, with a line of names above them."""
    return "".join("\t".join(cells) + "\n" for cells in (HEAD, *rows))


def _rows() -> Iterator[tuple[str, ...]]:
    for recorded in read():
        row, model = play(recorded)
        for number, question in model.lost.items():
            about = " | ".join(question.about)
            sys.stdout.write(f"{recorded.name}: no recorded answer to request {number} ({question.purpose}): {about}\n")
        yield row


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else TABLE).write_text(table(_rows()), encoding="utf-8")
