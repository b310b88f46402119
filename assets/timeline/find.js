// Find in the transcript.

const find = $(".tl-find input");
let hits = [];
let hitAt = -1;
let shaded = [];

// Shared by all timelines on the page: a highlight has one name for the whole document.
function shade(name) {
  if (!window.CSS || !CSS.highlights || !window.Highlight) return null;
  if (!CSS.highlights.has(name)) CSS.highlights.set(name, new Highlight());
  return CSS.highlights.get(name);
}

function clearHits() {
  for (const [name, range] of shaded) shade(name)?.delete(range);
  for (const hit of hits) hit.item.row.classList.remove("tl-hit");
  shaded = [];
  hits = [];
}

function search(jump) {
  const kept = hitAt >= 0 ? hits[hitAt] : null;
  clearHits();
  const wanted = find.value.trim();
  const pattern = wanted && new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  for (const item of pattern ? items : []) {
    for (const match of item.text.matchAll(pattern)) {
      hits.push({ item, from: match.index, to: match.index + match[0].length });
    }
  }
  hitAt = hits.length ? 0 : -1;
  if (kept && !jump) hitAt = hits.findIndex((h) => h.item === kept.item && h.from === kept.from);
  for (const hit of hits) paintHit(hit, "moss-find");
  showHit(jump);
}

function paintHit(hit, name) {
  hit.item.row.classList.add("tl-hit");
  const words = hit.item.words.firstChild;
  const set = shade(name);
  if (!set || !words) return;
  const range = new StaticRange({
    startContainer: words, startOffset: hit.from, endContainer: words, endOffset: hit.to,
  });
  set.add(range);
  shaded.push([name, range]);
}

function showHit(jump) {
  for (const [name, range] of shaded) if (name === "moss-find-now") shade(name)?.delete(range);
  shaded = shaded.filter(([name]) => name !== "moss-find-now");
  $(".tl-prev").disabled = $(".tl-next").disabled = hits.length === 0;
  const none = find.value.trim() ? WORDS.noHits : "";
  $(".tl-hits").textContent = hits.length ? Math.max(0, hitAt) + 1 + " / " + hits.length : none;
  if (hitAt < 0) return;
  paintHit(hits[hitAt], "moss-find-now");
  if (jump) showRow(hits[hitAt].item);
}

function step(by) {
  if (!hits.length) return;
  hitAt = (hitAt + by + hits.length) % hits.length;
  showHit(true);
}

find.addEventListener("input", () => search(true));
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  if (event.key !== "Escape" || !find.value) return;
  find.value = "";
  search(false);
});
$(".tl-next").addEventListener("click", () => step(1));
$(".tl-prev").addEventListener("click", () => step(-1));
