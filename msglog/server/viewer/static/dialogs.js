// What changes something is asked for first.

import { api, ask, base, page } from "./api.js";
import { el, many, say, trouble } from "./dom.js";
import { plain } from "./text.js";

/** Ask, and do what was asked for when it is confirmed. Resolves to what `act` gave, or null. */
function asked({ title, what, fields = [], verb, danger = false, act }) {
  return new Promise((resolve) => {
    const problem = el("div", {});
    const inputs = fields.map(({ name, label, value = "", options, required = true, hint }) => {
      const input = options
        ? el("select", { name, id: `dialog-${name}` }, options.map((option) => el("option", { value: option, selected: option === value }, option)))
        : el("input", { name, id: `dialog-${name}`, value, required, autocomplete: "off" });
      return [el("label", { for: `dialog-${name}` }, label), input, hint ? el("p", { class: "hint" }, hint) : null];
    });
    const send = el("button", { class: danger ? "danger main" : "main" }, verb);
    const form = el("form", { class: "stack" }, el("h2", { id: "dialog-title" }, title), el("p", {}, what), inputs, problem,
      el("div", { class: "group end" }, el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), send));
    const dialog = el("dialog", { "aria-labelledby": "dialog-title" }, form);
    let result = null;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      send.disabled = true;
      try {
        result = await act(Object.fromEntries(new FormData(form)));
        dialog.close();
      } catch (error) {
        problem.replaceChildren(trouble(error));
        send.disabled = false;
      }
    });
    dialog.addEventListener("close", () => { dialog.remove(); resolve(result); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Make a branch at a revision, and go there. */
export async function fork(branch, revision) {
  const made = await asked({
    title: "Fork from here",
    what: "A new branch begins with what this revision shows. The branches that exist stay as they are.",
    fields: [{ name: "name", label: "Name of the branch" }],
    verb: "Make the branch",
    act: async ({ name }) => { await ask(`${api}/branches`, { branch }, { name, at: revision }); return name; },
  });
  if (made !== null) location.assign(page(base, { branch: made }));
}

/** Let a branch show again what a revision showed. */
export async function rewind(branches, branch, revision) {
  const done = await asked({
    title: "Rewind to here",
    what: "The branch will show again what this revision showed, as a new revision. Nothing is lost: what it shows now stays in its lineage.",
    fields: [
      { name: "branch", label: "Branch", options: branches.map((one) => one.name), value: branch },
      { name: "reason", label: "Reason", required: false, hint: "Kept with the new revision. May be left empty." },
    ],
    verb: "Rewind",
    act: async ({ branch: chosen, reason }) => {
      const { head } = branches.find((one) => one.name === chosen);
      await ask(`${api}/rewind`, { branch: chosen }, { revision, expectedHead: head, ...reason ? { meta: { reason } } : {} });
      return chosen;
    },
  });
  if (done !== null) location.assign(page(base, { branch: done === "main" ? null : done }));
}

/** Erase a message's content. Resolves to the receipt, or null. */
export async function redact(stored) {
  const receipt = await asked({
    title: `Redact message #${stored.seq}`,
    what: "Its text, its parts and the arguments of its calls are erased for good, from every revision and branch. Its place, role and call ids stay. This cannot be undone.",
    fields: [
      { name: "reason", label: "Reason", hint: "Kept in the record of the redaction." },
      { name: "confirm", label: `Type ${stored.seq} to confirm` },
    ],
    verb: "Erase the content",
    danger: true,
    act: async ({ reason, confirm }) => {
      if (confirm.trim() !== String(stored.seq)) throw new Error(`Type the number ${stored.seq} to confirm that it is this message.`);
      return ask(`${api}/redact`, {}, { entry: stored.id, reason });
    },
  });
  if (receipt !== null) say(`Message ${stored.seq} was redacted`);
  return receipt;
}

/** What a redaction left to do. */
export function receiptNote(receipt) {
  return el("div", { class: "notice" },
    el("p", {}, `Message #${receipt.seq} was redacted.`, receipt.complete ? "" : " A reader still holds an old copy in the write-ahead log; a later checkpoint erases it."),
    receipt.summaries.length
      ? el("p", {}, `${many(receipt.summaries.length, "summary", "summaries")} over it may still tell of it: `, plain(receipt.summaries.join(", ")))
      : null);
}
