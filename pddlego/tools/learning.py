"""`learn_actions`: the actions of a domain from transitions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pddlego.errors import UsageError
from pddlego.tools.files import DomainFile, content_of, is_path, read_domain_file

if TYPE_CHECKING:
    from pddlego.planning.learning.learner import LearnedDomain


def learn_actions(domain: DomainFile, transitions: str | Path) -> LearnedDomain:
    """The actions of a domain, learned from a file of transitions or its text (docs/formats.md).

    The domain declares types, constants, predicates, and the parameters of the actions; the rest of its actions is not
    used. Raises `UsageError` for invalid files, with the number of the line, and if no action succeeded.
    """
    from pddlego.planning.learning.learner import learn_domain
    from pddlego.planning.learning.transitions import TransitionError, read_transitions

    value = read_domain_file(domain)
    name = transitions if is_path(transitions) else "the transitions"
    try:
        learned = learn_domain(value, read_transitions(content_of(transitions)))
    except TransitionError as error:
        what = f"Line {error.number} of {name} is wrong: nothing was learned"
        raise UsageError(what, error.reason, error.next_step) from error
    if not any(action.successes for action in learned.actions):
        raise UsageError(f"No action of {name} succeeded", "Every 'next' is null.", "Add transitions that succeed.")
    return learned
