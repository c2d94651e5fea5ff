"""How time and memory grow with the size of the work: `python -m benchmarks growth [PART…]`.

Each size is measured in a new process, after the smallest size was done once. Times are those of the process and all
its children, planners and game engines included, for one call; a call of less than a second is repeated.
"""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import count, islice, product
from pathlib import Path
from typing import Any, Literal

import pddlego
from pddlego import Environment, tools
from pddlego.episode.events import Ended, Limits, Outcome
from pddlego.evaluation.truth import with_truth
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.play import episode_events
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.pddl import Atom, Problem, TypedName
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.compare import ComparisonVerdict
from pddlego.report.build import build_report
from pddlego.report.formats import as_text
from pddlego.runs.cells import Cell
from pddlego.runs.folders import EPISODES, LEDGER, MANIFEST
from pddlego.runs.store import RESULTS, TRUTH, journal_name, read_results
from pddlego.runs.summary import dump_summary
from tests.coin_endpoint import next_command
from tests.methods.textgames.grid_house import GridHouse
from tests.methods.textgames.houses import COIN, UNVISITED, House, explored
from tests.model_server import ModelServer, answer
from tests.trainers.serving import expert_answers, served

ROOT = Path(__file__).parent.parent
SHORTEST = 1.0
"""Seconds of CPU time below which a call is repeated."""

SAMPLE = 0.05
"""Seconds between two looks at the memory."""

SEEDS = range(100, 104)
"""The episodes of a session."""


@dataclass(frozen=True)
class Work:
    """What is measured, and the process whose time and memory count, with its children."""

    call: Callable[[], object]
    process: int


@dataclass(frozen=True)
class Figures:
    """CPU and wall time of a call in seconds, and the most memory that the processes had together, in MiB."""

    cpu: float
    wall: float
    memory: float


@dataclass(frozen=True)
class Part:
    """A kind of work: the name of its size, its sizes, and how it is prepared in an empty folder."""

    unit: str
    sizes: Sequence[int]
    prepared: Callable[[int, Path], Iterator[Callable[[], object] | Work]]


def main(arguments: list[str]) -> None:
    """Measure the named parts, or all, and print a table for each. `--one PART SIZE` measures one size, as JSON."""
    if arguments[:1] == ["--one"]:
        print(json.dumps(asdict(_measured(PARTS[arguments[1]], int(arguments[2])))))
        return
    if unknown := [name for name in arguments if name not in PARTS]:
        sys.exit(f"Unknown part {', '.join(unknown)}; the parts are: {', '.join(PARTS)}")
    for name in arguments or PARTS:
        part = PARTS[name]
        figures = []
        for size in part.sizes:
            command = [sys.executable, "-m", "benchmarks", "growth", "--one", name, str(size)]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
            figures.append(Figures(**json.loads(done.stdout)))
            print(f"{name} {size}: {figures[-1]}", file=sys.stderr)
        print(_table(name, part, figures), flush=True)


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The exponent of the power law that fits best: the slope of the logarithms, by least squares."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(value) for value in values]).slope


def _table(name: str, part: Part, figures: Sequence[Figures]) -> str:
    columns = [[getattr(one, field) for one in figures] for field in ("cpu", "wall", "memory")]
    rows = [
        [f"{size:,}", *(f"{value:,.3g}" if value < 100 else f"{value:,.0f}" for value in asdict(one).values())]
        for size, one in zip(part.sizes, figures, strict=True)
    ]
    exponents = [f"{exponent(part.sizes, values):.2f}" for values in columns]
    last = [f"{exponent(part.sizes[-2:], values[-2:]):.2f}" for values in columns]
    more = (figures[-1].memory - figures[0].memory) * 1024 / (part.sizes[-1] - part.sizes[0])
    head = [f"{part.unit}s", "CPU s", "wall s", "memory, MiB"]
    rows += [["**exponent**", *exponents], ["last two sizes", *last]]
    lines = [head, ["---", *["---:"] * 3], *rows]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"`python -m benchmarks growth {name}`\n\n{table}\n\nMemory for each further {part.unit}: {more:,.1f} kB.\n"


def _measured(part: Part, size: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        for name, prepared_size in (("first", part.sizes[0]), ("measured", size)):
            Path(folder, name).mkdir()
            with contextmanager(part.prepared)(prepared_size, Path(folder, name)) as prepared:
                work = prepared if isinstance(prepared, Work) else Work(prepared, os.getpid())
                if name == "measured":
                    return _figures(work)
                work.call()
    raise AssertionError


def _figures(work: Work) -> Figures:
    Path(f"/proc/{work.process}/clear_refs").write_text("5")  # forgets the most memory until now
    most, ended = 0.0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not ended.wait(SAMPLE):
            most = max(most, _memory(work.process))

    watching = threading.Thread(target=watch)
    watching.start()
    began, used, calls = time.perf_counter(), _cpu(work.process), 0
    try:
        while not calls or _cpu(work.process) - used < SHORTEST:
            work.call()
            calls += 1
        wall, cpu = time.perf_counter() - began, _cpu(work.process) - used
    finally:
        ended.set()
        watching.join()
    return Figures(cpu / calls, wall / calls, max(most, _memory(work.process)))


def _children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def _cpu(process: int) -> float:
    """Seconds of CPU time of a process, the children it has waited for, and the living ones."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return own + sum(map(_cpu, _children(process)))
    except OSError:
        return 0.0


def _memory(process: int) -> float:
    """MiB that a process and its living children had at most."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
        own = sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        return own / 1024 + sum(map(_memory, _children(process)))
    except OSError:
        return 0.0


def planning(rooms: int, folder: Path) -> Iterator[Callable[[], object]]:
    """One plan to the nearest unvisited room of a house that is explored to 60 %."""
    problem = explored(rooms, int(rooms * 0.6), 0)
    with ProcessPlanner() as planner:

        def call() -> None:
            assert planner.solve(COIN, problem, Search()).status is PlanStatus.SOLVED

        yield call


def steps(mode: str, history: Literal["news", "all"]) -> Callable[[int, Path], Iterator[Callable[[], object]]]:
    """An episode of so many steps in a house with as many rooms, in which there is no coin."""

    def prepared(steps: int, folder: Path) -> Iterator[Callable[[], object]]:
        house = House(steps, random.Random(0))
        exits = {
            (house.name[place], way): house.name[other] for place in house.rooms for way, other in house.exits(place)
        }
        doors = frozenset(frozenset(house.name[place] for place in pair) for pair in house.closed)
        options = TextGameOptions(history=history)
        setting = load("coin", options)
        with ProcessPlanner() as planner:

            def call() -> None:
                episode = EpisodeSetup(setting, 0, mode, Limits(steps), options=options)
                game = GridHouse(exits, doors, start=house.name[0, 0])
                ended = list(episode_events(episode, game, ReaderModel(), planner))[-1]
                assert isinstance(ended, Ended) and ended.outcome is Outcome.STEP_LIMIT, ended

            yield call

    return prepared


def _house(facts: int, seed: int) -> Problem:
    """A house of about so many facts, in which every seed names the rooms in another order."""
    house = House(facts // 4, random.Random(0))
    names = list(house.name.values())
    random.Random(seed).shuffle(names)
    name = dict(zip(house.rooms, names, strict=True))
    known = {Atom("at", (name[0, 0],)), *(Atom("visited", (name[place],)) for place in house.rooms[::2])}
    for place in house.rooms:
        for way, other in house.exits(place):
            known.add(Atom("connected", (name[place], name[other], way)))
            if frozenset((place, other)) in house.closed:
                known.add(Atom("closed_door", (name[place], name[other])))
    objects = frozenset(TypedName(room, "location") for room in names)
    return Problem("house", "coin-collector", objects, frozenset(known), UNVISITED)


def check(facts: int, folder: Path) -> Iterator[Callable[[], object]]:
    """A problem without defects."""
    problem = str(_house(facts, 0))
    yield lambda: tools.check(COIN.text, problem)


def repair(facts: int, folder: Path) -> Iterator[Callable[[], object]]:
    """A problem in which 20 facts have no closing parenthesis, and five rooms are not declared."""
    lines = str(_house(facts, 0)).splitlines()
    written = [number for number, line in enumerate(lines) if line.startswith("    (")]
    for number in written[:: math.ceil(len(written) / 20)]:
        lines[number] = lines[number][:-1]
    lines[3] = " ".join(lines[3].split(" ")[9:])
    text, domain = "\n".join(lines), folder / "domain.pddl"
    domain.write_text(COIN.text)

    def call() -> None:
        assert tools.repair(text, domain).ok

    yield call


def compare(facts: int, folder: Path) -> Iterator[Callable[[], object]]:
    """Two problems that are the same up to the names of the rooms."""
    one, other = str(_house(facts, 0)), str(_house(facts, 1))

    def call() -> None:
        assert tools.compare(COIN.text, one, other).verdict is ComparisonVerdict.SAME

    yield call


def report(episodes: int, folder: Path) -> Iterator[Callable[[], object]]:
    """A run of 20 recorded episodes, each written for many other seeds, with five requests for each in the ledger."""
    run, modes = folder / "run", ("edit", "gen")
    pddlego.evaluate(["coin"], run, modes=modes, seeds="0-9", workers=2).wait()
    known = {result.cell: result for result in read_results(run)[0]}
    measured = {cell: with_truth(run, [result], lambda *_: None)[0] for cell, result in known.items()}
    recorded = {cell: (run / EPISODES / journal_name(cell, 1)).read_bytes() for cell in known}
    manifest = json.loads((run / MANIFEST).read_text())
    manifest["asked"][0]["seeds"]["coin"] = list(range(episodes // 2))
    (run / MANIFEST).write_text(json.dumps(manifest))
    requests = count(1)
    with (run / RESULTS).open("w") as results, (run / TRUTH).open("w") as truth, (run / LEDGER).open("w") as ledger:
        for seed, mode in product(range(episodes // 2), modes):
            first = Cell("coin", mode, "reader", seed % 10)
            cell = replace(first, seed=seed)
            journal = recorded[first].replace(b'"seed":%d,' % first.seed, b'"seed":%d,' % seed, 1)
            (run / EPISODES / journal_name(cell, 1)).write_bytes(journal)
            digest = sha256(journal).hexdigest()
            results.write(dump_summary(replace(known[first], cell=cell, digest=digest)))
            truth.write(dump_summary(replace(measured[first], cell=cell, digest=digest)))
            for request in islice(requests, 5):
                reserved = {"sent": request, "model": "reader", "tokens": 900, "cost": 0.01, "for": cell.label}
                settled = {"settled": request, "tokens": 700, "cost": 0.005, "answered": True}
                ledger.write(f"{json.dumps(reserved)}\n{json.dumps(settled)}\n")

    def call() -> None:
        text = as_text(build_report([run], progress=lambda *_: None))
        assert f"{episodes // 2:,}" in text or str(episodes // 2) in text

    yield call


def environment(sessions: int, folder: Path) -> Iterator[Callable[[], object]]:
    """So many environments in threads: each plays the expert's answers to the same four episodes."""
    for seed in SEEDS:
        expert_answers("coin", "edit", seed)

    def session() -> None:
        with Environment("coin", "edit") as environment:
            for seed in SEEDS:
                environment.reset(seed)
                assert [environment.step(answer) for answer in expert_answers("coin", "edit", seed)][-1].won

    yield lambda: _at_once(sessions, session)


def serve(sessions: int, folder: Path) -> Iterator[Work]:
    """The same through `pddlego serve`, by OpenEnv's client; the server is measured."""
    from openenv.core.generic_client import GenericEnvClient

    for seed in SEEDS:
        expert_answers("coin", "edit", seed)
    with served("coin", "--mode", "edit") as server:

        def session() -> None:
            with GenericEnvClient(base_url=server.url).sync() as client:
                for seed in SEEDS:
                    client.reset(seed=seed)
                    answers = expert_answers("coin", "edit", seed)
                    assert [client.step({"answer": answer}) for answer in answers][-1].observation["won"]

        yield Work(lambda: _at_once(sessions, session), server.pid)


def _at_once(number: int, call: Callable[[], None]) -> None:
    with ThreadPoolExecutor(number) as pool:
        for done in [pool.submit(call) for _ in range(number)]:
            done.result()


def workers(workers: int, folder: Path) -> Iterator[Callable[[], object]]:
    """64 episodes of `act` with an endpoint that answers after 0.1 s; the endpoint's own time is included."""
    numbers = count()
    with ModelServer() as server:
        server.replies = [lambda body: answer(next_command(body), delay=0.1)]
        options: dict[str, Any] = {"modes": "act", "models": "m", "base_url": server.url, "llm_jobs": 64}

        def call() -> None:
            run = folder / str(next(numbers))
            played = pddlego.evaluate(["coin"], run, seeds="100-163", workers=workers, **options).wait()
            assert all(row["outcome"] == "won" for row in played.rows())

        yield call


STEPS, SESSIONS = (20, 50, 100, 200, 500), (1, 8, 64)

PARTS: dict[str, Part] = {
    "planning": Part("room", (11, 50, 200, 1_000), planning),
    "steps": Part("step", STEPS, steps("edit", "news")),
    "history": Part("step", STEPS, steps("edit", "all")),
    "commands": Part("step", STEPS, steps("act", "all")),
    "check": Part("fact", (100, 1_000, 10_000), check),
    "repair": Part("fact", (100, 1_000, 10_000), repair),
    "compare": Part("fact", (100, 1_000, 4_000), compare),
    "report": Part("episode", (1_000, 10_000, 100_000), report),
    "environment": Part("session", SESSIONS, environment),
    "serve": Part("session", SESSIONS, serve),
    "workers": Part("worker", SESSIONS, workers),
}
