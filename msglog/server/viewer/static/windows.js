// A list of any length: only what is near the part that one looks at is loaded and in the document.

import { el, trouble } from "./dom.js";

const EACH = 50;
const NEAR = "2400px 0px";

export class Windows {
  /**
   * Shows items 0 to `size`. `load(start, count)` gives items, `draw(item, position)` an element of one.
   */
  constructor(container, size, load, draw) {
    this.container = container;
    this.load = load;
    this.draw = draw;
    this.size = 0;
    this.height = 170; // of an item, until some were seen
    this.watcher = new IntersectionObserver((seen) => {
      for (const { target, isIntersecting } of seen) if (isIntersecting) this.open(target.window); else this.close(target.window);
    }, { rootMargin: NEAR });
    this.windows = [];
    container.replaceChildren();
    this.grow(size);
    if (size > 0) this.open(this.windows[0]); // the watcher tells of it only when the page was drawn
  }

  stop() {
    this.watcher.disconnect();
    this.container.replaceChildren();
  }

  /** Make room for more at the end; what is shown stays. */
  grow(size) {
    const last = this.windows.at(-1);
    const partial = last && last.count < EACH ? last : null;
    this.size = size;
    if (partial) {
      partial.count = Math.min(EACH, size - partial.start);
      if (partial.items !== null) this.fetch(partial);
    }
    for (let start = this.windows.length * EACH; start < size; start += EACH) {
      const box = el("div", { class: "window" });
      const window = { start, count: Math.min(EACH, size - start), box, items: null, loading: null };
      box.window = window;
      this.reserve(window);
      this.windows.push(window);
      this.container.append(box);
      this.watcher.observe(box);
    }
  }

  reserve(window) {
    window.box.style.minHeight = `${Math.round(window.measured ?? window.count * this.height)}px`;
  }

  open(window) {
    if (window.items === null && window.loading === null) this.fetch(window);
    return window.loading;
  }

  fetch(window) {
    window.box.setAttribute("aria-busy", "true");
    const wanted = window.count;
    window.loading = this.load(window.start, wanted).then((items) => {
      window.loading = null;
      const drawn = window.items === null ? 0 : window.items.length;
      if (drawn === 0) window.box.replaceChildren();
      window.items = items;
      for (let at = drawn; at < items.length; at += 1) window.box.append(this.draw(items[at], window.start + at));
      window.box.style.minHeight = "";
      window.box.removeAttribute("aria-busy");
      this.learn(window);
      if (window.count > wanted) this.fetch(window);
    }, (error) => {
      window.loading = null;
      window.box.removeAttribute("aria-busy");
      window.box.replaceChildren(trouble(error, () => this.fetch(window)));
    });
    return window.loading;
  }

  learn(window) {
    const height = window.box.getBoundingClientRect().height;
    window.measured = height;
    if (window.items.length === EACH) this.height = this.height * 0.7 + (height / EACH) * 0.3;
  }

  close(window) {
    if (window.items === null || window.box.contains(document.activeElement)) return;
    window.measured = window.box.getBoundingClientRect().height;
    window.items = null;
    this.reserve(window);
    window.box.replaceChildren();
  }

  /** Load again what is shown, where something in it changed. */
  async redraw(position) {
    const window = this.windows[Math.floor(position / EACH)];
    window.items = null;
    await this.fetch(window);
  }

  element(position) {
    const window = this.windows[Math.floor(position / EACH)];
    return window?.box.children[position - window.start] ?? null;
  }

  /** Bring an item to sight; `block` says where to. */
  async show(position, block = "start") {
    const at = Math.floor(position / EACH);
    const around = [at - 1, at, at + 1].map((index) => this.windows[index]).filter(Boolean);
    await Promise.all(around.map((window) => this.open(window)));
    const element = this.element(position);
    element?.scrollIntoView({ block });
    return element;
  }

  /** The position of the first item that is in sight below `top`. */
  first(top) {
    const window = this.windows.find((one) => one.box.getBoundingClientRect().bottom > top + 1);
    if (!window) return this.size - 1;
    const items = [...window.box.children];
    const inside = items.findIndex((item) => item.getBoundingClientRect().bottom > top + 1);
    if (window.items !== null) return window.start + Math.max(0, inside);
    const box = window.box.getBoundingClientRect();
    return window.start + Math.min(window.count - 1, Math.max(0, Math.floor(((top - box.top) / box.height) * window.count)));
  }
}
