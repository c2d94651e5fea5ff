"""Reads files in a user's clone of a public repository, which is not trusted: bounded, and never outside the clone."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pddlego.errors import SettingError
from pddlego.util.text import natural

MOST_BYTES = 20_000_000
"""Maximum size of a file that is read; the largest of the repositories known here has about 5 MB."""

MOST_ENTRIES = 5_000
"""Maximum number of entries of a folder that is listed."""


MOST_IN_ALL = 500_000_000
"""Maximum bytes that are read for one purpose."""


@dataclass
class Clone:
    """A clone in the folder `root` of the public repository `repository`, of which `left` bytes may still be read.

    `kind` is its name in options.
    """

    kind: str
    repository: str
    root: Path
    left: int = MOST_IN_ALL

    def text(self, name: str) -> str:
        """The text of a regular file. Raises `SettingError` if it is missing, too large, not UTF-8, or a link out."""
        try:
            path = self._inside(name)
            if not stat.S_ISREG(path.stat().st_mode):  # a pipe would never end
                raise self.wrong(name, "it is not a regular file")
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                raise self.wrong(name, f"it has over {MOST_BYTES:,} bytes")
            self.left -= len(data)
            if self.left < 0:
                raise self.wrong(name, f"it and the files before it have over {MOST_IN_ALL:,} bytes")
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise self.wrong(name, f"it is not UTF-8 ({error.reason} at byte {error.start})") from error
        except (OSError, ValueError) as error:
            raise self._unreadable(name, error) from error

    def names(self, folder: str, suffix: str = "") -> list[str]:
        """The names of the entries of a folder that end with `suffix`, in natural order. Raises `SettingError`."""
        names: list[str] = []
        try:
            with os.scandir(self._inside(folder)) as entries:
                for entry in entries:
                    if len(names) == MOST_ENTRIES:
                        raise self.wrong(folder, f"it has over {MOST_ENTRIES:,} entries")
                    names.append(entry.name)
        except (OSError, ValueError) as error:
            raise self._unreadable(folder, error) from error
        return sorted((name for name in names if name.endswith(suffix)), key=natural)

    def wrong(self, name: str, reason: str) -> SettingError:
        """The error that a file of the clone cannot be used for a reason."""
        what = f"{name} in the clone {self.root} cannot be used"
        return SettingError(what, f"{reason[:1].upper()}{reason[1:]}.", f"Clone {self.repository} again.")

    def _inside(self, name: str) -> Path:
        path = Path(os.path.realpath(self.root / name))  # a loop of links fails later, with an `OSError`
        if not path.is_relative_to(os.path.realpath(self.root)):
            raise self.wrong(name, "it leads out of the clone")
        return path

    def _unreadable(self, name: str, error: Exception) -> SettingError:
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            what = f"{self.kind}:{self.root} has no {name}"
            reason = f"It is not a complete clone of {self.repository}." if self.root.is_dir() else "No such folder."
            return SettingError(what, reason, f"Clone {self.repository} from GitHub, and name its folder.")
        return self.wrong(name, getattr(error, "strerror", None) or str(error))
