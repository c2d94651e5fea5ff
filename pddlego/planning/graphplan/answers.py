"""Actions as a prompt lists them (`move '?from': 'rooma', '?to': 'roomb'`), and as an answer may write them.

Reading is total: whatever an answer says, it names some candidates, in its order, or none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pddlego.pddl import Domain

NOOP = "noop"

_LIST = re.compile(r"\(([^()]*)\)")
_PAIR = re.compile(r"""['"]?\?([\w-]+)['"]?\s*[:=]\s*['"]?([\w-]+)['"]?""")
_WORD = re.compile(r"[\w-]+")
_BULLET = re.compile(r"^\s*(?:[-*+\u2022]|\d+[.):])\s+")


def written(action: str, domain: Domain) -> str:
    """A ground action as the paper writes it: each argument behind the name of its parameter."""
    name, *args = action.strip("()").split()
    known = domain.actions_by_name.get(name)
    if known is None or len(known.parameters) != len(args):
        return " ".join((name, *args))
    pairs = (f"'{parameter.name}': '{arg}'" for parameter, arg in zip(known.parameters, args, strict=True))
    return f"{name} {', '.join(pairs)}".strip()


def named_actions(text: str, candidates: Iterable[str], domain: Domain, facts: Iterable[str] = ()) -> tuple[str, ...]:
    """The candidates that an answer names, each once, in its order; no-ops of the `facts` may be among them.

    Read are `(move a b)`, `move(a, b)`, `move a b` and the paper's `move '?from': 'a', '?to': 'b'`, with bullets or
    numbers before them, in any case. Anything else is ignored.
    """
    known = {tuple(name.strip("()").split()): name for name in candidates}
    known |= {(NOOP, *fact.strip("()").split()): f"({NOOP} {fact[1:-1]})" for fact in facts}
    orders = {action.name: [each.name.lstrip("?") for each in action.parameters] for action in domain.actions}
    found = (known.get(words) for line in text.lower().splitlines() for words in _readings(line, orders))
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _readings(line: str, orders: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """What a line may mean; what it does not mean is no candidate."""
    plain = _BULLET.sub("", line)
    for inner in _LIST.findall(plain):
        yield tuple(inner.replace(",", " ").split())
    first = _WORD.search(plain)
    if first is None:
        return
    name, rest = first.group(), plain[first.end() :]
    pairs = _PAIR.findall(rest)
    if pairs:
        values = dict(pairs)
        order = orders.get(name, ())
        named = [values[key] for key in order] if set(order) == set(values) else [value for _, value in pairs]
        yield (name, *named)
    yield (name, *_WORD.findall(rest))
