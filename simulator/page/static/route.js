// Which person, chat and part of the page the address names, so that the browser's Back
// goes back and a second window can be opened on anything.
//
//	/?as=1002#chat/-1001/7    Olga, in a topic of a group
//	/#runtimes                the runtimes, where the window shows one thing at a time

/** Reads the address. view is list, chat or runtimes. */
export function readRoute() {
  const as = Number(new URLSearchParams(location.search).get('as')) || 0;
  const [view, chat, thread] = location.hash.slice(1).split('/');
  if (view === 'chat') return { as, view, chat: Number(chat) || 0, thread: Number(thread) || 0 };
  return { as, view: view === 'runtimes' ? view : 'list', chat: 0, thread: 0 };
}

/** Goes to a chat. */
export function goToChat(chat, thread = 0) {
  go(`#chat/${chat}${thread ? `/${thread}` : ''}`);
}

export function goToList() {
  go('');
}

export function goToRuntimes() {
  go('#runtimes');
}

function go(hash) {
  if (location.hash === hash) return;
  history.pushState(null, '', location.pathname + location.search + hash);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** Becomes somebody else, without a step in the history. */
export function setPerson(as) {
  history.replaceState(null, '', `${location.pathname}${as ? `?as=${as}` : ''}${location.hash}`);
}

/** The address of the same page as somebody else. */
export const addressAs = (as) => `/?as=${as}`;
