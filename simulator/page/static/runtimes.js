// The runtimes: samples to press, and the steps that the programs behind them take, one
// run for each approval.

import { announce, byId, el, icon } from './dom.js';
import { press } from './net.js';
import { clockWithSeconds } from './time.js';

const SHOWN = 40; // runs

/** What a step is called, and what the runtime is up to once it has been taken. */
const STEPS = {
  published: { title: () => 'It asks', chip: 'asks' },
  waiting: { title: () => 'It waits', chip: 'waits', next: ['The answer', 'The claim', 'The report'] },
  answered: { title: (e) => `The answer arrives: ${e.data?.decision ?? 'unknown'}`, chip: 'answered' },
  claimed: { title: () => 'It claims the call', chip: 'runs the call', next: ['The report'] },
  reported: { title: (e) => `It reports: ${e.data?.outcome ?? 'done'}`, chip: 'reported' },
  undo: { title: () => 'It is asked to undo', chip: 'undoes it', next: ['The report'] },
  failed: { title: () => 'It gives up', chip: 'gave up' },
};
const SPOKEN = ['answered', 'reported', 'undo', 'failed']; // to those who listen

/** The runs that are drawn, by approval; and which of them the user has opened or closed. */
const runs = new Map();
const chosen = new Map();

/** Draws the samples. after() is called when one was pressed. */
export function drawSamples(samples, after) {
  byId('samples').replaceChildren(...samples.map((s) => el('li', {}, el('button', {
    type: 'button', class: 'sample', data: { name: s.name }, onpointerenter: () => explain(s), onfocus: () => explain(s),
    onclick: (e) => whileBusy(e.currentTarget, async () => {
      await press(s.name);
      after();
    }),
  }, el('b', {}, s.title), el('small', {}, s.hint)))));
}

/** Lets a button do something, and says in the panel what went wrong. */
export async function whileBusy(button, act) {
  const said = byId('panel-error');
  said.hidden = true;
  button.setAttribute('aria-busy', 'true');
  try {
    await act();
  } catch (error) {
    said.textContent = sentence(error.message);
    said.hidden = false;
  } finally {
    button.removeAttribute('aria-busy');
  }
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

/** Says what a sample shows, where the list has no room for it. */
function explain(sample) {
  byId('hint').textContent = sample.hint;
}

/** Lets the buttons at the head of the panel lead to its parts. */
export function setUpRuntimes() {
  for (const way of document.querySelectorAll('.panel-ways button')) way.addEventListener('click', () => goTo(byId(way.dataset.to)));
}

/** Goes to a part of the panel, and opens it if it can be opened. */
export function goTo(part) {
  if ('open' in part) part.open = true;
  part.scrollIntoView({ block: 'start', behavior: 'smooth' });
  (part.querySelector('summary') ?? part).focus({ preventScroll: true });
}

/** Draws all entries, the newest run first. */
export function drawEntries(entries) {
  runs.clear();
  byId('entries').replaceChildren();
  for (const e of entries) take(e);
  settle();
}

/** Adds one. */
export function addEntry(e) {
  const step = take(e);
  step.classList.add('arriving');
  settle();
  if (SPOKEN.includes(e.step)) announce(`${e.sample}: ${STEPS[e.step].title(e)}`);
}

/** Puts an entry into its run, and makes the run if it is the first. */
function take(e) {
  const id = e.approval_id ?? '';
  if (!runs.has(id)) {
    const run = newRun(id, e);
    runs.set(id, run);
    byId('entries').prepend(run.node);
  }
  const run = runs.get(id);
  const step = drawStep(e);
  run.steps.querySelectorAll('.to-come').forEach((n) => n.remove());
  run.steps.append(step, ...toCome(e).map((text) => el('li', { class: 'step to-come' }, el('h4', {}, text))));
  run.chip.textContent = chipOf(e);
  run.node.dataset.tone = toneOf(e);
  run.node.dataset.now = e.step;
  return step;
}

function newRun(id, e) {
  const chip = el('span', { class: 'chip' });
  const steps = el('ol', { class: 'steps' });
  const details = el('details', {},
    el('summary', {},
      el('span', { class: 'run-title' }, e.sample), chip,
      el('span', { class: 'run-id' }, id),
      el('time', { datetime: e.at }, clockWithSeconds(e.at))),
    steps);
  details.addEventListener('click', ({ target }) => { // a choice of the user's, unlike our own opening and closing
    if (target.closest('summary')?.parentElement === details) chosen.set(id, !details.open);
  });
  return { node: el('li', { class: 'run', data: { id } }, details), details, chip, steps };
}

/** Opens the newest run and closes the others, as far as the user has not chosen. */
function settle() {
  const list = byId('entries');
  while (list.children.length > SHOWN) {
    runs.delete(list.lastChild.dataset.id);
    list.lastChild.remove();
  }
  for (const [id, run] of runs) run.details.open = chosen.get(id) ?? run.node === list.firstChild;
  byId('entries-none').hidden = runs.size > 0;
  byId('runs-count').textContent = String(runs.size);
  byId('runs-count').hidden = runs.size === 0;
  byId('start').hidden = runs.size > 0; // whoever has pressed one knows where they are
}

function chipOf(e) {
  if (e.step === 'answered') return e.data?.decision ?? 'answered';
  return e.step === 'reported' ? e.data?.outcome ?? 'reported' : STEPS[e.step].chip;
}

function toneOf(e) {
  const word = chipOf(e);
  if (['approved', 'executed', 'undone', 'runs the call'].includes(word)) return 'good';
  if (['rejected', 'refused', 'failed', 'gave up'].includes(word)) return 'bad';
  if (['lapsed', 'withdrawn', 'partial', 'undoes it'].includes(word)) return 'odd';
  return 'open';
}

/** The steps that are still to come, as far as one can know. */
function toCome(e) {
  if (e.step !== 'answered') return STEPS[e.step].next ?? [];
  return e.data?.decision === 'approved' ? ['The claim', 'The report'] : [];
}

function drawStep(e) {
  const decision = e.step === 'answered' ? e.data?.decision ?? '' : '';
  const ends = decision && decision !== 'approved' ? el('p', { class: 'ends' }, 'It runs nothing.') : null;
  return el('li', { class: 'step entry', data: { step: e.step, decision, id: e.approval_id ?? '', tone: toneOf(e) } },
    el('div', { class: 'step-head' }, el('h4', {}, STEPS[e.step].title(e)), el('time', { datetime: e.at }, clockWithSeconds(e.at))),
    el('p', {}, e.note), ends,
    el('div', { class: 'entry-more' },
      e.data && el('details', { open: e.step === 'answered' },
        el('summary', {}, e.step === 'answered' || e.step === 'undo' ? 'The event it got' : 'The event'),
        el('div', { class: 'shell' }, el('pre', { tabindex: '0' }, el('code', {}, ...pretty(e.data))))),
      e.command && el('details', {},
        el('summary', {}, 'The same by hand'),
        shell(e.command))));
}

/** A command to copy. */
export function shell(command) {
  const button = el('button', {
    type: 'button', class: 'icon-button', title: 'Copy', 'aria-label': 'Copy the command', onclick: () => copyFrom(button, command),
  }, icon('copy'));
  return el('div', { class: 'shell' }, el('pre', { tabindex: '0', class: 'to-copy' }, el('code', {}, command)), button);
}

/** Copies, and says so where the eye is. */
async function copyFrom(button, text) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    done = false;
  }
  announce(done ? 'Copied' : 'The browser does not let the page copy');
  button.replaceChildren(icon(done ? 'check' : 'close'));
  button.classList.toggle('done', done);
  setTimeout(() => {
    button.replaceChildren(icon('copy'));
    button.classList.remove('done');
  }, 1600);
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
