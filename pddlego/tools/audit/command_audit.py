"""`pddlego audit`: judges the labels of a benchmark of PDDL pairs, and lists those that are contradicted."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from pddlego.cli.exits import handle_sigterm
from pddlego.cli.printing import Line, end, say, show_lines
from pddlego.errors import UsageError
from pddlego.util.files import cannot_write, check_writable, cut_unfinished_line, write_whole
from pddlego.util.text import count

if TYPE_CHECKING:
    from pddlego.report.tables import Table
    from pddlego.tools.audit.judges import AuditedLabel
    from pddlego.tools.audit.pairs import LabelledPair

Source = Annotated[Path, typer.Argument(metavar="PATH", help="JSON lines, JSON, CSV, or a folder of folders.")]
Fields = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME=COLUMN", help="The column of a field, such as problem=problem_pddl."),
]
Seconds = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds of a search.")]
Workers = Annotated[int, typer.Option(min=1, help="Pairs that are judged at once.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="JSON lines of all judgements. If it exists, the audit continues."),
]
Form = Annotated[
    Literal["text", "markdown", "csv", "json", "latex"],
    typer.Option("--format", help="text: the contradicted labels, too; other formats: the table."),
]


def command(
    path: Source,
    field: Fields = None,
    seconds: Seconds = 10.0,
    workers: Workers = 4,
    output: Output = None,
    form: Form = "text",
) -> None:
    """Judge the labels of a benchmark, and list those that are contradicted, with the evidence.

    A pair has domain, problem, and labels: solvable, valid (with plan), equivalent (with other), cost,
    recorded_verdict.
    Exit code: 0 no label is contradicted, 1 some are, 2 wrong usage.
    """
    from pddlego.report.formats import one_table
    from pddlego.tools.audit.judges import audit
    from pddlego.tools.audit.pairs import read_labelled

    handle_sigterm()
    if output is not None:
        check_writable(output)
    pairs = list(read_labelled(path, _columns(field or [])))
    if repeated := [name for name, number in Counter(pair.id for pair in pairs).items() if number > 1]:
        raise UsageError(f"{path} has two pairs {repeated[0]}", "An id names one pair.", "Rename one, or leave id out.")
    for (name, label), number in Counter(item for pair in pairs for item in pair.misspelt.items()).items():
        say(f"'{name}' is not a label, and is ignored in {count(number, 'pair')}. Did you mean '{label}'?")
    if output is not None:
        check_writable(output)
    judgements = [] if output is None else _earlier(output, pairs)
    judged = {(judgement.id, judgement.label) for judgement in judgements}
    left = (pair.without(label for label in pair.labels if (pair.id, label) in judged) for pair in pairs)
    show_lines(_line(judgement) for judgement in judgements if form == "text" and judgement.verdict != "confirmed")
    for judgement in audit(left, seconds, workers):
        judgements.append(judgement)
        if output is not None:
            _append(output, judgement)
        if form == "text" and judgement.verdict != "confirmed":
            show_lines([_line(judgement)])
    say(f"{count(len(pairs), 'pair')}, {sum(not pair.labels for pair in pairs)} without a label")
    typer.echo(one_table(_table(judgements), form), nl=False)
    end(not any(judgement.verdict == "contradicted" for judgement in judgements))


def _columns(fields: list[str]) -> dict[str, str]:
    from pddlego.tools.audit.pairs import LabelledPair

    columns = dict(field.partition("=")[::2] for field in fields)
    for name, column in columns.items():
        if name not in LabelledPair.model_fields or not column:
            reason = f"The fields are: {', '.join(LabelledPair.model_fields)}."
            raise UsageError(f"--field {name}={column} is not possible", reason, "Example: problem=problem_pddl.")
    return columns


def _earlier(output: Path, pairs: list[LabelledPair]) -> list[AuditedLabel]:
    """The judgements of an earlier audit, which hold if their pair and its label are unchanged; others are removed.

    Raises `UsageError` for another file.
    """
    from pydantic import TypeAdapter, ValidationError

    from pddlego.tools.audit.judges import AuditedLabel

    try:
        lines = cut_unfinished_line(output).splitlines()
        judgements = [TypeAdapter(AuditedLabel).validate_json(line) for line in lines]
    except ValidationError as error:
        reason = f"{error.error_count()} errors in a line."
        raise UsageError(f"{output} is not the output of an audit", reason, "Name another file.") from error
    there = {(pair.id, label, value, pair.digest) for pair in pairs for label, value in pair.labels.items()}
    kept = [one for one in judgements if (one.id, one.label, one.labelled, one.digest) in there]
    if len(kept) < len(judgements):
        write_whole(output, "".join(map(_json_line, kept)))
    return kept


def _json_line(judgement: AuditedLabel) -> str:
    return json.dumps(dataclasses.asdict(judgement), ensure_ascii=False) + "\n"


def _append(output: Path, judgement: AuditedLabel) -> None:
    try:
        with output.open("a", encoding="utf-8") as file:
            file.write(_json_line(judgement))
    except OSError as error:
        raise cannot_write(output, error) from error


def _line(judgement: AuditedLabel) -> Line:
    style = "red" if judgement.verdict == "contradicted" else "yellow"
    value = json.dumps(judgement.labelled)
    return f"{judgement.id}: {judgement.label} = {value} is {judgement.verdict}: {judgement.evidence}", style


def _table(judgements: list[AuditedLabel]) -> Table:
    from pddlego.report.tables import Table
    from pddlego.tools.audit.judges import Verdict
    from pddlego.tools.audit.pairs import LABELS

    counts = Counter((judgement.label, judgement.verdict) for judgement in judgements)
    verdicts: tuple[Verdict, ...] = get_args(Verdict)
    body = [[label, *(str(counts[label, verdict]) for verdict in verdicts)] for label in LABELS]
    return Table("Labels", ["label", *verdicts], [row for row in body if any(int(cell) for cell in row[1:])])
