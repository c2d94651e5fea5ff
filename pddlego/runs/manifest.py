"""The manifest of a run folder: how its episodes are played, and its surroundings (versions, the git revision)."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError
from pddlego.runs.folders import MANIFEST
from pddlego.runs.journal import SCHEMA
from pddlego.util.children import for_children
from pddlego.util.files import read_run_file

RESUMED, CONFIRMED = "resumed", "confirmed"
"""In a manifest: where its episode began, if not at the beginning, and what a person was asked about in it."""

_PACKAGES = ("pddlego", "fast-downward.translate", "pyperplan", "openai")


def environment_manifest() -> dict[str, Any]:
    """Versions, and the git revision of the working directory, if any."""
    return {
        "versions": {
            "python": platform.python_version(),
            **{name: installed_version(name) for name in _PACKAGES},
        },
        "git": _revision(),
    }


def installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _revision() -> str | None:
    try:
        command, kept = ["git", "rev-parse", "HEAD"], for_children()
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False, env=kept)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a run folder. Raises `UsageError` if it cannot be read."""
    place = path / MANIFEST
    try:
        manifest = json.loads(read_run_file(place))
    except OSError as error:
        raise UsageError(
            f"{path} is not a run folder", f"{place.name}: {error.strerror}.", "Check the path."
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is damaged", f"{place.name} is not JSON.", "Restore the file.") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("configuration", {}), dict):
        raise UsageError(f"{path} is damaged", f"{place.name} holds no manifest.", "Restore the file.")
    schema = manifest.get("schema", SCHEMA)
    if schema != SCHEMA:
        what = f"{path} was written by another version of pddlego"
        reason = f"Its schema is {schema}; this version reads schema {SCHEMA}."
        raise UsageError(what, reason, "Use the version that wrote it.")
    return manifest


def read_configuration(path: Path) -> dict[str, Any]:
    """The configuration in a manifest, with `settings` that each have a method, options and digests of files.

    Empty where the manifest has none. Raises `UsageError` for a manifest that cannot be read or has another shape.
    """
    configuration: dict[str, Any] = read_manifest(path).get("configuration", {})
    try:
        for name, kept in dict(configuration.get("settings", {})).items():
            if not (isinstance(kept["method"], str) and isinstance(kept["options"], dict)):
                raise ValueError(f"setting '{name}' has no method or no options")
            dict(kept.get("files") or {})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"Its {MANIFEST} does not say what was played ({type(error).__name__}: {error})."
        raise UsageError(f"{path} is damaged", reason, "Restore it.") from error
    return configuration


def recorded_setting(settings: Mapping[str, Any], name: str, method: str) -> Mapping[str, Any] | None:
    """How a setting was played by a method; one that several methods play is recorded for each of them."""
    both: Mapping[str, Any] | None = settings.get(f"{name} ({method})")
    return both if both is not None else settings.get(name)
