// What the model saw: the messages of a branch as it grows, of any revision, or all that was ever appended.

import { api, ask, base, mayEdit, page, query } from "./api.js";
import { fork, receiptNote, redact, rewind } from "./dialogs.js";
import { byId, count, el, empty, many, moment, say, trouble } from "./dom.js";
import { head } from "./head.js";
import { hit } from "./hits.js";
import { Live } from "./live.js";
import { drawn } from "./message.js";
import { told } from "./operation.js";
import { plain } from "./text.js";
import { Windows } from "./windows.js";

const wanted = query();
const branch = wanted.branch ?? "main";
const whole = wanted.whole !== undefined;
const box = byId("messages");
const calls = new Map();
let branches = [];
let view = { revision: wanted.revision ?? null, size: 0 };
let windows = null;

const where = () => ({ branch: whole || wanted.revision || branch === "main" ? null : branch, revision: wanted.revision, whole: whole ? "all" : null });

const load = async (start, limit) => {
  if (whole) return (await ask(`${api}/messages`, { whole: true, after: start, limit })).messages;
  return (await ask(`${api}/view`, { revision: view.revision, start, limit })).messages;
};

async function erase(stored, position) {
  const receipt = await redact(stored);
  if (receipt === null) return;
  await windows.redraw(position);
  byId("found").hidden = false;
  byId("found").replaceChildren(receiptNote(receipt));
}

const draw = (stored, position) => {
  const element = drawn(stored, {
    position, calls, address: page(base, { ...where(), seq: stored.seq }),
    onredact: (message) => erase(message, position),
  });
  element.setAttribute("aria-posinset", position + 1);
  element.setAttribute("aria-setsize", view.size);
  return element;
};

async function open() {
  if (whole) view = { revision: null, size: (await ask(`${api}/position`)).seq };
  else {
    const found = await ask(`${api}/view`, { branch, revision: wanted.revision, start: 0, limit: 1 });
    view = { revision: found.revision, size: found.size };
  }
  windows?.stop();
  if (view.size === 0) {
    box.replaceChildren(empty("This view shows no message", "Its messages were edited away, or none was appended yet. ", el("a", { href: page(base, { whole: "all" }) }, "All that was ever appended"), " is still there."));
    return;
  }
  windows = new Windows(box, view.size, load, draw);
  byId("where").textContent = many(view.size, "message");
}

// Where one is ------------------------------------------------------------------------------------------------

const bar = document.querySelector(".bar");
new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar);
let drawing = false;
addEventListener("scroll", () => {
  if (drawing || windows === null) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    byId("where").textContent = `${count(windows.first(bar.getBoundingClientRect().bottom + 24) + 1)} of ${many(view.size, "message")}`;
    if (atEnd()) byId("moved").hidden = true;
  });
}, { passive: true });

const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 120;

const toEnd = async () => {
  await windows?.show(view.size - 1, "end");
  scrollTo(0, document.documentElement.scrollHeight);
};

const toStart = async () => { await windows?.show(0); scrollTo(0, 0); };

byId("to-end").addEventListener("click", toEnd);
byId("to-start").addEventListener("click", toStart);

box.addEventListener("keydown", (event) => {
  const step = { j: 1, k: -1 }[event.key];
  const current = event.target.closest(".window > article");
  if (step === undefined || !current || event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const next = Math.min(view.size - 1, Math.max(0, Number(current.getAttribute("aria-posinset")) - 1 + step));
  windows.show(next, "nearest").then((element) => element?.focus());
});

async function goTo(seq) {
  const position = whole ? seq - 1 : (await ask(`${api}/place`, { seq, revision: view.revision, branch })).position;
  if (position !== null && position >= 0 && position < view.size) {
    const element = await windows.show(position);
    element?.classList.add("is-sought");
    element?.focus({ preventScroll: true });
    return;
  }
  const stored = await ask(`${api}/messages/${seq}`);
  byId("found").hidden = false;
  byId("found").replaceChildren(
    el("div", { class: "notice" }, el("p", {}, `Message #${seq} is not in this view: it was edited away, or stored through another branch. `, el("a", { href: page(base, { whole: "all", seq }) }, "See it among all that was appended"), ".")),
    drawn(stored, { calls }));
}

// What it is --------------------------------------------------------------------------------------------------

function branchChoice() {
  const select = byId("branch");
  const chosen = whole ? "/whole" : wanted.revision ? "/revision" : branch;
  select.append(
    ...branches.map(({ name }) => el("option", { value: name, selected: name === chosen }, name)),
    el("option", { value: "/whole", selected: whole }, "— all that was ever appended"));
  if (wanted.revision) select.append(el("option", { value: "/revision", selected: true }, "— one revision"));
  select.addEventListener("change", () => {
    const { value } = select;
    if (value !== "/revision") location.assign(page(base, value === "/whole" ? { whole: "all" } : { branch: value === "main" ? null : value }));
  });
}

async function aboutView() {
  const about = byId("about-view");
  if (whole) {
    about.replaceChildren(el("div", { class: "notice" }, el("p", {}, "All that was ever appended to this log, on every branch, in the order in which it was stored. No model saw it like this.")));
    return;
  }
  if (view.revision === null) return;
  const actions = el("div", { class: "group" },
    el("a", { class: "button", href: page(`${base}/raw`, { branch: wanted.branch, revision: wanted.revision }) }, "JSON and SQL"),
    mayEdit ? el("button", { type: "button", onclick: () => fork(branch, view.revision) }, "Fork…") : null,
    mayEdit && wanted.revision ? el("button", { type: "button", onclick: () => rewind(branches, branch, view.revision) }, "Rewind to here…") : null);
  if (!wanted.revision) { about.replaceChildren(el("div", { class: "of-view" }, el("p", { class: "hint" }, "What the branch shows now, revision ", el("code", {}, plain(view.revision)), ", is what a model is given."), actions)); return; }
  const main = branches.find((one) => one.name === branch) ?? branches[0];
  const { head: of } = await ask(`${api}/history`, { at: view.revision, last: 0 });
  const comparison = (from, to, words) => el("a", { class: "button", href: page(`${base}/diff`, { from, to, branch: wanted.branch }) }, words);
  actions.prepend(...[
    of.parent ? el("a", { class: "button", href: page(base, { revision: of.parent }) }, "← The one before") : null,
    of.parent ? comparison(of.parent, view.revision, "What it changed") : null,
    main.head === view.revision ? null : comparison(view.revision, main.head, "Compare with now"),
  ].filter(Boolean));
  about.replaceChildren(el("div", { class: "notice" },
    el("p", {}, "What the model saw at revision ", el("code", {}, plain(view.revision)), ". ", told(of), ", ", moment(of.createdAt), ".", of.meta?.reason ? [" Reason: ", ...plain(String(of.meta.reason)), "."] : null), actions));
}

// Live --------------------------------------------------------------------------------------------------------

async function grown(fresh, size) {
  const follow = atEnd();
  const more = size - view.size;
  if (windows === null || fresh.rebuilt) {
    await open();
    await aboutView();
    say("The view was changed");
    if (follow) await toEnd();
    if (fresh.rebuilt) notice("The view was edited", "See what changed", page(`${base}/diff`, { from: fresh.from, to: fresh.revision, branch: wanted.branch }));
    return;
  }
  view = { revision: fresh.revision, size };
  windows.grow(size);
  await aboutView();
  say(many(more, "new message"));
  byId("where").textContent = many(size, "message");
  if (follow) await toEnd();
  else {
    const moved = byId("moved");
    moved.hidden = false;
    moved.replaceChildren(el("button", { type: "button", class: "main", onclick: toEnd }, `${many(more, "new message")} ↓`));
  }
}

function notice(text, link, address) {
  const moved = byId("moved");
  moved.hidden = false;
  moved.replaceChildren(el("p", {}, text, " ", el("a", { href: address }, link), " ", el("button", { type: "button", class: "quiet", onclick: () => { moved.hidden = true; } }, "Close")));
}

function follow() {
  if (wanted.revision) return;
  const sign = byId("live");
  sign.hidden = false;
  new Live({
    branch, whole, revision: () => view.revision, size: () => view.size,
    ongrown: grown,
    onstate: (state, words) => { sign.dataset.state = state; byId("live-text").textContent = words; },
  }).start();
}

// Searching ---------------------------------------------------------------------------------------------------

byId("finding").addEventListener("submit", async (event) => {
  event.preventDefault();
  const words = event.target.elements.words.value.trim();
  const found = byId("found");
  found.hidden = words === "";
  if (words === "") return;
  found.setAttribute("aria-busy", "true");
  try {
    const { hits } = await ask(`${api}/search`, { whole: true }, { words, limit: 100 });
    found.replaceChildren(
      el("div", { class: "found-head" }, el("h2", {}, hits.length ? many(hits.length, "message found", "messages found") : "Nothing found"),
        el("button", { type: "button", class: "quiet", onclick: () => { found.hidden = true; } }, "Close")),
      hits.length ? el("ol", { class: "hits" }, hits.map((one) => hit(one, false, where())))
        : el("p", { class: "hint" }, "No message of this log holds all of these words, on any branch."));
    say(many(hits.length, "message found", "messages found"));
  } catch (error) {
    found.replaceChildren(trouble(error));
  }
  found.removeAttribute("aria-busy");
});

try {
  const [, { branches: all }] = await Promise.all([head(), ask(`${api}/branches`)]);
  branches = all;
  branchChoice();
  await open();
  await aboutView();
  if (wanted.seq !== undefined) await goTo(Number(wanted.seq));
  else if (location.hash === "#end") await toEnd();
  follow();
} catch (error) {
  box.replaceChildren(trouble(error, () => location.reload()));
}
box.removeAttribute("aria-busy");
