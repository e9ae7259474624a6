// The revisions of a log, drawn: branches side by side, the newest on top.

import { api, ask, base, page, query } from "./api.js";
import { byId, count, el, empty, many, moment, say, svg, trouble } from "./dom.js";
import { head } from "./head.js";
import { laid, rowsOf } from "./lanes.js";
import { shortId, told } from "./operation.js";
import { plain } from "./text.js";

const box = byId("graph");
const each = byId("each");
const older = byId("older");
const compare = byId("compare");
const LANE = 18; // pixels between branches, where there is room for them
const MARGIN = 14;
const PAGE = 1000;
const PAGES = 10; // that one press loads at most
const ROWS = 40;
const DRAWN = 400;

let revisions = [];
let branches = [];
let before = null;
let shown = DRAWN;
let picked = [];

let between = LANE;
const x = (lane) => MARGIN + lane * between;

/** Many branches move together, so that the words keep their room. */
function spread(widest) {
  const room = innerWidth < 740 ? 96 : 260;
  between = widest > 1 ? Math.min(LANE, room / (widest - 1)) : LANE;
}

/** The part of the drawing that belongs to a row; lines meet those of the rows above and below. */
function lines(row, widest) {
  const width = x(widest - 1) + MARGIN;
  const parts = [];
  const path = (d, lane) => parts.push(svg("path", { d, class: `line lane-${lane % 6}` }));
  for (const lane of row.through) path(`M${x(lane)} 0V100`, lane);
  if (!row.begins) path(`M${x(row.lane)} 0V50`, row.lane);
  if (row.goesOn) path(`M${x(row.lane)} 50V100`, row.lane);
  for (const lane of row.joins) path(`M${x(lane)} 0Q${x(lane)} 50 ${x(row.lane)} 50`, lane);
  const stretched = svg("svg", { class: "lines", viewBox: `0 0 ${width} 100`, preserveAspectRatio: "none", "aria-hidden": "true" }, parts);
  const dot = el("span", { class: `node is-${row.kind} lane-${row.lane % 6}`, "aria-hidden": "true" });
  dot.style.left = `${x(row.lane)}px`;
  const cell = el("div", { class: "rail" }, stretched, dot);
  cell.style.width = `${width}px`;
  return cell;
}

function words(row) {
  if (row.count > 1) return `Appended ${many(row.messages, "message")} in ${many(row.count, "step")}`;
  return told(row.revision);
}

function line(row, at, widest) {
  const { revision } = row;
  const name = words(row);
  const reason = typeof revision.meta?.reason === "string" ? revision.meta.reason : null;
  const box = el("input", {
    type: "checkbox", checked: picked.includes(revision.id), "aria-label": `Compare ${name}, revision ${shortId(revision.id)}`,
    onchange: (event) => pick(revision.id, event.currentTarget.checked),
  });
  return el("li", { class: `row is-${row.kind}`, "data-revision": revision.id },
    lines(row, widest),
    el("div", { class: "row-body" },
      el("a", { class: "row-link", href: page(base, { revision: revision.id }), tabindex: at === 0 ? "0" : "-1" }, el("span", {}, name)),
      row.heads.map((branch) => el("a", { class: "tag is-branch", href: page(base, { branch: branch.name === "main" ? null : branch.name }), title: "A branch is here" }, plain(branch.name))),
      reason ? el("span", { class: "reason" }, plain(reason)) : null,
      el("span", { class: "row-facts" }, `shows ${count(revision.size)}`, " · ", moment(revision.createdAt), " · ", el("code", {}, plain(shortId(revision.id))))),
    el("label", { class: "pick" }, box, el("span", { class: "said" }, "Compare")));
}

function draw() {
  const rows = rowsOf(revisions, branches, each.checked);
  const widest = laid(rows);
  spread(widest);
  if (rows.length === 0) {
    box.replaceChildren(empty("No revisions yet", "The first message that is appended makes one."));
    return;
  }
  const focused = document.activeElement?.closest?.("[data-revision]")?.dataset.revision;
  box.replaceChildren(el("ol", { class: "graph", "aria-label": "Revisions, newest first" }, rows.slice(0, shown).map((row, at) => line(row, at, widest))));
  if (focused) move([...box.querySelectorAll(".row-link")].find((link) => link.closest("li").dataset.revision === focused));
  older.hidden = rows.length <= shown && before === null;
}

// Arrows walk along the rows; left and right along parent and child.

function move(link) {
  if (!link) return;
  for (const other of box.querySelectorAll('.row-link[tabindex="0"]')) other.tabIndex = -1;
  link.tabIndex = 0;
  link.focus();
}

box.addEventListener("keydown", (event) => {
  if (!event.target.matches(".row-link, .pick input")) return;
  const links = [...box.querySelectorAll(".row-link")];
  const row = event.target.closest("li");
  const at = links.findIndex((link) => link.closest("li") === row);
  const id = row.dataset.revision;
  const rows = rowsOf(revisions, branches, each.checked);
  const to = {
    ArrowDown: () => links[at + 1], ArrowUp: () => links[at - 1], Home: () => links[0], End: () => links.at(-1),
    ArrowLeft: () => links[rows.findIndex((one) => one.revision.id === rows[at].parent)],
    ArrowRight: () => links[rows.findLastIndex((one) => one.parent === id)],
  }[event.key];
  if (to) { event.preventDefault(); move(to()); }
  if (event.key === " " && event.target.matches(".row-link")) { event.preventDefault(); row.querySelector("input").click(); }
});

function pick(id, isPicked) {
  picked = picked.filter((one) => one !== id);
  if (isPicked) picked = [...picked, id].slice(-2);
  for (const input of box.querySelectorAll(".pick input")) input.checked = picked.includes(input.closest("li").dataset.revision);
  const place = (one) => revisions.findIndex((revision) => revision.id === one);
  const [from, to] = picked.toSorted((a, b) => place(b) - place(a)); // the older one first
  byId("picked").textContent = ["Pick two revisions to compare.", "Pick another one.", "Two are picked."][picked.length];
  say(byId("picked").textContent);
  if (picked.length === 2) { compare.href = page(`${base}/diff`, { from, to }); compare.removeAttribute("aria-disabled"); } else { compare.removeAttribute("href"); compare.setAttribute("aria-disabled", "true"); }
}

/** Load older revisions, until there are some rows more: a thousand appends may be one. */
async function more() {
  const rows = () => rowsOf(revisions, branches, each.checked).length;
  const wanted = rows() + ROWS;
  let pages = 0;
  do {
    const found = await ask(`${api}/revisions`, { limit: PAGE, before });
    revisions = [...revisions, ...found.revisions];
    before = found.next;
    pages += 1;
  } while (before !== null && pages < PAGES && rows() < wanted);
}

older.addEventListener("click", async () => {
  shown += DRAWN;
  try {
    if (before !== null && rowsOf(revisions, branches, each.checked).length < shown) await more();
    draw();
  } catch (error) { older.after(trouble(error)); }
});

each.addEventListener("change", draw);

try {
  const [, found] = await Promise.all([head(), ask(`${api}/branches`), more()]);
  branches = found.branches;
  draw();
  const { revision } = query();
  if (revision) box.querySelector(`[data-revision="${CSS.escape(revision)}"]`)?.classList.add("is-sought");
} catch (error) {
  box.replaceChildren(trouble(error, () => location.reload()));
}
box.removeAttribute("aria-busy");
