// The list of chats, with the newest message and what is not read yet.

import { byId, el, fillAvatar } from './dom.js';
import { goToChat } from './route.js';
import { chatName, summary } from './store.js';
import { clock, dayName } from './time.js';

/** Draws the list. It is short, so that it is always drawn whole. */
export function drawChats(store) {
  const list = byId('chats');
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  list.replaceChildren(...store.sorted().map((view) => item(store, view)));
  if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  const unread = store.unreadInAll();
  document.title = `${unread ? `(${unread}) ` : ''}${store.viewer.first_name} · Countersign demo`;
}

function item(store, view) {
  const { chat } = view;
  const name = chatName(view, store.bot);
  const last = store.messages(chat.id).at(-1);
  const unread = store.unread(chat.id);
  const open = store.open.chat === chat.id;
  return el('li', {}, el('button', {
    type: 'button', class: 'chat', data: { id: chat.id }, 'aria-current': open ? 'true' : undefined,
    onclick: () => goToChat(chat.id, firstThread(store, view)),
  },
  fillAvatar(el('span', { 'aria-hidden': 'true' }), chat.id, name, chat.type === 'private'),
  el('span', { class: 'chat-top' },
    el('b', {}, name),
    last && el('time', {}, shortDate(last.date))),
  el('span', { class: 'chat-bottom' },
    el('span', { class: 'chat-last' }, ...preview(store, view, last)),
    unread > 0 && el('span', { class: 'badge', 'aria-label': `${unread} not read` }, String(unread)))));
}

/** The topic to open a forum at: the first with something new, else the general one. */
function firstThread(store, view) {
  if (!view.chat.is_forum) return 0;
  return view.topics.map((t) => t.id).find((id) => store.unread(view.chat.id, id) > 0) ?? 0;
}

function preview(store, view, last) {
  if (!last) return [el('i', {}, 'Nothing here yet')];
  const text = summary(last);
  if (view.chat.type === 'private' || !last.from) return [last.from?.id === store.viewer.id ? el('span', { class: 'chat-from' }, 'You: ') : '', text];
  const who = last.from.id === store.viewer.id ? 'You' : last.from.first_name;
  return [el('span', { class: 'chat-from' }, `${who}: `), text];
}

function shortDate(unix) {
  const day = dayName(unix);
  return day === 'Today' ? clock(unix) : day;
}
