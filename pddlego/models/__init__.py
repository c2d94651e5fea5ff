"""Models: endpoints of language models, recorded answers, scripts, functions of Python programs."""

from pddlego.models.base import Completion, Message, Model, Request

__all__ = ["Completion", "Message", "Model", "Request"]
