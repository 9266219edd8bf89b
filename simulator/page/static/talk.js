// The open conversation: its messages, kept in order as they come and change.

import { announce, byId, el, fillAvatar } from './dom.js';
import { bubble } from './bubble.js';
import { keepFocus } from './keyboard.js';
import { chatName, summary } from './store.js';
import { keepExpanded } from './text.js';
import { dayName } from './time.js';

const NEAR = 120; // px from the end that still count as being there
const TOGETHER = 600; // s within which messages of one sender stand together

export class Talk {
  #store;
  #on; // handlers of bubbles
  #log = byId('log');
  #scroll = byId('scroll');
  #unseen = 0; // messages that came while the end was out of sight

  constructor(store, on) {
    this.#store = store;
    this.#on = on;
    this.#scroll.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    byId('to-end').addEventListener('click', () => this.toEnd(true));
    new ResizeObserver(() => this.#stuck && this.toEnd()).observe(this.#scroll);
  }

  // The end stays in sight, whatever comes or changes its size, until the person scrolls
  // up. While the view glides down it may be far from the end without having left it.
  #stuck = true;
  #top = 0; // where the view was last

  /** Draws the open chat from the beginning. */
  draw() {
    const view = this.#store.current();
    byId('blank').hidden = Boolean(view);
    this.#log.setAttribute('aria-live', 'off'); // old messages are no news
    this.#log.replaceChildren();
    if (view) {
      const { chat, thread } = this.#store.open;
      for (const m of this.#store.messages(chat, thread)) this.#log.append(this.#make(m));
      this.#arrange();
    }
    this.toEnd();
    requestAnimationFrame(() => this.#log.setAttribute('aria-live', 'polite'));
  }

  /** Draws the name above the conversation. */
  drawHead(typing = '') {
    const view = this.#store.current();
    byId('composer').hidden = !view;
    byId('talk-avatar').hidden = !view;
    byId('talk-title').textContent = view ? chatName(view, this.#store.bot) : 'Countersign';
    const subtitle = byId('talk-subtitle');
    subtitle.textContent = typing || (view ? this.#describe(view) : 'Choose a chat');
    subtitle.classList.toggle('typing', Boolean(typing));
    if (view) fillAvatar(byId('talk-avatar'), view.chat.id, chatName(view, this.#store.bot), view.chat.type === 'private');
  }

  #describe(view) {
    if (view.chat.type === 'private') return `bot · you are ${this.#store.viewer.first_name}`;
    return `${this.#store.people.map((p) => p.name).join(', ')} and the bot`;
  }

  /** Takes a new or changed message of the open chat. */
  put(m, known) {
    const stick = this.#stuck || (!known && m.from?.id === this.#store.viewer.id);
    const old = this.#find(m.message_id);
    const fresh = this.#make(m);
    if (old) {
      const focus = keepFocus(old, fresh);
      keepExpanded(old, fresh);
      fresh.setAttribute('aria-live', 'off'); // said in short instead
      old.replaceWith(fresh);
      focus?.();
      announce(`Changed: ${summary(m)}`);
    } else {
      const next = [...this.#log.querySelectorAll(':scope > li[data-id]')].find((li) => Number(li.dataset.id) > m.message_id);
      this.#log.insertBefore(fresh, next ?? null);
      if (!known) fresh.classList.add('arriving');
    }
    this.#arrange();
    if (stick) this.toEnd(!old);
    else if (!old) this.#count();
  }

  drop(id) {
    this.#find(id)?.remove();
    this.#arrange();
  }

  /** Goes to a message and lets it light up. It reports whether it is there. */
  jump(id) {
    const item = this.#find(id);
    if (!item) return false;
    item.scrollIntoView({ block: 'center', behavior: motion() });
    item.focus({ preventScroll: true });
    item.classList.remove('lit');
    requestAnimationFrame(() => item.classList.add('lit'));
    return true;
  }

  /** Shows for a moment that somebody else tapped a button of a message. */
  tapped(id, name) {
    const column = this.#find(id)?.querySelector('.column');
    if (!column) return;
    const note = el('span', { class: 'tapped' }, `${name} tapped`);
    column.append(note);
    setTimeout(() => note.remove(), 1800);
  }

  toEnd(smooth = false) {
    this.#scroll.scrollTo({ top: this.#scroll.scrollHeight, behavior: smooth ? motion() : 'instant' });
    this.#stuck = true;
    this.#seen();
  }

  #find(id) {
    return this.#log.querySelector(`:scope > li[data-id="${Number(id)}"]`);
  }

  #make(m) {
    const view = this.#store.current();
    return bubble(m, { viewer: this.#store.viewer, bot: this.#store.bot, group: view.chat.type !== 'private' }, this.#on);
  }

  /** Puts lines between days, and joins the messages of one sender. */
  #arrange() {
    this.#log.querySelectorAll(':scope > .day').forEach((d) => d.remove());
    let day = '';
    let last = null;
    for (const item of [...this.#log.children]) {
      const name = item.dataset.date ? dayName(Number(item.dataset.date)) : day;
      const newDay = name !== day;
      if (newDay) this.#log.insertBefore(el('li', { class: 'day' }, el('span', {}, name)), item);
      day = name;
      const joined = !newDay && last && last.dataset.from && last.dataset.from === item.dataset.from
        && item.dataset.date - last.dataset.date < TOGETHER;
      item.classList.toggle('first', !joined);
      item.classList.add('last');
      if (joined) last.classList.remove('last');
      last = item;
    }
  }

  #scrolled() {
    const s = this.#scroll;
    const near = s.scrollHeight - s.scrollTop - s.clientHeight < NEAR;
    if (near) this.#stuck = true;
    else if (s.scrollTop < this.#top) this.#stuck = false;
    this.#top = s.scrollTop;
    if (this.#stuck) this.#seen();
    else byId('to-end').hidden = false;
  }

  #count() {
    this.#unseen += 1;
    byId('to-end-count').textContent = String(this.#unseen);
  }

  #seen() {
    this.#unseen = 0;
    byId('to-end').hidden = true;
    byId('to-end-count').textContent = '';
  }
}

function motion() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
}
