"""Draw the figures of the pages: ``python docs/figures.py`` writes them into ``docs/_static``."""

from __future__ import annotations

from html import escape
from pathlib import Path

_FOLDER = Path(__file__).parent / "_static"
_INK, _GREY, _LINE = "#1f2933", "#52606d", "#829ab1"
_BLUE, _ORANGE, _PALE, _WHITE = "#d9e8f6", "#fde3c4", "#eef1f4", "#ffffff"


class Drawing:
    """An SVG under construction; coordinates are pixels from the upper left corner."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="13" role="img">'
            f"<title>{escape(title)}</title>"
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{_GREY}"/></marker></defs>'
            f'<rect width="{width}" height="{height}" rx="8" fill="{_WHITE}"/>'
        )
        self._parts: list[str] = []

    def box(self, x: int, y: int, width: int, height: int, fill: str = _PALE, *, dashed: bool = False) -> None:
        """Add a box."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" stroke="{_LINE}"{dash}/>'
        )

    def text(self, x: int, y: int, line: str, *, anchor: str = "middle", fill: str = _INK, small: bool = False) -> None:
        """Add a line of text; a small one is the name of a file or a remark."""
        size = ' font-size="11"' if small else ""
        self._parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{fill}"{size}>{escape(line)}</text>')

    def step(self, x: int, y: int, width: int, lines: list[str], file: str, fill: str = _PALE) -> None:
        """Add a box with lines of text, and the file that does what they say."""
        self.box(x, y, width, 18 * len(lines) + 26, fill)
        for number, line in enumerate(lines):
            self.text(x + width // 2, y + 20 + 18 * number, line)
        self.text(x + width // 2, y + 18 + 18 * len(lines), file, fill=_GREY, small=True)

    def arrow(self, *points: tuple[int, int], tip: bool = True) -> None:
        """Add an arrow through some points."""
        way = " ".join(f"{x},{y}" for x, y in points)
        end = ' marker-end="url(#tip)"' if tip else ""
        self._parts.append(f'<polyline points="{way}" fill="none" stroke="{_GREY}" stroke-width="1.4"{end}/>')

    def line(self, x1: int, y1: int, x2: int, y2: int, *, dashed: bool = False) -> None:
        """Add a line."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{_LINE}"{dash}/>')

    def dot(self, x: int, y: int) -> None:
        """Add a point."""
        self._parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{_INK}"/>')

    def polygon(self, *points: tuple[int, int]) -> None:
        """Add a filled polygon."""
        way = " ".join(f"{x},{y}" for x, y in points)
        self._parts.append(f'<polygon points="{way}" fill="{_BLUE}" stroke="{_LINE}"/>')

    def write(self, name: str) -> None:
        """Write the file."""
        (_FOLDER / name).write_text("\n".join([self._head, *self._parts, "</svg>"]) + "\n", encoding="utf-8")


def search() -> None:
    """Draw the loop that finds a pattern, with the file of every step."""
    d = Drawing(760, 690, "How a pattern is found: master, subproblems, cuts, heuristics, tree, audit")
    left, wide, right = 30, 330, 430
    d.step(left, 20, wide, ["the problem in arrays:", "cells, relations, bounds, requirements"], "engine/problem.py")
    d.step(left, 116, wide, ["cuts that need no subproblem:", "single relations"], "engine/cuts/initial.py")
    d.step(left, 212, wide, ["relaxed master: a point x, 0 ≤ x ≤ 1,", "and a lower bound"], "engine/master.py", _BLUE)
    d.step(
        left, 308, wide, ["separation: one subproblem a requirement;", "is its level reached at x?"],
        "engine/cuts/separation.py, engine/subproblems/", _ORANGE,
    )  # fmt: skip
    d.step(
        left, 404, wide, ["primal heuristics: round up, build, show again;", "fix cells by reduced costs"],
        "engine/heuristics/, engine/relaxation.py",
    )  # fmt: skip
    d.step(left, 500, wide, ["master in whole numbers:", "branch, cut, until nothing is violated"],
           "engine/tree/", _BLUE)  # fmt: skip
    d.step(left, 596, wide, ["audit in exact arithmetic"], "attack/audit.py", _ORANGE)
    d.text(left + wide // 2, 668, "safe: Protection with cost and bound", fill=_GREY)

    d.step(right, 308, 300, ["capacity, cover and zero-half cuts", "that x violates"], "engine/cuts/")
    d.step(right, 404, 300, ["incumbent: the best safe pattern"], "engine/incumbent.py")
    d.step(right, 500, 300, ["respondents attack the pattern:", "more requirements"],
           "engine/patterns/oracle.py, respondents/oracle.py", _ORANGE)  # fmt: skip
    d.step(right, 596, 300, ["refused: this pattern hides too little"], "engine/incumbent.py")

    middle = left + wide // 2
    for top, bottom in ((82, 116), (178, 212), (274, 308), (466, 500), (562, 596)):
        d.arrow((middle, top), (middle, bottom))
    d.arrow((middle, 370), (middle, 404))
    d.text(middle + 8, 391, "all reached, or tailing off", anchor="start", fill=_GREY, small=True)
    d.arrow((left + wide, 339), (right, 339))
    d.text((left + wide + right) // 2, 331, "missed", fill=_GREY, small=True)
    d.arrow((right + 150, 308), (right + 150, 243), (left + wide, 243))
    d.text(right + 158, 262, "added to the master", anchor="start", fill=_GREY, small=True)
    d.arrow((left + wide, 426), (right, 426))
    d.text((left + wide + right) // 2, 418, "better", fill=_GREY, small=True)
    d.arrow((left + wide, 531), (right, 531))
    d.text((left + wide + right) // 2, 523, "kept", fill=_GREY, small=True)
    d.arrow((right + 300, 531), (748, 531), (748, 339), (right + 300, 339))
    d.arrow((left + wide, 618), (right, 618))
    d.text((left + wide + right) // 2, 610, "not safe", fill=_GREY, small=True)
    d.arrow((right + 300, 618), (748, 618), (748, 531), tip=False)
    d.write("search.svg")


def respondents() -> None:
    """Draw what a coalition knows about a cell, and the corners of a target in two cells."""
    d = Drawing(760, 330, "What a coalition can conclude about a target in one cell, and in two")
    d.text(190, 28, "target t in one hidden cell, value T")
    for x, width, fill, name, known in (
        (20, 90, _PALE, "coalition S", "known exactly"),
        (110, 150, _ORANGE, "target t", "to be protected"),
        (260, 100, _BLUE, "others", "known within q"),
    ):
        d.box(x, 46, width, 44, fill)
        d.text(x + width // 2, 73, name)
        d.text(x + width // 2, 106, known, fill=_GREY, small=True)
    d.line(20, 190, 360, 190)
    d.dot(190, 190)
    d.text(190, 178, "what t contributes", small=True)
    for side, at in ((-1, 190 - 120), (1, 190 + 120)):
        d.line(at, 140, at, 234, dashed=True)
        d.text(at, 134, "- p" if side < 0 else "+ p", small=True)
        d.arrow((190, 210), (190 + side * 70, 210))
        d.arrow((190 + side * 70, 226), (at, 226))
    d.text(225, 204, "q · others", small=True, fill=_GREY)
    d.text(290, 250, "move y of the cell", small=True, fill=_GREY)
    d.text(190, 276, "Both ends must be possible: the cell must be able to move by", small=True)
    d.text(190, 294, "p · t - q · others, up and down, within what S knows of", small=True)
    d.text(190, 312, "the other cells and what is published.", small=True)

    d.line(390, 20, 390, 310)
    d.text(575, 28, "target t in two hidden cells")
    d.polygon((440, 150), (520, 60), (690, 70), (715, 190), (640, 262), (470, 250))
    d.box(490, 95, 170, 120, "none")
    for x in (490, 660):
        for y in (95, 215):
            d.dot(x, y)
    d.line(575, 50, 575, 275, dashed=True)
    d.line(410, 155, 740, 155, dashed=True)
    d.dot(575, 155)
    d.text(583, 148, "error in cell 1", anchor="start", small=True, fill=_GREY)
    d.text(582, 60, "error in cell 2", anchor="start", small=True, fill=_GREY)
    d.text(575, 294, "The box of ± p holds what must stay possible; blue is what S cannot", small=True)
    d.text(575, 312, "exclude. For every corner of the box there must be such a table.", small=True)
    d.write("respondents.svg")


if __name__ == "__main__":
    search()
    respondents()
