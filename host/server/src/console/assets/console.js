// Pages work without this script. It saves a few clicks: it reads a file of homes into its field,
// and loads the page of a running job again.

for (const form of document.querySelectorAll("[data-file-form]")) {
  const homes = form.querySelector("textarea");
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".csv,text/csv";
  label.append("Choose a file, or drop one here ", input);
  form.insertBefore(label, homes.closest("label"));
  const read = async (file) => {
    if (file) homes.value = await file.text();
  };
  input.addEventListener("change", () => read(input.files[0]));
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    read(event.dataTransfer.files[0]);
  });
}

const waiting = document.querySelector("[data-reload]");
if (waiting) {
  setTimeout(() => location.reload(), 1000 * Number(waiting.dataset.reload));
}
