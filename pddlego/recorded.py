"""How an episode was played: its journal together with the manifest of its run folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pddlego.episode import Episode
from pddlego.episodes import prompt_texts
from pddlego.errors import JournalError, PddlegoError, UsageError
from pddlego.events import EpisodeStarted, Event, Observed
from pddlego.journal import MANIFEST, read_told
from pddlego.models.make import ModelOptions
from pddlego.planning import Search
from pddlego.setting_files import load_setting
from pddlego.settings import Setting


@dataclass(frozen=True)
class Recorded:
    """An episode as it was recorded: every event with the seconds since the start, and with what it was played.

    `changed` names the files (settings, domain, prompts) that are not what they were then.
    """

    journal: Path
    told: tuple[tuple[Event, float], ...]
    episode: Episode
    model: ModelOptions
    planner: tuple[str, float, int]
    changed: tuple[str, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for event, _ in self.told)

    @property
    def observed(self) -> tuple[Observed, ...]:
        return tuple(each for each in self.events if isinstance(each, Observed))


def load_recorded(journal: Path) -> Recorded:
    """Read an episode and its manifest. Raises `UsageError` and `JournalError`."""
    told = tuple(read_told(journal))
    started = told[0][0] if told else None
    if not isinstance(started, EpisodeStarted):
        raise JournalError(f"{journal} holds no episode", "Its first line is not a beginning.", "Name another one.")
    place = journal.parent.parent / MANIFEST
    try:
        manifest = json.loads(place.read_text(encoding="utf-8"))
        return _recorded(journal, told, started, manifest)
    except OSError as error:
        raise UsageError(f"{place} cannot be read", f"{error.strerror}.", "A journal needs its run folder.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}."
        raise UsageError(f"{place} is damaged", why, "Restore it: it says how the episode was played.") from error
    except PddlegoError as error:
        why = f"{error.what}. {error.why}"
        raise UsageError(f"{journal.name} cannot be played again", why, error.next_step) from error


def _recorded(
    journal: Path, told: tuple[tuple[Event, float], ...], started: EpisodeStarted, manifest: Mapping[str, Any]
) -> Recorded:
    if "configuration" in manifest:  # of an evaluation
        manifest = manifest["configuration"]
        kept = manifest["settings"][started.setting]
        base_url, temperature = manifest["endpoint"], manifest["temperature"]
    else:
        kept = manifest["setting"]
        base_url, temperature = manifest["model"].get("base_url"), manifest["model"].get("temperature", 1.0)
    setting = _setting(kept)
    episode = Episode(
        setting, started.seed, started.mode, started.limits, manifest["retries"], manifest["replan"] == "every-step"
    )
    planner = manifest["planner"]
    return Recorded(
        journal,
        told,
        episode,
        ModelOptions(started.model, base_url, None, temperature, started.seed),
        (planner["engine"], float(planner["timeout"]), int(planner["memory"])),
        tuple(_changed(setting, manifest.get("digests") or kept.get("files") or {})),
    )


def _setting(kept: Mapping[str, Any]) -> Setting:
    setting = load_setting(kept["name"], kept["overrides"], kept["max_steps"], kept["fold"])
    searches = {each["name"]: Search.parse(each["search"]) for each in kept["ladder"]}
    rungs = tuple(replace(each, search=searches.get(each.name, each.search)) for each in setting.ladder)
    return replace(setting, ladder=rungs)


def _changed(setting: Setting, digests: Mapping[str, str]) -> Iterator[str]:
    texts = {**setting.sources, **{f"prompts/{name}.j2": text for name, text in prompt_texts(setting.prompts)}}
    for name, digest in digests.items():
        now = hashlib.sha256(texts[name].encode()).hexdigest() if name in texts else ""
        if not now.startswith(digest):
            yield name
