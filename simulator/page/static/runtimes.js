// The runtimes: samples to press, and the steps that the programs behind them take.

import { byId, el, icon } from './dom.js';
import { press } from './net.js';
import { copy, toast } from './toast.js';
import { clockWithSeconds } from './time.js';

const SHOWN = 80; // entries

/** Draws the samples. after() is called when one was pressed. */
export function drawSamples(samples, after) {
  byId('samples').replaceChildren(...samples.map((s) => el('li', {}, el('button', {
    type: 'button', class: 'sample', data: { name: s.name }, onpointerenter: () => explain(s), onfocus: () => explain(s),
    onclick: async (e) => {
      const button = e.currentTarget;
      button.setAttribute('aria-busy', 'true');
      try {
        await press(s.name);
        after();
      } catch (error) {
        toast(error.message, true);
      } finally {
        button.removeAttribute('aria-busy');
      }
    },
  }, el('b', {}, s.title), el('small', {}, s.hint)))));
}

/** Draws all entries, the newest first. */
export function drawEntries(entries) {
  byId('entries').replaceChildren(...entries.slice(-SHOWN).reverse().map(entry));
  byId('entries-none').hidden = entries.length > 0;
  byId('start').hidden = entries.length > 0; // whoever has pressed one knows where they are
}

/** Says what a sample shows, where the list has no room for it. */
function explain(sample) {
  byId('hint').textContent = sample.hint;
}

/** Adds one. */
export function addEntry(e) {
  const list = byId('entries');
  const node = entry(e);
  node.classList.add('arriving');
  list.prepend(node);
  if (list.children.length > SHOWN) list.lastChild.remove();
  byId('entries-none').hidden = true;
  byId('start').hidden = true;
}

function entry(e) {
  const decision = e.step === 'answered' ? e.data?.decision ?? '' : '';
  return el('li', { class: 'entry', data: { step: e.step, decision, id: e.approval_id ?? '' } },
    el('div', { class: 'entry-head' },
      el('span', { class: 'step' }, decision || e.step),
      el('span', { class: 'entry-id' }, e.approval_id ?? e.sample),
      el('time', { datetime: e.at }, clockWithSeconds(e.at))),
    el('p', {}, e.note),
    el('div', { class: 'entry-more' }, e.data && el('details', { open: e.step === 'answered' || e.step === 'undo' },
      el('summary', {}, e.step === 'answered' ? 'The answer event' : 'The event'),
      el('pre', { tabindex: '0' }, el('code', {}, ...pretty(e.data)))),
    e.command && el('details', {},
      el('summary', {}, 'In a shell'),
      el('div', { class: 'shell' },
        el('pre', { tabindex: '0' }, el('code', {}, e.command)),
        el('button', { type: 'button', class: 'icon-button', title: 'Copy', 'aria-label': 'Copy the command', onclick: () => copy(e.command) }, icon('copy'))))));
}

/** JSON in colours. Every piece is text. */
function pretty(data) {
  const text = JSON.stringify(data, null, 2);
  const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  const out = [];
  let at = 0;
  for (const m of text.matchAll(token)) {
    out.push(text.slice(at, m.index));
    let kind = 'json-word';
    if (m[1]) kind = m[2] ? 'json-key' : 'json-text';
    out.push(el('span', { class: kind }, m[1] ?? m[0]), m[2] ?? '');
    at = m.index + m[0].length;
  }
  out.push(text.slice(at));
  return out;
}
