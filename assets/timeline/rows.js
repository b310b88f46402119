// The transcript: one row a segment, with mouse and keyboard.

function buildRow(item) {
  const row = make("li", "tl-row");
  const known = item.start !== null;
  const time = known ? clock(item.start) : WORDS.unknownTime;
  item.button = make("button", "tl-time", time);
  item.button.type = "button";
  item.button.tabIndex = -1;
  item.button.setAttribute("aria-label", known ? WORDS.playFrom + time : WORDS.noTime);
  if (!known) item.button.setAttribute("aria-disabled", "true");
  if (known) item.button.title = stamp(item.start) + " – " + stamp(item.end) + " s";
  item.who = make("span", "tl-label", nameOf(item.speaker));
  item.who.dir = "auto";
  item.who.translate = item.speaker === null;
  const who = make("span", "tl-who");
  who.append(makeDot(item.lane), item.who);
  item.words = make("span", "tl-text", item.text);
  item.words.dir = "auto";
  item.words.translate = false;
  item.body = make("div", "tl-said");
  item.body.append(item.words);
  for (const flag of item.flags || []) {
    item.body.append(makeBadge(WORDS.flags[flag] || [flag, flag], "tl-badge"));
  }
  item.pencil = make("button", "tl-icon tl-edit");
  item.pencil.type = "button";
  item.pencil.tabIndex = -1;
  item.pencil.setAttribute("aria-label", known ? WORDS.editAt + time : WORDS.edit);
  item.pencil.append(makePencil());
  row.append(item.button, who, item.body, item.pencil);
  row.style.setProperty("--dot", "var(" + item.lane.variable + ")");
  row.dataset.index = item.index;
  item.row = row;
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
