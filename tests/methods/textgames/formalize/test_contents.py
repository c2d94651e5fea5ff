"""The second model instance of the paper's Cooking World: requests, answers, episodes, replays and resumptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pddlego.episode.events import Accepted, Asked, Outcome, Rejected
from pddlego.errors import UsageError
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.formalize.contents import CONTENTS, contents_answer, read_contents
from pddlego.methods.textgames.loading import load, upper_bound
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.play import setting_game
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.reader.paper_cooking import PaperCooking, seen_in
from pddlego.models import Completion, Request
from pddlego.pddl import EditSyntaxError
from pddlego.planning import ProcessPlanner
from tests.cli.command import run
from tests.methods.textgames.playing import ended, of, play
from tests.methods.textgames.test_paper import of_variant
from tests.runs.stores import read

PANTRY = (
    "You are in the pantry. In one part of the room you see a stove. There is also a shelf that has some salt on it. "
    "You also see a fridge that is closed."
)
RECIPE = "Ingredients:\n  salt\n  red apple\n\nDirections:\n  fry the red apple\n  prepare meal\n"


class SecondInstance(ReaderModel):
    """The reader, with these answers to the first requests for contents."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    def complete(self, request: Request) -> Completion:
        if request.purpose == CONTENTS and self.answers:
            return Completion(self.answers.pop(0))
        return super().complete(request)


@pytest.mark.parametrize("name", ["paper-cooking-easy", "paper-cooking-hard"])
@pytest.mark.parametrize("mode", ["edit", "gen"])
def test_the_second_instance_takes_the_place_of_the_rules(planner: ProcessPlanner, name: str, mode: str) -> None:
    setting = load(name)
    by_rules = play(setting, planner, setting_game(setting, 12), ReaderModel(), mode)
    variant = f"{mode}-no-content-rules"
    events = play(of_variant(name, variant), planner, setting_game(setting, 12), ReaderModel(), variant)
    assert ended(events).outcome is Outcome.WON
    assert ended(events).usage.steps == ended(by_rules).usage.steps
    opened = [event.command for event in of(events, Observed) if event.command and "open " in event.command]
    assert opened and sorted(opened) == sorted(
        event.command for event in of(by_rules, Observed) if event.command and "open " in event.command
    )
    requests = [event for event in of(events, Asked) if event.purpose == CONTENTS]
    assert len(requests) > 2 and not any(event.purpose == CONTENTS for event in of(by_rules, Asked))
    assert all(message.role == "user" for event in requests for message in event.messages)
    assert "What was wrong" not in str(requests)


def test_after_five_unusable_answers_the_episode_is_lost(planner: ProcessPlanner) -> None:
    setting = of_variant("paper-cooking-easy", "edit-no-content-rules")
    model = SecondInstance("no", '{"things": "stove"}', "[]", '{"closed": [1]}', "{")
    events = play(setting, planner, setting_game(setting, 12), model, "edit-no-content-rules")
    assert ended(events).outcome is Outcome.NO_PLAN
    assert [event.attempt for event in of(events, Rejected)] == [0, 1, 2, 3, 4]
    assert len({event.messages for event in of(events, Asked)}) == 1


def test_a_mistake_of_the_second_instance_costs_a_step_and_is_not_repeated(planner: ProcessPlanner) -> None:
    setting = of_variant("paper-cooking-easy", "edit-no-content-rules")
    game = setting_game(setting, 12)
    first = json.dumps({"things": ["stove", "oven", "toaster"], "closed": ["lamp", "fridge", "lamp"]})
    events = play(setting, planner, game, SecondInstance(first), "edit-no-content-rules")
    commands = [event.command for event in of(events, Observed)]
    assert commands.count("open lamp") == 1 and "open dishwasher" not in commands
    assert ended(events).outcome is Outcome.WON
    accepted = next(event for event in of(events, Accepted) if event.kind == CONTENTS)
    assert accepted.added[-1] == "open lamp"


def test_a_model_that_lists_nothing_finds_nothing(planner: ProcessPlanner) -> None:
    setting = of_variant("paper-cooking-easy", "edit-no-content-rules")
    model = SecondInstance(*["{}"] * 40)
    events = play(setting, planner, setting_game(setting, 12), model, "edit-no-content-rules")
    assert ended(events).outcome is not Outcome.WON
    assert not any((event.command or "").startswith(("take", "open fridge")) for event in of(events, Observed))


def test_appliances_are_where_they_were_read_also_if_they_are_listed_later() -> None:
    script = PaperCooking(reads=False)
    script.take_in(None, PANTRY)
    script.take_in("move north", "You are in the kitchen. In one part of the room you see a table.")
    assert script.unread == PANTRY and script.seen == {}
    script.listed(seen_in(PANTRY))
    assert script.seen == {"stove": "pantry"}
    assert script.unread is not None and "kitchen" in script.unread


def test_nothing_is_asked_if_nothing_is_missing() -> None:
    script = PaperCooking(reads=False)
    script.take_in("read cookbook", RECIPE)
    for thing in ("salt", "red apple"):
        script.take_in(f"take {thing}", f"You take the {thing}.")
    script.take_in("move north", PANTRY)
    script.listed(["take stove"])
    script.take_in("move south", "You are in the kitchen. In one part of the room you see a table.")
    assert script.unread is None


def test_only_settings_with_the_script_have_the_part() -> None:
    with pytest.raises(UsageError, match="coin has no content-rules to take out"):
        of_variant("coin", "edit-no-content-rules")
    setting, options = load("paper-cooking-easy"), TextGameOptions()
    calls = [upper_bound(setting, mode, options, 5).calls for mode in ("edit", "edit-no-content-rules")]
    assert calls == [100, 200]


def test_the_prompt_is_no_source_of_the_setting() -> None:
    """A run of these settings that was recorded before the prompt was added can be continued."""
    assert not any("script" in name for name in load("paper-cooking-easy").sources)


NAMES = st.text("abc é'-", min_size=1, max_size=20).filter(lambda name: name == " ".join(name.split()))


@given(st.lists(NAMES, max_size=5), st.lists(NAMES, max_size=5))
def test_an_answer_is_read_as_it_was_written(things: list[str], closed: list[str]) -> None:
    commands = (*(f"take {name}" for name in things), *(f"open {name}" for name in closed))
    assert read_contents(contents_answer(commands)) == commands


@given(
    st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(lambda v: json.dumps({"things": v}))
)
@example('{"things": ["a\\nb"]}')
@example('{"things": [' + '"x",' * 60 + '"' + "y" * 500 + '"]}')
def test_any_answer_is_read_or_refused(answer: str) -> None:
    try:
        commands = read_contents(answer)
    except EditSyntaxError:
        return
    assert len(commands) <= 100
    assert all(command.isprintable() and len(command) < 70 for command in commands)


def test_an_episode_is_replayed_and_resumed(tmp_path: Path) -> None:
    mode = "edit-no-content-rules"
    done = run("play", "paper-cooking-easy", "--mode", mode, "--seed", "12", "--pace", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (first,) = (tmp_path / "runs").iterdir()
    assert "identical" in run("replay", str(first), cwd=tmp_path).stdout
    resumed = run("resume", str(first), "--from-step", "5", "--pace", "0", cwd=tmp_path)
    assert "(5 from the cache)" in resumed.stdout, resumed.stderr
    (second,) = (folder for folder in (tmp_path / "runs").iterdir() if folder != first)
    ends = [_ended(folder) for folder in (first, second)]
    assert ends[0] == ends[1] == (Outcome.WON, 14, 9)
    assert "identical" in run("replay", str(second), cwd=tmp_path).stdout


def _ended(folder: Path) -> tuple[Outcome, int, int]:
    (journal,) = (folder / "episodes").glob("*.jsonl")
    end = ended(read(journal).events)
    return end.outcome, end.usage.steps, end.usage.calls
