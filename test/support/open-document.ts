import { Window } from 'happy-dom';

const dom = new Window({ url: 'http://page.test/' });
const names = [
  'window',
  'document',
  'Element',
  'HTMLElement',
  'HTMLIFrameElement',
  'Node',
  'navigator',
  'location',
  'history',
  'Event',
  'ResizeObserver',
] as const;
const ofNode = names.flatMap((name) => {
  const own = Object.getOwnPropertyDescriptor(globalThis, name);
  return own === undefined ? [] : [[name, own] as const];
});

// React listens to typing only if there is a document when it is loaded.
openDocument();

/** Gives React a document in a process that has none. Other web APIs that Node has stay Node's. */
export function openDocument(): Window {
  if ('document' in globalThis) return dom;
  for (const name of names) {
    Object.defineProperty(globalThis, name, { configurable: true, value: dom[name] });
  }
  // happy-dom has no popovers.
  Object.assign(dom.HTMLElement.prototype, { hidePopover: () => undefined });
  const listen = dom.addEventListener.bind(dom);
  const leave = dom.removeEventListener.bind(dom);
  Object.assign(globalThis, { addEventListener: listen, removeEventListener: leave });
  atEndOfFile(async () => {
    // React may still have work for closed pages.
    for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setImmediate(done));
    for (const name of [...names, 'addEventListener', 'removeEventListener']) {
      Reflect.deleteProperty(globalThis, name);
    }
    for (const [name, own] of ofNode) Object.defineProperty(globalThis, name, own);
  });
  return dom;
}
