"""The lifecycle of an episode: time it, turn every exception into an outcome, and end it with `Ended`."""

from __future__ import annotations

from collections.abc import Generator

from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Cause, Ended, Event, Outcome
from pddlego.errors import BudgetSpentError, ModelError, PddlegoError, ReplayError
from pddlego.util.text import writable
from pddlego.util.unexpected import explained

Body = Generator[Event, None, None]
"""A method's part of an episode: a generator of its events, which ends by raising `EpisodeOver`."""


def played(body: Body, budget: Budget, first: Event | None = None) -> Body:
    """The events of an episode: `first`, those of the body, and `Ended`, also if the body raises an exception.

    The episode's clock is paused while the caller processes an event, so that a slow display costs no time. A
    `KeyboardInterrupt` that is thrown into this generator ends the episode as `interrupted`.
    """
    episode = _to_its_end(body, budget, first)
    event = next(episode, None)
    while event is not None:
        thrown: KeyboardInterrupt | None = None
        with budget.paused():
            try:
                yield event
            except KeyboardInterrupt as error:
                thrown = error
        event = episode.throw(thrown) if thrown else next(episode, None)


def _to_its_end(body: Body, budget: Budget, first: Event | None) -> Body:
    def ended(outcome: Outcome, message: str, cause: Cause = "") -> Ended:
        return Ended(outcome, writable(message), budget.score, budget.final(), cause)

    budget.begin()
    try:
        if first is not None:
            yield first
        yield from body or ()  # `play` of another package may contain no `yield`, and so return None
        yield ended(Outcome.CRASHED, "an error in the method: 'play' ended without raising EpisodeOver")
    except EpisodeOver as over:
        yield ended(over.outcome, over.message, over.cause)
    except BudgetSpentError as error:
        yield ended(Outcome.BUDGET, error.sentence, "evaluation")
    except ModelError as error:
        yield ended(Outcome.MODEL_ERROR, error.sentence, error.cause)
    except PddlegoError as error:
        yield ended(Outcome.CRASHED, error.sentence, "replay" if isinstance(error, ReplayError) else "")
    except KeyboardInterrupt:
        yield ended(Outcome.INTERRUPTED, "stopped by the user")
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- the episode's border: a bug ends only this episode
        yield ended(Outcome.CRASHED, explained(error))
