"""Episodes of Graphplan: who is asked, what is measured, and how plans are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from pddlego.episode.events import Asked, Ended, Event, Limits, Outcome
from pddlego.errors import ModelError, UsageError
from pddlego.methods.graphplan import METHOD
from pddlego.methods.graphplan.advisers import make_adviser
from pddlego.methods.graphplan.events import Bounded, Grown, Looking, PassEnded, PlanConcluded, measure
from pddlego.models.base import Completion, Request
from pddlego.runs.cells import Cell
from tests.methods.graphplan.playing import Hurried, played
from tests.traces import trace_of

TASK = "logistics"
SEED = 4
MOVIE_SEED = 7
ALONE = "graphplan-no-prune-no-sort"


def ended(events: list[Event]) -> Ended:
    last = events[-1]
    assert isinstance(last, Ended)
    return last


def concluded(events: list[Event]) -> PlanConcluded:
    return next(event for event in events if isinstance(event, PlanConcluded))


@pytest.mark.parametrize(
    "name",
    ["relaxed", "oracle", "keep-all", "random", "adversarial", "reader", "reader+noise:0.2,seed=3", "random:0.8"],
)
def test_every_adviser_ends_with_a_plan_that_works(name: str) -> None:
    events = played(TASK, name, seed=SEED)
    done = concluded(events)
    assert done.valid
    assert ended(events).outcome in (Outcome.WON, Outcome.LOST)
    assert (done.kind == "solved") == (ended(events).outcome is Outcome.WON)
    assert done.bound is not None
    assert (done.kind == "solved") == (len(done.steps) <= done.bound)
    assert done.kind in ("solved", "too long")


def test_a_plain_extraction_has_more_nodes_and_as_many_levels() -> None:
    directed, plain = (
        measure(trace_of(played(TASK, "random", ALONE, 5, extraction=kind))).numbers for kind in (None, "plain")
    )
    assert (directed["nodes"], plain["nodes"]) == (121, 5_010)
    assert directed["levels"] == plain["levels"] == 10


def test_the_plain_algorithm_asks_nobody_and_is_what_keep_all_gives() -> None:
    plain = played(TASK, "random", "graphplan-no-prune-no-sort", SEED)
    assert not any(isinstance(event, Asked) for event in plain)
    kept = played(TASK, "keep-all", "graphplan-no-sort", SEED)
    assert {event.purpose for event in kept if isinstance(event, Asked)} == {"prune"}
    numbers = [measure(trace_of(events)).numbers for events in (plain, kept)]
    for name in ("expanded", "mutexes", "levels", "actions", "bound"):
        assert numbers[0][name] == numbers[1][name]
    assert numbers[1]["prune_calls"] == len([event for event in kept if isinstance(event, Grown)])
    assert {
        event.purpose for event in played(TASK, "keep-all", "graphplan-no-prune", SEED) if isinstance(event, Asked)
    } == {"sort"}


def test_what_is_measured_is_the_sum_over_all_passes() -> None:
    events = played(TASK, "adversarial", seed=SEED)
    numbers = measure(trace_of(events)).numbers
    grown = [event.made for event in events if isinstance(event, Grown)]
    passes = [event.made for event in events if isinstance(event, PassEnded)]
    assert numbers["passes"] == len(passes) >= 2
    assert passes[0].ending == "given up"
    assert passes[-1].ending == "found"
    assert numbers["expanded"] == sum(made.kept + made.noops for made in grown)
    assert numbers["mutexes"] == sum(made.mutexes for made in grown)
    assert numbers["prune_calls"] + numbers["sort_calls"] == ended(events).usage.calls


@pytest.mark.parametrize(
    ("setting", "share", "judge", "bound", "kind"),
    [
        ("logistics", 0.2, "damaged", "levels", "solved"),
        ("logistics", 0.2, "damaged", "actions", "solved"),
        ("logistics", 0.2, "damaged", "none", "solved"),
        ("logistics", 0.2, "intact", "levels", "invalid plan"),
        ("logistics", 0.2, "intact", "none", "invalid plan"),
        ("movie", 0.2, "intact", "levels", "solved"),
    ],
)
def test_a_plan_counts_in_the_domain_that_judges(setting: str, share: float, judge: str, bound: str, kind: str) -> None:
    seed = SEED if setting == TASK else MOVIE_SEED
    events = played(setting, "keep-all", ALONE, seed, corrupt=share, damage="pooled", judge=judge, bound=bound)
    done = concluded(events)
    assert done.kind == kind
    assert (ended(events).outcome is Outcome.WON) == (kind == "solved")
    numbers = measure(trace_of(events)).numbers
    assert (numbers["found"], numbers["valid_damaged"]) == (1, 1)
    assert numbers["valid"] == int(setting == "movie")
    assert any(isinstance(event, Bounded) for event in events) == (kind == "solved" and bound != "none")


def test_an_adviser_that_knows_the_intact_domain_may_find_a_plan_that_works_there() -> None:
    """At each level it keeps what a plan of the intact domain does there; without advice, a shorter plan is found that
    uses a removed precondition."""
    damage: dict[str, Any] = {"corrupt": 0.1, "damage": "pooled", "judge": "intact", "bound": "none"}
    alone = concluded(played("satellite", "keep-all", ALONE, 1, **damage))
    assert alone.kind == "invalid plan"
    assert alone.valid_damaged
    assert concluded(played("satellite", "oracle:intact", "graphplan", 1, **damage)).kind == "solved"


def test_an_adviser_for_settings_cannot_advise_on_files() -> None:
    with pytest.raises(UsageError, match="oracle:intact cannot advise here"):
        make_adviser("oracle:intact", "solve/0")


def test_what_is_found_nowhere_is_valid_nowhere() -> None:
    events = played(TASK, "keep-all", ALONE, SEED, corrupt=0.4, damage="pooled")
    numbers = measure(trace_of(events)).numbers
    assert (numbers["found"], numbers["valid_damaged"], numbers["valid"]) == (0, 0, 0)
    assert concluded(events).message.endswith("(in the damaged domain)")


def test_a_plan_of_the_fewest_levels_may_have_too_many_actions() -> None:
    levels, actions = (concluded(played(TASK, "keep-all", ALONE, SEED, bound=name)) for name in ("levels", "actions"))
    assert (levels.bound, levels.unit, levels.kind) == (len(levels.steps), "level", "solved")
    assert sum(map(len, actions.steps)) == 10
    assert (actions.bound, actions.unit, actions.kind) == (9, "action", "too long")


@pytest.mark.parametrize(("bound", "most"), [("levels", 2), ("actions", 7), ("none", None)])
def test_a_plan_that_the_damage_makes_longer_counts_only_without_a_bound(bound: str, most: int | None) -> None:
    done = concluded(played("movie", "keep-all", ALONE, MOVIE_SEED, corrupt=0.1, damage="pooled", bound=bound))
    assert (len(done.steps), sum(map(len, done.steps))) == (3, 8)
    assert done.bound == most
    assert done.kind == ("solved" if bound == "none" else "too long")


def test_the_levels_that_are_allowed_are_all_that_there_are() -> None:
    events = played(TASK, "keep-all", seed=SEED, levels=2)
    assert concluded(events).kind == "bound"
    assert ended(events).outcome is Outcome.LOST
    assert ended(events).message == "no plan has at most 2 levels"


def test_with_kappa_some_levels_are_pruned_and_the_last_pass_prunes_none() -> None:
    events = played(TASK, "adversarial", seed=SEED, kappa=(0.5, 0.25))
    passes = [event.made for event in events if isinstance(event, PassEnded)]
    assert [made.kappa for made in passes] == [0.5, 0.25, 0.0][: len(passes)]
    assert passes[-1].ending == "found"


def test_limits_end_it_as_they_end_every_episode() -> None:
    events = played(TASK, "relaxed", seed=SEED, limits=Limits(None, calls=3))
    assert ended(events).outcome is Outcome.BUDGET
    assert ended(events).usage.calls == 3
    assert ended(played(TASK, "relaxed", seed=SEED, limits=Limits(None, seconds=0.0))).outcome is Outcome.BUDGET


def test_where_nobody_knows_how_short_a_plan_can_be_it_is_not_won() -> None:
    """The bound is found by Graphplan alone, and it gets no time here."""
    seed = next(
        seed for seed in range(12) if concluded(played("satellite", "random:0.4", seed=seed)).kind == "too long"
    )
    events = played("satellite", "random:0.4", seed=seed, planner=Hurried())
    done = concluded(events)
    assert done.valid
    assert done.kind == "bound not known"
    assert ended(events).outcome is Outcome.LOST


@pytest.mark.slow
def test_what_a_clock_ended_is_played_again_to_the_same_point() -> None:
    """The bound was not found then, and would be now; the planner was stopped in the middle."""
    then = played("logistics", "adversarial", seed=3, planner=Hurried())
    again = played("logistics", "adversarial", seed=3, recorded=then)
    assert concluded(again) == concluded(then)
    whole = played("gripper", "keep-all", seed=4)
    cut = [event for event in whole if not isinstance(event, Looking)][:12]
    cut.append(PlanConcluded(9, "no plan: timeout", "timeout", "no answer within 30 s"))
    again = played("gripper", "keep-all", seed=4, recorded=cut)
    assert [event for event in again if not isinstance(event, Looking)][:12] == cut[:12]
    assert concluded(again).kind == "timeout"


def test_a_goal_that_is_true_already_needs_no_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "envs").mkdir()
    nothing = 'extends = "logistics"\n[graphplan]\npackages = [0, 0]\n'
    (tmp_path / "envs" / "nothing.toml").write_text(nothing, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    events = played("nothing", "relaxed")
    assert concluded(events).command == "no action: the goal is already true"
    assert ended(events).outcome is Outcome.WON


class Failing:
    name = "failing"
    description: ClassVar[dict[str, object]] = {}

    def complete(self, request: Request) -> Completion:
        raise ModelError("The endpoint is gone", "It answers nothing.", "Try later.")


def test_a_model_that_fails_ends_the_episode() -> None:
    events = played(TASK, Failing(), seed=SEED)
    assert ended(events).outcome is Outcome.MODEL_ERROR


def test_any_answer_will_do() -> None:
    for answers in (("",), ("I cannot.",), ("(fly me to the moon)",), ("```\n" * 50,), ("\x1b[2J",)):
        assert concluded(played(TASK, answers, seed=SEED)).valid


@pytest.mark.parametrize("name", ["random:2", "reader+noise:x", "random:"])
def test_a_name_that_is_written_wrongly_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        METHOD.builtin_model(name, Cell(TASK, "graphplan", name, 0), None)


def test_a_choice_that_brings_nothing_new_is_shown_to_the_model() -> None:

    class Stubborn:
        """A model that names the first candidate of each question."""

        name = "stubborn"
        description: ClassVar[dict[str, object]] = {}

        def __init__(self) -> None:
            self.texts: list[str] = []

        def complete(self, request: Request) -> Completion:
            self.texts.append(request.messages[0].content)
            return Completion(self.texts[-1].strip().splitlines()[-1])

    model = Stubborn()
    events = played(TASK, model, "graphplan-no-sort", SEED)
    assert concluded(events).valid
    first, again = model.texts[-2:]
    told = "Your last answer to this question was:"
    assert told not in first and told in again
    assert again.replace(again[again.index(told) : again.index("List one action per line")], "") == first
