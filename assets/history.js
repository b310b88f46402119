// The runs of this visit: a table with a button to open and one to delete, and two of them to
// compare. Rows are data of the session; names of files go in as text that is never translated.
const body = element.querySelector("tbody");
const table = element.querySelector(".table-scroller");
const none = element.querySelector(".none");
const against = element.querySelector(".against");
const [first, second] = against.querySelectorAll("select");

function cell(text, isData) {
  const node = document.createElement("td");
  node.textContent = text;
  if (isData) node.translate = false;
  return node;
}

function press(text, label, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.setAttribute("aria-label", text + " " + label);
  button.addEventListener("click", () => act(button));
  return button;
}

// A transcript cannot be made again for nothing, so deleting asks once.
function forget(row, button) {
  if (button.dataset.asked) return trigger("forget", { number: row.number });
  button.dataset.asked = "yes";
  button.textContent = "Really delete";
  button.addEventListener("blur", () => draw(), { once: true });
}

function line(row) {
  const item = document.createElement("tr");
  const when = row.ended_at ? new Date(row.ended_at).toTimeString().slice(0, 5) : "";
  const name = cell(row.file, true);
  if (row.shown) item.setAttribute("aria-current", "true");
  for (const mark of [row.state, row.edited ? "edited" : ""].filter(Boolean)) {
    const badge = document.createElement("small");
    badge.textContent = mark;
    badge.translate = true;
    name.append(" ", badge);
  }
  const figures = [row.rtf, String(row.speakers)].map((text) => cell(text));
  for (const figure of figures) figure.className = "figure";
  const acts = document.createElement("td");
  const open = press("Open", row.file, () => trigger("reopen", { number: row.number }));
  acts.className = "acts";
  acts.append(open, press("Delete", row.file, (button) => forget(row, button)));
  item.append(name, cell(when), cell(row.checkpoint, true), cell(row.precision), ...figures, acts);
  return item;
}

function choices(rows) {
  return rows.flatMap((row) => {
    const name = row.number + " · " + row.file;
    const own = [[String(row.number), row.edited ? name + " · as written" : name]];
    return row.edited ? [...own, [row.number + " edited", name + " · edited"]] : own;
  });
}

function fill(select, all, fallback) {
  const before = select.value;
  select.replaceChildren(...all.map(([key, text]) => new Option(text, key)));
  select.value = all.some(([key]) => key === before) ? before : all[fallback]?.[0] ?? "";
}

function draw() {
  const rows = props.value || [];
  body.replaceChildren(...rows.map(line));
  table.hidden = rows.length === 0;
  none.hidden = rows.length > 0;
  const all = choices(rows);
  against.hidden = all.length < 2;
  fill(first, all, all.length - 1); // the oldest is judged by, the newest is judged
  fill(second, all, 0);
}

against.querySelector("button").addEventListener("click", () => {
  trigger("contrast", { first: first.value, second: second.value });
});
watch("value", draw);
draw();
