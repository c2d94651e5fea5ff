"""Sends the results of an evaluation to an experiment tracker. A tracker that fails or hangs stops no evaluation.

A tracker keeps its own settings: `WANDB_MODE`, `MLFLOW_TRACKING_URI`, `TRACKIO_DIR`, … It gets numbers and names only:
no requests or answers, no command line, and nothing about the machine.
"""

from __future__ import annotations

import json
import os
import queue
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from pddlego.errors import UsageError, message_of
from pddlego.evaluation.table import rows
from pddlego.models.limiter import Price
from pddlego.report.build import build_report
from pddlego.report.tables import Table
from pddlego.runs.cells import public_model
from pddlego.runs.folders import TRACKED
from pddlego.runs.store import installed_version
from pddlego.runs.summary import Summary
from pddlego.util.files import append, cut_unfinished_line, open_run_file
from pddlego.util.text import one_line, slug

Values = Mapping[str, "str | int | float"]

PROJECT = "pddlego"
"""The project or experiment, unless the tracker's own variable names another one."""

WAIT = 60.0
"""Seconds that a tracker has at the end of an evaluation to send what is left."""


class _Tracker(Protocol):
    """A run of a tracker, new or continued. `id` names it when the evaluation is resumed."""

    id: str

    def log(self, row: Values, number: int) -> None:
        """Send the `row` of an episode, which is the run's row of this `number`, from 0."""

    def finish(self, tables: Mapping[str, Table], number: int) -> None:
        """Send the tables of the report, by names for files, and end the run."""


class _RowTracker:
    """A tracker whose run has a row per episode: subclasses set `_run` and the class `_table` of its tables."""

    _run: Any
    _table: Any

    def log(self, row: Values, number: int) -> None:
        self._run.log(dict(row), step=number)  # an offline run that is continued would count from 0 again

    def finish(self, tables: Mapping[str, Table], number: int) -> None:
        values = {f"report/{name}": self._table(columns=table.head, data=table.body) for name, table in tables.items()}
        self._run.log(values, step=number)
        self._run.finish()


class _Wandb(_RowTracker):
    def __init__(self, path: Path, known: str) -> None:
        import wandb

        self._table = wandb.Table
        quiet = {"silent": True, "console": "off", "disable_git": True, "disable_code": True}
        private = {"x_disable_meta": True, "x_disable_stats": True, "x_disable_machine_info": True}
        settings = wandb.Settings(**quiet, **private, x_save_requirements=False)
        project = os.environ.get("WANDB_PROJECT", PROJECT)
        self._run = wandb.init(
            project=project, name=path.name, id=known or secrets.token_hex(4), resume="allow", settings=settings
        )
        self.id = str(self._run.id)


class _Mlflow:
    """Each episode is a child run: MLflow's metrics have no texts, and its list of runs is a table of them."""

    def __init__(self, path: Path, known: str) -> None:
        import mlflow.entities

        self._client, self._entities = mlflow.MlflowClient(), mlflow.entities
        experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        existing = self._client.get_experiment_by_name(experiment)
        self._experiment = existing.experiment_id if existing else self._client.create_experiment(experiment)
        self.id = known or str(self._client.create_run(self._experiment, run_name=path.name).info.run_id)

    def log(self, row: Values, number: int) -> None:
        names = {key: value for key, value in row.items() if isinstance(value, str) or key in ("seed", "repeat")}
        name = " ".join(str(value) for key, value in names.items() if key != "outcome")
        run = self._client.create_run(self._experiment, run_name=name, tags={"mlflow.parentRunId": self.id})
        now, numbers = int(time.time() * 1000), {key: row[key] for key in row if key not in names}
        metrics = [self._entities.Metric(key, float(value), now, number) for key, value in numbers.items()]
        params = [self._entities.Param(key, str(value)) for key, value in names.items()]
        self._client.log_batch(run.info.run_id, metrics=metrics, params=params)
        self._client.set_terminated(run.info.run_id)

    def finish(self, tables: Mapping[str, Table], number: int) -> None:
        for name, table in tables.items():
            self._client.log_text(self.id, table.csv(), f"report/{name}.csv")
        self._client.set_terminated(self.id)


class _Trackio(_RowTracker):
    def __init__(self, path: Path, known: str) -> None:
        import trackio

        self._table = trackio.Table
        self.id = known or f"{path.name}-{secrets.token_hex(4)}"
        self._run = trackio.init(
            project=PROJECT, name=self.id, resume="allow", embed=False, auto_log_gpu=False, auto_log_cpu=False
        )


TRACKERS: Mapping[str, Callable[[Path, str], _Tracker]]
TRACKERS = {"wandb": _Wandb, "mlflow": _Mlflow, "trackio": _Trackio}

_SMALLER = {"mlflow": "mlflow-skinny"}
"""Packages with as much of a tracker as is needed."""


def check_tracker(name: str) -> None:
    """Raise `UsageError` if the package of the tracker is not installed."""
    if installed_version(name) is None and installed_version(_SMALLER.get(name, name)) is None:
        advice = f"Install pddlego with its extra: pip install '.[{name}]'."
        raise UsageError(f"--tracker {name} is not possible", f"The package {name} is not installed.", advice)


class Tracking:
    """Sends rows from a thread of its own. Its first failure is reported to `warn` in one line, and ends it.

    The run folder `path` remembers the tracker's run and the rows that it has, so that a resumed evaluation continues
    the run and sends only the others.
    """

    def __init__(self, tracker: str, path: Path, prices: Mapping[str, Price], warn: Callable[[str], None]) -> None:
        self._tracker, self._path, self._prices, self._warn = tracker, path.absolute(), prices, warn
        self._waiting: queue.SimpleQueue[Summary | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tracker", daemon=True)
        self._thread.start()

    def add(self, summary: Summary) -> None:
        """Send the row of an episode, unless it has been sent. Does not wait, and raises nothing."""
        if summary.played:
            self._waiting.put(summary)

    def close(self, wait: float = WAIT) -> None:
        """Send the tables of the report, and wait for the tracker to end, at most so many seconds."""
        self._waiting.put(None)
        self._thread.join(wait)
        if self._thread.is_alive():
            self._report(f"it has not ended after {wait:.0f} s")

    def _report(self, reason: str) -> None:
        text = f"Tracker {self._tracker}: {reason}. All results are saved; the same command sends what is missing."
        self._warn(one_line(text, 400))

    def _work(self) -> None:
        try:
            self._send()
        except BaseException as error:  # noqa: BLE001 -- the border to another program
            first, *_ = message_of(error)[:200].splitlines() or [""]
            self._report(f"{type(error).__name__}: {re.sub(r'//[^@]*@', '//', first).rstrip('.')}")

    def _send(self) -> None:
        place = self._path / TRACKED
        lines = [json.loads(line) for line in cut_unfinished_line(place).splitlines()]
        mine = [line for line in lines if line["tracker"] == self._tracker]
        sent = {line["row"] for line in mine if "row" in line}
        known = next((line["run"] for line in mine if "run" in line), "")
        with _same_folder():
            tracker = TRACKERS[self._tracker](self._path, known)
        with open_run_file(place, "ab") as file:

            def remember(key: str, value: str) -> None:
                append(file, place, (json.dumps({"tracker": self._tracker, key: value}) + "\n").encode())

            if not known:
                remember("run", tracker.id)
            while (item := self._waiting.get()) is not None:
                row = f"{item.cell.label}/{item.attempt}"
                if row not in sent:
                    with _same_folder():
                        tracker.log(episode_row(item, self._prices), len(sent))
                    sent.add(row)
                    remember("row", row)
            with _same_folder():
                tracker.finish(_tables(self._path) if sent else {}, len(sent))


@contextmanager
def _same_folder() -> Iterator[None]:
    """Go back to the working folder of the process, which a tracker may have changed."""
    here = Path.cwd()
    try:
        yield
    finally:
        os.chdir(here)


def episode_row(summary: Summary, prices: Mapping[str, Price]) -> Values:
    """The row of a played episode. `cost` is missing if the model has no price."""
    cell, usage = summary.cell, summary.usage
    (row,) = rows([summary], prices)
    return {
        "game": cell.setting,
        "mode": cell.mode,
        "model": public_model(cell.model),
        "seed": cell.seed,
        "repeat": cell.repeat,
        "attempt": summary.attempt,
        "outcome": summary.outcome.value,
        "won": int(summary.won),
        "score": summary.score,
        "steps": usage.steps,
        "calls": usage.calls,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        **({} if row.cost is None else {"cost": row.cost}),
        "seconds": usage.seconds,
    }


def _tables(path: Path) -> dict[str, Table]:
    """The tables of the report by names for files, with the public names of the models."""
    report = build_report([path])
    models = {result.cell.model: public_model(result.cell.model) for result in report.results}

    def public(text: str) -> str:
        for model, name in models.items():
            text = text.replace(model, name)
        return text

    found: dict[str, Table] = {}
    for table in report.tables:
        name = slug(re.split("[,(]", table.title)[0])  # what follows changes when an evaluation is resumed
        others = sum(re.fullmatch(rf"{name}(-\d+)?", other) is not None for other in found)
        body = [[public(cell) for cell in row] for row in table.body]
        if body:
            key = f"{name}-{others + 1}" if others else name
            found[key] = Table(public(table.title), [public(cell) for cell in table.head], body)
    return found
