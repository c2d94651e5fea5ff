"""Keys and addresses of endpoints: checked before they are used, and never shown."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import parse_qsl, quote, quote_plus, unquote, unquote_plus, urlsplit, urlunsplit

from pddlego.errors import UsageError
from pddlego.models.base import LOCAL
from pddlego.util.text import suggestion

_SECRET = re.compile(
    r"(^|[-_.])((api|access|auth)?[-_]?key|token|secret|pass(word)?|auth|authorization|sig(nature)?|code|credentials?)$",
    re.IGNORECASE,
)
"""Names of secret values in a query."""

_LONG = 8
"""Minimum length of a secret in a URL: a shorter value occurs in too many texts to be masked."""


def check_key(name: str, key: str, base_url: str | None) -> None:
    """Raise `UsageError`, without the key in it, for a key that is missing or cannot be sent in a header."""
    if not key and not base_url:
        raise UsageError(
            f"No API key for the model {name}",
            "OPENAI_API_KEY is not set, and no --base-url names another endpoint.",
            suggestion(
                name, ("reader", LOCAL), "Set OPENAI_API_KEY, give --base-url, or choose the built-in model reader."
            )
            if not name.endswith(".gguf")
            else f"Did you mean local:{name}?",
        )
    if not (key.isascii() and (key.isprintable() or not key)):
        raise UsageError(
            "OPENAI_API_KEY cannot be sent",
            "It holds characters that no key has.",
            "Copy the key again, without quotes.",
        )


def check_url(base_url: str | None) -> None:
    """Raise `UsageError` if `base_url` is not a http or https URL."""
    if base_url is None:
        return
    try:
        parts = urlsplit(base_url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise UsageError(
            "The endpoint's address is not a URL",
            f"It is '{_bare(base_url)[:100]}'.",
            "Write it like http://127.0.0.1:8000/v1.",
        )


def split_query(url: str | None) -> tuple[str | None, dict[str, str]]:
    """The URL without its query, and the query, which is added to each request."""
    if not url:
        return None, {}
    parts = urlsplit(url)
    return urlunsplit((*parts[:3], "", "")), dict(parse_qsl(parts.query))


def without_credentials(url: str | None) -> str | None:
    """The URL without user, password and query, for display and records.

    If it is unclear where a password ends (it has an `@`, `/` or `#` that is not escaped), everything is left out.
    """
    if not url:
        return None
    try:
        parts = urlsplit(url)
        unclear = "@" in url.replace(parts.netloc, "", 1) or (parts.port or 1) < 1
    except ValueError:
        unclear = True
    if unclear:
        return f"{url.partition('//')[0]}//…" if "//" in url[:8] else "…"
    return urlunsplit((parts.scheme, parts.netloc.rsplit("@", 1)[-1], parts.path, "", ""))


def address_of(url: str | None) -> str:
    """An identifier of the endpoint without secrets, for cache keys: it differs between endpoints, not between keys."""
    parts = urlsplit(url or "")
    query = [(name, value) for name, value in parse_qsl(parts.query) if not _SECRET.search(name)]
    return json.dumps([parts.scheme, parts.username, parts.hostname, parts.port, parts.path, query])


def _bare(text: str) -> str:
    """A text, which may be an invalid URL, without its possible user, password and query."""
    match = re.match(r"[a-z]+://", text, re.IGNORECASE)
    scheme = match.group() if match else ""
    return scheme + re.split(r"[?#]", text[len(scheme) :].rsplit("@", 1)[-1])[0]


def secrets_of(key: str, url: str | None) -> tuple[str, ...]:
    """The texts that must never be shown: the key, secrets in the URL, and user and password as in a header.

    The list has every form in which an endpoint may quote a secret, longest first.
    """
    parts = urlsplit(url or "")
    secrets = {key}
    secrets |= {value for name, value in parse_qsl(parts.query) if _SECRET.search(name) and len(value) >= _LONG}
    secrets |= {
        word.partition("=")[2] for word in parts.query.split("&") if unquote_plus(word).partition("=")[2] in secrets
    }
    if parts.password:
        both = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        secrets |= {parts.password, unquote(parts.password), base64.b64encode(both.encode()).decode()}
    elif parts.username and len(parts.username) >= _LONG:  # a token without a password
        secrets |= {parts.username, unquote(parts.username)}
    for plain in tuple(secrets):
        forms = {quote(plain), quote(plain, safe=""), quote_plus(plain)}
        secrets |= forms | {re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), form) for form in forms}
    return tuple(sorted((form for form in secrets if len(form) >= 4), key=len, reverse=True))
