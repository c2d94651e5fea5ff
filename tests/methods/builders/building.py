"""What tests of builders share: gold files, a model whose first answers are given, and a run of it all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pddlego.episode.events import Event, Limits
from pddlego.methods.base import Tools
from pddlego.methods.builders import METHOD
from pddlego.methods.builders.options import BuilderOptions
from pddlego.methods.builders.reference import BuilderReference
from pddlego.methods.builders.setting import load
from pddlego.models import Completion, Request
from pddlego.planning import Planner
from pddlego.runs.cells import Cell


@dataclass
class Scripted:
    """The reference, but for some purposes the first answers are the given ones. Keeps the requests."""

    first: Mapping[str, list[str]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    reference: BuilderReference = field(default_factory=BuilderReference)
    name: str = "scripted"
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        number = sum(each.purpose == request.purpose for each in self.requests)
        own = self.first.get(request.purpose, [])
        return Completion(own[number - 1]) if number <= len(own) else self.reference.complete(request)

    def of(self, purpose: str) -> list[str]:
        """The texts of the requests for one purpose."""
        return [request.messages[0].content for request in self.requests if request.purpose == purpose]


def build(
    setting: str, mode: str, model: Any, planner: Planner, seed: int = 0, retries: int = 5, **options: Any
) -> list[Event]:
    cell = Cell(setting, mode, model.name, seed)
    chosen = BuilderOptions(**options)
    tools = Tools(model, planner, Limits(None), retries)
    return list(METHOD.run(cell, load(setting, chosen), chosen, tools))


def of(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def dumped(value: object) -> str:
    return json.dumps(value)
