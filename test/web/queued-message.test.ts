import { createElement } from 'react';
import { CurrentConversation } from '../../web/src/current-conversation.js';
import { QueuedMessage } from '../../web/src/queued-message.js';
import { openDocument } from '../support/open-document.js';
import { openPage, type OpenPage } from '../support/render-page.js';
import { eventually } from './eventually.js';
import { pressKey } from './press-key.js';

let page: OpenPage;
beforeEach(async () => {
  page = openPage();
  const message = createElement(QueuedMessage, { id: 'm', text: 'one two', files: [], mode: '' });
  // The message uses its conversation only when saved.
  const value = { controls: {} } as never;
  page.show(createElement(CurrentConversation.Provider, { value }, message));
  (find('edit-queued') as HTMLElement).click();
  await eventually(() => draft() !== null);
});
afterEach(() => page.close());

const find = (testId: string): unknown =>
  openDocument().document.querySelector(`[data-testid="${testId}"]`);
const draft = (): HTMLTextAreaElement | null => find('queued-draft') as HTMLTextAreaElement | null;

it('Escape that ends the composition of a character keeps the change of a message', async () => {
  page.type('queued-draft', 'one 二');
  pressKey('queued-draft', 'Escape', { isComposing: true });
  // The editor is still open and takes further input.
  page.type('queued-draft', 'one 二三');
  await eventually(() => draft()?.value === 'one 二三');
  pressKey('queued-draft', 'Escape');
  await eventually(() => draft() === null);
});

it('a message is changed from its end, and then from where the caret was left', () => {
  expect(draft()?.selectionStart).toBe('one two'.length);
  draft()?.setSelectionRange(3, 3);
  draft()?.blur();
  draft()?.focus();
  expect(draft()?.selectionStart).toBe(3);
});
