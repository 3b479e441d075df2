import { Client, Connection } from '@temporalio/client';
import { loadSnapshot, toScript } from '../support/chat-client.js';
import { openPage } from '../support/page-driver.js';
import { newSessionId, sharedTemporal, TEMPORAL_UI, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const LONG = 'Each reader of this page sees it grow, and sees all of it once. '.repeat(4).trim();
const slowly = { say: LONG, deltas: 80, everyMs: 30 };
/** A reply that runs until someone stops it. */
const held = { ...slowly, calls: [{ tool: 'sleep', id: 's1', args: { ms: 60_000 } }] };
const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };

const product = useProduct();

it('the page shows text as it arrives, all of it after a reload in the middle, and links to the run', async () => {
  const sessionId = newSessionId();
  const chat = await openPage(product.url, sessionId);
  // The page itself notes what it shows, since the test may look too seldom.
  await chat.page.evaluate((whole) => {
    const lengths = new Set<number>();
    Object.assign(globalThis, { lengths });
    new MutationObserver(() => {
      const texts = document.querySelectorAll('[data-role=assistant] [data-testid=text]');
      const length = [...texts].reduce((sum, text) => sum + text.textContent.length, 0);
      if (length > 0 && length < whole) lengths.add(length);
    }).observe(document.body, { childList: true, characterData: true, subtree: true });
  }, LONG.length);
  await chat.say(toScript(held).text);
  await until('the text grows', () => chat.page.evaluate<boolean>('lengths.size > 3'));
  await chat.page.reload();
  await until('the whole text', async () => (await chat.replies()).at(-1) === LONG);
  await chat.click('stop');
  await chat.untilStatus('ready');
  expect(await chat.replies()).toEqual([LONG]);
  await chat.page.reload();
  await until('the whole text again', async () => (await chat.replies()).at(-1) === LONG);
  expect(await chat.replies()).toEqual([LONG]);

  const href = (await chat.at('run-link').getAttribute('href')) ?? '';
  const { run } = await loadSnapshot(product.url, sessionId);
  const prefix = `${TEMPORAL_UI}/namespaces/default/workflows/`;
  expect(href).toBe(`${prefix}${encodeURIComponent(`run:${run?.runId ?? ''}`)}`);
  const connection = await Connection.connect({ address: sharedTemporal() });
  try {
    const workflowId = decodeURIComponent(href.slice(prefix.length));
    const { type } = await new Client({ connection }).workflow.getHandle(workflowId).describe();
    expect(type).toBe('agentRun');
  } finally {
    await connection.close();
  }
  await chat.leave();
});

it('the page asks for an approval, again after a reload, and accepts a yes', async () => {
  const chat = await openPage(product.url);
  await chat.say(toScript({ say: 'May I?', calls: [charge] }).text);
  await chat.untilStatus('waiting');
  expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'waiting' }]);
  await chat.page.reload();
  await chat.untilStatus('waiting');
  expect(await chat.replies()).toEqual(['May I?']);
  await chat.click('approve');
  await until('the reply', async () => (await chat.replies()).join() === 'May I?done');
  expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'done' }]);
  expect(await chat.at('approval-card').count()).toBe(0);
  await chat.leave();
});

it('the page accepts a no, with its reason', async () => {
  const sessionId = newSessionId();
  const chat = await openPage(product.url, sessionId);
  await chat.say(toScript({ calls: [charge] }, { say: 'Then not.' }).text);
  await chat.untilStatus('waiting');
  await chat.at('answer-reason').fill('too much');
  await chat.click('deny');
  await chat.untilReplyHas('Then not.');
  // The snapshot of an active run omits its reply.
  await chat.untilStatus('ready');
  expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'denied' }]);
  const { messages } = await loadSnapshot(product.url, sessionId);
  expect(JSON.stringify(messages)).toContain('too much');
  await chat.leave();
});

it('the page stops a reply, continues with the next message, and resumes one that was stopped', async () => {
  const chat = await openPage(product.url);
  const stopReply = async (at: number): Promise<void> => {
    await until('it is being written', async () => (await chat.replies())[at]?.includes('Each'));
    await chat.click('stop');
    await chat.untilStatus('ready');
  };
  const neverEnding = { ...slowly, everyMs: 1_000 };
  await chat.say(toScript(neverEnding).text);
  await stopReply(0);
  const [kept = ''] = await chat.replies();
  expect(LONG.startsWith(kept)).toBe(true);
  expect(kept.length).toBeLessThan(LONG.length);
  await chat.say(toScript(neverEnding, { say: 'Here again.' }).text);
  await stopReply(1);
  await chat.click('go-on');
  await chat.untilReplyHas('Here again.');
  await chat.untilStatus('ready');
  expect(await chat.replies()).toEqual([kept, expect.stringMatching(/^Each.*Here again\.$/)]);
  expect(await chat.at('go-on').count()).toBe(0);
  await chat.leave();
});
