import { expect, it } from '@jest/globals';
import { loadSnapshot, textOf } from '../support/chat-client.js';
import { newSessionId, useProduct } from '../support/product.js';
import { readSse, type SseReader } from '../support/sse-reader.js';

const product = useProduct();

it('a message that is sent again behind hidden context of another id is a repetition', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const text = JSON.stringify({ script: [{ calls: [{ tool: 'sleep', args: { ms: 600_000 } }] }] });
  const user = (id: string, text: string, metadata = {}): object => {
    return { id, role: 'user', parts: [{ type: 'text', text }], metadata };
  };
  const post = (draft: string): Promise<SseReader> =>
    readSse(`${url}/api/chat/${sessionId}?agent=lab`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        messages: [user(draft, 'On the page now: a draft.', { hidden: true }), user('u1', text)],
      }),
    });

  const first = await post('draft-1');
  await first.gets('tool-input-available');
  const again = await post('draft-2');
  expect([first.status, again.status]).toEqual([200, 200]);
  await again.gets('tool-input-available');
  await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
  expect([await first.done, await again.done]).toEqual(['ended', 'ended']);

  const { run, messages } = await loadSnapshot(url, sessionId);
  const last = await post('draft-3');
  expect(last.status).toBe(200);
  expect(await last.done).toBe('ended');
  const after = await loadSnapshot(url, sessionId);
  expect(after.run?.runId).toBe(run?.runId);
  expect(after.messages.map(textOf)).toEqual(messages.map(textOf));
}, 60_000);
