"""What must be said of some models wherever their numbers are shown."""

from __future__ import annotations

from collections.abc import Collection

RULES = "'reader' is the built-in reader: rules, no language model."
SIMULATION = "'reader+noise' is a simulation: the built-in reader, erring on purpose at a given rate."


def is_simulation(name: str) -> bool:
    """Whether the model of this name errs on purpose."""
    return name.startswith("reader+")


def remarks(names: Collection[str]) -> list[str]:
    """What must be said of models of these names."""
    found = [RULES] if "reader" in names else []
    return [*found, *([SIMULATION] if any(map(is_simulation, names)) else [])]


def label(name: str) -> str:
    """A model's name as it is shown to people."""
    return f"{name} (simulation)" if is_simulation(name) else name
