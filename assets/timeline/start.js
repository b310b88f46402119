// Watching of size, theme, player and props. Comes last: it draws for the first time.

const widthWatch = new ResizeObserver(repaint);
const themeWatch = new MutationObserver(repaint);
for (const node of [document.documentElement, document.body]) {
  themeWatch.observe(node, { attributes: true, attributeFilter: ["class"] });
}
const poll = setInterval(() => {
  if (element.isConnected) {
    keepEnd();
    follow(false);
    return;
  }
  clearInterval(poll);
  unmounted.abort();
  clearHits();
  widthWatch.disconnect();
  themeWatch.disconnect();
}, POLL_MS);

watch("value meta".split(" "), update);
update();
