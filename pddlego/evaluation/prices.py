"""Price lists: a TOML table for each model, money for a million tokens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pddlego.errors import UsageError
from pddlego.models.spending import Price
from pddlego.util.toml import read_toml


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tokens_in: float = Field(ge=0, allow_inf_nan=False)
    tokens_out: float = Field(ge=0, allow_inf_nan=False)
    tokens_cached: float | None = Field(None, ge=0, allow_inf_nan=False)


_LIST = TypeAdapter(dict[str, _Price])


def read_prices(path: Path | None) -> dict[str, Price]:
    """The prices in a file, by model; none without a file. Raises `UsageError` if it is no price list."""
    if path is None:
        return {}
    try:
        found = _LIST.validate_python(read_toml(path, "--prices"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        example = "Example: ['gpt-4o-mini'] tokens_in = 0.15, tokens_out = 0.60 (for a million tokens)."
        raise UsageError(f"{path} is no price list", f"{where}: {first['msg']}.", example) from error
    return {name: Price(each.tokens_in, each.tokens_out, each.tokens_cached) for name, each in found.items()}


def check_prices(models: Mapping[str, bool], prices: Mapping[str, Price]) -> None:
    """A budget of money needs the price of every model that costs money (`models` says which do)."""
    unknown = [name for name, costs in models.items() if costs and name not in prices]
    if unknown:
        raise UsageError(
            "--max-cost needs prices",
            f"There is no price of {', '.join(unknown)}.",
            "Give a price list with --prices FILE.",
        )
