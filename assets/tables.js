// Tables of {title, headers, rows, notes}; every cell is data and goes in as a text node.
//
// A first column of recordings becomes a line above the rows of each, which leaves more room.

const holder = element.querySelector(".tables");
const RECORDING = "Recording";
const FIGURE = /^([-+]?[\d,.]+(e[-+]?\d+)?(×|%| \(\d+%\)|–[\d,.]+)?|\d+\/\d+|n\/a|)$/;

function cellOf(tag, text, isFigure) {
  const cell = document.createElement(tag);
  cell.textContent = text;
  if (isFigure) cell.className = "figure";
  return cell;
}

function rowOf(tag, cells, figures) {
  const row = document.createElement("tr");
  row.append(...cells.map((text, at) => cellOf(tag, text, figures[at])));
  return row;
}

function groupOf(name, width) {
  const row = document.createElement("tr");
  row.className = "group";
  const cell = document.createElement("th");
  cell.colSpan = width;
  cell.textContent = name;
  cell.translate = false; // a file's name is data
  row.append(cell);
  return row;
}

function bodyOf(rows, grouped, figures) {
  let group;
  return rows.flatMap((cells) => {
    const shown = grouped ? cells.slice(1) : cells;
    const row = rowOf("td", shown, figures);
    if (!grouped || cells[0] === group) return [row];
    group = cells[0];
    return [groupOf(group, shown.length), row];
  });
}

function tableOf(headers, rows) {
  const grouped = headers[0] === RECORDING;
  const shown = grouped ? headers.slice(1) : headers;
  const figures = shown.map((_, at) =>
    rows.every((cells) => FIGURE.test(cells[at + (grouped ? 1 : 0)])));
  const table = document.createElement("table");
  table.createTHead().append(rowOf("th", shown, figures));
  table.createTBody().append(...bodyOf(rows, grouped, figures));
  return table;
}

function sectionOf({ title, headers, rows, notes }) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = title;
  const scroller = document.createElement("div");
  scroller.className = "table-scroller";
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "region");
  scroller.setAttribute("aria-label", title);
  scroller.append(tableOf(headers, rows));
  section.append(heading, scroller);
  for (const note of notes) {
    const line = document.createElement("p");
    line.textContent = note;
    section.append(line);
  }
  return section;
}

function draw() {
  holder.replaceChildren(...(props.value || []).map(sectionOf));
}
watch("value", draw);
draw();
