// Stored text as it is: every character stays, some are given a look. Light Markdown keeps its signs.

import { el, count } from "./dom.js";

// What is in a text without showing: controls, directions, tags. A joiner within emoji and words is left alone.
const HIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028\u2029\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E007F}\uD800-\uDFFF]/gu;

const code = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** A text as nodes. What would not be seen is shown by its code. */
export function plain(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) nodes.push(text.slice(from, match.index));
    nodes.push(el("bdi", { class: "hidden-character", "data-code": code(match[0]), title: `The character ${code(match[0])}, which does not show` }, match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

const INLINE = /(`+)(?!`)([^\n]*?[^`\n])\1(?!`)|\*\*(?=\S)([^\n]*?\S)\*\*/g;

function inline(line) {
  const nodes = [];
  let from = 0;
  for (const match of line.matchAll(INLINE)) {
    nodes.push(...plain(line.slice(from, match.index)));
    const sign = match[1] ?? "**";
    const inner = match[1] ? match[2] : match[3];
    nodes.push(el(match[1] ? "code" : "strong", {},
      el("span", { class: "sign" }, sign), plain(inner), el("span", { class: "sign" }, sign)));
    from = match.index + match[0].length;
  }
  nodes.push(...plain(line.slice(from)));
  return nodes;
}

const HEADING = /^(#{1,6} +)(.*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,3}[.)])( +)(.*)$/;
const FENCE = /^ {0,3}(```|~~~)/;

/** A message's text: headings, lists, code and strong words are set apart, and all signs are still there. */
export function prose(text) {
  const box = el("div", { class: "prose", dir: "auto" });
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const end = at < lines.length - 1 ? "\n" : "";
    const fence = FENCE.exec(lines[at]);
    if (fence) {
      let close = at + 1;
      while (close < lines.length && !lines[close].trimStart().startsWith(fence[1])) close += 1;
      const block = lines.slice(at, close + 1).join("\n");
      box.append(el("code", { class: "fence", tabindex: "0", role: "group", "aria-label": "Code" }, plain(block)));
      at = close;
      continue;
    }
    const heading = HEADING.exec(lines[at]);
    const item = ITEM.exec(lines[at]);
    if (heading) {
      box.append(el("span", { class: "line heading" }, el("span", { class: "sign" }, heading[1]), inline(heading[2]), end));
    } else if (item) {
      const line = el("span", { class: "line item" }, item[1], el("span", { class: "sign" }, item[2] + item[3]), inline(item[4]), end);
      box.append(line);
    } else {
      box.append(el("span", { class: "line" }, inline(lines[at]), end));
    }
  }
  return box;
}

/** Text of a program: a tool's result, JSON. */
export const verbatim = (text) => el("pre", { class: "verbatim", tabindex: "0", role: "group", "aria-label": "Text" }, plain(text));

const LONG = 2400;
const LINES = 26;
const FORMATTED = 200_000; // beyond, formatting would hold the page up

const cut = (text) => {
  let end = Math.min(text.length, 1500);
  let line = -1;
  for (let lines = 0; lines < 16; lines += 1) {
    line = text.indexOf("\n", line + 1);
    if (line < 0 || line > end) break;
    if (lines === 15) end = line;
  }
  if (text.charCodeAt(end - 1) >= 0xd800 && text.charCodeAt(end - 1) < 0xdc00) end += 1;
  return text.slice(0, end);
};

const isLong = (text) => {
  if (text.length > LONG) return true;
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) if ((lines += 1) > LINES) return true;
  return false;
};

/** A text; a long one is folded, and opens in place. */
export function folded(text, draw = prose) {
  if (!isLong(text)) return draw(text);
  const box = el("div", { class: "fold" });
  const button = el("button", { type: "button", class: "unfold", "aria-expanded": "false" });
  const show = (whole) => {
    const drawn = whole ? (text.length > FORMATTED ? verbatim(text) : draw(text)) : draw(cut(text));
    box.classList.toggle("is-folded", !whole);
    button.setAttribute("aria-expanded", String(whole));
    button.textContent = whole ? "Fold" : `Show all ${count(text.length)} characters`;
    box.replaceChildren(drawn, button);
  };
  button.addEventListener("click", () => {
    const whole = button.getAttribute("aria-expanded") === "false";
    show(whole);
    button.focus({ preventScroll: whole });
    if (!whole) box.scrollIntoView({ block: "nearest" });
  });
  show(false);
  return box;
}
