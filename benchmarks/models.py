"""How well a language model answers fixed requests, whatever it answered before, and how its answers are read.

The built-in reader plays episodes, and the language model is asked each of the reader's questions once. So two trees,
prompts or settings are compared on the same questions: `--write` saves the results, and `--against` compares with saved
ones. `--answers` judges saved answers once more, to see what a change of their reader does.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.table import show
from pddlego.episode.events import Limits
from pddlego.errors import ModelError
from pddlego.evaluation.statistics import mcnemar, wilson
from pddlego.methods.textgames.formalize import CommandProposal, Formalizer, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.problems import unless_contradicting, unless_incomplete
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.play import episode_events, make_method, setting_game
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth.judge import Judge
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.models import Completion, Model, Request
from pddlego.models.endpoint import Access, Endpoint, make_endpoint
from pddlego.planning import Planner, ProcessPlanner
from pddlego.planning.ladder import climb
from pddlego.runs.journal import follow

SEEDS = range(100, 200)
"""Seeds of games on which no prompt was written."""

GAMES = ("coin", "cooking-easy", "paper-coin")
VERDICTS = ("readable", "accepted", "right")


@dataclass(frozen=True)
class Result:
    """One answer. `readable`: the answer is an edit, a file or a command without a defect that makes it unusable.

    `accepted`: it is readable and there is a plan (mode `act`: the command is valid). `right`: it is accepted, and none
    of its facts contradicts the reader's problem (mode `act`: it is the reader's command).
    """

    question: str
    readable: bool
    accepted: bool
    right: bool
    tokens: int
    seconds: float
    finish: str
    reason: str
    answer: str


Answers = Mapping[str, Mapping[str, Any]]
"""Saved results by question."""


def saved(path: Path) -> list[dict[str, Any]]:
    """The results in a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@dataclass(frozen=True)
class Collector:
    """The built-in reader, which keeps each request and its own answer."""

    name: str = "reader"
    description: dict[str, object] = field(default_factory=dict)
    kept: list[tuple[Request, str]] = field(default_factory=list)

    def complete(self, request: Request) -> Completion:
        completion = ReaderModel().complete(request)
        self.kept.append((request, completion.text))
        return completion


def questions(setting: GameSetting, mode: str, planner: Planner) -> Iterator[tuple[str, Request, str]]:
    """The questions of the reader's episodes, each with its name and the reader's answer."""
    for seed in SEEDS:
        reader = Collector()
        episode = EpisodeSetup(setting, seed, mode, Limits(setting.max_steps))
        follow(episode_events(episode, setting_game(setting, seed), reader, planner), [])
        for number, (request, answer) in enumerate(reader.kept):
            yield f"{setting.name} {mode} {seed}.{number}", request, answer


def judge(
    name: str,
    completion: Completion,
    expert: str,
    situation: PromptContext,
    method: Formalizer,
    setting: GameSetting,
    planner: Planner,
) -> Result:
    """Read the answer as an episode would, plan with it, and compare it with the `expert`'s answer."""
    proposal = unless_incomplete(method.read(completion.text, situation), completion)
    best = method.read(expert, situation)
    right = False
    if isinstance(proposal, CommandProposal):
        readable = accepted = proposal.feedback is None
        right = accepted and isinstance(best, CommandProposal) and proposal.command == best.command
        feedback = proposal.feedback
    else:
        assert isinstance(best, ProblemProposal)
        proposal = unless_contradicting(proposal, situation.knowledge, last=False)
        feedback = proposal.feedback
        readable, accepted = feedback is None, False
        if readable:
            knowledge = proposal.knowledge
            ladder = climb(planner, knowledge.domain, knowledge.problem, knowledge.ladder)
            accepted = ladder.plan is not None
            checked = Judge(setting.claims, best.knowledge.placeholder).judge(
                proposal.problem, best.knowledge, proposal.renamed, 0
            )
            right = accepted and all(error.verdict == "missing" for error in checked.errors)
    reason = "" if feedback is None else " ".join((feedback.message, *feedback.evidence[:2]))
    return Result(
        name,
        readable,
        accepted,
        right,
        completion.tokens_out,
        completion.seconds,
        completion.finish,
        reason,
        completion.text,
    )


def run(
    model: Model, game: str, mode: str, number: int, planner: Planner, answers: Answers | None = None
) -> Iterator[Result]:
    """Ask the questions of a game and judge the answers, or judge the `answers`."""
    setting = load(game)
    method = make_method(mode, setting, 0, None)
    for (name, request, expert), _ in zip(questions(setting, mode, planner), range(number), strict=False):
        assert isinstance(request.context, PromptContext)
        completion = Completion("", finish="error")
        if answers is not None:
            entry = answers.get(name, {"answer": "", "tokens": 0, "seconds": 0.0})
            finish = entry.get("finish", "stop")
            completion = Completion(entry["answer"], 0, entry["tokens"], seconds=entry["seconds"], finish=finish)
        else:
            with suppress(ModelError):
                completion = model.complete(request)
        yield judge(name, completion, expert, request.context, method, setting, planner)


def rate(results: Sequence[Result], verdict: str) -> str:
    count = sum(getattr(result, verdict) for result in results)
    interval = wilson(count, len(results))
    return f"{count}/{len(results)} ({interval.low:.2f}-{interval.high:.2f})"


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks models", description=__doc__)
    parser.add_argument("--model", required=True, help="the name of a language model, or local:FILE.gguf")
    parser.add_argument("--base-url", help="URL of its server")
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--mode", default="edit")
    parser.add_argument("--number", type=int, default=60, help="questions of each game")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--max-answer-tokens", type=int, help="as for `pddlego play`")
    parser.add_argument("--write", type=Path, help="write the results to this file")
    parser.add_argument("--answers", type=Path, help="read the answers in this file of results, and ask no model")
    parser.add_argument("--against", type=Path, help="compare with the results in this file")
    options = parser.parse_args(arguments)
    endpoint = Endpoint(
        base_url=options.base_url,
        temperature=options.temperature,
        timeout=3600,
        max_tokens=options.max_answer_tokens,
    )
    model = make_endpoint(options.model, endpoint, Access("none"), seed=0)
    answers = {entry["question"]: entry for entry in saved(options.answers)} if options.answers else None
    rows, results = [], list[Result]()
    with ProcessPlanner() as planner:
        for game in options.games.split(","):
            mine = []
            for result in run(model, game, options.mode, options.number, planner, answers):
                mine.append(result)
                if options.write:
                    with options.write.open("a") as file:
                        file.write(json.dumps(asdict(result)) + "\n")
            means = (statistics.mean(getattr(result, name) for result in mine) for name in ("tokens", "seconds"))
            rows.append(
                [f"{game} {options.mode}", *(rate(mine, name) for name in VERDICTS), *map("{:.0f}".format, means)]
            )
            results += mine
    show(f"{options.model}: its first answers", ["", *VERDICTS, "tokens", "seconds"], rows)
    if options.against:
        compare(options.against, results)


def compare(path: Path, results: Sequence[Result]) -> None:
    """Print how many questions only one of the two sides answered well, with McNemar's exact test."""
    before = {entry["question"]: entry for entry in saved(path)}
    rows = []
    for verdict in VERDICTS:
        pairs = [
            (bool(before[result.question][verdict]), bool(getattr(result, verdict)))
            for result in results
            if result.question in before
        ]
        lost, won = sum(one and not two for one, two in pairs), sum(two and not one for one, two in pairs)
        rows.append([verdict, str(len(pairs)), f"+{won}", f"-{lost}", f"{mcnemar(pairs):.3f}"])
    print()
    show(f"Against {path.name}", ["", "questions", "gained", "lost", "p"], rows)
