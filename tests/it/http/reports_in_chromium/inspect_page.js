// Inspects its own page as a reader would, and appends its findings to the page.
(() => {
  const faults = [];
  const wide = innerWidth >= 1000;
  const name = (element) => {
    const words = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return `${element.tagName.toLowerCase()} "${words}"`;
  };

  // The page loads nothing from the network.
  for (const entry of performance.getEntriesByType("resource")) faults.push(`asks for ${entry.name}`);
  for (const element of document.querySelectorAll("[src], link[href], image[href], use[href], object[data]")) {
    const url = element.getAttribute("src") || element.getAttribute("href") || element.getAttribute("data");
    if (!/^(data:|#)/.test(url)) faults.push(`asks for ${url}`);
  }
  for (const style of document.querySelectorAll("style, [style]")) {
    const text = style.tagName === "STYLE" ? style.textContent : style.getAttribute("style");
    for (const [url] of text.matchAll(/url\((?!["']?(data:|#))[^)]*|@import[^;]*/g)) faults.push(`asks for ${url}`);
  }
  for (const image of document.images) if (!image.naturalWidth) faults.push("an image is broken");

  if (!document.title.trim()) faults.push("has no title");
  if (document.querySelectorAll("h1").length !== 1) faults.push("does not have exactly one heading");
  const sideways = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (sideways > 0) faults.push(`is ${sideways} pixels wider than its window`);

  const luminance = ([red, green, blue]) => {
    const linear = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  };
  const parts = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  // WCAG 2, 1.4.3: 4.5 to 1.
  const contrast = (ink, paper) => {
    const [dark, light] = [luminance(ink), luminance(paper)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };

  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE", "TITLE"].includes(element.tagName)) continue;
    if (!element.checkVisibility() || !element.getClientRects().length) continue;
    texts += 1;
    const style = getComputedStyle(element);
    const drawing = element.closest("svg");
    const ink = parts(drawing ? style.fill : style.color);
    const ratio = contrast(ink, behind(element));
    if (ratio < 4.5) faults.push(`${name(element)} stands out by ${ratio.toFixed(1)} to 1 only`);
    const shrunk = drawing ? drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width : 1;
    const size = parseFloat(style.fontSize) * shrunk;
    if (size < (wide ? 10 : 9)) faults.push(`${name(element)} is ${size.toFixed(1)} pixels high`);
    if (/\b(NaN|undefined|inf(inity)?)\b|%\{/i.test(walker.currentNode.data)) faults.push(`${name(element)} is not words`);
    if (!drawing && element.scrollWidth > element.clientWidth + 1 && style.overflowX === "hidden" && element.clientWidth) {
      faults.push(`${name(element)} is cut off`);
    }
  }

  // A number as a plot or a table writes it.
  const number = (text) => {
    const plain = text.trim().replace(/[,£%\s]/g, "").replace("−", "-");
    return /^[+-]?\d+(\.\d+)?k?$/.test(plain) ? parseFloat(plain) : NaN;
  };
  // Ticks of one axis: in a line, even, and in order.
  const axis = (labels, along, across) => {
    const lines = new Map();
    for (const label of labels) {
      const key = Math.round(label[across]);
      const line = [...lines.keys()].find((other) => Math.abs(other - key) <= 2) ?? key;
      lines.set(line, [...(lines.get(line) || []), label]);
    }
    const even = (line) => {
      line.sort((a, b) => a[along] - b[along]);
      if (line.length < 3) return false;
      const [first, last] = [line[0], line[line.length - 1]];
      if (first.value === last.value) return false;
      const slope = (last.value - first.value) / (last[along] - first[along]);
      const step = Math.abs(last.value - first.value) / (line.length - 1);
      return line.every((label) => Math.abs(first.value + slope * (label[along] - first[along]) - label.value) < 0.15 * step);
    };
    return [...lines.values()].some(even);
  };
  const inside = (inner, outer) =>
    inner.left >= outer.left - 1.5 && inner.right <= outer.right + 1.5 && inner.top >= outer.top - 1.5 && inner.bottom <= outer.bottom + 1.5;

  const drawings = [...document.querySelectorAll("svg")];
  let marks = 0;
  for (const drawing of drawings) {
    const label = drawing.getAttribute("aria-label") || "";
    const fault = (what) => faults.push(`the plot "${label}" ${what}`);
    if (!label) fault("has no name for who cannot see it");
    const frame = drawing.getBoundingClientRect();
    if (frame.width < 200 || frame.height < 60) fault(`is ${frame.width} by ${frame.height}`);
    if (/NaN|inf/i.test([...drawing.querySelectorAll("*")].flatMap((part) => [...part.attributes].map((one) => one.value)).join(" "))) {
      fault("has a position that is not a number");
    }
    const shapes = [...drawing.querySelectorAll("rect, circle, polyline, polygon, path, line")];
    for (const shape of shapes) if (!inside(shape.getBoundingClientRect(), frame)) fault(`draws a ${shape.tagName} beyond its edge`);
    // What is in colour is what the plot is of: its ink, grid and paper are greys.
    const coloured = shapes.filter((shape) => {
      const colours = [shape.getAttribute("fill"), shape.getAttribute("stroke")].filter((one) => /^#/.test(one || ""));
      return colours.some((colour) => {
        const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
        return Math.max(red, green, blue) - Math.min(red, green, blue) > 60;
      });
    });
    marks += coloured.length;
    if (!coloured.length) fault("is empty");
    const words = [...drawing.querySelectorAll("text")].map((text) => {
      const box = text.getBoundingClientRect();
      return { words: text.textContent.trim(), box, x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, right: box.right, value: number(text.textContent) };
    });
    for (const text of words) if (!inside(text.box, frame)) fault(`writes "${text.words}" beyond its edge`);
    for (const [at, one] of words.entries()) {
      for (const other of words.slice(at + 1)) {
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (across > 1 && down > 3) fault(`writes "${one.words}" over "${other.words}"`);
      }
    }
    const numbers = words.filter((text) => !Number.isNaN(text.value));
    if (!axis(numbers, "x", "y") && !axis(numbers, "y", "right")) fault("has no axis with even ticks");
    if (!words.some((text) => Number.isNaN(text.value) && text.words.length > 6)) fault("does not say what its axis is of");
  }

  // A narrow window may have to be scrolled within a table; a desk not.
  for (const frame of document.querySelectorAll(".scroll")) {
    if (wide && frame.scrollWidth > frame.clientWidth + 1) faults.push(`${name(frame)} is cut off on its right`);
  }

  const tables = document.querySelectorAll("table");
  for (const table of tables) {
    if (table.rows.length < 2) faults.push(`${name(table)} has no row`);
    const width = (row) => [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0);
    const widths = new Set([...table.rows].map(width));
    if (widths.size > 1) faults.push(`${name(table)} has rows of ${[...widths].join(" and ")} cells`);
  }

  const found = { faults: [...new Set(faults)], texts, plots: drawings.length, marks, tables: tables.length };
  const written = document.createElement("pre");
  written.id = "page-report";
  // As text and as markup the same.
  written.textContent = JSON.stringify(found).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  document.body.append(written);
})();
