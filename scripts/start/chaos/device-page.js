// Runs in the page of a device: tells the bench what a person sees there, and clicks for the bench.
import { readNumbers } from './count-words.js';

const EVERY_MS = 50;
const find = (id) => document.querySelector(`[data-testid="${id}"]`);

const newestReply = () =>
  [...document.querySelectorAll('[data-testid=message][data-role=assistant]')].at(-1)
    ?.textContent ?? '';

/** What the bench sends is a script for the agent, which is nothing to read: its meaning is shown. */
function nameScripts() {
  for (const message of document.querySelectorAll('[data-testid=message][data-role=user]')) {
    const text = message.textContent;
    if (!text.startsWith('{"script"')) message.dataset.means = '';
    else if (text.includes('"hurriedCharge"'))
      message.dataset.means = 'Charge $5, within four seconds.';
    else if (text.includes('"charge"')) message.dataset.means = 'Charge $5, then count to 40.';
    else message.dataset.means = 'Count, please.';
  }
}

setInterval(() => {
  nameScripts();
  const status = find('status')?.dataset.status ?? (find('stop') ? 'streaming' : 'ready');
  const asks = find('approve') !== null;
  parent.postMessage(
    { numbers: readNumbers(newestReply()), status, asks, isStopping: find('stop') !== null },
    '*',
  );
}, EVERY_MS);

const DO = {
  say: (text) => {
    const field = find('composer');
    const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value');
    set.call(field, text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
    setTimeout(() => find('send')?.click(), 50);
  },
  stop: () => find('stop')?.click(),
  approve: () => find('approve')?.click(),
};

addEventListener('message', ({ source, data }) => {
  if (source === parent) DO[data.act]?.(data.text);
});

// The field of a device takes the focus as it opens, and would scroll the bench to it.
const { focus } = HTMLElement.prototype;
HTMLElement.prototype.focus = function focusInPlace(options) {
  focus.call(this, { ...options, preventScroll: true });
};

const style = document.createElement('style');
style.textContent = `
[data-role=user]:not([data-means='']) > * { display: none; }
[data-role=user]::before { content: attr(data-means); }
`;
document.head.append(style);
