"""Who answers a request: a language model's endpoint, the built-in reader, a recorded transcript."""

from pddlego.models.base import Completion, Message, Model, Request

__all__ = ["Completion", "Message", "Model", "Request"]
