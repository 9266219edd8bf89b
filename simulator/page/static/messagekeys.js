// Messages by keyboard. One of them can be reached with Tab, by itself the newest; the
// arrows go to its neighbours, and Tab from there to its buttons.

import { byId } from './dom.js';

/** Lets the arrows move among the messages of a log, R reply to one, and Escape go back to the typing box. */
export function followFocus(log, reply) {
  log.addEventListener('focusin', (e) => {
    const item = e.target.closest('.message');
    if (item) setTabStop(log, item);
  });
  log.addEventListener('keydown', (e) => {
    if (!e.target.matches('.message') || e.ctrlKey || e.metaKey || e.altKey) return;
    const to = neighbour(e.target, e.key);
    if (to) {
      e.preventDefault();
      to.focus({ preventScroll: true });
      to.scrollIntoView({ block: 'nearest' });
    } else if (e.key.toLowerCase() === 'r' || e.key === 'Enter') {
      e.preventDefault();
      reply(Number(e.target.dataset.id));
    } else if (e.key === 'Escape') {
      e.stopPropagation();
      byId('draft').focus();
    }
  });
}

/** Goes to the newest message. */
export function focusNewest(log) {
  [...log.querySelectorAll(':scope > .message')].at(-1)?.focus();
}

/** After messages came or went: exactly one can be reached with Tab. */
export function keepTabStop(log) {
  const stops = log.querySelectorAll(':scope > .message[tabindex="0"]');
  const newest = [...log.querySelectorAll(':scope > .message')].at(-1);
  const focused = document.activeElement?.closest?.('.message');
  if (stops.length !== 1 || (!focused && stops[0] !== newest)) setTabStop(log, focused ?? newest);
}

function setTabStop(log, item) {
  for (const stop of log.querySelectorAll('.message[tabindex="0"], .message .reply[tabindex="0"]')) stop.tabIndex = -1;
  if (!item) return;
  item.tabIndex = 0;
  const button = item.querySelector('.reply');
  if (button) button.tabIndex = 0;
}

function neighbour(item, key) {
  const all = [...item.parentNode.querySelectorAll(':scope > .message')];
  const at = all.indexOf(item);
  return { ArrowUp: all[at - 1], ArrowDown: all[at + 1], Home: all[0], End: all.at(-1) }[key];
}
