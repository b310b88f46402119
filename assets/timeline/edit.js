// Editing a segment: one form at a time, in the place of its row. Python makes the change or says why
// not; until it has answered, the form stays as it is.

const formTemplate = $(".tl-form-template");
let form = null;
let formItem = null;

// Up to three decimals, since what a person sees has to mean the same when it is read back.
function exact(seconds) {
  if (seconds === null) return "";
  const minutes = Math.floor(seconds / 60);
  const [whole, decimals] = (seconds - 60 * minutes).toFixed(3).replace(/0$/, "").split(".");
  return minutes ? minutes + ":" + whole.padStart(2, "0") + "." + decimals : whole + "." + decimals;
}

function openForm(item) {
  if (!item || item === pending || !meta.editing) return;
  closeForm();
  formItem = item;
  form = formTemplate.content.firstElementChild.cloneNode(true);
  const part = (name) => form.querySelector(".tl-" + name);
  part("start").value = part("start").defaultValue = exact(item.start);
  part("end").value = part("end").defaultValue = exact(item.end);
  part("words").value = item.text;
  fillSpeakers(part("whose"), item.speaker);
  part("merge").hidden = item.index === items.length - 1;
  for (const edge of ["start", "end"]) {
    part(edge + "-now").addEventListener("click", () => { part(edge).value = exact(Math.max(0, lastTime)); });
  }
  part("cancel").addEventListener("click", () => closeForm(true));
  part("split").addEventListener("click", () => ask("split", { at: part("words").selectionStart }));
  part("merge").addEventListener("click", () => ask("merge"));
  part("delete").addEventListener("click", () => ask("delete"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(part);
  });
  form.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.isComposing) return;
    if (event.key === "Escape") closeForm(true);
    if (event.key === "Enter" && event.target === part("words") && !event.shiftKey) {
      event.preventDefault();
      save(part);
    }
  });
  item.row.classList.add("tl-editing");
  item.row.append(form);
  showRow(item);
  part("words").focus({ preventScroll: true });
}

function fillSpeakers(select, chosen) {
  const labels = [...lanes.values()].filter((lane) => !lane.row.hidden).map((lane) => lane.speaker);
  for (const label of [...labels.filter((one) => one !== null), null]) {
    const option = make("option", "", nameOf(label));
    option.value = label ?? "";
    option.translate = label === null;
    option.selected = label === chosen;
    select.append(option);
  }
  const newcomer = make("option", "", WORDS.newcomer);
  newcomer.value = "+";
  select.append(newcomer);
}

function save(part) {
  const typed = (input) => (input.value === input.defaultValue ? null : input.value);
  ask("set", {
    start: typed(part("start")),
    end: typed(part("end")),
    speaker: part("whose").value || null,
    text: part("words").value,
  });
}

function closeForm(refocus) {
  if (!form) return;
  form.remove();
  formItem.row.classList.remove("tl-editing");
  if (refocus) focusRow(formItem, { preventScroll: true });
  form = formItem = null;
}

function ask(change, more) {
  const index = formItem ? formItem.index : null;
  trigger("revise", { asked: { change, number: meta.revision, index, ...more } });
}

const undo = () => { if (meta.editing?.undo) ask("undo"); };
const redo = () => { if (meta.editing?.redo) ask("redo"); };
$(".tl-undo").addEventListener("click", undo);
$(".tl-redo").addEventListener("click", redo);

function showEditing() {
  root.dataset.editable = meta.editing ? "yes" : "no";
  $(".tl-changes").hidden = !meta.editing;
  $(".tl-undo").disabled = !meta.editing?.undo;
  $(".tl-redo").disabled = !meta.editing?.redo;
  if (!meta.editing) closeForm();
  if (!form) return;
  const problem = form.querySelector(".tl-problem");
  problem.hidden = !meta.editing.problem;
  problem.textContent = meta.editing.problem;
}

// ---- the same place after a change ---------------------------------------------------------------

function placeNow() {
  const focused = formItem || rowItem(document.activeElement);
  const place = { view, scroll: rowsList.scrollTop, atEnd, index: focused ? focused.index : -1 };
  closeForm();
  return place;
}

function backTo(place) {
  setView(place.view.from, place.view.to);
  atEnd = place.atEnd;
  rowsList.scrollTop = place.scroll;
  const item = items[Math.min(place.index, items.length - 1)];
  if (item) focusRow(item, { preventScroll: true });
}
