// One message, as a bubble with what belongs to it.

import { el, fillAvatar, icon, tint } from './dom.js';
import { keyboard } from './keyboard.js';
import { fileAt } from './net.js';
import { isService, summary } from './store.js';
import { renderText } from './text.js';
import { clock, full } from './time.js';

/**
 * Makes the list item of a message. view is {viewer, bot, group}: who looks, who the bot
 * is, and whether names and pictures are shown. on has the handlers of text, and
 * on.reply(message), on.jump(message id), on.tap(message, button, element).
 */
export function bubble(m, view, on) {
  if (isService(m)) {
    return el('li', { class: 'service', data: { id: m.message_id, date: m.date } }, el('span', {}, summary(m)));
  }
  const own = m.from?.id === view.viewer.id;
  const body = el('div', { class: 'bubble' },
    view.group && !own && fillAvatar(el('span', { 'aria-hidden': 'true' }), m.from.id, m.from.first_name, m.from.is_bot),
    view.group && !own && senderLine(m, view),
    m.forward_origin && el('div', { class: 'forwarded' }, 'Forwarded message'),
    m.reply_to_message && quote(m, on),
    m.document && documentCard(m, view),
    textOf(m, on),
    meta(m, own, replyButton(m, own, on)));
  const item = el('li', {
    class: `message${own ? ' own' : ''}${view.group ? ' group' : ''}`, tabindex: '-1',
    data: { id: m.message_id, from: m.from?.id ?? 0, date: m.date },
    ondblclick: (e) => e.target.closest('button, a, code, pre') || on.reply(m),
  },
  el('div', { class: 'column' }, body, m.reply_markup && keyboard(m, on)));
  return item;
}

/** It stands beside the bubble, or where there is no room, before the time. */
function replyButton(m, own, on) {
  return el('button', {
    type: 'button', class: 'icon-button reply', title: 'Reply',
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

function documentCard(m, view) {
  const d = m.document;
  return el('div', { class: 'document' },
    el('a', {
      class: 'document-open', href: fileAt(view.viewer.id, m, false), target: '_blank', rel: 'noopener',
      'aria-label': `Open ${d.file_name}`,
    },
    el('span', { class: 'document-icon' }, icon('file')),
    el('span', { class: 'document-name' }, el('b', {}, d.file_name ?? 'file'), el('small', {}, size(d.file_size ?? 0)))),
    el('a', {
      class: 'icon-button', href: fileAt(view.viewer.id, m, true), download: d.file_name ?? true,
      title: 'Save', 'aria-label': `Save ${d.file_name}`,
    }, icon('save')));
}

function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function textOf(m, on) {
  const text = m.text ?? m.caption;
  if (!text) return null;
  return el('div', { class: 'text', dir: 'auto' }, renderText(text, m.text ? m.entities : m.caption_entities, on));
}

function meta(m, own, reply) {
  const at = el('time', { datetime: new Date(m.date * 1000).toISOString(), title: full(m.date) }, clock(m.date));
  const edited = m.edit_date && el('span', { class: 'edited', title: `Edited ${full(m.edit_date)}` }, 'edited');
  return el('div', { class: 'meta' }, reply, edited, at, own && icon('check'));
}
