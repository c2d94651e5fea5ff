"""The pairs of a benchmark and their labels, read from a file or from folders.

A pair is a domain and a problem, with a plan or a second problem if a label is about one. Its labels: `solvable` (a
plan exists), `valid` (the plan is one), `equivalent` (both problems are the same), `cost` (the least cost of a plan),
`recorded_verdict` (what a planner has said about the files, which a language model may have written).
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

from pddlego.errors import UsageError
from pddlego.util.files import read_text
from pddlego.util.text import fault_of, nearest, suggestion

LABELS = ("solvable", "valid", "equivalent", "cost", "recorded_verdict")

_TEXTS = {"domain": "domain.pddl", "problem": "problem.pddl", "other": "other.pddl", "plan": "plan.plan"}
"""The files of a pair that is a folder; its labels are in `labels.json`."""


class LabelledPair(BaseModel):
    """One row of a benchmark. `other` is the second problem of the label `equivalent`. A label of None is missing.

    A planner's `recorded_verdict` may have the actions of its plan, and the length of a shortest plan.
    """

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
    recorded_verdict: str | None = None
    recorded_actions: tuple[str, ...] | None = None
    reference_plan_length: int | None = None

    @property
    def labels(self) -> Mapping[str, bool | float | str]:
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
