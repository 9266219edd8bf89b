// Text and its entities, as elements. Offsets of entities count UTF-16 code units, as
// strings do here. Whatever the text holds, it goes in as text.

import { el, icon } from './dom.js';
import { timeElement } from './time.js';

const BLOCKS = new Set(['pre', 'blockquote', 'expandable_blockquote']);

/**
 * Makes the elements of a text. on.command(text), on.link(event, url) and on.copy(text)
 * say what happens on a click.
 */
export function renderText(text, entities, on) {
  const sorted = [...(entities ?? [])]
    .filter((e) => e.length > 0)
    .sort((a, b) => a.offset - b.offset || b.length - a.length);
  return renderRange(text, sorted, 0, text.length, on);
}

/** Renders the stretch from start to end; the list holds the entities that touch it. */
function renderRange(text, list, start, end, on) {
  const out = document.createDocumentFragment();
  let at = start;
  let afterBlock = false;
  for (let i = 0; i < list.length;) {
    const entity = list[i];
    const from = Math.max(entity.offset, at);
    const to = Math.min(entity.offset + entity.length, end);
    if (from >= to) {
      i += 1;
      continue;
    }
    const block = BLOCKS.has(entity.type);
    pushText(out, text.slice(at, from), afterBlock, block);
    const inner = [];
    i += 1;
    while (i < list.length && list[i].offset < to) inner.push(list[i++]);
    out.append(wrap(entity, renderRange(text, inner, from, to, on), text.slice(from, to), on));
    // What began inside and goes on outside is rendered again for the rest.
    list.splice(i, 0, ...inner.filter((e) => e.offset + e.length > to));
    at = to;
    afterBlock = block;
  }
  pushText(out, text.slice(at, end), afterBlock, false);
  return out;
}

/** Adds plain text. The line breaks around a block are its own, and not shown twice. */
function pushText(out, text, afterBlock, beforeBlock) {
  let shown = text;
  if (afterBlock && shown.startsWith('\n')) shown = shown.slice(1);
  if (beforeBlock && shown.endsWith('\n')) shown = shown.slice(0, -1);
  if (shown) out.append(shown);
}

const SIMPLE = {
  bold: 'strong', italic: 'em', underline: 'u', strikethrough: 's', blockquote: 'blockquote',
};

function wrap(entity, content, plain, on) {
  switch (entity.type) {
    case 'bold': case 'italic': case 'underline': case 'strikethrough': case 'blockquote':
      return el(SIMPLE[entity.type], {}, content);
    case 'code':
      return el('code', { title: 'Click to copy', onclick: () => on.copy(plain) }, content);
    case 'pre': return pre(entity, content, plain, on);
    case 'expandable_blockquote': return expandable(content);
    case 'spoiler': return spoiler(content);
    case 'text_link': return link(entity.url, content, on);
    case 'url': return link(/^[a-z]+:\/\//i.test(plain) ? plain : `http://${plain}`, content, on);
    case 'email': return link(`mailto:${plain}`, content, on);
    case 'bot_command':
      return el('button', { type: 'button', class: 'command', title: 'Click to send', onclick: () => on.command(plain) }, content);
    case 'date_time': return timeElement(entity, plain);
    case 'mention': case 'text_mention': case 'hashtag': case 'cashtag': case 'phone_number': case 'bank_card':
      return el('span', { class: 'marked' }, content);
    default: return content;
  }
}

function link(url, content, on) {
  let scheme;
  try {
    scheme = new URL(url).protocol;
  } catch {
    return content;
  }
  if (!['http:', 'https:', 'mailto:', 'tg:'].includes(scheme)) return content;
  return el('a', { href: url, target: '_blank', rel: 'noopener noreferrer', title: url, onclick: (e) => on.link(e, url) }, content);
}

function pre(entity, content, plain, on) {
  return el('div', { class: 'pre' },
    entity.language && el('div', { class: 'pre-head' }, entity.language),
    el('pre', {}, el('code', {}, content)),
    el('button', { type: 'button', class: 'pre-copy', title: 'Copy', 'aria-label': 'Copy this text', onclick: () => on.copy(plain) }, icon('copy')));
}

function spoiler(content) {
  const cover = el('span', {
    class: 'spoiler', role: 'button', tabindex: '0', 'aria-label': 'Hidden text, press to show',
    onclick: show, onkeydown: (e) => (e.key === 'Enter' || e.key === ' ') && show(e),
  }, el('span', { 'aria-hidden': 'true', inert: true }, content));
  function show(e) {
    if (cover.classList.contains('shown')) return;
    e.preventDefault();
    e.stopPropagation();
    uncover(cover);
  }
  return cover;
}

function uncover(cover) {
  const focused = cover === document.activeElement;
  cover.classList.add('shown');
  for (const name of ['role', 'tabindex', 'aria-label']) cover.removeAttribute(name);
  for (const name of ['aria-hidden', 'inert']) cover.firstElementChild.removeAttribute(name);
  if (focused) cover.closest('.message')?.focus({ preventScroll: true });
}

/** A quote of which only the beginning is shown, where it is longer than that. */
function expandable(content) {
  const quote = el('blockquote', { class: 'expandable' }, content);
  const button = el('button', {
    type: 'button', class: 'expand', 'aria-expanded': 'false', 'aria-label': 'Show the whole quote',
    onclick: () => setExpanded(quote, !quote.classList.contains('expanded')),
  });
  const box = el('div', { class: 'expandable-box' }, quote, button);
  new ResizeObserver(() => {
    if (!quote.classList.contains('expanded')) box.classList.toggle('whole', quote.scrollHeight <= quote.clientHeight + 1);
  }).observe(quote);
  return box;
}

function setExpanded(quote, on) {
  quote.classList.toggle('expanded', on);
  const button = quote.nextElementSibling;
  button.setAttribute('aria-expanded', String(on));
  button.setAttribute('aria-label', on ? 'Show less of the quote' : 'Show the whole quote');
}

/** Opens in a newly drawn message the quotes and spoilers that were open in the old one. */
export function keepOpened(old, fresh) {
  const quotes = old.querySelectorAll('.expandable');
  fresh.querySelectorAll('.expandable').forEach((quote, i) => {
    if (quotes[i]?.classList.contains('expanded')) setExpanded(quote, true);
  });
  const covers = old.querySelectorAll('.spoiler');
  fresh.querySelectorAll('.spoiler').forEach((cover, i) => {
    if (covers[i]?.classList.contains('shown') && covers[i].textContent === cover.textContent) uncover(cover);
  });
}
