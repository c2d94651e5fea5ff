"""The base class of methods, and the values that it exchanges with other packages (docs/adding-a-method.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pddlego.errors import ReservedNameError, UsageError
from pddlego.methods.old_modes import current_name
from pddlego.util.text import suggestion

if TYPE_CHECKING:  # the modules of options import this one, and every command needs these
    from pydantic import BaseModel

    from pddlego.display.description import MethodEvent
    from pddlego.display.screens import Screen
    from pddlego.episode.approval import Approver
    from pddlego.episode.budget import Budget
    from pddlego.episode.events import Accepted, Event, Limits, Response
    from pddlego.episode.lifecycle import Body
    from pddlego.episode.trace import Trace
    from pddlego.models import Model, Request
    from pddlego.models.transcript import Conversation
    from pddlego.planning import Planner, Search
    from pddlego.planning.learning.learner import LearnedDomain
    from pddlego.runs.cells import Cell
    from pddlego.runs.summary import Measures, Summary


BUILT_IN_MODEL = "reader"
"""The name of the built-in model that each method has; `reader+noise:P` errs on purpose."""

WITHOUT = "-no-"


@dataclass(frozen=True)
class BuiltIn:
    """A built-in model by its name: `reader`, or `reader+noise:P[,seed=S][,kinds=A+B]`, which errs with probability P.

    Without noise `rate` is None. Without `kinds` it makes all kinds of errors.
    """

    rate: float | None = None
    seed: int = 0
    kinds: tuple[str, ...] = ()

    @classmethod
    def parse(cls, name: str, kinds: Collection[str] = ()) -> BuiltIn | None:
        """Parse the name of a model; None for one that is not built in. `kinds` are the method's kinds of errors.

        Raises `UsageError` for a malformed name of a built-in model.
        """
        if name == BUILT_IN_MODEL:
            return cls()
        if not name.startswith(f"{BUILT_IN_MODEL}+"):
            return None
        pattern = r"noise:(\d*\.?\d+|\d+\.)(?:,seed=(\d{1,9}))?(?:,kinds=([a-z+-]+))?"
        match = re.fullmatch(pattern, name.removeprefix(f"{BUILT_IN_MODEL}+"))
        chosen = tuple(match[3].split("+")) if match and match[3] else ()
        unknown = [kind for kind in chosen if kind not in kinds]
        if match is None or float(match[1]) > 1 or unknown:
            reason = f"{BUILT_IN_MODEL}+noise:P errs with the probability P, from 0 to 1."
            if unknown:
                reason = f"It has no errors of the kind {unknown[0]}; its kinds are: {', '.join(kinds) or '(none)'}."
            raise UsageError(f"Unknown model {name}", reason, f"Example: {BUILT_IN_MODEL}+noise:0.1,seed=3.")
        return cls(float(match[1]), int(match[2] or 0), chosen)


@dataclass(frozen=True)
class Carried:
    """A text that an episode begins from and may change. Its last event `Accepted` of this `kind` has the final text.

    `--carry` passes it from a won episode, or one `of_lost` episodes too, to the next one, as `Tools.first_text`;
    `Started.details` has it by its `kind`. Run folders keep it as a file with this `suffix`. Without a `kind` there is
    no such text.
    """

    kind: str = ""
    suffix: str = ""
    of_lost: bool = False

    @property
    def option(self) -> str:
        """The method's option that names a run or a file with the first text."""
        return f"{self.kind}_from"


@dataclass(frozen=True)
class Mode:
    """A value of `--mode`: `NAME`, or `NAME+PART` for the mode NAME with a part that it usually lacks.

    `plays` is the kind of setting that the mode is for. `parts` maps each part that `-no-PART` may remove to the effect
    of its removal; a variant lacks one of them, or a group of parts that are removed `together`. `confirms` are the
    kinds of things that a person may be asked to approve. A mode without `asks_model` is played once, whatever the
    models; a mode with `needs_person` needs a terminal. In a mode with `advises` the planner waits for answers of the
    model, so each worker needs a planner of its own. Answers in a mode that is `rewarded` are judged by the truth
    (`Method.referee`). `carries` is the text that an episode in this mode begins from.
    """

    name: str
    about: str
    plays: str
    parts: Mapping[str, str] = field(default_factory=dict)
    confirms: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    asks_model: bool = True
    needs_person: bool = False
    advises: bool = False
    rewarded: bool = False
    carries: Carried = Carried()

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the mode and of all its variants."""
        groups = ((), *((part,) for part in self.parts), *self.together)
        return tuple(str(Variant(self, tuple(sorted(group)))) for group in groups)


@dataclass(frozen=True)
class Variant:
    """A mode `without` some of its parts: `edit`, or `edit-no-feedback-no-tolerance`."""

    mode: Mode
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        return WITHOUT.join((self.mode.name, *self.without))


def base_mode(mode: str) -> str:
    """The mode without its removed parts, under its name of today; other names are returned unchanged."""
    return current_name(mode.partition(WITHOUT)[0])


def parse_variant(text: str, modes: Iterable[Mode]) -> Variant:
    """Parse the name of a mode in an episode, such as `edit-no-feedback`. Raises `UsageError` for an unknown one.

    Old names are read, and variants without any of the parts: runs may have been recorded with them.
    """
    base, *without = text.split(WITHOUT)
    known = {mode.name: mode for mode in modes}
    base = base if base in known else current_name(base)
    if base not in known:
        near = suggestion(base, known, f"The modes are: {', '.join(known)}.")
        raise UsageError(f"Unknown mode '{text}'", near, "'pddlego games GAME' lists those of a game.")
    mode = known[base]
    if set(without) - set(mode.parts) or len(set(without)) < len(without):
        parts = ", ".join(mode.parts)
        reason = (
            f"From {base} these can be taken, each once: {parts}." if parts else f"{base} has no parts to take out."
        )
        wrong = next((part for part in without if part not in mode.parts), "")
        raise UsageError(f"Unknown mode '{text}'", reason, suggestion(wrong, mode.parts, "Example: edit-no-feedback."))
    return Variant(mode, tuple(sorted(without)))


@dataclass(frozen=True)
class Setting:
    """A setting: the content of a file in `envs/`. Methods extend this class.

    `max_steps` is the most steps of an episode. `seeds` are splits of `all_seeds` by name (`dev`, `test`). `sources`
    are the texts of all files that the setting was made of (settings, domains, prompts); a run keeps their digests.
    """

    name: str
    title: str
    about: str
    max_steps: int | None
    seeds: Mapping[str, range]
    all_seeds: range
    sources: Mapping[str, str] = field(repr=False)

    @property
    def fold(self) -> str:
        """The fold of the game that is played: `train`, or a held-out one such as `test`."""
        return "train"

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages whose version may change an episode, such as that of a game engine."""
        return ()

    @property
    def missing(self) -> str:
        """The command that installs missing requirements; empty if nothing is missing."""
        return ""

    @property
    def also_called(self) -> tuple[str, ...]:
        """Other names of the setting in recorded conversations."""
        return ()

    def recorded_variants(self, parts: Sequence[str]) -> tuple[str, ...]:
        """Names in recorded conversations of the variant without these parts."""
        return ()

    def recordings(self, place: str) -> Sequence[Conversation] | None:
        """The conversations at a place that only the method can read, such as a repository; None if it is a file.

        Raises `PddlegoError` if they cannot be read.
        """
        return None

    def resolved(self) -> Mapping[str, Any]:
        """The values of options whose default is in the setting's files, as plain JSON values by option.

        A run folder records them, so that an explicit default is the same configuration as an omitted option.
        """
        return {}

    def game_files(self, seeds: Iterable[int]) -> Mapping[str, Mapping[str, str]]:
        """The `path` and `sha256` of each game's file by seed, for the manifest; empty if games are not files.

        Raises `UsageError` if the files are missing, or that of one of the `seeds`.
        """
        return {}

    def check_mode(self, variant: Variant) -> None:
        """Raise `UsageError` if the setting cannot be played in a mode, or not without these parts of it."""

    def check(self, planner: Planner) -> None:
        """Raise `PddlegoError` if the setting cannot be played on this machine or with this planner."""


def check_seed(setting: Setting, seed: int) -> None:
    """Raise `UsageError` if the setting has no such seed."""
    valid = setting.all_seeds
    if seed not in valid:
        splits = ", ".join(f"{name} {split.start}-{split.stop - 1}" for name, split in setting.seeds.items())
        advice = f"Its splits are: {splits}." if splits else "Choose another."
        reason = f"Its seeds are {valid.start}-{valid.stop - 1}."
        raise UsageError(f"{setting.name} has no seed {seed}", reason, advice)


@dataclass(frozen=True)
class Column:
    """A number of each episode, as a column of tables: the measured number of this name, or the result of `value`.

    A table of configurations shows the mean `over` all episodes that have the number, or over those that were won.
    `median` adds a column for the median, and `blank_zero` leaves out a column of zeros. If it is 0 or 1, `counted`
    shows the sum, such as 3/5. Only columns that are `shown` are in the table; a narrow terminal leaves out columns
    with a lower `rank` first. Two methods are `compared` by one column: less is better. The table of episodes has the
    columns that are `listed`; numbers that depend on the machine, such as times, are not.
    """

    name: str
    over: Literal["all", "won"] = "all"
    digits: int = 2
    median: bool = False
    blank_zero: bool = False
    shown: bool = True
    counted: bool = False
    compared: bool = False
    listed: bool = True
    value: Callable[[Summary], float] | None = None
    rank: int = 4

    def of(self, summary: Summary) -> float | None:
        """The number of an episode; None if it was not measured."""
        return self.value(summary) if self.value is not None else summary.measures.numbers.get(self.name)


COMMON_COLUMNS = (
    Column("score", value=lambda summary: summary.score, rank=10),
    Column("calls", value=lambda summary: summary.usage.calls, rank=5),
    Column("characters", shown=False, value=lambda summary: summary.usage.characters),
    Column("tokens_in", shown=False, value=lambda summary: summary.usage.tokens_in),
    Column("tokens_out", shown=False, value=lambda summary: summary.usage.tokens_out),
    Column("tokens_cached", shown=False, value=lambda summary: summary.usage.tokens_cached),
    Column("from_cache", blank_zero=True, value=lambda summary: summary.usage.from_cache, rank=6),
    Column("tokens", digits=0, blank_zero=True, listed=False, value=lambda summary: summary.usage.tokens, rank=3),
    Column("seconds", digits=1, listed=False, value=lambda summary: summary.usage.seconds, rank=1),
)
"""The columns of every method. In tables the first one precedes the columns of the method, and the others follow."""

CELL_COLUMNS = ("game", "mode", "model", "seed", "repeat", "outcome")
FILE_COLUMNS = ("game_file", "game_sha256")
ENGINE_COLUMN = "engine"
ROW_COLUMNS = ("setting", "episodes", "seeds", "won", "success", "counted", "interval", "cost", "paid", "unanswered")
RESERVED = frozenset(
    (*CELL_COLUMNS, *FILE_COLUMNS, ENGINE_COLUMN, *ROW_COLUMNS, *(column.name for column in COMMON_COLUMNS))
)
"""The columns of every method, also in JSON. The numbers that a method measures must have other names."""


Published = Mapping[str, Mapping[str, float]]
"""A paper's means for one setting: by model, then by mode. Modes without a model have the model `none`."""


@dataclass(frozen=True)
class PublishedShares:
    """A paper's shares, in per cent, for one model and mode, over all of the `settings` together."""

    model: str
    mode: str
    settings: tuple[str, ...]
    shares: Mapping[str, float] = field(hash=False)


@dataclass(frozen=True)
class CountTable:
    """A table of the counts of a `group`, with a row for each kind. `what` is the heading of the kinds."""

    group: str
    title: str
    what: str
    published: PublishedShares | None = None


@dataclass(frozen=True)
class ShareTable:
    """A table of shares of counts, with a row for each kind of the group `part`, and a total. `what` heads the kinds.

    Each of the `columns` has a name, and the other groups that are part of the whole.
    """

    title: str
    what: str
    part: str
    columns: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Figure:
    """A plot of a series of points that a method measures, with one line for each mode and model.

    Points with the same x are `combined`, and neighbours if a line has more than `most_points`. Axes that are
    `logarithmic` have no zero.
    """

    series: str
    title: str
    x: str
    y: str
    combined: Literal["mean", "median"] = "mean"
    logarithmic: bool = False
    most_points: int = 12


@dataclass(frozen=True)
class Measuring:
    """What a method measures, and the columns, tables and figures that show it.

    `checked` returns a recorded episode, in a
    setting with options, with additional events that check the model's claims; it may compare them with the answers of
    another model. `checker` returns the same events of a running episode one by one, if that takes no time and no
    second game; else it raises `UsageError`. `published` returns a paper's means of the number `printed` (or of the
    `success`) for a setting with options, and the seeds that were played; `more_published` those of other numbers, by
    number. Each table of `bars` is drawn: a bar for each configuration, divided into kinds. With `restarts`, reports
    show the score of the best of several seeds. The compared number is shown relative to that of the mode `baseline`.
    """

    of: Callable[[Trace], Measures]
    columns: tuple[Column, ...] = ()
    counts: tuple[CountTable, ...] = ()
    shares: tuple[ShareTable, ...] = ()
    figures: tuple[Figure, ...] = ()
    bars: tuple[CountTable, ...] = ()
    published: Callable[[str, Mapping[str, Any], Collection[int]], Published] | None = None
    printed: str = "score"
    more_published: Callable[[str, Mapping[str, Any]], Mapping[str, Published]] | None = None
    restarts: bool = False
    baseline: str = ""
    checked: Callable[[Trace, Any, Any, Model | None], Trace] | None = None
    checker: Callable[[Trace, Any, Any], Callable[[Event], Iterable[Event]]] | None = None

    def measured(self, trace: Trace) -> Measures:
        """The values of an episode. Raises `ReservedNameError`, and `TypeError` for another value."""
        measures = self.of(trace)
        for name, number in measures.numbers.items():
            if name in RESERVED:
                reason = "The tables, or rows in JSON, of every method have a value of that name."
                advice = "Rename the number in the method, and run the same command again."
                raise ReservedNameError(f"The method measures '{name}', which is a reserved name", reason, advice)
            if not isinstance(number, (int, float)):
                raise TypeError(f"measured {name} = {number!r:.60}")
        return measures

    def published_for(
        self, setting: str, options: Mapping[str, Any], seeds: Collection[int]
    ) -> Mapping[str, Published]:
        """A paper's means for a setting with options and the played seeds, by number."""
        printed = {self.printed: self.published(setting, options, seeds)} if self.published is not None else {}
        return {**printed, **(self.more_published(setting, options) if self.more_published is not None else {})}

    @property
    def compared(self) -> str:
        """The name of the column by which methods are compared; empty without one."""
        return next((column.name for column in self.columns if column.compared), "")


@dataclass(frozen=True)
class Tools:
    """The tools of a method to play one cell.

    `limits` are the user's limits of the episode. `person` asks a person for one of the possible commands, in modes
    that need a person. `first_text` is the text that the episode begins from (`Carried`), and `hands_on` whether the
    text that it ends with is for a later one. In a replay, `recorded` is the recorded episode: `model` and `approver`
    repeat their answers, and the method makes a `person` from it.
    `restart` is a value of the method that describes the point at which this episode continues a recorded one.
    """

    model: Model
    planner: Planner
    limits: Limits
    retries: int = 5
    approver: Approver | None = None
    person: Callable[[tuple[str, ...]], str] | None = None
    first_text: str = ""
    hands_on: bool = False
    recorded: Trace | None = None
    restart: Any = None


@dataclass(frozen=True)
class UpperBound:
    """Upper bound of the model calls of an episode, and an estimate of the characters of each request."""

    calls: int
    characters: int


@dataclass(frozen=True)
class Reward:
    """The reward of an answer. Each part is from 0 to 1. `reasons` say what lowered it.

    `parsed`: the answer has the form that was asked for and nothing else, and can be planned with. `consistent`: its
    problem does not contradict itself. `right`: the improvement over the previous problem in the harmonic mean of
    precision and recall of facts, as a share of the possible improvement. `planned`: a goal has a plan.
    """

    parsed: float = 0.0
    consistent: float = 0.0
    right: float = 0.0
    planned: float = 0.0
    reasons: tuple[str, ...] = field(default=(), compare=False)

    @property
    def value(self) -> float:
        """`right`, halved if the problem contradicts itself, and again if no goal has a plan."""
        return self.parsed * self.right * (0.5 + self.consistent / 2) * (0.5 + self.planned / 2)


RewardOf = Callable[[str, "Planner"], Reward]
"""A function that computes the rewards of answers to one request."""


class Referee(Protocol):
    """Judges the answers of an episode by the truth, as far as a player can know it.

    `read` updates the truth with a response of the game, or raises `PddlegoError` if it cannot be found out. `fault_of`
    returns why the form of an answer rules out a reward, or empty. `judge` returns the honesty of an accepted answer,
    from 0 to 1, and its faults.
    """

    def read(self, response: Response) -> None: ...

    def fault_of(self, answer: str, request: Request) -> str: ...

    def judge(self, accepted: Accepted) -> tuple[float, tuple[str, ...]]: ...

    def close(self) -> None: ...


class Method:
    """A method: a way in which a model and a planner work together. `load` and `play` have no default."""

    name: str
    """The name of the method's package and of its configuration table."""
    modes: tuple[Mode, ...]
    """The values of `--mode`, the most important first."""
    paper: str = ""
    """The paper that the method is from."""
    read_by: Mapping[str, Collection[str]] = {}
    """What reads an option (by its field), prompts whose names begin with a word (`prompts/WORD`), or the `planner`:
    modes, and kinds of settings.

    What is not named is read by every mode. The prompts are read by modes that ask a model. An option that is chosen
    for an evaluation, and that nothing in it reads, is refused.
    """
    options: type[BaseModel]
    """The options of the method, which users set by `--set`, in its configuration table, or by a flag of the same name.

    If the options have a field `parameters`, it gets the unknown names of `--set`.
    """
    measuring: Measuring
    """The columns, counts and figures of the method's episodes."""
    events: Sequence[type[MethodEvent]] = ()
    """The classes of the method's own events."""
    screen: Screen | None = None
    """The panes and tabs of the method's episodes; None shows a line for each event."""
    judges_each_answer: bool = False
    """Whether the event that follows an answer accepts or rejects it, so that training data have verdicts."""
    temperature: float | None = None
    """The sampling temperature of requests unless the user sets another; None for the usual one."""

    def load(self, name: str, options: Any) -> Setting:
        """The setting of that name. Raises `UsageError`, and `SettingError` if a file is wrong."""
        raise NotImplementedError

    def missing(self, tables: Mapping[str, Any]) -> str:
        """`Setting.missing` of a setting that pddlego ships, from the tables of its file."""
        return ""

    def searches(self, setting: Any, mode: str) -> Iterable[Search]:
        """The searches of the planner that a mode needs: an engine without one of them is refused before the first
        task."""
        return ()

    def builtin_model(self, name: str, cell: Cell, setting: Any) -> Model | None:
        """The built-in model of that name, which needs no endpoint; None for the name of a language model.

        Raises `UsageError` if it cannot play the cell. Without a setting, only the name is checked.
        """
        return None

    def expert(self, cell: Cell, setting: Any) -> Model:
        """The built-in model without errors. Raises `UsageError` if the method has none, or it cannot play the cell."""
        model = self.builtin_model(BUILT_IN_MODEL, replace(cell, model=BUILT_IN_MODEL), setting)
        if model is None:
            reason = f"Its method has no built-in model '{BUILT_IN_MODEL}'."
            raise UsageError(f"{cell.setting} has no expert", reason, "Choose another game.")
        return model

    def upper_bound(self, setting: Any, mode: str, options: Any, retries: int) -> UpperBound:
        """Upper bound of an episode's requests. The default is one request for each step, with all its retries."""
        prompts = (text for name, text in setting.sources.items() if name.startswith("prompts/"))
        return UpperBound((setting.max_steps or 1) * (1 + retries), sum(map(len, prompts)))

    def play(self, cell: Cell, setting: Any, options: Any, tools: Tools, budget: Budget) -> Body:
        """Play a cell: yield every event between `Started` and `Ended`, and end by raising `EpisodeOver`."""
        raise NotImplementedError

    def checks(self, java: str | None) -> Mapping[str, Callable[[], str]]:
        """The checks of `pddlego doctor` by title: each returns a note, or raises `PddlegoError`. `java` is a path."""
        return {}

    def first_requests(self) -> Mapping[str, Request]:
        """The first request of typical settings, by their names: `pddlego doctor` estimates a model's time for them."""
        return {}

    def suiting_mode(self, model: Model) -> str:
        """A line of `pddlego doctor` about the mode that suits a model; empty if the method does not advise."""
        return ""

    def referee(self, setting: Any, mode: str, seed: int) -> Referee | None:
        """The referee of an episode in a mode that is `rewarded`; None if its truth cannot be known."""
        return None

    def rewards(self, setting: Any, mode: str, request: Request, expert: str) -> RewardOf:
        """The reward function for answers to `request`. `expert` is the built-in model's answer."""
        raise NotImplementedError

    def learned(self, episodes: Sequence[tuple[Trace, Any, Any]], true: bool) -> LearnedDomain:
        """The actions that the plans of recorded episodes of one setting teach, each with the setting and its options.

        They are learned from `true` facts, or from those that the model read.

        Raises `UsageError` if the method records no transitions, or if its truth cannot be known.
        """
        reason = f"The method {self.name} records no transitions."
        raise UsageError("Nothing can be learned from these episodes", reason, "Name a run of another method.")

    def run(self, cell: Cell, setting: Any, options: Any, tools: Tools) -> Iterator[Event]:
        """Every event of an episode, from `Started` to `Ended`. May raise `PddlegoError` before the first."""
        from pddlego.episode.budget import Budget
        from pddlego.episode.events import Started
        from pddlego.episode.lifecycle import played

        budget = Budget(replace(tools.limits, steps=setting.max_steps))
        kind = parse_variant(cell.mode, self.modes).mode.carries.kind
        started = Started(
            setting=setting.name,
            title=setting.title,
            mode=cell.mode,
            model=tools.model.name,
            seed=cell.seed,
            task=setting.about,
            limits=budget.limits,
            played_by=self.name,
            details={kind: tools.first_text} if tools.first_text else {},
        )
        return played(self.play(cell, setting, options, tools, budget), budget, started)


class _Part:
    """An attribute of one of our methods that is imported on first use."""

    def __init__(self, place: str) -> None:
        self._module, _, self._name = place.rpartition(".")

    def __get__(self, method: Method | None, kind: type[Method]) -> Any:
        return getattr(import_module(f"{kind.__module__}.{self._module}"), self._name)


def part(place: str) -> Any:
    """An attribute that is imported on first use: `events.EVENTS` is `EVENTS` of the method's module `events`."""
    return _Part(place)
