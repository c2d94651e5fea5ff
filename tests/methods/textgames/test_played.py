"""Answers of a strong model that went wrong, and what is right (cases of November 28)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Accepted, Event, Rejected
from pddlego.errors import ModelError
from pddlego.methods.textgames.events import Observed
from pddlego.models import Completion, Request
from tests.methods.textgames.playing import of
from tests.shared import SHARED

CASES = "cases/turn6/played"
GAMES = {
    "effect_lost_edit": ("coin", "edit", 262),
    "look_costs": ("cooking-hard", "edit", 260),
    "look_lost": ("cooking-hard", "edit", 260),
    "unsolvable_missing_thing": ("cooking-easy", "edit", 300),
    "tos_fraction": ("24game", "tos", 3),
    "heuristic_asked_on": ("satellite", "heuristic", 1),
}


@dataclass
class Answers:
    """Gives the answers of a case, and fails after the last one. Keeps the requests."""

    case: str
    requests: list[Request] = field(default_factory=list)
    name: str = "strong"
    description: dict[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        file = SHARED / CASES / self.case / f"ans{len(self.requests):03d}.txt"
        if not file.exists():
            raise ModelError("No recorded answer", "It was the last one.")
        return Completion(file.read_text(encoding="utf-8"))


def played(case: str, **options: Any) -> tuple[list[Event], list[str]]:
    """The events of a case, and the last message of each request."""
    model = Answers(case)
    episode = pddlego.play(*GAMES[case], model, **options)
    return list(episode.events), [request.messages[-1].content for request in model.requests]


@pytest.mark.shared(CASES)
def test_the_room_that_an_edit_forgets_is_named() -> None:
    events, _ = played("effect_lost_edit")
    (rejected,) = of(events, Rejected)
    assert rejected.feedback.evidence[0].startswith("after 'move north' the file must have (at corridor)")


@pytest.mark.slow
@pytest.mark.shared(CASES)
@pytest.mark.parametrize("case", ["look_lost", "look_costs"])
def test_places_of_one_room_are_looked_into_before_the_next_request(case: str) -> None:
    events, _ = played(case)
    commands = [event.command for event in of(events, Observed)][2:5]
    assert commands == ["open cutlery drawer", "open fridge", "open kitchen cupboard"]
    assert sum(event.source == "model" for event in of(events, Accepted)) >= 2


@pytest.mark.shared(CASES)
def test_the_list_is_kept_after_a_thing_was_taken() -> None:
    events, _ = played("look_lost")
    commands = [event.command for event in of(events, Observed)]
    assert commands[commands.index("take knife") + 1] == "open fridge"  # the third answer is about a closed one


@pytest.mark.shared(CASES)
def test_the_thing_that_the_recipe_names_and_the_file_lacks_is_named() -> None:
    events, _ = played("unsolvable_missing_thing")
    (rejected,) = of(events, Rejected)
    named = [line for line in rejected.feedback.evidence if "red_potato" in line]
    assert len(named) == 1 and "(thing_at red_potato …)" in named[0] and "raw_red_potato" in named[0]


@pytest.mark.slow
@pytest.mark.shared(CASES)
def test_a_fraction_survives_between_two_calls() -> None:
    events, requests = played("tos_fraction", set=("instances=1",))
    said = [fault for event in of(events, Rejected) for fault in (event.feedback.category, event.feedback.message)]
    assert len(requests) == 2 and not said


@pytest.mark.slow
@pytest.mark.shared(CASES)
def test_no_heuristic_is_requested_after_a_perfect_one() -> None:
    _, requests = played("heuristic_asked_on")
    assert len(requests) == 1
