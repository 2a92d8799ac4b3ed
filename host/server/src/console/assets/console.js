// Pages work without this script. It saves a few clicks: it takes a file of homes that is dropped
// on its form, loads the page of a running job again, and finds addresses while they are typed.

for (const form of document.querySelectorAll("[data-file-form]")) {
  const input = form.querySelector("input[type=file]");
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
  });
}

const waiting = document.querySelector("[data-reload]");
if (waiting) {
  setTimeout(() => location.reload(), 1000 * Number(waiting.dataset.reload));
}

for (const form of document.querySelectorAll("[data-find]")) {
  const input = form.querySelector("[type=search]");
  const found = form.querySelector("[data-found]");
  let latest = null;
  const find = async () => {
    latest?.abort();
    latest = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    fields.set("part", "results");
    try {
      const response = await fetch(form.action, { method: "POST", body: fields, signal: latest.signal });
      if (response.ok) found.innerHTML = await response.text();
      else if (response.status === 401) found.textContent = "The session has ended. Load the page again.";
      else found.textContent = "The console cannot search now. Try again.";
    } catch (error) {
      if (error.name !== "AbortError") found.textContent = "The console does not answer.";
    }
  };
  let wait = 0;
  input.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(find, 120);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    find();
  });
  // Arrows go from the text through its results, and back.
  form.addEventListener("keydown", (event) => {
    const stops = [input, ...found.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Escape: 0 }[event.key];
    if (at < 0 || next === undefined || !stops[next] || next === at) return;
    event.preventDefault();
    stops[next].focus();
  });
}
