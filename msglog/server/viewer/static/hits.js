// What a search found.

import { page, segment } from "./api.js";
import { el, moment } from "./dom.js";
import { plain } from "./text.js";

/** A message that was found, as a link to where it stands. */
export function hit(found, withLog, where = {}) {
  const place = page(`/logs/${segment(found.log)}`, { ...where, seq: found.message.seq });
  return el("li", {}, el("a", { class: "hit", href: place },
    el("span", { class: "hit-place" }, withLog ? el("bdi", {}, plain(found.log)) : null, ` #${found.message.seq} `, found.message.message.role, " · ", moment(found.message.at)),
    el("span", { class: "hit-text", dir: "auto" }, found.context.map((piece) => (piece.matched ? el("mark", {}, plain(piece.text)) : el("span", {}, plain(piece.text)))))));
}
