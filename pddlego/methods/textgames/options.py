"""The modes and options of text games, and the parts that variants remove from modes."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import isfile
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from pddlego.methods.base import Carried, Mode, Variant, base_mode
from pddlego.util.files import read_text
from pddlego.util.options import SET, Flag, Options, internal, option


def _text(value: object) -> object:
    """The value of a game's parameter as text; a file may have a number."""
    return str(int(value)) if isinstance(value, int) else value


def _file_or_text(value: object) -> object:
    """The text of the file of that name, or else the text itself."""
    if not isinstance(value, str) or not value.strip():
        return value
    if not isfile(value):  # noqa: PTH113 -- it accepts any text
        if " " not in value.strip() and Path(value).suffix:
            raise ValueError(f"{value} is neither a file nor a sentence")
        return value.strip()
    if not (text := read_text(Path(value)).strip()):
        raise ValueError(f"the file {value} is empty")
    return text


class TextGameOptions(Options):
    """The options of an episode. `parameters` are the game's own parameters (`--set`).

    `search` is the search for every goal. `searches` are searches by the goal's name, and take precedence. `replan` is
    when the model is asked: after a mismatch and at the end of a plan, or after every step. `domain_from`, `rules_from`
    and `transitions_from` are runs or files with the text to begin from (`Carried`).
    """

    model_config = ConfigDict(title="Text games")

    fold: str | None = option(
        None, "The part of the game: train, dev or test.", Flag(default="the game's", typed=False)
    )
    max_steps: int | None = option(None, "Commands per episode.", Flag(default="the game's"), ge=1)
    search: str | None = option(None, "bfs, astar(lmcut), gbf(hff), …", Flag(default="the goal's"))
    replan: Literal["on-surprise", "every-step"] = option(
        "on-surprise", "Ask the model on-surprise or every-step.", SET
    )
    history: Literal["news", "all"] = option("news", "What the model is sent: news, or all (the whole history).", SET)
    valid_actions: Literal["last", "all"] = option(
        "last", "Mode act: show valid actions of the last turn, or of all.", SET
    )
    rewind: bool = option(False, "After a refused command, restart and repeat what worked.", SET)
    constraint: Annotated[str, BeforeValidator(_file_or_text)] = option(
        "", "What plans must keep: a sentence, PDDL, or a file with either.", Flag(changes_task=True, typed=False)
    )
    unknown: Literal["avoid", "allow", "never"] = option(
        "avoid", "With a constraint: avoid, allow or never enter rooms without a name.", SET
    )
    truth: bool = option(False, "Show live which facts of the model are true.", Flag(affects_episodes=False))
    domain_from: str | None = internal(None)
    rules_from: str | None = internal(None)
    transitions_from: str | None = internal(None)
    java: str | None = option(
        None, "Path of a Java runtime.", Flag(affects_episodes=False, default="the bundled one", typed=False)
    )
    parameters: dict[str, Annotated[str, BeforeValidator(_text)]] = Field(default_factory=dict)
    searches: dict[str, str] = Field(default_factory=dict)


TEXT_GAME = "text game"
"""The kind of setting that these modes play."""

CONTENT_RULES = "content-rules"
"""The part of the paper's script that reads what rooms and containers hold."""

ABLATIONS: Mapping[str, str] = {
    "feedback": "after an unusable answer the same question is asked again, without a word about what was wrong",
    "tolerance": "an answer must be the bare edit or file, and every line of an edit must fit",
    "replanning": "a plan is carried out to its end whatever the game answers, and the model is asked after each",
    "remedies": "nothing changes when a model repeats the answer that was just rejected, or a command is refused again",
    "ladder": "the goals of the paper, and its fixed rules in place of the others",
    "domain": "the domain of the paper, with its goals and its fixed rules",
    "prompts": "the prompts of the paper, in one message",
    CONTENT_RULES: "a second model instance lists what rooms and opened containers hold, not rules of the script",
}
"""The removable parts of a mode that plans, and how the mode works without each."""

_EDITING: Mapping[str, str] = {**ABLATIONS, "look": "an answer cannot say where to look"}
"""The removable parts of the mode in which a model edits problem files."""

_GENERATING: Mapping[str, str] = {
    **_EDITING,
    "start-file": "the first problem file is the model's: the requests before it show an empty one",
}
"""The removable parts of the mode in which a model writes whole problem files."""

CHOOSING: Mapping[str, str] = {
    "check": "an answer without a valid command sends an empty command, which costs a step",
    "recipe": "commands that read the recipe are not shown",
    "sequences": "an answer is one command; what follows it is not read",
    "prompts": ABLATIONS["prompts"],
}
"""The removable parts of the mode in which a model chooses commands."""

OFFERED = ("look", "sequences")
"""The parts that are only in an answer if the request offers them."""

_CHOOSING_GOALS: Mapping[str, str] = {
    "schemas": "no action is given: the model names its own actions, and says how each is typed",
    **{part: ABLATIONS[part] for part in ("feedback", "tolerance", "replanning", "remedies")},
    "hint": "the request does not say which goals to choose",
    "detailed-goal": "the request does not say which form goals have, and how they are used",
}
"""The removable parts of a mode in which the model also writes the domain and the goals."""

_LEARNING: Mapping[str, str] = {
    "check": "rules are used as they are written: their form, slots, types and effects are not checked",
    "opinions": "where things usually are is not asked: the tables of the built-in reader say it",
    **{part: ABLATIONS[part] for part in ("feedback", "replanning", "remedies")},
}
"""The removable parts of the mode in which a model writes reading rules."""

FULL_STEPS = "full+steps"
WRITES_DOMAIN = ("full", "full-edit", FULL_STEPS)
"""Modes in which a model writes the domain."""

STEPS = ("domain", "problem", "goals")
"""The parts of an answer in mode `full+steps`, with a request for each."""


def requests_of(mode: str) -> int:
    """The maximum number of requests for one answer in a mode or a variant of it."""
    return {FULL_STEPS: len(STEPS), LEARN_FACTS: 2 * MOST_SENTENCES}.get(base_mode(mode), 1)


LEARN, LEARN_FACTS = "learn", "learn-facts"
"""The mode in which a model writes the rules by which observations are read, and its variant in which the rules are
made from the facts that the model states for single sentences."""

LEARNING = (LEARN, LEARN_FACTS)
"""Modes with rules of a model."""

LEARN_ACTIONS = "edit+learn-actions"
"""The mode in which a model edits problems, and the actions are learned from what they did."""


def repeats_answers(variant: Variant) -> bool:
    """Whether a resumed episode repeats its recorded answers: more depends on them than the last problem."""
    return variant.mode.name in (*LEARNING, LEARN_ACTIONS) or CONTENT_RULES in variant.without


MOST_SENTENCES = 30
"""The maximum number of sentences, with one or two requests for each, of an answer in mode `learn-facts`."""

DOMAIN, RULES = Carried("domain", "pddl"), Carried("rules", "toml")
"""What a model writes beside problems: a domain with the commands of its actions, or reading rules."""

TRANSITIONS = Carried("transitions", "jsonl", of_lost=True)
"""What commands did, from which actions are learned."""

PLANNING = ("edit", LEARN_ACTIONS, "gen", *LEARNING, *WRITES_DOMAIN)
"""Modes in which a model writes problems and a planner plans."""

ACT_COT = "act+cot"
"""The mode in which a model reasons before it chooses a command."""

_CHOOSES = ("act", ACT_COT)

READ_BY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("planner", "search", "searches", "replan", "rewind"), PLANNING),
    **dict.fromkeys(("constraint", "unknown"), tuple(mode for mode in PLANNING if mode != LEARN_ACTIONS)),
    **dict.fromkeys(("valid_actions", "prompts/act"), _CHOOSES),
    "history": (*PLANNING, *_CHOOSES),
    "prompts/edit": ("edit", LEARN_ACTIONS),
    "prompts/gen": ("gen",),
    "prompts/full": WRITES_DOMAIN,
    "prompts/learn": LEARNING,
    "prompts/facts": (LEARN_FACTS,),
}
"""The modes that read an option or prompts (`Method.read_by`)."""

_PLANS = ("plans", "commands")
_CONFIRMS = ("edits", *_PLANS)
"""The decisions that the user can approve before they take effect (`--confirm`)."""

_PAPER = ("domain", "prompts", "replanning", "feedback", "tolerance", "remedies")
_TOGETHER = (("feedback", "tolerance"), _PAPER)
_FILES = (_CONFIRMS, _TOGETHER)
_SUBGOAL = (("hint", "detailed-goal"),)
"""Parts that are removed together: in the tables of ablations, and for the goal type *subgoal* of PDDLego+."""

MODES = (
    Mode("edit", "the model edits the problem (PDDL-edit)", TEXT_GAME, _EDITING, *_FILES, rewarded=True, carries=RULES),
    Mode(LEARN_ACTIONS, "as edit, and play teaches the actions", TEXT_GAME, confirms=_PLANS, carries=TRANSITIONS),
    Mode("gen", "the model writes the problem anew (PDDL-gen)", TEXT_GAME, _GENERATING, *_FILES, rewarded=True),
    Mode("act", "the model picks commands (Action-gen)", TEXT_GAME, CHOOSING, confirms=("commands",)),
    Mode(ACT_COT, "with a chain of thought before each command", TEXT_GAME, CHOOSING, confirms=("commands",)),
    Mode("random", "any valid command", TEXT_GAME, confirms=("commands",), asks_model=False),
    Mode("gold", "the engine's own solution", TEXT_GAME, asks_model=False),
    Mode("human", "you type", TEXT_GAME, asks_model=False, needs_person=True),
    Mode(LEARN, "the model writes the rules that read the game", TEXT_GAME, _LEARNING, _PLANS, carries=RULES),
    Mode(LEARN_FACTS, "as learn, from the facts of single sentences", TEXT_GAME, _LEARNING, _PLANS, carries=RULES),
    Mode(
        "full",
        "the model writes the domain, too (PDDLego+)",
        TEXT_GAME,
        _CHOOSING_GOALS,
        _PLANS,
        _SUBGOAL,
        carries=DOMAIN,
    ),
    Mode("full-edit", "the model edits domain and problem", TEXT_GAME, _CHOOSING_GOALS, _PLANS, carries=DOMAIN),
    Mode(FULL_STEPS, "domain, problem and goals one by one", TEXT_GAME, _CHOOSING_GOALS, _PLANS, carries=DOMAIN),
)
