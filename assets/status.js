// One line of text, set as text.
const line = element.querySelector(".status-line");
const draw = () => { line.textContent = props.value || ""; };
watch("value", draw);
draw();
