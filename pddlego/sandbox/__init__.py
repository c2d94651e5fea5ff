"""Runs Python programs of models in isolated processes. Imports only `errors` and `util` of the package."""

from pddlego.sandbox.jail.values import TooLargeError, differs
from pddlego.sandbox.result import (
    Call,
    CallResult,
    Changed,
    Expansion,
    ExpansionResult,
    SandboxLimits,
    SandboxState,
    Status,
)
from pddlego.sandbox.sandbox import ISOLATIONS, Isolation, Sandbox, Session

__all__ = [
    "ISOLATIONS",
    "Call",
    "CallResult",
    "Changed",
    "Expansion",
    "ExpansionResult",
    "Isolation",
    "Sandbox",
    "SandboxLimits",
    "SandboxState",
    "Session",
    "Status",
    "TooLargeError",
    "differs",
]
