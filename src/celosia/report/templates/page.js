// Comforts only: without scripts every sheet is on the page, and tips are the browser's own.

// One sheet at a time, chosen from the list or one by one.
const select = document.getElementById("sheet");
if (select) {
  const sheets = [...document.querySelectorAll(".sheet")];
  const [back, on] = document.querySelectorAll(".controls button");
  const show = () => {
    sheets.forEach((sheet, place) => { sheet.hidden = place !== select.selectedIndex; });
    back.disabled = select.selectedIndex === 0;
    on.disabled = select.selectedIndex === sheets.length - 1;
  };
  select.addEventListener("change", show);
  back.addEventListener("click", () => { select.selectedIndex -= 1; show(); });
  on.addEventListener("click", () => { select.selectedIndex += 1; show(); });
  show();
}

// Rows only down to a level.
const down = document.getElementById("down");
down?.addEventListener("change", () => { document.body.dataset.down = down.value; });

// A list shows the rows that contain every word typed.
for (const search of document.querySelectorAll("input[type=search]")) {
  const rows = [...document.getElementById(search.dataset.list).tBodies[0].rows];
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}

// Tips at once and in our own clothes.
const tip = document.getElementById("tip");
document.addEventListener("pointerover", (event) => {
  const cell = event.target.closest?.(".grid td[title], .grid td[data-tip]");
  tip.hidden = !cell;
  if (!cell) return;
  if (cell.title) { cell.dataset.tip = cell.title; cell.removeAttribute("title"); }
  tip.textContent = cell.dataset.tip;
  const at = cell.getBoundingClientRect();
  const below = at.bottom + tip.offsetHeight + 8 < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${below ? at.bottom + 4 : at.top - tip.offsetHeight - 4}px`;
});
