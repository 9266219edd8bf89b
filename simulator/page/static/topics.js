// The topics of a forum, as tabs above the conversation.

import { byId, el } from './dom.js';
import { goToChat } from './route.js';

/** Draws the tabs of the open chat, or hides them. */
export function drawTopics(store) {
  const row = byId('topics');
  const view = store.current();
  row.hidden = !view?.chat.is_forum;
  if (row.hidden) return;
  const focused = row.contains(document.activeElement);
  const topics = [{ id: 0, name: 'General' }, ...view.topics];
  row.replaceChildren(...topics.map((t, i) => {
    const mine = t.id === store.open.thread;
    const unread = mine ? 0 : store.unread(view.chat.id, t.id).length;
    return el('button', {
      type: 'button', role: 'tab', class: 'topic', 'aria-selected': String(mine), 'aria-controls': 'log', tabindex: mine ? '0' : '-1',
      onclick: () => goToChat(view.chat.id, t.id),
      onkeydown: (e) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (step) goToChat(view.chat.id, topics[(i + step + topics.length) % topics.length].id);
      },
    }, t.name, t.closed && ' (closed)', unread > 0 && el('span', { class: 'badge', 'aria-label': `${unread} not read` }, String(unread)));
  }));
  if (focused) row.querySelector('[aria-selected=true]')?.focus();
}
