import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAsked, type AskedChat } from '../support/asked-chat.js';
import {
  CLIENT_7,
  loadChat,
  loadSnapshot,
  textOf,
  toScript,
  untilRests,
} from '../support/chat-client.js';
import { charge, delegate } from '../support/lab-calls.js';
import { newSessionId } from '../support/product.js';
import { postMessage, readSse, type SseReader } from '../support/sse-reader.js';
import { until } from '../support/until.js';
import { startDeployment, type Deployment, type Side } from './support/deployment.js';

const WORDS = Array.from({ length: 400 }, (_, n) => `word${String(n)} `).join('');

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment();
});
afterAll(() => deployment.close());

interface Talk {
  sessionId: string;
  reader: SseReader;
}

/** A reply of sixteen seconds. */
async function talk(url: string): Promise<Talk> {
  const sessionId = newSessionId();
  const script = { say: WORDS, deltas: 400, everyMs: 40 };
  const reader = await postMessage(url, sessionId, { id: 'u1', text: toScript(script).text });
  await until('some of it has come', () => reader.text().length > 50);
  return { sessionId, reader };
}

/** Messages that people see of a session at rest, each as its role and text. */
async function transcript(url: string, sessionId: string): Promise<string[]> {
  const rested = await until(
    'the session rests',
    async () => {
      const snapshot = await loadSnapshot(url, sessionId);
      return ['ended', 'failed'].includes(snapshot.status) && snapshot;
    },
    120_000,
  );
  expect(rested.status).toBe('ended');
  return rested.messages.map((message) => `${message.role}: ${textOf(message)}`);
}

/** Answers at another server what was asked at one. */
async function approve(at: Side, { sessionId, id }: AskedChat): Promise<void> {
  const { client, resumed } = await loadChat(CLIENT_7, { url: at.url, sessionId });
  await resumed;
  await client.chat.addToolApprovalResponse({ id, approved: true });
  await untilRests(client, at.url);
  expect(client.errors).toEqual([]);
}

/** How often each charge was made, by the id of its call. */
async function charges(): Promise<Record<string, string>> {
  return deployment.redis.hgetall('lab:charges');
}

async function ask(side: Side, name: string): Promise<AskedChat[]> {
  return [
    await openAsked(side.url, { say: 'May I?', calls: [charge(`${name}-a`)] }, { say: 'Done.' }),
    await openAsked(
      side.url,
      { calls: [delegate(`${name}-d`, { calls: [charge(`${name}-b`)] }, { say: 'below' })] },
      { say: 'Done.' },
    ),
  ];
}

const next = (side: Side, sessionId: string, id: string): Promise<SseReader> =>
  postMessage(side.url, sessionId, { id, text: toScript({ say: `answer to ${id}` }).text });

describe('a rolling upgrade from release 0.2.0', () => {
  it('a rolling upgrade loses nothing: each transcript is word for word, and each charge is made once', async () => {
    const former = await deployment.start('former');
    const asked = { former: await ask(former, 'former'), today: [] as AskedChat[] };
    const before = await talk(former.url);
    const today = await deployment.start('today');
    const after = await talk(today.url);

    // What one release says, the other one shows.
    const across = await Promise.all([
      readSse(`${today.url}/api/chat/${before.sessionId}/stream`),
      readSse(`${former.url}/api/chat/${after.sessionId}/stream`),
    ]);
    for (const reader of [...across, before.reader, after.reader]) {
      expect(await reader.done).toBe('ended');
      expect(reader.text()).toBe(WORDS);
    }

    // What one release asks, the other one answers; which worker carries it out is chance.
    asked.today = await ask(today, 'today');
    for (const each of asked.former) await approve(today, each);
    for (const each of asked.today) await approve(former, each);
    for (const { sessionId } of [before, after]) {
      for (const [side, id] of [
        [former, 'u2'],
        [today, 'u3'],
        [former, 'u4'],
      ] as const) {
        const reader = await next(side, sessionId, id);
        expect(await reader.done).toBe('ended');
        expect(reader.text()).toBe(`answer to ${id}`);
      }
    }

    // The former processes end in the middle of replies, and with questions that are open.
    const late = await ask(former, 'late');
    const cut = await Promise.all([talk(former.url), talk(former.url), talk(today.url)]);
    await former.stop();
    for (const each of late) await approve(today, each);
    for (const { sessionId } of cut) {
      const all = await transcript(today.url, sessionId);
      expect(all.at(-1)).toBe(`assistant: ${WORDS}`);
      expect(all).toHaveLength(2);
    }
    for (const { sessionId } of [before, after]) {
      const all = await transcript(today.url, sessionId);
      expect(all.filter((_, at) => at % 2 === 1)).toEqual(
        [WORDS, 'answer to u2', 'answer to u3', 'answer to u4'].map((text) => `assistant: ${text}`),
      );
    }
    for (const { sessionId } of [...asked.former, ...asked.today, ...late]) {
      const all = await transcript(today.url, sessionId);
      expect(all.at(-1)).toMatch(/Done\.$/);
      expect(all).toHaveLength(2);
    }
    expect(Object.values(await charges())).toEqual(Array.from({ length: 6 }, () => '1'));
  }, 300_000);
});
