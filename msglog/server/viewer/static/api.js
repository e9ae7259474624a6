// Asking `/v1`.

/** What the service answered where it refused; `status`, `error` and `facts` tell what it was. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `The service answered ${status}.`);
    this.status = status;
    this.error = problem.error;
    this.facts = problem.facts || {};
  }
}

// JavaScript's numbers are doubles. One that would not be written again as it was sent, a long id or 1.0, is kept as
// its text: JSON.stringify writes it unchanged.
const exact = (key, value, context) =>
  typeof value === "number" && context?.source !== undefined && JSON.rawJSON && String(value) !== context.source
    ? JSON.rawJSON(context.source) : value;

export const parse = (text) => JSON.parse(text, exact);

/** A value as indented JSON. */
export const pretty = (value) => JSON.stringify(value, null, 2) ?? "null";

/** The answer to a request; with a `body`, it is posted. */
export async function ask(path, query = {}, body = undefined, signal = undefined) {
  const wanted = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") wanted.set(name, value);
  }
  const address = wanted.size ? `${path}?${wanted}` : path;
  const sent = body === undefined ? { signal }
    : { signal, method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(address, sent);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { detail: "The service does not answer. Is it still running?" });
  }
  if (response.status === 401) {
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
    return new Promise(() => {});
  }
  const text = await response.text();
  if (response.ok) return parse(text);
  let problem = {};
  try { problem = JSON.parse(text); } catch { /* whatever answered, it was not the service */ }
  throw new Refused(response.status, problem);
}

// `.` and `..` would be resolved away as segments of a path.
export const segment = (name) => encodeURIComponent(name).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%2E"));

/** The log that this page is of. */
export const log = document.body.dataset.log;
export const mayEdit = document.body.dataset.mayEdit === "yes";
export const api = log === undefined ? "/v1" : `/v1/logs/${segment(log)}`;
export const base = log === undefined ? "" : `/logs/${segment(log)}`;

/** The address of a page, with what of the query is given. */
export function page(path, query = {}) {
  const wanted = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return wanted.size ? `${path}?${wanted}` : path;
}

export const query = () => Object.fromEntries(new URLSearchParams(location.search));
