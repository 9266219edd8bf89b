// One message, as a bubble with what belongs to it.

import { el, fillAvatar, icon, tint } from './dom.js';
import { keyboard } from './keyboard.js';
import { openMenu } from './menu.js';
import { fileAt } from './net.js';
import { isText, size } from './reader.js';
import { isService, summary } from './store.js';
import { swipeToReply } from './swipe.js';
import { renderText } from './text.js';
import { clock, full } from './time.js';

/**
 * Makes the item of a message. view is {viewer, bot, group}: who looks, who the bot is,
 * and whether names and pictures are shown. on has the handlers of text, and
 * on.reply(message), on.jump(message id), on.tap(message, button, element),
 * on.read(message) for a document, on.copy(text).
 */
export function bubble(m, view, on) {
  if (isService(m)) {
    return el('div', { class: 'service', data: { id: m.message_id, date: m.date } }, el('span', {}, summary(m)));
  }
  const own = m.from?.id === view.viewer.id;
  const body = el('div', { class: 'bubble' },
    view.group && !own && fillAvatar(el('span', { 'aria-hidden': 'true' }), m.from.id, m.from.first_name, m.from.is_bot),
    view.group && !own && senderLine(m, view),
    m.forward_origin && el('div', { class: 'forwarded' }, 'Forwarded message'),
    m.reply_to_message && quote(m, on),
    m.document && documentCard(m, view, on),
    textOf(m, on),
    meta(m, own, replyButton(m, own, on)));
  const column = el('div', { class: 'column' }, body, m.reply_markup && keyboard(m, on));
  const item = el('div', {
    class: `message${own ? ' own' : ''}${view.group ? ' group' : ''}`, tabindex: '-1', role: 'article',
    'aria-label': `${own ? 'You' : m.from?.first_name ?? 'Somebody'}, ${clock(m.date)}`, 'aria-keyshortcuts': 'R',
    data: { id: m.message_id, from: m.from?.id ?? 0, date: m.date },
    ondblclick: (e) => e.target.closest('button, a, code, pre') || on.reply(m),
    oncontextmenu: (e) => menu(e, item, m, view, on),
  }, column, el('span', { class: 'swipe-mark', 'aria-hidden': 'true' }, icon('reply')));
  swipeToReply(item, column, () => on.reply(m));
  return item;
}

/** Opens the menu of a message, except where the browser's own is of more use. */
function menu(e, item, m, view, on) {
  if (e.target.closest('a, textarea') || String(getSelection())) return;
  e.preventDefault();
  const text = m.text ?? m.caption;
  const box = item.querySelector('.bubble').getBoundingClientRect();
  const byKey = !e.clientX && !e.clientY || e.button !== 2;
  openMenu(byKey ? box.left + 12 : e.clientX, byKey ? box.top + 12 : e.clientY, [
    { icon: 'reply', text: 'Reply', keys: 'R', act: () => on.reply(m) },
    text && { icon: 'copy', text: 'Copy text', act: () => on.copy(text) },
    m.document && isText(m.document) && { icon: 'file', text: 'Open the file', act: () => on.read(m) },
    m.document && { icon: 'save', text: 'Save the file', act: () => save(m, view) },
  ].filter(Boolean), e.target.closest('button') ?? item);
}

function save(m, view) {
  el('a', { href: fileAt(view.viewer.id, m, true), download: m.document.file_name ?? true }).click();
}

/** It stands beside the bubble, or where there is no room, before the time. */
function replyButton(m, own, on) {
  return el('button', {
    type: 'button', class: 'icon-button reply', title: 'Reply', tabindex: '-1',
    'aria-label': `Reply to ${own ? 'your own message' : m.from?.first_name ?? 'this message'}`, onclick: () => on.reply(m),
  }, icon('reply'));
}

function senderLine(m, view) {
  const name = m.sender_chat?.title ?? m.from?.first_name ?? '';
  return el('div', { class: 'sender', data: { tint: m.from.is_bot ? 'bot' : tint(m.from.id) } },
    name, m.from.id === view.bot.id && el('span', { class: 'is-bot' }, 'bot'));
}

/** The message replied to; a click goes there. */
function quote(m, on) {
  const to = m.reply_to_message;
  return el('button', {
    type: 'button', class: 'quote', data: { tint: to.from?.is_bot ? 'bot' : tint(to.from?.id ?? 0) },
    'aria-label': `In reply to ${to.from?.first_name ?? 'a message'}: go there`, onclick: () => on.jump(to.message_id),
  },
  el('b', {}, to.from?.first_name ?? 'Message'),
  el('span', {}, m.quote?.text ?? summary(to)));
}

/** A file: text opens here, whatever else is only saved. */
function documentCard(m, view, on) {
  const d = m.document;
  const at = fileAt(view.viewer.id, m, !isText(d));
  return el('div', { class: 'document' },
    el('a', {
      class: 'document-open', href: at, download: isText(d) ? undefined : d.file_name ?? true,
      'aria-label': `${isText(d) ? 'Open' : 'Save'} ${d.file_name}`,
      onclick: (e) => {
        if (!isText(d) || e.ctrlKey || e.metaKey || e.shiftKey) return; // the browser's own ways
        e.preventDefault();
        on.read(m);
      },
    },
    el('span', { class: 'document-icon' }, icon('file')),
    el('span', { class: 'document-name' }, el('b', {}, d.file_name ?? 'file'), el('small', {}, size(d.file_size ?? 0)))),
    el('a', {
      class: 'icon-button', href: fileAt(view.viewer.id, m, true), download: d.file_name ?? true,
      title: 'Save', 'aria-label': `Save ${d.file_name}`,
    }, icon('save')));
}

function textOf(m, on) {
  const text = m.text ?? m.caption;
  if (!text) return null;
  return el('div', { class: 'text', dir: 'auto' }, renderText(text, m.text ? m.entities : m.caption_entities, on));
}

function meta(m, own, reply) {
  const at = el('time', { datetime: new Date(m.date * 1000).toISOString(), title: full(m.date) }, clock(m.date));
  const edited = m.edit_date && el('span', { class: 'edited', title: `Edited ${full(m.edit_date)}` }, 'edited');
  return el('div', { class: 'meta' }, reply, edited, at, own && icon('checks'));
}
