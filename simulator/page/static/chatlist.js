// The list of chats, with the newest message and what is not read yet.

import { byId, el, fillAvatar } from './dom.js';
import { goToChat } from './route.js';
import { chatName, isService, summary, threadOf } from './store.js';
import { clock, dayName } from './time.js';

/** Draws the list. It is short, so that it is always drawn whole. */
export function drawChats(store, drafts) {
  const list = byId('chats');
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  list.replaceChildren(...store.sorted().map((view) => item(store, view, drafts.textIn(view.chat.id))));
  if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  const unread = store.unreadInAll();
  document.title = `${unread ? `(${unread}) ` : ''}${store.viewer.first_name} · Countersign demo`;
}

function item(store, view, draft) {
  const { chat } = view;
  const name = chatName(view, store.bot);
  const last = store.messages(chat.id).at(-1);
  const unread = store.unread(chat.id).length;
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
    el('span', { class: 'chat-last' }, ...draft && !open ? draftPreview(draft) : preview(store, view, last)),
    unread > 0 && el('span', { class: 'badge', 'aria-label': `${unread} not read` }, String(unread)))));
}

/** The topic to open a forum at: the first with something new, else the general one. */
function firstThread(store, view) {
  if (!view.chat.is_forum) return 0;
  return view.topics.map((t) => t.id).find((id) => store.unread(view.chat.id, id).length) ?? 0;
}

function draftPreview(text) {
  return [el('span', { class: 'chat-draft' }, 'Draft: '), text];
}

/** Who wrote last, where that is not plain, in which topic, and what. */
function preview(store, view, last) {
  if (!last) return [el('i', {}, 'Nothing here yet')];
  const own = last.from?.id === store.viewer.id;
  const topic = view.topics.find((t) => t.id === threadOf(last))?.name;
  const group = view.chat.type !== 'private' && last.from && !isService(last);
  const who = own ? 'You' : group && last.from.first_name;
  const before = [who, topic].filter(Boolean).join(' › ');
  return [before && el('span', { class: 'chat-from' }, `${before}: `), summary(last)].filter(Boolean);
}

function shortDate(unix) {
  const day = dayName(unix);
  return day === 'Today' ? clock(unix) : day;
}
