"""The methods: from a situation to a request, and from the answer to a problem or a command. No game, no network."""

from pddlego.methods.textgames.formalize.act import ActionGen, RandomActions
from pddlego.methods.textgames.formalize.base import (
    CommandProposal,
    Formalizer,
    ProblemProposal,
    with_unmatched,
    without_planned,
)
from pddlego.methods.textgames.formalize.edit import PddlEdit
from pddlego.methods.textgames.formalize.full import FullFormalizer
from pddlego.methods.textgames.formalize.full_edit import FullEditor
from pddlego.methods.textgames.formalize.gen import PddlGen, read_file
from pddlego.methods.textgames.formalize.human import HumanActions

__all__ = [
    "ActionGen",
    "CommandProposal",
    "Formalizer",
    "FullEditor",
    "FullFormalizer",
    "HumanActions",
    "PddlEdit",
    "PddlGen",
    "ProblemProposal",
    "RandomActions",
    "read_file",
    "with_unmatched",
    "without_planned",
]
