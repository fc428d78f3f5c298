"""A state as a file: arrays beside a head in JSON, with a digest of both, whole or not at all.

A broken file is recognised by its digest. Nobody signs it, so whoever can write the file can write another digest, too:
what is read is data only (no code), a pattern is audited anew before anybody sees it, and a result says that its bound
rests on the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SpecError
from celosia.files import all_or_nothing
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.suppressed import Suppressed
from celosia.pattern.pattern import Pattern
from celosia.table.fixed import Fixed
from celosia.table.table import Table

FORMAT, VERSION = "celosia state", 1
CONFIDENTIAL = "This file holds what a search knows of cells that are not published. It stays in the office."
_MODES: dict[str, Any] = {kind.status: kind for kind in (Suppressed, Interval, Rounded, Perturbed)}
_HEAD = "head"


@dataclass(frozen=True, slots=True, eq=False)
class PackedCuts:
    """Cuts of a search, packed into arrays.

    Parameters
    ----------
    starts
        Where each begins, and the end of the last, ``(k + 1,)``.
    columns, values
        Columns, increasing in each, and coefficients, one after the other.
    right
        Right sides, ``(k,)``.
    lean, rounded
        See `celosia.protection.engine.capacity.Cut`, ``(k,)`` each.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    right: NDArray[np.float64]
    lean: NDArray[np.bool_]
    rounded: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.right)

    def fits(self, n_columns: int) -> bool:
        """Return whether these can be cuts of a problem with so many columns."""
        starts, columns, values = self.starts, self.columns, self.values
        if len(starts) != len(self) + 1 or starts[0] != 0 or not starts[-1] == len(columns) == len(values):
            return False
        if not len(self.lean) == len(self.rounded) == len(self) or bool((np.diff(starts) < 1).any()):
            return False
        rising = np.diff(columns) > 0
        rising[starts[1:-1] - 1] = True  # one cut ends there, and another begins
        finite = np.isfinite(values).all() and np.isfinite(self.right).all()
        return bool(rising.all() and finite and np.all((columns >= 0) & (columns < n_columns)))


_CUT_TYPES = {"starts": "<i8", "columns": "<i4", "values": "<f8", "right": "<f8", "lean": "|b1", "rounded": "|b1"}
"""How the arrays of cuts are written."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchState:
    """What a search has found.

    Parameters
    ----------
    fingerprints
        Of the problem; see `celosia.protection.state.fingerprint`.
    modes
        How the best pattern publishes cells that are not shown, None where there is no pattern.
    bound
        No safe pattern costs less.
    settled
        Options that the search has settled.
    notes
        What the office should know of the pattern.
    cuts
        What safe patterns satisfy, by the name of the search that has these columns.
    """

    fingerprints: Mapping[str, str]
    modes: tuple[Mode, ...] | None
    bound: float
    settled: Mapping[str, int]
    notes: tuple[str, ...] = ()
    cuts: Mapping[str, PackedCuts] = field(default_factory=dict)

    @property
    def n_cuts(self) -> int:
        """How many cuts there are."""
        return sum(len(cuts) for cuts in self.cuts.values())

    def pattern(self, table: Table) -> Pattern | None:
        """Return the pattern for its table, None where there is none."""
        return None if self.modes is None else Pattern.of(table, *self.modes)


def write_state(state: SearchState, path: Path) -> None:
    """Write a state; the file is replaced at once, or stays as it was.

    Raises
    ------
    SpecError
        The file cannot be written.
    """
    arrays: dict[str, NDArray[Any]] = {
        f"cuts{k}.{name}": np.asarray(getattr(cuts, name), dtype=kind)
        for k, cuts in enumerate(state.cuts.values())
        for name, kind in _CUT_TYPES.items()
    }
    modes = None if state.modes is None else [_pack(mode, k, arrays) for k, mode in enumerate(state.modes)]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "confidential": CONFIDENTIAL,
        "fingerprints": dict(state.fingerprints),
        "modes": modes,
        "bound": float(state.bound),
        "settled": dict(state.settled),
        "notes": list(state.notes),
        "cuts": list(state.cuts),
    }
    text = json.dumps(head | {"sha256": _digest(head, arrays)}, indent=1)
    with all_or_nothing([path]) as stand_ins, zipfile.ZipFile(stand_ins[path], "w") as file:
        file.writestr(f"{_HEAD}.json", text)
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_state(path: Path) -> SearchState:
    """Return the state in a file.

    Raises
    ------
    SpecError
        There is no such file, or it is no state, or broken.
    """
    try:
        head, arrays = _read_parts(path)
        modes = None if head["modes"] is None else tuple(_unpack(said, arrays) for said in head["modes"])
        cuts = {str(name): _unpack_cuts(k, arrays) for k, name in enumerate(head["cuts"])}
        state = SearchState(
            head["fingerprints"], modes, float(head["bound"]), head["settled"], tuple(head["notes"]), cuts
        )
    except OSError as error:
        said = (error.strerror or "it cannot be read").lower()
        raise SpecError.one(str(path), f"cannot be read: {said}.", "Name a file that --state has written.") from None
    except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, EOFError, SpecError):
        message = "is not the state of a search, is broken, or is one of another version."
        raise SpecError.one(str(path), message, "Name a file that --state has written, or begin anew.") from None
    return state


def _read_parts(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as file:
        head = json.loads(file.read(f"{_HEAD}.json"))
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(file.read(name)), allow_pickle=False)
            for name in file.namelist()
            if name.endswith(".npy")
        }
    if head.pop("sha256") != _digest(head, arrays) or head["format"] != FORMAT or head["version"] != VERSION:
        raise ValueError(path)
    return head, arrays


def _digest(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    found = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        found.update(f";{name} {array.dtype.str} {array.shape};".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _unpack_cuts(k: int, arrays: Mapping[str, NDArray[Any]]) -> PackedCuts:
    packed = {name: arrays[f"cuts{k}.{name}"].astype(kind) for name, kind in _CUT_TYPES.items()}
    return PackedCuts(**packed | {"columns": packed["columns"].astype(np.int64)})


def _pack(mode: Mode, k: int, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return what a mode says beside its arrays, which are added to the others."""
    said: dict[str, Any] = {"status": mode.status}
    for part in fields(mode):  # type: ignore[arg-type]  # modes are dataclasses
        value, name = getattr(mode, part.name), f"mode{k}.{part.name}"
        if isinstance(value, Fixed):
            counts = value.counts
            arrays[name] = counts.astype(str) if counts.dtype == object else counts
            said[part.name] = {"array": name, "decimals": value.decimals}
        elif isinstance(value, np.ndarray):
            arrays[name] = value
            said[part.name] = {"array": name}
        else:
            said[part.name] = value
    return said


def _unpack(said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Mode:
    """Return a mode; what contradicts itself is refused by the mode."""
    given: dict[str, Any] = {}
    for name, value in said.items():
        if name == "status":
            continue
        if not isinstance(value, dict):
            given[name] = value
            continue
        array = arrays[value["array"]]
        if "decimals" in value:
            counts = (
                np.array([int(text) for text in array.tolist()], dtype=object) if array.dtype.kind == "U" else array
            )
            given[name] = Fixed.of_counts(counts, int(value["decimals"]))
        else:
            given[name] = array
    mode: Mode = _MODES[said["status"]](**given)
    return mode
