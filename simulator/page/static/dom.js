// Making elements. Text goes in as text nodes only; nothing here reads markup.

/**
 * Makes an element. Properties that begin with "on" are event handlers, "class" and
 * "data" are what they say, true and false set and leave out an attribute.
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class') node.className = value;
    else if (name === 'data') Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

/** Makes an icon of the sprite in the page. */
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

export const byId = (id) => document.getElementById(id);

/** The colour of an account: one of seven, always the same. */
export function tint(id) {
  return Math.abs(id) % 7;
}

/** Makes the round picture of an account or a chat. */
export function fillAvatar(node, id, name, isBot = false) {
  node.className = 'avatar';
  node.dataset.tint = isBot ? 'bot' : tint(id);
  node.replaceChildren(isBot ? icon('check') : initials(name));
  return node;
}

function initials(name) {
  const words = name.trim().split(/\s+/);
  return words.slice(0, 2).map((w) => [...w][0] ?? '').join('').toUpperCase();
}

/** Says a text to those who listen rather than look. */
export function announce(text) {
  byId('announce').textContent = text;
}
