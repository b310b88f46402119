// Shortcuts of the page: play, seek, and walk the segments without a mouse.
//
// They rest while somebody types or uses another control, and can be switched off for good, since
// a single letter may belong to an assistive tool (WCAG 2.1.4).

const SEEK_S = 5;
const KEYS_KEPT = "moss-keys";
const TYPING = 'input, textarea, select, [contenteditable]:not([contenteditable="false"]), dialog';
const WIDGETS = '[role="tab"], [role="slider"], [role="listbox"], [role="option"], [role="grid"]';
const PRESSED = "button, a, summary, [role='button']";

const help = $(".tl-help");
const keysOn = $(".tl-keys-on");
const unmounted = new AbortController();
const keysAreOn = () => localStorage.getItem(KEYS_KEPT) !== "off";

// With two timelines on the screen the one in use takes the keys, else the first one.
function takesKeys() {
  if (!root.checkVisibility()) return false;
  const shown = [...document.querySelectorAll(".moss-tl")].filter((one) => one.checkVisibility());
  return (shown.find((one) => one.contains(document.activeElement)) || shown[0]) === root;
}

function toggle() {
  const media = player();
  if (!media) return;
  if (media.paused) media.play().catch(() => undefined);
  else media.pause();
}

function seek(t) {
  const media = player();
  if (!media || t === null) return;
  media.currentTime = Math.min(media.duration || t, Math.max(0, t));
  follow(true);
}

function currentItem() {
  const focused = rowItem(document.activeElement);
  if (focused) return focused;
  const playing = [...active].at(-1);
  return playing || items.findLast((item) => item.start !== null && item.start <= lastTime);
}

function walk(by) {
  const from = currentItem();
  const goal = items[from ? from.index + by : 0];
  if (!goal) return;
  focusRow(goal);
  showRow(goal);
  seek(goal.start === null ? null : clamped(goal.start));
}

function showHelp() {
  keysOn.checked = keysAreOn();
  help.showModal();
}

const COMMANDS = {
  " ": toggle,
  ArrowLeft: () => seek(lastTime - SEEK_S),
  ArrowRight: () => seek(lastTime + SEEK_S),
  j: () => walk(1),
  k: () => walk(-1),
  e: () => openForm(currentItem()),
  "/": () => find.focus(),
  "?": showHelp,
};

function isFree(event) {
  const at = document.activeElement;
  if (event.defaultPrevented || event.isComposing) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (document.querySelector("dialog[open]") || at.closest(TYPING) || at.closest(WIDGETS)) return false;
  const onRow = rowsList.contains(at) && active.has(rowItem(at));
  return event.key !== " " || onRow || !at.closest(PRESSED); // a button keeps its own space bar
}

// With a modifier no assistive tool minds, so these two cannot be switched off.
function chord(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return undefined;
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? redo : undo;
  return key === "y" ? redo : undefined;
}

document.addEventListener("keydown", (event) => {
  const chorded = chord(event);
  if (chorded && takesKeys() && !document.activeElement.closest(TYPING)) {
    event.preventDefault();
    return chorded();
  }
  const command = COMMANDS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!command || !keysAreOn() || !takesKeys() || !isFree(event)) return;
  event.preventDefault();
  command();
}, { signal: unmounted.signal });

keysOn.addEventListener("change", () => {
  localStorage.setItem(KEYS_KEPT, keysOn.checked ? "on" : "off");
});
$(".tl-keys").addEventListener("click", showHelp);
$(".tl-help-close").addEventListener("click", () => help.close());
help.addEventListener("click", (event) => {
  if (event.target === help) help.close(); // beside the panel
});
