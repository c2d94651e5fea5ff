"""Search problems that files describe: a setting of the kind `search`, lists of states, and a Python file of checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pddlego.errors import SettingError
from pddlego.methods.thought_of_search.checks import Checks
from pddlego.methods.thought_of_search.examples import items_of, text_of
from pddlego.methods.thought_of_search.faults import brief
from pddlego.methods.thought_of_search.space import (
    BadTransition,
    GoalTest,
    Instance,
    Judge,
    Order,
    Space,
    SuccessorTest,
)
from pddlego.sandbox import Sandbox


def _identifier(name: str) -> str:
    if not name.isidentifier() or iskeyword(name):
        raise ValueError(f"'{name}' is no name of an argument")
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


class SearchFile(BaseModel):
    """What `envs/NAME.toml` may say of a search problem. `space` is its folder in `domains/`.

    `unordered` are the keys of a state under which the order of a list says nothing; `.` is the state itself.
    `verifies_goals` says whether the paper's code looks at the goals that a search finds. `paper` holds mean numbers of
    answers of the paper, by model and mode. Many fields, because it is a file's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    about: str = ""
    space: str | None = None
    rules: str
    state: str = ""
    example: str = ""
    search: Order = "breadth-first"
    optimal: bool = False
    unordered: tuple[str, ...] = ()
    recorded_as: tuple[str, ...] = ()
    verifies_goals: bool = True
    successors: FunctionTable = Field(default_factory=FunctionTable)
    goal: FunctionTable = Field(default_factory=FunctionTable)
    files: FilesTable = Field(default_factory=FilesTable)
    options: dict[str, Any] = Field(default_factory=dict)
    paper: dict[str, dict[str, float]] = Field(default_factory=dict)

    def places(self, name: str) -> dict[str, str]:
        """The files, by what they are for."""
        folder = self.space or name
        lists = ("goals", "non_goals", "successors", "soundness", "instances")
        usual = {"checks": f"{folder}/checks.py", **{each: f"{folder}/{each}.jsonl" for each in lists}}
        return {each: getattr(self.files, each) or usual[each] for each in usual}


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
            {each: text_of(place) for each, place in places.items()},
            arguments={"successors": file.successors.arguments, "goal": file.goal.arguments},
            order=file.search,
            unordered=file.unordered,
            verifies_goals=file.verifies_goals,
        )

    def prompt(self, judge: Judge) -> Mapping[str, Any]:
        file = self.file
        example = file.example or brief(judge.instances[0].searches[0].start)
        return {
            "rules": file.rules.strip(),
            "state": file.state.strip(),
            "example": example,
            "successors": file.successors,
            "goal": file.goal,
        }

    def items(self, which: str) -> tuple[dict[str, Any], ...]:
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
            why = "It is empty." if not files.instances_from else f"None is left from {files.instances_from} on."
            raise SettingError(f"{space.places['instances']} holds no instance", why, "Add one.")
        self._check_arguments(space)
        checks.try_out(self.soundness, self.instances)
        self._check_examples(space)

    def _check_arguments(self, space: FileSpace) -> None:
        """Raises `SettingError` if the functions get more or less than the setting says that they take."""
        searches = [(search, instance) for instance in self.instances[:1] for search in instance.searches]
        for search, instance in [*searches, *((each.searches[0], each) for each in self.soundness[:1])]:
            for which, names in space.arguments.items():
                given = 1 + len(search.arguments(which))
                if given != len(names):
                    why = f"[{which}] names {', '.join(names)}, and read gives {given} of instance {instance.name}."
                    raise SettingError(f"{space.places['checks']} is wrong", why, "Mend one of both.")

    def _check_examples(self, space: FileSpace) -> None:
        """Raises `SettingError` for known goals and known successors of which the checks say that they are none."""
        for which, wanted in (("goals", True), ("non_goals", False)):
            for number, item in enumerate(space.items(which), start=1):
                if self.checks.knows_goals and self.checks.is_goal(self.checks.read(item)[0]["state"], item) != wanted:
                    what = f"{space.places['checks']} and {space.places[which]} disagree"
                    why = f"is_goal says {'no' if wanted else 'yes'} of number {number}."
                    raise SettingError(what, why, "Mend one of both.")
        for number, item in enumerate(space.items("successors"), start=1):
            found = self.checks.read(item)[0]
            bad = self.checks.first_bad([(found["state"], found.get("successors", ()))], item)
            if bad is not None:
                what = f"{space.places['checks']} and {space.places['successors']} disagree"
                why = f"check says of successor {bad.successor + 1} of number {number}: {bad.why}."
                raise SettingError(what, why, "Mend one of both.")

    def _instance(self, item: dict[str, Any], number: int) -> Instance:
        return self.checks.instance(str(item.get("id", number + 1)), item)

    def first_bad(self, instance: Instance, transitions: Sequence[tuple[Any, Sequence[Any]]]) -> BadTransition | None:
        return self.checks.first_bad(transitions, instance.item)

    def is_goal(self, instance: Instance, search: int, state: Any) -> bool:
        return self.checks.is_goal(state, instance.item)

    def fault(self, instance: Instance, search: int, path: Sequence[Any] | None) -> str:
        why = self.checks.validate(path, search, instance.item)
        if why or path is None or not self.optimal:
            return why
        cost = int(instance.item["cost"])
        return "" if len(path) - 1 == cost else f"{len(path) - 1} steps, and {cost} are enough"


def _has_cost(item: dict[str, Any]) -> bool:
    """Whether it says what the best solution costs, or that there is none."""
    return str(item.get("cost", "")).isdecimal() or item.get("solvable") is False
