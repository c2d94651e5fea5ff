"""The modes of text games: those of the paper, and a person."""

from __future__ import annotations

from collections.abc import Mapping

from pddlego.methods.base import Mode

TEXT_GAME = "text game"
"""The kind of settings that they play."""

ABLATIONS: Mapping[str, str] = {
    "feedback": "after an unusable answer the same question is asked again, without a word about what was wrong",
    "tolerance": "an answer must be the bare edit or file, and every line of an edit must fit",
    "replanning": "a plan is carried out to its end whatever the game answers, and the model is asked after each",
    "remedies": "nothing changes when a model repeats the answer that was just rejected, or a command is refused again",
    "ladder": "the goals of the paper, and its fixed rules in place of the others",
    "domain": "the domain of the paper, with its goals and its fixed rules",
    "prompts": "the prompts of the paper, in one message",
}
"""What can be taken out of a mode that plans."""

CHOOSING: Mapping[str, str] = {
    "check": "an answer that is no valid command is sent as it stands, and costs a step",
    "recipe": "commands that read the recipe are not shown",
    "prompts": ABLATIONS["prompts"],
}
"""What can be taken out of the mode in which a model chooses commands."""

WRITING: Mapping[str, str] = {
    "schemas": "no action is given: the model names its own actions, and says how each is typed",
    **{part: ABLATIONS[part] for part in ("feedback", "tolerance", "replanning", "remedies")},
}
"""What can be taken out of a mode in which the model writes the domain, too."""

WRITES_DOMAIN = ("full", "full-edit", "full-own-goals")
"""Modes in which a model writes the domain."""

PLANNING = ("edit", "gen", *WRITES_DOMAIN)
"""Modes in which a model writes problems and a planner plans."""

CONFIRMS = ("edits", "plans", "commands")
"""What a person may want to see before it takes effect."""

MODES = (
    Mode("edit", "the model edits the problem (PDDL-edit)", TEXT_GAME, ABLATIONS, CONFIRMS),
    Mode("gen", "the model writes the problem anew (PDDL-gen)", TEXT_GAME, ABLATIONS, CONFIRMS),
    Mode("act", "the model picks commands (Action-gen)", TEXT_GAME, CHOOSING, confirms=("commands",)),
    Mode("random", "any valid command", TEXT_GAME, confirms=("commands",), asks_model=False),
    Mode("human", "you type", TEXT_GAME, asks_model=False, needs_person=True),
    Mode("full", "the model writes the domain, too (PDDLego+)", TEXT_GAME, WRITING, ("plans", "commands")),
    Mode("full-edit", "the model edits domain and problem", TEXT_GAME, WRITING, ("plans", "commands")),
    Mode("full-own-goals", "the model writes the domain; our goals", TEXT_GAME, WRITING, ("plans", "commands")),
)
