// Pointer on the tracks: click to play, wheel to zoom and move, words under the mouse.

function timeAt(track, event) {
  const box = track.getBoundingClientRect();
  return view.from + ((event.clientX - box.left) / box.width) * span();
}

function itemAt(lane, t) {
  const reach = (3 * span()) / Math.max(1, lane.canvas.clientWidth); // thin blocks stay clickable
  let best;
  for (const item of lane.items) {
    if (item.start === null) continue;
    const end = clamped(item.end === null ? item.start : item.end);
    const away = Math.max(clamped(item.start) - t, t - end, 0);
    if (away <= reach && (!best || away < best.away || item.level > best.item.level)) {
      best = { item, away };
    }
  }
  return best && best.item;
}

function wireTrack(track, lane) {
  track.addEventListener("click", (event) => {
    const t = timeAt(track, event);
    const item = lane && itemAt(lane, t);
    if (item) showRow(item);
    play(item ? clamped(item.start) : t);
  });
  track.addEventListener("wheel", (event) => {
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(track, event));
    else if (event.deltaX && span() < duration) {
      const by = (event.deltaX * span()) / track.clientWidth;
      setView(view.from + by, view.to + by);
    } else return;
    event.preventDefault();
  }, { passive: false });
  if (!lane) return;
  track.addEventListener("pointermove", (event) => {
    const item = event.pointerType === "mouse" && itemAt(lane, timeAt(track, event));
    track.classList.toggle("tl-hot", Boolean(item));
    if (item) showTip(item, event);
    else hideTip();
  });
  track.addEventListener("pointerleave", hideTip);
}
wireTrack($(".tl-ruler"), null);

function showTip(item, event) {
  const tip = $(".tl-tip");
  const stage = $(".tl-stage").getBoundingClientRect();
  const end = item.end === null ? WORDS.unknownTime : clock(item.end);
  tip.querySelector("b").textContent = nameOf(item.speaker);
  tip.querySelector("b").translate = item.speaker === null;
  tip.querySelector("span").textContent = clock(item.start) + " – " + end;
  tip.querySelector("p").textContent = item.text;
  tip.hidden = false;
  const x = event.clientX - stage.left - tip.offsetWidth / 2;
  tip.style.left = Math.min(stage.width - tip.offsetWidth - 8, Math.max(8, x)) + "px";
  tip.style.top = event.clientY - stage.top + 20 + "px";
}

function hideTip() {
  $(".tl-tip").hidden = true;
}
