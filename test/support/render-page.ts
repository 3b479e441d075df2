import { openDocument } from './open-document.js';
import type { ReactElement } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';

/** A page without a browser, for reading what it shows and typing into it. */
export interface OpenPage {
  show: (element: ReactElement) => void;
  type: (testId: string, text: string) => void;
  click: (testId: string) => void;
  /** Text of the first element; undefined without one. */
  textOf: (testId: string) => string | undefined;
  count: (testId: string) => number;
  isEnabled: (testId: string) => boolean;
  valueOf: (testId: string) => string;
  /** Returns the reason why a browser would not submit the form. */
  faultOf: (testId: string) => string;
  close: () => void;
}

/** Renders elements by real React. Each call returns after React has shown its effects. */
export function openPage(): OpenPage {
  const dom = openDocument();
  const host = dom.document.createElement('div');
  dom.document.body.append(host);
  const root = createRoot(host as unknown as HTMLElement);
  const find = (testId: string): HTMLTextAreaElement => {
    const found = host.querySelector(`[data-testid="${testId}"]`);
    if (found === null) throw new Error(`No ${testId} in ${host.innerHTML}`);
    return found as unknown as HTMLTextAreaElement;
  };
  const close = (): void => {
    root.unmount();
    host.remove();
  };
  atEndOfFile(close);
  return {
    show: (element) => {
      flushSync(() => {
        root.render(element);
      });
      // This runs React's effects too.
      flushSync(() => undefined);
    },
    type: (testId, text) => {
      const control = find(testId);
      // React overrides the element's own setter and would not notice a change through it.
      let from = Object.getPrototypeOf(control) as object;
      while (!Object.hasOwn(from, 'value')) from = Object.getPrototypeOf(from) as object;
      Object.getOwnPropertyDescriptor(from, 'value')?.set?.call(control, text);
      flushSync(() => {
        control.dispatchEvent(new dom.Event('input', { bubbles: true }) as unknown as Event);
      });
      flushSync(() => undefined);
    },
    click: (testId) => {
      flushSync(() => find(testId).click());
      flushSync(() => undefined);
    },
    textOf: (testId) => host.querySelector(`[data-testid="${testId}"]`)?.textContent ?? undefined,
    isEnabled: (testId) => !find(testId).disabled,
    count: (testId) => host.querySelectorAll(`[data-testid="${testId}"]`).length,
    valueOf: (testId) => find(testId).value,
    faultOf: (testId) => find(testId).validationMessage,
    close,
  };
}
