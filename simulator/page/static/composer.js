// The typing box, and the message that is being replied to.

import { byId } from './dom.js';
import { send } from './net.js';
import { summary } from './store.js';
import { toast } from './toast.js';

export class Composer {
  #store;
  #replyTo = null;
  #draft = byId('draft');

  constructor(store) {
    this.#store = store;
    byId('composer').addEventListener('submit', (e) => {
      e.preventDefault();
      this.#submit();
    });
    this.#draft.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
        e.preventDefault();
        this.#submit();
      } else if (e.key === 'Escape') {
        this.reply(null);
      }
    });
    this.#draft.addEventListener('input', () => this.#fit());
    byId('reply-cancel').addEventListener('click', () => {
      this.reply(null);
      this.#draft.focus();
    });
  }

  /** Chooses the message to reply to, or none. */
  reply(m) {
    this.#replyTo = m;
    byId('replying').hidden = !m;
    if (!m) return;
    byId('replying-name').textContent = m.from?.first_name ?? '';
    byId('replying-text').textContent = summary(m);
    this.#draft.focus();
  }

  /** Sends a text as it is, without the box. */
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

  async #submit() {
    const text = this.#draft.value;
    if (!text.trim()) return;
    const replyTo = this.#replyTo?.message_id ?? 0;
    this.#draft.value = '';
    this.#fit();
    this.reply(null);
    if (!await this.say(text, replyTo) && !this.#draft.value) this.#draft.value = text; // not lost
  }

  /** Lets the box grow with its text. */
  #fit() {
    this.#draft.style.height = 'auto';
    this.#draft.style.height = `${Math.min(this.#draft.scrollHeight, 160)}px`;
  }
}
