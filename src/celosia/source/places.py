"""Where records may be, told from how it is written: files, many files, files elsewhere, and engines."""

from __future__ import annotations

import re

EXTENSIONS = {
    **dict.fromkeys(("s3", "s3a", "s3n", "gs", "gcs", "r2", "http", "https", "hf"), "httpfs"),
    **dict.fromkeys(("az", "azure", "abfss"), "azure"),
}
"""Schemes of files elsewhere, and the extension of DuckDB that reads them."""

_ADDRESS = re.compile(r"([a-z][a-z0-9+]+)://", re.IGNORECASE)
_SECRET = re.compile(r"(^|&)\w*(password|pwd|token|secret)\w*=", re.IGNORECASE)


def scheme_of(text: str) -> str:
    """Return what an address begins with, nothing for a file here.

    >>> scheme_of("postgresql://localhost/register"), scheme_of("firms.csv")
    ('postgresql', '')
    """
    found = _ADDRESS.match(text)
    return found[1].lower() if found else ""


def is_remote(text: str) -> bool:
    """Return whether a text is the address of files elsewhere, such as ``s3://bucket/firms/*.parquet``."""
    return scheme_of(text) in EXTENSIONS


def is_address(text: str) -> bool:
    """Return whether a text is the address of an engine, and no file."""
    return scheme_of(text) not in ("", *EXTENSIONS)


def is_pattern(text: str) -> bool:
    """Return whether a text stands for many files, as ``year=*/*.parquet`` does."""
    return any(sign in text for sign in "*?[")


def holds_password(address: str) -> bool:
    """Return whether an address has a password or another secret in it."""
    user = address.partition("://")[2].partition("/")[0].rpartition("@")[0]
    return ":" in user or _SECRET.search(address.partition("?")[2].partition("#")[0]) is not None
