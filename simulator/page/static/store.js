// What the page knows: the chats of one person, kept up to date by the stream, and
// which of them is open. Everything that draws listens here.

import { keep, keptName, recall } from './kept.js';

/** What a message is about when it is no message of anybody. */
export function isService(m) {
  return Boolean(m.forum_topic_created || m.forum_topic_closed || m.forum_topic_reopened
    || m.new_chat_members || m.left_chat_member || m.migrate_to_chat_id || m.migrate_from_chat_id
    || m.pinned_message);
}

/** The topic of a message; 0 is the general one, or that of a chat without any. */
export const threadOf = (m) => (m.is_topic_message ? m.message_thread_id : 0);

export class Store extends EventTarget {
  viewer = null; // the person who looks
  bot = null;
  people = [];
  samples = [];
  entries = []; // oldest first
  chats = new Map(); // by id: {chat, status, topics, commands, messages: Map by id}
  open = { chat: 0, thread: 0 }; // chat 0: none
  epoch = ''; // of the server
  #shown = { viewer: 0 }; // for whom the open chat was last drawn
  #read = {}; // by place: the newest message read

  /** Takes one event of the stream in. */
  take(kind, data) {
    switch (kind) {
      case 'snapshot': return this.#all(data);
      case 'message': return this.#message(data);
      case 'deleted': return this.#deleted(data);
      case 'entry':
        this.entries.push(data);
        return this.#tell('entry', data);
      default: return this.#tell(kind, data);
    }
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #all(s) {
    this.viewer = s.viewer;
    this.bot = s.bot;
    this.people = s.people;
    this.samples = s.samples;
    this.entries = s.entries;
    this.epoch = s.epoch;
    this.chats = new Map(s.chats.map((c) => [c.chat.id, {
      chat: c.chat,
      status: c.status,
      topics: c.topics ?? [],
      commands: c.commands ?? [],
      messages: new Map(c.messages.map((m) => [m.message_id, m])),
    }]));
    this.#read = recall(this.#readName());
    if (!this.chats.has(this.open.chat)) this.open = { chat: 0, thread: 0 };
    this.#tell('snapshot', s);
  }

  #message(m) {
    let view = this.chats.get(m.chat.id);
    if (!view) {
      view = { chat: m.chat, status: 'member', topics: [], commands: [], messages: new Map() };
      this.chats.set(m.chat.id, view);
    }
    const known = view.messages.has(m.message_id);
    view.messages.set(m.message_id, m);
    this.#tell('message', { message: m, thread: threadOf(m), known });
  }

  #deleted(place) {
    if (this.chats.get(place.chat)?.messages.delete(place.message)) this.#tell('deleted', place);
  }

  /** Opens a chat, or none, or the same one anew. */
  show(chat, thread = 0) {
    const { viewer, open } = this;
    this.open = { chat, thread };
    const moved = viewer.id !== this.#shown.viewer || chat !== open.chat || thread !== open.thread;
    this.#shown = { viewer: viewer.id };
    this.#tell('open', { ...this.open, moved });
  }

  current() {
    return this.chats.get(this.open.chat);
  }

  /** The messages of a chat, or of one topic of it, oldest first. */
  messages(chat, thread) {
    const view = this.chats.get(chat);
    if (!view) return [];
    const list = [...view.messages.values()].sort((a, b) => a.message_id - b.message_id);
    return view.chat.is_forum && thread !== undefined ? list.filter((m) => threadOf(m) === thread) : list;
  }

  message(chat, id) {
    return this.chats.get(chat)?.messages.get(id);
  }

  /** Chats as a list shows them: the one with the newest message first. */
  sorted() {
    const date = (v) => Math.max(0, ...[...v.messages.values()].map((m) => m.date));
    return [...this.chats.values()]
      .map((view) => ({ view, date: date(view) }))
      .sort((a, b) => b.date - a.date || b.view.chat.id - a.view.chat.id)
      .map((o) => o.view);
  }

  /** The messages of others in a chat, or a topic of it, that are not read yet, oldest first. */
  unread(chat, thread) {
    return this.messages(chat, thread).filter((m) => m.from?.id !== this.viewer.id && !isService(m)
      && m.message_id > (this.#read[`${chat}/${threadOf(m)}`] ?? 0));
  }

  unreadInAll() {
    return [...this.chats.keys()].reduce((sum, id) => sum + this.unread(id).length, 0);
  }

  /** Marks what is open as read, as far as a message. */
  markRead(upTo) {
    const place = `${this.open.chat}/${this.open.thread}`;
    if ((this.#read[place] ?? 0) >= upTo) return;
    this.#read[place] = upTo;
    keep(this.#readName(), this.#read);
    this.#tell('read', this.open);
  }

  #readName() {
    return keptName('read', this.epoch, this.viewer.id);
  }
}

/** The name of a chat, as its title or that of whom it is with. */
export function chatName(view, bot) {
  return view.chat.type === 'private' ? bot.first_name : view.chat.title;
}

/** What a message says, in one line. */
export function summary(m) {
  if (m.forum_topic_created) return `Topic “${m.forum_topic_created.name}” was created`;
  if (m.forum_topic_closed) return 'The topic was closed';
  if (m.forum_topic_reopened) return 'The topic was opened again';
  if (m.new_chat_members) return `${m.new_chat_members.map((u) => u.first_name).join(', ')} joined`;
  if (m.left_chat_member) return `${m.left_chat_member.first_name} left`;
  if (m.migrate_to_chat_id || m.migrate_from_chat_id) return 'The group was upgraded';
  if (m.pinned_message) return 'A message was pinned';
  const text = m.text ?? [m.document?.file_name, m.caption].filter(Boolean).join(' · ');
  return text.replace(/\s+/g, ' ').trim();
}
