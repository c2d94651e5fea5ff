"""The lines that stand above and below the picture of every episode: what is played, what was used, how it ended."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from pddlego.display.glyphs import Glyphs
from pddlego.display.view import View
from pddlego.events import Outcome
from pddlego.models.remarks import label
from pddlego.runs.cells import NO_MODEL
from pddlego.util.text import clean, count, one_line

SHORTEST = 8
"""Characters of a model's name that are shown, whatever else has to go."""

_OUTCOME_STYLE = {Outcome.WON: "bold green", Outcome.INTERRUPTED: "yellow"}


def header(view: View, now: float, glyphs: Glyphs, width: int) -> Text:
    """What is played, and the meter: steps, calls, tokens, seconds. Of a long model's name there is what fits."""
    separator = f" {glyphs.dot} "
    about, used = f"{separator}seed {view.seed}{separator}{view.mode}{separator}", separator + meter(view, now, glyphs)
    room = width - cell_len(clean(view.title) + about + used)
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(clean(view.title), style="bold")
    line.append(about + one_line(label(view.model), max(SHORTEST, room)))
    line.append(used, style="cyan")
    return line


def meter(view: View, now: float, glyphs: Glyphs) -> str:
    """Steps, the score at the end, refused commands (if any), calls, tokens (if any) and seconds."""
    most = "" if view.limits.steps is None else f"/{view.limits.steps}"
    parts = [f"step {view.step}{most}"]
    if view.ended is not None:
        parts.append(f"score {view.ended.score:.2f}")
    if view.refused:
        parts.append(f"{view.refused} refused")
    if view.model != NO_MODEL:
        kept = f" ({view.from_cache} from the cache)" if view.from_cache else ""
        parts.append(f"{count(view.calls, 'call')}{kept}")
    if view.tokens:
        parts.append(f"{'~' if view.estimated else ''}{view.tokens:,} tokens")
    parts.append(f"{now:.1f} s")
    return f" {glyphs.dot} ".join(parts)


def result_line(view: View) -> Text:
    """How the episode ended, on one line; empty while it runs."""
    if view.ended is None:
        return Text("")
    ended = view.ended
    style = _OUTCOME_STYLE.get(ended.outcome, "bold red")
    line = Text(f"{ended.outcome.value} after {count(ended.tally.steps, 'step')}", style=style)
    if ended.message:
        line.append(f": {clean(' '.join(ended.message.split()))}", style="")
    return line
