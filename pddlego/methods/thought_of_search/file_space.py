"""Search problems that files describe: a setting of the kind `search`, lists of states, and a Python file of checks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pddlego.errors import SettingError
from pddlego.methods.setting_files import SettingHead
from pddlego.methods.thought_of_search.space import (
    BadTransition,
    GoalTest,
    Instance,
    Judge,
    SearchOrder,
    SearchTask,
    Space,
    SuccessorTest,
    brief,
    have_form,
)
from pddlego.sandbox import CallResult, Sandbox, SandboxLimits, Session, Status, TooLargeError
from pddlego.util import resources

SECONDS = 60.0
"""Of CPU time for one question."""

MOST = 2_000
"""Successors that are looked at with one message."""

MALFORMED = "it is not a valid state"

MODULE = "checks"

NEEDED = ("read", "check", "validate")

_LISTS = ("successor_arguments", "goal_arguments", "successors")
"""Entries of what `read` returns that are lists."""

_MISTAKES = frozenset(("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "PermissionError"))
"""Exceptions that are the file's own fault, whatever it is given."""

_LOOP = """

def _first_bad(transitions, item):
    for place, (state, successors) in enumerate(transitions):
        for number, successor in enumerate(successors):
            try:
                why = check(state, successor, item)
                if why:
                    return [place, number, str(why), False]
            except Exception as error:
                return [place, number, f"{MALFORMED}: {type(error).__name__}: {error}", True]
    return None
"""


class Checks:
    """The functions of one file, in a session of their own. `place` is where the file is. They raise `SettingError` for
    a file that is wrong. A function that raises is wrong too, unless a model's function made a value that has not the
    form of a state: the form of the states in the setting's files.
    """

    def __init__(self, sandbox: Sandbox, place: str, text: str, options: Mapping[str, object]) -> None:
        self.place = place
        self._states: list[object] = []
        self._session: Session = sandbox.session(SandboxLimits(seconds=SECONDS))
        try:
            names = {"OPTIONS": dict(options), "MALFORMED": MALFORMED}
            self._loaded(text.removeprefix("\ufeff") + _LOOP, names)
            for function in NEEDED:
                if not self._session.defines(function, MODULE):
                    raise SettingError(
                        f"{place} is wrong", f"It has no function {function}.", "Add it (docs/search.md)."
                    )
            self.knows_goals = self._session.defines("is_goal", MODULE)
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        self._session.close()

    def _loaded(self, source: str, names: Mapping[str, object]) -> None:
        result = self._session.load(source, module=MODULE, names=names)
        if not result.returned:
            raise self._wrong(result)

    def read(self, item: Any) -> list[dict[str, Any]]:
        """What the functions are given, for each search."""
        value = self._call("read", item)
        entries = value if isinstance(value, list) else [value]
        if not entries or not all(isinstance(entry, dict) and "state" in entry for entry in entries):
            raise self._wrong_type("read", value, "a dictionary with 'state', or a list of these")
        for name in _LISTS:
            for entry in entries:
                if not isinstance(entry.get(name, ()), (list, tuple)):
                    raise self._wrong_type("read", entry[name], f"a list as '{name}'")
        return entries

    def goal_test(self, item: object, is_goal: bool) -> GoalTest:
        return GoalTest(self._searches(item)[0], is_goal)

    def successor_test(self, item: object) -> SuccessorTest:
        known = tuple(self.read(item)[0].get("successors", ()))
        self._states += known
        return SuccessorTest(self._searches(item)[0], known)

    def instance(self, name: str, item: object) -> Instance:
        return Instance(name, self._searches(item), item)

    def first_bad(self, transitions: Sequence[tuple[object, Sequence[object]]], item: object) -> BadTransition | None:
        """The first wrong successor. One that is too large to be checked counts as wrong."""
        first = 0
        for part in _parts(transitions):
            try:
                result = self._session.call("_first_bad", list(part), item, module=MODULE)
            except TooLargeError as error:
                return BadTransition(first, 0, f"{MALFORMED}: {error}")
            if not result.returned:
                raise self._wrong(result)
            if result.value is not None:
                place, number, reason, raised = result.value
                state, successors = part[place]
                if raised:
                    result = self._session.call("check", state, successors[number], item, module=MODULE)
                    self._refuse_fault(result, state, successors[number])
                return BadTransition(first + place, number, reason)
            first += len(part)
        return None

    def is_goal(self, state: object, item: object) -> bool:
        if not self.knows_goals:
            return True
        result = self._session.call("is_goal", state, item, module=MODULE, result="truth")
        self._refuse_fault(result, state)
        return result.value is True  # where it raised, the state has not the form of one

    def validate(self, path: Sequence[object] | None, search: int, item: object) -> str:
        states = None if path is None else list(path)
        try:
            result = self._session.call("validate", states, search, item, module=MODULE)
        except TooLargeError as error:
            return f"{MALFORMED}: {error}"
        self._refuse_fault(result, *(states or ()))
        if not result.returned:
            return f"{MALFORMED}: {result.message}"
        if not isinstance(result.value, (str, type(None))):
            raise self._wrong_type("validate", result.value, "a text, which is empty for a solution")
        return result.value or ""

    def try_out(self, soundness: Sequence[Instance], instances: Sequence[Instance]) -> None:
        """Call each function on the first instance of both lists.

        Raises `SettingError` if one of them raises, or returns a value of another type.
        """
        for instance in soundness[:1]:
            start = instance.searches[0].start
            reason = self._call("check", start, start, instance.item)
            if not isinstance(reason, (str, type(None))):
                raise self._wrong_type("check", reason, "a text, which is empty for a transition")
            if self.knows_goals:
                is_goal = self._call("is_goal", start, instance.item)
                if not isinstance(is_goal, bool):
                    raise self._wrong_type("is_goal", is_goal, "True or False")
        for instance in instances[:1]:
            start = instance.searches[0].start
            for path in (None, [start], [start, start]):
                self.validate(path, 0, instance.item)

    def _refuse_fault(self, result: CallResult, *states: object) -> None:
        """Raises `SettingError` for a call that did not return, unless it raised on a state without the known form."""
        if result.returned:
            return
        own = result.status is not Status.RAISED or result.error in _MISTAKES
        if own or have_form(states, self._states):
            raise self._wrong(result)

    def _searches(self, item: object) -> tuple[SearchTask, ...]:
        entries = self.read(item)
        self._states += [entry["state"] for entry in entries]
        return tuple(
            SearchTask(
                entry["state"], tuple(entry.get("successor_arguments", ())), tuple(entry.get("goal_arguments", ()))
            )
            for entry in entries
        )

    def _call(self, function: str, *arguments: Any) -> Any:
        try:
            result = self._session.call(function, *arguments, module=MODULE)
        except TooLargeError as error:
            raise SettingError(f"An item of {self.place} cannot be read", f"{error}.", "Make it smaller.") from error
        if not result.returned:
            raise self._wrong(result)
        return result.value

    def _wrong_type(self, function: str, value: object, wanted: str) -> SettingError:
        reason = f"{function} returned {brief(value)[:80]}, and it must return {wanted}."
        return SettingError(f"{self.place} is wrong", reason, f"Fix {function} (docs/search.md).")

    def _wrong(self, result: CallResult) -> SettingError:
        trace = [line.strip() for line in result.traceback.splitlines() if line.strip().startswith("File ")]
        where = f" ({trace[-1]})" if trace else ""
        return SettingError(f"{self.place} is wrong", f"{result.message}{where}.", "Fix the file.")


def _parts(transitions: Sequence[tuple[object, Sequence[object]]]) -> Iterator[list[tuple[object, list[object]]]]:
    """Transitions in pieces that are not too large; a state with many successors is a piece of its own."""
    part: list[tuple[object, list[object]]] = []
    size = 0
    for state, successors in transitions:
        if part and size + len(successors) > MOST:
            yield part
            part, size = [], 0
        part.append((state, list(successors)))
        size += len(successors)
    if part:
        yield part


FOLDER = "domains"


def _text_of(place: str) -> str:
    """The text of a file: of `domains/` if there is one of that name, else of the path. Raises `SettingError`."""
    plain = not Path(place).is_absolute() and ".." not in Path(place).parts
    if plain and resources.has(FOLDER, place):
        return resources.read(FOLDER, place)
    try:
        return Path(place).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingError(f"{place} cannot be read", f"{reason}.", "Name a file in domains/, or a path.") from error


def items_of(place: str, text: str) -> tuple[dict[str, object], ...]:
    """What a file holds, each as an object: `{"state": …}` for a bare state, and `{"state", "successors"}` for a pair
    of a state with a list of them. Raises `SettingError`.
    """
    if place.endswith(".csv"):
        return tuple(dict(row) for row in csv.DictReader(io.StringIO(text)))
    try:
        return tuple(_item(value) for value in _values(text))
    except (ValueError, RecursionError) as error:
        raise SettingError(f"{place} holds no JSON lines", f"{error}.", "Give one JSON value a line.") from error


def _values(text: str) -> list[object]:
    """A file that is one list of objects holds these, every other file a value a line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, list) and whole and all(isinstance(entry, dict) for entry in whole):
        return whole
    if isinstance(whole, dict):
        return [whole]
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _item(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, list) for part in value):
        return {"state": value[0], "successors": value[1]}
    return {"state": value}


def _identifier(name: str) -> str:
    if not name.isidentifier() or iskeyword(name):
        raise ValueError(f"'{name}' is not a name of an argument")
    return name


Identifier = Annotated[str, AfterValidator(_identifier)]


class FunctionTable(BaseModel):
    """What a prompt asks of one function: what it takes, the state first, and what is to be said of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arguments: tuple[Identifier, ...] = Field(default=("state",), min_length=1)
    about: str = ""
    example: str = ""


class FilesTable(BaseModel):
    """Names of files: in `domains/`, or paths."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    checks: str | None = None
    goals: str | None = None
    non_goals: str | None = None
    successors: str | None = None
    soundness: str | None = None
    instances: str | None = None
    soundness_instances: int = Field(default=10, ge=0, le=10_000)
    instances_from: int = Field(default=0, ge=0)


class SearchFile(SettingHead):
    """What `envs/NAME.toml` may say of a search problem. `space` is its folder in `domains/`.

    `unordered` are the keys of a state under which the order of a list says nothing; `.` is the state itself.
    `verifies_goals` says whether the paper's code looks at the goals that a search finds. `paper` holds mean numbers of
    answers of the paper, by model and mode.
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
    paper: dict[str, dict[str, float]] = Field(default_factory=dict)

    def places(self, name: str) -> dict[str, str]:
        """The files, by what they are for."""
        folder = self.space or name
        lists = ("goals", "non_goals", "successors", "soundness", "instances")
        usual = {"checks": f"{folder}/checks.py", **{name: f"{folder}/{name}.jsonl" for name in lists}}
        return {name: getattr(self.files, name) or usual[name] for name in usual}


@dataclass(frozen=True)
class FileSpace(Space):
    """A search problem out of files: `name` is its folder, `places` are their names, `texts` what they hold."""

    name: str
    file: SearchFile
    places: Mapping[str, str]
    texts: Mapping[str, str] = field(repr=False)

    @classmethod
    def read(cls, name: str, file: SearchFile) -> FileSpace:
        """Read all files. Raises `SettingError`."""
        places = file.places(name)
        return cls(
            file.space or name,
            file,
            places,
            {name: _text_of(place) for name, place in places.items()},
            arguments={"successors": file.successors.arguments, "goal": file.goal.arguments},
            order=file.search,
            unordered=file.unordered,
            verifies_goals=file.verifies_goals,
        )

    def prompt(self, judge: Judge) -> Mapping[str, object]:
        file = self.file
        example = file.example or brief(judge.instances[0].searches[0].start)
        return {
            "rules": file.rules.strip(),
            "state": file.state.strip(),
            "example": example,
            "successors": file.successors,
            "goal": file.goal,
        }

    def items(self, which: str) -> tuple[dict[str, object], ...]:
        """What one of the files holds."""
        return items_of(self.places[which], self.texts[which])

    @contextmanager
    def judge(self, sandbox: Sandbox, seed: int) -> Iterator[Judge]:
        checks = Checks(sandbox, self.places["checks"], self.texts["checks"], self.file.options)
        try:
            yield FileJudge(self, checks)
        finally:
            checks.close()


class FileJudge:
    """Says what is right as the files do."""

    def __init__(self, space: FileSpace, checks: Checks) -> None:
        self.checks, self.optimal = checks, space.file.optimal
        files = space.file.files
        self.goal_tests: Sequence[GoalTest] = [
            checks.goal_test(item, which == "goals") for which in ("goals", "non_goals") for item in space.items(which)
        ]
        self.successor_tests: Sequence[SuccessorTest] = [
            checks.successor_test(item) for item in space.items("successors")
        ]
        self.soundness: Sequence[Instance] = [
            self._instance(item, number)
            for number, item in enumerate(space.items("soundness")[: files.soundness_instances])
        ]
        self.instances: Sequence[Instance] = [
            self._instance(item, number) for number, item in enumerate(space.items("instances")[files.instances_from :])
        ]
        costless = [instance.name for instance in self.instances if self.optimal and not _has_cost(instance.item)]
        if costless:
            what = f"{space.places['instances']} says no cost of instance {costless[0]}"
            raise SettingError(what, "The setting is optimal.", 'Add "cost": the least number of steps.')
        if not self.instances:
            reason = "It is empty." if not files.instances_from else f"None is left from {files.instances_from} on."
            raise SettingError(f"{space.places['instances']} holds no instance", reason, "Add one.")
        self._check_arguments(space)
        checks.try_out(self.soundness, self.instances)
        self._check_examples(space)

    def _check_arguments(self, space: FileSpace) -> None:
        """Raises `SettingError` if the functions get more or less than the setting says that they take."""
        searches = [(search, instance) for instance in self.instances[:1] for search in instance.searches]
        for search, instance in [*searches, *((instance.searches[0], instance) for instance in self.soundness[:1])]:
            for which, names in space.arguments.items():
                number = 1 + len(search.arguments(which))
                if number != len(names):
                    reason = f"[{which}] names {', '.join(names)}, and read gives {number} of instance {instance.name}."
                    raise SettingError(f"{space.places['checks']} is wrong", reason, "Fix one of them.")

    def _check_examples(self, space: FileSpace) -> None:
        """Raises `SettingError` if the checks reject a known goal or a known successor."""
        for which, wanted in (("goals", True), ("non_goals", False)):
            for number, item in enumerate(space.items(which), start=1):
                if self.checks.knows_goals and self.checks.is_goal(self.checks.read(item)[0]["state"], item) != wanted:
                    what = f"{space.places['checks']} and {space.places[which]} disagree"
                    reason = f"is_goal says {'no' if wanted else 'yes'} of number {number}."
                    raise SettingError(what, reason, "Fix one of them.")
        for number, item in enumerate(space.items("successors"), start=1):
            entry = self.checks.read(item)[0]
            bad = self.checks.first_bad([(entry["state"], entry.get("successors", ()))], item)
            if bad is not None:
                what = f"{space.places['checks']} and {space.places['successors']} disagree"
                reason = f"check says of successor {bad.successor + 1} of number {number}: {bad.reason}."
                raise SettingError(what, reason, "Fix one of them.")

    def _instance(self, item: dict[str, object], number: int) -> Instance:
        return self.checks.instance(str(item.get("id", number + 1)), item)

    def first_bad(
        self, instance: Instance, transitions: Sequence[tuple[object, Sequence[object]]]
    ) -> BadTransition | None:
        return self.checks.first_bad(transitions, instance.item)

    def is_goal(self, instance: Instance, search: int, state: object) -> bool:
        return self.checks.is_goal(state, instance.item)

    def fault(self, instance: Instance, search: int, path: Sequence[object] | None) -> str:
        reason = self.checks.validate(path, search, instance.item)
        if reason or path is None or not self.optimal:
            return reason
        cost = int(instance.item["cost"])
        return "" if len(path) - 1 == cost else f"{len(path) - 1} steps, and {cost} are enough"


def _has_cost(item: dict[str, object]) -> bool:
    """Whether it gives the cost of the best solution, or says that no solution exists."""
    return str(item.get("cost", "")).isdecimal() or item.get("solvable") is False
