"""Names of modes, and what can be taken out of them."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pddlego.errors import UsageError
from pddlego.evaluation.config import resolve
from pddlego.evaluation.prepare import make_setup
from pddlego.methods.base import Mode, base_mode
from pddlego.methods.registry import ablated, parse_mode
from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.options import ABLATIONS, MODES, TextGameOptions
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import EpisodeSetup


def test_a_mode_is_its_text() -> None:
    for text in (*(mode.name for mode in MODES), "edit-no-feedback", "gen-no-remedies-no-tolerance"):
        assert str(parse_mode(text)) == text
    result = parse_mode("gen-no-feedback-no-tolerance")
    assert (result.mode.name, result.without) == ("gen", ("feedback", "tolerance"))
    assert str(parse_mode("edit-no-tolerance-no-feedback")) == "edit-no-feedback-no-tolerance", "one mode, one name"
    assert parse_mode("edit-no-feedback").mode.parts
    assert set(parse_mode("act").mode.parts) == {"check", "recipe", "prompts", "sequences"}
    assert not parse_mode("random").mode.parts


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_every_mode_has_a_formalizer(coin: GameSetting, mode: Mode) -> None:
    formalizer = make_method(mode.name, coin, 1, person=lambda commands: "look around")
    first = (Exchange(None, "You are in the kitchen."),)
    request = formalizer.request(PromptContext(coin.start, seen=Observations(first, first), reader=coin.reader))
    assert (request is not None) is mode.asks_model


def test_an_episode_has_the_options_as_the_user_set_them() -> None:
    """A copy under another name, such as `rewinds`, would be one more place that a new option touches."""
    assert {field.name for field in fields(EpisodeSetup)} == {"setting", "seed", "mode", "limits", "retries", "options"}
    assert {field.type for field in fields(EpisodeSetup) if field.name == "options"} == {TextGameOptions.__name__}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "edits",
        "edit-no-",
        "edit-no-dream",
        "act-no-feedback",
        "random-no-tolerance",
        "edit-no-feedback-no-feedback",
    ],
)
def test_what_is_no_mode(text: str) -> None:
    with pytest.raises(UsageError, match="Unknown mode"):
        parse_mode(text)


def test_ablations_follow_the_mode_that_they_are_compared_with() -> None:
    result = ablated(("random", "edit"), ("feedback", "feedback+tolerance"))
    assert result == ("random", "edit", "edit-no-feedback", "edit-no-feedback-no-tolerance")
    assert ablated(("gen", "gen"), ()) == ("gen",)
    assert len(ablated(("edit",), ABLATIONS)) == 1 + len(ABLATIONS)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ({"modes": "edit,human"}, "needs a person at a terminal"),
        ({"modes": "edit,dream"}, "Unknown mode 'dream'"),
        ({"ablate": "dream"}, "tolerance"),
        ({"modes": "edit-no-dream"}, "tolerance"),
    ],
)
def test_what_an_evaluation_does_not_take(flags: dict[str, str], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_setup(resolve({"games": "coin", "seeds": "0", **flags}, {}))
    assert text in caught.value.sentence


def test_what_an_ablation_is_compared_with() -> None:
    assert base_mode("edit-no-feedback-no-tolerance") == "edit"
    assert base_mode("random") == "random"
