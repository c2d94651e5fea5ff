"""Problems and dialogues in a clone of IBM/AutoToS: of our own, and the recorded ones played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.errors import SettingError, UsageError
from pddlego.methods.thought_of_search.loading import load
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.methods.thought_of_search.records.autotos import _MARK, _turns, lists, logged_dialogues
from pddlego.models.prompts import Prompts
from tests.autotos import GRID, LOG, SETTINGS, recorded_clone, written_clone
from tests.cli.command import run
from tests.methods.thought_of_search.test_recorded import MODES, recorded
from tests.sandbox.ordinary import needs_locks


def instances(clone: str, space: str) -> list[dict[str, object]]:
    items: list[dict[str, object]] = json.loads(lists(clone, space)["instances"][1])
    return items


def test_pddl_and_sentences_become_items(tmp_path: Path) -> None:
    clone = written_clone(tmp_path)
    (tower,) = instances(clone, "blocksworld")
    assert tower == {
        "id": "one",
        "state": {
            "clear": ["b", "c"],
            "on-table": ["a", "c"],
            "on": [["b", "a"]],
            "arm-empty": True,
            "holding": None,
        },
        "goal": {"clear": ["c"], "on-table": [], "on": [["c", "b"]]},
        "cost": 2,
    }
    (maze,) = instances(clone, "sokoban")
    assert maze == {"id": "p01", "state": {"at-player": [1, 1], "at-stone": [[1, 2]]}, "grid": GRID, "cost": 1}
    (question,) = instances(clone, "deduction")
    assert question == {
        "state": ["tabby"],
        "rules": [
            ["tabby", "cat"],
            ["cat", "feline"],
            ["painted lady", "not-herbivorous"],
            ["feline", "not-wumpus"],
            ["wumpus", "luminous"],
        ],
        "query": "wumpus",
        "answer": False,
    }


@pytest.mark.parametrize("setting", SETTINGS)
@needs_locks
def test_the_built_in_model_solves_each_problem(tmp_path: Path, setting: str) -> None:
    clone = written_clone(tmp_path / "clone")
    done = run("play", setting, "--mode", "tos", "--set", f"problem={clone}", "--set", "parity=paper", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "instances solved" in done.stdout


def test_dialogues_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "clean_logs" / "blocks" / "gpt4-mini-noval_logs"
    folder.mkdir(parents=True)
    for number in (2, 10):
        log = LOG.format(prompt="q", answer=f"a{number}\n```\ndef f(): ...\n```") + LOG.format(
            prompt="again", answer="b"
        )
        (folder / f"script_log_{number}.txt").write_text(log)
    (folder / "script_log_3.txt").write_text("no dialogue")
    (folder.parent / "notes_logs").mkdir()
    setting = load("blocksworld", SearchOptions())
    known = setting.recordings(f"autotos:{tmp_path}")
    assert known is not None
    assert [(item.model, item.variant, item.domain) for item in known] == 2 * [("gpt4-mini", "noval", "blocksworld")]
    assert [[(turn.prompt, turn.answer[:3]) for turn in item.turns] for item in known] == [
        [("q", "a2\n"), ("again", "b")],
        [("q", "a10"), ("again", "b")],
    ]
    assert setting.recordings("file.jsonl") is None


@given(st.lists(st.tuples(st.text("aq:\n "), st.text("ab:\n ")), max_size=4))
def test_every_dialogue_is_read_as_written(turns: list[tuple[str, str]]) -> None:
    log = "".join(LOG.format(prompt=prompt, answer=answer) for prompt, answer in turns)
    assert [(turn.prompt, turn.answer) for turn in _turns(log)] == [(q.strip(), a.strip("\n")) for q, a in turns]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert len(_turns(text)) <= len(_MARK.findall(text))


BROKEN = {
    "blocksworld/solutions.csv": ("instances/one.pddl, many\n", "ValueError"),
    "blocksworld/instances/one.pddl": ("(define (problem", "is not a PDDL problem"),
    "sokoban/sokoban_optimal_costs.json": ("[" * 100_000, "has another form"),
    "sokoban/test_instances/p01.pddl": (
        "(define (problem p) (:objects pos-1-999999) (:init (clear pos-1-999999)) (:goal (at-goal s)))",
        "999999 columns",
    ),
    "prontoqa/example_pool.json": ('{"example_pool": [{"question": "A. B."}]}', "is not a fact"),
}


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(" abcis.:"),
        lambda items: (
            st.lists(items) | st.dictionaries(st.sampled_from(["example_pool", "question", "query", "answer"]), items)
        ),
    )
)
def test_any_json_is_read_or_named(tmp_path_factory: pytest.TempPathFactory, content: object) -> None:
    root = tmp_path_factory.getbasetemp() / "any-json"
    clone = written_clone(root)
    (root / "src" / "prontoqa" / "example_pool.json").write_text(json.dumps(content))
    try:
        lists(clone, "deduction")
    except SettingError as error:
        assert "prontoqa/example_pool.json" in error.what


@pytest.mark.parametrize("file", BROKEN)
def test_a_broken_file_is_named(tmp_path: Path, file: str) -> None:
    clone = written_clone(tmp_path)
    text, says = BROKEN[file]
    (tmp_path / "src" / file).write_text(text)
    space = next(name for name, folder in SETTINGS.items() if file.startswith(folder))
    with pytest.raises(SettingError, match=r"cannot be used") as raised:
        lists(clone, space)
    assert says in raised.value.sentence


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"has no src/twentyfourgame/24game_goals\.jsonl"):
        load("24game", SearchOptions(problem=f"autotos:{tmp_path}"))
    with pytest.raises(UsageError, match=r"problem=autotos:PATH"):
        load("24game", SearchOptions(problem=str(tmp_path)))
    with pytest.raises(UsageError, match="planning domain"):
        load("ferry", SearchOptions(problem=f"autotos:{tmp_path}"))
    with pytest.raises(SettingError, match="has no problem for rivers"):
        logged_dialogues(f"autotos:{tmp_path}", "rivers", "rivers")
    (tmp_path / "src" / "clean_logs" / "cw").mkdir(parents=True)
    with pytest.raises(SettingError, match="no dialogue"):
        logged_dialogues(f"autotos:{tmp_path}", "crosswords", "crosswords")


def test_the_authors_prompts_are_sent_unchanged(tmp_path: Path) -> None:
    clone = written_clone(tmp_path)
    setting = load("deduction", SearchOptions(prompts=clone, parity="paper"))
    assert setting.fixed_prompts == {
        "thought_of_search/system": "Write {functions}.",
        "thought_of_search/successors": "\nprontoqa: successor?\n",
        "thought_of_search/goal": "\nprontoqa: goal?\n",
    }
    question = Prompts("thought_of_search", setting.fixed_prompts).render("thought_of_search/goal")
    assert question == "prontoqa: goal?"
    assert "prontoqa: goal?" in str(setting.sources)
    with pytest.raises(UsageError, match=r"needs the paper's rules"):
        load("deduction", SearchOptions(prompts=clone))
    code = tmp_path / "src" / "prontoqa" / "prontoqa_experiments.py"
    for text in ("", code.read_text().replace("goal?", "goal\\n?"), 'return """' * 1_000):
        code.write_text(text)
        with pytest.raises(SettingError, match=r"prontoqa_experiments\.py in the clone .* cannot be used"):
            load("deduction", SearchOptions(prompts=clone, parity="paper"))


@needs_locks
def test_the_built_in_model_answers_the_authors_prompts(tmp_path: Path) -> None:
    clone = written_clone(tmp_path / "clone")
    options = ("--set", f"problem={clone}", "--set", f"prompts={clone}", "--set", "parity=paper")
    done = run("play", "24game", "--mode", "tos", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.shared("recorded/game24")
@needs_locks
@pytest.mark.usefixtures("patient_sandboxes")
def test_the_recorded_dialogues_go_as_they_went(tmp_path: Path) -> None:
    clone = recorded_clone(tmp_path / "clone")
    models = ",".join(f"transcript:{clone},model={name}" for name in ("gpt4", "deepseek-coderv2"))
    command = ("eval", "24game", "--modes", "tos,tos-no-check", "--models", models, "--seeds", "0-1", "--workers", "2")
    options = ("--set", "parity=paper", "--set", f"problem={clone}", "--set", "instances=3")
    done = run(*command, *options, "--run", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    expected = recorded()
    for line in (tmp_path / "runs" / "r" / "results.jsonl").read_text().splitlines():
        result = json.loads(line)
        variant = next(name for name, mode in MODES.items() if mode == result["cell"]["mode"])
        key = (result["cell"]["model"].partition("model=")[2], variant, result["cell"]["seed"])
        numbers = result["measures"]["numbers"]
        assert (numbers["answers"], bool(numbers["finished"])) == expected[key], key
        assert numbers.get("accuracy", 1.0) == 1.0


KEEPING = "def successors(state, rules):\n    return [state | {then} for known, then in rules if known in state]"
ADDING = KEEPING.replace("known in state]", "known in state and then not in state]")
GOAL_TEST = "def is_goal(state, target):\n    return target in state"
REFUSED = (
    "Invalid transition.\nInput state: {{'{0}', '{1}'}}\nExample wrong successor state: {{'{1}', '{0}'}}\nRules: []"
)


def dialogue(*turns: tuple[str, str]) -> str:
    return "".join(LOG.format(prompt=prompt, answer=f"```\n{code}\n```") for prompt, code in turns)


@needs_locks
def test_a_state_may_be_its_own_successor_unless_the_dialogue_says_otherwise(tmp_path: Path) -> None:
    clone = written_clone(tmp_path / "clone")
    short = dialogue(("q", KEEPING), ("g", GOAL_TEST))
    long = dialogue(("q", KEEPING), ("g", GOAL_TEST), (REFUSED.format("tabby", "cat"), ADDING))
    logs = tmp_path / "clone" / "src" / "clean_logs" / "prontoqa"
    for folder, texts in {"new-val": (short,), "old-val": (short, long), "other-val": (long,)}.items():
        (logs / f"{folder}_logs").mkdir(parents=True)
        for number, text in enumerate(texts):
            (logs / f"{folder}_logs" / f"script_log_{number}.txt").write_text(text)
    models = ",".join(f"transcript:{clone},model={name}" for name in ("new", "old", "other"))
    options = ("--set", f"problem={clone}", "--set", "parity=paper", "--run", "r")
    done = run("eval", "deduction", "--modes", "tos", "--models", models, "--seeds", "0-1", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = map(json.loads, (tmp_path / "runs" / "r" / "results.jsonl").read_text().splitlines())
    played = {
        (result["cell"]["model"].partition("model=")[2], result["cell"]["seed"]): (
            result["outcome"],
            result["measures"]["numbers"]["answers"],
        )
        for result in results
    }
    assert played == {
        ("new", 0): ("won", 2),
        ("new", 1): ("won", 2),
        ("old", 0): ("won", 2),
        ("old", 1): ("won", 3),
        ("other", 0): ("won", 3),
        ("other", 1): ("won", 3),
    }
    again = run("replay", "r", cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr


@needs_locks
def test_a_dialogue_without_its_end_has_no_number_of_answers(tmp_path: Path) -> None:
    clone = written_clone(tmp_path / "clone")
    logs = tmp_path / "clone" / "src" / "clean_logs" / "prontoqa" / "gpt4-val_logs"
    logs.mkdir(parents=True)
    (logs / "script_log_1.txt").write_text(
        dialogue(("q", "def successors(state, rules):\n    return []"), ("g", GOAL_TEST))
    )
    model = f"transcript:{clone},model=gpt4"
    options = ("--set", f"problem={clone}", "--set", "parity=paper", "--run", "r")
    run("eval", "deduction", "--modes", "tos", "--models", model, "--seeds", "0", *options, cwd=tmp_path)
    (line,) = (tmp_path / "runs" / "r" / "results.jsonl").read_text().splitlines()
    assert json.loads(line)["outcome"] == "model error"
    report = run("report", "r", "--format", "markdown", cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    assert "2.00" not in report.stdout
    assert "ended with an error" in report.stdout
