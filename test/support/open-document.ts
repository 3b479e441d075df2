import { Window } from 'happy-dom';

let dom: Window | undefined;

/** A document for React, in a process that has none. What Node has of the web stays Node's. */
export function openDocument(): Window {
  if (dom !== undefined) return dom;
  dom = new Window({ url: 'http://page.test/' });
  const names = ['window', 'document', 'HTMLElement', 'HTMLIFrameElement', 'Node'] as const;
  for (const name of names) {
    Object.defineProperty(globalThis, name, { configurable: true, value: dom[name] });
  }
  const listen = dom.addEventListener.bind(dom);
  const leave = dom.removeEventListener.bind(dom);
  Object.assign(globalThis, { addEventListener: listen, removeEventListener: leave });
  return dom;
}
