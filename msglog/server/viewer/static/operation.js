// What made a revision, in words.

import { many } from "./dom.js";

const PATCHES = {
  remove: (patches) => `removed ${many(patches.length, "message")}`,
  replace: (patches) => `replaced ${many(patches.length, "message")}`,
  split: (patches) => `split ${many(patches.length, "message")}`,
  insertBefore: (patches) => `inserted ${many(inserted(patches), "message")}`,
  insertAfter: (patches) => `inserted ${many(inserted(patches), "message")}`,
  move: (patches) => `moved ${many(patches.reduce((sum, patch) => sum + patch.ids.length, 0), "message")}`,
  summary: (patches) => `summarised ${many(patches.reduce((sum, patch) => sum + patch.sourceIds.length, 0), "message")}`,
};

const inserted = (patches) => patches.reduce((sum, patch) => sum + (patch.entryIds?.length ?? 0), 0);

/** The kind of a revision, for its look. */
export function kindOf(revision) {
  const operation = revision.operation;
  if (!revision.parent || !operation) return "root";
  if (operation.type === "edit" && (operation.patches ?? []).some((patch) => patch.op === "summary")) return "summary";
  return operation.type;
}

/** One line about a revision. */
export function told(revision) {
  const operation = revision.operation;
  if (!revision.parent || !operation) return "Beginning";
  if (operation.type === "append") return `Appended ${many(operation.entryIds?.length ?? 0, "message")}`;
  if (operation.type === "fork") return "Forked";
  if (operation.type === "view") return operation.revision ? "Rewound to an earlier revision" : `Chose ${many(operation.entryIds?.length ?? 0, "message")} to show`;
  const groups = new Map();
  for (const patch of operation.patches ?? []) {
    const name = patch.op === "insertBefore" ? "insertAfter" : patch.op;
    groups.set(name, [...(groups.get(name) ?? []), patch]);
  }
  const words = [...groups].map(([name, patches]) => PATCHES[name]?.(patches) ?? name);
  const line = words.join(", ") || "edited nothing";
  return line[0].toUpperCase() + line.slice(1);
}

export const shortId = (id) => (id.length > 14 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id);
