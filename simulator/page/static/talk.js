// The open conversation: its messages, kept in order as they come and change.

import { bubble } from './bubble.js';
import { announce, byId, el, fillAvatar } from './dom.js';
import { flash, keepFocus } from './keyboard.js';
import { followFocus, keepTabStop } from './messagekeys.js';
import { chatName, summary } from './store.js';
import { keepOpened } from './text.js';
import { dayName } from './time.js';
import { View } from './view.js';

const TOGETHER = 600; // s within which messages of one sender stand together
const TAP_SHOWN = 2600; // ms

export class Talk {
  #store;
  #on; // handlers of bubbles
  #log = byId('log');
  #view;
  #taps = new Map(); // by message id: the taps of others shown at it

  /** on has the handlers of bubbles, and on.seen(id), told the newest message in sight. */
  constructor(store, on) {
    this.#store = store;
    this.#on = on;
    this.#view = new View(on.seen);
    followFocus(this.#log, (id) => on.reply(store.message(store.open.chat, id)));
  }

  /** Draws the open chat from the beginning. */
  draw() {
    const view = this.#store.current();
    byId('blank').hidden = Boolean(view);
    this.#log.setAttribute('aria-live', 'off'); // old messages are no news
    this.#log.replaceChildren();
    this.#taps.clear();
    if (view) this.#fill();
    requestAnimationFrame(() => this.#log.setAttribute('aria-live', 'polite'));
  }

  #fill() {
    const { open, viewer } = this.#store;
    const [unread] = this.#store.unread(open.chat, open.thread);
    const messages = this.#store.messages(open.chat, open.thread);
    for (const m of messages) {
      if (m === unread && m !== messages[0]) this.#log.append(el('div', { class: 'unread-line' }, el('span', {}, 'Unread messages')));
      this.#log.append(this.#make(m));
    }
    this.#arrange();
    this.#view.open(`${viewer.id}/${open.chat}/${open.thread}`, unread?.message_id);
  }

  /** Draws the name above the conversation. */
  drawHead(doing = '') {
    const view = this.#store.current();
    byId('composer').hidden = !view;
    byId('talk-avatar').hidden = !view;
    byId('talk-title').textContent = view ? chatName(view, this.#store.bot) : 'Countersign';
    const subtitle = byId('talk-subtitle');
    subtitle.textContent = doing || (view ? this.#describe(view) : 'Choose a chat');
    subtitle.classList.toggle('doing', Boolean(doing));
    if (view) fillAvatar(byId('talk-avatar'), view.chat.id, chatName(view, this.#store.bot), view.chat.type === 'private');
  }

  #describe(view) {
    if (view.chat.type === 'private') return `bot · you are ${this.#store.viewer.first_name}`;
    const others = this.#store.people.filter((p) => p.id !== this.#store.viewer.id).map((p) => p.name);
    return `you (${this.#store.viewer.first_name}), ${others.join(', ')} and the bot`;
  }

  /** Says how many messages below are not read. */
  drawUnread() {
    const { chat, thread } = this.#store.open;
    const count = this.#store.unread(chat, thread).length;
    byId('to-end-count').textContent = count || '';
    byId('to-end').setAttribute('aria-label', count ? `Go to the newest message, ${count} not read` : 'Go to the newest message');
  }

  /** Takes a new or changed message of the open chat. */
  put(m, known) {
    const follow = this.#view.atEnd || (!known && m.from?.id === this.#store.viewer.id);
    const old = this.#find(m.message_id);
    const fresh = this.#make(m);
    const top = old?.querySelector('.keyboard')?.getBoundingClientRect().top;
    const keys = fresh.querySelector('.keyboard');
    if (old) this.#replace(old, fresh, m);
    else this.#insert(fresh, m, known);
    this.#arrange();
    if (top !== undefined && keys) this.#view.hold(keys, top, follow);
    else if (follow) this.#view.toEnd(!old);
    else this.#view.look();
  }

  #replace(old, fresh, m) {
    const focus = keepFocus(old, fresh);
    keepOpened(old, fresh);
    fresh.setAttribute('aria-live', 'off'); // said in short instead
    old.replaceWith(fresh);
    focus?.();
    for (const tap of this.#taps.get(m.message_id) ?? []) this.#showTap(fresh, tap);
    announce(`Changed: ${summary(m)}`);
  }

  #insert(fresh, m, known) {
    const next = [...this.#log.querySelectorAll(':scope > [data-id]')].find((item) => Number(item.dataset.id) > m.message_id);
    this.#log.insertBefore(fresh, next ?? null);
    if (!known) fresh.classList.add('arriving');
  }

  drop(id) {
    this.#find(id)?.remove();
    this.#arrange();
  }

  /** Goes to a message and lets it light up. It reports whether it is there. */
  jump(id) {
    const item = this.#find(id);
    if (!item) return false;
    this.#view.show(item);
    item.focus({ preventScroll: true });
    item.classList.remove('lit');
    requestAnimationFrame(() => item.classList.add('lit'));
    return true;
  }

  /** Shows for a moment who else tapped a button of a message, also on what it becomes. */
  tapped(id, name, data) {
    const item = this.#find(id);
    if (!item) return;
    const tap = { name, data, text: flash(item, data) };
    this.#taps.set(id, [...this.#taps.get(id) ?? [], tap]);
    this.#showTap(item, tap);
    announce(tapWords(tap));
    setTimeout(() => this.#taps.set(id, this.#taps.get(id)?.filter((t) => t !== tap) ?? []), TAP_SHOWN);
  }

  #showTap(item, tap) {
    flash(item, tap.data);
    const note = el('span', { class: 'tapped' }, tapWords(tap));
    item.querySelector('.bubble')?.append(note);
    setTimeout(() => note.remove(), TAP_SHOWN);
  }

  /** Goes to the newest message, and stays there. */
  toEnd() {
    this.#view.toEnd();
  }

  /** Looks again at what is in sight, since the window may have come to the front. */
  look() {
    this.#view.look();
  }

  /** The messages on the page, oldest first. */
  ids() {
    return [...this.#log.querySelectorAll(':scope > .message')].map((item) => Number(item.dataset.id));
  }

  #find(id) {
    return this.#log.querySelector(`:scope > [data-id="${Number(id)}"]`);
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
      if (newDay) this.#log.insertBefore(el('div', { class: 'day' }, el('span', {}, name)), item);
      day = name;
      const joined = !newDay && last && last.dataset.from && last.dataset.from === item.dataset.from
        && item.dataset.date - last.dataset.date < TOGETHER;
      item.classList.toggle('first', !joined);
      item.classList.add('last');
      if (joined) last.classList.remove('last');
      last = item;
    }
    keepTabStop(this.#log);
  }
}

function tapWords({ name, text }) {
  return text ? `${name} tapped “${text}”` : `${name} tapped`;
}
