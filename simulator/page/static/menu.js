// What can be done with a message: a small menu at the pointer, or at the message where
// the menu key asked for it.

import { byId, el, icon } from './dom.js';

const EDGE = 8; // px kept free around it

/** Opens the menu. items are {icon, text, keys?, act}; from is what gets the focus back. */
export function openMenu(x, y, items, from) {
  const menu = byId('menu');
  const close = () => {
    menu.hidePopover();
    from.focus({ preventScroll: true });
  };
  menu.replaceChildren(...items.map((item) => el('button', {
    type: 'button', role: 'menuitem', tabindex: '-1', class: 'menu-item', 'aria-keyshortcuts': item.keys,
    onclick: () => {
      close();
      item.act();
    },
  }, icon(item.icon), el('span', {}, item.text), item.keys && el('kbd', {}, item.keys))));
  menu.onkeydown = (e) => onKey(e, menu, close);
  menu.showPopover();
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(EDGE, Math.min(x, innerWidth - width - EDGE))}px`;
  menu.style.top = `${Math.max(EDGE, Math.min(y, innerHeight - height - EDGE))}px`;
  menu.firstElementChild.focus();
}

function onKey(e, menu, close) {
  const items = [...menu.children];
  const at = items.indexOf(document.activeElement);
  const to = {
    ArrowDown: items[(at + 1) % items.length], ArrowUp: items.at(at - 1), Home: items[0], End: items.at(-1),
  }[e.key];
  if (to) to.focus();
  else if (e.key === 'Escape' || e.key === 'Tab') close();
  else return;
  e.preventDefault();
  e.stopPropagation();
}
