// The view as JSON, stored or as a provider takes it, and the statements that give it.

import { api, ask, base, page, pretty, query } from "./api.js";
import { byId, copyButton, count, el, empty, many, trouble } from "./dom.js";
import { head } from "./head.js";
import { folded, plain, verbatim } from "./text.js";
import { log } from "./api.js";

const { branch, revision } = query();
const PAGE = 100;
let start = 0;

const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

function statement() {
  const columns = "position, seq, id, role, kind, text, parts, tool_calls, tool_call_id, name, at";
  return revision
    ? `SELECT ${columns}\nFROM revision_entries\nWHERE log = ${quoted(log)} AND revision = ${quoted(revision)}\nORDER BY position;`
    : `SELECT ${columns}\nFROM active_entries\nWHERE log = ${quoted(log)} AND branch = ${quoted(branch ?? "main")}\nORDER BY position;`;
}

const block = (text) => el("div", { class: "block" }, el("div", { class: "block-bar" }, copyButton(text)), verbatim(text));

function fixed() {
  byId("sql").replaceChildren(block(statement()));
  const address = new URL(page(`${api}/view`, { branch: revision ? null : branch, revision }), location.href);
  byId("http").replaceChildren(block(`curl -s '${address.href.replaceAll("'", "%27")}' -H "Authorization: Bearer $MSGLOG_TOKEN"`));
}

async function show() {
  const box = byId("json");
  box.setAttribute("aria-busy", "true");
  const format = byId("format").value;
  try {
    const found = await ask(`${api}/view`, { branch: revision ? null : branch, revision, format, ...(format ? {} : { start, limit: PAGE }) });
    const text = pretty(format ? found.request : found.messages);
    const paged = !format && found.size > PAGE;
    byId("earlier").hidden = byId("later").hidden = !paged;
    byId("earlier").disabled = start === 0;
    byId("later").disabled = format !== "" || start + PAGE >= found.size;
    byId("where").textContent = format ? `revision ${found.revision}` : `${count(Math.min(start + 1, found.size))}–${count(Math.min(start + PAGE, found.size))} of ${many(found.size, "message")}`;
    const repairs = found.report ?? [];
    byId("repairs").replaceChildren(...(repairs.length ? [el("details", { class: "notice" }, el("summary", {}, `${many(repairs.length, "change")} that the format takes`),
      el("ul", {}, repairs.map((one) => el("li", {}, plain(`${one.what}: ${one.why}`)))))] : []));
    box.replaceChildren(found.size === 0 ? empty("This view shows no message", "Nothing to write.") : el("div", { class: "block" }, el("div", { class: "block-bar" }, copyButton(text)), folded(text, verbatim)));
  } catch (error) {
    box.replaceChildren(trouble(error, show));
  }
  box.removeAttribute("aria-busy");
}

byId("format").addEventListener("change", show);
byId("earlier").addEventListener("click", () => { start = Math.max(0, start - PAGE); show(); });
byId("later").addEventListener("click", () => { start += PAGE; show(); });

fixed();
try { await head(); } catch (error) { byId("json").before(trouble(error)); }
await show();
