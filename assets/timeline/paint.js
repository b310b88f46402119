// Drawing of blocks, ruler and playhead, and the part of the recording in view.

let queued = false;
function repaint() {
  if (queued) return;
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    for (const lane of lanes.values()) paintLane(lane);
    paintRuler();
    paintAhead();
    paintHead();
    keepEnd(); // rows measured by now are taller than they were guessed
  });
}

// Overlapping segments of one speaker are set one step lower each, like cards.
function levelFor(lane, item) {
  if (item.start === null || item.end === null) return 0;
  const free = lane.levels.findIndex((spans) =>
    spans.every(([from, to]) => item.start >= to || item.end <= from));
  const level = free < 0 ? lane.levels.length : free;
  if (free < 0) lane.levels.push([]);
  if (item !== pending) lane.levels[level].push([item.start, item.end]);
  return Math.min(2, level);
}

const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const span = () => Math.max(1e-6, view.to - view.from);
const clamped = (t) => (duration > 0 ? Math.min(duration, Math.max(0, t)) : Math.max(0, t));

function fillOf(context, lane) {
  const plain = colour(lane.variable);
  if (!lane.pattern) return plain;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const ink = tile.getContext("2d");
  ink.fillStyle = plain;
  ink.fillRect(0, 0, 8, 8);
  ink.strokeStyle = colour("--tl-track");
  ink.lineWidth = 2;
  ink.beginPath();
  const lines = lane.pattern === 1 ? [[-8, 0], [0, 8], [8, 16]] : [[4, 4]];
  for (const [low, high] of lines) {
    ink.moveTo(low, 8);
    ink.lineTo(high, 0);
  }
  ink.stroke();
  return context.createPattern(tile, "repeat");
}

function paintLane(lane) {
  const { canvas } = lane;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (!width || !height) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const ink = canvas.getContext("2d");
  ink.scale(ratio, ratio);
  const style = { fill: fillOf(ink, lane), edge: colour("--tl-track"), ring: colour("--tl-ring") };
  const shown = pending && pending.lane === lane ? [...lane.items, pending] : lane.items;
  for (const item of shown) paintBlock(ink, item, width, height, style);
  if (shown.some((item) => item.beyond) && view.to >= duration) {
    ink.fillStyle = colour("--tl-warn");
    ink.fillRect(width - 3, LANE_PAD_PX, 3, height - 2 * LANE_PAD_PX);
  }
}

function paintBlock(ink, item, width, height, style) {
  if (item.start === null) return;
  const scale = width / span();
  const left = (clamped(item.start) - view.from) * scale;
  const open = item.end === null;
  const right = open ? left + 8 : (clamped(item.end) - view.from) * scale;
  if (right < 0 || left > width) return;
  const top = LANE_PAD_PX + item.level * STACK_PX;
  const gap = right - left > 5 ? 1 : 0;
  const box = [left, top, Math.max(1.5, right - left - gap), height - LANE_PAD_PX - top];
  if (item.level) {
    ink.fillStyle = style.edge;
    ink.fillRect(box[0] - 1.5, box[1] - 1.5, box[2] + 3, box[3] + 1.5);
  }
  ink.fillStyle = style.fill;
  ink.globalAlpha = open ? 0.6 : 1;
  if (box[2] > 6) {
    ink.beginPath();
    ink.roundRect(...box, 2);
    ink.fill();
  } else ink.fillRect(...box);
  ink.globalAlpha = 1;
  if (active.has(item)) {
    ink.lineWidth = 2;
    ink.strokeStyle = style.ring;
    ink.strokeRect(left - 1, 1, Math.max(4, box[2] + 2), height - 2);
  }
}

function paintRuler() {
  const ruler = $(".tl-ruler");
  const width = ruler.clientWidth;
  ruler.replaceChildren();
  if (!width || duration <= 0) return;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];
  const step = steps.find((s) => (s * width) / span() >= (duration < 3600 ? 54 : 68)) || 14400;
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    const x = ((t - view.from) / span()) * width;
    if (x > width - 36 && t > 0) break; // a label cut by the border reads as another time
    const tick = make("span", "tl-tick", clock(t));
    tick.style.left = x + "px";
    ruler.append(tick);
  }
}

function paintAhead() {
  const ahead = $(".tl-ahead");
  const from = duration > 0 ? (clamped(covered) - view.from) / span() : 1;
  ahead.hidden = meta.status !== "running" || from >= 1;
  const open = pending && pending.start !== null ? 10 : 0; // what is being written stays clear
  ahead.style.left = "calc(" + Math.max(0, from) * 100 + "% + " + open + "px)";
}

function setView(from, to) {
  const width = Math.min(duration, Math.max(Math.min(MIN_WINDOW_S, duration), to - from));
  const start = Math.min(Math.max(0, from), Math.max(0, duration - width));
  view = { from: start, to: start + width };
  const whole = width >= duration;
  $(".tl-out").disabled = $(".tl-fit").disabled = whole;
  $(".tl-in").disabled = width <= MIN_WINDOW_S;
  const pan = $(".tl-pan");
  pan.hidden = whole;
  pan.value = whole ? 0 : Math.round((1000 * view.from) / (duration - width));
  repaint();
}

function zoom(factor, centre) {
  const inView = centre >= view.from && centre <= view.to;
  const at = inView ? centre : (view.from + view.to) / 2;
  const before = (at - view.from) / span();
  const width = Math.min(duration, Math.max(MIN_WINDOW_S, span() * factor));
  setView(at - before * width, at + (1 - before) * width);
}

$(".tl-in").addEventListener("click", () => zoom(0.5, lastTime));
$(".tl-out").addEventListener("click", () => zoom(2, lastTime));
$(".tl-fit").addEventListener("click", () => setView(0, duration));
$(".tl-pan").addEventListener("input", (event) => {
  const from = (Number(event.target.value) / 1000) * (duration - span());
  setView(from, from + span());
});
