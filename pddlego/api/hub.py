"""Training data as a folder that `datasets.load_dataset` reads: JSON lines and a card, `README.md`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pddlego.api.results import Episode
from pddlego.api.splits import split_of
from pddlego.errors import UsageError
from pddlego.report.tables import Table
from pddlego.runs.cells import public_model
from pddlego.runs.store import check_output
from pddlego.util.files import cannot_write, write_whole

CARD = "README.md"

_EPISODE = {
    "game": "the game or setting",
    "mode": "what the model writes, such as an edit of the problem",
    "model": "the model that answered",
    "seed": "the seed of the game",
    "outcome": "how the episode ended, such as won",
}
_ROW = {
    "prompt_id": "game, mode, seed, number of the call, and a digest of the messages",
    **_EPISODE,
    "repeat": "the number of the repetition, from 1",
    "split": "the split of the seed",
    "score": "the score of the game at the end of the episode, from 0 to 1",
    "first_error": "the first error of the model that lasted; empty without one",
    "step": "commands sent before the answer",
    "purpose": "the kind of request",
    "feedback": "why the (rejected) answer was rejected; empty if it was not",
}
FIELDS: Mapping[str, Mapping[str, str]] = {
    "chat": {
        "messages": "the request and, as the last message, the answer; its reasoning_content is the reasoning",
        **_ROW,
        "call": "the number of the request in its episode",
        "attempt": "0 for the first answer to a question; retries count up",
        "accepted": "whether the answer could be used; null if the method does not judge each answer",
    },
    "preference": {
        "prompt": "the messages of the request",
        "chosen": "the accepted answer",
        "rejected": "a rejected answer to the same question",
        **_ROW,
    },
    "failures": {
        "id": "the episode",
        **_EPISODE,
        "trajectory": "the episode in the Agent Trajectory Interchange Format, version 1.7",
        "first_error": "the error that ended the episode, else the oldest lasting one: its text, and the step after "
        "which it was made",
        "causes": "all lasting errors with their frequencies in lost and won episodes, the most telling first",
        "counterfactual": "whether the model wins from that step with the error corrected, and without a correction; "
        "null if it was not replayed",
    },
}
"""The fields of the rows of each configuration, which are called like the formats of `pddlego export`."""

_NOTE = """\
Each row comes from an episode that pddlego played: a language model plans through a classical planner. Verdicts on
answers and outcomes of episodes are computed, not written by people. The seeds of the split `test`, with which models
are compared, are left out: do not add them.

Prompts and domains are those of pddlego (GPL-3.0-or-later). The answers of a model may have terms of its provider:
check them, and change `license`, before you publish this folder."""


HubRow = tuple[str, Episode, Mapping[str, Any]]
"""The configuration of a row, its episode, and the row."""


class HubFolder:
    """A new folder with the file `data/CONFIGURATION/SPLIT.jsonl` for each configuration and split that has rows.

    `private` are folders of this machine whose paths must not be written. Raises `UsageError` if the folder exists and
    is not empty.
    """

    def __init__(self, folder: Path, private: Iterable[Path]) -> None:
        self.folder = check_output(folder)
        if self.folder.exists() and not (self.folder.is_dir() and not any(self.folder.iterdir())):
            raise UsageError(f"{folder} is not empty", "A data set is written to a new folder.", "Name another folder.")
        self._conceal = _concealing(private)
        self._types: dict[str, Any] = {}
        self._rows = Counter[tuple[str, str, str, str, str]]()

    def add(self, configuration: str, episode: Episode, row: Mapping[str, Any]) -> None:
        """Write a row of the episode. Raises `JournalError` if the file cannot be written."""
        split = re.sub(r"\W", "_", split_of(episode.recorded.played.setting, episode.seed), flags=re.ASCII)
        public = replace(episode.cell, model=public_model(episode.model))
        names = {episode.model: public.model, episode.cell.label: public.label}
        written = _mapped(row, lambda text: self._conceal(names.get(text, text)))
        self._types[configuration] = _merged(self._types.get(configuration, "null"), _type_of(written))
        path = self._path(configuration, split)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(written, ensure_ascii=False) + "\n")
        except OSError as error:
            raise cannot_write(path, error) from error
        self._rows[configuration, split, episode.game, episode.mode, self._conceal(public.model)] += 1

    def _path(self, configuration: str, split: str) -> Path:
        return self.folder / "data" / configuration / f"{split}.jsonl"

    def write_card(self) -> None:
        """Write the card, with the types of all fields and the numbers of rows, which `datasets` checks.

        Raises `UsageError` without rows, and `JournalError`.
        """
        if not self._rows:
            raise UsageError("There is nothing to export", "No episode has a row.", "Choose other episodes.")
        sizes = dict[str, Counter[str]]()
        for (configuration, split, *_), number in self._rows.items():
            sizes.setdefault(configuration, Counter())[split] += number
        configs, infos = [], []
        for name, splits in sizes.items():
            files = [{"split": split, "path": f"data/{name}/{split}.jsonl"} for split in splits]
            configs.append({"config_name": name, "data_files": files})
            counts = [
                {"name": split, "num_bytes": self._path(name, split).stat().st_size, "num_examples": number}
                for split, number in splits.items()
            ]
            infos.append({"config_name": name, "features": _features(self._types[name]), "splits": counts})
        head = ["license: gpl-3.0", "language: [en]", "tags: [planning, pddl, pddlego]"]
        head += ["configs:", *(f"- {json.dumps(value)}" for value in configs)]
        head += ["dataset_info:", *(f"- {json.dumps(value)}" for value in infos)]
        body = [[*key, f"{number}"] for key, number in sorted(self._rows.items())]
        rows = Table("", ["configuration", "split", "game", "mode", "model", "rows"], body).markdown()
        parts = ["\n".join(["---", *head, "---"]), "# Episodes of pddlego", _NOTE, "## Rows", rows]
        for name in sizes:
            fields = Table("", ["field", "meaning"], [[field, text] for field, text in FIELDS[name].items()])
            parts += [f"## Fields of `{name}`", fields.markdown()]
        write_whole(self.folder / CARD, "\n\n".join(parts) + "\n")


def write_folder(folder: Path, private: Iterable[Path], rows: Iterable[HubRow]) -> None:
    """Write a data set: see `HubFolder`. Raises `UsageError` if there are no rows, and `JournalError`."""
    made = HubFolder(folder, private)
    for row in rows:
        made.add(*row)
    made.write_card()


def _concealing(private: Iterable[Path]) -> Callable[[str], str]:
    """A function that writes `[path]` in place of each path in one of the folders."""
    names = {str(path) for folder in private for path in (folder, folder.resolve()) if len(path.parts) > 1}
    if not names:
        return str
    roots = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    path = re.compile(rf"(?:{roots})(?![\w.-])[^\s\"'`()<>|:;,]*")
    return lambda text: path.sub("[path]", text)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """The value with each text in it changed."""
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mapped(item, change) for item in value]
    return change(str(value)) if isinstance(value, str) else value


def _type_of(value: Any) -> Any:
    """The type of a JSON value: a name of Arrow, a list with the type of its items, or types by field."""
    if isinstance(value, dict):
        return {key: _type_of(item) for key, item in value.items()}
    if isinstance(value, list):
        item_type: Any = "null"
        for item in value:
            item_type = _merged(item_type, _type_of(item))
        return [item_type]
    return {type(None): "null", bool: "bool", int: "int64", float: "float64"}.get(type(value), "string")


def _merged(one: Any, other: Any) -> Any:
    """The type of values that have either type. Raises `TypeError` for types without a common one."""
    if one == other or other == "null":
        return one
    if one == "null":
        return other
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _merged(one.get(key, "null"), other.get(key, "null")) for key in {**one, **other}}
    if isinstance(one, list) and isinstance(other, list):
        return [_merged(one[0], other[0])]
    if {str(one), str(other)} == {"int64", "float64"}:
        return "float64"
    raise TypeError(f"{one} and {other} in one field")


def _features(types: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The types as `datasets` writes them in a card."""
    return [{"name": name, **_feature(kind)} for name, kind in types.items()]


def _feature(kind: Any) -> dict[str, Any]:
    if isinstance(kind, dict):
        return {"struct": _features(kind)}
    if isinstance(kind, list):
        (item,) = kind
        return {"list": _features(item) if isinstance(item, dict) else item}
    return {"dtype": kind}
