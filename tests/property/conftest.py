"""Property tests share an oracle and what they draw; both are imported by their full name, `tests.property.…`.

pytest imports test files one by one (``--import-mode=importlib``) and puts nothing on the path, so the root of the
checkout is put there once; the type checker finds the same modules under the same names.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[2])

if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
