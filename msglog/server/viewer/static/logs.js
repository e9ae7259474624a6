// The list of logs, and what a search in all of them finds.

import { ask, page, query, segment } from "./api.js";
import { byId, count, el, empty, many, moment, say, trouble } from "./dom.js";
import { hit } from "./hits.js";
import { plain } from "./text.js";

const form = byId("searching");
const results = byId("results");

for (const [name, value] of Object.entries(query())) {
  if (form.elements[name]) form.elements[name].value = value;
}

const given = () => Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));

form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
for (const name of ["order", "role"]) form.elements[name].addEventListener("change", () => show());

const address = (name) => `/logs/${segment(name)}`;

function row(info) {
  return el("li", {},
    el("a", { class: "log-row", href: address(info.name) },
      el("span", { class: "log-name" },
        info.title ? el("bdi", { class: "log-title" }, plain(info.title)) : null,
        el("bdi", { class: info.title ? "log-id" : "log-title" }, plain(info.name)),
        info.tags.length ? el("span", { class: "tags" }, info.tags.map((tag) => el("span", { class: "tag" }, plain(tag)))) : null),
      el("span", { class: "log-facts" },
        el("span", {}, many(info.entries, "message")),
        el("span", {}, info.branches > 1 ? many(info.branches, "branch", "branches") : ""),
        el("span", { class: "when" }, info.lastAt ? moment(info.lastAt) : "empty")),
      el("span", { class: "snippet", "data-log": info.name })));
}

// What a conversation is about, its first user says best. Asked for as the rows come into sight, some at a time.

const waiting = [];
let asking = 0;

function next() {
  while (asking < 4 && waiting.length) {
    asking += 1;
    const box = waiting.shift();
    ask(`/v1/logs/${segment(box.dataset.log)}/messages`, { limit: 3, whole: true })
      .then(({ messages }) => box.append(...plain(first(messages))))
      .catch(() => {}) // the row is of use without it
      .finally(() => { asking -= 1; next(); });
  }
}

function first(messages) {
  const said = messages.find(({ message }) => message.role === "user") ?? messages.at(-1);
  const content = said?.message.content;
  const text = typeof content === "string" ? content : content?.find?.((part) => typeof part?.text === "string")?.text ?? "";
  return text.slice(0, 200).replaceAll(/\s+/g, " ");
}

const sight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    sight.unobserve(target);
    waiting.push(target);
  }
  next();
}, { rootMargin: "300px 0px" });

async function logs(wanted) {
  const list = el("ul", { class: "logs" });
  const more = el("button", { type: "button" }, "Show more");
  let cursor = null;
  async function load() {
    const { prefix, tag, order } = wanted;
    const found = await ask("/v1/logs", { prefix, tag, order: order ?? "activity", reverse: (order ?? "activity") !== "name", limit: 100, cursor });
    list.append(...found.logs.map(row));
    for (const box of list.querySelectorAll(".snippet:empty")) sight.observe(box);
    cursor = found.next;
    more.hidden = cursor === null;
    return found.logs.length;
  }
  const shown = await load();
  if (shown === 0) {
    const filtered = wanted.prefix || wanted.tag;
    results.replaceChildren(filtered
      ? empty("No log like that", "No name begins so, or no log has the tag. Clear a filter to see more.")
      : empty("No logs yet", "A log exists from its first message. Append one with ", el("code", {}, "store.log(\"customer-123\").add(\"user\", \"hi\")"), " or ", el("code", {}, "POST /v1/logs/customer-123/messages"), "; it shows here."));
    return;
  }
  more.addEventListener("click", () => load().catch((error) => results.append(trouble(error))));
  results.replaceChildren(list, el("p", {}, more));
  say(many(shown, "log"));
}

async function search(wanted) {
  const { words, prefix, role } = wanted;
  const found = await ask("/v1/search", {}, { words, limit: 100, ...prefix ? { prefix } : {}, ...role ? { role } : {} });
  results.replaceChildren(found.hits.length
    ? el("ol", { class: "hits" }, found.hits.map((one) => hit(one, true)))
    : empty("Nothing found", "No message holds all of these words. Fewer words find more; ", el("code", {}, "refund*"), " finds words that begin so."));
  say(many(found.hits.length, "message found", "messages found"));
}

async function show() {
  const wanted = given();
  history.replaceState(null, "", page("/", { ...wanted, order: wanted.order === "activity" ? "" : wanted.order }));
  results.setAttribute("aria-busy", "true");
  try {
    await (wanted.words ? search(wanted) : logs(wanted));
  } catch (error) {
    results.replaceChildren(trouble(error, show));
  }
  results.removeAttribute("aria-busy");
}

async function totals() {
  try {
    const stats = await ask("/v1/stats");
    byId("totals").replaceChildren(`${many(stats.logs, "log")} · ${many(stats.entries, "message")} · ${count(Math.max(1, Math.round(stats.bytes / 1e6)))} MB`);
  } catch { /* a token with a prefix does not see the whole store */ }
}

await Promise.all([show(), totals()]);
