// Pairs of [label, value]; a remark in parentheses is set small below the value.
const list = element.querySelector(".tiles");
function draw() {
  list.replaceChildren(...(props.value || []).map(([label, value]) => {
    const tile = document.createElement("div");
    const term = document.createElement("dt");
    const detail = document.createElement("dd");
    const [, figure, remark] = value.match(/^([^(]*?)\s*(?:\((.*)\))?$/s) || [null, value, ""];
    term.textContent = label;
    detail.textContent = figure;
    if (remark) {
      const small = document.createElement("small");
      small.textContent = remark;
      detail.append(small);
    }
    tile.append(term, detail);
    return tile;
  }));
}
watch("value", draw);
draw();
