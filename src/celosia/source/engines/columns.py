"""The columns of an engine's records under names of our own: leaf numbers, whole counts, contributors, flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.errors import DataError, Problems, pluralise
from celosia.library import OnFirstUse
from celosia.source.engines.amounts import Amount, amounts_of
from celosia.source.engines.codes import DimensionCodes
from celosia.source.engines.rows import EngineRows, without_warnings
from celosia.source.records import Roles
from celosia.tolerance import LARGEST_COUNT

if TYPE_CHECKING:
    import ibis
else:
    ibis = OnFirstUse("ibis")


@dataclass(frozen=True, slots=True, eq=False)
class LeafRows:
    """Records in an engine, each with the numbers of its leaf codes and whole counts of its amounts.

    Parameters
    ----------
    engine
        Who answers.
    table
        The columns `n0`, ... of leaf numbers, `v0`, ... of contributions, `m0`, ... of weighted contributions, `w` of
        weights, `r` and `h` of contributors, `asked` and `waived`.
    dimensions
        The dimensions by name.
    amounts
        How the amounts are read; None for counts of records.
    weight
        How weights are read.
    shadow
        The number of the amount on which rules look, None for that of the table.
    n_records
        How many records there are.
    notes
        What was rounded.
    """

    engine: EngineRows
    table: Any
    dimensions: Mapping[str, DimensionCodes]
    amounts: Sequence[Amount | None]
    weight: Amount | None
    shadow: int | None
    n_records: int
    notes: tuple[str, ...]

    @property
    def columns(self) -> dict[str, str]:
        """The column of every dimension's leaf numbers."""
        return {name: f"n{k}" for k, name in enumerate(self.dimensions)}

    @property
    def sizes(self) -> list[str]:
        """The columns of contributions."""
        return [f"v{k}" for k in range(len(self.amounts))]

    @property
    def masses(self) -> list[str]:
        """The columns of weighted contributions."""
        return [f"m{k}" for k in range(len(self.amounts))] if self.weight is not None else self.sizes

    def decimals(self, number: int) -> int:
        """Return the decimals in which contributions of an amount are counted."""
        amount = self.amounts[number]
        own = 0 if amount is None else amount.decimals
        return own if self.weight is None else own + self.weight.decimals


def number_rows(
    engine: EngineRows,
    dimensions: Mapping[str, DimensionCodes],
    values: Sequence[str],
    roles: Roles,
    *,
    shadow: str | None,
    missing: str,
    decimals: int | None,
) -> LeafRows:
    """Return the records with numbers instead of codes, and whole counts instead of amounts.

    Raises
    ------
    DataError
        Everything that is wrong with the records.
    """
    if missing == "drop":
        with without_warnings():
            known = [codes.find_coded(engine.table) for codes in dimensions.values()]
            engine = EngineRows(engine.table.filter(known), engine.place)
    read = list(dict.fromkeys([*values, *([] if shadow is None else [shadow])]))
    columns: dict[str, int | None] = dict.fromkeys(read, decimals)
    if roles.weight is not None:
        columns.setdefault(roles.weight, None)
    with without_warnings():
        made, n_records = amounts_of(engine, columns, roles.weight)
        _check_roles(engine, roles)
        weight = None if roles.weight is None else made[roles.weight]
        amounts: list[Amount | None] = [made[column] for column in read] or [None]
        if weight is not None:
            _check_weighted_sums(engine, amounts, weight)
        table = engine.table.select(**_fields(engine.table, dimensions, amounts, weight, roles))
        for k, codes in enumerate(dimensions.values()):
            table = codes.number(table, f"n{k}")
    return LeafRows(
        engine,
        table,
        dimensions,
        amounts,
        weight,
        None if shadow is None else read.index(shadow),
        n_records,
        tuple(amount.note for amount in made.values() if amount.note),
    )


def _fields(
    table: Any,  # noqa: ANN401  (ibis)
    dimensions: Mapping[str, DimensionCodes],
    amounts: Sequence[Amount | None],
    weight: Amount | None,
    roles: Roles,
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for k, codes in enumerate(dimensions.values()):
        fields |= codes.entries(table, f"n{k}")
    weights = None if weight is None else weight.counts(table)
    for k, amount in enumerate(amounts):
        counts = ibis.literal(1, type="int64") if amount is None else amount.counts(table)
        fields[f"v{k}"] = counts if weight is None else counts * 10**weight.decimals
        if weights is not None:
            fields[f"m{k}"] = counts * weights
    if weights is not None:
        fields["w"] = weights
    respondent = None if roles.respondent is None else _name(table, roles.respondent)
    if respondent is not None:
        fields["r"] = respondent
    if roles.holding is not None:
        holding = _name(table, roles.holding)
        known = ibis.literal("h") + holding
        # a holding without a name is its respondent, whose name may be that of a holding
        fields["h"] = known if respondent is None else ibis.ifelse(holding == "", ibis.literal("r") + respondent, known)
    for flag, column in (("asked", roles.request), ("waived", roles.waiver)):
        if column is not None:
            fields[flag] = _flag(table[column])
    return fields


def _name(table: Any, column: str) -> Any:  # noqa: ANN401  (ibis)
    return table[column].cast("string").fill_null("")


def _flag(given: Any) -> Any:  # noqa: ANN401  (ibis)
    """Return a truth value, or whether a number is not zero; nothing means no."""
    said = given if given.type().is_boolean() else given != 0
    return said.fill_null(False)  # noqa: FBT003  (ibis takes it so)


def _check_roles(engine: EngineRows, roles: Roles) -> None:
    """Refuse records of nobody, and answers that are neither yes nor no."""
    found = Problems()
    for role in ("request", "waiver"):
        column = getattr(roles, role)
        if column is not None and not (engine.types[column].is_boolean() or engine.types[column].is_numeric()):
            message = f"holds neither truth values nor numbers, but {engine.types[column]}."
            found.add(f"{engine.place}, column {column!r}", message, "Cast it to BOOLEAN in a view or query.")
    role = "respondent" if roles.respondent is not None else "holding"
    column = getattr(roles, role)
    if column is not None:
        nameless = engine.fetch_one(engine.table.aggregate(n=(_name(engine.table, column) == "").sum()))["n"]
        if nameless:
            remedy = "Every record belongs to somebody."
            if role == "holding":
                remedy = "Name the respondent column too: it stands in for the holding."
            found.add(f"{engine.place}, column {column!r}", f"no {role} in {pluralise(nameless, 'record')}.", remedy)
    found.raise_as(DataError)


def _check_weighted_sums(engine: EngineRows, amounts: Sequence[Amount | None], weight: Amount) -> None:
    """Refuse contributions that do not fit into 64 bits when they are weighted."""
    table, asked = engine.table, {}
    weights = weight.counts(table).cast("float64")
    for k, amount in enumerate(amounts):
        counts = ibis.literal(1.0, type="float64") if amount is None else amount.counts(table).cast("float64").abs()
        asked[f"s{k}"], asked[f"w{k}"] = (counts * 10.0**weight.decimals).sum(), (counts * weights).sum()
    said = engine.fetch_one(table.aggregate(**asked))
    found = Problems()
    for k, amount in enumerate(amounts):
        if max(said[f"s{k}"], said[f"w{k}"]) >= LARGEST_COUNT:
            column = weight.column if amount is None else amount.column
            message = "times its weights sums to more than 18 digits."
            remedy = "Ask for fewer decimals, or use a larger unit."
            found.add(f"{engine.place}, column {column!r}", message, remedy)
    found.raise_as(DataError)
