// What this tab remembers over a reload. Message ids begin anew with each start of the
// demo, which the epoch in the name tells apart; a tab of its own for each person keeps
// two windows from reading for each other.

/** Names what is kept of a person in one run of the demo. */
export const keptName = (what, epoch, person) => `countersign.${what}.${epoch}.${person}`;

/** Returns the object kept under a name, or an empty one. */
export function recall(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}

/** Keeps an object. Where storage is closed to the page, it lasts as long as the page. */
export function keep(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch { /* see above */ }
}
