// Timeline and transcript of one run, drawn from two props that Python sends.
//
// value: JSON lines, the first with the numbers of run and revision, then one a finished segment;
//        it only ever grows within a revision.
// meta:  run, revision, length (of the value), duration_s, status, names by label, talk_s by label,
//        the open segment, and what can be edited.
//
// Gradio runs this file once a mount as the body of a function that is given `element`, `trigger`,
// `props` and `watch`. All text of the model or of a person goes through textContent.
// A prop's name must not stand in quotes here: Gradio would take it for the name of an event.

const COLOURS = 8;
const POLL_MS = 100;
const MIN_WINDOW_S = 10;
const BEYOND_TOLERANCE_S = 0.1; // stamps are rounded, so the last one may pass the end a little
const LANE_PAD_PX = 4;
const STACK_PX = 6;
const LINES_AT_ONCE = 200; // more would hold up the page

const $ = (selector) => element.querySelector(selector);
const root = $(".moss-tl");
const lanesList = $(".tl-lanes");
const rowsList = $(".tl-rows");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let run, revision, read, meta, items, lanes, pending, duration, view, active, anyTime, covered;
let announced; // the status that was spoken last
let marked, markedFor; // how many items were compared with which duration
let local = new Map(); // renames made here and not yet confirmed by Python

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6));
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return (hours ? hours + ":" + two(minutes) : String(minutes)) + ":" + two(whole % 60);
}

function counted(n, noun) {
  return n.toLocaleString(WORDS.locale) + " " + WORDS.count[noun][n === 1 ? 0 : 1];
}

// ---- state -----------------------------------------------------------------------------------

function startOver(from) {
  if (meta.run !== run) local.clear();
  run = meta.run;
  revision = meta.revision;
  read = from;
  items = [];
  lanes = new Map();
  pending = null;
  duration = 0;
  covered = 0;
  marked = 0;
  anyTime = false;
  atEnd = true;
  view = { from: 0, to: 0 };
  active = new Set();
  rowsList.replaceChildren();
  lanesList.replaceChildren();
  hideTip();
}

function update() {
  const value = props.value || "";
  const next = props.meta || {};
  // Gradio sets meta first and the value a moment later: half an update is none.
  const header = value ? '{"run":' + next.run + ',"revision":' + next.revision + "}\n" : "";
  if (value.length !== next.length || !value.startsWith(header)) return;
  const before = (meta && meta.names) || {};
  const spoken = meta ? meta.status : undefined;
  meta = next;
  const place = meta.run === run && meta.revision !== revision ? placeNow() : null;
  if (meta.run !== run || place || value.length < read) startOver(header.length);
  for (const [label, name] of Object.entries(next.names || {})) {
    // The newest change wins; a run in progress goes on sending the names it began with.
    if (before[label] !== name && local.get(label) !== name) local.delete(label);
  }
  const whole = append(value, place ? Infinity : LINES_AT_ONCE);
  if (!whole) setTimeout(update);
  showPending(meta.open);
  setDuration();
  if (place) backTo(place);
  showNames();
  showShares();
  showState(whole);
  showEditing();
  markActive(lastTime, wasPlaying);
  if (find.value) search(false);
  keepEnd(spoken === "running");
  repaint();
}

// Returns whether all lines are there now.
function append(value, most) {
  const end = value.lastIndexOf("\n") + 1;
  if (end <= read) return true;
  dropPending();
  const rows = [];
  while (read < end && rows.length < most) {
    const next = value.indexOf("\n", read) + 1;
    rows.push(addItem(JSON.parse(value.slice(read, next))).row);
    read = next;
  }
  placeRows(rows);
  if (!rowsList.querySelector('.tl-time[tabindex="0"]') && items.length) {
    items[0].button.tabIndex = 0;
  }
  return read >= end;
}

function addItem(segment) {
  const item = { ...segment, index: items.length, level: 0 };
  item.lane = laneOf(item.speaker);
  item.level = levelFor(item.lane, item);
  item.lane.items.push(item);
  buildRow(item);
  items.push(item);
  noteTimes(item);
  return item;
}

function noteTimes(item) {
  if (item.start === null) return;
  anyTime = true;
  covered = Math.max(covered, item.end === null ? item.start : item.end);
}

// The open segment is drawn like any other, and replaced at every update.
function showPending(segment) {
  if (!segment) return dropPending();
  if (pending && pending.speaker === segment.speaker && pending.start === segment.start) {
    pending.end = segment.end;
    if (pending.words.textContent !== segment.text) pending.words.textContent = segment.text;
  } else {
    dropPending();
    const flags = segment.flags.filter((flag) => flag !== "open_end"); // of course, as yet
    pending = { ...segment, flags, index: items.length, lane: laneOf(segment.speaker) };
    pending.level = levelFor(pending.lane, pending);
    buildRow(pending);
    placeRows([pending.row]);
    if (!items.length) pending.button.tabIndex = 0;
  }
  pending.row.classList.add("tl-writing");
  noteTimes(pending);
}

function dropPending() {
  if (pending) pending.row.remove();
  pending = null;
}

const drawnItems = () => (pending ? [...items, pending] : items);

function setDuration() {
  const known = meta.duration_s > 0 ? meta.duration_s : covered;
  if (known !== duration) {
    const whole = view.from === 0 && view.to >= duration;
    duration = known;
    setView(view.from, whole ? duration : view.to);
  }
  if (markedFor !== meta.duration_s) marked = 0;
  markedFor = meta.duration_s;
  for (; marked < items.length; marked += 1) markBeyond(items[marked]);
  if (pending) markBeyond(pending);
}

function markBeyond(item) {
  const last = Math.max(item.start ?? 0, item.end ?? 0);
  item.beyond = meta.duration_s > 0 && last > meta.duration_s + BEYOND_TOLERANCE_S;
  const badge = item.row.querySelector(".tl-beyond");
  if (item.beyond && !badge) item.body.append(makeBadge(WORDS.beyond, "tl-badge tl-beyond"));
  if (!item.beyond && badge) badge.remove();
}

function showState(whole) {
  const shown = items.length + (pending ? 1 : 0);
  const status = meta.status || "idle";
  const speakers = [...lanes.values()].filter((l) => l.speaker !== null && !l.row.hidden).length;
  root.dataset.state = shown ? "filled" : "empty";
  root.dataset.status = status;
  $(".tl-hint").textContent = WORDS.hint[status] || WORDS.hint.idle;
  const parts = [WORDS.status[status]];
  if (shown) parts.push(speakers ? counted(speakers, "speaker") : "", counted(shown, "segment"));
  const summary = parts.filter(Boolean).join(" · ");
  $(".tl-summary").textContent = summary;
  root.dataset.times = anyTime ? "some" : "none";
  $(".tl-note").hidden = !shown || anyTime || status === "running";
  $(".tl-note").textContent = WORDS.noTimes;
  if (!whole || announced === status) return;
  announced = status;
  $(".tl-live").textContent = shown ? summary : WORDS.hint[status] || "";
}
