// Who I am: one of the people, chosen like a radio button.

import { byId, el, fillAvatar } from './dom.js';
import { addressAs } from './route.js';

/** Draws the choice. choose(id) is called when it changes. */
export function drawPeople(store, choose) {
  const row = byId('people');
  const focused = row.contains(document.activeElement);
  row.replaceChildren(...store.people.map((p) => {
    const mine = p.id === store.viewer.id;
    return el('button', {
      type: 'button', role: 'radio', class: 'person', 'aria-checked': String(mine), tabindex: mine ? '0' : '-1',
      data: { id: p.id }, onclick: () => choose(p.id), onkeydown: (e) => move(e, store, choose),
    },
    fillAvatar(el('span', { 'aria-hidden': 'true' }), p.id, p.name),
    el('b', {}, p.name), el('small', {}, p.role));
  }));
  if (focused) row.querySelector('[aria-checked=true]')?.focus();
  const other = store.people.find((p) => p.id !== store.viewer.id);
  const link = byId('other-window');
  link.hidden = !other;
  if (other) {
    link.href = addressAs(other.id);
    link.textContent = `Open a second window as ${other.name}`;
  }
}

function move(e, store, choose) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
  if (!step) return;
  e.preventDefault();
  const at = store.people.findIndex((p) => p.id === store.viewer.id);
  choose(store.people[(at + step + store.people.length) % store.people.length].id);
}
