"""Audits the labels of a benchmark: each is confirmed, contradicted with the evidence, or undecided with the reason.

A pair is a domain and a problem, with a plan or a second problem if a label is about one. Its labels: `solvable` (a
plan exists), `valid` (the plan is one), `equivalent` (both problems are the same), `cost` (the least cost of a plan). A
pair is judged in processes of their own, within limits of time and memory.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

from pddlego.errors import PddlegoError, UsageError
from pddlego.pddl.domain import read_domain
from pddlego.pddl.numbers import TOTAL_COST
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import DefectKind
from pddlego.planning.engines import SEARCH_ENGINES, missing
from pddlego.planning.result import LEAST_COST
from pddlego.tool_call import call
from pddlego.tools import WHY_SECONDS
from pddlego.util.files import read_text
from pddlego.util.text import count, fault_of, nearest, suggestion

Verdict = Literal["confirmed", "contradicted", "undecided"]

LABELS = ("solvable", "valid", "equivalent", "cost")

_TEXTS = {"domain": "domain.pddl", "problem": "problem.pddl", "other": "other.pddl", "plan": "plan.plan"}
"""The files of a pair that is a folder; its labels are in `labels.json`."""

_SHOWN = 12
"""The maximum number of steps of a plan in the evidence."""

_MEMORY = 2048
"""MiB of memory of a search, and of the process that judges a label."""

_STARTING = 30.0
"""Seconds for the start and the end of the process that judges a label, in addition to those of the search."""


class LabelledPair(BaseModel):
    """One row of a benchmark. `other` is the second problem of the label `equivalent`. A label of None is missing."""

    model_config = ConfigDict(frozen=True, extra="allow", coerce_numbers_to_str=True)

    id: str
    domain: str
    problem: str
    other: str | None = None
    plan: str | None = None
    solvable: bool | None = None
    valid: bool | None = None
    equivalent: bool | None = None
    cost: FiniteFloat | None = None

    @property
    def labels(self) -> Mapping[str, bool | float]:
        """The labels that the pair has, by name."""
        return {name: value for name in LABELS if (value := getattr(self, name)) is not None}

    @property
    def digest(self) -> str:
        """Identifies the texts of the pair."""
        texts = [getattr(self, name) for name in _TEXTS]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]

    @property
    def misspelt(self) -> Mapping[str, str]:
        """Columns whose names are close to a label that the pair does not have, each with that label."""
        missing_labels = [name for name in LABELS if name not in self.labels]
        close = ((name, nearest(name.casefold(), missing_labels)) for name in self.model_extra or ())
        return {name: label for name, label in close if label is not None}

    def without(self, labels: Iterable[str]) -> LabelledPair:
        """The pair without some of its labels."""
        return self.model_copy(update=dict.fromkeys(labels))


@dataclass(frozen=True)
class AuditedLabel:
    """The verdict on one label of a pair.

    `evidence` is the plan, the fault of the plan, the difference, the engines that proved it, or why it is undecided.
    `digest` is that of the pair.
    """

    id: str
    label: str
    labelled: bool | float
    verdict: Verdict
    evidence: str
    digest: str


def read_labelled(path: Path, columns: Mapping[str, str]) -> Iterator[LabelledPair]:
    """The pairs of a file (JSON lines, a JSON list or CSV), or of the folders in a folder.

    `columns` names the columns of fields that have another name in the file. Raises `UsageError` for a file that
    cannot be read, for a pair without domain and problem, and for a column that no pair has.
    """
    if path.is_dir():
        folders = sorted(folder for folder in path.iterdir() if (folder / _TEXTS["domain"]).is_file())
        if not folders:
            advice = "A pair is a folder with domain.pddl, problem.pddl and labels.json."
            raise UsageError(f"{path} has no pairs", "None of its folders has a domain.pddl.", advice)
        rows: Iterable[tuple[str, Mapping[str, Any]]] = ((folder.name, _row_of(folder)) for folder in folders)
    else:
        rows = _rows_of(path)
    names: set[str] = set()
    for place, row in rows:
        names |= {*row}
        named = {field: row[column] for field, column in columns.items() if column in row}
        texts = {name: None if value == "" else value for name, value in {"id": place, **row, **named}.items()}
        try:
            yield LabelledPair.model_validate(texts)
        except ValidationError as error:
            reason = f"{place}: {fault_of(error.errors()[0])}."
            advice = "A pair needs domain and problem; --field problem=COLUMN names a column."
            raise UsageError(f"{path} is not a list of pairs", reason, advice) from error
    for field, column in columns.items():
        if names and column not in names:
            advice = suggestion(column, names, f"The columns are {', '.join(sorted(names))}.")
            raise UsageError(f"--field {field}={column} is not possible", f"In {path}, no pair has the column.", advice)


def _row_of(folder: Path) -> Mapping[str, Any]:
    labels = folder / "labels.json"
    row = _object(_json(read_text(labels), str(labels)), str(labels)) if labels.is_file() else {}
    return {**row, **{name: read_text(folder / file) for name, file in _TEXTS.items() if (folder / file).is_file()}}


def _rows_of(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a file, with the name of their place in it. Raises `UsageError`."""
    text = read_text(path)
    if path.suffix == ".csv":
        csv.field_size_limit(len(text) + 1)
        for number, cells in enumerate(csv.DictReader(io.StringIO(text)), start=1):
            yield f"row {number}", {name: cell for name, cell in cells.items() if isinstance(name, str)}
        return
    if text.lstrip().startswith("["):
        for number, row in enumerate(_json(text, str(path)), start=1):
            yield f"row {number}", _object(row, f"{path}, row {number}")
        return
    for number, line in enumerate(text.split("\n"), start=1):  # other ends of lines may be in texts
        if line.strip():
            place = f"{path}, line {number}"
            yield f"line {number}", _object(_json(line, place), place)


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place} is not JSON", f"{error}.", "Name a file of JSON lines, JSON or CSV.") from error


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{place} is not an object", f"It is {str(value)[:40]}.", "Write names and values in braces.")
    return value


def audit(pairs: Iterable[LabelledPair], seconds: float, workers: int = 1) -> Iterator[AuditedLabel]:
    """Judge every label, pairs in their order, `workers` pairs at once, with at most `seconds` for a search."""
    with ThreadPoolExecutor(workers) as pool:
        for judgements in pool.map(partial(judge, seconds=seconds), pairs):
            yield from judgements


def judge(pair: LabelledPair, seconds: float) -> tuple[AuditedLabel, ...]:
    """The judgements of all labels of a pair."""
    judgements = []
    for label, labelled in pair.labels.items():
        try:
            verdict, evidence = _JUDGES[label](pair, labelled, seconds)
        except PddlegoError as error:
            verdict, evidence = "undecided", error.sentence
        judgements.append(AuditedLabel(pair.id, label, labelled, verdict, evidence, pair.digest))
    return tuple(judgements)


def _compared(labelled: bool, judged: bool) -> Verdict:
    return "confirmed" if labelled == judged else "contradicted"


def _solved(pair: LabelledPair, seconds: float, **options: object) -> dict[str, Any]:
    arguments = {
        "domain": pair.domain,
        "problem": pair.problem,
        "seconds": seconds,
        "memory": _MEMORY,
        "why_seconds": 0,
    }
    return call("solve", arguments | options, seconds + WHY_SECONDS + _STARTING, _MEMORY)


def _shown(result: Mapping[str, Any]) -> str:
    plan = result["plan"]
    more = f" … ({len(plan) - _SHOWN} more)" if len(plan) > _SHOWN else ""
    return f"{' '.join(plan[:_SHOWN])}{more}" if plan else "the goal is true at the beginning"


def _judge_solvable(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    """A validated plan decides. A proof that no plan exists is repeated by a second engine, if one can try it."""
    result = _solved(pair, seconds)
    if result["status"] == "bound":  # no engine has a search that proves it; that for reasons may
        result = _solved(pair, seconds, why_seconds=WHY_SECONDS)
    if result["plan"] is not None:
        return _compared(labelled, True), f"a plan of {count(len(result['plan']), 'step')}: {_shown(result)}"
    if result["status"] != "unsolvable":
        return "undecided", f"no plan and no proof ({result['status']})"
    has_plan, evidence = _second_opinion(pair, seconds, result["engine"])
    return "undecided" if has_plan else _compared(labelled, False), evidence


def _second_opinion(pair: LabelledPair, seconds: float, first: str) -> tuple[bool, str]:
    """Whether another engine has a plan where the `first` proves that none exists, and the evidence."""
    for engine in _SECOND:
        if engine == first or missing(engine):
            continue
        try:
            second = _solved(pair, seconds, planner=engine)
        except PddlegoError:
            continue
        if second["plan"] is not None:
            return True, f"{first} proves that no plan exists, and {engine} has one: {_shown(second)}"
        if second["status"] == "unsolvable":
            return False, f"{first} and {engine} prove that no plan exists"
    return False, f"{first} proves that no plan exists"


_SECOND = ("mimir", *(engine for engine in SEARCH_ENGINES if engine != "mimir"))
"""The engines that are asked for a second proof: first mimir, because the others read with one translator."""


def _judge_valid(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    if pair.plan is None:
        return "undecided", "there is no plan"
    result = _call("validate", pair, seconds, plan=pair.plan)
    if result["valid"]:
        return _compared(labelled, True), f"the plan reaches the goal, with cost {result['cost']}"
    if result["rule"] == DefectKind.SYNTAX.id:
        return "undecided", result["message"]
    return _compared(labelled, False), result["message"]


def _judge_equivalent(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    if pair.other is None:
        return "undecided", "there is no second problem (other)"
    result = _call("compare", pair, seconds)
    only = [f"only in {side}: {', '.join(result[key][:3])}" for side, key in _SIDES.items() if result[key]]
    evidence = "; ".join((result["reason"], *only))
    if result["verdict"] == "undecided":
        return "undecided", evidence
    return _compared(labelled, result["verdict"] == "same"), evidence


_SIDES = {"problem": "only_left", "other": "only_right"}


def _call(function: str, pair: LabelledPair, seconds: float, **more: object) -> dict[str, Any]:
    problems = {"left": pair.problem, "right": pair.other} if function == "compare" else {"problem": pair.problem}
    return call(function, {"domain": pair.domain, **problems, **more}, seconds + _STARTING, _MEMORY)


def _judge_cost(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    """A cheaper plan contradicts the label whether or not its own cost is proved to be the least."""
    metric = read_problem(pair.problem).problem.metric
    if metric is not None and metric.direction == "maximize":
        return "undecided", "the metric is maximized, and the label is the least cost"
    if metric is None and TOTAL_COST.head in read_domain(pair.domain).domain.functions_by_name:
        return "undecided", "actions have costs, and the problem has no metric"
    result = _solved(pair, seconds, search=str(LEAST_COST))
    if result["plan"] is None and result["status"] == "unsolvable":
        has_plan, evidence = _second_opinion(pair, seconds, result["engine"])
        return "undecided" if has_plan else "contradicted", evidence
    if result["plan"] is None:
        return "undecided", f"({result['status']})"
    cost, plan = result["cost"], _shown(result)
    if cost < labelled:
        return "contradicted", f"a plan of cost {cost}: {plan}"
    if not result["optimal"]:
        return "undecided", f"no plan cheaper than {cost} was found, and none is excluded"
    return ("confirmed" if cost == labelled else "contradicted"), f"the least cost is {cost}: {plan}"


_JUDGES = {"solvable": _judge_solvable, "valid": _judge_valid, "equivalent": _judge_equivalent, "cost": _judge_cost}
