"""The rooms are small and the layers shallow: few modules a folder, and no long chain of imports to load one."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import celosia

LONGEST_CHAIN = 16
MOST_MODULES = 12
ROOT = Path(celosia.__file__).parent
MODULES = {
    ".".join(("celosia", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what is executed: all but blocks for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            continue  # imports are statements, and stand among statements
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from nodes(node)


def imported(module: str) -> set[str]:
    """Return which modules of the package a module imports when it runs, those inside functions included."""
    found = set()
    for node in nodes(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found |= {full if (full := f"{node.module}.{name.name}") in MODULES else node.module for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name in MODULES}
    return found - {module}


@cache
def chain(module: str) -> tuple[str, ...]:
    """Return the longest chain of imports that begins with a module."""
    return (module, *max((chain(other) for other in sorted(imported(module))), key=len, default=()))


def test_no_chain_of_imports_is_longer_than_sixteen_modules() -> None:
    longest = max(map(chain, sorted(MODULES)), key=len)
    assert len(longest) <= LONGEST_CHAIN, " > ".join(longest)


def test_no_folder_has_more_than_a_dozen_modules() -> None:
    folders = Counter(path.parent for path in MODULES.values() if path.name != "__init__.py")
    assert not {str(folder.relative_to(ROOT)): many for folder, many in folders.items() if many > MOST_MODULES}
