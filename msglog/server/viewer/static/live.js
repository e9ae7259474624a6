// Following a branch: what is appended, and edits, which append nothing.

import { api, ask } from "./api.js";

const LOOK = 4000; // milliseconds between looks for an edit, which no event tells of
const SOON = 120;

export class Live {
  constructor({ branch, whole, revision, size, ongrown, onstate }) {
    Object.assign(this, { branch, whole, revision, size, ongrown, onstate });
    this.events = null;
    this.busy = false;
    this.again = false;
    this.timer = null;
  }

  // A browser opens six connections to a server: pages that nobody looks at must not hold one each.
  start() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.rest() : this.listen()));
    if (!document.hidden) this.listen();
  }

  rest() {
    this.events?.close();
    this.events = null;
    clearInterval(this.looking);
    this.onstate("resting", "paused");
  }

  async listen() {
    if (this.events !== null) return;
    let position;
    try {
      position = await ask(`${api}/position`, { branch: this.whole ? null : this.branch });
    } catch (error) {
      this.onstate("broken", error.message);
      return;
    }
    const wanted = new URLSearchParams({ after: position.seq, ...(this.whole ? { whole: true } : { branch: this.branch }) });
    this.events = new EventSource(`${api}/follow?${wanted}`);
    this.events.addEventListener("open", () => this.onstate("live", "live"));
    this.events.addEventListener("message", () => this.soon());
    this.events.addEventListener("error", () => this.onstate("broken", "reconnecting…"));
    this.events.addEventListener("gone", () => { this.rest(); this.onstate("broken", "the log was purged"); });
    this.looking = setInterval(() => this.soon(), LOOK);
    this.soon();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), SOON);
  }

  async look() {
    if (this.busy) { this.again = true; return; }
    this.busy = true;
    try {
      await this.compare();
    } catch (error) {
      this.onstate("broken", error.message);
    }
    this.busy = false;
    if (this.again) { this.again = false; this.soon(); }
  }

  async compare() {
    const position = await ask(`${api}/position`, { branch: this.whole ? null : this.branch });
    if (this.whole) {
      if (position.seq > this.size()) await this.ongrown({ revision: null, rebuilt: false }, position.seq);
      return;
    }
    const from = this.revision();
    if (position.head === from) return;
    const { size } = await ask(`${api}/view`, { revision: position.head, start: 0, limit: 1 });
    const rebuilt = from === null || !(await this.onlyAppended(from, position.head));
    await this.ongrown({ revision: position.head, rebuilt: rebuilt && from !== null, from }, size);
  }

  /** Whether a revision only had messages appended to it since. */
  async onlyAppended(from, to) {
    let before;
    let begun = false;
    for (let pages = 0; pages < 5; pages += 1) {
      const page = await ask(`${api}/lineage`, { branch: this.branch, limit: 200, before });
      for (const revision of page.revisions) {
        if (revision.id === from) return true;
        begun ||= revision.id === to; // it may have moved on since
        if (begun && revision.operation?.type !== "append") return false;
      }
      if (page.next === null) return false;
      before = page.next;
    }
    return false;
  }
}
