// The transcript: one row a segment, with mouse and keyboard.

const CHUNK = 50; // rows that the browser leaves out of its work together while nobody sees them

const emptyRow = $(".tl-row-template").content.firstElementChild;

// A row is copied, not built: of two thousand, most of the time went into their making.
function buildRow(item) {
  const row = emptyRow.cloneNode(true);
  const [button, who, said, pencil] = row.children;
  const known = item.start !== null;
  const time = known ? clock(item.start) : WORDS.unknownTime;
  Object.assign(item, { row, button, pencil, body: said, who: who.lastChild, words: said.firstChild });
  button.textContent = time;
  button.setAttribute("aria-label", known ? WORDS.playFrom + time : WORDS.noTime);
  if (!known) button.setAttribute("aria-disabled", "true");
  if (known) button.title = stamp(item.start) + " – " + stamp(item.end) + " s";
  colourDot(who.firstChild, item.lane);
  item.who.textContent = nameOf(item.speaker);
  item.who.translate = item.speaker === null;
  item.words.textContent = item.text;
  for (const flag of item.flags || []) {
    said.append(makeBadge(WORDS.flags[flag] || [flag, flag], "tl-badge"));
  }
  pencil.setAttribute("aria-label", known ? WORDS.editAt + time : WORDS.edit);
  row.style.setProperty("--dot", "var(" + item.lane.variable + ")");
  row.dataset.index = item.index;
}

function placeRows(rows) {
  for (let from = 0; from < rows.length;) {
    let chunk = rowsList.lastElementChild;
    if (!chunk || chunk.childElementCount >= CHUNK) chunk = make("div", "tl-chunk");
    const some = rows.slice(from, from + CHUNK - chunk.childElementCount);
    chunk.append(...some);
    chunk.style.setProperty("--rows", chunk.childElementCount);
    if (!chunk.isConnected) rowsList.append(chunk);
    from += some.length;
  }
}

const stamp = (seconds) => (seconds === null ? WORDS.unknownTime : seconds.toFixed(2));

function makeBadge([text, title], className) {
  const badge = make("span", className, text);
  badge.title = title;
  return badge;
}

function rowItem(node) {
  const row = node.closest ? node.closest(".tl-row") : null;
  return row ? drawnItems()[Number(row.dataset.index)] : undefined;
}

rowsList.addEventListener("click", (event) => {
  const item = rowItem(event.target);
  const chosen = getSelection();
  if (event.target.closest(".tl-edit")) return openForm(item);
  if (!item || event.target.closest(".tl-form") || (!chosen.isCollapsed && item.row.contains(chosen.anchorNode))) return;
  focusRow(item, { preventScroll: true });
  play(item.start === null ? null : clamped(item.start));
});

rowsList.addEventListener("keydown", (event) => {
  const item = rowItem(event.target);
  if (!item || event.target !== item.button) return;
  const last = drawnItems().length - 1;
  const at = item.index;
  const goal = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last }[event.key];
  if (goal === undefined) return;
  event.preventDefault();
  focusRow(drawnItems()[Math.min(last, Math.max(0, goal))]);
});

function focusRow(item, how) {
  for (const other of rowsList.querySelectorAll('button[tabindex="0"]')) other.tabIndex = -1;
  item.button.tabIndex = item.pencil.tabIndex = 0;
  item.button.focus(how);
}

// New rows stay in view until somebody scrolls away from the end.
let atEnd = true;
function keepEnd(last) {
  if (atEnd && (last || meta.status === "running")) rowsList.scrollTop = rowsList.scrollHeight;
}
for (const kind of ["wheel", "touchmove", "pointerup", "keyup"]) {
  rowsList.addEventListener(kind, () => requestAnimationFrame(() => {
    atEnd = rowsList.scrollHeight - rowsList.scrollTop - rowsList.clientHeight < 48;
  }), { passive: true });
}

// Scrolls the list alone: the page must not jump while somebody reads elsewhere. After a jump the
// rows around the goal are measured for the first time, so the goal moves and is looked at again.
function showRow(item, again = 4) {
  atEnd = false;
  const list = rowsList.getBoundingClientRect();
  const row = item.row.getBoundingClientRect();
  if (row.top >= list.top && row.bottom <= list.bottom) return;
  const target = rowsList.scrollTop + row.top - list.top - (list.height - row.height) / 3;
  const jump = calm.matches || Math.abs(target - rowsList.scrollTop) > 2 * list.height;
  rowsList.scrollTo({ top: target, behavior: jump || again < 4 ? "auto" : "smooth" });
  if ((jump || again < 4) && again) requestAnimationFrame(() => showRow(item, again - 1));
}
