"""The assessed tables of the reports, whose grids are tested here."""

from __future__ import annotations

from tests.unit.report.conftest import bare as bare
from tests.unit.report.conftest import linked as linked
from tests.unit.report.conftest import three_way as three_way
from tests.unit.report.conftest import two_way as two_way
