// Inline keyboards: rows of buttons under a message. A button that was tapped glows
// until the bot answers.

import { el, icon } from './dom.js';

/** Makes the keyboard of a message. on.tap(message, button, element) taps a button. */
export function keyboard(m, on) {
  return el('div', { class: 'keyboard', role: 'group', 'aria-label': 'Buttons of this message' },
    ...m.reply_markup.inline_keyboard.map((row) => el('div', { class: 'keyboard-row' },
      ...row.map((b) => button(m, b, on)))));
}

function button(m, b, on) {
  const style = b.style ? `key ${b.style}` : 'key';
  if (b.url) {
    return el('a', {
      class: style, href: /^https?:/i.test(b.url) ? b.url : undefined, target: '_blank', rel: 'noopener noreferrer',
      title: b.url, onclick: (e) => on.link(e, b.url),
    }, el('span', {}, b.text), icon('out'));
  }
  if (b.copy_text) {
    return el('button', { type: 'button', class: style, onclick: () => on.copy(b.copy_text.text) }, el('span', {}, b.text), icon('copy'));
  }
  const key = el('button', { type: 'button', class: style, data: { data: b.callback_data ?? '' } }, el('span', {}, b.text));
  key.addEventListener('click', () => on.tap(m, b, key));
  return key;
}

/** Lets the button with this data light up, and returns its text, or nothing. */
export function flash(item, data) {
  const key = [...item.querySelectorAll('.key[data-data]')].find((k) => k.dataset.data === data);
  if (!key) return '';
  key.classList.remove('flash');
  requestAnimationFrame(() => key.classList.add('flash'));
  return key.textContent;
}

/**
 * After a message was drawn anew: where the focus was on a button, it moves to the
 * button in the same place, or to the message.
 */
export function keepFocus(old, fresh) {
  if (!old.contains(document.activeElement)) return;
  const row = document.activeElement.closest('.keyboard-row');
  const place = row && [[...row.parentNode.children].indexOf(row), [...row.children].indexOf(document.activeElement)];
  return () => {
    const key = place && fresh.querySelector('.keyboard')?.children[place[0]]?.children[place[1]];
    (key || fresh).focus({ preventScroll: true });
  };
}

/** The taps that wait for their answers. */
export class Taps {
  #waiting = new Map(); // by id of the callback query: the button
  #early = new Map(); // answers that came before the id was known

  /** Notes that a button was tapped and its answer comes under this id. */
  begin(callback, key) {
    const answer = this.#early.get(callback);
    this.#early.delete(callback);
    if (answer) {
      this.#settle(key);
      return answer;
    }
    this.#waiting.set(callback, key);
    setTimeout(() => this.#waiting.delete(callback) && this.#settle(key), 20000);
    return null;
  }

  /** Takes an answer. It returns it if it is to a tap in this window, else null. */
  answered(answer) {
    const key = this.#waiting.get(answer.callback);
    if (!this.#waiting.delete(answer.callback)) {
      this.#early.set(answer.callback, answer);
      setTimeout(() => this.#early.delete(answer.callback), 5000);
      return null;
    }
    this.#settle(key);
    return answer;
  }

  #settle(key) {
    key.classList.remove('busy');
    key.removeAttribute('aria-busy');
  }
}
