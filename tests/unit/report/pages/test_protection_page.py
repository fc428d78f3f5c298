"""The page of a protection: what it shows, and what it may not show."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from rich.console import Console

from celosia import Adjust, Pattern, Protection, Risk, Suppress, audit
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.protection.distances import Distances
from celosia.report.margins import margins
from celosia.report.pages.content import PageContent
from celosia.report.pages.limits import PageLimits
from celosia.report.pages.protection import render, write_protection_page
from celosia.report.pages.published import MARK
from celosia.report.plots.search import Trace, margins_plot, progress_plot
from celosia.report.terminal.protection import protection_panel
from celosia.risk.risk import SENSITIVE, Levels
from celosia.table.fixed import Fixed

TRACE: Trace = ((0.1, None, 1_000.0, 3), (0.5, 9_000.0, 6_000.0, 12), (1.0, 8_000.0, 7_000.0, 40))
SOMEBODY_S = "987654321"


def protected(risk: Risk, *, intervals: bool = True, trace: Trace = TRACE) -> Protection:
    """Return a result that hides all cells below the totals of both margins; levels are a tenth of the value."""
    table = risk.table
    risk = replace(risk, status=np.where(risk.sensitive, SENSITIVE, "s"))
    level = Fixed(np.where(risk.sensitive, table.amounts.counts, 0), table.decimals + 1)
    risk = replace(risk, levels=Levels(level, level, Fixed(np.zeros(len(table), dtype=np.int64))))
    inner = (table.levels >= 1).all(axis=1) if table.axes else np.arange(len(table)) >= 9
    pattern = Pattern.hide(table, inner)
    found = audit(pattern, risk, intervals=intervals)
    return Protection(risk, Suppress(), pattern, 8_000.0, 7_000.0, found, 1.2, "highs", tuple(trace), 0)


def page_of(result: Protection, **options: object) -> str:
    return "".join(render(PageContent(result, **options)))  # type: ignore[arg-type]


def plain(html: str) -> str:
    """Return the words of a page."""
    html = re.sub(r"<(style|script).*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


class Balanced(HTMLParser):
    """Insists that every tag is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag not in {"meta", "col", "input", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_says_what_was_found_and_asked(two_way: Risk) -> None:
    words = plain(page_of(protected(two_way), asked={"Limits": "60 s", "Seed": "7"}))
    assert "Safe 3 of 3 requirements met" in words
    assert "Not shown 15 62.5% of 24 cells: 3 sensitive, 12 secondary" in words
    assert "Cost 8,000 bound 7,000: gap 12.50%" in words
    assert "1.2 s 40 cuts, highs" in words
    assert "Limits 60 s Seed 7" in words
    assert "Confidential:" in words


def test_an_optimum_is_called_one(two_way: Risk) -> None:
    best = replace(protected(two_way), bound=8_000.0)
    assert "Cost 8,000 proved to be the least" in plain(page_of(best))


def test_a_reader_s_table_shows_no_hidden_value_and_tells_the_office_which_is_sensitive(two_way: Risk) -> None:
    html = page_of(protected(two_way))
    grid = html[html.index('<table class="grid">') : html.index("</table>")]
    assert len(re.findall(rf'<td class="p" title="[^"]*">{MARK}</td>', grid)) == 3
    assert len(re.findall(rf'<td class="q" title="[^"]*">{MARK}</td>', grid)) == 12
    tip = next(found for found in re.findall(r'title="([^"]*)"', grid) if found.startswith("C10 x Brink"))
    assert tip.splitlines()[1:4] == ["Hidden: sensitive", "Why: p% rule (p = 10)", "True value: 3,000"]
    assert tip.splitlines()[4].startswith("Attackers conclude: 0 .. ")


def test_cells_that_are_not_shown_are_listed_with_their_intervals(two_way: Risk) -> None:
    html = page_of(protected(two_way))
    rows = re.findall(r"<tr>.*?</tr>", html[html.index('id="hidden"') :], flags=re.DOTALL)
    assert len(rows) == 1 + 15
    line = next(row for row in rows if plain(row).startswith("C11 Alten"))
    assert plain(line).startswith("C11 Alten sensitive 1,000 0 ")


def test_the_page_is_one_file_and_its_tags_are_closed(two_way: Risk) -> None:
    html = page_of(protected(two_way))
    reader = Balanced()
    reader.feed(html)
    assert not reader.open
    assert not re.search(r'(src|href)="(?!#)', html)
    assert "http:" not in html
    assert html.count("<svg") == 3
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))


def test_neither_contributions_nor_evidence_are_on_the_page(two_way: Risk) -> None:
    html = page_of(protected(two_way))
    assert SOMEBODY_S not in html.replace(",", "")


def test_the_same_result_makes_the_same_page(two_way: Risk) -> None:
    result = protected(two_way)
    assert page_of(result) == page_of(result)


def test_labels_are_escaped_in_the_table_and_in_pictures(two_way: Risk) -> None:
    axis = two_way.table.axes[0]
    labels = tuple("<b>&$x^2$" if label == "C11" else label for label in axis.labels)
    table = replace(two_way.table, axes=(replace(axis, labels=labels), *two_way.table.axes[1:]))
    html = page_of(protected(replace(two_way, table=table)))
    assert "<b>&$" not in html
    picture = html[html.index("<svg", html.index("What attackers")) :]
    assert "&lt;b&gt;&amp;$x^2$ x Alten" in picture[: picture.index("</svg>")]


def test_linked_tables_and_bare_problems_have_pages_too(linked: Risk, three_way: Risk, bare: Risk) -> None:
    assert page_of(protected(linked)).count('<table class="grid">') == 4
    assert page_of(protected(three_way)).count('<table class="grid">') == 3
    assert "The table as a reader sees it" not in plain(page_of(protected(bare)))


def test_ranges_stand_in_the_table_as_they_are_published(two_way: Risk) -> None:
    result = protected(two_way)
    cell = two_way.table.find(industry="F", region="Alten")
    ranged = Interval(np.array([cell]), Fixed(np.array([5_000])), Fixed(np.array([7_500])))
    pattern = Pattern.of(two_way.table, ranged)
    html = page_of(replace(result, pattern=pattern, found=audit(pattern, result.risk, intervals=True)))
    truth = float(two_way.table.values[cell])
    assert f'iv" style="--at:{(truth - 5_000) / 2_500:.3f}"' in html
    assert ">5,000 .. 7,500</td>" in html
    words = plain(html)
    assert "Published as ranges 1 " in words
    assert "Width against value" in words
    assert "Where the truth lies in published ranges" in words


def test_too_many_truths_in_the_middle_are_warned_of(two_way: Risk) -> None:
    result, table = protected(two_way), two_way.table
    cells = np.flatnonzero((table.levels >= 1).all(axis=1) & (table.values > 20))
    truth = table.amounts.counts[cells]
    ranged = Interval(cells, Fixed(truth - 10), Fixed(truth + 10))
    pattern = Pattern.of(table, ranged)
    html = page_of(replace(result, pattern=pattern, found=audit(pattern, result.risk, intervals=True)))
    assert 'class="warn strong">100% of' in html


def moved(risk: Risk) -> Protection:
    """Return a result that publishes other numbers for all inner cells, sensitive ones twice as far as required."""
    result, table = protected(risk), risk.table
    cells = np.flatnonzero((table.levels >= 1).all(axis=1))
    change = np.where(risk.sensitive[cells], table.amounts.counts[cells] // 5, -1)
    pattern = Pattern.of(table, Adjusted(cells, Fixed(table.amounts.counts[cells] + change, table.decimals)))
    own = np.flatnonzero(result.risk.sensitive)
    found = Distances(
        result.risk, pattern.published(), own, np.ones(len(own), dtype=bool), additive=True, plausible=True, kept=True
    )
    return replace(result, method=Adjust(), pattern=pattern, found=found)


def test_numbers_that_moved_are_a_heat_map_and_no_claim_about_attackers(two_way: Risk) -> None:
    html = page_of(moved(two_way))
    words = plain(html)
    assert "Moved far enough 3 of 3 sensitive cells left their safety interval." in words
    assert "it says nothing about what attackers can conclude" in words
    assert "Changed 15 of 24 cells have a number that is not the true one" in words
    assert "How much numbers change" in words
    assert "What became of the sensitive cells" in words
    for claim in ("Safe ", "requirements met", "Attackers conclude", "What attackers can conclude", "safe pattern"):
        assert claim not in words
    assert 'class="a3 own"' in html
    assert 'class="b1"' in html
    Balanced().feed(html)


def test_the_terminal_makes_no_claim_about_attackers_either(two_way: Risk) -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(protection_panel(moved(two_way)))
    said = console.export_text()
    assert "Moved far enough: all of 3 sensitive cells left their safety intervals." in said
    assert "nothing about what attackers can conclude" in said
    assert "Safe" not in said


def test_without_intervals_the_page_says_that_bars_may_go_on(two_way: Risk) -> None:
    words = plain(page_of(protected(two_way, intervals=False)))
    assert "as far as it was followed" in words
    assert "widths of" not in words


def test_a_page_without_sensitive_cells_or_search_has_no_pictures(two_way: Risk) -> None:
    nobody = replace(two_way, status=np.full(len(two_way), "s"), reasons=np.zeros_like(two_way.reasons))
    html = page_of(protected(nobody, trace=()))
    assert html.count("<svg") == 1
    assert "No cell is sensitive." in plain(html)


def test_many_requirements_are_drawn_together(two_way: Risk) -> None:
    html = page_of(protected(two_way), limits=PageLimits(bars=2))
    assert "The 2 tightest of 3; arrows go on." in plain(html)
    assert html.count("<svg") == 4


def test_margins_are_multiples_of_what_is_required_tightest_first(two_way: Risk) -> None:
    found = margins(protected(two_way).audit)
    assert [two_way.table.label(int(cell)) for cell in found.cells] == ["C10 x Brink", "C11 x North", "C11 x Alten"]
    assert np.allclose(found.below, -10)
    assert np.all(np.diff(found.ratio) >= 0)
    assert np.all(found.ratio >= 1)
    assert margins_plot(found).startswith("<svg")


def test_sliding_levels_are_measured_in_halves(two_way: Risk) -> None:
    result = protected(two_way)
    nothing = Fixed(np.zeros(len(two_way), dtype=np.int64))
    sliding = Fixed(np.where(two_way.sensitive, 1_000, 0))
    risk = replace(result.risk, levels=Levels(nothing, nothing, sliding))
    found = margins(audit(result.pattern, risk, intervals=True))
    assert np.allclose((found.above - found.below) / 2, found.ratio)


def test_a_single_point_is_no_progress() -> None:
    assert not progress_plot(TRACE[:1], 1.0)
    assert not progress_plot((), 0.0)


def test_a_page_is_written_wholly(two_way: Risk, tmp_path: Path) -> None:
    assert write_protection_page(PageContent(protected(two_way)), tmp_path / "r.html") == tmp_path / "r.html"
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
