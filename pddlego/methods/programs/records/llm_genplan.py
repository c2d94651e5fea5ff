"""Reads the conversations in a clone of the repository of Silver et al. (2024): `transcript:llm-genplan:PATH`.

`llm_cache/pg3-NAME_SEED_EXPERIMENT/` is one conversation: `N-prompt.txt` and `N-response.txt`, N = 0 for the summary, 2
for the strategy, 3 for the program, and from 4 for corrections.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pddlego.models.transcript import Conversation, Turn
from pddlego.tasks.llm_genplan import ABLATED, NAMES, PREFIX, clone
from pddlego.util.clone import Clone

_CACHE = "llm_genplan/llm_cache"
_PURPOSES = {0: "summarize", 2: "strategy", 3: "implement"}
_EXPERIMENTS = {
    "chatgpt4": ("gpt-4", "gpt-4"),
    "chatgpt4-no-cot": ("gpt-4", "gpt-4 no-cot"),
    "chatgpt3": ("gpt-3.5", "gpt-3.5"),
    f"{ABLATED}chatgpt4-no-words": ("gpt-4", "gpt-4 no-names"),
}
"""The model and the variant of the authors' experiments; the one without names is about domains without names."""

_FOLDER = re.compile(rf"pg3-([a-z]+)({ABLATED})?_(\d{{1,6}})_(chatgpt[a-z0-9-]+)")


@lru_cache(maxsize=8)
def cached_conversations(place: str, domain: str) -> tuple[Conversation, ...] | None:
    """The conversations about a domain of ours in the clone `llm-genplan:PATH`; None if `place` is not such a clone.

    Raises `SettingError`.
    """
    if not place.startswith(PREFIX):
        return None
    source = clone(place.removeprefix(PREFIX))
    known: list[Conversation] = []
    for folder in source.names(_CACHE):
        match = _FOLDER.fullmatch(folder)
        experiment = _EXPERIMENTS.get(f"{match[2] or ''}{match[4]}") if match else None
        if match is None or experiment is None or match[1] != NAMES.get(domain):
            continue
        model, variant = experiment
        seed, turns = int(match[3]), _turns(source, f"{_CACHE}/{folder}")
        known.append(Conversation(model=model, domain=domain, seed=seed, variant=variant, turns=turns, id=folder))
    if not known:
        raise source.wrong(_CACHE, f"it has no conversation about {domain}")
    return tuple(known)


def _turns(source: Clone, folder: str) -> tuple[Turn, ...]:
    """The answers of a conversation with their prompts, in order."""
    names = re.findall(r"^(\d{1,3})-response\.txt$", "\n".join(source.names(folder)), re.MULTILINE)
    return tuple(
        Turn(
            answer=source.text(f"{folder}/{number}-response.txt"),
            prompt=source.text(f"{folder}/{number}-prompt.txt"),
            purpose=_PURPOSES.get(number, "debug"),
        )
        for number in map(int, names)
    )
