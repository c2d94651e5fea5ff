"""What is on screen of Graphplan, as a value folded from events and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pddlego.display.view import View, cleaned, fold_common
from pddlego.events import Event
from pddlego.methods.graphplan.events import Concluded, Given, Grown, Looked, Looking, PassEnded, Proposed
from pddlego.planning.graphplan.values import Expanded, Passed, Searched, Searching


@dataclass(frozen=True)
class GraphView(View):
    """The state of one episode as far as it is shown: the levels and searches of the pass that is under way.

    Many fields, because it is everything that any panel may show.
    """

    given: Given | None = None
    levels: tuple[Expanded, ...] = ()
    searches: tuple[Searched, ...] = ()
    searching: Searching | None = None
    passes: tuple[Passed, ...] = ()
    proposed: Proposed | None = None
    concluded: Concluded | None = None


def fold(view: GraphView, event: Event, seconds: float) -> GraphView:
    """The view after `event`, which happened `seconds` after the start."""
    event = cleaned(event)
    view = fold_common(view, event, seconds)
    if isinstance(event, Given):
        return replace(view, given=event)
    if isinstance(event, Grown):
        anew = bool(view.levels) and view.levels[-1].iteration != event.made.iteration
        levels = () if anew else view.levels
        return replace(view, levels=(*levels, event.made), searches=() if anew else view.searches, searching=None)
    if isinstance(event, Looking):
        return replace(view, searching=event.so_far)
    if isinstance(event, Looked):
        return replace(view, searches=(*view.searches, event.made), searching=None)
    if isinstance(event, PassEnded):
        return replace(view, passes=(*view.passes, event.made), searching=None)
    if isinstance(event, Proposed):
        return replace(view, proposed=event, rejected=None)
    if isinstance(event, Concluded):
        return replace(view, concluded=event)
    return view
