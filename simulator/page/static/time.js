// Times, as each reader has them: dates of messages, and the entities that stand for a
// moment, of which the relative ones tick.

import { el } from './dom.js';

const formats = {
  clock: new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' }),
  seconds: new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' }),
  full: new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long' }),
  dayOfYear: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' }),
};
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

export const clock = (unix) => formats.clock.format(unix * 1000);
export const clockWithSeconds = (iso) => formats.seconds.format(new Date(iso));
export const full = (unix) => formats.full.format(unix * 1000);

/** The day of a message, as a line between days names it. */
export function dayName(unix) {
  const date = new Date(unix * 1000);
  const today = new Date();
  if (date.toDateString() === today.toDateString()) return 'Today';
  today.setDate(today.getDate() - 1);
  if (date.toDateString() === today.toDateString()) return 'Yesterday';
  return (date.getFullYear() === new Date().getFullYear() ? formats.day : formats.dayOfYear).format(date);
}

const UNITS = [['year', 31536000], ['month', 2592000], ['week', 604800], ['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];

/** How far a moment is from now, in its largest unit: in 59 minutes, 20 seconds ago. */
export function fromNow(unix, now = Date.now() / 1000) {
  const seconds = Math.round(unix - now);
  const [unit, size] = UNITS.find(([, s]) => Math.abs(seconds) >= s) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** Reads the letters of a format: r relative, or w weekday, d or D date, t or T time. */
function write(unix, format) {
  if (format === 'r') return fromNow(unix);
  const options = {};
  if (format.includes('w')) options.weekday = 'long';
  if (/d/i.test(format)) {
    Object.assign(options, { day: 'numeric', month: format.includes('D') ? 'long' : '2-digit', year: 'numeric' });
  }
  if (/t/i.test(format)) {
    Object.assign(options, { hour: '2-digit', minute: '2-digit' });
    if (format.includes('T')) options.second = '2-digit';
  }
  return new Intl.DateTimeFormat(undefined, options).format(unix * 1000);
}

/** Makes the element of a date_time entity. Without a format its text stays. */
export function timeElement(entity, plain) {
  const { unix_time: unix, date_time_format: format = '' } = entity;
  return el('time', {
    datetime: new Date(unix * 1000).toISOString(),
    title: full(unix),
    data: format === 'r' ? { ticks: unix } : {},
  }, format ? write(unix, format) : plain);
}

/** Lets the relative times tick. */
export function startTicking() {
  setInterval(() => {
    for (const node of document.querySelectorAll('time[data-ticks]')) {
      const text = fromNow(Number(node.dataset.ticks));
      if (node.textContent !== text) node.textContent = text;
    }
  }, 1000);
}
