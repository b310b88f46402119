// The language of the page: English as the code writes it, or Chinese by the files under zh.
//
// Whatever text appears on the page is looked up, whoever put it there. What stands under
// translate="no" is data and stays, and so does every text that nobody translated. A source may
// hold {names}: one of a single letter takes a figure, a longer one takes any text, and one with a
// star takes a text that is translated in its turn. A composed line is looked up piece by piece.
//
// Gradio runs this file once a mount as the body of a function that is given `element` and `props`.

const KEPT = "moss-language";
const SPOKEN = ["aria-label", "title", "placeholder"];
const WORK_MS = 40; // at a time
const FIGURE = "([-+\\d.,:×%]*[\\d×%])"; // never the full stop behind it
const INPUT = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");

const button = element.querySelector("button");
const toChinese = new Map();
const toEnglish = new Map(); // Gradio's own words are Chinese where the browser is
const patterns = [];
for (const [source, target] of Object.entries(props.words)) {
  if (source.includes("{")) patterns.push(patternOf(source, target));
  else {
    toChinese.set(source, target);
    if (!toEnglish.has(target)) toEnglish.set(target, source);
  }
}
// A key that Gradio shows as it is where a file was chosen.
toEnglish.set("common.upload", "Upload");
patterns.sort((a, b) => b.weight - a.weight); // the most particular one wins

function patternOf(source, target) {
  const names = [];
  const body = source.split(/\{(\w+\*?)\}/).map((piece, at) => {
    if (at % 2 === 0) return piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    names.push(piece);
    return piece.length === 1 ? FIGURE : "(.*?)";
  });
  const weight = source.replace(/\{\w+\*?\}/g, "").length;
  return { shape: new RegExp("^" + body.join("") + "$", "s"), names, target, weight };
}

function filled(text) {
  for (const { shape, names, target } of patterns) {
    const found = shape.exec(text);
    if (!found) continue;
    const values = new Map(names.map((name, at) => [name, found[at + 1]]));
    return target.replace(/\{(\w+\*?)\}/g, (_, name) =>
      name.endsWith("*") ? chinese(values.get(name)) : values.get(name));
  }
  return undefined;
}

function chinese(text) {
  const plain = text.replace(/\s+/g, " ").trim();
  if (toChinese.has(plain)) return toChinese.get(plain);
  if (plain.includes(" · ")) return plain.split(" · ").map(chinese).join(" · ");
  const sentences = plain.split(/(?<=[.!?…])\s+/);
  if (sentences.length === 1) return filled(plain) ?? text;
  const said = sentences.map((one) => toChinese.get(one) ?? filled(one));
  if (said.includes(undefined)) {
    const whole = filled(plain); // what it quotes may hold full stops
    if (whole !== undefined) return whole;
  }
  const parts = said.map((one, at) => one ?? sentences[at]);
  return parts.join(" ").replace(/([。！？；：]) /g, "$1");
}

// ---- what is on the page -----------------------------------------------------------------------

const texts = new WeakMap(); // by text node, and by element a record by attribute
let language = localStorage.getItem(KEPT) || (/^zh/i.test(navigator.language) ? "zh" : "en");

function shownFor(known, now) {
  const source = known && known.shown === now ? known.source : now;
  const trimmed = source.trim();
  if (!trimmed) return { source, shown: source };
  const said = language === "zh" ? chinese(trimmed) : toEnglish.get(trimmed) ?? trimmed;
  return { source, shown: said === trimmed ? source : source.replace(trimmed, () => said) };
}

const isSpoken = (node) => node.closest("[translate]")?.getAttribute("translate") !== "no";

function drawText(node) {
  const holder = node.parentElement;
  if (!holder || holder.matches("script, style, textarea") || !isSpoken(holder)) return;
  const told = shownFor(texts.get(node), node.data);
  texts.set(node, told);
  if (told.shown !== node.data) node.data = told.shown;
}

function drawAttribute(node, name) {
  const now = node.getAttribute(name);
  if (!now || !isSpoken(node)) return;
  const known = texts.get(node) || {};
  known[name] = shownFor(known[name], now);
  texts.set(node, known);
  if (known[name].shown !== now) node.setAttribute(name, known[name].shown);
}

// A dropdown shows its choice as the text of an input; Gradio goes on reading the English one.
function drawChoice(input) {
  const now = input.value;
  let told = shownFor(undefined, now);
  Object.defineProperty(input, "value", {
    configurable: true,
    get() {
      const written = INPUT.get.call(input);
      return written === told.shown ? told.source : written;
    },
    set(text) {
      told = shownFor(undefined, String(text ?? ""));
      INPUT.set.call(input, told.shown);
    },
  });
  input.value = now;
}

function drawNode(node) {
  if (node.nodeType === Node.TEXT_NODE) return drawText(node);
  for (const name of SPOKEN) if (node.hasAttribute(name)) drawAttribute(node, name);
  if (node.matches('input[role="combobox"]')) drawChoice(node);
}

function nodesIn(top) {
  const found = [top];
  const walker = document.createTreeWalker(top, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) found.push(walker.currentNode);
  return found;
}

function drawTree(top) {
  if (top.nodeType === Node.TEXT_NODE) drawText(top);
  else if (top.nodeType === Node.ELEMENT_NODE) nodesIn(top).forEach(drawNode);
}

// A long transcript takes seconds: the page can be used meanwhile, and a second press wins.
async function drawPage() {
  const wanted = language;
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  button.textContent = language === "zh" ? "English" : "中文";
  button.lang = language === "zh" ? "en" : "zh-CN";
  let pause = performance.now() + WORK_MS;
  for (const node of nodesIn(document.body)) {
    drawNode(node);
    if (performance.now() < pause) continue;
    await new Promise((done) => setTimeout(done));
    if (language !== wanted) return;
    pause = performance.now() + WORK_MS;
  }
}

new MutationObserver((changes) => {
  for (const change of changes) {
    if (change.type === "characterData") drawText(change.target);
    else if (change.type === "attributes") drawAttribute(change.target, change.attributeName);
    else change.addedNodes.forEach(drawTree);
  }
}).observe(document.body, {
  subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: SPOKEN,
});

button.addEventListener("click", () => {
  language = language === "zh" ? "en" : "zh";
  localStorage.setItem(KEPT, language);
  drawPage();
});
drawPage();
