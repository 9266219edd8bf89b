// The colours: as the system has them, or light or dark by choice. This script runs
// before the page is drawn, so that it is never drawn in the wrong ones.

(() => {
  const KEY = 'countersign.theme';
  const ORDER = ['system', 'light', 'dark'];
  const NAMES = { system: 'as the system', light: 'light', dark: 'dark' };

  // Storage may be closed to the page; the choice then lasts as long as the page.
  function recall() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function keep(value) {
    try {
      localStorage.setItem(KEY, value);
    } catch { /* see recall */ }
  }

  let theme = ORDER.includes(recall()) ? recall() : 'system';

  function apply() {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  function label(button) {
    const text = `Colours: ${NAMES[theme]}`;
    button.setAttribute('aria-label', text);
    button.title = text;
    const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
    use.setAttribute('href', `#i-${theme}`);
    icon.append(use);
    button.replaceChildren(icon);
  }

  apply();
  document.addEventListener('DOMContentLoaded', () => {
    const button = document.getElementById('theme');
    label(button);
    button.addEventListener('click', () => {
      theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
      keep(theme);
      apply();
      label(button);
    });
  });
})();
