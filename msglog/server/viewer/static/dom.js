// Elements made of code. Text goes in as text nodes and attributes by name: nothing that is stored is ever parsed.

const OWN = new Set(["checked", "disabled", "hidden", "open", "value", "selected"]);

/** An element with attributes (`onclick` and the like are listeners) and children: nodes, text, or null. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same, of SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (OWN.has(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** Tell those who listen to the page. */
export function say(text) {
  byId("said").textContent = text;
}

/** A button that copies a text, and says that it did. */
export function copyButton(text, label = "Copy") {
  return el("button", {
    type: "button", class: "quiet",
    onclick: async (event) => {
      const button = event.currentTarget;
      try {
        await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
        button.textContent = "Copied";
        say("Copied");
      } catch {
        button.textContent = "The browser does not allow it";
      }
      setTimeout(() => { button.textContent = label; }, 1600);
    },
  }, label);
}

/** What to show where there is nothing. */
export function empty(title, ...what) {
  return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), el("p", {}, ...what));
}

/** What went wrong, and a way to try again. */
export function trouble(error, again) {
  return el("div", { class: "trouble", role: "alert" },
    el("p", {}, error.message),
    again ? el("button", { type: "button", onclick: again }, "Try again") : null);
}

const numbers = new Intl.NumberFormat("en-US");
export const count = (n) => numbers.format(n);
export const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const year = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** A moment, short; the whole of it is in its title. */
export function moment(value) {
  const at = new Date(value);
  const now = new Date();
  const short = at.toDateString() === now.toDateString() ? clock.format(at)
    : at.getFullYear() === now.getFullYear() ? `${day.format(at)}, ${clock.format(at)}` : year.format(at);
  return el("time", { datetime: at.toISOString(), title: full.format(at) }, short);
}
