// What changed between two views, and what of the prompt's beginning stayed.

import { api, ask, base, page, query } from "./api.js";
import { byId, count, el, empty, many, say, trouble } from "./dom.js";
import { head } from "./head.js";
import { drawn } from "./message.js";
import { shortId } from "./operation.js";
import { plain } from "./text.js";

const { from, to } = query();
const box = byId("diff");
const AT_ONCE = 50;
const calls = new Map();

/** Messages that came or went, some at a time. */
function run(change, messages) {
  const list = el("div", {});
  let shown = 0;
  const more = el("button", { type: "button", onclick: () => next() });
  function next() {
    more.remove();
    for (const message of messages.slice(shown, shown + AT_ONCE)) {
      list.append(el("div", { class: `change is-${change}` }, el("span", { class: "change-sign", "aria-hidden": "true" }, change === "added" ? "+" : "−"), el("span", { class: "said" }, change), drawn(message, { calls, address: page(base, { revision: change === "added" ? to : from, seq: message.seq }) })));
    }
    shown += AT_ONCE;
    if (shown < messages.length) { more.textContent = `Show more of ${count(messages.length)}`; list.append(more); }
  }
  next();
  return list;
}

function covered(found) {
  const share = found.fromTokens ? found.prefixTokens / found.fromTokens : 1;
  const fresh = found.toTokens - found.prefixTokens;
  const meter = el("div", { class: "meter", role: "img", "aria-label": `${Math.round(share * 100)} percent of the old prompt still covered` }, el("span", { class: "meter-kept" }));
  meter.firstChild.style.width = `${share * 100}%`;
  return [
    el("dl", { class: "figures" },
      el("div", {}, el("dt", {}, "Still the same at the beginning"), el("dd", {}, many(found.stablePrefix, "message"), el("small", {}, `about ${many(found.prefixTokens, "token")}, ${Math.round(share * 100)} % of the old prompt`))),
      el("div", {}, el("dt", {}, "To be read again"), el("dd", {}, many(fresh, "token"), el("small", {}, `of about ${count(found.toTokens)}`))),
      el("div", {}, el("dt", {}, "Changed"), el("dd", {}, `+${count(sum(found, "added"))} −${count(sum(found, "removed"))}`, el("small", {}, "messages")))),
    meter];
}

const sum = (found, change) => found.runs.filter((one) => one.change === change).reduce((total, one) => total + one.count, 0);

async function show() {
  if (!from) {
    box.replaceChildren(empty("Nothing to compare", "Pick two revisions ", el("a", { href: `${base}/graph` }, "in the graph"), "."));
    return;
  }
  const found = await ask(`${api}/diff`, { from, to, branch: query().branch });
  byId("summary").replaceChildren(
    el("p", { class: "lead" }, "From ", el("a", { href: page(base, { revision: found.from }) }, el("code", {}, plain(shortId(found.from)))), " to ", el("a", { href: page(base, { revision: found.to }) }, el("code", {}, plain(shortId(found.to)))), ". ",
      el("a", { href: page(`${base}/diff`, { from: found.to, to: found.from }) }, "The other way round")),
    ...covered(found));
  if (!found.runs.some((one) => one.change !== "kept")) {
    box.replaceChildren(empty("Both show the same", "The same messages, in the same order."));
    return;
  }
  let place = 0;
  box.replaceChildren(...found.runs.map((one) => {
    if (one.change !== "kept") { if (one.change === "added") place += one.count; return run(one.change, one.messages); }
    const link = page(base, { revision: found.to });
    place += one.count;
    return el("p", { class: "kept" }, el("a", { href: link }, `${many(one.count, "message")} as before`));
  }));
  say(`${count(sum(found, "added"))} added, ${count(sum(found, "removed"))} removed`);
}

try {
  await Promise.all([head(), show()]);
} catch (error) {
  box.replaceChildren(trouble(error, () => location.reload()));
}
box.removeAttribute("aria-busy");
