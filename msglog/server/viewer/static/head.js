// What stands above every page of a log.

import { api, ask, base, log, page, query } from "./api.js";
import { byId, el, empty, many, moment } from "./dom.js";
import { plain } from "./text.js";

/** Show the log's title and sizes, and let the tabs keep the branch and revision that one looks at. */
export async function head() {
  const { branch, revision } = query();
  for (const tab of document.querySelectorAll("[data-tab]")) {
    tab.href = page(base + tab.dataset.tab, { branch, revision });
  }
  let info;
  try {
    info = await ask(api);
  } catch (error) {
    if (error.error !== "UnknownLogError") throw error;
    const above = byId("title").closest(".log-head");
    while (above.nextElementSibling) above.nextElementSibling.remove();
    above.after(empty("There is no such log", "It may have been purged, or it has no message yet: a log exists from its first one. ", el("a", { href: "/" }, "All logs")));
    return new Promise(() => {}); // nothing else is to be shown
  }
  if (info.title) {
    byId("title").replaceChildren(el("bdi", {}, plain(info.title)));
    byId("facts").append(el("bdi", { class: "log-id" }, plain(log)), " · ");
  }
  byId("facts").append(
    many(info.entries, "message"), " · ", many(info.revisions, "revision"), " · ", many(info.branches, "branch", "branches"),
    ...(info.lastAt ? [" · last ", moment(info.lastAt)] : []), " ",
    el("span", { class: "tags" }, info.tags.map((tag) => el("span", { class: "tag" }, plain(tag)))));
  return info;
}
