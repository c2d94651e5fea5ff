"""Run folders of schema 1, as values of schema 2: when it was written there were text games only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT_GAMES = "textgames"

OWN = frozenset({"observed", "planned", "resumed"})
"""What only text games have."""

_COMPLETION = (
    *("text", "tokens_in", "tokens_out", "tokens_cached", "seconds", "attempts"),
    *("estimated", "finish", "from_cache", "reasoning"),
)


def upgraded(event: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """An event as it is written now, and its method (empty for what every method has). Raises `KeyError`."""
    value = dict(event)
    kind = value["type"]
    if kind in OWN:
        return value, TEXT_GAMES
    if kind == "started":
        details = {"goals": value.pop("goals"), "map": value.pop("map", None)}
        value |= {"played_by": TEXT_GAMES, "details": details}
    elif kind == "asked":
        value |= {"temperature_increase": value.pop("warmth", 0.0), "max_tokens": value.pop("room", None)}
    elif kind == "retrying":
        trouble = {name: value.pop(name) for name in ("why", "tries", "most")} | {"seconds": value.pop("wait")}
        value["trouble"] = trouble
    elif kind == "answered":
        value["completion"] = {name: value.pop(name) for name in _COMPLETION if name in value}
    elif kind == "rejected":
        value["feedback"] = {name: value.pop(name) for name in ("category", "message", "evidence") if name in value}
    elif kind == "formalized":
        value |= {"type": "accepted", "kind": "problem", "text": value.pop("problem")}
    return value, ""


def upgraded_summary(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """A line of `results.jsonl` as it is written now. What it lacks is as it is in an empty one."""
    if "measures" in summary:
        return summary
    value = dict(summary)
    tally = value.get("tally")
    used: Mapping[str, Any] = tally if isinstance(tally, Mapping) else {}
    numbers = {"steps": used.get("steps", 0), "refused": used.get("refused", 0), "surprises": value.pop("surprises", 0)}
    counts = {name: value.pop(name, {}) for name in ("rungs", "rejected", "lines", "defects")}
    return {**value, "measures": {"numbers": numbers, "counts": counts}}


def upgraded_manifest(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """A manifest as it is written now: that of an evaluation, whatever it is of. Raises `KeyError`, `TypeError`."""
    if manifest.get("schema", 1) > 1 and "configuration" in manifest:
        return manifest
    if "configuration" in manifest:
        configuration = dict(manifest["configuration"])
    else:  # of a single episode
        model = manifest["model"]
        kept = {**manifest["setting"], "files": manifest.get("digests") or {}}
        configuration = {name: manifest[name] for name in ("retries", "replan", "planner")}
        configuration |= {"settings": {kept["name"]: kept}, "endpoint": model.get("base_url")}
        configuration["temperature"] = model.get("temperature", 1.0)
    replan = configuration.pop("replan")
    settings = {name: _setting(kept, replan) for name, kept in configuration["settings"].items()}
    return {**manifest, "configuration": {**configuration, "settings": settings}}


def _setting(kept: Mapping[str, Any], replan: str) -> dict[str, Any]:
    options = {
        "fold": kept["fold"],
        "max_steps": kept["max_steps"],
        "replan": replan,
        "parameters": kept["overrides"],
        "search": None,
        "searches": {rung["name"]: rung["search"] for rung in kept["ladder"]},
    }
    return {**kept, "method": TEXT_GAMES, "options": options}
