from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.errors import UsageError
from pddlego.evaluation.seeds import parse_seeds
from pddlego.methods.textgames.settings import GameSetting
from pddlego.runs.cells import Cell, Matrix, file_name


def test_every_configuration_of_a_seed_comes_before_the_next_seed() -> None:
    cells = Matrix({"a": (3, 5), "b": (1,)}, ("edit", "random"), ("m", "n"), repeats=2).cells()
    assert [(cell.setting, cell.seed) for cell in cells[:6]] == [("a", 3)] * 3 + [("b", 1)] * 3
    assert len(cells) == len(set(cells)) == 2 * 3 * 2 + 3, "random asks nobody: once for all models and repeats"


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_models_never_share_a_file(one: str, other: str) -> None:
    assert (file_name(one) == file_name(other)) == (one == other)
    assert not set(file_name(one)) & set("/\\: \0")


def test_labels_are_unique() -> None:
    cells = Matrix({"coin": (1, 11), "coin-1": (1,)}, ("edit",), ("gpt-4.1", "a/b"), 2).cells()
    assert len({cell.label for cell in cells}) == len(cells)
    assert Cell("coin", "edit", "reader", 12, 2).label == "coin-edit-reader-seed12-repeat2"


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("dev", range(10)), ("7", [7]), ("3-5,4,1", [3, 4, 5, 1]), ("test, 0", [*range(10, 60), 0])],
)
def test_seeds(coin: GameSetting, text: str, seeds: list[int]) -> None:
    assert parse_seeds(text, coin) == tuple(seeds)


@pytest.mark.parametrize("text", ["", "exam", "5-3", "1000", "0-1000", "-1", "1.5", "0-999999999", "9" * 30])
def test_what_is_no_seed(coin: GameSetting, text: str) -> None:
    with pytest.raises(UsageError):
        parse_seeds(text, coin)
