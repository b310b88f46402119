// Rows of {kind, message}; every text is data and goes in as a text node.
const list = element.querySelector(".notices");
function draw() {
  list.replaceChildren(...(props.value || []).map((row) => {
    const item = document.createElement("li");
    item.dataset.kind = row.kind;
    for (const [name, text] of [["kind", row.kind.replaceAll("_", " ")], ["message", row.message]]) {
      const part = document.createElement("span");
      part.className = name;
      part.textContent = text;
      item.append(part);
    }
    return item;
  }));
}
watch("value", draw);
draw();
