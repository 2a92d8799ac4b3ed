// Moves the curve of a chart through the days around it. The page has a path for each day. Without
// this script, links lead to the day before and the day after.

for (const part of document.querySelectorAll("[data-curve-days]")) {
  const days = JSON.parse(part.dataset.curveDays);
  const figure = part.previousElementSibling;
  const moved = figure.querySelector("[data-moves]");
  const name = figure.querySelectorAll(".legend li span")[Number(moved.dataset.moves)];
  const [input, output, table] = ["input", "output", ".table-of-day"].map((at) => part.querySelector(at));
  const link = (day) => part.dataset.link.replaceAll("0000-00-00", day);
  part.querySelector("label").hidden = false;
  const first = input.value;
  input.addEventListener("input", () => {
    const [day, drawn] = days[Number(input.value)];
    moved.querySelector("path").setAttribute("d", drawn);
    moved.querySelector("title").textContent = day;
    if (name) name.textContent = day;
    output.textContent = day;
    input.setAttribute("aria-valuetext", day);
    table.href = link(day);
    table.hidden = input.value === first;
    for (const [rel, step] of [["prev", -1], ["next", 1]]) {
      const beside = part.querySelector(`[rel=${rel}]`);
      const other = days[Number(input.value) + step]?.[0];
      if (!beside) continue;
      beside.hidden = !other;
      if (other) {
        beside.href = link(other);
        beside.textContent = rel === "prev" ? `← ${other}` : `${other} →`;
      }
    }
  });
}
