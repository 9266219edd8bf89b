// The faults: troubles to press, how everything fares, and what happened. The server
// says how things are; nothing here remembers anything but what is open.

import { byId, el } from './dom.js';
import { setFault } from './net.js';
import { goTo, shell, whileBusy } from './runtimes.js';
import { clockWithSeconds } from './time.js';

const SHOWN = 12; // happenings

const rows = new Map(); // of the faults, by name: they stay, so that the focus does

/** Draws how everything is. */
export function drawBoard(board) {
  byId('faults').hidden = board.faults.length === 0;
  byId('way-faults').hidden = board.faults.length === 0;
  byId('parts').replaceChildren(...board.parts.map((p) => el('span', { class: 'part', data: { ok: p.ok } },
    el('b', {}, p.name), ' ', p.state, ...countdown(p.until))));
  for (const f of board.faults) drawFault(f);
  const waits = waiting(board.behind);
  byId('behind').textContent = waits;
  byId('behind').hidden = !waits;
  byId('happenings').replaceChildren(...board.log.slice(-SHOWN).reverse().map((h) => el('li', {},
    el('time', { datetime: h.at }, clockWithSeconds(h.at)), el('span', {}, h.text))));
  byId('happenings-none').hidden = board.log.length > 0;
  drawTrouble(board, waits);
  tick();
}

function drawFault(f) {
  if (!rows.has(f.name)) rows.set(f.name, newRow(f.name));
  const { button, note } = rows.get(f.name);
  const stuck = f.on && !f.ending; // it ends by itself
  button.replaceChildren(f.on && f.ending ? f.ending : f.title, ...countdown(f.until));
  button.classList.toggle('on', f.on);
  button.setAttribute('aria-disabled', String(stuck));
  button.onclick = () => {
    if (!stuck) whileBusy(button, () => setFault(f.name, f.on));
  };
  note.replaceChildren(el('p', {}, f.hint), ...(f.command ? [shell(f.command)] : []));
}

function newRow(name) {
  const note = el('div', { class: 'fault-note', id: `fault-${name}` });
  const button = el('button', { type: 'button', class: 'fault', data: { name }, 'aria-describedby': note.id });
  byId('fault-list').append(el('li', {}, button, note));
  return { button, note };
}

/** Says what waits for the bot, in a sentence; nothing if nothing does. */
function waiting(behind) {
  if (behind.length === 0) return '';
  const parts = behind.map((b) => `${b.count} ${b.what}`);
  const last = parts.pop();
  const verb = behind.length === 1 && behind[0].count === 1 ? 'waits' : 'wait';
  return `${parts.length ? `${parts.join(', ')} and ${last}` : last} ${verb} for the bot.`;
}

/** Says in the conversation what is amiss, where the panel is out of sight. */
function drawTrouble(board, waits) {
  const amiss = board.parts.filter((p) => !p.ok);
  byId('trouble').hidden = amiss.length === 0 && !waits;
  const text = [amiss.map((p) => `${p.name}: ${p.state}`).join(' · '), waits].filter(Boolean).join('. ');
  if (byId('trouble-text').textContent !== text) byId('trouble-text').textContent = text;
  byId('trouble-left').replaceChildren(...amiss.flatMap((p) => countdown(p.until)));
}

/** A place for the seconds that are left, which ticks. */
function countdown(until) {
  return until ? [el('span', { class: 'left', data: { until: Date.parse(until) } })] : [];
}

function tick() {
  for (const node of document.querySelectorAll('.left[data-until]')) {
    const seconds = Math.max(0, Math.ceil((Number(node.dataset.until) - Date.now()) / 1000));
    const text = ` ${seconds} s`;
    if (node.textContent !== text) node.textContent = text;
  }
}

/** Lets the countdowns tick, and the strip lead to the faults. open() shows the panel. */
export function setUpFaults(open) {
  setInterval(tick, 250);
  byId('trouble-show').addEventListener('click', () => {
    open();
    goTo(byId('faults'));
  });
}
