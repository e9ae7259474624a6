// Names come from the store, so they are put in as text, never as HTML.
const list = document.querySelector("#logs");
const page = await (await fetch("/v1/logs")).json();
for (const log of page.logs) {
  const item = document.createElement("li");
  item.textContent = `${log.name} (${log.entries})`;
  list.append(item);
}
