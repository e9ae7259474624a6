// What responses took, and what each change of view did to the prompt's beginning.

import { api, ask, base, page, query } from "./api.js";
import { bars } from "./chart.js";
import { byId, count, el, empty, many, moment, say, trouble } from "./dom.js";
import { head } from "./head.js";
import { shortId } from "./operation.js";
import { plain } from "./text.js";

const DRAWN = 120;

const dollars = (text) => {
  const value = Number(text);
  return `$${value === 0 ? "0" : value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;
};

const figure = (name, value, more) => el("div", {}, el("dt", {}, name), el("dd", {}, value, more ? el("small", {}, more) : null));

/** Points that are next to each other added up, so that there are no more than can be told apart. */
function grouped(items, merge) {
  const size = Math.ceil(items.length / DRAWN);
  const groups = [];
  for (let at = 0; at < items.length; at += size) groups.push(merge(items.slice(at, at + size)));
  return groups;
}

async function responses() {
  const all = [];
  let after = 0;
  do {
    const found = await ask(`${api}/responses`, { after, limit: 1000 });
    all.push(...found.responses);
    after = found.next;
  } while (after !== null && all.length < 20_000);
  return all;
}

const read = (tokens) => (tokens.input_tokens ?? 0) + (tokens.cache_creation_input_tokens ?? 0);
const cached = (tokens) => tokens.cache_read_input_tokens ?? 0;

async function cost() {
  const box = byId("cost");
  try {
    const [used, all] = await Promise.all([ask(`${api}/usage`), responses()]);
    const { total } = used;
    if (total.responses === 0) {
      box.replaceChildren(empty("No response tells what it took", "Append responses with ", el("code", {}, 'meta={"model": …, "usage": …}'), ", as the provider reported it, and this page adds them up."));
      return;
    }
    const tokens = total.tokens;
    const unpriced = total.unpriced.filter((name) => name !== null);
    const points = grouped(all, (group) => ({
      label: `#${group[0].seq}${group.length > 1 ? ` to #${group.at(-1).seq}` : ""}${group[0].model ? `, ${group[0].model}` : ""}`,
      href: page(base, { whole: "all", seq: group[0].seq }),
      at: group[0].at,
      cost: group.reduce((sum, one) => sum + Number(one.cost ?? 0), 0),
      parts: [
        { kind: "cached", value: group.reduce((sum, one) => sum + cached(one.tokens), 0) },
        { kind: "input", value: group.reduce((sum, one) => sum + read(one.tokens), 0) },
        { kind: "output", value: group.reduce((sum, one) => sum + (one.tokens.output_tokens ?? 0), 0) },
      ],
    }));
    box.replaceChildren(
      el("dl", { class: "figures" },
        figure("Cost", dollars(total.cost), unpriced.length || total.unpriced.length ? `without ${unpriced.length ? unpriced.join(", ") : "responses of an unnamed model"}: no price known` : "at the built-in prices"),
        figure("Responses", count(total.responses)),
        figure("Tokens read", count(read(tokens) + cached(tokens)), `${count(cached(tokens))} of them from a cache`),
        figure("Tokens written", count(tokens.output_tokens ?? 0))),
      bars({ points, title: "Tokens of each response", kinds: { cached: "from the cache", input: "read anew", output: "written" } }),
      bars({ points: points.map((point) => ({ ...point, parts: [{ kind: "cost", value: point.cost }] })), title: "Cost of each response", kinds: { cost: "US dollars" }, unit: "$" }),
      parts(used.parts));
  } catch (error) {
    box.replaceChildren(trouble(error, cost));
  } finally {
    box.removeAttribute("aria-busy");
  }
}

function parts(list) {
  if (list.length < 2) return null;
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "By branch, model and day" }, el("table", {},
    el("thead", {}, el("tr", {}, ["Branch", "Model", "Day", "Responses", "Read", "Written", "Cost"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, list.map((part) => el("tr", {},
      el("td", {}, plain(part.branch)), el("td", {}, plain(part.model ?? "not named")), el("td", {}, part.day), el("td", { class: "number" }, count(part.responses)),
      el("td", { class: "number" }, count(read(part.tokens) + cached(part.tokens))), el("td", { class: "number" }, count(part.tokens.output_tokens ?? 0)), el("td", { class: "number" }, dollars(part.cost)))))));
}

const KINDS = { root: "Beginning", append: "Appended", edit: "Edited", fork: "Forked", view: "Changed the view" };

async function prefixes(branch) {
  const box = byId("prefixes");
  box.setAttribute("aria-busy", "true");
  try {
    const { steps, next } = await ask(`${api}/steps`, { branch, limit: 120 });
    const real = steps.filter((step) => step.parent !== null);
    if (real.length === 0) {
      box.replaceChildren(empty("Nothing to compare yet", "The branch has one view. Its next step shows here."));
      return;
    }
    const points = real.toReversed().map((step) => ({
      label: `${KINDS[step.type]}: ${many(step.messages, "message")}, ${count(step.kept.tokens)} of ${count(step.tokens)} tokens kept`,
      href: page(base, { revision: step.revision }),
      at: step.at,
      parts: [{ kind: "cached", value: step.kept.tokens }, { kind: step.type === "append" ? "input" : "broken", value: Math.max(0, step.tokens - step.kept.tokens) }],
    }));
    const changes = real.filter((step) => step.type !== "append");
    box.replaceChildren(
      bars({ points, title: `The prompt at each step${next ? ", the last 120" : ""}`, kinds: { cached: "same as before", input: "appended", broken: "to be read again after a change" } }),
      changes.length ? el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Changes of the view" }, el("table", {},
        el("caption", {}, "Changes of the view"),
        el("thead", {}, el("tr", {}, ["Change", "When", "Shows", "Still covered", "To be read again"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, changes.map((step) => el("tr", {},
          el("td", {}, el("a", { href: page(`${base}/diff`, { from: step.parent, to: step.revision }) }, KINDS[step.type]), " ", el("code", {}, plain(shortId(step.revision)))),
          el("td", {}, moment(step.at)), el("td", {}, many(step.messages, "message")),
          el("td", {}, `${many(step.kept.messages, "message")}, ${count(step.kept.tokens)} tokens`),
          el("td", { class: "number" }, `${count(step.tokens - step.kept.tokens)} tokens`)))))) : el("p", { class: "hint" }, "Only appends so far: every step kept the whole prompt before it."));
    say(many(real.length, "step"));
  } catch (error) {
    box.replaceChildren(trouble(error, () => prefixes(branch)));
  } finally {
    box.removeAttribute("aria-busy");
  }
}

try {
  const [, { branches }] = await Promise.all([head(), ask(`${api}/branches`)]);
  const select = byId("branch");
  const chosen = query().branch ?? "main";
  select.append(...branches.map(({ name }) => el("option", { value: name, selected: name === chosen }, name)));
  select.addEventListener("change", () => prefixes(select.value));
  await Promise.all([cost(), prefixes(chosen)]);
} catch (error) {
  byId("cost").replaceChildren(trouble(error, () => location.reload()));
}
