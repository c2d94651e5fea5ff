"""Every rendered prompt is fixed by a snapshot: a change of a prompt is a change of the experiment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pddlego.errors import SettingError
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.formalize import Exchange, PromptContext, Terms
from pddlego.methods.textgames.formalize.act import ActionGen, RandomActions
from pddlego.methods.textgames.formalize.full import FullEditor, FullFormalizer
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen
from pddlego.methods.textgames.loading import game_prompts, load
from pddlego.methods.textgames.options import TEXT_GAME
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Request
from pddlego.models.base import MAX_REJECTED, Feedback, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import Problem, apply_edit, check, parse_edit, parse_problem
from tests.conftest import check_snapshot
from tests.methods.textgames.reader.asking import Diary
from tests.methods.textgames.situations import situation_with

KNOWN = """(define (problem house) (:domain coin-collector) (:objects kitchen loc1 - location)
  (:init (at kitchen) (visited kitchen) (connected kitchen loc1 south) (closed_door kitchen loc1))
  (:goal (have coin)))"""

NEWS = (
    Exchange("open door to south", "You open the wood door, revealing the pantry."),
    Exchange("move south", "You are in the pantry.\nThrough an open wood door, to the North you see the kitchen."),
)


def situation(coin: GameSetting, **values: object) -> PromptContext:
    problem: Problem = parse_problem(KNOWN)
    history = (Exchange(None, "You are in the kitchen.\nTo the South you see a closed wood door."), *NEWS)
    valid = ("look around", "move north")
    task = "Your task is to find the coin."
    return situation_with("coin", task, coin.start.domain, problem, NEWS, history, valid, **values)  # type: ignore[arg-type]


def text(request: Request) -> str:
    return "\n".join(f"=== {message.role}\n{message.content}" for message in request.messages)


def test_edit(coin: GameSetting) -> None:
    request = PddlEdit(Prompts("coin")).request(situation(coin))
    assert request.schema is not None
    check_snapshot("prompt-edit.txt", text(request))


def test_edit_again(coin: GameSetting) -> None:
    feedback = Feedback("defects", "the problem file has these defects:", ("(at x): object x is not declared",))
    again = situation(coin, notes=("init.delete (a): matched nothing",), feedback=feedback, rejected="{}", attempt=2)
    check_snapshot("prompt-edit-again.txt", text(PddlEdit(Prompts("coin")).request(again)))


def test_gen(coin: GameSetting) -> None:
    request = PddlGen(Prompts("coin")).request(situation(coin))
    assert request.schema is None
    check_snapshot("prompt-gen.txt", text(request))


def test_the_first_request(coin: GameSetting) -> None:
    first = situation_with(
        "coin", "", coin.start.domain, coin.start.problem, (Exchange(None, "You are in the kitchen."),)
    )
    check_snapshot("prompt-edit-first.txt", text(PddlEdit(Prompts("coin")).request(first)))


def test_act(coin: GameSetting) -> None:
    check_snapshot("prompt-act.txt", text(ActionGen(Prompts("coin")).request(situation(coin))))


def test_act_again(coin: GameSetting) -> None:
    again = situation(coin, feedback=Feedback("invalid command", "'fly' is not in the list."), rejected="fly")
    check_snapshot("prompt-act-again.txt", text(ActionGen(Prompts("coin")).request(again)))


GAMES = ("coin", "cooking-easy", "mapreader", "twc")
TASK = "Your task is to take the coin that is located in the attic, and put it into the box found in the studio."


@pytest.mark.parametrize("name", GAMES[1:])
@pytest.mark.parametrize("method", [PddlEdit, PddlGen, ActionGen])
def test_the_prompts_of_each_game(name: str, method: type[PddlEdit | PddlGen | ActionGen]) -> None:
    setting = load(name)
    score, gained = (0.25, 0.25) if setting.observing.score else (None, 0.0)
    looked = (Exchange(None, "You are in the kitchen."), Exchange("take key", "You take the key.", score, gained))
    asked = situation_with(
        setting.asking.prompts, TASK, setting.start.domain, setting.start.problem, looked, looked, ("move north",)
    )
    request = method(Prompts(setting.asking.prompts)).request(asked)
    check_snapshot(f"prompt-{request.purpose}-{setting.asking.prompts}.txt", text(request))


@pytest.mark.parametrize("name", GAMES)
def test_the_demonstrations_are_what_the_reader_would_answer(name: str) -> None:
    """They speak the game's own language, fit the domain, and one begins where the other ends."""
    setting = load(name)
    prompts = Prompts(setting.asking.prompts)
    shown = {item: prompts.render(f"{setting.asking.prompts}/{item}-example") for item in ("gen", "edit")}
    first, file = shown["gen"].split("begins:\n")[1].split("\nAnswer:\n")
    known = parse_problem(file)
    assert not check(setting.start.domain, file)
    diary = Diary(setting, TASK)
    assert diary.tell(None, first) == known
    text, edit = shown["edit"].split("\nAnswer:\n")
    report = apply_edit(known, parse_edit(edit), setting.start.domain.constants)
    assert not report.unmatched
    assert not report.refused
    if name == "coin":
        assert not check(setting.start.domain, report.problem)
        return  # two commands told as one: the reader reads one at a time
    news = (item.partition("\n") for item in text.split("The agent did: ")[1:])
    exchanges = [Exchange(command, text.strip(), None, float("(it went up)" in text)) for command, _, text in news]
    assert diary.read(*exchanges) == report.problem


SCIENCE = tuple(name for name in setting_names(TEXT_GAME) if name.startswith("science-"))


@pytest.mark.parametrize("name", SCIENCE)
def test_a_kind_of_task_gets_the_predicates_and_notes_that_it_needs(name: str) -> None:
    setting = load(name)
    unused = setting.start.unused
    assert unused and set(unused) < set(setting.start.domain.predicates_by_name)
    first = PromptContext(setting.start, task="Your task is to find a(n) plant. Move it to the red box in the kitchen.")
    for method in (PddlEdit, PddlGen):
        system = method(Prompts("scienceworld")).request(first).messages[0].content
        assert "A plant stands in a flower pot" in system
        assert not any(f"({word} " in system for word in unused)


def test_where_the_kinds_of_tasks_differ() -> None:
    systems = {}
    for name in SCIENCE:
        request = PddlEdit(Prompts("scienceworld")).request(PromptContext(load(name).start, task="Do it."))
        systems[name.removeprefix("science-")] = request.messages[0].content
    notes = {"melt": "blast furnace", "grow-plant": "digs shovel", "conductivity": "W2_terminal_2", "paint": "To mix"}
    for kind, words in {**notes, "thermometer": "To measure", "lifespan-both": "before for the order"}.items():
        shown = {name for name, text in systems.items() if words in text}
        assert shown == {kind, "thermometer"} if kind == "lifespan-both" else {kind}
    assert max(map(len, systems.values())) < 4_300
    assert len({systems[name] for name in systems if name.startswith("find-")}) == 1


def test_a_problem_of_a_household_shows_no_goal_of_another_task() -> None:
    for name in ("household", "household-place", "alfworld"):
        request = PddlGen(Prompts("household")).request(PromptContext(load(name).start))
        assert "(:goal (and))" in text(request)
        assert text(request).count("needs_light") == 2  # the predicate, and the note


@pytest.mark.parametrize("schemas", [(), ("move (?a ?b - room)",)])
def test_an_edit_of_both_files_is_asked_for_in_its_own_form(coin: GameSetting, schemas: tuple[str, ...]) -> None:
    edit = FullEditor(Prompts("coin"), coin.start, Terms(schemas)).request(situation(coin)).messages[0].content
    whole = FullFormalizer(Prompts("coin"), coin.start, Terms(schemas)).request(situation(coin)).messages[0].content
    assert not re.search(r"</?[a-z]+>", edit) and "again" not in edit
    assert '"goals"' in edit and "<goals>" in whole and "no action changes them" in whole


def test_random_sends_nothing(coin: GameSetting) -> None:
    assert RandomActions(1).request(situation(coin)) is None


def test_an_undefined_name_in_a_template_is_an_error(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "edit.j2").write_text("{{ nothing }}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match="'nothing' is undefined"):
        Prompts("coin").render("edit")


def test_a_missing_template_is_an_error() -> None:
    with pytest.raises(SettingError, match=r"prompts/poem\.j2 does not exist"):
        Prompts("coin").render("poem")


def test_a_long_rejected_answer_is_shortened() -> None:
    shown = shortened("a" * 10_000 + "end")
    assert len(shown) < MAX_REJECTED + 20
    assert shown.endswith("end")
    assert shortened("  ") == "(an empty answer)"


@pytest.fixture
def prompts_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of prompts where the user works, which may come from anybody, and a secret beside it."""
    here = tmp_path / "work" / "prompts" / "coin"
    here.mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("canary")
    (tmp_path / "secret.j2").write_text("canary")
    monkeypatch.chdir(tmp_path / "work")
    return here


@pytest.mark.parametrize(
    "text",
    [
        '{% include "../../secret.txt" %}',
        '{% include "../secret.j2" %}',
        '{% include "coin/../../../secret.txt" %}',
        "{% include SECRET %}",
        '{% include "coin/link.j2" %}',
        '{% include "coin/way/secret.txt" %}',
        '{% import "../../secret.j2" as x %}{{ x }}',
        '{% extends "../../secret.j2" %}',
    ],
)
def test_a_prompt_reads_no_file_outside_its_folder(prompts_here: Path, text: str) -> None:
    secret = prompts_here.parent.parent.parent / "secret.txt"
    (prompts_here / "link.j2").symlink_to(secret)
    (prompts_here / "way").symlink_to(secret.parent)
    (prompts_here / "notes.j2").write_text(text.replace("SECRET", f'"{secret}"'))
    with pytest.raises(SettingError, match=r"outside the folder|leads out of the folder"):
        Prompts("coin").render("coin/notes")


def test_a_folder_that_is_a_link_out_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret.txt").write_text("canary")
    (tmp_path / "notes.j2").write_text('{% include "secret.txt" %}')
    (tmp_path / "work" / "prompts").symlink_to("..")
    monkeypatch.chdir(tmp_path / "work")
    with pytest.raises(SettingError, match="leads out of the folder"):
        Prompts("coin").render("notes")


@pytest.mark.parametrize("folder", ["..", "../..", "coin/../..", "/tmp", "coin/way"])
def test_a_setting_names_no_folder_outside(prompts_here: Path, folder: str) -> None:
    (prompts_here / "way").symlink_to(prompts_here.parent.parent.parent)
    with pytest.raises(SettingError, match=r"outside the folder|leads out of the folder"):
        list(game_prompts(folder))


def test_what_a_prompt_may_use(prompts_here: Path) -> None:
    text = """{% for each in names | sort if each != "b" %}{{ loop.index }} {{ each | upper ~ "!" }}
    {%- if not loop.last %}, {% endif %}{% endfor %} {{ names | join("-") }} {{ names[1:] | length + 1 }} {{ 7 % 4 }}"""
    (prompts_here / "notes.j2").write_text(text)
    assert Prompts("coin").render("coin/notes", names=["c", "b", "a"]) == "1 A!, 2 C! c-b-a 3 3"


@pytest.mark.parametrize("text", ["{{ ''.__class__ }}", "{{ names.append('b') }}"])
def test_what_a_prompt_may_not_use(prompts_here: Path, text: str) -> None:
    (prompts_here / "notes.j2").write_text(text)
    with pytest.raises(SettingError, match="is unsafe"):
        Prompts("coin").render("coin/notes", names=["a"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\n{{ nothing }}", "prompts/coin/notes.j2, line 2: 'nothing' is undefined."),
        ("a\n{% if %}", "prompts/coin/notes.j2, line 2: Expected an expression, got 'end of statement block'."),
        ("{{ 1 | blah }}", "prompts/coin/notes.j2, line 1: No filter named 'blah'."),
        ("{{ 1 / 0 }}", "prompts/coin/notes.j2, line 1: division by zero."),
        ("{% include 'coin/part.j2' %}", "prompts/coin/part.j2, line 3: 'gone' is undefined."),
        ("{% include 'coin/notes.j2' %}", "maximum recursion depth exceeded"),
    ],
)
def test_an_error_of_a_template_names_file_and_line(prompts_here: Path, text: str, reason: str) -> None:
    (prompts_here / "notes.j2").write_text(text)
    (prompts_here / "part.j2").write_text("\n\n{{ gone }}")
    with pytest.raises(SettingError) as caught:
        Prompts("coin").render("coin/notes")
    assert caught.value.what == "The prompt coin/notes.j2 cannot be rendered"
    assert reason in caught.value.reason
