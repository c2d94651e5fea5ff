"""Reads a clone of the repository of Cao et al. (2024), IBM/AutoToS: `problem=autotos:PATH`, `transcript:autotos:PATH`.

A problem is a folder of `src/`: unit tests as JSON, and instances as CSV, JSON or PDDL. Its dialogues are in
`src/clean_logs/LOGS/MODEL-val_logs/*.txt`, or `-noval_logs` without the partial check of transitions.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pddlego.errors import SettingError, UsageError
from pddlego.models.transcript import Conversation, Turn, parse_place
from pddlego.pddl.conditions import And, Atom
from pddlego.pddl.problem import Problem, read_problem
from pddlego.util.clone import Clone

PREFIX = "autotos:"

CHECKED: Mapping[str, Mapping[str, object]] = {"deduction": {"allow_same": True}}
"""Options of our checks that make them the partial checks of the authors' code, by problem."""


@dataclass(frozen=True)
class _Problem:
    """The place of a problem in `src/` and of its dialogues in `src/clean_logs/`.

    `tests` are its files of goals, non-goals and successors, `instances` those of the soundness test and of the
    evaluation. `convert` makes a list of items of the latter; without it they have the form of `checks.py`.
    """

    folder: str
    logs: str
    tests: tuple[str, str, str]
    instances: tuple[str, str]
    convert: Callable[[Clone, str, str], list[dict[str, Any]]] | None = None


def lists(place: str, space: str) -> dict[str, tuple[str, str]]:
    """The name and the text of each list of the problem `space` in the clone `autotos:PATH`. Raises `SettingError`."""
    source, problem = _clone(place), _problem(place, space)
    kinds = ("goals", "non_goals", "successors", "soundness", "instances")
    found: dict[str, tuple[str, str]] = {}
    for kind, name in zip(kinds, (*problem.tests, *problem.instances), strict=True):
        file = f"src/{problem.folder}/{name}"
        if problem.convert is None or name in problem.tests:
            found[kind] = (f"{PREFIX}{file}", source.text(file))
            continue
        try:
            items = problem.convert(source, f"src/{problem.folder}", name)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, csv.Error) as error:
            raise source.wrong(file, f"it has another form ({type(error).__name__}: {error})") from error
        found[kind] = (f"{PREFIX}{file} (as JSON)", json.dumps(items))
    return found


@lru_cache(maxsize=8)
def logged_dialogues(place: str, space: str, name: str) -> tuple[Conversation, ...] | None:
    """The dialogues about the problem `space` in the clone `autotos:PATH`, with `name` as their domain.

    None if `place` is not such a clone. Raises `SettingError`.
    """
    if not place.startswith(PREFIX):
        return None
    source, logs = _clone(place), f"src/clean_logs/{_problem(place, space).logs}"
    known = []
    for folder in source.names(logs, "_logs"):
        match = re.fullmatch(r"(.+)-(val|noval)_logs", folder)
        for file in source.names(f"{logs}/{folder}", ".txt") if match else ():
            turns = _turns(source.text(f"{logs}/{folder}/{file}"))
            if match and turns:
                about = f"{folder}/{file}"
                known.append(Conversation(model=match[1], domain=name, variant=match[2], turns=turns, id=about))
    if not known:
        raise source.wrong(logs, "it has no dialogue")
    return tuple(known)


_OWN_SUCCESSOR = re.compile(r"^Input state: (.+)\nExample wrong successor state: (.+)$", re.MULTILINE)


def refuses_same(model: str, seed: int, space: str) -> bool:
    """Whether feedback in the dialogue that the model `transcript:autotos:PATH` replays names a state as its own wrong
    successor. The authors' code accepts such a successor, but some of their dialogues are older.
    """
    wanted = parse_place(model.partition(":")[2])
    known = logged_dialogues(wanted.place, space, space) or ()
    own = [talk for talk in known if (talk.model, talk.variant) == (wanted.model or known[0].model, "val")]
    turns = own[seed if len(own) > 1 else 0].turns if own and (seed < len(own) or len(own) == 1) else ()
    pairs = (pair for turn in turns for pair in _OWN_SUCCESSOR.findall(turn.prompt))
    words = ((sorted(re.findall(r"\w+", state)), sorted(re.findall(r"\w+", other))) for state, other in pairs)
    return any(state == other for state, other in words)  # sets are printed in any order


_SYSTEM = r'sysmsg = """'
_REQUEST = r'def get_initial_{}_prompt\(self\):\s*return """'
"""What a text begins after. It ends at the next three quotes."""


def source_prompts(place: str, space: str) -> dict[str, str]:
    """The authors' first requests about the problem `space`, by the names of our templates. Raises `SettingError`.

    They are texts of the clone's Python files, which are not run.
    """
    source, folder = _clone(place), _problem(place, space).folder
    code = next((name for name in source.names(f"src/{folder}", ".py") if "_experiment" in name), "experiments.py")
    texts = {}
    for name, (file, pattern) in {
        "system": ("domain_base_class.py", _SYSTEM),
        "successors": (f"{folder}/{code}", _REQUEST.format("successor")),
        "goal": (f"{folder}/{code}", _REQUEST.format("goal")),
    }.items():
        whole = source.text(f"src/{file}")
        begin = re.search(pattern, whole)
        text, end, _ = whole[begin.end() :].partition('"""') if begin else ("", "", "")
        if not end or "\\" in text:
            raise source.wrong(f"src/{file}", f"it has no text for the prompt '{name}' in the known form")
        texts[f"thought_of_search/{name}"] = text
    return texts


_MARK = re.compile(r"^(AutoToS prompt|Model response|System message):[ \t]*$", re.MULTILINE)


def _turns(text: str) -> tuple[Turn, ...]:
    """The prompts and answers of a log, without the messages of the authors' program."""
    _, *parts = _MARK.split(text)
    turns, prompt = [], ""
    for mark, content in zip(parts[::2], parts[1::2], strict=True):
        if mark == "AutoToS prompt":
            prompt = content.strip()
        elif mark == "Model response":
            turns.append(Turn(answer=content.strip("\n"), prompt=prompt))
    return tuple(turns)


def _clone(place: str) -> Clone:
    if not place.startswith(PREFIX):
        raise UsageError(f"Unknown problem {place}", "It names no clone.", "Use --set problem=autotos:PATH.")
    return Clone("autotos", "IBM/AutoToS", Path(place.removeprefix(PREFIX)))


def _problem(place: str, space: str) -> _Problem:
    if space not in _PROBLEMS:
        reason = f"It has the problems of {', '.join(_PROBLEMS)}."
        raise SettingError(f"{place} has no problem for {space}", reason, "Choose one of these settings.")
    return _PROBLEMS[space]


def _pddl(source: Clone, file: str) -> tuple[Problem, Sequence[Atom]]:
    """A problem with the atoms of its goal, whose facts are taken in natural order. Raises `ValueError`."""
    problem = read_problem(source.text(file)).problem
    parts = problem.goal.parts if isinstance(problem.goal, And) else (problem.goal,)
    if not problem.facts or not parts:
        raise ValueError(f"{file} is not a PDDL problem")
    return problem, [part for part in parts if isinstance(part, Atom)]


def _rows(source: Clone, file: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(source.text(file))) if row]


def _crosswords(source: Clone, folder: str, name: str) -> list[dict[str, Any]]:
    """The puzzles of a CSV file, in whose first row two columns have the same name."""
    rows = _rows(source, f"{folder}/{name}")[1:]
    return [
        {"horizontal_answers": json.loads(across), "vertical_answers": json.loads(down)} for across, down, *_ in rows
    ]


def _blocks(source: Clone, folder: str, name: str) -> list[dict[str, Any]]:
    """The instances that a CSV file names, each with its cost."""
    items = []
    for file, cost, *_ in _rows(source, f"{folder}/{name}"):
        problem, wanted = _pddl(source, f"{folder}/{file.strip()}")
        goal = _tower(wanted)
        holding = next((fact.args[0] for fact in problem.sorted_facts() if fact.predicate == "holding"), None)
        state = {**_tower(problem.sorted_facts()), "arm-empty": holding is None, "holding": holding}
        items.append({"id": Path(file).stem, "state": state, "goal": goal, "cost": int(cost)})
    return items


def _tower(atoms: Sequence[Atom]) -> dict[str, list[Any]]:
    names = {"clear": "clear", "ontable": "on-table"}
    tower: dict[str, list[Any]] = {"clear": [], "on-table": [], "on": []}
    for atom in atoms:
        if atom.predicate in names:
            tower[names[atom.predicate]].append(atom.args[0])
        elif atom.predicate == "on":
            tower["on"].append(list(atom.args))
    return tower


_LARGEST = 1_000
"""Maximum rows and columns of a maze."""


def _mazes(source: Clone, folder: str, name: str) -> list[dict[str, Any]]:
    """The mazes in a folder of PDDL problems, with the known costs. A row is the first number of a place."""
    costs = json.loads(source.text(f"{folder}/sokoban_optimal_costs.json"))
    items: list[dict[str, Any]] = []
    for file in source.names(f"{folder}/{name}", ".pddl"):
        problem, _ = _pddl(source, f"{folder}/{name}/{file}")
        places = [_cell(obj.name) for obj in problem.objects if obj.name.startswith("pos-")]
        rows, columns = (max(numbers) + 1 for numbers in zip(*places, strict=True))
        if max(rows, columns) > _LARGEST:
            raise ValueError(f"{file} has {rows} rows and {columns} columns")
        grid = [[1] * columns for _ in range(rows)]
        state: dict[str, Any] = {"at-stone": []}
        for fact in sorted(
            problem.sorted_facts(), key=lambda fact: fact.predicate == "is-goal"
        ):  # goals are written last
            if fact.predicate in ("clear", "at", "is-goal"):
                row, column = _cell(fact.args[-1])
                grid[row][column] = 2 if fact.predicate == "is-goal" else 0
            if fact.predicate == "at" and fact.args[0].startswith("player"):
                state["at-player"] = _cell(fact.args[1])
            elif fact.predicate == "at":
                state["at-stone"].append(_cell(fact.args[1]))
        cost = {"cost": int(costs[file])} if file in costs else {}
        items.append({"id": Path(file).stem, "state": state, "grid": grid, **cost})
    return items


def _cell(name: str) -> tuple[int, int]:
    row, column = (int(number) - 1 for number in name.removeprefix("pos-").split("-"))
    if min(row, column) < 0:
        raise ValueError(f"{name} is not a place")
    return row, column


def _questions(source: Clone, folder: str, name: str) -> list[dict[str, Any]]:
    """The questions of PrOntoQA: rules and one fact in sentences, and a fact that is true or false."""
    items = []
    for entry in json.loads(source.text(f"{folder}/{name}"))["example_pool"]:
        *rules, start = entry["question"].rstrip(". ").split(". ")
        (fact, _), (query, positive) = _literal(start), _literal(entry["query"].rpartition(": ")[2].rstrip("."))
        answer = (entry["answer"] == "True") == positive
        items.append({"state": [fact], "rules": [_rule(rule) for rule in rules], "query": query, "answer": answer})
    return items


def _literal(sentence: str) -> tuple[str, bool]:
    """The property in a sentence such as `Polly is not a cat`, and whether it is positive."""
    _, verb, said = sentence.partition(" is ")
    if not verb:
        raise ValueError(f"'{sentence}' is not a fact")
    return _noun(said.removeprefix("not ")), not said.startswith("not ")


def _rule(sentence: str) -> list[str]:
    """The condition and the conclusion of `Every cat is a feline` or `Cats are not herbivorous`."""
    if match := re.fullmatch(r"(?:Every|Each) (.+?) is (not )?(.+)", sentence, re.DOTALL):
        condition, negation, conclusion = match.groups()
    elif match := re.fullmatch(r"(.+?) are (not )?(.+)", sentence, re.DOTALL):
        condition, negation, conclusion = _singular(match[1]), match[2], _singular(match[3])
    else:
        raise ValueError(f"'{sentence}' is not a rule")
    return [condition.lower(), f"{'not-' if negation else ''}{_noun(conclusion)}"]


def _noun(words: str) -> str:
    return re.sub(r"^an? ", "", words).lower()


def _singular(word: str) -> str:
    """The singular of a regular plural; adjectives such as `carnivorous` are unchanged."""
    for ending, singular in (("ies", "y"), ("uses", "us"), ("xes", "x"), ("us", "us"), ("ss", "ss"), ("s", "")):
        if word.endswith(ending):
            return word.removesuffix(ending) + singular
    return word


def _named(stem: str) -> tuple[str, str, str]:
    return f"{stem}_goals.jsonl", f"{stem}_non_goals.jsonl", f"{stem}_successors.jsonl"


_PROBLEMS: Mapping[str, _Problem] = {
    "24game": _Problem("twentyfourgame", "24game", _named("24game"), ("unittests.csv", "model_test.csv")),
    "blocksworld": _Problem("blocksworld", "blocks", _named("blocks"), ("unittests.csv", "solutions.csv"), _blocks),
    "crosswords": _Problem(
        "crossword5by5",
        "cw",
        ("crosswords_goal.jsonl", "crosswords_nongoal.jsonl", "crosswords_successors.jsonl"),
        ("unittests.csv", "crossworld.csv"),
        _crosswords,
    ),
    "deduction": _Problem(
        "prontoqa", "prontoqa", _named("prontoqa"), ("unittests.json", "example_pool.json"), _questions
    ),
    "sokoban": _Problem("sokoban", "sokoban", _named("sokoban"), ("unittests_instances", "test_instances"), _mazes),
}
"""The authors' problems, by the folder of ours in `domains/`."""
