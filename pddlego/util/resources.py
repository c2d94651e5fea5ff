"""Finds settings, domains and prompts: the folders of the package, of installed packages, and of the working directory.

A folder `envs/`, `domains/` or `prompts/` in the working directory adds files to those of the package and replaces
files of the same name. The package of a method or an engine may hold such folders, too: it adds files, but replaces
none of pddlego. The files in `envs/` may be grouped in folders, such as one for each method; the name of a setting does
not contain its group. The folder in the working directory may be untrusted. Its files must not be links that lead out
of it: otherwise a prompt could send any file of the user to an endpoint.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pddlego.errors import SettingError
from pddlego.util.text import suggestion

if sys.version_info >= (3, 11):
    from importlib.resources.abc import Traversable
else:
    from importlib.abc import Traversable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints, SelectableGroups


def roots(folder: str) -> list[Traversable]:
    """The existing places of `folder`, in the order in which its files are searched: the first place wins."""
    package = files("pddlego")
    places: list[Traversable] = [package / folder]
    with contextlib.suppress(FileNotFoundError):  # the working directory may have been deleted
        places.insert(0, Path.cwd() / folder)
    # An editable install leaves the folders where they are: beside the package, at the top of the repository.
    if isinstance(package, Path):
        places.append(package.parent / folder)
    places.extend(guest / folder for guest in guests())
    distinct: list[Traversable] = []
    for place in places:
        if place.is_dir() and not any(str(place) == str(other) for other in distinct):
            distinct += [place, *(_groups(place) if folder == "envs" else ())]
    return distinct


def _groups(place: Traversable) -> list[Traversable]:
    """The readable folders in a place, sorted by name, without hidden ones and those that are links out of it."""
    if not isinstance(place, Path):
        return sorted((item for item in place.iterdir() if item.is_dir()), key=lambda folder: folder.name)
    try:
        with os.scandir(place) as entries:  # each lookup of a setting comes here: links only are resolved
            folders = [entry for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:
        return []
    groups = sorted(
        place / entry.name
        for entry in folders
        if not entry.is_symlink() or Path(entry).resolve().is_relative_to(place.resolve())
    )
    return [group for group in groups if os.access(group, os.R_OK | os.X_OK)]


@lru_cache(maxsize=8)
def entry_points_of(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of installed packages in the group `pddlego.GROUP`."""
    return tuple(installed().select(group=f"pddlego.{group}"))


@lru_cache(maxsize=8)
def is_offered(group: str) -> bool:
    """Whether a file of entry points names the group `pddlego.GROUP`: much faster than reading all of them."""
    for file in (file for folder in sys.path for file in Path(folder).glob("*-info/entry_points.txt")):
        with contextlib.suppress(OSError):  # it is unreadable, or is being removed
            if f"pddlego.{group}".encode() in file.read_bytes():
                return True
    return False


@lru_cache(maxsize=1)
def installed() -> EntryPoints | SelectableGroups:
    """All entry points. Cached, because a search of all installed packages takes milliseconds."""
    from importlib.metadata import entry_points

    return entry_points()


@lru_cache(maxsize=1)
def guests() -> tuple[Path, ...]:
    """The folders of installed packages with methods or engines, found without importing them."""
    folders = []
    for group in ("methods", "engines"):
        for entry in entry_points_of(group):
            package, *rest = entry.value.partition(":")[0].strip().split(".")
            spec = None
            with contextlib.suppress(ImportError, ValueError):  # an entry point of another package may be malformed
                spec = find_spec(package)
            for place in (spec.submodule_search_locations or ()) if spec else ():
                folder = Path(place, *rest)
                folders.append(folder if folder.is_dir() else folder.parent)
    return tuple(dict.fromkeys(folders))


def names(folder: str, suffix: str) -> list[str]:
    """The names of all files of `folder` that end with `suffix`, without the suffix, sorted."""
    files = (file for root in roots(folder) for file in root.iterdir() if file.name.endswith(suffix))
    return sorted({file.name[: -len(suffix)] for file in files if file.is_file()})


def has(folder: str, name: str) -> bool:
    """Whether the folder has a file of this name. Raises `SettingError` for a name that leads out of the folder."""
    return any(inside(root, folder, name).is_file() for root in roots(folder))


def first(folder: str, names: Iterable[str]) -> str:
    """The first of these names that the folder has a file of; the last one if it has none."""
    known = tuple(names)
    return next((name for name in known if has(folder, name)), known[-1])


def read(folder: str, name: str) -> str:
    """The text of a file. Raises `SettingError` if it does not exist, cannot be read, or is outside the folder."""
    for root in roots(folder):
        place = inside(root, folder, name)
        if place.is_file():
            try:
                return place.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise SettingError(f"{folder}/{name} cannot be read", str(error), "Check the file.") from error
    looked = ", ".join(str(root) for root in roots(folder)) or f"no folder {folder}/ at all"
    known = {_stem(item.name) for root in roots(folder) for item in root.iterdir()}
    advice = suggestion(_stem(name), sorted(known), "Check the name.")
    raise SettingError(f"{folder}/{name} does not exist", f"Looked in: {looked}.", advice)


def _stem(name: str) -> str:
    """The part of a name that a setting writes: `coin` of `coin.pddl` and of `coin/notes.j2`."""
    return name.partition("/")[0].partition(".")[0]


def is_shipped(folder: str, name: str) -> bool:
    """Whether the file that is read under this name is one that pddlego ships."""
    package = files("pddlego")
    shipped = [str(package / folder), *([str(package.parent / folder)] if isinstance(package, Path) else [])]
    root = next((root for root in roots(folder) if inside(root, folder, name).is_file()), None)
    return any(str(root) == place or str(root).startswith(place + os.sep) for place in shipped)


def inside(root: Traversable, folder: str, name: str) -> Traversable:
    """The path of the file `name` in a folder. Raises `SettingError` for a name or a link that leads out of it."""
    parts = name.split("/")
    place = root.joinpath(*parts) if all(map(_is_plain, parts)) else None
    if place is None:
        reason = "A name has no '..', begins with no '/', and has no backslash or colon."
        raise SettingError(f"{folder}/{name} is outside the folder {folder}", reason, "Put the file inside.")
    if not isinstance(root, Path) or not isinstance(place, Path) or not _is_in_working_directory(root, folder):
        return place  # installers may make links to the files of the package
    # Not compared with the resolved root: an untrusted folder could itself be a link to any folder of the user.
    if not place.resolve().is_relative_to(Path.cwd().resolve() / folder):
        reason = f"It is a link to {place.resolve()}."
        raise SettingError(f"{folder}/{name} leads out of the folder {folder}", reason, "Put a copy inside.")
    return place


def _is_in_working_directory(root: Path, folder: str) -> bool:
    """Whether the root is the folder in the working directory, which may be untrusted."""
    with contextlib.suppress(FileNotFoundError):
        return Path.cwd() / folder in (root, root.parent)
    return False


def _is_plain(part: str) -> bool:
    return part not in ("", ".", "..") and not set(part) & {"\\", ":", "\0"}
