"""What `pddlego doctor` checks for text games."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.formalize.known_sentence import KnownSentence
from pddlego.methods.textgames.formalize.question import parse_examples
from pddlego.methods.textgames.games import Closes, engine_names, missing_for
from pddlego.methods.textgames.games.java import express_program, shared_machine
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import LEARN_FACTS, TEXT_GAME
from pddlego.methods.textgames.play import make_method, setting_game
from pddlego.models import Model, Request
from pddlego.models.prompts import Prompts


def checks(java: str | None) -> Mapping[str, Callable[[], str]]:
    """The checks of the Java runtime, whose path is `java`, and of the game engines."""
    return {"Java": lambda: _java(java), "game engines": lambda: _engines(java)}


def _java(java: str | None) -> str:
    machine = shared_machine(express_program(), java)
    return f"Java {machine.version} ({machine.java})"


def _engines(java: str | None) -> str:
    """Start a game of every engine that is installed and has a setting. Raises `EngineError` for the first failure."""
    settings = {(setting := load(name)).game.engine: setting for name in setting_names(TEXT_GAME)}
    notes = []
    for engine in engine_names():
        if missing_for(engine):
            notes.append(f"{engine} is not installed ({missing_for(engine)})")
        elif engine in settings:
            started_at = time.perf_counter()
            game = setting_game(settings[engine], settings[engine].all_seeds.start, java)
            game.start()
            if isinstance(game, Closes):
                game.close()
            notes.append(f"{engine}, a game in {time.perf_counter() - started_at:.2f} s")
    return "; ".join(notes)


def first_requests() -> Mapping[str, Request]:
    """The first request of each game in mode edit, with a first observation of typical length; that of coin first."""
    observation = "You are in the kitchen. To the North you see a closed plain door. There is also a table. " * 6
    seen = Observations((Exchange(None, observation),), (Exchange(None, observation),))
    requests = {}
    for name in sorted(setting_names(TEXT_GAME), key=lambda name: name != "coin"):
        setting = load(name)
        request = make_method("edit", setting, 0).request(PromptContext(setting.start, seen=seen))
        if request is not None:
            requests[name] = request
    return requests


_ENOUGH = 8
"""The number of right answers from which on a model of any size plays mode `learn-facts`."""


def suiting_mode(model: Model) -> str:
    """The mode that suits a model, with the number of sentences of an invented game that it reads right.

    Raises `ModelError` if the model does not answer.
    """
    setting = load("coin")
    prompts = Prompts(setting.asking.prompts)
    rows = parse_examples(prompts.render("textgames/learn-facts-known"))[1]
    known = [KnownSentence.of(row, setting, prompts) for row in rows]
    answers = [model.complete(sentence.request) for sentence in known]
    right = sum(sentence.is_right(answer.text) for sentence, answer in zip(known, answers, strict=True))
    seconds = sum(answer.seconds for answer in answers) / len(answers)
    mode = f"{LEARN_FACTS} --carry" if right >= _ENOUGH else "act"
    return f"{right} of {len(known)} sentences read right, {seconds:.1f} s each: it suits --mode {mode}"
