"""Rewards: the expert gets all, and no dishonest answer gets what an honest one does."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from statistics import mean
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pddlego.api import rewards as api
from pddlego.api.rewards import Rewards
from pddlego.methods.textgames.rewards import ExpertPrompt
from tests.adversaries import KINDS, OTHER_NAMES, TEXT, Honest, answer_of, renamed
from tests.scale import scaled

GAMES = ("coin", "mapreader", "twc", "cooking-easy", "cooking-hard", "cooking-full", "paper-coin")
MODES = ("edit", "gen")


@pytest.fixture(scope="module")
def rewards() -> Iterator[Rewards]:
    with Rewards() as made:
        yield made


@cache
def questions(game: str, mode: str, seed: int) -> list[tuple[str, Honest]]:
    """The expert's questions of an episode that change the problem, with their identifiers."""
    chosen = []
    for number, (messages, expert) in enumerate(api._prompts(game, mode, seed), 1):
        assert isinstance(expert, ExpertPrompt)
        before, after = expert.situation.knowledge.problem, expert.read(expert.answer).problem
        name = f"{game}/{mode}/{seed}/{number}/{api.digest_of(messages)}"
        knowledge = expert.situation.knowledge
        asked = "\n".join(message.content for message in messages)
        claims = expert.setting.claims.items()
        symmetric = tuple(name for name, rule in claims if rule.symmetric)
        opinions = tuple(name for name, rule in claims if rule.opinion)
        rules = (knowledge.domain, asked, knowledge.only_planned, symmetric, opinions)
        honest = Honest(mode, expert.answer, before, after, *rules)
        if after.facts - before.facts:
            chosen.append((name, honest))
    return chosen


PAIRS = [pair for pair in product(GAMES, MODES) if pair != ("cooking-full", "gen")]
"""Games and modes. The longest game is played in one mode here, and in the other in `test_environment`."""


@pytest.fixture(scope="module", params=PAIRS, ids="-".join)
def pair(request: pytest.FixtureRequest) -> tuple[str, str]:
    result: tuple[str, str] = request.param
    return result


@pytest.fixture
def asked(pair: tuple[str, str]) -> list[tuple[str, Honest]]:
    """The questions of an episode; the tests of one episode run one after the other."""
    return questions(*pair, 60)


def test_the_expert_gets_everything(asked: list[tuple[str, Honest]], rewards: Rewards) -> None:
    for name, honest in asked:
        reward = rewards(name, honest.text)
        assert (reward.value, reward.reasons) == (1.0, ()), (name, honest.text)


T = TypeVar("T")


def sampled(items: Sequence[T], most: int) -> Sequence[T]:
    return random.Random(1).sample(items, min(len(items), most))


def dishonest(rewards: Rewards, name: str, honest: Honest, kind: str) -> float | None:
    answer = answer_of(kind, honest)
    return None if answer is None else rewards(name, answer).value


@pytest.mark.slow
def test_no_dishonest_answer_gets_what_an_honest_one_gets(
    pair: tuple[str, str], asked: list[tuple[str, Honest]], rewards: Rewards
) -> None:
    """Of every kind in the first game, of a third of the kinds in each other one: of every kind in two of these."""
    assert len(KINDS) >= 40
    name, honest = asked[0]
    place = GAMES.index(pair[0])
    for kind in KINDS[place % 3 :: 3] if place else KINDS:
        value = dishonest(rewards, name, honest, kind)
        assert value is None or value < 1.0, (name, kind, answer_of(kind, honest))


@pytest.mark.parametrize("kind", OTHER_NAMES)
def test_another_name_than_the_printed_one_is_wrong_in_every_fact(
    pair: tuple[str, str], asked: list[tuple[str, Honest]], rewards: Rewards, kind: str
) -> None:
    """Each fact that uses the name is wrong, and its right form is missing; opinions are not judged."""
    for name, honest in sampled(asked, scaled(1, in_ci=2)):
        problem = renamed(honest, OTHER_NAMES[kind])
        if problem is not None:
            reward = rewards(name, honest.written(problem))
            wrong = [fact for fact in problem.facts - honest.after.facts if fact.predicate not in honest.opinions]
            assert reward.value < 1.0, (name, honest.written(problem))
            assert reward.parsed == 0.0 or len(reward.reasons) >= len(wrong), (reward, wrong)


@pytest.mark.slow
def test_answers_without_knowledge_get_almost_nothing(rewards: Rewards) -> None:
    """On average over all games and modes: answers to questions of other episodes share some facts of small games."""
    values: dict[str, list[float]] = {}
    for game, mode in product(GAMES, MODES):
        asked = sampled(questions(game, mode, 60), scaled(2, in_ci=6))
        others = questions(game, mode, 70)
        for kind, (name, honest) in product(("nothing", "unchanged", "echoed question", "shuffled words"), asked):
            values.setdefault(kind, []).append(rewards(name, TEXT[kind](honest) or "").value)
        for (name, honest), (_, other) in sampled(list(product(asked, others)), scaled(10, in_ci=30)):
            if other.text != honest.text:
                values.setdefault("another question", []).append(rewards(name, other.text).value)
    assert {kind: mean(each) for kind, each in values.items() if mean(each) >= 0.1} == {}


@settings(max_examples=scaled(10, in_ci=20))
@given(
    st.sampled_from(GAMES[:3]),
    st.sampled_from(MODES),
    st.lists(st.sampled_from(sorted(TEXT)), min_size=2, max_size=3, unique=True),
)
def test_mixtures_get_less(rewards: Rewards, game: str, mode: str, kinds: list[str]) -> None:
    name, honest = questions(game, mode, 60)[0]
    text = honest.text
    for kind in kinds:
        text = TEXT[kind](replace(honest, text=text)) or text
    assert text == honest.text or rewards(name, text).value < 1.0 or text.split() == honest.text.split()
