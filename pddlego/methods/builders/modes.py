"""The modes of builders: how a domain and a problem are extracted from a description."""

from __future__ import annotations

from pddlego.methods.base import Mode

TEXT = "text"
"""The kind of settings that they play: a description, and the gold domain with tasks to judge by."""

PARTS = {
    "checks": "what checks find in a component does not go back: it is taken as it was written",
    "review": "no model looks at the whole when it is built",
}

MODES = (
    Mode("build", "the model builds domain and problem, component by component", TEXT, PARTS, ("files",)),
    Mode("build-whole", "the model writes whole files", TEXT, PARTS, ("files",)),
    Mode("build-by-action", "action by action, with a growing list of predicates", TEXT, PARTS, ("files",)),
    Mode("build-problem", "the domain is given, the problem built (LLM+P)", TEXT, PARTS, ("files",)),
)
