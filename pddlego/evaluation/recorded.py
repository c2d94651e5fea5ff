"""How an episode was played: its journal together with the manifest of its run folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego.errors import JournalError, PddlegoError, UsageError
from pddlego.evaluation.config import Config, Limits
from pddlego.evaluation.setup import Played
from pddlego.events import Event, Started
from pddlego.methods.registry import make_codec, method
from pddlego.models.endpoint import Endpoint
from pddlego.planning.make import PlannerOptions
from pddlego.runs.cells import Cell
from pddlego.runs.folders import MANIFEST
from pddlego.runs.journal import Journal, read_journal
from pddlego.runs.kept import DOMAIN_FROM
from pddlego.runs.manifest import read_configuration, recorded_setting


@dataclass(frozen=True)
class Recorded:
    """An episode as it was recorded, and with what it was played.

    `changed` names the files (settings, domain, prompts) that are not what they were then.
    """

    journal: Journal
    started: Started
    played: Played
    config: Config
    changed: tuple[str, ...]

    @property
    def cell(self) -> Cell:
        """What was played. Which repeat of it it was, its journal does not say."""
        return Cell(self.started.setting, self.started.mode, self.started.model, self.started.seed)

    @property
    def events(self) -> tuple[Event, ...]:
        return self.journal.events


def load_recorded(path: Path, changes: Mapping[str, Any] | None = None) -> Recorded:
    """Read an episode and its manifest. `changes` are options with another value than then, as far as its method has
    them.

    Raises `UsageError` and `JournalError`.
    """
    journal = read_journal(path, make_codec())
    if journal.started is None:
        raise JournalError(f"{path} holds no episode", "Its first line is not a beginning.", "Name another one.")
    folder = path.parent.parent
    try:
        return _recorded(journal, journal.started, read_configuration(folder), changes or {})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{MANIFEST} does not say how the episode was played ({type(error).__name__}: {error})."
        raise UsageError(f"{folder} is damaged", why, "Restore the file.") from error
    except PddlegoError as error:
        why = f"{error.what}. {error.why}"
        raise UsageError(f"{path.name} cannot be played again", why, error.next_step) from error


def _recorded(journal: Journal, started: Started, manifest: Mapping[str, Any], changes: Mapping[str, Any]) -> Recorded:
    kept = recorded_setting(manifest["settings"], started.setting, started.played_by)
    if kept is None:
        raise KeyError(f"no setting {started.setting}")
    played_by = method(kept["method"])
    # The domain that an episode began with stands in its journal: the run that it came from may be gone.
    own = {name: value for name, value in kept["options"].items() if name != DOMAIN_FROM}
    own |= {name: value for name, value in changes.items() if name in played_by.options.model_fields}
    options = played_by.options.model_validate(own)
    setting = played_by.load(started.setting, options)
    return Recorded(
        journal=journal,
        started=started,
        played=Played(played_by.name, options, setting),
        config=Config(
            endpoint=Endpoint.model_validate(manifest["endpoint"]),
            planner=PlannerOptions.model_validate(manifest["planner"]),
            limits=Limits(retries=manifest["limits"]["retries"]),
        ),
        changed=tuple(_changed(setting.sources, {**(kept.get("files") or {}), DOMAIN_FROM: ""})),
    )


def _changed(texts: Mapping[str, str], digests: Mapping[str, str]) -> Iterator[str]:
    for name, digest in digests.items():
        now = hashlib.sha256(texts[name].encode()).hexdigest() if name in texts else ""
        if not now.startswith(digest):
            yield name
