// The page's player: seek, and what it plays now.

let lastTime = -1;
let wasPlaying = false;

// Looked up at each use: Gradio mounts a new player for every file.
function player() {
  const holder = document.getElementById(root.dataset.audio);
  if (!holder) return null;
  for (const node of holder.querySelectorAll("#waveform *")) {
    const inner = node.shadowRoot && node.shadowRoot.querySelector("audio");
    if (inner) return inner;
  }
  return holder.querySelector("audio.standard-player:not(.hidden)");
}

function play(t) {
  const media = player();
  if (t === null || t === undefined || !media) return;
  media.currentTime = t;
  // At its very end a player would start over from the beginning.
  const started = t >= media.duration ? null : media.play();
  if (started) started.catch(() => undefined); // a browser may refuse to play; the seek stands
  follow(true);
}

function follow(force) {
  const media = player();
  const t = media ? media.currentTime : -1;
  const playing = Boolean(media) && !media.paused;
  if (!force && t === lastTime && playing === wasPlaying) return;
  lastTime = t;
  wasPlaying = playing;
  const panned = playing && $(".tl-follow input").checked && keepInView(t);
  markActive(t, playing);
  if (!panned) paintHead();
}

function markActive(t, playing) {
  const now = new Set();
  const at = t + 0.02; // a seek may land a hair before the stamp
  if (t > 0 || playing) {
    for (const item of items) {
      if (item.start !== null && item.end !== null && item.start <= at && at < item.end) {
        now.add(item);
      }
    }
  }
  const changed = now.size !== active.size || [...now].some((item) => !active.has(item));
  if (!changed) return;
  for (const item of active) {
    if (now.has(item)) continue;
    item.row.classList.remove("tl-playing");
    item.row.removeAttribute("aria-current");
  }
  const first = [...now].find((item) => !active.has(item));
  for (const item of now) {
    item.row.classList.add("tl-playing");
    item.row.setAttribute("aria-current", "true");
  }
  const touched = new Set([...active, ...now].map((item) => item.lane));
  active = now;
  for (const lane of touched) paintLane(lane);
  if (first && playing && $(".tl-follow input").checked) showRow(first);
}

function keepInView(t) {
  if (span() >= duration || (t >= view.from && t <= view.to)) return false;
  setView(t - span() * 0.1, t + span() * 0.9);
  return true;
}

function paintHead() {
  const head = $(".tl-head");
  const at = (lastTime - view.from) / span();
  head.hidden = lastTime < 0 || duration <= 0 || at < 0 || at > 1;
  head.style.transform = "translateX(" + at * $(".tl-over").clientWidth + "px)";
}
