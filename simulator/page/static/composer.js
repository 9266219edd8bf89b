// The typing box, the message that is being replied to, and the draft of each place.

import { byId } from './dom.js';
import { Hints } from './hints.js';
import { focusNewest } from './messagekeys.js';
import { send } from './net.js';
import { summary } from './store.js';
import { toast } from './toast.js';

const HIGHEST = 160; // px

export class Composer {
  #store;
  #drafts;
  #hints;
  #repliable; // returns the ids of messages that can be replied to, oldest first
  #replyTo = null;
  #draft = byId('draft');

  constructor(store, drafts, repliable) {
    this.#store = store;
    this.#drafts = drafts;
    this.#repliable = repliable;
    this.#hints = new Hints(store, (text, whole) => this.#command(text, whole));
    byId('composer').addEventListener('submit', (e) => {
      e.preventDefault();
      this.#submit();
    });
    this.#draft.addEventListener('keydown', (e) => this.#key(e));
    this.#draft.addEventListener('input', () => {
      this.#fit();
      this.#hints.update();
      this.#keep();
    });
    byId('reply-cancel').addEventListener('click', () => {
      this.reply(null);
      this.#draft.focus();
    });
  }

  /** Shows the draft of the place that is now open. */
  open() {
    const { text, replyTo } = this.#drafts.get();
    this.#draft.value = text;
    this.#hints.hide();
    this.#fit();
    this.#show(this.#store.message(this.#store.open.chat, replyTo) ?? null);
  }

  /** Chooses the message to reply to, or none. */
  reply(m) {
    if (!m && !this.#replyTo) return;
    this.#show(m);
    this.#keep();
    if (m) this.#draft.focus();
  }

  /** Forgets a message that is gone. */
  drop(id) {
    if (this.#replyTo?.message_id === id) this.reply(null);
  }

  /** Sends a text as it is, without the box, and reports whether that worked. */
  async say(text, replyTo = 0) {
    const { chat, thread } = this.#store.open;
    try {
      await send(this.#store.viewer.id, chat, text, thread, replyTo);
      return true;
    } catch (error) {
      toast(error.message, true);
      return false;
    }
  }

  #show(m) {
    this.#replyTo = m;
    byId('replying').hidden = !m;
    byId('replying-name').textContent = m ? `Reply to ${m.from?.first_name ?? 'a message'}` : '';
    byId('replying-text').textContent = m ? summary(m) : '';
  }

  #keep() {
    this.#drafts.set({ text: this.#draft.value, replyTo: this.#replyTo?.message_id ?? 0 });
    this.#store.dispatchEvent(new Event('draft'));
  }

  #key(e) {
    if (this.#hints.key(e)) return;
    const up = e.key === 'ArrowUp';
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      this.#submit();
    } else if (e.key === 'Escape' && this.#replyTo) {
      e.stopPropagation(); // it takes back one thing at a time
      this.reply(null);
    } else if ((e.ctrlKey || e.metaKey) && (up || e.key === 'ArrowDown')) {
      e.preventDefault();
      this.#replyToNext(up ? -1 : 1);
    } else if (up && !this.#draft.value) {
      e.preventDefault();
      focusNewest(byId('log'));
    }
  }

  /** Goes from one message to the next older or newer, beyond the newest to none. */
  #replyToNext(step) {
    const ids = this.#repliable();
    const at = this.#replyTo ? ids.indexOf(this.#replyTo.message_id) : ids.length;
    const id = ids[Math.max(0, at + step)];
    this.reply(id ? this.#store.message(this.#store.open.chat, id) : null);
  }

  #command(text, whole) {
    if (whole) {
      this.#set('');
      this.say(text);
    } else {
      this.#set(`${text} `);
      this.#draft.focus();
    }
  }

  #set(text) {
    this.#draft.value = text;
    this.#fit();
    this.#keep();
  }

  async #submit() {
    const text = this.#draft.value;
    if (!text.trim()) return;
    const where = this.#drafts.here();
    const replyTo = this.#replyTo?.message_id ?? 0;
    this.#hints.hide();
    this.#show(null);
    this.#set('');
    if (await this.say(text, replyTo) || this.#drafts.get(where).text) return;
    this.#drafts.set({ text, replyTo }, where); // not lost
    if (JSON.stringify(where) === JSON.stringify(this.#drafts.here())) this.open();
  }

  /** Lets the box grow with its text. */
  #fit() {
    this.#draft.style.height = 'auto';
    if (this.#draft.value) this.#draft.style.height = `${Math.min(this.#draft.scrollHeight + 2, HIGHEST)}px`;
  }
}
