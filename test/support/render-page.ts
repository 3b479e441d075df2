import { openDocument } from './open-document.js';
import type { ReactElement } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';

/** A page of the process, without a browser: what is shown, and what a person types. */
export interface OpenPage {
  show: (element: ReactElement) => void;
  type: (testId: string, text: string) => void;
  valueOf: (testId: string) => string;
  /** Why a browser would not send the form. */
  faultOf: (testId: string) => string;
  close: () => void;
}

/** Renders elements by real React. What has happened is shown when a call returns. */
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
      // Effects, too.
      flushSync(() => undefined);
    },
    type: (testId, text) => {
      const control = find(testId);
      // By the prototype: React would not notice a change of what it has put on the element.
      let from = Object.getPrototypeOf(control) as object;
      while (!Object.hasOwn(from, 'value')) from = Object.getPrototypeOf(from) as object;
      Object.getOwnPropertyDescriptor(from, 'value')?.set?.call(control, text);
      flushSync(() => {
        control.dispatchEvent(new dom.Event('input', { bubbles: true }) as unknown as Event);
      });
      flushSync(() => undefined);
    },
    valueOf: (testId) => find(testId).value,
    faultOf: (testId) => find(testId).validationMessage,
    close,
  };
}
