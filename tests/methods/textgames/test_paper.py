"""The settings of the paper: its domain, rules and protocol, and what every part of ours puts in their place."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pddlego.episode.events import Accepted, Asked, Limits, Outcome, Rejected
from pddlego.errors import SettingError, UsageError
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import Observed, Planned
from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.games import Observation
from pddlego.methods.textgames.loading import load, without_parts
from pddlego.methods.textgames.options import MODES
from pddlego.methods.textgames.play import make_method, setting_game
from pddlego.methods.textgames.reader import ReaderModel, situation_of
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.base import ScriptedModel
from pddlego.pddl import apply_edit, parse_domain, parse_problem
from pddlego.pddl.edit import LOOK_SCHEMA, read_edit
from pddlego.planning import PlanStep, ProcessPlanner
from pddlego.util import resources
from tests.cli.command import run
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play
from tests.runs.stores import read

FIGURE_5 = """(define (domain environment)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions)
  (:types
    location
    direction
  )
  (:predicates
    (at ?loc - location)
    (visited ?loc - location)
    (connected ?loc1 - location ?loc2 - location ?dir - direction)
    (closed_door ?loc1 - location ?loc2 - location)
  )
\t(:action move
    :parameters (?loc1 - location ?loc2 - location ?dir - direction)
    :precondition (and (at ?loc1) (connected ?loc1 ?loc2 ?dir) (not (closed_door ?loc1 ?loc2)))
    :effect (and (not (at ?loc1)) (at ?loc2))
  )
  (:action open_door
    :parameters (?loc1 - location ?loc2 - location)
    :precondition (and (at ?loc1) (closed_door ?loc1 ?loc2))
    :effect (not (closed_door ?loc1 ?loc2))
  )
)"""
"""What the paper's Figure 5 shows, in its own layout."""

PAPER = ("paper-coin", "paper-cooking-easy", "paper-cooking-hard")
ALL_OUT = "edit-no-domain-no-feedback-no-prompts-no-remedies-no-replanning-no-tolerance"


def of_variant(name: str, mode: str) -> GameSetting:
    return without_parts(load(name), parse_variant(mode, MODES).without)


def test_the_papers_domain_loads_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "domains").mkdir()
    (tmp_path / "domains" / "paper-coin.pddl").write_text(FIGURE_5)
    monkeypatch.chdir(tmp_path)
    setting = load("paper-coin")
    assert setting.start.domain == parse_domain(FIGURE_5)
    done = run("play", "paper-coin", "--seed", "12", "--pace", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_command_looks_a_value_up_in_the_problem() -> None:
    setting = load("paper-coin")
    problem = parse_problem(
        """(define (problem p) (:domain environment) (:objects kitchen loc1 loc2 - location south east - direction)
        (:init (connected kitchen loc1 south) (connected kitchen loc2 east)) (:goal (and)))"""
    )
    assert (
        setting.start.with_problem(problem).command(PlanStep("open_door", ("kitchen", "loc2"))) == "open door to east"
    )
    assert (
        setting.start.with_problem(problem).command(PlanStep("open_door", ("kitchen", "loc1"))) == "open door to south"
    )
    assert setting.start.with_problem(problem).command(PlanStep("open_door", ("loc1", "kitchen"))) == "open door to"


@pytest.mark.parametrize(
    "where", ["(connected ?loc1 ?loc2)", "(linked ?a ?b ?dir)", "(visited ?dir)", "connected", "(a) (b)", "("]
)
def test_a_fact_that_the_domain_does_not_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    (tmp_path / "envs").mkdir()
    text = f'extends = "paper-coin"\n[actions.open_door]\nwhere = "{where}"\n'
    (tmp_path / "envs" / "mine.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=r"actions\.open_door"):
        load("mine")


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize("mode", ["edit", "gen", "act"])
def test_the_reader_wins(planner: ProcessPlanner, name: str, mode: str) -> None:
    setting = load(name)
    events = play(setting, planner, setting_game(setting, 12), ReaderModel(), mode)
    assert ended(events).outcome is Outcome.WON
    assert ended(events).usage.refused == 0
    for asked in of(events, Asked):
        assert "system" not in {message.role for message in asked.messages}
        assert len(asked.messages) == 1 or mode == "act"


def test_without_all_our_parts_the_same_commands_are_sent(planner: ProcessPlanner) -> None:
    for name, paper in (("coin", "paper-coin"), ("cooking-easy", "paper-cooking-easy")):
        text = []
        for setting, mode in ((of_variant(name, ALL_OUT), ALL_OUT), (load(paper), "edit")):
            events = play(setting, planner, setting_game(setting, 14), ReaderModel(), mode)
            text.append([item.command for item in of(events, Observed)])
        assert text[0] == text[1]


def test_the_coin_is_taken_when_it_is_seen(planner: ProcessPlanner) -> None:
    game = small_house()
    events = play(load("paper-coin"), planner, game, ReaderModel())
    assert ended(events).outcome is Outcome.WON
    assert game.commands[-1] == "take coin"
    assert not any("coin" in step.action for item in of(events, Planned) for step in item.plan)


def test_five_blind_attempts_and_no_word_of_what_was_wrong(planner: ProcessPlanner) -> None:
    events = play(load("paper-coin"), planner, small_house(), ScriptedModel(("no", "nothing", "never")))
    asked = of(events, Asked)
    assert ended(events).outcome is Outcome.NO_PLAN
    assert len(asked) == len(of(events, Rejected)) == 5
    assert len({item.messages for item in asked}) == 1, "the same request each time"


def test_an_edit_is_requested_as_any_json_object() -> None:
    """The script sets the flag that forces JSON. Our own settings send a schema, and show its form."""
    schemas: list[object] = []
    for name in ("paper-coin", "coin"):
        setting, first = load(name), (Exchange(None, "You see."),)
        situation = PromptContext(setting.start, "", Observations(first, first), reader=setting.reader)
        request = make_method("edit", setting, 0).request(situation)
        assert request is not None
        schemas.append(request.schema)
    assert schemas == [{}, LOOK_SCHEMA]


def test_the_examples_of_the_prompt_are_edits_one_after_the_other() -> None:
    """The first adds lines only; the second replaces and deletes lines of the problem after the first."""
    text = resources.read("prompts", "paper/edit.j2")
    problem = parse_problem(resources.read("domains", "paper-start.pddl"))
    examples = re.findall(r'\{"objects".*?\}\}\n', text, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        assert isinstance(json.loads(example)["init"]["replace"], dict), "the paper's form: a map"
        report = apply_edit(problem, read_edit(example, tolerant=False)[0])
        assert not report.unmatched
        assert not report.refused
        problem = report.problem
    assert "(at pantry)" in map(str, problem.facts)
    assert "(connected kitchen pantry south)" in map(str, problem.facts)


def test_what_matches_nothing_is_nobodys_concern(planner: ProcessPlanner) -> None:
    edit = {
        "objects": {"add": ["loc1 - location"], "replace": {"moon - location": "sun - location"}, "delete": ["x"]},
        "init": {"add": ["(connected kitchen loc1 east)"], "replace": {}, "delete": ["(at moon)"]},
    }
    events = play(load("paper-coin"), planner, small_house(), ScriptedModel((json.dumps(edit), "no")))
    assert of(events, Accepted)[0].lines


def test_without_a_valid_command_an_empty_one_costs_a_step(planner: ProcessPlanner) -> None:
    setting = load("paper-coin")
    game = small_house()
    events = play(setting, planner, game, ForgetfulModel(["I would fly.\nReally.", "Let me move east now."]), "act")
    assert game.commands[:2] == ["", "move east"]
    assert of(events, Observed)[1].refused
    assert ended(events).usage.steps >= 2


WALK = ("move north", "I would like to move north please", "examine nothing", "move south", "open door to west")


@pytest.mark.parametrize(
    ("name", "mode", "options", "grows"),
    [
        ("paper-coin", "act", {}, True),
        ("paper-coin", "act+cot", {}, True),
        ("coin", "act-no-prompts", {}, True),
        ("coin", "act", {"valid_actions": "all"}, True),
        ("coin", "act+cot-no-check", {"valid_actions": "all"}, True),
        ("coin", "act-no-check", {}, False),
    ],
)
def test_a_conversation_keeps_the_valid_actions_of_every_turn(
    planner: ProcessPlanner, name: str, mode: str, options: dict[str, str], grows: bool
) -> None:
    """A request begins with the last one, word for word, as in the scripts; without the option, lists are left out."""
    setting = of_variant(name, mode)
    house = GridHouse({("kitchen", "north"): "pantry", ("pantry", "north"): "attic"})
    events = play(setting, planner, house, ScriptedModel(WALK * 3), mode, Limits(5), **options)
    asked = [event.messages for event in of(events, Asked) if event.attempt == 0]
    assert len(asked) >= 5
    for before, after in itertools.pairwise(asked):
        assert (after[: len(before)] == before) is grows
        lists = sum("alid actions" in message.content for message in after[1:] if message.role == "user")
        assert lists == (sum(message.role == "user" for message in after[1:]) if grows else 1)
        assert name == "coin" or not any("look around" in message.content for message in after)  # a hidden command


def test_earlier_kinds_of_commands_are_kept(planner: ProcessPlanner) -> None:
    class Kinds(GridHouse):
        """A game with too many commands to list."""

        def step(self, command: str) -> Observation:
            return replace(super().step(command), valid_commands=(), kinds=("take OBJ",), things=(f"t{len(command)}",))

    model = ForgetfulModel(["move north", "take t5", "take t6"])
    house = Kinds({("kitchen", "north"): "pantry"})
    play(load("coin"), planner, house, model, "act-no-check", Limits(4), valid_actions="all")
    last = [message.content for message in model.requests[-1].messages]
    assert sum("Kinds of valid actions: take OBJ" in text for text in last) >= 2


def test_modes_that_plan_keep_no_lists(planner: ProcessPlanner) -> None:
    model = ForgetfulModel([])
    play(load("paper-coin"), planner, small_house(), model, "edit", Limits(3))
    assert not any(exchange.valid_commands for exchange in situation_of(model.requests[-1]).seen.history)


def test_the_recipe_is_shown_or_is_not(planner: ProcessPlanner) -> None:
    for name in ("cooking-easy", "paper-cooking-easy"):
        setting = load(name)
        items = ("look around", "read cookbook", "examine cookbook", "move west")
        assert "read cookbook" in setting.asking.shown(items)
        hidden = of_variant(name, "act-no-recipe").asking.shown(items)
        assert "move west" in hidden
        assert not any("cookbook" in item for item in hidden)


@pytest.mark.parametrize(
    ("name", "mode", "says"),
    [
        ("paper-coin", "edit-no-domain", "has no domain to take out"),
        ("paper-coin", "edit-no-feedback", "has no feedback to take out"),
        ("coin", "act-no-recipe", "has no recipe to take out"),
        ("twc", "edit-no-ladder", "has no ladder to take out"),
        ("mapreader", "gen-no-prompts", "has no prompts to take out"),
    ],
)
def test_a_part_that_a_setting_does_not_have_is_refused(tmp_path: Path, name: str, mode: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        of_variant(name, mode)
    refused = run("eval", name, "--modes", mode, "--seeds", "0", "--models", "reader", cwd=tmp_path)
    assert refused.returncode == 2
    assert says in refused.stderr
    assert not (tmp_path / "runs").exists()


def test_the_authors_files_take_the_place_of_our_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their files are not templates: braces in them are braces."""
    folder = tmp_path / "prompts" / "paper"
    folder.mkdir(parents=True)
    for name in ("edit", "gen", "act"):
        (folder / f"{name}.txt").write_text(f'The {name} file of the authors. {{"a": {{}}}} {{{{ no template }}}}\n')
    monkeypatch.chdir(tmp_path)
    for mode in ("edit", "gen", "act"):
        done = run("play", "paper-coin", "--mode", mode, "--seed", "14", cwd=tmp_path, PDDLEGO_RUNS=mode)
        assert done.returncode == 0, done.stderr
        (run_folder,) = (tmp_path / mode).iterdir()
        journal = next((run_folder / "episodes").iterdir())
        text = next(item for item in read(journal).events if isinstance(item, Asked)).messages[0].content
        assert text.startswith(f"The {mode} file of the authors.")
        assert "{{ no template }}" in text
        manifest = json.loads((run_folder / "manifest.json").read_text())
        assert f"prompts/paper/{mode}.txt" in manifest["configuration"]["settings"]["paper-coin"]["files"]


def test_parts_that_only_other_modes_have_are_no_mistake(tmp_path: Path) -> None:
    arguments = (
        "coin",
        "--modes",
        "edit,act",
        "--ablate",
        "feedback,check",
        "--seeds",
        "0",
        "--dry-run",
    )
    done = run("eval", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    modes = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("coin")]
    assert modes == ["edit", "edit-no-feedback", "act", "act-no-check"]
    wrong = run("eval", "coin", "--modes", "edit,act", "--ablate", "luck", "--seeds", "0", "--dry-run", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "Unknown part 'luck'" in wrong.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[rule]]\nwhen = "x"\ncommand = ""', "at least 1 character"),
        ('[[rule]]\nwhen = ""\ncommand = "look"', "at least 1 character"),
        ('[[rule]]\nwhen = "(?P<x>a)"\ncommand = "take {x} {x"', "belongs to no"),
        ('[[rule]]\nwhen = "a"\ncommand = "take {x}"', "no group"),
    ],
)
def test_rules_that_cannot_be_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "mine.toml").write_text(f'extends = "paper-coin"\n{text}\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=says):
        load("mine")


def test_a_baseline_that_leads_back_is_no_circle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "paper-coin.toml").write_text('extends = "coin"\ntitle = "mine"\n')
    monkeypatch.chdir(tmp_path)
    assert load("coin").removable.baseline is not None
    assert load("paper-coin").title == "mine"


def test_without_the_start_file_the_first_problem_file_is_the_models(planner: ProcessPlanner) -> None:
    for name in PAPER:
        setting = of_variant(name, "gen-no-start-file")
        assert not setting.start.problem.objects and not setting.start.problem.facts
        assert setting.start.problem.goal == load(name).start.problem.goal
        events = play(setting, planner, setting_game(setting, 12), ReaderModel(), "gen-no-start-file")
        assert ended(events).outcome is Outcome.WON
        sent = of(events, Asked)[0].messages[-1].content.partition("This is the problem file so far")[2]
        assert "(:init" in sent and "(at kitchen)" not in sent
        assert "kitchen - location" in of(events, Accepted)[0].added
    with pytest.raises(UsageError, match="coin has no start-file to take out"):
        of_variant("coin", "gen-no-start-file")
