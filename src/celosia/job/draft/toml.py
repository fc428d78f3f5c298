"""Texts as TOML writes them."""

from __future__ import annotations

import json
import re


def quote_text(text: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """Return a key as TOML writes it, bare where that is allowed."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quote_text(name)


def inline(text: str) -> str:
    """Return a text that cannot leave a comment."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
