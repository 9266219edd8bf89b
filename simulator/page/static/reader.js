// A document of text, opened in a dialog: to read, to copy and to save.

import { byId, el } from './dom.js';
import { fileAt } from './net.js';
import { copy, toast } from './toast.js';

const SHOWN = 200_000; // characters; the rest is in the file

/** Whether a document can be opened here; the server serves others to be saved only. */
export const isText = (document) => (document.mime_type ?? '').startsWith('text/plain');

/** Sizes as people write them. */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Opens the document of a message for a person. */
export async function openDocument(person, m) {
  let text;
  try {
    const response = await fetch(fileAt(person, m, false));
    if (!response.ok) throw new Error();
    text = await response.text();
  } catch {
    toast('The file cannot be opened', true);
    return;
  }
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}\n…` : text;
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  byId('reader-name').textContent = m.document.file_name ?? 'file';
  byId('reader-size').textContent = `${size(m.document.file_size ?? 0)} · ${lines} ${lines === 1 ? 'line' : 'lines'}`;
  byId('reader-text').replaceChildren(el('code', { dir: 'auto' }, shown));
  byId('reader-save').href = fileAt(person, m, true);
  byId('reader-save').download = m.document.file_name ?? '';
  byId('reader-copy').onclick = () => copy(text);
  byId('reader').showModal();
  byId('reader-text').scrollTop = 0;
  byId('reader-text').focus();
}

/** Lets a click beside the dialog close it. */
export function setUpReader() {
  const dialog = byId('reader');
  dialog.addEventListener('click', (e) => e.target === dialog && dialog.close());
  byId('reader-close').addEventListener('click', () => dialog.close());
}
