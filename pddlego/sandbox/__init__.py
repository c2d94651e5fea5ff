"""Runs Python programs of models in isolated processes. Imports only `errors` and `util` of the package."""

from pddlego.sandbox.jail.values import TooLargeError, differs
from pddlego.sandbox.result import CallResult, SandboxLimits, Status
from pddlego.sandbox.sandbox import ISOLATIONS, Isolation, Sandbox, SandboxSession

__all__ = [
    "ISOLATIONS",
    "CallResult",
    "Isolation",
    "Sandbox",
    "SandboxLimits",
    "SandboxSession",
    "Status",
    "TooLargeError",
    "differs",
]
