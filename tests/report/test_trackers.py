"""Experiment trackers: a row per episode and the tables of the report, also when they fail, hang or are resumed."""

from __future__ import annotations

import base64
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.errors import UsageError
from pddlego.report import trackers
from pddlego.report.tables import Table
from pddlego.report.trackers import PACKAGES, SPANS, TRACKERS, Tracking, Values, check_tracker
from pddlego.runs.folders import TRACKED
from pddlego.runs.store import RESULTS, read_results
from pddlego.runs.summary import Summary
from tests.cli.command import run
from tests.model_server import ModelServer, answer, fault
from tests.scale import PATIENCE

pytestmark = pytest.mark.method("textgames")

CELLS = ("coin", "--modes", "edit", "--models", "reader,reader+noise:0.3", "--run", "night")


class Memory:
    """A tracker in memory. `fails_at` is the number of the row that it refuses."""

    runs: Mapping[str, list[Any]]
    fails_at: int

    def __init__(self, path: Path, known: str) -> None:
        self.id = known or f"{path.name}-{len(self.runs)}"
        self.rows = self.runs.setdefault(self.id, [])  # type: ignore[attr-defined]

    def log(self, row: Values, number: int, summary: Summary) -> None:
        if number == self.fails_at:
            raise ConnectionError("cannot reach http://ann:secret@127.0.0.1/v1\nmore")
        assert number == sum(not isinstance(row, dict) or "outcome" in row for row in self.rows)
        self.rows.append(dict(row))

    def finish(self, tables: Mapping[str, Table], number: int) -> None:
        self.tables = self.rows.append(dict(tables))


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> type[Memory]:
    kind = type("Fresh", (Memory,), {"runs": {}, "fails_at": -1})
    monkeypatch.setattr(trackers, "TRACKERS", {**TRACKERS, "wandb": kind})
    monkeypatch.setattr(trackers, "installed_version", lambda name: "1")
    return kind


def evaluate(seeds: str, folder: Path, tracker: str = "wandb") -> str:
    done = run("eval", *CELLS, "--seeds", seeds, *(("--tracker", tracker) if tracker else ()), cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sent(memory: type[Memory]) -> tuple[list[dict[str, Any]], list[dict[str, Table]]]:
    """The rows and the tables of the only run."""
    ((items),) = memory.runs.values()
    rows = [item for item in items if "outcome" in item]
    return rows, [item for item in items if "outcome" not in item]


def test_each_episode_is_a_row_and_the_report_its_tables(memory: type[Memory], tmp_path: Path) -> None:
    assert "Tracker" not in evaluate("3-4", tmp_path)
    rows, (tables,) = sent(memory)
    results = read_results(tmp_path / "runs" / "night")[0]
    assert len(rows) == len(results) == 4
    for result in results:
        (row,) = (row for row in rows if (row["model"], row["seed"]) == (result.cell.model, result.cell.seed))
        assert (row["outcome"], row["won"], row["score"]) == (result.outcome.value, result.won, result.score)
        assert (row["steps"], row["calls"]) == (result.usage.steps, result.usage.calls)
        assert (row["tokens_in"], row["seconds"]) == (result.usage.tokens_in, result.usage.seconds)
        assert row["cost"] == 0, "the built-in model is free"
    report = pddlego.load(tmp_path / "runs" / "night").report
    assert [table.body for table in tables.values()] == [table.body for table in report.tables if table.body]


def test_a_resumed_evaluation_sends_only_what_is_new(memory: type[Memory], tmp_path: Path) -> None:
    evaluate("3-4", tmp_path, tracker="")
    for seeds, number in (("3-5", 6), ("3-5", 6), ("3-6", 8)):
        evaluate(seeds, tmp_path)
        rows, _ = sent(memory)
        assert len(rows) == len({(row["model"], row["seed"]) for row in rows}) == number


def test_a_tracker_that_fails_loses_no_episode(memory: type[Memory], tmp_path: Path) -> None:
    memory.fails_at = 1
    output = evaluate("3-4", tmp_path)
    warning = "Tracker wandb: ConnectionError: cannot reach http://127.0.0.1/v1. All results are saved; "
    assert output.count("Tracker wandb") == 1 and warning in output and "secret" not in output
    assert len(read_results(tmp_path / "runs" / "night")[0]) == 4
    memory.fails_at = -1
    evaluate("3-4", tmp_path)
    assert len(sent(memory)[0]) == 4, "the same command sends what is missing"


def test_a_tracker_that_hangs_is_left_alone(memory: type[Memory], tmp_path: Path) -> None:
    ended, warnings = threading.Event(), list[str]()
    memory.finish = lambda *_: ended.wait(PATIENCE)  # type: ignore[assignment, method-assign]
    pddlego.evaluate("coin", tmp_path / "run", seeds="12").wait(PATIENCE)
    Tracking("wandb", tmp_path / "run", {}, warnings.append).close(wait=0.05)
    ended.set()
    assert warnings == [
        "Tracker wandb: it has not ended after 0 s. All results are saved; the same command sends what is missing."
    ]


def test_a_tracker_may_change_the_working_folder(memory: type[Memory], tmp_path: Path) -> None:
    """While it begins, too: the run folder `runs/night` is where it was."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    begin, log, results = memory.__init__, memory.log, here / "runs" / "night" / RESULTS

    def begins(self: Memory, path: Path, known: str) -> None:
        os.chdir(elsewhere)
        end = time.monotonic() + PATIENCE
        while not results.exists() and time.monotonic() < end:
            time.sleep(0.01)
        begin(self, path, known)

    def logs(self: Memory, *arguments: Any) -> None:
        os.chdir(elsewhere)
        log(self, *arguments)

    memory.__init__, memory.log = begins, logs  # type: ignore[assignment, method-assign]
    assert "Tracker" not in evaluate("3-4", here)
    assert len(sent(memory)[0]) == len(read_results(here / "runs" / "night")[0]) == 4
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("installed", ["mlflow", "mlflow-skinny"])
def test_either_package_of_mlflow_is_enough(installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trackers, "installed_version", lambda name: "3.17" if name == installed else None)
    check_tracker("mlflow")
    with pytest.raises(UsageError, match="wandb is not installed"):
        check_tracker("wandb")


def test_a_line_of_a_killed_process_is_removed(memory: type[Memory], tmp_path: Path) -> None:
    evaluate("3", tmp_path)
    place = tmp_path / "runs" / "night" / TRACKED
    with place.open("a") as file:
        file.write('{"tracker": "wan')
    assert "Tracker" not in evaluate("3-4", tmp_path)
    assert len([json.loads(line) for line in place.read_text().splitlines()]) == 5, "the run, and four rows"


def test_the_folders_of_model_files_are_not_sent(memory: type[Memory], tmp_path: Path) -> None:
    assert run("export", "--expert", "coin", "--seeds", "60-61", "-o", "chat.jsonl", cwd=tmp_path).returncode == 0
    model = f"transcript:{tmp_path}/chat.jsonl"
    done = run("eval", "coin", "--models", model, "--seeds", "60-61", "--tracker", "wandb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = repr(sent(memory))
    assert "transcript:chat.jsonl" in text and tmp_path.name not in text, text[text.find(tmp_path.name) - 300 :][:600]


@pytest.mark.parametrize("name", sorted(TRACKERS))
def test_a_missing_package_is_named_before_anything_is_played(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "installed_version", lambda name: None)
    done = run("eval", *CELLS, "--seeds", "3", "--tracker", name, cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 3, done.stderr
    assert f"The package {PACKAGES.get(name, name)} is not installed" in done.stderr and f"[{name}]" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_function_is_called_with_each_new_result(tmp_path: Path) -> None:
    seen = list[Summary]()
    pddlego.evaluate("coin", tmp_path / "run", seeds="3-4", on_episode=seen.append).wait(PATIENCE)
    assert sorted(summary.cell.seed for summary in seen) == [3, 4]
    pddlego.evaluate("coin", tmp_path / "run", seeds="3-5", on_episode=seen.append).wait(PATIENCE)
    assert [summary.cell.seed for summary in seen[2:]] == [5]


@pytest.mark.filterwarnings("default")
def test_a_function_that_fails_loses_no_episode(tmp_path: Path) -> None:
    def fail(summary: Summary) -> None:
        raise ValueError("no")

    with pytest.warns(UserWarning, match=r"on_episode\(coin-edit-reader-seed3\): ValueError: no"):
        evaluation = pddlego.evaluate("coin", tmp_path / "run", seeds="3-4", on_episode=fail).wait(PATIENCE)
    assert len(evaluation.results) == 2


def tracked(tracker: str, folder: Path) -> None:
    """Evaluate two seeds with the real library, then one more."""
    for seeds in ("3-4", "3-5"):
        assert "Tracker" not in evaluate(seeds, folder, tracker)


EXPECTED = {(model, seed) for model in ("reader", "reader+noise:0.3") for seed in (3, 4, 5)}


def records(data: bytes) -> Iterator[bytes]:
    """The records of a file of W&B, for which it has no public reader: LevelDB's log format after seven bytes."""
    place, record = 7, b""
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        record += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield record
            record = b""


@pytest.mark.slow
@pytest.mark.beside("wandb")
def test_wandb_reads_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    from wandb.proto import wandb_internal_pb2

    tracked("wandb", tmp_path)
    rows: dict[int, dict[str, Any]] = {}
    ids = set()
    for file in sorted(tmp_path.glob("wandb/offline-run-*/*.wandb")):
        ids.add(file.stem)
        for data in records(file.read_bytes()):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            items = {item.key or "/".join(item.nested_key): item for item in record.history.item}
            if "outcome" in items:
                step = json.loads(items["_step"].value_json)
                assert step not in rows, "no step is sent twice"
                rows[step] = {key: json.loads(item.value_json) for key, item in items.items()}
    assert len(ids) == 1, "both parts belong to one run"
    assert {(row["model"], row["seed"]) for row in rows.values()} == EXPECTED and len(rows) == len(EXPECTED)
    assert all(row["calls"] > 0 and row["score"] == row["won"] for row in rows.values())
    assert len(list(tmp_path.glob("wandb/offline-run-*/files/media/table/report/success-in_*.table.json"))) == 2


@pytest.mark.slow
@pytest.mark.beside("mlflow")
@pytest.mark.parametrize("store", ["file:{}/mlruns", "sqlite:///{}/mlflow.db"])
def test_mlflow_reads_it_back(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.format(tmp_path))
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    tracked("mlflow", tmp_path)
    client = mlflow.MlflowClient(store.format(tmp_path))
    runs = client.search_runs([client.get_experiment_by_name("pddlego").experiment_id])
    (parent,) = (run for run in runs if "mlflow.parentRunId" not in run.data.tags)
    children = [run for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    assert {(run.data.params["model"], int(run.data.params["seed"])) for run in children} == EXPECTED
    assert len(children) == len(EXPECTED) == len(runs) - 1
    assert all(run.data.metrics["calls"] > 0 and run.info.status == "FINISHED" for run in runs if run in children)
    names = [item.path for item in client.list_artifacts(parent.info.run_id, "report")]
    assert any(name.startswith("report/success") for name in names) and parent.info.status == "FINISHED"


@pytest.mark.slow
@pytest.mark.beside("trackio")
def test_trackio_reads_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    import trackio
    from trackio.sqlite_storage import SQLiteStorage

    tracked("trackio", tmp_path)
    (found,) = trackio.Api().runs("pddlego")
    logs = SQLiteStorage.get_logs("pddlego", run_id=found.id)
    history = [row for row in logs if row.get("outcome")]
    assert any("report/success-in" in row for row in logs)
    assert {(row["model"], row["seed"]) for row in history} == EXPECTED and len(history) == len(EXPECTED)


@contextmanager
def collector(bodies: list[bytes], status: int = 200) -> Iterator[str]:
    """The address of a receiver of OTLP over HTTP. With status 0, it does not answer."""
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert (self.path, self.headers["content-type"]) == ("/v1/traces", "application/x-protobuf")
            bodies.append(self.rfile.read(int(self.headers["content-length"])))
            if status or ended.wait(PATIENCE):
                self.send_response(status or 200)
                self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        ended.set()
        server.shutdown()
        thread.join()


def spans_in(body: bytes) -> list[Any]:
    """The spans of an episode in a request, of which the first is the parent of the others."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    about = {item.key for item in resource.resource.attributes}
    assert about == {
        *(f"telemetry.sdk.{name}" for name in ("language", "name", "version")),
        *("service.name", "service.instance.id"),
    }, "nothing about the machine"
    (scope,) = resource.scope_spans
    return list(scope.spans)


def values_of(span: Any) -> dict[str, Any]:
    def value_of(value: Any) -> Any:
        kind = value.WhichOneof("value")
        return [value_of(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)

    return {item.key: value_of(item.value) for item in span.attributes}


def check_names(spans: list[Any]) -> None:
    from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes

    known = {str(value) for key, value in vars(gen_ai_attributes).items() if key.startswith("GEN_AI_")}
    operations = {item.value for item in gen_ai_attributes.GenAiOperationNameValues}
    for span in spans:
        values = values_of(span)
        assert values["gen_ai.operation.name"] == span.name.split()[0] and span.name.split()[0] in operations
        others = {key for key in values if not key.startswith("pddlego.")} - known
        assert others <= {error_attributes.ERROR_TYPE}, others


def check_times(spans: list[Any], began: float) -> None:
    episode, *inside = spans
    assert began - 1 <= episode.start_time_unix_nano / 1e9 <= episode.end_time_unix_nano / 1e9 <= time.time() + 1
    for span in inside:
        assert (span.trace_id, span.parent_span_id) == (episode.trace_id, episode.span_id)
        assert span.start_time_unix_nano <= span.end_time_unix_nano <= episode.end_time_unix_nano
        assert span.start_time_unix_nano >= episode.start_time_unix_nano


def texts_of(run: Path) -> Iterator[str]:
    """The texts of requests, answers and plans in the journals of a run."""
    for journal in run.glob("episodes/*.jsonl"):
        for line in journal.read_text().splitlines():
            event = json.loads(line)["event"]
            yield from (message["content"][:40] for message in event.get("messages", ()))
            yield from (text[:40] for text in (event.get("text"), event.get("completion", {}).get("text")) if text)
            yield from (item["action"] for item in event.get("plan") or ())


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """No variables for OpenTelemetry but a key, and a short time for an endpoint that does not answer."""
    for name in ("ENDPOINT", "TRACES_ENDPOINT", "PROTOCOL"):
        monkeypatch.delenv(f"OTEL_EXPORTER_OTLP_{name}", raising=False)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hidden-key")
    yield monkeypatch


OTEL = pytest.mark.beside("opentelemetry.sdk")


@pytest.mark.slow
@OTEL
def test_opentelemetry_gets_a_trace_for_each_episode(tmp_path: Path, clean: pytest.MonkeyPatch) -> None:
    bodies, began = list[bytes](), time.time()
    with collector(bodies) as address:
        clean.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        tracked("otel", tmp_path)
    run = tmp_path / "runs" / "night"
    results = {(result.cell.model, result.cell.seed): result for result in read_results(run)[0]}
    traces = [spans_in(body) for body in bodies]
    assert len({spans[0].trace_id for spans in traces}) == len(traces) == len(EXPECTED), "no episode is sent twice"
    for spans in traces:
        check_names(spans)
        check_times(spans, began)
        values = values_of(spans[0])
        result = results.pop((values["pddlego.model"], values["pddlego.seed"]))
        names = [span.name for span in spans]
        assert names[0] == "invoke_agent edit" and names.count(f"chat {result.cell.model}") == result.usage.calls
        assert values["pddlego.outcome"] == result.outcome.value and values["pddlego.run"] == "night"
        assert values["gen_ai.provider.name"] == "pddlego", "these models send no requests"
        assert (spans[0].status.code, values.get("error.type")) == (0, None) if result.won else (2, result.outcome)
        statuses = [values_of(span)["pddlego.status"] for span in spans if span.name == "execute_tool planner"]
        assert "solved" in statuses and set(names) == {names[0], f"chat {result.cell.model}", "execute_tool planner"}
    sent = b"".join(bodies).decode(errors="replace")
    texts = set(texts_of(run))
    assert len(texts) > 20 and not [text for text in texts if text in sent]
    assert str(tmp_path) not in sent and "hidden-key" not in sent


@pytest.mark.slow
@OTEL
def test_opentelemetry_writes_a_file(tmp_path: Path, clean: pytest.MonkeyPatch) -> None:
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    clean.setenv("OTEL_TRACES_EXPORTER", "otlp_json_file")
    began = time.time()
    assert run("export", "--expert", "coin", "--seeds", "60-61", "-o", "chat.jsonl", cwd=tmp_path).returncode == 0
    model = ("--modes", "edit,random", "--models", f"transcript:{tmp_path}/chat.jsonl", "--run", "night")
    for seeds in ("60", "60-61"):
        done = run("eval", "coin", *model, "--seeds", seeds, "--tracker", "otel", cwd=tmp_path)
        assert "Tracker" not in done.stdout, done.stdout
        with (tmp_path / "runs" / "night" / SPANS).open("a") as file:
            file.write('{"resourceSp')  # by a process that was killed

    def bytes_of(fields: dict[str, Any]) -> dict[str, Any]:
        """The identifiers, which are hexadecimal in OTLP, in the JSON of protobuf."""
        return {
            key: base64.b64encode(bytes.fromhex(value)).decode()
            if key.lower().endswith(("traceid", "spanid"))
            else value
            for key, value in fields.items()
        }

    text = (tmp_path / "runs" / "night" / SPANS).read_text()
    *lines, _ = text.splitlines()
    bodies = [json.dumps(json.loads(line, object_hook=bytes_of)) for line in lines]
    traces = [spans_in(Parse(body, ExportTraceServiceRequest()).SerializeToString()) for body in bodies]
    assert len(traces) == 4
    for spans in traces:
        check_names(spans)
        check_times(spans, began)
    modes = sorted(spans[0].name for spans in traces)
    assert modes == ["invoke_agent edit", "invoke_agent edit", "invoke_agent random", "invoke_agent random"]
    assert "transcript:chat.jsonl" in text and str(tmp_path) not in text and tmp_path.name not in text


@pytest.mark.slow
@OTEL
def test_opentelemetry_gets_failed_requests_of_endpoints(
    tmp_path: Path, clean: pytest.MonkeyPatch, model_server: ModelServer
) -> None:
    model_server.replies = [answer("look around"), fault(401, "no")]
    bodies = list[bytes]()
    with collector(bodies) as address:
        clean.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        model = ("--modes", "act", "--models", "m", "--base-url", model_server.url, "--max-steps", "1")
        arguments = ("eval", "coin", "--seeds", "0-1", *model, "--workers", "1", "--tracker", "otel")
        assert run(*arguments, cwd=tmp_path, OPENAI_API_KEY="hidden-key").returncode == 3
    (lost, asked), (stopped, answered) = sorted(map(spans_in, bodies), key=lambda spans: spans[0].status.message)
    for span, outcome in ((lost, "model error"), (asked, "model error"), (stopped, "step limit")):
        assert (span.status.code, span.status.message) == (2, outcome) and values_of(span)["error.type"] == outcome
    values = values_of(answered)
    assert (answered.name, answered.kind, answered.status.code) == ("chat m", 3, 0)
    assert (values["gen_ai.provider.name"], values["gen_ai.response.finish_reasons"]) == ("openai", ["stop"])
    tokens = [values[f"gen_ai.usage.{name}_tokens"] for name in ("input", "output")]
    assert min(tokens) > 0 and tokens == [values_of(stopped)[f"pddlego.tokens_{name}"] for name in ("in", "out")]
    assert not [body for body in bodies if b"hidden-key" in body or model_server.url.encode() in body]


@pytest.mark.slow
@OTEL
@pytest.mark.parametrize("status", [0, 404, 503, None])
def test_opentelemetry_without_a_collector(
    status: int | None, tmp_path: Path, clean: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    bodies = list[bytes]()
    with collector(bodies, 200 if status is None else status) as address:
        clean.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1" if status is None else address)
        output = evaluate("3-4", tmp_path, "otel")
    assert output.count("Tracker otel") == 1 and "check OTEL_EXPORTER_OTLP_ENDPOINT" in output, output
    assert len(read_results(tmp_path / "runs" / "night")[0]) == 4 and "export" not in capfd.readouterr().err
    with collector(bodies := []) as address:
        clean.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        assert "Tracker" not in evaluate("3-4", tmp_path, "otel")
    assert len(bodies) == 4, "the same command sends what is missing"
