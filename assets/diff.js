// Lines of {time, speakers, tokens}; a token is [edit, word in A, word in B, speaker differs].
const list = element.querySelector(".diff");
const LINES_AT_ONCE = 80;
let turn = 0; // a newer value ends the drawing of an older one
const NAMES = { substitute: "changed", delete: "only in A", insert: "only in B" };

function part(tag, text, edit, speakerDiffers) {
  const node = document.createElement(tag);
  const words = document.createElement("span");
  words.textContent = text;
  words.translate = false;
  node.append(words);
  if (speakerDiffers) node.classList.add("other-speaker");
  if (edit in NAMES) node.title = NAMES[edit];
  return node;
}

function line(row) {
  const item = document.createElement("li");
  const head = document.createElement("span");
  head.className = "diff-head";
  head.textContent = row.time + " " + row.speakers.join(" → ");
  const words = document.createElement("p");
  words.dir = "auto";
  for (const [edit, inA, inB, speakerDiffers] of row.tokens) {
    if (edit === "equal") words.append(part("span", inA, edit, speakerDiffers), " ");
    else {
      if (inA) words.append(part("del", inA, edit, speakerDiffers), " ");
      if (inB) words.append(part("ins", inB, edit, speakerDiffers), " ");
    }
  }
  item.append(head, words);
  return item;
}

// A few lines at a time: hundreds at once would hold up the page.
function draw() {
  const rows = props.value || [];
  const mine = (turn += 1);
  list.replaceChildren();
  const add = (from) => {
    if (mine !== turn) return;
    list.append(...rows.slice(from, from + LINES_AT_ONCE).map(line));
    if (from + LINES_AT_ONCE < rows.length) setTimeout(add, 0, from + LINES_AT_ONCE);
  };
  add(0);
}
watch("value", draw);
draw();
