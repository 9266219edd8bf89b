// Where the view of a conversation stands. The end stays in sight, whatever comes or
// changes its size, until the person scrolls up; then what they look at stays where it
// is. Each place is found again as it was left, or at the first message not read.

import { byId } from './dom.js';

const NEAR = 120; // px from the end that still count as being there
const BELOW_EDGE = 64; // px from the upper edge at which the first unread message stands
const HELD = 1200; // ms for which buttons stay under the finger that tapped one of them
const BEGUN = 32; // px of a message in sight from which it counts as seen

export class View {
  #scroll = byId('scroll');
  #log = byId('log');
  #onSeen;
  #place = '';
  #anchors = new Map(); // by place: {id, offset} of the message at the upper edge; none: at the end
  #stuck = true;
  #top = 0; // where the view was last
  #held = 0; // the timer that ends a hold

  /** onSeen(id) is told the newest message in sight. */
  constructor(onSeen) {
    this.#onSeen = onSeen;
    let frame = 0;
    this.#scroll.addEventListener('scroll', () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => this.#scrolled());
    }, { passive: true });
    byId('to-end').addEventListener('click', () => this.toEnd(true));
    new ResizeObserver(() => this.#restore()).observe(this.#scroll);
  }

  get atEnd() {
    return this.#stuck;
  }

  /** Shows a place whose messages have just been drawn. */
  open(place, firstUnread) {
    this.#release();
    this.#place = place;
    if (firstUnread && !this.#anchors.has(place)) this.#anchors.set(place, { id: firstUnread, offset: BELOW_EDGE });
    this.#stuck = !this.#anchors.has(place);
    this.#restore();
  }

  toEnd(smooth = false) {
    this.#stuck = true; // while the view glides down it may be far from the end without having left it
    this.#anchors.delete(this.#place);
    byId('to-end').hidden = true;
    this.#scroll.scrollTo({ top: this.#scroll.scrollHeight, behavior: smooth ? motion() : 'instant' });
    this.look();
  }

  /**
   * Leaves the buttons of a message that changed at the height where they were, so that
   * a second tap finds what the first one left there; then goes on to the end, if follow.
   */
  hold(keys, top, follow) {
    this.#release();
    this.#scroll.scrollTop += keys.getBoundingClientRect().top - top;
    const above = top - keys.getBoundingClientRect().top;
    if (above > 0) { // there is nothing to scroll, and what there is stands at the lower edge
      const room = parseFloat(getComputedStyle(this.#log, '::before').height);
      this.#log.style.setProperty('--held', `${room + above}px`);
    }
    this.#top = this.#scroll.scrollTop; // nobody scrolled
    this.#held = setTimeout(() => {
      this.#release();
      if (follow && this.#stuck) this.toEnd(true);
    }, HELD);
    this.look();
  }

  #release() {
    clearTimeout(this.#held);
    this.#log.style.removeProperty('--held');
  }

  /** Brings a message to the middle. */
  show(item) {
    this.#stuck = false;
    item.scrollIntoView({ block: 'center', behavior: motion() });
  }

  /** Finds out what is in sight. */
  look() {
    if (!this.#scroll.clientHeight) return; // out of sight as a whole
    const items = [...this.#log.querySelectorAll(':scope > [data-id]')];
    const edge = this.#scroll.getBoundingClientRect().bottom - BEGUN;
    const seen = this.#stuck ? items.at(-1) : items.findLast((item) => item.getBoundingClientRect().top < edge);
    if (seen) this.#onSeen(Number(seen.dataset.id));
  }

  #restore() {
    if (!this.#scroll.clientHeight) return;
    const anchor = this.#anchors.get(this.#place);
    const item = anchor && this.#log.querySelector(`:scope > [data-id="${anchor.id}"]`);
    if (this.#stuck || !item) {
      this.toEnd();
      return;
    }
    this.#scroll.scrollTop += this.#distance(item) - anchor.offset;
    this.#scrolled();
  }

  /** How far below the upper edge an item begins. */
  #distance(item) {
    return item.getBoundingClientRect().top - this.#scroll.getBoundingClientRect().top;
  }

  #scrolled() {
    const s = this.#scroll;
    if (!s.clientHeight) return;
    if (s.scrollHeight - s.scrollTop - s.clientHeight < NEAR) this.#stuck = true;
    else if (s.scrollTop < this.#top) this.#stuck = false;
    this.#top = s.scrollTop;
    byId('to-end').hidden = this.#stuck;
    if (this.#stuck) {
      this.#anchors.delete(this.#place);
    } else {
      const first = [...this.#log.querySelectorAll(':scope > [data-id]')].find((item) => this.#distance(item) + item.offsetHeight > 0);
      if (first) this.#anchors.set(this.#place, { id: Number(first.dataset.id), offset: this.#distance(first) });
    }
    this.look();
  }
}

/** How to move: not at all for those who asked for that. */
function motion() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
}
