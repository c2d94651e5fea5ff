"""An endpoint that plays Coin Collector in mode act, from the conversation alone, as a language model would."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pddlego.methods.textgames.reader.coin import CoinRules
from pddlego.methods.textgames.setting_files import load_setting
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.situation import Exchange, Situation


@lru_cache(maxsize=1)
def _coin() -> GameSetting:
    return load_setting("coin")


def next_command(body: dict[str, Any]) -> str:
    """What to do next, after a request's messages."""
    exchanges = []
    command = None
    for message in body["messages"][1:]:
        if message["role"] == "assistant":
            command = message["content"]
        else:
            exchanges.append(Exchange(command, message["content"].split("\nValid actions:")[0]))
    coin = _coin()
    return CoinRules().command(Situation("coin", "", coin.domain, coin.start, (), tuple(exchanges)))
