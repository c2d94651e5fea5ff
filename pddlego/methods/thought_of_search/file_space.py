"""Search problems from files: a setting of the kind `search`, lists of states, and a Python file of checks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, groupby, product
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pddlego.errors import SettingError
from pddlego.methods.setting_files import SettingHead
from pddlego.methods.thought_of_search.records.autotos import CHECKED, lists, refuses_same
from pddlego.methods.thought_of_search.space import (
    BadTransition,
    GoalTest,
    Instance,
    SearchOrder,
    SearchTask,
    Space,
    SpaceJudge,
    SuccessorTest,
    brief,
    first_bad_loop,
    have_form,
)
from pddlego.sandbox import CallResult, Sandbox, SandboxLimits, SandboxSession, Status, TooLargeError
from pddlego.util import resources

_LISTS = ("goals", "non_goals", "successors", "soundness", "instances")


def _identifier(name: str) -> str:
    if not name.isidentifier() or iskeyword(name):
        raise ValueError(f"'{name}' is not a name of an argument")
    return name


class FunctionTable(BaseModel):
    """The table of one function: its arguments, the state first, and what the prompt says about it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arguments: tuple[Annotated[str, AfterValidator(_identifier)], ...] = Field(default=("state",), min_length=1)
    about: str = ""
    example: str = ""


class FilesTable(BaseModel):
    """Names of files in `domains/`, or paths."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    checks: str | None = None
    goals: str | None = None
    non_goals: str | None = None
    successors: str | None = None
    soundness: str | None = None
    instances: str | None = None
    soundness_instances: int = Field(default=10, ge=0, le=10_000)
    instances_from: int = Field(default=0, ge=0)
    tested_apart: bool = False


class SearchFile(SettingHead):
    """The keys of `envs/NAME.toml` for a search problem. `space` is its folder in `domains/`.

    `unordered` are the keys of a state whose lists have no order; `.` is the state itself. `verifies_goals` says
    whether the paper's code checks the goals that a search finds.
    """

    space: str | None = None
    rules: str
    state: str = ""
    example: str = ""
    search: SearchOrder = "breadth-first"
    optimal: bool = False
    unordered: tuple[str, ...] = ()
    verifies_goals: bool = True
    successors: FunctionTable = Field(default_factory=FunctionTable)
    goal: FunctionTable = Field(default_factory=FunctionTable)
    files: FilesTable = Field(default_factory=FilesTable)
    options: dict[str, object] = Field(default_factory=dict)


@dataclass(frozen=True)
class FileSpace(Space):
    """A search problem from files. `name` is its folder, `places` names its files, `texts` holds their contents.

    With `paper`, it is as in the paper: without tests that are marked `extra`, and without the instances that functions
    are tested with, if these are `tested_apart`.
    """

    name: str
    file: SearchFile
    places: Mapping[str, str]
    texts: Mapping[str, str] = field(repr=False)
    paper: bool = False

    @classmethod
    def read(cls, name: str, file: SearchFile, paper: bool = False, problem: str | None = None) -> FileSpace:
        """Read all files; the lists are those of the clone `problem`, if there is one. Raises `SettingError`."""
        folder = file.space or name
        usual = {"checks": f"{folder}/checks.py", **{kind: f"{folder}/{kind}.jsonl" for kind in _LISTS}}
        places = {kind: getattr(file.files, kind) or place for kind, place in usual.items()}
        cloned = lists(problem, folder) if problem else {}
        if problem:
            file = file.model_copy(update={"options": {**file.options, **CHECKED.get(folder, {})}})
        texts = {kind: cloned[kind][1] if kind in cloned else _text_of(place) for kind, place in places.items()}
        return cls(
            folder,
            file,
            places | {kind: place for kind, (place, _) in cloned.items()},
            texts,
            arguments={"successors": file.successors.arguments, "goal": file.goal.arguments},
            order=file.search,
            unordered=file.unordered,
            verifies_goals=file.verifies_goals,
            paper=paper,
        )

    def replayed(self, model: str, seed: int) -> FileSpace:
        """The problem with the partial check of the recorded dialogue that a model replays, if it does."""
        allowed = self.file.options.get("allow_same", False)
        if not allowed or not refuses_same(model, seed, self.name):
            return self
        options = {**self.file.options, "allow_same": False}
        return replace(self, file=self.file.model_copy(update={"options": options}))

    def prompt(self, judge: SpaceJudge) -> Mapping[str, object]:
        file = self.file
        example = file.example or brief(judge.instances[0].searches[0].start)
        return {
            "rules": file.rules.strip(),
            "state": file.state.strip(),
            "example": example,
            "successors": file.successors,
            "goal": file.goal,
        }

    @contextmanager
    def judge(self, sandbox: Sandbox, seed: int) -> Iterator[SpaceJudge]:
        with sandbox.session(SandboxLimits(seconds=60.0)) as session:
            yield FileJudge(self, session)


def _text_of(place: str) -> str:
    """The text of a file in `domains/` or, if there is no such file, of a path. Raises `SettingError`."""
    plain = not Path(place).is_absolute() and ".." not in Path(place).parts
    if plain and resources.has("domains", place):
        return resources.read("domains", place)
    try:
        return Path(place).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingError(f"{place} cannot be read", f"{reason}.", "Name a file in domains/, or a path.") from error


def items_of(place: str, text: str) -> tuple[dict[str, object], ...]:
    """The items of a list. A bare state becomes `{"state": …}`, a pair of a state and a list `{"state", "successors"}`.

    Raises `SettingError`.
    """
    if place.endswith(".csv"):
        return tuple(dict(row) for row in csv.DictReader(io.StringIO(text)))
    try:
        return tuple(_item(value) for value in _values(text))
    except (ValueError, RecursionError) as error:
        raise SettingError(f"{place} holds no JSON lines", f"{error}.", "Give one JSON value a line.") from error


def _values(text: str) -> list[object]:
    """The values of a file: one object, one list of objects, or one value in each line."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, list) and content and all(isinstance(entry, dict) for entry in content):
        return content
    if isinstance(content, dict):
        return [content]
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _item(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, list) for part in value):
        return {"state": value[0], "successors": value[1]}
    return {"state": value}


_MODULE = "checks"

_MALFORMED = "it is not a valid state"

_MISTAKES = frozenset(("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "PermissionError"))
"""Exceptions that are mistakes in the file of checks, whatever state they are raised on."""

_LOOP = first_bad_loop("check(state, successor, item)", f"f'{_MALFORMED}: {{type(error).__name__}}: {{error}}'")


class FileJudge:
    """The judge of a search problem from files: calls the functions of its file of checks, which runs in a session.

    The file belongs to the user, so it is trusted to be right about every state of the form that the listed states
    have: an exception on such a state raises `SettingError`. An exception on a state of another form means that the
    model's function made a malformed state.
    """

    def __init__(self, space: FileSpace, session: SandboxSession) -> None:
        self._session, self._place, self._optimal = session, space.places[_MODULE], space.file.optimal
        self._load(space.texts[_MODULE], {"paper": space.paper, **space.file.options})
        examples = {kind: self._instances(space, kind) for kind in _LISTS}
        self.goal_tests: Sequence[GoalTest] = [
            GoalTest(example.searches[0], kind == "goals")
            for kind in ("goals", "non_goals")
            for example in examples[kind]
        ]
        self.successor_tests: Sequence[SuccessorTest] = [
            SuccessorTest(example.searches[0], tuple(self._read(example.item)[0].get("successors", ())))
            for example in examples["successors"]
        ]
        self.soundness: Sequence[Instance] = examples["soundness"]
        self.instances: Sequence[Instance] = examples["instances"]
        if space.paper and space.file.files.tested_apart:
            tested = [instance.searches for instance in self.soundness]
            self.instances = [instance for instance in self.instances if instance.searches not in tested]
        starts = [search.start for example in chain(*examples.values()) for search in example.searches]
        self._states = [*starts, *(state for test in self.successor_tests for state in test.known)]
        self._check_instances(space)
        self._try_out()
        self._check_examples(space, examples)

    def first_bad(
        self, instance: Instance, transitions: Sequence[tuple[object, Sequence[object]]]
    ) -> BadTransition | None:
        """The first wrong successor. A successor that is too large to be checked is wrong."""
        for part in _parts(transitions):
            try:
                result = self._session.call("_first_bad", part, instance.item, module=_MODULE)
            except TooLargeError as error:
                return BadTransition(part[0][0], part[0][1][0], f"{_MALFORMED}: {error}")
            if not result.returned:
                raise self._failed(result)
            if result.value is not None:
                place, number, reason = result.value
                state, successor = part[place][0], part[place][1][number]
                result = self._session.call("check", state, successor, instance.item, module=_MODULE)
                self._refuse_mistake(result, state, successor)
                return BadTransition(state, successor, reason)
        return None

    def is_goal(self, instance: Instance, state: object) -> bool:
        if not self._knows_goals:
            return True
        result = self._session.call("is_goal", state, instance.item, module=_MODULE, result="truth")
        self._refuse_mistake(result, state)
        return result.value is True  # a malformed state is not a goal

    def validate(self, instance: Instance, search: int, path: Sequence[object] | None) -> str:
        reason = self._reason(instance, search, path)
        if reason or path is None or not self._optimal:
            return reason
        cost = int(instance.item["cost"])
        return "" if len(path) - 1 == cost else f"{len(path) - 1} steps, and {cost} are enough"

    def _reason(self, instance: Instance, search: int, path: Sequence[object] | None) -> str:
        states = None if path is None else list(path)
        try:
            result = self._session.call("validate", states, search, instance.item, module=_MODULE)
        except TooLargeError as error:
            return f"{_MALFORMED}: {error}"
        self._refuse_mistake(result, *(states or ()))
        if not result.returned:
            return f"{_MALFORMED}: {result.message}"
        return self._text("validate", result.value, "solution")

    def _load(self, text: str, options: Mapping[str, object]) -> None:
        """Load the file of checks. Raises `SettingError` if a function is missing."""
        result = self._session.load(text.removeprefix("\ufeff") + _LOOP, _MODULE, {"OPTIONS": dict(options)})
        if not result.returned:
            raise self._failed(result)
        for function in ("read", "check", "validate"):
            if not self._session.defines(function, _MODULE):
                raise self._wrong(f"It has no function {function}.", "Add it (docs/adding-a-search-problem.md).")
        self._knows_goals = self._session.defines("is_goal", _MODULE)

    def _instances(self, space: FileSpace, kind: str) -> list[Instance]:
        """The used items of a list as instances, with their searches."""
        files = space.file.files
        used = {"soundness": slice(files.soundness_instances), "instances": slice(files.instances_from, None)}
        numbered = list(enumerate(items_of(space.places[kind], space.texts[kind]), start=1))
        kept = [(number, item) for number, item in numbered if not (space.paper and item.get("extra"))]
        return [
            Instance(str(item.get("id", number)), tuple(map(_search, self._read(item))), item)
            for number, item in kept[used.get(kind, slice(None))]
        ]

    def _read(self, item: object) -> list[dict[str, Any]]:
        """What `read` returns for an item: the arguments of the functions, for each search."""
        value = self._call("read", item)
        entries = value if isinstance(value, list) else [value]
        if not entries or not all(isinstance(entry, dict) and "state" in entry for entry in entries):
            raise self._wrong_type("read", value, "a dictionary with 'state', or a list of these")
        for name in ("successor_arguments", "goal_arguments", "successors"):
            for entry in entries:
                if not isinstance(entry.get(name, ()), (list, tuple)):
                    raise self._wrong_type("read", entry[name], f"a list as '{name}'")
        return entries

    def _check_instances(self, space: FileSpace) -> None:
        """Raise `SettingError` if there are no instances, if one lacks its cost, or for wrong numbers of arguments."""
        place, first = space.places["instances"], space.file.files.instances_from
        lacking = [
            instance.name
            for instance in self.instances
            if not (str(instance.item.get("cost", "")).isdecimal() or instance.item.get("solvable") is False)
        ]
        if self._optimal and lacking:
            what = f"{place} says no cost of instance {lacking[0]}"
            raise SettingError(what, "The setting is optimal.", 'Add "cost": the least number of steps.')
        if not self.instances:
            reason = f"None is left from {first} on, apart from those of the tests." if first else "It is empty."
            raise SettingError(f"{place} holds no instance", reason, "Add one.")
        for instance in (*self.instances[:1], *self.soundness[:1]):
            for search, (which, names) in product(instance.searches, space.arguments.items()):
                number = 1 + len(search.arguments(which))
                if number != len(names):
                    reason = f"[{which}] names {', '.join(names)}, and read gives {number} of instance {instance.name}."
                    raise self._wrong(reason, "Fix one of them.")

    def _try_out(self) -> None:
        """Call each function on the first item of its lists. Raises `SettingError` for exceptions and wrong types."""
        for instance in self.soundness[:1]:
            start = instance.searches[0].start
            self._text("check", self._call("check", start, start, instance.item), "transition")
            if self._knows_goals and not isinstance(value := self._call("is_goal", start, instance.item), bool):
                raise self._wrong_type("is_goal", value, "True or False")
        start = self.instances[0].searches[0].start
        for path in (None, [start], [start, start]):
            self._reason(self.instances[0], 0, path)

    def _check_examples(self, space: FileSpace, examples: Mapping[str, Sequence[Instance]]) -> None:
        """Raise `SettingError` if the checks contradict the lists of goals, of other states, or of successors."""
        for kind, answer in (("goals", "no"), ("non_goals", "yes")) if self._knows_goals else ():
            for number, example in enumerate(examples[kind], start=1):
                if self.is_goal(example, example.searches[0].start) != (kind == "goals"):
                    raise self._disagrees(space.places[kind], f"is_goal says {answer} of number {number}.")
        for number, (example, test) in enumerate(
            zip(examples["successors"], self.successor_tests, strict=True), start=1
        ):
            if (bad := self.first_bad(example, [(test.search.start, test.known)])) is not None:
                wrong = test.known.index(bad.successor) + 1
                reason = f"check says of successor {wrong} of number {number}: {bad.reason}."
                raise self._disagrees(space.places["successors"], reason)

    def _call(self, function: str, *arguments: Any) -> Any:
        """Call a function on an item or a listed state. Raises `SettingError` if it does not return."""
        try:
            result = self._session.call(function, *arguments, module=_MODULE)
        except TooLargeError as error:
            raise SettingError(f"An item of {self._place} cannot be read", f"{error}.", "Make it smaller.") from error
        if not result.returned:
            raise self._failed(result)
        return result.value

    def _text(self, function: str, value: object, right: str) -> str:
        """The reason that a function returned. Raises `SettingError` for another type."""
        if not isinstance(value, (str, type(None))):
            raise self._wrong_type(function, value, f"a text, which is empty for a {right}")
        return value or ""

    def _refuse_mistake(self, result: CallResult, *states: object) -> None:
        """Raise `SettingError` for a call that failed, unless it raised an exception on a malformed state."""
        if result.returned:
            return
        if result.status is not Status.RAISED or result.error in _MISTAKES or have_form(states, self._states):
            raise self._failed(result)

    def _disagrees(self, place: str, reason: str) -> SettingError:
        return SettingError(f"{self._place} and {place} disagree", reason, "Fix one of them.")

    def _wrong_type(self, function: str, value: object, wanted: str) -> SettingError:
        reason = f"{function} returned {brief(value)[:80]}, and it must return {wanted}."
        return self._wrong(reason, f"Fix {function} (docs/adding-a-search-problem.md).")

    def _failed(self, result: CallResult) -> SettingError:
        trace = [line.strip() for line in result.traceback.splitlines() if line.strip().startswith("File ")]
        where = f" ({trace[-1]})" if trace else ""
        return self._wrong(f"{result.message}{where}.", "Fix the file.")

    def _wrong(self, reason: str, advice: str) -> SettingError:
        return SettingError(f"{self._place} is wrong", reason, advice)


def _search(entry: Mapping[str, Any]) -> SearchTask:
    """The search that one result of `read` describes."""
    return SearchTask(
        entry["state"], tuple(entry.get("successor_arguments", ())), tuple(entry.get("goal_arguments", ()))
    )


_MOST_SENT = 2_000
"""Successors that are sent in one message, so that no message is too large or takes too long."""


def _parts(transitions: Sequence[tuple[object, Sequence[object]]]) -> Iterator[list[tuple[object, list[object]]]]:
    """The states that have successors, with these, in pieces with about `_MOST_SENT` successors each."""
    expanded = [transition for transition in transitions if transition[1]]
    sums = accumulate(len(successors) for _, successors in expanded)
    for _, piece in groupby(zip(expanded, sums, strict=True), lambda pair: pair[1] // _MOST_SENT):
        yield [(state, list(successors)) for (state, successors), _ in piece]
