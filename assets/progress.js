// A bar with what is done now and how long the rest may take.
const box = element.querySelector(".progress");
const bar = box.querySelector("div");
const [doing, left] = box.querySelectorAll("span");
function draw() {
  const value = props.value;
  if (!value) return;
  const percent = Math.round(100 * value.done);
  bar.setAttribute("aria-valuenow", percent);
  bar.firstElementChild.style.width = `${percent}%`;
  doing.textContent = value.doing;
  left.textContent = value.left;
}
watch("value", draw);
draw();
