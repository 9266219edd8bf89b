// Talking to the server: four things that can be posted, and one stream of events.

async function post(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error('The demo does not answer. Is it still running?');
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The demo answered ${response.status}.`);
  return answer;
}

/** Writes a message. */
export const send = (as, chat, text, thread = 0, replyTo = 0) =>
  post('/api/send', { as, chat, text, thread, reply_to: replyTo });

/** Taps a button, and returns the id under which the answer will come. */
export const tap = async (as, chat, message, data) =>
  (await post('/api/tap', { as, chat, message, data })).callback;

/** Lets a sample runtime ask. */
export const press = (sample) => post('/api/sample', { sample });

/** Brings a fault about, or ends it. */
export const setFault = (fault, end) => post('/api/fault', { fault, end });

/** Where the document of a message is. */
export const fileAt = (as, message, download) =>
  `/api/file/${message.chat.id}/${message.message_id}?as=${as}${download ? '&download=1' : ''}`;

const KINDS = ['snapshot', 'message', 'deleted', 'tapped', 'answered', 'action', 'entry', 'board'];

/**
 * Follows what a person sees; by 0 the first of the people. The first event is a
 * snapshot; after a break the browser comes back by itself and names the last event it
 * had. onLine(up, refused) says how the connection is. It returns how to end it.
 */
export function follow(as, onEvent, onLine) {
  let source;
  let timer;
  function open() {
    source = new EventSource(`/api/events${as ? `?as=${as}` : ''}`);
    source.onopen = () => onLine(true);
    source.onerror = () => {
      const refused = source.readyState === EventSource.CLOSED; // else it tries again by itself
      if (refused) timer = setTimeout(open, 2000);
      onLine(false, refused);
    };
    for (const kind of KINDS) {
      source.addEventListener(kind, (e) => onEvent(kind, JSON.parse(e.data)));
    }
  }
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
