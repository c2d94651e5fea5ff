"""Keys and addresses of endpoints: checked before they are used, and never shown."""

from __future__ import annotations

import base64
import re
from urllib.parse import unquote, urlsplit, urlunsplit

from pddlego.errors import UsageError


def check_key(name: str, key: str, base_url: str | None) -> None:
    """Raises `UsageError`, without the key in it, for a key that is missing or cannot be sent in a header."""
    if not key and not base_url:
        raise UsageError(
            f"There is no key for the model {name}",
            "OPENAI_API_KEY is not set, and no --base-url names another endpoint.",
            "Set OPENAI_API_KEY, give --base-url, or play with --model reader.",
        )
    if not (key.isascii() and (key.isprintable() or not key)):
        raise UsageError(
            "OPENAI_API_KEY cannot be sent",
            "It holds characters that no key has.",
            "Copy the key again, without quotes.",
        )


def check_url(base_url: str | None) -> None:
    """Raises `UsageError` if `base_url` is no http or https URL."""
    if base_url is None:
        return
    try:
        parts = urlsplit(base_url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        shown = re.sub(r"//[^/@]*@", "//", base_url)[:100]
        raise UsageError(
            "The endpoint's address is no URL", f"It is '{shown}'.", "Write it like http://127.0.0.1:8000/v1."
        )


def without_credentials(url: str | None) -> str | None:
    """The URL as it may be shown and kept: without user, password and query."""
    if not url:
        return None
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rsplit("@", 1)[-1], parts.path, "", ""))


def secrets_of(key: str, url: str | None) -> tuple[str, ...]:
    """What must not be shown: the key, the password in the URL, and both together as a header holds them."""
    parts = urlsplit(url or "")
    found = [key, parts.password or ""]
    if parts.password:
        both = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        found += [unquote(parts.password), base64.b64encode(both.encode()).decode()]
    return tuple(each for each in found if len(each) >= 4)
