"""What holds for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# CI judges a change, so it draws the same examples each time; everywhere else new ones go on looking for trouble.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
