"""The data in an HTML report."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any


def pages_in(text: str) -> list[dict[str, Any]]:
    """The episodes that have a page."""
    packed = re.findall(r'id="data-[^"]*">([^<]*)<', text)
    return [json.loads(zlib.decompress(base64.b64decode(data))) for data in packed]


def index_in(text: str) -> dict[str, Any]:
    """The table of episodes."""
    match = re.search(r'id="index">(.*?)</script>', text)
    assert match
    value: dict[str, Any] = json.loads(match[1])
    return value
