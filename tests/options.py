"""Writes `pddlego/api/options.py` from the configuration: `python -m tests.options`."""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pddlego.evaluation.config import BUILDING, PARAMETERS, Run, WhatOptions, groups
from pddlego.models.endpoint import Endpoint
from pddlego.util.options import names_of, options_of

FILE = Path(__file__).parent.parent / "pddlego" / "api" / "options.py"

HEAD = '''"""The keyword options of the Python interface. Made from the configuration by `python -m tests.options`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict
'''

TYPES: Mapping[str, str] = {
    "modes": "str | Sequence[str]",
    "ablate": "str | Sequence[str]",
    "seeds": "str | int | Sequence[int | str] | range",
    "set": "Mapping[str, object] | Sequence[str]",
}
"""Options that take more than their field: validators make them one."""

_OWN = {"games", "models", "run"}
"""Parameters of the functions themselves."""


def module() -> str:
    """The text of the module."""
    episode = set(_all()) - names_of(Run, WhatOptions) | {"set", "from"}
    evaluation = set(_all()) - episode - _OWN
    parts = [
        HEAD,
        _typed_dict("EndpointOptions", "Options of a model's endpoint.", names_of(Endpoint), "TypedDict"),
        _typed_dict("BuildKeywords", "Options of `build`.", BUILDING - names_of(Endpoint), "EndpointOptions"),
        _typed_dict("EpisodeOptions", "Options of an episode.", episode - BUILDING, "BuildKeywords"),
        _typed_dict("EvaluationOptions", "Options of an evaluation.", evaluation, "EpisodeOptions"),
    ]
    return "\n\n".join(parts)


def _typed_dict(name: str, about: str, names: Collection[str], base: str) -> str:
    known = [(option, *described) for option, described in _all().items() if option in names]
    lines = [
        f"    {option}{'_' if iskeyword(option) else ''}: {kind}" + (f'\n    """{text}"""' if text else "")
        for option, kind, text in known
    ]
    return f'class {name}({base}, total=False):\n    """{about}"""\n\n' + "\n".join(lines) + "\n"


def _all() -> dict[str, tuple[str, str]]:
    """The type and the help of each option, by its name."""
    found: dict[str, tuple[str, str]] = {}
    for group in groups().values():
        for option in options_of(group):
            if option.name != PARAMETERS:
                kind = TYPES.get(option.name) or text_of(option.info.annotation)
                before, about = found.get(option.name, (kind, option.info.description or ""))
                found[option.name] = (" | ".join(dict.fromkeys([*before.split(" | "), *kind.split(" | ")])), about)
    return found


def text_of(annotation: Any) -> str:
    """A type as it is written."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return text_of(args[0])
    if origin in (Union, types.UnionType):
        return " | ".join(map(text_of, args))
    if origin is Literal:
        return f"Literal[{', '.join(map(_quoted, args))}]"
    if origin is tuple:
        return f"Sequence[{text_of(args[0])}]"
    if origin is dict:
        return f"Mapping[{text_of(args[0])}, {text_of(args[1])}]"
    return "None" if annotation is type(None) else annotation.__name__


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    FILE.write_text(module(), encoding="utf-8")
