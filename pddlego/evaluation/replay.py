"""Loads recorded episodes with their configuration, and plays them again without a model to compare the events."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pddlego.episode.approval import Decision, RecordedApprover
from pddlego.episode.events import Ended, Event, Judged, Outcome, step_of
from pddlego.episode.trace import Trace
from pddlego.errors import EngineError, JournalError, PddlegoError, UsageError
from pddlego.evaluation.config import Config, LimitOptions
from pddlego.evaluation.setup import SettingUse
from pddlego.methods.base import Method, Setting, Tools
from pddlego.methods.old_modes import refuse_removed
from pddlego.methods.registry import make_codec, method, parse_mode
from pddlego.methods.shared_options import PlannerOptions
from pddlego.models.base import Model
from pddlego.models.endpoint import Endpoint
from pddlego.models.transcript import TranscriptModel
from pddlego.planning import Planner
from pddlego.runs.cells import Cell
from pddlego.runs.folders import MANIFEST
from pddlego.runs.journal import Timed, event_value, read_journal
from pddlego.runs.store import begun_with, read_configuration, recorded_setting
from pddlego.util.text import one_line


@dataclass(frozen=True)
class Recorded:
    """An episode, the path of its journal, and the configuration with which it was played.

    `changed` names the files (settings, domain, prompts) that have changed since.
    """

    path: Path
    trace: Trace
    played: SettingUse
    config: Config
    changed: tuple[str, ...] = ()

    @property
    def cell(self) -> Cell:
        """The cell of the episode, as its first repeat: a journal does not hold the number of the repeat."""
        begun = self.trace.begun
        return Cell(begun.setting, begun.mode, begun.model, begun.seed or 0)

    def checked(self, reference: Model | None = None) -> Trace:
        """The episode with the truth of the model's claims, as far as the method can check it now (`Measuring`)."""
        check = self.played.method.measuring.checked
        return self.trace if check is None else check(self.trace, self.played.setting, self.played.options, reference)


def running_checker(path: Path) -> Callable[[Event], Iterable[Event]]:
    """The checks of a running episode, event by event (`Measuring`). Raises `PddlegoError` if it has no checks."""
    recorded = load_recorded(path)
    checker = recorded.played.method.measuring.checker
    if checker is None:
        raise UsageError("There are no facts to check", "The method has none.", "Look at its tabs.")
    return checker(recorded.trace, recorded.played.setting, recorded.played.options)


class SettingLoader:
    """Loads the settings of recorded episodes. Settings with equal options, such as those of a run, are loaded once."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[str, str, str], Setting] = {}

    def load(self, by: Method, name: str, options: BaseModel) -> Setting:
        """The setting as a method plays it. Raises `UsageError` and `SettingError`."""
        key = by.name, name, options.model_dump_json()
        if key not in self._loaded:
            self._loaded[key] = by.load(name, options)
        return self._loaded[key]


def load_recorded(
    path: Path, changes: Mapping[str, Any] | None = None, loader: SettingLoader | None = None
) -> Recorded:
    """Read an episode and its manifest. `changes` are other values of options, as far as its method has them.

    With a `loader`, episodes share their settings. Raises `UsageError` and `JournalError`.
    """
    trace = read_journal(path, make_codec())
    if trace.started is None:
        raise JournalError(f"{path} holds no episode", "Its first line is not a beginning.", "Name another one.")
    folder = path.parent.parent
    try:
        return _recorded(path, trace, read_configuration(folder), changes or {}, loader or SettingLoader())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{MANIFEST} does not say how the episode was played ({one_line(str(error), 200)})."
        raise UsageError(f"{folder} is damaged", reason, "Restore the file.") from error
    except PddlegoError as error:
        reason = f"{error.what}. {error.reason}"
        raise UsageError(f"{path.name} cannot be played again", reason, error.next_step) from error


def _recorded(
    path: Path, trace: Trace, manifest: Mapping[str, Any], changes: Mapping[str, Any], loader: SettingLoader
) -> Recorded:
    started = trace.begun
    kept = recorded_setting(manifest["settings"], started.setting, started.played_by)
    if kept is None:
        raise KeyError(f"no setting {started.setting}")
    played_by = method(kept["method"])
    # The journal holds the text with which the episode began: the run that it came from may be gone.
    begun_from = [mode.carries.option for mode in played_by.modes]
    own = {name: value for name, value in kept["options"].items() if name not in begun_from}
    own |= {name: value for name, value in changes.items() if name in played_by.options.model_fields}
    options = played_by.options.model_validate(own)
    setting = loader.load(played_by, started.setting, options)
    return Recorded(
        path=path,
        trace=trace,
        played=SettingUse(played_by.name, options, setting),
        config=Config(
            endpoint=Endpoint.model_validate(manifest["endpoint"]),
            planner=PlannerOptions.model_validate(manifest["planner"]),
            limits=LimitOptions(retries=manifest["limits"]["retries"]),
        ),
        changed=tuple(_changed(setting.sources, {**(kept.get("files") or {}), **dict.fromkeys(begun_from, "")})),
    )


def _changed(texts: Mapping[str, str], digests: Mapping[str, str]) -> Iterator[str]:
    for name, digest in digests.items():
        now = hashlib.sha256(texts[name].encode()).hexdigest() if name in texts else ""
        if not now.startswith(digest):
            yield name


_FROM_OUTSIDE = frozenset({Outcome.INTERRUPTED, Outcome.MODEL_ERROR, Outcome.CRASHED})
"""Outcomes with causes from outside, which a replay does not repeat."""


@dataclass(frozen=True)
class Difference:
    """The first difference of a replay: the step, the type of the event, the field, and both values."""

    step: int
    kind: str
    field: str
    recorded: str
    now: str


@dataclass(frozen=True)
class Replayed:
    """The result of a replay: the number of equal events, and the first difference, if there is one."""

    same: int
    difference: Difference | None = None


def replay(recorded: Recorded, planner: Planner) -> Replayed:
    """Play a recorded episode again with the recorded answers and decisions of the user, up to the first difference.

    Times are not compared, and neither are endings with causes from outside: Ctrl-C, a failing endpoint, the budget of
    an evaluation. Raises `KeyboardInterrupt` if the replay is interrupted, and `EngineError` if the engine fails.
    """
    same, step = 0, 0
    with closing(_play_again(recorded, planner)) as events:
        for then in _comparable(recorded):
            now = next(filter(_is_repeated, events), None)
            _check_replay(then, now)
            step = step_of(then) or step
            difference = _difference(step, then, now)
            if difference is not None:
                return Replayed(same, difference)
            same += 1
    return Replayed(same)


def _comparable(recorded: Recorded) -> list[Event]:
    """The recorded events that a replay repeats."""
    events: list[Event] = list(filter(_is_repeated, recorded.trace.events))
    last = events[-1]
    if isinstance(last, Ended):
        if last.outcome in _FROM_OUTSIDE or last.cause in ("seconds", "evaluation"):
            events.pop()
        if last.cause == "seconds" and events[-1].may_be_cut_short:
            events.pop()
    return events


def _is_repeated(event: Event) -> bool:
    return not (event.passing or event.derived)


def _check_replay(then: Event, now: Event | None) -> None:
    """Raise the error that ended the replay, if the recorded episode did not end there."""
    if isinstance(now, Ended) and not isinstance(then, Ended):
        if now.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt
        if now.outcome is Outcome.CRASHED and now.cause != "replay":
            raise EngineError("The episode could not be played to its end", now.message, "Run 'pddlego doctor'.")


def _play_again(recorded: Recorded, planner: Planner) -> Timed:
    """The events of the recorded episode while it is played again."""
    trace = recorded.trace
    refuse_removed(trace.begun.mode)
    judged = [(event.what, Decision(event.decision, event.text)) for event in trace.all(Judged)]
    answers = [(call.request, call.completion) for call in trace.calls]
    carried = begun_with(trace, parse_mode(trace.begun.mode).mode.carries.kind)
    transcript = TranscriptModel(answers, str(recorded.path), trace.begun.model)
    tools = Tools(
        model=transcript,
        planner=planner,
        limits=trace.begun.limits,
        retries=recorded.config.limits.retries,
        approver=RecordedApprover(judged),
        first_text=carried or "",
        hands_on=carried is not None,
        recorded=trace,
    )
    return recorded.played.play(recorded.cell, tools)


def _difference(step: int, then: Event, now: Event | None) -> Difference | None:
    if now is None:
        return Difference(step, then.type, "event", then.type, "nothing more happens")
    if then.type != now.type:
        return Difference(step, then.type, "event", _brief(then), _brief(now))
    for field, before, after in _unlike(event_value(then), event_value(now)):
        if re.sub(r"\[\d+\]", "", field) in then.times:
            continue
        return Difference(step, then.type, field, str(before), str(after))
    return None


def _unlike(then: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The leaves in which two JSON values differ."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in then:
            yield from _unlike(then[key], now.get(key), f"{path}.{key}" if path else key)
    elif isinstance(then, list) and isinstance(now, list):
        for number, (before, after) in enumerate(zip_longest(then, now)):
            yield from _unlike(before, after, f"{path}[{number}]")
    elif isinstance(then, str) and isinstance(now, str) and then != now:
        lines = zip_longest(then.split("\n"), now.split("\n"))
        number, pair = next((number, pair) for number, pair in enumerate(lines, start=1) if pair[0] != pair[1])
        yield (f"{path}, line {number}" if "\n" in then else path), pair[0], pair[1]
    elif then != now:
        yield path, then, now


def _brief(event: Event) -> str:
    if isinstance(event, Ended):
        return f"{event.type} ({event.outcome.value}{': ' * bool(event.message)}{event.message})"
    return event.type
