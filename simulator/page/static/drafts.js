// What was begun and not sent: one draft for each person and place, so that no text
// follows its writer into another chat, or stays behind for another person.

import { keep, keptName, recall } from './kept.js';

const NONE = { text: '', replyTo: 0 };

export class Drafts {
  #store;
  #name = '';
  #all = {}; // by place

  constructor(store) {
    this.#store = store;
  }

  /** Where the viewer is now; a draft belongs to it. */
  here() {
    const { viewer, open } = this.#store;
    return { person: viewer?.id ?? 0, chat: open.chat, thread: open.thread };
  }

  get(where = this.here()) {
    return this.#of(where.person)[`${where.chat}/${where.thread}`] ?? NONE;
  }

  /** Sets the text and the message replied to; without both there is no draft. */
  set(draft, where = this.here()) {
    const all = this.#of(where.person);
    const place = `${where.chat}/${where.thread}`;
    if (draft.text || draft.replyTo) all[place] = draft;
    else delete all[place];
    keep(this.#name, all);
  }

  /** The text begun in a chat, in any of its topics. */
  textIn(chat) {
    const all = this.#of(this.#store.viewer.id);
    const place = Object.keys(all).find((p) => p.startsWith(`${chat}/`) && all[p].text.trim());
    return place ? all[place].text.trim() : '';
  }

  #of(person) {
    const name = keptName('draft', this.#store.epoch, person);
    if (name !== this.#name) {
      this.#name = name;
      this.#all = recall(name);
    }
    return this.#all;
  }
}
