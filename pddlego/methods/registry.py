"""The registry of methods. It holds names, and imports a method on first use.

A package adds a method with an entry point in the group `pddlego.methods` that names a `Method`. Our own methods are
listed here, because their order matters: the first mode for a kind of setting is its default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pydantic import BaseModel

from pddlego.errors import UsageError
from pddlego.methods.base import RESERVED, WITHOUT, Measuring, Method, Mode, Variant, base_mode, parse_variant
from pddlego.methods.old_modes import REMOVED
from pddlego.util.resources import entry_points_of, guests, installed, is_offered
from pddlego.util.text import suggestion
from pddlego.util.unexpected import located

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pddlego.display.screens import Screen
    from pddlego.runs.journal import Codec

_OWN = tuple(
    name
    for name in ("textgames", "programs", "thought_of_search", "graphplan", "builders")
    if find_spec(f"pddlego.methods.{name}")
)
"""Our own methods in the order of every list: the packages in `pddlego.methods`, each with a `METHOD`."""


def _method_names() -> list[str]:
    """All methods: ours first, then those of other packages by name."""
    return [*_OWN, *sorted({entry.name for entry in entry_points_of("methods")} - set(_OWN))]


def _guest(name: str) -> EntryPoint | None:
    """The entry point of a method of another package, which cannot replace one of ours; None without one."""
    return None if name in _OWN else {entry.name: entry for entry in entry_points_of("methods")}.get(name)


@lru_cache(maxsize=64)
def method(name: str) -> Method:
    """The method of that name. Raises `UsageError` if it does not exist, or if it cannot be loaded."""
    if name in _OWN:
        own: Method = import_module(f"pddlego.methods.{name}").METHOD
        return own
    entry = _guest(name)
    if entry is None:
        known = ", ".join(_method_names())
        advice = suggestion(name, _method_names(), "Install its package.")
        raise UsageError(f"Unknown method '{name}'", f"The methods are: {known}.", advice)
    try:
        loaded: Method = entry.load()
        fault = _fault(loaded, name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 -- another package's code: its faults are not ours
        fault = located(error)
    if fault:
        reason = f"{entry.value}: {fault}."
        raise UsageError(f"The method '{name}' cannot be loaded", reason, "Fix or remove its package.")
    return loaded


def _fault(loaded: Method, name: str) -> str:
    """Why the method of another package cannot be used; empty if it can."""
    if not isinstance(loaded, Method):
        return "it is not a Method of pddlego.methods.base"
    if loaded.name != name:
        return f"it calls itself '{loaded.name}'"
    if not (isinstance(loaded.options, type) and issubclass(loaded.options, BaseModel)):
        return "its options are not a pydantic model"
    if not loaded.modes or not all(isinstance(mode, Mode) for mode in loaded.modes):
        return "its modes are not values of Mode"
    taken = [column.name for column in loaded.measuring.columns if column.name in RESERVED]
    return f"it has a column '{taken[0]}', which is a reserved name" if taken else ""


def broken_methods() -> list[UsageError]:
    """The errors of methods of other packages that cannot be loaded."""
    broken = []
    for name in _method_names():
        try:
            method(name)
        except UsageError as error:
            broken.append(error)
    return broken


def package_of(name: str) -> str | None:
    """The name of the distribution that contains a method; None for our own methods."""
    entry = _guest(name)
    return entry.dist.name if entry is not None and entry.dist is not None else None


def package_that_plays(setting: str, mode: str) -> str | None:
    """The distribution that contains the method of a setting in a mode; None for our own methods and without one."""
    try:
        return package_of(method_of(setting, mode).name)
    except UsageError:
        return None


def methods() -> Iterator[Method]:
    """Every method that can be loaded. Methods of other packages that cannot are skipped."""
    for name in _method_names():
        with suppress(UsageError):
            yield method(name)


def modes() -> tuple[Mode, ...]:
    """Every mode of every method, each name once."""
    modes_by_name: dict[str, Mode] = {}
    for mode in (mode for method in methods() for mode in method.modes):
        modes_by_name.setdefault(mode.name, mode)
    return tuple(modes_by_name.values())


def modes_of(kind: str) -> tuple[Mode, ...]:
    """The modes of all methods for settings of a kind, the default one first."""
    return tuple({mode.name: mode for method in methods() for mode in method.modes if mode.plays == kind}.values())


def parse_mode(text: str, setting: str = "") -> Variant:
    """The variant of a mode in an episode, also of an old one (`parse_variant`).

    Raises `UsageError` if the name is unknown; the error lists the modes for a `setting`.
    """
    from pddlego.methods.setting_files import read_setting

    every, fitting = modes(), modes_of(read_setting(setting).kind) if setting else ()
    known = any(mode.name == base_mode(text) for mode in every)
    try:
        return parse_variant(text, every if known or not fitting else fitting)
    except UsageError as error:
        broken = [f"{method.what}: {method.reason}" for method in broken_methods()]
        raise UsageError(error.what, " ".join((*broken, error.reason)), error.next_step) from error


def chosen_mode(text: str, setting: str = "") -> Variant:
    """The variant that a user names. Raises `UsageError` unless it is one of the variants of a mode (`Mode.variants`).

    The error of an old name is one line with the name of today.
    """
    variant = parse_mode(text, setting)
    typed, separator, parts = text.partition(WITHOUT)
    if typed in REMOVED and typed != variant.mode.name:
        raise UsageError(f"Mode '{typed}' was removed: use '{variant.mode.name}'")
    if typed != variant.mode.name:
        raise UsageError(f"Mode '{text}' is now called '{variant.mode.name}{separator}{parts}'")
    if str(variant) not in variant.mode.variants:
        groups = ", ".join(map("+".join, variant.mode.together))
        together = f", or these together: {groups}" if groups else ""
        reason = f"The parts of {variant.mode.name} are removed one at a time{together}."
        raise UsageError(f"Unknown mode '{text}'", reason, "'pddlego games --modes' lists all variants.")
    return variant


def method_of(setting: str, mode: str) -> Method:
    """The method that plays a setting in a mode. Raises `UsageError` if no method supports this setting and mode."""
    from pddlego.methods.setting_files import read_setting

    wanted = parse_mode(mode).mode.name
    candidates = [(method, known) for method in methods() for known in method.modes if known.name == wanted]
    if len(candidates) == 1:
        return candidates[0][0]
    kind = read_setting(setting).kind
    for method, known in candidates:
        if known.plays == kind:
            return method
    names = ", ".join(known.name for known in modes_of(kind))
    reason = f"It is of the kind '{kind}', whose modes are: {names or '(none)'}."
    raise UsageError(f"{setting} cannot be played in mode {mode}", reason, "Choose one of them.")


def first_mode(setting: str) -> str:
    """The default mode of a setting. Raises `UsageError` if no method plays it."""
    from pddlego.methods.setting_files import line_of, read_setting

    table = read_setting(setting)
    known = modes_of(table.kind)
    if not known:
        reason = f"{line_of(('kind',), table.sources)}No method plays the kind '{table.kind}'."
        kinds = {mode.plays for mode in modes()}
        advice = suggestion(table.kind, sorted(kinds), "Fix the file, or install the package of its method.")
        raise UsageError(f"{setting} cannot be played", reason, advice)
    return known[0].name


def ablated(chosen: Iterable[str], ablations: Iterable[str]) -> tuple[str, ...]:
    """Every mode, each followed by its variants without the parts of each ablation, such as `feedback+tolerance`.

    A mode that has no such variant is skipped. Raises `UsageError` for an unknown mode, and if all modes are skipped
    that have parts.
    """
    names: list[str] = []
    removals = [ablation.split("+") for ablation in ablations]
    variants = [chosen_mode(mode) for mode in chosen]
    for variant in variants:
        without = [_minus(variant, parts) for parts in removals]
        names += [str(variant), *(name for name in without if name in variant.mode.variants)]
    for parts in removals:
        if (own := [variant for variant in variants if variant.mode.parts]) and not any(
            _minus(variant, parts) in variant.mode.variants for variant in own
        ):
            chosen_mode(_minus(own[0], parts))  # raises the error
    return tuple(dict.fromkeys(names))


def _minus(variant: Variant, parts: Iterable[str]) -> str:
    """The name of the variant without these parts, too."""
    return str(replace(variant, without=tuple(sorted({*variant.without, *parts}))))


def measuring_of(setting: str, mode: str) -> Measuring:
    """The `Measuring` of the method that plays a setting in a mode; an empty one if no installed method has the mode.

    For a setting that no longer exists, the `Measuring` of the first method with the mode.
    """
    from pddlego.runs.summary import Measures

    try:
        return method_of(setting, mode).measuring
    except UsageError:
        players = (method for method in methods() if base_mode(mode) in (known.name for known in method.modes))
        return next((method.measuring for method in players), Measuring(lambda trace: Measures()))


def make_codec() -> Codec:
    """A codec for the journals of every installed method."""
    from pddlego.runs.journal import Codec

    return Codec(lambda name: method(name).events)


def forget() -> None:
    """Clear all caches, so that methods installed meanwhile are found."""
    for cached in (installed, entry_points_of, is_offered, method, guests):
        cached.cache_clear()


def screen_of(name: str) -> Screen:
    """The screen of a method; lines if the method has no screen or is not installed."""
    from pddlego.display.screens import LINES

    try:
        return method(name).screen or LINES
    except UsageError:
        return LINES
