"""The methods: from a situation to a request, and from the answer to a problem or a command. No game, no network."""

from pddlego.formalize.act import ActionGen, RandomActions
from pddlego.formalize.base import CommandProposal, CommandSource, Formalizer, ProblemProposal, with_unmatched
from pddlego.formalize.edit import PddlEdit
from pddlego.formalize.gen import PddlGen, read_file
from pddlego.formalize.human import HumanActions

__all__ = [
    "ActionGen",
    "CommandProposal",
    "CommandSource",
    "Formalizer",
    "HumanActions",
    "PddlEdit",
    "PddlGen",
    "ProblemProposal",
    "RandomActions",
    "read_file",
    "with_unmatched",
]
