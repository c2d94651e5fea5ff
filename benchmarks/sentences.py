"""`python -m benchmarks sentences MODEL`: how many sentences a model reads right, by the form of the question.

The rows of `benchmarks/sentences/*.txt` have the form of the examples in prompts. No name of theirs is in an example,
apart from the constants of a game. The model is asked at temperature 0. `submarine` is a setting of the working folder,
without examples of its own; without it, the file is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.table import show
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.formalize.known_sentence import KnownSentence
from pddlego.methods.textgames.formalize.question import parse_examples
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TEXT_GAME
from pddlego.models import Message, Request
from pddlego.models.endpoint import Access, Endpoint, make_endpoint
from pddlego.models.prompts import Prompts

SETTINGS = {"coin": "coin", "cooking": "cooking-easy", "mapreader": "mapreader", "twc": "twc", "submarine": "submarine"}
FOREIGN = "scienceworld"
"""A folder of prompts without examples: those of the invented game are used."""


def _in_one_message(request: Request) -> Request:
    """With the examples as lines of the system message, as they were before."""
    system, *examples, last = request.messages
    lines = "\n".join(message.content for message in examples)
    return replace(request, messages=(Message("system", f"{system.content}\nExamples:\n{lines}"), last))


FORMS: Mapping[str, tuple[bool, Callable[[Request], Request]]] = {
    "examples in the system message": (False, _in_one_message),
    "examples as turns": (False, lambda request: request),
    "examples as turns, schema of the sentence": (False, lambda request: request.narrowed),
    "turns of an invented game": (True, lambda request: request),
    "turns of an invented game, schema of the sentence": (True, lambda request: request.narrowed),
}
"""The forms: whether they have foreign examples, and what they change in a request."""


def known_sentences(name: str, foreign: bool) -> list[KnownSentence]:
    """The sentences of a file; empty without its setting."""
    if SETTINGS[name] not in setting_names(TEXT_GAME):
        return []
    setting = load(SETTINGS[name])
    prompts = Prompts(FOREIGN if foreign else setting.asking.prompts)
    text = (Path(__file__).parent / "sentences" / f"{name}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [KnownSentence.of(row, setting, prompts) for row in parse_examples("\n".join(lines))[1]]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks sentences")
    parser.add_argument("model")
    parser.add_argument("--base-url")
    parser.add_argument("--files", default=",".join(SETTINGS))
    parser.add_argument("--forms", default="", help="a part of their names")
    parser.add_argument("--wrong", action="store_true", help="print the wrong answers")
    chosen = parser.parse_args(arguments)
    files = chosen.files.split(",")
    model = make_endpoint(chosen.model, Endpoint(base_url=chosen.base_url, temperature=0.0), Access(key="none"))
    table = []
    for form, (foreign, change) in FORMS.items():
        cells, sums = list[str](), [0, 0, 0]
        for name in files if chosen.forms in form else ():
            asked = known_sentences(name, foreign)
            answers = [model.complete(replace(change(sentence.request), narrow=None)).text for sentence in asked]
            pairs = list(zip(asked, answers, strict=True))
            alone = sum(sentence.is_right(answer, complete=False) for sentence, answer in pairs)
            right = sum(sentence.is_right(answer) for sentence, answer in pairs)
            cells.append(f"{alone} {right} of {len(pairs)}")
            sums = [total + part for total, part in zip(sums, (alone, right, len(pairs)), strict=True)]
            wrong = ((sentence, answer) for sentence, answer in pairs if chosen.wrong and not sentence.is_right(answer))
            for sentence, answer in wrong:
                print(f"{sentence.question.command} | {sentence.question.sentence}\n    {answer}", flush=True)
        if cells:
            table.append([form, *cells, f"{sums[0]} {sums[1]} of {sums[2]}"])
    show("Sentences read right: by the model alone, and completed", ["", *files, "all"], table)
