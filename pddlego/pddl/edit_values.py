"""An edit as it was written, and what became of each of its lines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pddlego.pddl.problem import Problem


@dataclass(frozen=True)
class SectionEdit:
    """The changes of one section, as the text that the model wrote. Replacing by `None` deletes."""

    add: tuple[str, ...] = ()
    replace: tuple[tuple[str, str | None], ...] = ()
    delete: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """A whole edit (paper, Appendix B). The empty edit changes nothing and is valid."""

    objects: SectionEdit = SectionEdit()
    init: SectionEdit = SectionEdit()


class EntryKind(str, Enum):
    """What became of one line of an edit."""

    APPLIED = "applied"
    RENAMED = "renamed"
    MERGED = "merged"
    ALREADY = "already there"
    TOLERATED = "tolerated"
    UNMATCHED = "matched nothing"
    REFUSED = "refused"


@dataclass(frozen=True)
class Entry:
    """One line of an edit, where it stood (`init.add`), what became of it, and why if that is not plain."""

    kind: EntryKind
    where: str
    line: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.where} {self.line}: {self.kind.value}" + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True)
class EditReport:
    """The problem after an edit and what became of every line of it, in the order in which they took effect.

    `renamed` lists (old, new) names of objects that were renamed or merged.
    """

    problem: Problem
    entries: tuple[Entry, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    def of(self, *kinds: EntryKind) -> tuple[Entry, ...]:
        return tuple(each for each in self.entries if each.kind in kinds)

    @property
    def unmatched(self) -> tuple[Entry, ...]:
        """Lines that named something the problem does not have. They did nothing; the model is told."""
        return self.of(EntryKind.UNMATCHED)

    @property
    def refused(self) -> tuple[Entry, ...]:
        """Lines that could not be read or would have made nonsense."""
        return self.of(EntryKind.REFUSED)
