"""What reads text, each as a function that may raise nothing but what its readers expect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from pddlego.display.console import UNICODE
from pddlego.display.screens import Canvas
from pddlego.episode.loop import Retry
from pddlego.errors import PddlegoError
from pddlego.evaluation.config import resolve
from pddlego.evaluation.resources import read_prices
from pddlego.methods.registry import make_codec, screen_of
from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.methods.textgames.formalize.act import ActionGen
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.prompts import Prompts
from pddlego.pddl import (
    EditSyntaxError,
    PddlSyntaxError,
    apply_edit,
    check,
    diff,
    parse_domain,
    parse_edit,
    parse_problem,
)
from pddlego.pddl.invariants import contradictions
from pddlego.pddl.problem import read_problem
from pddlego.pddl.tolerant import RepairKind, repair
from pddlego.planning import Planner, PlanStatus, Search
from pddlego.runs.journal import read_journal
from tests.fuzz import texts
from tests.methods.textgames.situations import situation_with


@dataclass(frozen=True)
class Bench:
    """What the targets share. The working directory is `folder`, where settings of that name are found."""

    folder: Path
    planner: Planner
    settings: tuple[GameSetting, ...]


def situation_of(setting: GameSetting) -> PromptContext:
    looked = (Exchange(None, "You are in the kitchen."),)
    return situation_with(
        setting.asking.prompts,
        "task",
        setting.start.domain,
        setting.start.problem,
        looked,
        looked,
        ("move north", "look around"),
    )


def answer(bench: Bench, text: str) -> None:
    """An answer, in every mode: it gives a proposal, and the next request can be written."""
    for setting in bench.settings:
        prompts, situation = Prompts(setting.asking.prompts), situation_of(setting)
        for method in (PddlEdit(prompts), PddlGen(prompts), PddlEdit(prompts, False), PddlGen(prompts, False)):
            result = method.read(text, situation)
            assert str(parse_problem(str(result.problem))) == str(result.problem) or result.feedback
            contradictions(result.problem, setting.start.invariants)
            again = replace(situation, retry=Retry(1, text, result.feedback))
            assert method.request(again).characters < 100_000
        ActionGen(prompts).read(text, situation)


def edit(bench: Bench, text: str) -> None:
    """An edit: applied line by line, whatever the lines are; what it makes is planned with or refused in words."""
    setting = bench.settings[0]
    try:
        parsed = parse_edit(text)
    except EditSyntaxError:
        return
    report = apply_edit(setting.start.problem, parsed, setting.start.domain.constants)
    diff(setting.start.problem, report.problem, dict(report.renamed))
    apply_edit(report.problem, parsed, setting.start.domain.constants)
    sound, status = solvable(bench, setting.start.domain.text, str(report.problem))
    assert not sound or status is not PlanStatus.INVALID, "what the check lets through can be planned with"


def pddl(bench: Bench, pair: tuple[str, str]) -> None:
    """A domain and a problem: repaired, checked, planned with."""
    read_problem(pair[1])
    files = repair(*pair)
    if files.repairs and files.domain != pair[0] and files.problem != pair[1]:  # both were written again
        again = repair(files.domain, files.problem).repairs
        # What is declared in the first pass may show another place of a parenthesis in the second.
        letters = [item for item in again if item.kind is RepairKind.LEXICAL and "parenthes" not in item.what]
        assert not letters, "letters are mended once"
    solvable(bench, files.domain, files.problem)


def solvable(bench: Bench, domain_text: str, problem_text: str) -> tuple[bool, PlanStatus | None]:
    """Planning ends with a status that is no crash. Returns whether the check finds nothing, and the status."""
    try:
        domain = parse_domain(domain_text)
    except PddlSyntaxError:
        return False, None
    blocking = [item for item in check(domain, problem_text) if item.blocking]
    result = bench.planner.solve(domain, read_problem(problem_text).problem, Search())
    assert result.status is not PlanStatus.CRASHED, result.message
    return not blocking, result.status


def toml(bench: Bench, text: str) -> None:
    """A settings file, a configuration and a price list: read, or refused in words."""
    data = text.encode(errors="replace")
    place = bench.folder / "envs" / "fuzz.toml"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(data)
    for call in (lambda: load("fuzz"), lambda: resolve({}, {}, place), lambda: read_prices(place)):
        try:
            call()
        except PddlegoError as error:
            assert error.what
            assert error.sentence


def journal(bench: Bench, text: str) -> None:
    """A journal that a disk has damaged: read as far as it goes, or refused in words."""
    place = bench.folder / "journal.jsonl"
    place.write_bytes(text.encode(errors="replace"))
    try:
        read = read_journal(place, make_codec())
    except PddlegoError as error:
        assert error.sentence
        return
    for end in range(len(read) + 1):
        screen_of("textgames").draw(read.until(end), Canvas(120, 40, 1.0, UNICODE))


@dataclass(frozen=True)
class Target:
    """A reader with the texts that it is given."""

    name: str
    cases: st.SearchStrategy[Any]
    call: Callable[[Bench, Any], None]


def targets() -> tuple[Target, ...]:
    """Every target with what it is given."""
    some = texts.pairs()[::3]
    wild = st.tuples(texts.changed([item for item, _ in some]), texts.changed([item for _, item in some]))
    return (
        Target("answers", texts.changed(texts.answers()), answer),
        Target("edits", texts.changed(texts.edits()), edit),
        Target("pddl", wild, pddl),
        Target("toml", texts.changed(texts.settings()), toml),
        Target("journals", texts.changed(texts.journals()), journal),
    )


def fuzz(target: Target, bench: Bench, number: int, cases: int) -> int:
    """Try so many cases of a target, another set for each number, and return how many there were.

    Raises what a case raises, after hypothesis has made the case as small as it can.
    """
    tried = 0

    @seed(number)
    @settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(target.cases)
    def case(text: Any) -> None:
        nonlocal tried
        tried += 1
        target.call(bench, text)

    case()
    return tried
