"""Plays Thought of Search in tests: few tests and instances, scripted answers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from pddlego.episode.approval import Approver
from pddlego.episode.events import Ended, Event, Limits, Rejected
from pddlego.methods.base import Tools
from pddlego.methods.thought_of_search import METHOD
from pddlego.methods.thought_of_search.file_space import FileSpace
from pddlego.methods.thought_of_search.loading import SearchSetting, load
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.methods.thought_of_search.reference_model import reference_functions
from pddlego.methods.thought_of_search.search import SearchResult
from pddlego.models import Model
from pddlego.models.base import ScriptedModel
from pddlego.runs.cells import Cell
from tests.clock import unhurried
from tests.planners import kept_planner
from tests.scale import PATIENT

FEW = SearchOptions(instances=2)


def fenced(text: str) -> str:
    return f"```python\n{text}\n```"


def right(name: str) -> tuple[str, str]:
    """Answers with our own functions."""
    texts = reference_functions(name)
    return fenced(texts["successors"]), fenced(texts["goal"])


def small(name: str, options: SearchOptions = FEW, soundness: int = 2) -> SearchSetting:
    """A setting that makes few searches to test functions, and has few instances: all are read before an episode."""
    setting = load(name, options)
    space = setting.space
    assert isinstance(space, FileSpace)
    files = space.file.files.model_copy(update={"soundness_instances": soundness})
    instances = space.texts["instances"].splitlines(keepends=True)[: files.instances_from + 30]
    texts = {**space.texts, "instances": "".join(instances)}
    file = space.file.model_copy(update={"files": files})
    return replace(setting, space=replace(space, file=file, texts=texts))


def events_of(
    setting: SearchSetting,
    model: Model | tuple[str, ...],
    mode: str = "tos",
    options: SearchOptions = FEW,
    limits: Limits | None = None,
    approver: Approver | None = None,
) -> list[Event]:
    """Everything that happens in an episode, where no time-out depends on how busy the machine is."""
    options = options.model_copy(update={"patience": PATIENT})
    asked: Model = ScriptedModel(model) if isinstance(model, tuple) else model
    planner = kept_planner(clock=unhurried)
    try:
        tools = Tools(model=asked, planner=planner, limits=limits or Limits(None), approver=approver)
        return list(METHOD.run(Cell(setting.name, mode, asked.name, 0), setting, options, tools))
    finally:
        planner.close()


def result_of(search: Generator[Event, None, SearchResult]) -> SearchResult:
    """Run a search to its end."""
    while True:
        try:
            next(search)
        except StopIteration as end:
            result: SearchResult = end.value
            return result


def ending(events: Sequence[Event]) -> Ended:
    result = events[-1]
    assert isinstance(result, Ended)
    return result


def kinds(events: Sequence[Event]) -> list[str]:
    """What went back to the model, in turn."""
    return [event.feedback.category for event in events if isinstance(event, Rejected)]
