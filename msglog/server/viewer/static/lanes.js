// Where the revisions of a log stand in a drawing: rows from the newest to the oldest, branches side by side.

import { kindOf } from "./operation.js";

/**
 * Rows of revisions, newest first. A run of appends that nothing branches from is one row, unless `each`.
 * A row has `revision` (its newest), `count` revisions, and `heads`, the branches that are at it.
 */
export function rowsOf(revisions, branches, each) {
  const heads = new Map();
  for (const branch of branches) heads.set(branch.head, [...(heads.get(branch.head) ?? []), branch]);
  const children = new Map();
  for (const { parent } of revisions) if (parent) children.set(parent, (children.get(parent) ?? 0) + 1);
  const forked = new Set(branches.map((branch) => branch.forkedFrom));
  const rows = [];
  const open = new Map(); // by the parent that a run of appends would go on with
  for (const revision of revisions) {
    const kind = kindOf(revision);
    const isQuiet = kind === "append" && !heads.has(revision.id) && (children.get(revision.id) ?? 0) === 1 && !forked.has(revision.id);
    const run = open.get(revision.id);
    if (run && isQuiet && !each) {
      open.delete(revision.id);
      run.count += 1;
      run.messages += revision.operation.entryIds.length;
      run.parent = revision.parent;
      run.since = revision.createdAt;
      open.set(revision.parent, run);
      continue;
    }
    const row = {
      revision, kind, parent: revision.parent, count: 1, since: revision.createdAt, heads: heads.get(revision.id) ?? [],
      messages: kind === "append" ? revision.operation.entryIds.length : 0,
    };
    rows.push(row);
    if (kind === "append") open.set(revision.parent, row);
  }
  return rows;
}

/** Give each row its `lane`, and the lines that pass it: `[from lane, to lane]` on the way to the row below. */
export function laid(rows) {
  let lanes = []; // the revision that each lane leads to
  let widest = 1;
  for (const row of rows) {
    const { id } = row.revision;
    const mine = lanes.flatMap((wanted, lane) => (wanted === id ? [lane] : []));
    row.lane = mine.length ? mine[0] : free(lanes);
    row.begins = mine.length === 0;
    const next = lanes.map((wanted, lane) => (mine.includes(lane) && lane !== row.lane ? null : wanted));
    row.joins = mine.filter((lane) => lane !== row.lane);
    next[row.lane] = row.parent ?? null;
    row.through = lanes.flatMap((wanted, lane) => (wanted !== null && wanted !== undefined && !mine.includes(lane) ? [lane] : []));
    row.goesOn = row.parent !== undefined && row.parent !== null;
    lanes = next;
    while (lanes.length && lanes.at(-1) === null) lanes.pop();
    widest = Math.max(widest, row.lane + 1, lanes.length, ...row.through.map((lane) => lane + 1), ...row.joins.map((lane) => lane + 1));
  }
  return widest;
}

function free(lanes) {
  const lane = lanes.findIndex((wanted) => wanted === null);
  if (lane >= 0) return lane;
  lanes.push(null);
  return lanes.length - 1;
}
