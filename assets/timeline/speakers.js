// Speakers: one lane each, their names, the rename field and their share of the talk.

function nameOf(speaker) {
  if (speaker === null) return WORDS.unlabelled;
  return local.get(speaker) || (meta.names && meta.names[speaker]) || speaker;
}

function laneOf(speaker) {
  const key = speaker === null ? "" : "=" + speaker;
  if (lanes.has(key)) return lanes.get(key);
  const order = [...lanes.values()].filter((lane) => lane.speaker !== null).length;
  const lane = { speaker, items: [], levels: [], pattern: 0, variable: "--speaker-none" };
  if (speaker !== null) {
    lane.variable = "--speaker-" + ((order % COLOURS) + 1);
    lane.pattern = Math.min(2, Math.floor(order / COLOURS));
  }
  lanes.set(key, lane);
  buildLane(lane);
  return lane;
}

function buildLane(lane) {
  lane.row = make("li", "tl-lane");
  lane.row.dataset.speaker = lane.speaker ?? "";
  lane.head = make("div", "tl-who");
  lane.name = make("span", "tl-label");
  lane.name.dir = "auto";
  lane.name.translate = lane.speaker === null;
  lane.button = make(lane.speaker === null ? "span" : "button", "tl-name");
  lane.button.append(colourDot(make("i", "tl-dot"), lane), lane.name);
  if (lane.speaker !== null) {
    lane.button.type = "button";
    lane.button.append(makePencil());
    lane.button.addEventListener("click", () => editName(lane));
  }
  lane.share = make("span", "tl-share");
  lane.head.append(lane.button, lane.share);
  lane.canvas = make("canvas", "tl-track");
  lane.canvas.setAttribute("role", "img");
  lane.row.append(lane.head, lane.canvas);
  const last = lanes.get("");
  if (last && last !== lane) last.row.before(lane.row);
  else lanesList.append(lane.row);
  widthWatch.observe(lane.canvas);
  wireTrack(lane.canvas, lane);
}

function colourDot(dot, lane) {
  dot.style.setProperty("--dot", "var(" + lane.variable + ")");
  dot.dataset.pattern = lane.pattern;
  return dot;
}

function makePencil() {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "tl-pencil");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", "M3 13l.7-2.8L10.5 3.4l2.1 2.1-6.8 6.8zM9 4.9l2.1 2.1");
  svg.append(path);
  return svg;
}

function editName(lane) {
  const input = make("input", "tl-rename");
  input.type = "text";
  input.maxLength = 60;
  input.dir = "auto";
  input.value = nameOf(lane.speaker);
  input.setAttribute("aria-label", WORDS.nameFor + lane.speaker);
  let open = true;
  const close = (keep, refocus) => {
    if (!open) return;
    open = false;
    input.remove();
    lane.button.hidden = false;
    if (keep) rename(lane.speaker, input.value);
    if (refocus) lane.button.focus();
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault(); // or the same key presses the button that gets the focus
      close(true, true);
    }
    if (event.key === "Escape") close(false, true);
  });
  input.addEventListener("blur", () => close(true, false));
  lane.button.hidden = true;
  lane.head.prepend(input);
  input.focus();
  input.select();
}

function rename(speaker, text) {
  const name = text.replace(/\s+/g, " ").trim();
  if (name === nameOf(speaker) || (!name && nameOf(speaker) === speaker)) return;
  local.set(speaker, name || speaker);
  showNames();
  repaint();
  trigger("rename", { speaker, name: name === speaker ? "" : name });
}

function showNames() {
  for (const lane of lanes.values()) {
    const name = nameOf(lane.speaker);
    if (lane.shown !== name) {
      lane.shown = name;
      lane.name.textContent = name;
      lane.button.title = lane.speaker === null ? "" : name + " · " + WORDS.renameHint;
      for (const item of lane.items) item.who.textContent = name;
      if (lane.speaker !== null) lane.button.setAttribute("aria-label", WORDS.rename + name);
    }
    const all = pending && pending.lane === lane ? lane.items.length + 1 : lane.items.length;
    lane.row.dataset.blocks = lane.items.filter((item) => item.start !== null).length;
    lane.canvas.setAttribute("aria-label", name + ", " + counted(all, "segment"));
  }
  if (pending) pending.who.textContent = nameOf(pending.speaker);
  for (const lane of lanes.values()) lane.row.hidden = !lane.items.length && pending?.lane !== lane;
}

function showShares() {
  const talk = meta.talk_s || [];
  const total = talk.reduce((sum, pair) => sum + pair[1], 0);
  for (const [speaker, seconds] of talk) {
    const lane = lanes.get(speaker === null ? "" : "=" + speaker);
    if (!lane) continue;
    lane.share.textContent = total > 0 ? Math.round((100 * seconds) / total) + "%" : "";
    lane.share.title = clock(seconds);
  }
}
