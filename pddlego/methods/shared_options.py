"""Options that several methods share, and the kind of settings that several play."""

from __future__ import annotations

from typing import Literal

from pddlego.util.options import Options, option

PLANNING = "planning"
"""The kind of settings that are a planning domain with tasks."""


class TaskOptions(Options):
    """`tasks` is a folder, or a tar archive of one, that replaces the setting's own tasks."""

    tasks: str | None = option(None, "Your own tasks: a folder or tar archive (docs/programs.md).")


class SandboxOptions(Options):
    """Running Python that a model wrote. `eval_timeout` is in seconds of CPU time; None: as long as in the tests.

    `parity` does what the paper's code did where pddlego deviates from it (docs/programs.md, docs/search.md).
    """

    isolation: Literal["required", "best-effort", "off"] = option("required", "Sandbox: required, best-effort or off.")
    eval_timeout: float | None = option(None, "Seconds of CPU time per evaluation task.", gt=0, le=86_400)
    parity: Literal["off", "paper"] = option("off", "paper: behave like the paper's code.")
