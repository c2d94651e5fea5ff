"""Names of methods: a mode of the paper, and what is taken out of it to measure what that is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pddlego.errors import UsageError

MODES = ("edit", "gen", "act", "random", "human")

PLANNING = ("edit", "gen")
"""Modes in which a model writes problems and a planner plans."""

ABLATIONS: Mapping[str, str] = {
    "feedback": "after an unusable answer the same question is asked again, without a word about what was wrong",
    "tolerance": "an answer must be the bare edit or file, and every line of an edit must fit",
    "remedies": "nothing changes when a model repeats the answer that was just rejected, or a command is refused again",
}
"""What can be taken out of a mode that plans."""

_WITHOUT = "-no-"


@dataclass(frozen=True)
class Mode:
    """A mode, `without` some of `ABLATIONS`. As text: `edit`, or `edit-no-feedback-no-tolerance`."""

    base: str
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _WITHOUT.join((self.base, *self.without))

    @property
    def plans(self) -> bool:
        """Whether there are problems and plans in it."""
        return self.base in PLANNING


def whole(mode: str) -> str:
    """The mode that a mode without some of its parts is compared with; any other name as it is."""
    return mode.partition(_WITHOUT)[0]


def parse_mode(text: str) -> Mode:
    """A mode by its name. Raises `UsageError` if there is none of that name."""
    base, *without = text.split(_WITHOUT)
    if base not in MODES:
        raise UsageError(
            f"There is no mode '{text}'",
            f"The modes are: {', '.join(MODES)}.",
            "Choose one; edit-no-feedback is one without a part.",
        )
    mode = Mode(base, tuple(sorted(without)))
    unknown = [each for each in without if each not in ABLATIONS]
    if unknown or (without and not mode.plans) or len(set(without)) < len(without):
        why = f"From {' and '.join(PLANNING)} these can be taken, each once: {', '.join(ABLATIONS)}."
        raise UsageError(f"There is no mode '{text}'", why, "Example: edit-no-feedback.")
    return mode


def ablated(modes: Iterable[str], ablations: Iterable[str]) -> tuple[str, ...]:
    """Every mode, and after one that plans the same without each of the ablations (`feedback+tolerance` is both).

    Raises `UsageError` for an ablation that does not exist.
    """
    found: list[str] = []
    listed = [each.split("+") for each in ablations]
    for mode in map(str, map(parse_mode, modes)):
        found.append(mode)
        if parse_mode(mode).plans:
            found += [str(parse_mode(_WITHOUT.join(dict.fromkeys((*mode.split(_WITHOUT), *each))))) for each in listed]
    return tuple(dict.fromkeys(found))
