import type { UIMessage } from '@ai-sdk/react';
import { HOOKS, openHookPage } from '../../support/hook-page.js';
import { until } from '../../support/until.js';

const QUESTION: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Refund?' }] };
const WAITING: UIMessage = {
  id: 'msg-1',
  role: 'assistant',
  parts: [
    { type: 'step-start' },
    {
      type: 'dynamic-tool',
      toolName: 'charge',
      toolCallId: 'c1',
      state: 'approval-requested',
      input: { amount: 5 },
      approval: { id: 'r::c1' },
    },
  ],
};
const target = { url: 'http://page.test', sessionId: 'chat-1' };

/** A server that sends these parts to each page that follows the turn. */
function streamOf(parts: readonly object[], signal: AbortSignal | null | undefined): Response {
  const text = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('');
  signal?.throwIfAborted();
  return new Response(`${text}data: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' },
  });
}

describe.each(HOOKS)('useHelixChat on %s', (_, useHelixChat) => {
  it('a retry after a fault of the server repeats no turn', async () => {
    const sent: string[] = [];
    const page = await openHookPage(useHelixChat, {
      ...target,
      messages: [QUESTION, WAITING],
      resume: true,
      send: async (input, init) => {
        if (typeof init?.body === 'string') sent.push(init.body);
        if (!(input as string).includes('/snapshot')) {
          return Response.json({ error: 'A fault.', code: 'internal_error' }, { status: 500 });
        }
        return Response.json({ status: 'paused', messages: [QUESTION, WAITING] });
      },
    });
    try {
      await until('the fault is shown', () => page.chat.error !== undefined);
      const before = page.requests.length;
      await page.chat.retry();
      await until(
        'the page asks again',
        () => page.requests.length > before || page.chat.error === undefined,
      );
      expect(sent).toEqual([]);
      expect(page.messages()).toEqual([QUESTION, WAITING]);
    } finally {
      page.close();
    }
  });

  it('a page resumes a reply in strict mode too, which mounts it twice', async () => {
    const page = await openHookPage(useHelixChat, {
      ...target,
      messages: [QUESTION],
      resume: true,
      isStrict: true,
      send: async (_input, init) => {
        // A request takes a moment, in which strict mode takes the page away and brings it back.
        await new Promise((resolve) => setTimeout(resolve, 20));
        return streamOf(
          [
            { type: 'start', messageId: 'msg-1' },
            { type: 'start-step' },
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'Hello.' },
            { type: 'text-end', id: 't' },
            { type: 'finish-step' },
            { type: 'finish', finishReason: 'stop' },
          ],
          init?.signal,
        );
      },
    });
    try {
      await until('the reply is shown', () => page.reply() === 'Hello.');
    } finally {
      page.close();
    }
  });
});
