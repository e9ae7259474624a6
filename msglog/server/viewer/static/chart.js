// A small chart of bars in time, with a table behind it for those who do not see it.

import { count, el, moment, svg } from "./dom.js";

const HEIGHT = 140;
const LEFT = 52;
const BOTTOM = 20;

const short = (value) => (value >= 1e6 ? `${+(value / 1e6).toFixed(1)}M` : value >= 1e3 ? `${+(value / 1e3).toFixed(1)}k` : `${+value.toPrecision(2)}`);

/** The next number from a value up that is easy to read. */
function round(value) {
  if (value <= 0) return 1;
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * ten).find((step) => step >= value);
}

/** The width that there is, so that writing in the chart is as large as elsewhere. */
function room() {
  const main = document.querySelector("main");
  return Math.round(Math.max(280, main.clientWidth - 2 * parseFloat(getComputedStyle(main).paddingLeft)));
}

/**
 * Bars: `points` are `{ parts: [{ kind, value }], label, href, at }`, the parts drawn one on another; `kinds` names them.
 * Times, where there are any, stand at both ends.
 */
export function bars({ points, kinds, title, unit = "" }) {
  const most = round(Math.max(...points.map((point) => point.parts.reduce((sum, part) => sum + part.value, 0))));
  const width = room();
  const slot = (width - LEFT) / points.length;
  const thick = Math.max(1, Math.min(slot * 0.76, 34));
  const y = (value) => (HEIGHT - BOTTOM) * (1 - value / most) + 6;
  const grid = [0, most / 2, most].map((value) => svg("g", { class: "grid" },
    svg("line", { x1: LEFT, x2: width, y1: y(value), y2: y(value) }),
    svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, `${unit}${short(value)}`)));
  const drawn = points.map((point, at) => {
    let under = 0;
    const left = LEFT + at * slot + (slot - thick) / 2;
    const rects = point.parts.filter((part) => part.value > 0).map((part) => {
      const top = y(under + part.value);
      const rect = svg("rect", { x: left, y: top, width: thick, height: Math.max(0.5, y(under) - top), class: `bar-of is-${part.kind}` });
      under += part.value;
      return rect;
    });
    const inside = svg("g", {}, svg("title", {}, point.label), svg("rect", { x: LEFT + at * slot, y: 0, width: slot, height: HEIGHT, class: "hit-area" }), rects);
    return point.href ? svg("a", { href: point.href, "aria-label": point.label }, inside) : inside;
  });
  const shown = Object.entries(kinds);
  const ends = points[0].at === undefined ? [] : [[points[0].at, "start"], ...(points.length > 1 ? [[points.at(-1).at, "end"]] : [])];
  const times = ends.map(([at, anchor]) => svg("g", { class: "grid" },
    svg("text", { x: anchor === "start" ? LEFT : width, y: HEIGHT + 8, "text-anchor": anchor }, moment(at).textContent)));
  return el("figure", { class: "chart" },
    el("figcaption", {}, title, el("span", { class: "legend" }, shown.map(([kind, name]) => el("span", {}, el("span", { class: `swatch is-${kind}`, "aria-hidden": "true" }), name)))),
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT + 12}`, role: "group", "aria-label": title }, grid, drawn, times),
    el("details", { class: "as-table" }, el("summary", {}, "As a table"),
      el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, el("table", {},
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "What"), shown.map(([, name]) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, points.map((point) => el("tr", {}, el("th", { scope: "row" }, point.label),
          shown.map(([kind]) => el("td", {}, unit + count(point.parts.find((part) => part.kind === kind)?.value ?? 0))))))))));
}
