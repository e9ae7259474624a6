// One message as a person reads it.

import { api, ask, mayEdit, parse, pretty } from "./api.js";
import { copyButton, count, el, many, moment, say, trouble } from "./dom.js";
import { folded, plain, verbatim } from "./text.js";

const RASTER = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

const text = (value) => (typeof value === "string" ? value : pretty(value));

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** An image's data and type, or its address, in any provider's words. */
function picture(part) {
  const source = isObject(part.source) ? part.source : part;
  const type = source.mediaType ?? source.media_type ?? source.mime_type ?? source.mimeType;
  const data = source.data ?? source.base64;
  if (typeof data === "string" && typeof type === "string") return { type, data };
  const nested = part.image_url ?? source.url;
  const url = isObject(nested) ? nested.url : nested;
  if (typeof url !== "string") return null;
  const inside = /^data:([a-z]+\/[a-z0-9.+-]+);base64,(.*)$/is.exec(url);
  return inside ? { type: inside[1].toLowerCase(), data: inside[2] } : { url };
}

function image(part) {
  const found = picture(part);
  if (found === null) return null;
  if (found.url !== undefined) {
    return el("p", { class: "not-loaded" }, "Image, not loaded from ", el("code", {}, plain(found.url)));
  }
  const bytes = Math.floor((found.data.length * 3) / 4);
  const about = `${found.type}, ${count(bytes)} bytes`;
  if (!RASTER.has(found.type) || !/^[A-Za-z0-9+/=\s]*$/.test(found.data)) {
    return el("p", { class: "not-loaded" }, "Image, not shown: ", plain(about));
  }
  const shown = el("img", { src: `data:${found.type};base64,${found.data}`, alt: "Image of the message", loading: "lazy" });
  shown.addEventListener("error", () => shown.replaceWith(el("p", { class: "not-loaded" }, "Image that cannot be read: ", about)));
  return el("figure", {}, shown, el("figcaption", {}, about));
}

/** What a reasoning part says, where it is one. */
function reasoning(part) {
  if (!/^(reasoning|thinking|redacted_thinking)$/.test(part.type ?? "")) return null;
  const said = part.text ?? part.thinking ?? part.reasoning
    ?? (Array.isArray(part.summary) ? part.summary.map((item) => item?.text ?? "").join("\n\n") : part.summary);
  if (typeof said === "string" && said) return said;
  return "";
}

/** Reasoning that came beside the content, as some providers send it. */
function besides(message) {
  const extras = isObject(message.extra) ? [message.extra, ...Object.values(message.extra).filter(isObject)] : [];
  return extras.map((extra) => extra.reasoning_content).filter((said) => typeof said === "string" && said !== "");
}

function aside(said) {
  if (said === "") return el("p", { class: "not-loaded" }, "Reasoning that the provider keeps to itself");
  return el("details", { class: "reasoning", open: said.length < 600 }, el("summary", {}, "Reasoning"), folded(said));
}

function part(value) {
  if (typeof value === "string") return folded(value);
  if (!isObject(value)) return folded(text(value), verbatim);
  if (typeof value.text === "string" && /^(text|input_text|output_text)$/.test(value.type ?? "")) return folded(value.text);
  const thought = reasoning(value);
  if (thought !== null) return aside(thought);
  const shown = /^(image|image_url|input_image)$/.test(value.type ?? "") ? image(value) : null;
  if (shown) return shown;
  return el("div", { class: "part" }, el("p", { class: "part-type" }, "Part of type ", el("code", {}, plain(text(value.type ?? "unknown")))), folded(pretty(value), verbatim));
}

function body(message) {
  const content = message.content;
  if (content === null || content === undefined) return [];
  if (message.role === "tool") {
    if (typeof content === "string") return result(content);
    if (!Array.isArray(content) || !content.every(isObject)) return [folded(pretty(content), verbatim)];
  }
  if (typeof content === "string") return content === "" ? [el("p", { class: "not-loaded" }, "Empty text")] : [folded(content)];
  return Array.isArray(content) ? content.map(part) : [folded(pretty(content), verbatim)];
}

/** A tool's text; JSON is indented, and what was sent is a press away. */
function result(said) {
  if (!/^\s*[[{]/.test(said)) return [folded(said, verbatim)];
  let value;
  try { value = parse(said); } catch { return [folded(said, verbatim)]; }
  const indented = pretty(value);
  if (indented === said) return [folded(said, verbatim)];
  let isIndented = true;
  const box = el("div", {}, folded(indented, verbatim));
  const button = el("button", { type: "button", class: "quiet as-sent", onclick: () => {
    isIndented = !isIndented;
    box.replaceChildren(folded(isIndented ? indented : said, verbatim));
    button.textContent = isIndented ? "Indented for reading. Show as sent" : "As sent. Indent for reading";
  } }, "Indented for reading. Show as sent");
  return [box, button];
}

function call(made) {
  return el("div", { class: "call" },
    el("p", { class: "call-name" }, el("span", { class: "call-sign", "aria-hidden": "true" }, "→"), el("span", { class: "said" }, "Calls "), el("code", {}, plain(text(made.name))), el("span", { class: "call-id" }, plain(text(made.id)))),
    isObject(made.args) && Object.keys(made.args).length === 0 ? null : folded(made.raw ? text(made.raw) : pretty(made.args), verbatim));
}

const NAMES = { user: "User", assistant: "Assistant", tool: "Tool result", system: "System", developer: "Developer" };

/** A message: `stored` is as the API gives it, `position` its place in the view, `calls` the names of known calls. */
export function drawn(stored, { position = null, calls = new Map(), onredact = null, level = 0, address = null } = {}) {
  const message = stored.message;
  const kind = stored.redacted ? "redacted" : stored.kind === "summary" ? "summary" : message.role;
  const said = stored.kind === "summary" ? "Summary" : NAMES[message.role] ?? message.role;
  for (const made of message.toolCalls ?? []) calls.set(made.id, made.name);
  const label = position === null ? `${said}, seq ${stored.seq}` : `${said}, message ${position + 1}, seq ${stored.seq}`;
  const failed = message.isError === true || message.extra?.isError === true;
  const answers = message.toolCallId === undefined || message.toolCallId === null ? null : calls.get(message.toolCallId) ?? message.toolCallId;
  const reasons = besides(message).map(aside);
  const box = el("article", { class: `message is-${kind}${message.role === "tool" ? " is-result" : ""}`, "aria-label": label, tabindex: "-1", "data-seq": stored.seq });
  const extra = el("div", { class: "extra" });
  box.append(
    el("header", {},
      el("p", { class: "role" }, said, failed ? el("span", { class: "failed" }, " failed") : null),
      message.name ? el("p", { class: "name" }, plain(message.name)) : null,
      el("p", { class: "seq" }, address ? el("a", { href: address, title: "Link to this message" }, `#${stored.seq}`) : `#${stored.seq}`, " ", moment(stored.at)),
      menu(stored, extra, onredact)),
    el("div", { class: "body" },
      answers === null ? null : el("p", { class: "answers" }, "result of ", el("code", {}, plain(text(answers)))),
      reasons,
      stored.redacted ? el("p", { class: "redacted-note" }, "Redacted: its content was erased. Its place stays.") : body(message),
      (message.toolCalls ?? []).map(call),
      stored.kind === "summary" ? sources(stored, calls, level) : null,
      usage(stored),
      extra));
  return box;
}

function usage(stored) {
  const used = stored.meta?.usage;
  if (!isObject(used)) return null;
  const facts = [stored.meta.model, ...["input_tokens", "output_tokens", "cache_read_input_tokens", "prompt_tokens", "completion_tokens"]
    .filter((key) => typeof used[key] === "number" && used[key] > 0)
    .map((key) => `${count(used[key])} ${{ input_tokens: "in", prompt_tokens: "in", output_tokens: "out", completion_tokens: "out", cache_read_input_tokens: "from cache" }[key]}`)];
  return el("p", { class: "usage" }, plain(facts.filter(Boolean).join(" · ")));
}

function menu(stored, extra, onredact) {
  const button = el("button", { type: "button", class: "quiet more", "aria-expanded": "false", "aria-label": `More about message ${stored.seq}` }, "⋯");
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!shown));
    if (shown) { extra.replaceChildren(); return; }
    const facts = { id: stored.id, ...stored.meta?.model ? { model: stored.meta.model } : {} };
    extra.replaceChildren(el("div", { class: "inspect" },
      el("div", { class: "group" },
        copyButton(pretty(stored), "Copy JSON"),
        typeof stored.message.content === "string" ? copyButton(stored.message.content, "Copy text") : null,
        mayEdit && onredact && !stored.redacted ? el("button", { type: "button", class: "danger", onclick: () => onredact(stored) }, "Redact…") : null),
      el("dl", { class: "pairs" }, Object.entries(facts).map(([name, value]) => [el("dt", {}, name), el("dd", {}, plain(text(value)))])),
      folded(pretty(stored), verbatim)));
  });
  return button;
}

const AT_ONCE = 20;

/** What a summary stands for: its sources, some at a time, which may be summaries themselves. */
function sources(stored, calls, level) {
  const ids = stored.sources ?? [];
  if (ids.length === 0) return null;
  const list = el("div", { class: "sources" });
  let shown = 0;
  const more = el("button", { type: "button", onclick: () => next() }, "Show more");
  async function next() {
    more.remove();
    const wanted = ids.slice(shown, shown + AT_ONCE);
    list.setAttribute("aria-busy", "true");
    try {
      const found = await Promise.all(wanted.map((id) => ask(`${api}/find`, {}, { id })));
      for (const [at, { message }] of found.entries()) {
        list.append(message === null ? el("p", { class: "not-loaded" }, "Not in this log: ", plain(wanted[at])) : drawn(message, { calls, level: level + 1 }));
      }
      shown += wanted.length;
      say(`${many(wanted.length, "message")} shown`);
      if (shown < ids.length) { more.textContent = `Show ${many(Math.min(AT_ONCE, ids.length - shown), "more message", "more messages")} of ${count(ids.length)}`; list.append(more); }
    } catch (error) {
      list.append(trouble(error));
    }
    list.removeAttribute("aria-busy");
  }
  return el("details", {
    class: "stands-for",
    ontoggle: (event) => { if (event.currentTarget.open && shown === 0) next(); },
  }, el("summary", {}, `Stands for ${many(ids.length, "message")}`), list);
}
