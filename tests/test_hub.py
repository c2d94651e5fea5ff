"""Data sets for `datasets`: the files, their card, no test seeds, no paths of this machine, and the library itself."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.api.hub import FIELDS, HubFolder
from pddlego.errors import UsageError
from pddlego.runs.cells import public_model
from tests.cli.command import run
from tests.scale import PATIENCE

pytestmark = pytest.mark.method("textgames")

ROWS = ("chat", "preference", "failures")


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run `night`: seeds of train, dev and test, retries, losses, and a model named by a path."""
    folder = tmp_path_factory.mktemp("hub")
    options = ("--modes", "edit", "--seeds", "4-12,60-66", "--retries", "1", "--run", "night")
    assert run("eval", "coin", "--models", "reader+noise:0.5", *options, cwd=folder).returncode == 0
    assert run("export", "night", "--test-seeds", "-o", "chat.jsonl", cwd=folder).returncode == 0
    assert run("eval", "coin", "--models", f"transcript:{folder}/chat.jsonl", *options, cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def hub(night: Path) -> Path:
    done = run("export", "night", "--format", "hub", "-o", "hub", cwd=night, OPENAI_API_KEY="sk-canary-0123456789")
    assert done.returncode == 0, done.stderr
    assert "episodes of test seeds left out" in done.stderr and "--test-seeds" not in done.stderr
    return night / "hub"


def head_of(hub: Path) -> dict[str, list[dict[str, Any]]]:
    """The lists of the card's header."""
    header = (hub / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    lists: dict[str, list[dict[str, Any]]] = {}
    for name, items in re.findall(r"^(\w+):\n((?:- .*\n)+)", header, re.MULTILINE):
        lists[name] = [json.loads(item.removeprefix("- ")) for item in items.splitlines()]
    return lists


def rows_in(hub: Path, path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (hub / path).read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_the_header_names_every_file_with_its_rows(hub: Path) -> None:
    head = head_of(hub)
    assert [item["config_name"] for item in head["configs"]] == list(ROWS)
    named = {file["path"] for item in head["configs"] for file in item["data_files"]}
    assert named == {str(file.relative_to(hub)) for file in hub.glob("data/*/*")}
    assert {Path(path).stem for path in named} == {"train", "dev"}
    for info in head["dataset_info"]:
        for split in info["splits"]:
            path = f"data/{info['config_name']}/{split['name']}.jsonl"
            assert split["num_examples"] == len(rows_in(hub, path)) > 0
            assert split["num_bytes"] == (hub / path).stat().st_size


def test_the_rows_are_those_of_the_other_formats(hub: Path, night: Path) -> None:
    """Only the names of models and the paths are other ones."""
    for name in ROWS:
        done = run("export", "night", "--format", name, cwd=night)
        rows = [row for path in (hub / "data" / name).iterdir() for row in rows_in(hub, str(path.relative_to(hub)))]
        expected = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(rows) == len(expected)
        assert {row["seed"] for row in rows}.isdisjoint(range(10, 60)), "no seed of the split test"
        reader = [row for row in rows if row["model"] == "reader+noise:0.5"]
        assert all(row in expected for row in reader) and reader


def test_every_field_is_explained_and_has_a_type(hub: Path) -> None:
    text = (hub / "README.md").read_text(encoding="utf-8")
    for info in head_of(hub)["dataset_info"]:
        name = info["config_name"]
        fields = {feature["name"] for feature in info["features"]}
        assert fields == set(FIELDS[name]), name
        section = text.partition(f"## Fields of `{name}`")[2].partition("\n## ")[0]
        assert fields <= set(re.findall(r"^\| (\w+) \|", section.replace("\\", ""), re.MULTILINE))


def test_no_key_and_no_path_of_this_machine_is_written(hub: Path, night: Path) -> None:
    files = [file for file in hub.rglob("*") if file.is_file()]
    for file in files:
        text = file.read_text(encoding="utf-8")
        for private in (str(night), night.name, str(Path.home()) + "/", "sk-canary"):
            assert private not in text, file
    assert "transcript:chat.jsonl" in (hub / "README.md").read_text(encoding="utf-8")


def test_texts_that_name_folders_of_this_machine(tmp_path: Path) -> None:
    episode = pddlego.play("coin", "edit", 60)
    folder = HubFolder(tmp_path / "hub", [Path("/home/ann"), Path("/")])
    text = "in /home/ann/plans/a.py: 3; '/home/ann' (/home/ann/x), /home/annabel/y, /usr/z"
    folder.add("chat", episode, {"prompt_id": text, "score": 1, "messages": []})
    folder.add("chat", episode, {"prompt_id": "", "score": 0.5, "messages": [{"role": "user", "more": None}]})
    (row, _) = rows_in(tmp_path / "hub", "data/chat/train.jsonl")
    assert row["prompt_id"] == "in [path]: 3; '[path]' ([path]), /home/annabel/y, /usr/z"
    folder.write_card()
    ((info),) = head_of(tmp_path / "hub")["dataset_info"]
    assert info["features"] == [
        {"name": "prompt_id", "dtype": "string"},
        {"name": "score", "dtype": "float64"},
        {"name": "messages", "list": [{"name": "role", "dtype": "string"}, {"name": "more", "dtype": "null"}]},
    ]


def test_models_are_named_without_their_folders() -> None:
    assert public_model("local:/home/ann/qwen.gguf") == "local:qwen.gguf"
    assert public_model(r"local:C:\models\qwen.gguf") == "local:qwen.gguf"
    assert public_model("transcript:runs/a.jsonl,model=x/y") == "transcript:a.jsonl,model=x/y"
    assert public_model("hf:owner/repo/file.gguf") == "hf:owner/repo/file.gguf"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("night", "--format", "hub"), "--format hub needs --output"),
        (("night", "--format", "hub", "-o", "new", "--test-seeds"), "--test-seeds does not go with --format hub"),
        (("night", "--format", "hub", "-o", "runs"), "runs is not empty"),
        (("night", "--format", "hub", "-o", "chat.jsonl"), "chat.jsonl is not empty"),
        (("night", "--format", "hub", "-o", "chat.jsonl/x"), "chat.jsonl/x"),
    ],
)
def test_wrong_usage_writes_nothing(night: Path, arguments: tuple[str, ...], says: str) -> None:
    done = run("export", *arguments, cwd=night)
    assert done.returncode in (2, 3) and says in done.stderr and "Traceback" not in done.stderr
    assert not (night / "new").exists()


def test_without_rows_there_is_no_card(tmp_path: Path) -> None:
    pddlego.evaluate("coin", tmp_path / "run", seeds="12").wait(PATIENCE)
    done = run("export", "run", "--format", "hub", "-o", "hub", cwd=tmp_path)
    assert done.returncode == 2 and "There is nothing to export" in done.stderr and not (tmp_path / "hub").exists()


def test_an_expert_is_a_data_set_too(tmp_path: Path) -> None:
    done = run("export", "--expert", "coin", "--seeds", "60-61", "--format", "hub", "-o", "hub", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [item["config_name"] for item in head_of(tmp_path / "hub")["configs"]] == ["chat"]
    with pytest.raises(UsageError, match="is not empty"):
        HubFolder(tmp_path / "hub", [])


@pytest.mark.slow
@pytest.mark.beside("datasets")
def test_datasets_loads_it(hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    copy = shutil.copytree(hub, tmp_path / "copy")
    assert datasets.get_dataset_config_names(str(copy)) == list(ROWS)
    for name in ROWS:
        loaded = datasets.load_dataset(str(copy), name, cache_dir=str(tmp_path / "cache"))
        for split, rows in loaded.items():
            written = rows_in(copy, f"data/{name}/{split}.jsonl")
            assert rows.num_rows == len(written)
            assert all(agrees(row, want) for row, want in zip(rows, written, strict=True))


def agrees(read: Any, written: Any) -> bool:
    """Whether all that was written was read; a field that only other rows have is read as null."""
    if isinstance(written, dict):
        return all(agrees(item, written.get(key)) for key, item in read.items()) and set(written) <= set(read)
    if isinstance(written, list):
        return len(read) == len(written) and all(map(agrees, read, written))
    if written is None and isinstance(read, dict):
        return all(item is None for item in read.values())
    return bool(read == written)
