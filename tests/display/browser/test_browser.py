"""The browser, driven by Textual's pilot: every key, filters, live episodes, damage."""

from __future__ import annotations

import asyncio
import re
import shutil
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Group
from textual.css.query import NoMatches
from textual.pilot import Pilot
from textual.widgets import Footer, Input, OptionList, Static, TabbedContent

from pddlego.cli.browsing import causes_of, checks_of, explain_episode, saved_cause
from pddlego.display.browser.app import Browser, at_episodes, at_run, at_runs, is_light
from pddlego.display.browser.episode import EpisodeScreen, EpisodeView
from pddlego.display.browser.lists import EpisodesScreen, RunsScreen
from pddlego.display.browser.table import FilteredTable, Rows
from pddlego.display.console import UNICODE
from pddlego.display.opened import Explanation, OpenEpisode, ShownEpisode, Sources
from pddlego.episode.events import Answered, Asked, Ended, Event, Limits, Outcome, Rejected, Started
from pddlego.episode.trace import first_difference
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import resolve
from pddlego.evaluation.prepare import make_setup
from pddlego.methods.registry import make_codec, screen_of
from pddlego.methods.textgames.events import GameRead, Observed
from pddlego.models import Completion, Message
from pddlego.models.base import Feedback
from pddlego.runs.journal import JournalWriter
from pddlego.runs.summary import LastingError
from tests.evaluation.test_replay import RECORDED, RUNS
from tests.scale import PATIENCE, scaled

SIZES = scaled([(120, 40)], in_ci=[(80, 24), (120, 40), (200, 50)])
LINES = next((RECORDED / RUNS[0] / "episodes").iterdir()).read_bytes().splitlines(keepends=True)

Drive = Callable[[Pilot[None]], Awaitable[None]]


def drive(app: Browser, steps: Drive, size: tuple[int, int] = (120, 40)) -> None:
    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await steps(pilot)

    asyncio.run(run())


SOURCES = Sources(make_codec(), screen_of, UNICODE, explain_episode, saved_cause, causes_of, checker=checks_of)


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait until `holds` is true; it is not while a widget is mounted but not composed, and lacks its parts."""
    for _ in range(int(PATIENCE / 0.05)):
        with suppress(NoMatches):
            if holds():
                return
        await pilot.pause(0.05)
    raise AssertionError(shown(pilot))


def shown(pilot: Pilot[None]) -> str:
    """The text of the screen, line by line."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


def notes(pilot: Pilot[None]) -> str:
    return "\n".join(note.message for note in pilot.app._notifications)


def cells(pilot: Pilot[None]) -> list[list[str]]:
    found = pilot.app.screen.query(Rows)
    return [[text for text, _, _ in rows._draw(key)] for rows in found for key in rows._order]


def view(pilot: Pilot[None]) -> EpisodeView:
    return pilot.app.screen.query(EpisodeView).first()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name in RUNS:
        shutil.copytree(RECORDED / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("size", SIZES)
def test_from_runs_to_an_episode_and_back(runs: Path, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(cells(pilot)) == 2)
        assert {row[-1] for row in cells(pilot)} == set(RUNS)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, EpisodesScreen) and len(cells(pilot)) == 1)
        assert "won" in cells(pilot)[0]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, EpisodeScreen))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
        await pilot.press("q")

    drive(at_runs(runs, SOURCES), steps, size)


def many(folder: Path, number: int) -> Path:
    """A run folder with copies of an episode under other seeds."""
    (folder / "episodes").mkdir(parents=True)
    for seed in range(number):
        lines = [line.replace(b'"seed":12', b'"seed":%d' % seed, 1) for line in LINES[: 7 if seed % 2 else None]]
        (folder / "episodes" / f"coin-edit-reader-seed{seed}.jsonl").write_bytes(b"".join(lines))
    return folder


@pytest.mark.slow
def test_sorting_and_filtering(tmp_path: Path) -> None:
    def seeds(pilot: Pilot[None]) -> list[int]:
        return [int(row[3]) for row in cells(pilot)]

    async def steps(pilot: Pilot[None]) -> None:
        table = pilot.app.screen.query_one(FilteredTable)
        await until(pilot, lambda: len(cells(pilot)) == 12)
        while table.sort != "seed":
            await pilot.press("s")
        await until(pilot, lambda: seeds(pilot) == list(range(12)))  # in the order of numbers
        await pilot.press("r")
        await until(pilot, lambda: seeds(pilot) == list(range(11, -1, -1)))
        await pilot.press("S", "s")
        assert table.sort == "seed"
        await pilot.press("slash", *"state:won")
        await until(pilot, lambda: sorted(seeds(pilot)) == [0, 2, 4, 6, 8, 10])
        await pilot.press("space", *"seed=10")
        await until(pilot, lambda: seeds(pilot) == [10])
        await pilot.press("enter")
        assert isinstance(pilot.app.focused, Rows)
        await pilot.press("escape")
        await until(pilot, lambda: len(seeds(pilot)) == 12)
        assert not pilot.app.screen.query_one(Input).display
        await pilot.press("slash", *"nothing like it")
        await until(pilot, lambda: not seeds(pilot))
        await until(pilot, lambda: "no row matches" in shown(pilot))
        await pilot.press("enter", "space", "c", "enter")
        await pilot.press("escape")
        await until(pilot, lambda: "no row matches" not in shown(pilot))
        await pilot.click(Rows, offset=(3, 0))
        assert table.sort == "state"
        await pilot.press("question_mark")
        await until(pilot, lambda: "Reverse" in shown(pilot))
        await pilot.press("escape")

    drive(at_run(many(tmp_path / "run", 12), SOURCES), steps, (200, 50))


def test_only_chosen_episodes_are_listed(tmp_path: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "1 episode," in shown(pilot))

    run = many(tmp_path / "run", 12)
    drive(at_run(run, SOURCES, journals=sorted((run / "episodes").iterdir())[:1]), steps)


@pytest.mark.slow
def test_an_episode_that_has_not_begun_gets_its_tabs(tmp_path: Path) -> None:
    journal = tmp_path / "run" / "episodes" / "a.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_bytes(b"")

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("slash", "x", "enter", "t", "2", "tab")
        journal.write_bytes(b"".join(LINES))
        await until(pilot, lambda: view(pilot).query_one(TabbedContent).tab_count == 9)
        await pilot.press("4", "home", "right", "right")
        await until(pilot, lambda: "loc1 → laundry_room" in shown(pilot))

    drive(at_episodes([journal], SOURCES), steps)


def test_what_was_written_before_damage_is_shown(tmp_path: Path) -> None:
    run = many(tmp_path / "run", 2)
    journal = run / "episodes" / "coin-edit-reader-seed1.jsonl"
    with journal.open("ab") as file:
        file.write(b"noise\n")

    async def steps(pilot: Pilot[None]) -> None:
        assert len(view(pilot).episode.steps) == 2
        assert "damaged" in shown(pilot)

    drive(at_episodes([journal], SOURCES), steps, (200, 50))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_every_tab_of_every_step(runs: Path, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        episode = view(pilot)
        assert episode.step_index == 0, "an ended episode is shown from its beginning"
        names = ("overview", "map", "reading", "problem", "ladder", "request", "answer", "events", "why")
        for key, name in enumerate(names, start=1):
            await pilot.press(str(key))
            assert episode.tab == name
            await pilot.press("home")
            for _ in range(3):
                await pilot.press("right")
            assert episode.step_index == 3
        await pilot.press("tab")
        assert episode.tab == "overview"
        await pilot.press("shift+tab")
        assert episode.tab == "why"
        await pilot.press("end")
        assert episode.step is not None
        assert episode.step.number == 21
        await pilot.press("right", "left", "left")
        assert episode.step.number == 19

    (journal,) = (runs / RUNS[0] / "episodes").iterdir()
    drive(at_episodes([journal], SOURCES), steps, size)


@pytest.mark.slow
def test_what_tabs_show(runs: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("right", "right", "4")
        await until(pilot, lambda: "loc1 → laundry_room" in shown(pilot))
        await pilot.press("5")
        await until(pilot, lambda: "have the coin  not yet" in shown(pilot))
        await pilot.press("3")
        await until(pilot, lambda: "+ (at laundry_room)" in shown(pilot))
        await pilot.press("6")
        await until(pilot, lambda: "request 2: edit" in shown(pilot))
        await pilot.press("a")
        await until(pilot, lambda: '"init": {' in shown(pilot))
        await pilot.press("1")
        await until(pilot, lambda: "● laundry room" in shown(pilot))

    (journal,) = (runs / RUNS[0] / "episodes").iterdir()
    drive(at_episodes([journal], SOURCES), steps)


@pytest.mark.slow
def test_jumps_and_search(runs: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        episode = view(pilot)
        await pilot.press("r")
        assert episode.step_index == 0
        assert any("No answer was rejected" in note.message for note in pilot.app._notifications)
        await pilot.press("x", "d", "n")
        await pilot.press("slash", *"driveway")
        await pilot.pause()
        typed, footer = pilot.app.screen.query_one(Input), pilot.app.screen.query_one(Footer)
        assert typed.region.height == 1 and not typed.region.overlaps(footer.region)
        await pilot.press("enter")
        await pilot.pause()
        assert episode.step is not None
        assert episode.tab != "overview"
        assert any("driveway" in line.plain for line in episode.lines(episode.tab, episode.step))
        place = (episode.step_index, episode.tab)
        await pilot.press("n")
        assert (episode.step_index, episode.tab) != place
        await pilot.press("slash", *"no such words", "enter")
        await pilot.pause()
        assert any("Not found" in note.message for note in pilot.app._notifications)
        await pilot.press("slash", "escape")
        assert isinstance(pilot.app.focused, OptionList)
        await pilot.press("down", "down")
        assert episode.step_index >= 2

    (journal,) = (runs / RUNS[0] / "episodes").iterdir()
    drive(at_episodes([journal], SOURCES), steps)


@pytest.mark.slow
def test_truth(runs: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("t", "4")
        await until(pilot, lambda: "facts checked: " in shown(pilot))

    (journal,) = (runs / RUNS[0] / "episodes").iterdir()
    drive(at_episodes([journal], SOURCES), steps)


def test_two_episodes_side_by_side(tmp_path: Path) -> None:
    """The first step at which another command was sent is found, and both go there."""
    folder = many(tmp_path / "run", 2) / "episodes"
    other = [line.replace(b'"command":"move north"', b'"command":"move south"') for line in LINES]
    (folder / "other-seed1.jsonl").write_bytes(b"".join(other))

    async def steps(pilot: Pilot[None]) -> None:
        views = list(pilot.app.screen.query(EpisodeView))
        assert len(views) == 2
        assert views[0].difference == first_difference(views[0].episode.steps, views[1].episode.steps) == 2
        await until(pilot, lambda: [one.step_index for one in views] == [2, 2])
        assert "first difference: step 2" in shown(pilot)
        await pilot.press("right", "4")
        assert [(one.step_index, one.tab) for one in views] == [(3, "problem"), (3, "problem")]

    journals = [folder / "coin-edit-reader-seed0.jsonl", folder / "other-seed1.jsonl"]
    drive(at_episodes(journals, SOURCES), steps, (200, 50))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_the_maps_of_two_episodes_are_drawn_for_their_columns(runs: Path, size: tuple[int, int]) -> None:
    (journal,) = (runs / RUNS[0] / "episodes").iterdir()

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "● " in shown(pilot))
        view = pilot.app.screen.query(EpisodeView).first()
        assert view.step is not None
        lines = [line.plain for line in view.lines("map", view.step)]
        assert all(len(line) < size[0] // 2 for line in lines if "here" not in line), "only the legend is wrapped"
        assert f"{lines[0]:<{size[0] // 2}}│" in shown(pilot)
        assert "edit" in shown(pilot).splitlines()[0], "the title names the mode"

    drive(at_episodes([journal] * 2, SOURCES), steps, size)


@pytest.mark.slow
def test_marking_two_of_a_list(tmp_path: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(cells(pilot)) == 3)
        await pilot.press("space", "down", "c")
        await until(pilot, lambda: len(pilot.app.screen.query(EpisodeView)) == 2)

    drive(at_run(many(tmp_path / "run", 3), SOURCES), steps)


@pytest.mark.slow
def test_an_episode_is_followed_while_it_is_played(tmp_path: Path) -> None:
    folder = many(tmp_path / "run", 2) / "episodes"

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(cells(pilot)) == 2)
        await pilot.press("slash", *"seed:1", "enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, EpisodeScreen))
        episode = view(pilot)
        assert episode.is_following
        assert episode.step_index == 1
        with (folder / "coin-edit-reader-seed1.jsonl").open("ab") as file:
            file.write(b"".join(LINES[7:]))
        await until(pilot, lambda: episode.step is not None and episode.step.number == 21)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: [row[0] for row in cells(pilot)] == ["won", "won"])
        (folder / "new-seed7.jsonl").write_bytes(b"".join(LINES[:7]))
        await until(pilot, lambda: len(cells(pilot)) == 3)

    drive(at_run(tmp_path / "run", SOURCES), steps)


def test_watching_goes_on_to_the_next_run(tmp_path: Path) -> None:
    first, second = many(tmp_path / "one", 1), many(tmp_path / "two", 3)
    newest = [first]

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(cells(pilot)) == 1)
        newest[0] = second
        await until(pilot, lambda: len(cells(pilot)) == 3)
        assert str(second) in str(pilot.app.screen.query_one("#summary", Static).render())

    drive(at_run(first, SOURCES, lambda: newest[0]), steps)


def test_watching_goes_on_from_the_only_episode_of_a_run(runs: Path) -> None:
    """Unless the user has chosen another step or tab. The last step is shown: what `play` shows, too."""
    first, second = (runs / name for name in RUNS)
    newest = [first]

    def number(pilot: Pilot[None]) -> int | None:
        return view(pilot).episode.trace.begun.seed if isinstance(pilot.app.screen, EpisodeScreen) else None

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: number(pilot) == 12)
        step = view(pilot).step
        assert step is not None
        assert step.number == 21
        newest[0] = second
        await until(pilot, lambda: number(pilot) == 3)
        await pilot.press("left")
        newest[0] = first
        await pilot.pause(2.5)  # the list looks for newer runs every second
        assert number(pilot) == 3
        await pilot.press("right")
        await pilot.press("escape")
        await until(pilot, lambda: number(pilot) == 12)
        await pilot.press("escape")  # the list stays
        await until(pilot, lambda: isinstance(pilot.app.screen, EpisodesScreen))
        await pilot.pause(1.5)
        assert isinstance(pilot.app.screen, EpisodesScreen)

    drive(at_run(first, SOURCES, lambda: newest[0], watches=True), steps)


def test_a_running_episode_beside_an_ended_one_is_followed(tmp_path: Path) -> None:
    folder = many(tmp_path / "run", 2) / "episodes"
    journals = [folder / f"coin-edit-reader-seed{seed}.jsonl" for seed in (1, 0)]

    async def steps(pilot: Pilot[None]) -> None:
        running, ended = pilot.app.screen.query(EpisodeView)
        assert (running.step_index, ended.step_index) == (1, 0)
        with journals[0].open("ab") as file:
            file.write(b"".join(LINES[7:12]))
        await until(pilot, lambda: len(running.episode.steps) > 2)
        assert running.step_index == len(running.episode.steps) - 1
        await pilot.press("left")
        place = running.step_index
        with journals[0].open("ab") as file:
            file.write(b"".join(LINES[12:]))
        await until(pilot, lambda: running.episode.trace.ended is not None)
        assert (running.step_index, ended.step_index) == (place, 0)

    drive(at_episodes(journals, SOURCES), steps, (200, 50))


DAMAGE = [b"", b"noise", b"noise\n", b'{"event":3}\n', b'{"event":{"type":"ended"}}\n', LINES[0] + b"noise\n"]


@pytest.mark.slow
@pytest.mark.parametrize("data", scaled(DAMAGE[-1:], in_ci=DAMAGE))
def test_damage_stops_nothing(tmp_path: Path, data: bytes) -> None:
    run = many(tmp_path / "run", 1)
    (run / "episodes" / "bad.jsonl").write_bytes(data)

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(cells(pilot)) == 2)
        for _ in range(2):
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, EpisodeScreen))
            await pilot.press("right", "a", "t", "slash", "x", "enter", "escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, EpisodesScreen))
            await pilot.press("down")

    drive(at_run(run, SOURCES), steps)


@pytest.mark.slow
@pytest.mark.parametrize("others", [0, 1], ids=["alone", "beside another"])
@pytest.mark.parametrize("data", [None, b"", LINES[0][:30], b"\xff\xfe{\n", *(b"".join(LINES[:n]) for n in (1, 2, 4))])
def test_every_key_works_on_an_episode_that_has_hardly_begun(tmp_path: Path, data: bytes | None, others: int) -> None:
    """Its journal is gone, empty, incomplete or damaged, or has the first events only."""
    journal, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    other.write_bytes(b"".join(LINES))
    if data is not None:
        journal.write_bytes(data)
    keys = {key for binding in EpisodeScreen.BINDINGS for key in getattr(binding, "key", "").split(",")}

    async def steps(pilot: Pilot[None]) -> None:
        for key in sorted(keys):
            await pilot.press(key.strip())
            await pilot.press("enter")
        await pilot.pause()
        assert pilot.app.is_running

    drive(at_episodes([journal, *[other] * others], SOURCES), steps)  # raises what a key raises


def test_an_empty_folder(tmp_path: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("enter", "down", "slash", "x", "enter", "space", "c", "r", "s", "escape", "escape")

    drive(at_runs(tmp_path, SOURCES), steps)


EVIL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.slow
def test_no_text_of_a_journal_can_steer_the_terminal(tmp_path: Path) -> None:
    run = many(tmp_path / "run", 1)
    (journal,) = (run / "episodes").iterdir()
    evil = rb"\u001b[31m[bold]X[/]\u001b]0;pwn\u0007\u009b2J"
    text = journal.read_bytes().replace(b"kitchen", b"kit" + evil + b"chen").replace(b'"reader"', b'"r' + evil + b'"')
    journal.write_bytes(text)

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(cells(pilot)) == 1)
        assert not EVIL.search(shown(pilot).replace("\n", ""))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, EpisodeScreen))
        for tab in range(1, 7):
            await pilot.press(str(tab), "right")
            await pilot.pause()
            assert not EVIL.search(shown(pilot).replace("\n", ""))

    drive(at_run(run, SOURCES), steps)


def test_all_methods_have_their_tabs(tmp_path: Path) -> None:
    """A method without tabs of its own has those of requests, answers and events."""
    lines = [line.replace(b'"played_by":"textgames"', b'"played_by":"unknown"') for line in LINES[:1]]
    folder = tmp_path / "run" / "episodes"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"".join(lines))

    async def steps(pilot: Pilot[None]) -> None:
        tabs: Any = pilot.app.screen.query_one(TabbedContent)
        assert tabs.tab_count == 5, "the overview, why, request, answer, events"

    drive(at_episodes([folder / "a.jsonl"], SOURCES), steps)


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which the episode of seed 12 is lost by one missing fact."""
    folder = tmp_path_factory.mktemp("lost")
    model = "reader+noise:0.5,kinds=missing-reverse"
    arguments = {"games": ("coin",), "modes": ("edit-no-feedback",), "models": (model,), "seeds": "12", "retries": 0}
    with evaluating(make_setup(resolve(arguments, {})), folder / "run") as running:
        assert list(running.evaluation.run())
    return folder / "run"


def test_a_lost_episode_opens_where_it_was_lost(lost: Path) -> None:
    (journal,) = (lost / "episodes").iterdir()

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "cause: missing (connected corridor driveway north) after step 4" in shown(pilot))
        await until(pilot, lambda: "step 4 of 9" in shown(pilot))
        assert "no plan after 9 steps" in shown(pilot)
        assert "missing since step 4: (connected corridor" in shown(pilot), "the truth beside the answer"
        await pilot.press("n")
        await until(pilot, lambda: "step 9 of 9" in shown(pilot))
        await pilot.press("question_mark")
        await until(pilot, lambda: "Next failure" in shown(pilot).partition("Keys")[2])

    drive(at_episodes([journal], SOURCES), steps)
    assert (lost / "results.jsonl").exists()


def test_the_list_of_a_run_shows_causes(lost: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "missing (connected corridor" in shown(pilot) and "…" in shown(pilot))

    drive(at_run(lost, SOURCES), steps, (200, 40))
    assert (lost / "truth.jsonl").exists()


@pytest.mark.parametrize("key", [None, "tab"])
def test_a_cause_moves_the_step_only_before_the_first_key(lost: Path, key: str | None) -> None:
    (journal,) = (lost / "episodes").iterdir()
    may_end = threading.Event()

    def explain(path: Path) -> Explanation:
        assert may_end.wait(PATIENCE)
        return explain_episode(path)

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "cause: the facts of the model are still being checked" in shown(pilot))
        assert "step 9 of 9" in shown(pilot)
        await pilot.press(*([key] if key else []))
        may_end.set()
        await until(pilot, lambda: view(pilot).episode.explanation.cause is not None)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert f"step {9 if key else 4} of 9" in shown(pilot)

    drive(at_episodes([journal], replace(SOURCES, explain=explain, saved_cause=lambda path: None)), steps)


def test_a_saved_cause_is_there_at_once(lost: Path) -> None:
    (journal,) = (lost / "episodes").iterdir()
    causes_of(lost, lambda checked, total: None)
    may_end = threading.Event()

    def explain(path: Path) -> Explanation:
        assert may_end.wait(PATIENCE)
        return explain_episode(path)

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "cause: missing (connected corridor driveway north) after step 4" in shown(pilot))
        assert "step 4 of 9" in shown(pilot)
        may_end.set()
        await pilot.app.workers.wait_for_complete()

    drive(at_episodes([journal], replace(SOURCES, explain=explain)), steps)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_last_keys_are_left_out_of_a_narrow_footer(runs: Path, width: int) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "? Keys" in shown(pilot).splitlines()[-1])
        names = re.split(r"  +", shown(pilot).splitlines()[-1].strip())
        expected = ["esc Back", "q Quit", "? Keys", "←→ Step", "n Next failure", "t Check facts", "a Answer"]
        assert names[: len(expected)] == expected[: len(names)], "no name is cut"
        assert len(names) == {40: 4, 80: 7, 200: 10}[width]
        await pilot.press("question_mark")
        (keys,) = pilot.app._notifications
        lines = keys.message.splitlines()
        assert len(lines) < 20, "all keys fit on 24 lines"
        shown_keys = {line.split()[0]: line[14:].strip() for line in lines}
        assert shown_keys["x"] == "Surprise"
        assert {"q", "^c", "?", "esc", "t", "/", "r", "x", "n", "a", "d", "home", "end", "tab", "shift+tab"} < set(
            shown_keys
        )

    (journal,) = (runs / RUNS[0] / "episodes").iterdir()
    drive(at_episodes([journal], SOURCES), steps, (width, 24))


@pytest.mark.parametrize(("colors", "theme"), [("0;15", "textual-light"), ("15;default;0", "textual-dark")])
def test_the_theme_follows_the_terminal(runs: Path, monkeypatch: pytest.MonkeyPatch, colors: str, theme: str) -> None:
    monkeypatch.setenv("COLORFGBG", colors)
    assert at_runs(runs, SOURCES).theme == theme
    assert [is_light(text) for text in ("", "0;7", "7;8", "0;x", "0;", "15")] == [
        False,
        True,
        False,
        False,
        False,
        True,
    ]


def test_the_answer_that_brought_a_refused_command_is_beside_what_was_asked(tmp_path: Path) -> None:
    events: list[Event] = [
        Started("coin", "Coin Collector", "act-no-check", "m", 1, "", Limits(1), "textgames"),
        Observed(0, None, "You are in the kitchen.", "You are in the kitchen."),
        Asked(1, "act", 0, (Message("user", "Valid actions: look around, move west"),), 30),
        Answered(1, Completion("I would go to the north")),
        Observed(1, "", "Unknown action", "Unknown action", refused=True),
        Ended(Outcome.STEP_LIMIT, "", 0.0),
    ]
    with closing(JournalWriter(tmp_path / "a.jsonl")) as journal:
        for event in events:
            journal.write(event, 0.0)
    episode = OpenEpisode(tmp_path / "a.jsonl", SOURCES)
    why = episode.why(episode.steps[-1])
    assert [line.plain for line in why.answer] == ["answer 1: refused in step 1", "I would go to the north"]
    assert [line.plain for line in why.truth] == ["asked", "Valid actions: look around, move west"]


@pytest.mark.parametrize("has_cause", [True, False])
def test_an_episode_that_the_game_ended_as_lost_opens_at_the_last_command(has_cause: bool) -> None:
    """An earlier refusal did not lose it; of an answer with several commands, any may have."""
    events: list[Event] = [
        Started("coin", "Cooking World", "act", "m", 1, "", Limits(9), "textgames"),
        Observed(0, None, "You are in the kitchen.", "You are in the kitchen."),
        Asked(1, "act", 0, (Message("user", "What now?"),), 9),
        Answered(1, Completion("open")),
        Observed(1, "open", "Unknown action", "Unknown action", refused=True),
        Asked(2, "act", 0, (Message("user", "What next?"),), 10),
        Answered(2, Completion("take pepper; eat pepper")),
        Observed(2, "take pepper", "Taken.", "Taken."),
        Observed(3, "eat pepper", "It is delicious.", "It is delicious.", lost=True, continues=True),
        Ended(Outcome.LOST, "the game says that it can no longer be won", 0.0),
    ]
    cause = LastingError("fatal command", "'eat pepper' lost the game", 3, fatal=True) if has_cause else None
    episode = ShownEpisode(Explanation([(event, 0.0) for event in events], cause), screen_of, UNICODE)
    assert episode.steps[episode.decisive_index].number == 3
    for step in (episode.steps[0], episode.steps[-1]):
        why = episode.why(step)
        assert [line.plain for line in why.answer] == ["answer 2: fatal in step 3", "take pepper; eat pepper"]
        assert [line.plain for line in why.truth] == ["asked", "What next?"]


def test_an_answer_without_checked_facts_is_beside_the_first_request() -> None:
    """The map of the built-in reader is not a check, and the request of a retry names no commands."""
    valid = Message("user", "Valid actions: look around, move west")
    events: list[Event] = [
        Started("coin", "Coin Collector", "act", "m", 1, "", Limits(1), "textgames"),
        Observed(0, None, "You are in the kitchen.", "You are in the kitchen."),
        GameRead("(define (problem house))"),
        Asked(1, "act", 0, (valid,), 30),
        Answered(1, Completion("fly")),
        Rejected(0, Feedback("invalid command", "'fly' is not in the list.")),
        Asked(2, "act", 1, (valid, Message("assistant", "fly"), Message("user", "That is not possible.")), 60),
        Answered(2, Completion("fly", finish="length")),
        Rejected(1, Feedback("invalid command", "'fly' is not in the list.")),
        Ended(Outcome.NO_PLAN, "", 0.0),
    ]
    episode = ShownEpisode(Explanation([(event, 0.0) for event in events]), screen_of, UNICODE)
    why = episode.why(episode.steps[-1])
    assert [line.plain for line in why.truth] == ["asked", valid.content]
    titles = [line.plain for line in why.answer if line.plain.startswith("answer ")]
    assert titles == ["answer after step 0", "answer 1: 0.0 s", "answer 2: 0.0 s, cut off at its length"]


@pytest.mark.parametrize(("size", "sides"), [((80, 24), 1), ((160, 40), 2), ((120, 40), 1)])
def test_an_episode_opens_without_a_word_about_the_size(
    size: tuple[int, int], sides: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    draw = EpisodeView._draw

    def recorded(self: EpisodeView, *of: int) -> Any:
        drawn.append(draw(self, *of))
        return drawn[-1]

    monkeypatch.setattr(EpisodeView, "_draw", recorded)

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: any(isinstance(picture, Group) for picture in drawn))
        assert not [picture for picture in drawn if "larger" in str(picture)]
        if sides == 2:
            await pilot.press("d")
            await until(pilot, lambda: "No difference" in notes(pilot))

    journal = next((RECORDED / RUNS[0] / "episodes").iterdir())
    drive(at_episodes([journal] * sides, SOURCES), steps, size)


def test_checks_of_a_method_without_facts_say_so(tmp_path: Path) -> None:
    lines = [line.replace(b'"played_by":"textgames"', b'"played_by":"unknown"') for line in (LINES[0], LINES[-1])]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    sources = replace(SOURCES, explain=lambda journal: Explanation(OpenEpisode(journal, SOURCES).trace.timed))

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("t")
        await until(pilot, lambda: "No facts were checked." in notes(pilot))

    drive(at_episodes([tmp_path / "a.jsonl"], sources), steps)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["act", "edit"])
def test_a_running_episode_is_checked_by_a_switch(tmp_path: Path, mode: str) -> None:
    """In mode `act`, the map of the built-in reader is there at once; `t` removes it and adds it again."""
    arguments = {"games": ("coin",), "modes": (mode,), "seeds": "12", "max_steps": 3}
    with evaluating(make_setup(resolve(arguments, {})), tmp_path / "run") as running:
        assert list(running.evaluation.run())
    (journal,) = (tmp_path / "run" / "episodes").glob("*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-3]))

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: isinstance(pilot.app.screen, EpisodeScreen))
        episode = view(pilot).episode

        def is_checked() -> bool:
            return any(event.derived for event in episode.trace.events)

        if mode == "edit":
            assert not is_checked()
            await pilot.press("t")
        await until(pilot, is_checked)
        with journal.open("ab") as file:
            file.write(b"".join(lines[-3:-1]))
        await until(
            pilot, lambda: len([event for event in episode.trace.events if not event.derived]) == len(lines) - 1
        )
        await pilot.press("t")
        await until(pilot, lambda: not is_checked())
        await pilot.press("t")
        await until(pilot, is_checked)

    drive(at_episodes([journal], SOURCES), steps)
