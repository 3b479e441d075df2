import { describe, expect, it } from '@jest/globals';
import type { UIMessage } from 'ai';
import { pageStatus } from '../../web/src/page-status.js';

const calm = { reconnecting: false, stopping: false };
const asking: UIMessage = {
  id: 'msg-1',
  role: 'assistant',
  parts: [
    {
      type: 'dynamic-tool',
      toolName: 'charge',
      toolCallId: 'c1',
      state: 'approval-requested',
      input: {},
      approval: { id: 'a1' },
    },
  ],
};

describe('pageStatus', () => {
  it.each([
    ['thinking', 'submitted', calm, undefined],
    ['streaming', 'streaming', calm, undefined],
    ['stopping', 'streaming', { ...calm, stopping: true }, undefined],
    ['ready', 'ready', calm, undefined],
    ['waiting', 'ready', calm, asking],
    ['reconnecting', 'error', { ...calm, reconnecting: true }, asking],
    ['reconnecting', 'streaming', { ...calm, reconnecting: true }, undefined],
    ['ready', 'error', calm, undefined],
  ] as const)('the status of the page is %s', (expected, chat, page, newest) => {
    expect(pageStatus(chat, page, newest)).toBe(expected);
  });
});
