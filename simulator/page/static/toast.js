// What the bot answers to a tap: a short line that goes by itself, or an alert that has
// to be closed.

import { byId, el } from './dom.js';

const SHOWN = 4500; // ms; longer texts stay longer

/** Shows a line for a moment. */
export function toast(text, bad = false) {
  const node = el('div', { class: bad ? 'toast bad' : 'toast', dir: 'auto' }, text);
  byId('toasts').replaceChildren(node); // the newest counts
  setTimeout(() => {
    node.classList.add('leaving');
    setTimeout(() => node.remove(), 300);
  }, SHOWN + text.length * 30);
}

/** Shows an alert. */
export function alertBox(text) {
  const dialog = byId('alert');
  byId('alert-text').textContent = text;
  if (!dialog.open) dialog.showModal();
}

/** Takes away what is shown, since it was told to one person, in one place. */
export function clearNotices() {
  byId('toasts').replaceChildren();
  for (const id of ['alert', 'reader']) byId(id).close();
  byId('menu').hidePopover();
}

/** Puts a text on the clipboard. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied');
  } catch {
    toast('The browser does not let the page copy', true);
  }
}
