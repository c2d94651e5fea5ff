"""What is on screen of generalized planning, as a value folded from events and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pddlego.display.view import View, cleaned, fold_common
from pddlego.events import Event
from pddlego.methods.programs.events import SOLVED, Began, Evaluated, Ran, Written


@dataclass(frozen=True)
class ProgramView(View):
    """The state of one episode as far as it is shown. `before` is the program as it was, `code` what came last.

    `trained` and `tested` hold how each task went, in their order; the next one is being tried. `history` holds the
    number of training tasks that each answer solved. Many fields, because it is everything that any panel may show.
    """

    domain: str = ""
    training: tuple[str, ...] = ()
    evaluation: tuple[str, ...] = ()
    answer: int = 0
    before: str = ""
    code: str = ""
    text: str = ""
    trained: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    last: Ran | None = None
    history: tuple[int, ...] = ()
    judged: Evaluated | None = None


def fold(view: ProgramView, event: Event, seconds: float) -> ProgramView:
    """The view after `event`, which happened `seconds` after the start."""
    event = cleaned(event)
    view = fold_common(view, event, seconds)
    if isinstance(event, Began):
        return replace(view, domain=event.domain, training=event.training, evaluation=event.evaluation)
    if isinstance(event, Written):
        return replace(
            view,
            answer=event.answer,
            before=view.text,
            code=event.code,
            text=event.text,
            trained=(),
            tested=(),
            history=(*view.history, 0),
        )
    if isinstance(event, Ran):
        view = replace(view, last=event)
        if event.split == "evaluation":
            if view.trained.count(SOLVED) == len(view.training):  # the last answer was good
                view = replace(view, rejected=None)
            return replace(view, tested=(*view.tested[: event.number], event.kind))
        history = (*view.history[:-1], view.history[-1] + event.solved) if view.history else ()
        return replace(view, trained=(*view.trained[: event.number], event.kind), history=history)
    if isinstance(event, Evaluated) and event.final:
        return replace(view, judged=event)
    return view
