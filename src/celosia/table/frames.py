"""Frames of the user's own library, out of plain columns."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from celosia.errors import SpecError
from celosia.library import OnFirstUse

if TYPE_CHECKING:
    import narwhals as nw
else:
    nw = OnFirstUse("narwhals")

Library = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = ("pandas", "polars", "pyarrow")


def frame_of(columns: Mapping[str, Sequence[object] | NDArray[Any]], library: str | None = None) -> Any:  # noqa: ANN401
    """Return a data frame with these columns.

    Parameters
    ----------
    columns
        What goes in, by name.
    library
        ``pandas``, ``polars`` or ``pyarrow``; without it the first of them that is installed.
    """
    wanted = [name for name in LIBRARIES if (library == name if library else importlib.util.find_spec(name))]
    if not wanted:
        raise SpecError.one("library", f"must be one of {', '.join(LIBRARIES)}, not {library!r}.")
    return nw.from_dict(dict(columns), backend=wanted[0]).to_native()


def library_of(frame: object) -> str | None:
    """Return the name of the library a frame belongs to, None for one that we do not write."""
    name = type(frame).__module__.split(".")[0]
    return name if name in LIBRARIES else None
