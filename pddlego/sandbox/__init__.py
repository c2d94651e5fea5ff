"""Runs Python that a model wrote where it can do no harm. Imports nothing of the rest but `errors` and `util`."""

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
