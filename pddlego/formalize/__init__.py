"""The methods: from a situation to a request, and from the answer to a problem or a command. No game, no network."""

from pddlego.formalize.act import ActionGen, RandomActions
from pddlego.formalize.base import CommandProposal, CommandSource, Formalizer, ProblemProposal, with_unmatched
from pddlego.formalize.edit import PddlEdit
from pddlego.formalize.gen import PddlGen

__all__ = [
    "ActionGen",
    "CommandProposal",
    "CommandSource",
    "Formalizer",
    "PddlEdit",
    "PddlGen",
    "ProblemProposal",
    "RandomActions",
    "with_unmatched",
]
