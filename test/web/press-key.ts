import { openDocument } from '../support/open-document.js';

/** Presses a key in the control of a test id; returns true if the page handled it. */
export function pressKey(
  testId: string,
  key: string,
  { isComposing = false } = {},
): 'handled' | 'left to the browser' {
  const dom = openDocument();
  const control = dom.document.querySelector(`[data-testid="${testId}"]`);
  if (control === null) throw new Error(`No ${testId}`);
  const event = new dom.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
  Object.defineProperty(event, 'isComposing', { value: isComposing });
  return control.dispatchEvent(event) ? 'left to the browser' : 'handled';
}
