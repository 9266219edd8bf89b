// The commands of the bot, offered where one is begun with a slash, or by the button
// before the typing box.

import { announce, byId, el } from './dom.js';

/** For a bot that has set none. */
const USUAL = [
  { command: 'pending', description: 'What is open' },
  { command: 'show', description: 'Post a card again: /show K7QF2' },
  { command: 'approve', description: 'Approve by reference: /approve K7QF2' },
  { command: 'reject', description: 'Reject by reference: /reject K7QF2' },
  { command: 'help', description: 'How to answer' },
  { command: 'start', description: 'Who you are here' },
];

/** A command whose description shows it with something behind it waits for that. */
const takesMore = (c) => c.description.includes(`/${c.command} `);

export class Hints {
  #store;
  #draft = byId('draft');
  #list = byId('hints');
  #pick;
  #commands = [];
  #at = 0; // which is chosen

  /** pick(text, whole) gets the command; whole says that it can be sent as it is. */
  constructor(store, pick) {
    this.#store = store;
    this.#pick = pick;
    const button = byId('commands');
    button.addEventListener('click', () => {
      if (this.open) this.hide();
      else this.#show(this.#all());
      this.#draft.focus();
    });
    document.addEventListener('pointerdown', (e) => {
      if (this.open && !byId('composer').contains(e.target)) this.hide();
    });
  }

  get open() {
    return !this.#list.hidden;
  }

  /** Offers what fits the text of the box. */
  update() {
    const begun = /^\/(\w*)$/.exec(this.#draft.value);
    const fitting = begun ? this.#all().filter((c) => c.command.startsWith(begun[1].toLowerCase())) : [];
    if (fitting.length) this.#show(fitting);
    else this.hide();
  }

  /** Takes a key of the box, and reports whether it was meant for the list. */
  key(e) {
    if (!this.open || e.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) this.#choose((this.#at + step + this.#commands.length) % this.#commands.length);
    else if (e.key === 'Enter' && !e.shiftKey) this.#take(this.#commands[this.#at], true);
    else if (e.key === 'Tab' && !e.shiftKey) this.#take(this.#commands[this.#at], false);
    else if (e.key === 'Escape') this.hide();
    else return false;
    e.preventDefault();
    e.stopPropagation();
    return true;
  }

  hide() {
    this.#list.hidden = true;
    this.#draft.removeAttribute('aria-activedescendant');
    byId('commands').setAttribute('aria-expanded', 'false');
  }

  #all() {
    const own = this.#store.current()?.commands ?? [];
    return own.length ? own : USUAL;
  }

  #show(commands) {
    const fresh = !this.open || commands.length !== this.#commands.length;
    this.#commands = commands;
    this.#list.replaceChildren(...commands.map((c, i) => el('li', {
      role: 'option', id: `hint-${i}`, class: 'command-hint', 'aria-selected': 'false',
      onpointermove: () => this.#choose(i), onclick: () => this.#take(c, true),
    }, el('b', {}, `/${c.command}`), el('span', {}, c.description))));
    this.#list.hidden = false;
    byId('commands').setAttribute('aria-expanded', 'true');
    this.#choose(0);
    if (fresh) announce(`${commands.length} ${commands.length === 1 ? 'command' : 'commands'}, choose with the arrows`);
  }

  #choose(at) {
    this.#at = at;
    [...this.#list.children].forEach((item, i) => item.setAttribute('aria-selected', String(i === at)));
    this.#list.children[at].scrollIntoView({ block: 'nearest' });
    this.#draft.setAttribute('aria-activedescendant', `hint-${at}`);
  }

  #take(c, send) {
    this.hide();
    this.#pick(`/${c.command}`, send && !takesMore(c));
  }
}
