"""What requests show: domains without the comments of their files, which may give away a strategy, and own prompts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pddlego.episode.events import Asked, Event
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.thought_of_search.loading import load as load_search
from pddlego.util import resources
from tests.methods.graphplan.playing import played
from tests.methods.programs.playing import events_of as program_events
from tests.methods.programs.playing import small
from tests.methods.thought_of_search.playing import FEW
from tests.methods.thought_of_search.playing import events_of as search_events

SETTINGS = ("spanner", "miconic", "ferry", "heavy")
MODES = ("program", "program-no-names", "program-no-cot", "tos", "graphplan", "plan-by-model")


def requested(events: list[Event]) -> str:
    return "\n".join(message.content for event in events if isinstance(event, Asked) for message in event.messages)


def requests_of(setting: str, mode: str, tasks: str | None = None) -> str:
    """All requests of an episode whose answers are useless."""
    if mode.startswith("program"):
        options = ProgramOptions(tasks=tasks, debug_rounds=0)
        return requested(program_events(small(setting, options), ("a", "b", "c"), mode, options))
    if mode == "tos":
        search = FEW.model_copy(update={"answers": 1, "tasks": tasks})
        return requested(search_events(load_search(setting, search), ("a", "b"), mode, search))
    return requested(played(setting, ("a",), mode, tasks=tasks, levels=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "mode"), [(name, mode) for number, mode in enumerate(MODES) for name in SETTINGS[number % 2 :: 2]]
)
def test_no_request_shows_a_comment_of_the_domain_file(setting: str, mode: str) -> None:
    text = requests_of(setting, mode)
    assert "(define (domain" in text
    assert ";" not in text
    comments = [line.partition(";")[2].strip() for line in resources.read("domains", f"{setting}.pddl").splitlines()]
    assert not [comment for comment in comments if comment and comment in text]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["program", "tos", "graphplan"])
def test_nor_of_a_user_s_own_domain_file(mode: str, tmp_path: Path) -> None:
    setting = small("ferry")
    for split, task in zip(("train", "eval"), setting.tasks(0).training, strict=False):
        folder = tmp_path / split / "seed0"
        folder.mkdir(parents=True)
        (folder / "a.pddl").write_text(f"; the hint\n{replace(task.problem, name='a')}", encoding="utf-8")
    domain = resources.read("domains", "ferry.pddl").replace("(:action", "; unload first ;; always\n  (:action")
    (tmp_path / "domain.pddl").write_text(domain, encoding="utf-8")
    text = requests_of("ferry", mode, str(tmp_path))
    assert "(:action" in text
    assert ";" not in text


@pytest.mark.parametrize(
    ("prompt", "setting", "mode"),
    [
        ("programs/strategy", "ferry", "program"),
        ("programs/implement", "ferry", "program-no-cot"),
        ("thought_of_search/system", "ferry", "tos"),
        ("graphplan/plan", "logistics", "plan-by-model"),
        ("graphplan/prune", "logistics", "graphplan"),
    ],
)
def test_a_text_of_the_user_takes_the_place_of_a_prompt(
    prompt: str, setting: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not a template: braces in it are braces."""
    path = tmp_path / "prompts" / f"{prompt}.txt"
    path.parent.mkdir(parents=True)
    path.write_text("The authors' text {{ no template }}.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "The authors' text {{ no template }}." in requests_of(setting, mode)
