// Puts the page together: the stream fills the store, the store's events draw.

import { announce, byId } from './dom.js';
import { drawChats } from './chatlist.js';
import { Composer } from './composer.js';
import { Drafts } from './drafts.js';
import { drawBoard, setUpFaults } from './faults.js';
import { Taps } from './keyboard.js';
import { follow, tap } from './net.js';
import { drawPeople } from './people.js';
import { openDocument, setUpReader } from './reader.js';
import { goToChat, goToList, goToRuntimes, readRoute, setPerson } from './route.js';
import { addEntry, drawEntries, drawSamples, setUpRuntimes } from './runtimes.js';
import { chatName, isService, Store, summary } from './store.js';
import { Talk } from './talk.js';
import { startTicking } from './time.js';
import { alertBox, clearNotices, copy, toast } from './toast.js';
import { drawTopics } from './topics.js';

const store = new Store();
const drafts = new Drafts(store);
const taps = new Taps();
const app = byId('app');
const talk = new Talk(store, {
  tap: onTap, reply: (m) => composer.reply(m), jump: onJump, copy, link: onLink, command: (text) => composer.say(text),
  read: (m) => openDocument(store.viewer.id, m), seen: onSeen,
});
const composer = new Composer(store, drafts, () => talk.ids());
let leave = () => {}; // ends the stream
let pendingJump = 0; // a message to go to once its chat is drawn
let connected = true;
let doingTimer;

// ---- The stream.

/** Becomes somebody, or by 0 the first of the people: the stream begins with all they see. */
function become(id) {
  setPerson(id);
  leave();
  leave = follow(id, (kind, data) => store.take(kind, data), (up, refused) => {
    connected = up;
    byId('line-state').hidden = up;
    if (store.viewer) drawHead();
    if (refused && !store.viewer && id) become(0); // there is no such person
  });
}

store.addEventListener('snapshot', () => {
  drawPeople(store, become);
  drawSamples(store.samples, afterPress);
  drawEntries(store.entries);
  applyRoute();
});
store.addEventListener('entry', (e) => addEntry(e.detail));
store.addEventListener('board', (e) => drawBoard(e.detail));
store.addEventListener('read', redrawLists);
store.addEventListener('draft', redrawLists);
store.addEventListener('open', ({ detail: { moved } }) => { // on every change of route or person, and every snapshot
  if (moved) {
    clearNotices(); // the person may be another
    composer.open();
  }
  drawHead();
  talk.draw();
  redrawLists();
  if (pendingJump) talk.jump(pendingJump);
  pendingJump = 0;
});
store.addEventListener('message', ({ detail: { message: m, thread, known } }) => {
  const { open } = store;
  const here = m.chat.id === open.chat && (!store.current().chat.is_forum || thread === open.thread);
  if (here) {
    talk.put(m, known);
    if (m.from?.id === store.bot.id) drawHead();
  }
  if (!known && !(here && talkInSight()) && !isService(m)) {
    announce(`New message in ${chatName(store.chats.get(m.chat.id), store.bot)}: ${summary(m)}`);
  }
  redrawLists();
});
store.addEventListener('deleted', ({ detail }) => {
  if (detail.chat === store.open.chat) {
    talk.drop(detail.message);
    composer.drop(detail.message);
  }
  redrawLists();
});
store.addEventListener('action', ({ detail }) => {
  if (detail.chat === store.open.chat) drawHead(detail.text === 'typing' ? 'typing…' : 'sending a file…');
});
store.addEventListener('tapped', ({ detail }) => {
  const who = store.people.find((p) => p.id === detail.user);
  if (who && who.id !== store.viewer.id && detail.chat === store.open.chat) talk.tapped(detail.message, who.name, detail.data);
});
store.addEventListener('answered', ({ detail }) => {
  const answer = taps.answered(detail); // in any case, since it ends the waiting
  if (detail.chat === store.open.chat) show(answer);
});

function redrawLists() {
  drawChats(store, drafts);
  drawTopics(store);
  talk.drawUnread();
}

/** Draws the name of the chat, and below it what the bot is doing, for as long as Telegram would. */
function drawHead(doing = '') {
  clearTimeout(doingTimer);
  talk.drawHead(connected ? doing : 'connecting…');
  if (doing) doingTimer = setTimeout(() => drawHead(), 5000);
}

// ---- What the person does.

async function onTap(m, button, key) {
  if (key.classList.contains('busy')) return;
  key.classList.add('busy');
  key.setAttribute('aria-busy', 'true');
  const { viewer } = store;
  try {
    const answer = taps.begin(await tap(viewer.id, m.chat.id, m.message_id, button.callback_data), key);
    if (viewer.id === store.viewer.id && m.chat.id === store.open.chat) show(answer);
  } catch (error) {
    key.classList.remove('busy');
    key.removeAttribute('aria-busy');
    toast(error.message.includes('DATA_INVALID') ? 'The message has just changed. Look again.' : error.message, true);
  }
}

function show(answer) {
  if (!answer?.text) return;
  if (answer.alert) alertBox(answer.text);
  else toast(answer.text);
}

function onJump(id) {
  if (!talk.jump(id)) toast('That message is no longer here');
}

/** Links to messages, as the bot makes them for supergroups, are followed here. */
function onLink(event, url) {
  const parts = /^https?:\/\/t\.me\/c\/(\d+)(?:\/(\d+))?\/(\d+)\/?$/.exec(url);
  const chat = parts && Number(`-100${parts[1]}`);
  if (!parts || !store.chats.has(chat)) return;
  event.preventDefault();
  pendingJump = Number(parts[3]);
  const m = store.message(chat, pendingJump);
  const thread = m?.is_topic_message ? m.message_thread_id : 0;
  if (store.open.chat === chat && store.open.thread === thread) {
    onJump(pendingJump);
    pendingJump = 0;
  } else {
    goToChat(chat, thread);
  }
}

/** Where the runtimes cover the chats, they go once one has asked. What it asks is at the end. */
function afterPress() {
  talk.toEnd();
  if (matchMedia('(max-width: 1179px)').matches) closeRuntimes();
}

function closeRuntimes() {
  if (app.dataset.view === 'runtimes') goToChat(store.open.chat || store.viewer.id, store.open.thread);
}

// ---- Where the person is.

function applyRoute() {
  const route = readRoute();
  if (!store.viewer) return;
  let { chat } = route;
  if (route.view === 'chat' && !store.chats.has(chat)) chat = store.viewer.id; // another person's direct chat
  const wide = matchMedia('(min-width: 720px)').matches;
  if (!chat && wide) chat = store.open.chat || store.viewer.id;
  app.dataset.view = route.view;
  if (route.view === 'runtimes' && store.open.chat) chat = store.open.chat;
  const thread = route.view === 'chat' ? route.thread : store.open.thread;
  store.show(store.chats.has(chat) ? chat : 0, thread);
}

/** Marks the open chat as read as far as it was seen. */
function onSeen(id) {
  if (talkInSight() && store.open.chat) store.markRead(id);
}

function talkInSight() {
  return document.visibilityState === 'visible' && byId('scroll').clientHeight > 0;
}

addEventListener('popstate', () => {
  clearNotices();
  applyRoute();
});
document.addEventListener('visibilitychange', () => talk.look());
byId('back').addEventListener('click', goToList);
for (const id of ['show-runtimes', 'show-runtimes-list', 'start-runtimes']) byId(id).addEventListener('click', goToRuntimes);
for (const id of ['hide-runtimes', 'shade']) byId(id).addEventListener('click', closeRuntimes);
addEventListener('keydown', (e) => {
  if (e.key === 'Escape' && !document.querySelector('dialog[open]')) closeRuntimes();
});

setUpReader();
startTicking();
setUpRuntimes();
setUpFaults(goToRuntimes);
become(readRoute().as);
