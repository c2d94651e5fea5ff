"""The line about the options of a run: exactly those that are not the default, whatever options there are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import pddlego
from pddlego.errors import PddlegoError
from pddlego.evaluation.changed_options import options_line
from pddlego.evaluation.config import COMMON_GROUPS
from pddlego.methods.registry import method, methods
from pddlego.util.options import options_of, recorded


def configuration(
    game: str = "coin", owner: str = "textgames", changes: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """What a manifest records, with changes of the options of the method, or of groups (mappings)."""
    played = method(owner)
    options = {**recorded(played.options()), **played.load(game, played.options()).resolved()}
    groups: dict[str, Any] = {name: recorded(kind()) for name, kind in COMMON_GROUPS.items()}
    groups["limits"] |= {"calls": None, "tokens": None}
    for name, value in changes.items():
        groups.get(name, options).update(value if name in groups else {name: value})
    return {**groups, "settings": {game: {"method": owner, "options": options}}}


def line(folder: Path, recorded_configuration: dict[str, Any]) -> str:
    (folder / "manifest.json").write_text(json.dumps({"configuration": recorded_configuration}))
    return options_line([folder], ())


def others(kind: type[BaseModel], field: str) -> Iterator[Any]:
    """Valid values of an option that are not its default."""
    default = recorded(kind()).get(field)
    for value in (True, False, 7, 0.5, "all", "every-step", "test", "bfs", "x", "refused", "actions", "allow", 1):
        try:
            if recorded(kind.model_validate({field: value}))[field] not in (default, None):
                yield value
        except (ValidationError, PddlegoError, ValueError, KeyError):
            continue


@pytest.mark.parametrize("group", COMMON_GROUPS)
def test_each_option_that_affects_episodes_is_named(tmp_path: Path, group: str) -> None:
    kind = COMMON_GROUPS[group]
    for option in options_of(kind):
        value = next(others(kind, option.name), None)
        flag = option.flag
        if value is None or flag is None or not flag.affects_episodes or group == "what":
            continue
        said = line(tmp_path, configuration(changes={group: {option.field: value}}))
        shown = "" if value is True else f" {value}"
        named = f"options: --{option.name.replace('_', '-')}{shown}"
        assert said == ("" if option.field == "base_url" else named), "an address is not shown"


@pytest.mark.parametrize("option", [option.field for option in options_of(method("textgames").options)])
def test_each_option_of_a_game_is_named(tmp_path: Path, option: str) -> None:
    kind = method("textgames").options
    own = next(item for item in options_of(kind) if item.field == option)
    if option in ("parameters", "searches"):
        before = configuration()["settings"]["coin"]["options"][option]
        key = next(iter(before))
        assert line(tmp_path, configuration(changes={option: {**before, key: "x"}})) == f"options: {key}=x"
        return
    value = next(others(kind, option), None)
    if own.flag is None or not own.flag.affects_episodes:
        return
    assert value is not None
    assert (f"--{own.name.replace('_', '-')}" if own.typed else f"{own.name}={value}") in line(
        tmp_path, configuration(changes={option: value})
    )


SETTINGS = {
    "textgames": ("coin", "cooking-hard", "twc", "mapreader", "paper-coin", "household", "science-find-plant"),
    "programs": ("ferry", "heavy"),
    "thought_of_search": ("24game", "blocks"),
    "graphplan": ("gripper", "blocks"),
    "builders": ("text-blocks",),
}


@pytest.mark.parametrize("owner", [played.name for played in methods() if played.name in SETTINGS])
def test_defaults_are_not_named(tmp_path: Path, owner: str) -> None:
    for game in SETTINGS[owner]:
        assert line(tmp_path, configuration(game, owner)) == ""


def test_what_is_changed_for_some_games_names_them(tmp_path: Path) -> None:
    both = configuration(changes={"max_steps": 9})
    both["settings"] |= configuration("twc")["settings"]
    assert line(tmp_path, both) == "options: --max-steps 9 (coin)"
    both["settings"]["gone"] = {"method": "textgames", "options": {"max_steps": 3}}
    assert line(tmp_path, both) == "options: --max-steps 9 (coin)", "a setting that is gone has no defaults"
    (tmp_path / "manifest.json").write_text("{}")
    assert options_line([tmp_path, tmp_path], ("edit", "edit-no-look", "edit-no-look")) == "options: --ablate look"


def test_a_search_for_all_goals_is_one_word_and_folders_are_left_out(tmp_path: Path) -> None:
    searches = configuration()["settings"]["coin"]["options"]["searches"]
    said = line(tmp_path, configuration(changes={"searches": dict.fromkeys(searches, "gbf(hff)")}))
    assert said == "options: searches=gbf(hff)"
    said = line(tmp_path, configuration(changes={"rules_from": "/home/user/rules.toml"}))
    assert said == "options: --from rules.toml (requests unknown)"


def test_an_option_that_no_mode_of_the_run_reads_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    options: dict[str, Any] = {"max_steps": 2}
    monkeypatch.setenv("PDDLEGO_VALID_ACTIONS", "all")
    monkeypatch.setenv("PDDLEGO_RETRIES", "0")
    pddlego.evaluate("coin", run, modes="random", seeds="0", **options).wait()
    assert options_line([run], ("random",)) == "options: --max-steps 2"
    pddlego.evaluate("coin", run, modes="act", models="reader", seeds="0", **options).wait()
    assert options_line([run], ("random", "act")) == "options: --max-steps 2, valid_actions=all, --retries 0"
