import { describe, expect, it } from '@jest/globals';
import {
  callsOf,
  CLIENT_7,
  CLIENTS,
  loadChat,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { readSse } from '../support/sse-reader.js';
import { until } from '../support/until.js';

const LONG = 'Nothing of this may be lost or doubled, by any viewer. '.repeat(6);
const sleep = { tool: 'sleep', id: 's1', args: { ms: 60_000 } };
const slowly = { say: LONG, deltas: 100, everyMs: 20 };

const product = useProduct();

describe.each(CLIENTS)('%s: reload', (_name, library) => {
  it('both viewers see the whole reply after a reload in the middle of it', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    const reply = first.chat.sendMessage(toScript({ think: 'Hm.', ...slowly, calls: [sleep] }));
    await until('some text', () => first.reply().length > 60);

    const { client: second, snapshot, resumed } = await loadChat(library, { url, sessionId });
    expect(snapshot.status).toBe('active');
    expect(snapshot.messages.map(({ role }) => role)).toEqual(['user']);
    await until('the reply is taken up', () => second.reply() === LONG);
    await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    await Promise.all([reply, resumed]);
    for (const client of [first, second]) {
      await untilRests(client, url);
      expect(client.errors).toEqual([]);
      expect(client.reply()).toBe(LONG);
      await expectStoredAsShown(client, url, sessionId);
    }
    expect(second.posts()).toBe(0);
  });

  it('a reply continues when the page that sent the message is closed', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    const reply = first.chat.sendMessage(toScript(slowly));
    await until('some text', () => first.reply().length > 20);
    await first.chat.stop();
    await reply;
    const { client, resumed } = await loadChat(library, { url, sessionId });
    await resumed;
    expect(client.reply()).toBe(LONG);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a page asks again after a reload while an approval waits', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    await first.chat.sendMessage(toScript({ say: 'May I?', calls: [charge('c1')] }));
    await untilAsked(first);
    const { client, snapshot, resumed } = await loadChat(library, { url, sessionId });
    await resumed;
    expect(snapshot).toMatchObject({ status: 'paused', run: { status: 'waiting_approval' } });
    expect(client.requests.map(({ status }) => status)).toEqual([204]);
    expect(client.messages()).toEqual(first.messages());

    const id = await untilAsked(client);
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(client, url);
    expect(client.posts()).toBe(1);
    expect(client.reply()).toBe('May I?done');
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a page shows an approved turn whole after a reload while a later tool runs', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    await first.chat.sendMessage(
      toScript(
        { say: 'May I?', calls: [charge('c1')] },
        { say: 'Now a nap.', calls: [{ tool: 'sleep', id: 'c2', args: { ms: 2_000 } }] },
        { say: 'Awake.', deltas: 5, everyMs: 5 },
      ),
    );
    const id = await untilAsked(first);
    await first.chat.addToolApprovalResponse({ id, approved: true });
    await until('the nap', () => callsOf(first.chat.lastMessage).length === 2);

    const { client, snapshot, resumed } = await loadChat(library, { url, sessionId });
    expect(snapshot.status).toBe('active');
    expect(snapshot.messages).toHaveLength(1);
    await until('the nap is shown', () => callsOf(client.chat.lastMessage).length === 2);
    // The question was answered: it must not be put again.
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'c1', state: 'output-available' },
      { toolCallId: 'c2', state: 'input-available' },
    ]);
    await resumed;
    for (const viewer of [first, client]) {
      await untilRests(viewer, url);
      expect(viewer.errors).toEqual([]);
      expect(viewer.reply()).toBe('May I?Now a nap.Awake.');
      await expectStoredAsShown(viewer, url, sessionId);
    }
    expect([first.posts(), client.posts()]).toEqual([2, 0]);
  });

  it('a page that returns after the end of a turn shows all of it', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    const reply = first.chat.sendMessage(
      toScript(
        { say: 'First this.', calls: [{ tool: 'echo', id: 'c1', args: { value: 1 } }] },
        { say: LONG, deltas: 30, everyMs: 20 },
      ),
    );
    await until('some text', () => first.reply().length > 30);
    const { messages, status } = await loadSnapshot(url, sessionId);
    expect(status).toBe('active');
    await reply;
    const late = openChat(library, { url, sessionId, messages });
    await late.chat.resumeStream();
    expect(late.requests.map((request) => request.status)).toEqual([200]);
    expect(late.reply()).toBe(`First this.${LONG}`);
    await expectStoredAsShown(late, url, sessionId);
  });

  it('a page that returns after the pause of a turn shows its question', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    const reply = first.chat.sendMessage(toScript({ ...slowly, calls: [charge('c1', 1)] }));
    await until('some text', () => first.reply().length > 20);
    const { messages } = await loadSnapshot(url, sessionId);
    await reply;
    const late = openChat(library, { url, sessionId, messages });
    await late.chat.resumeStream();
    const id = await untilAsked(late);
    expect(late.messages()).toEqual(first.messages());
    await late.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(late, url);
    expect(late.reply()).toBe(`${LONG}done`);
    await expectStoredAsShown(late, url, sessionId);
  });
});

describe('what there is to follow', () => {
  const follow = async (sessionId: string, cookie?: string): Promise<number> => {
    const headers: Record<string, string> = cookie === undefined ? {} : { cookie };
    const { status, done } = await readSse(`${product.url}/api/chat/${sessionId}/stream`, {
      headers,
    });
    await done;
    return status;
  };

  it('there is nothing to follow before, after and between turns', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    expect(await follow(sessionId)).toBe(204);
    expect((await fetch(`${url}/api/chat/${sessionId}/snapshot`)).status).toBe(404);
    expect((await fetch(`${url}/api/chat/${sessionId}`)).status).toBe(204);
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(toScript({ say: 'One turn.' }));
    expect(await follow(sessionId)).toBe(204);
    await client.chat.sendMessage(toScript({ calls: [charge('c1', 1)] }));
    await untilAsked(client);
    expect(await follow(sessionId)).toBe(204);
    await client.chat.sendMessage(toScript({ say: 'No.', fail: { status: 400 } }));
    expect(client.chat.status).toBe('error');
    expect(await follow(sessionId)).toBe(204);
  });

  it('what there is to follow depends on what this viewer has seen', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const reply = client.chat.sendMessage(toScript({ ...slowly, deltas: 50 }));
    await until('some text', () => client.reply().length > 20);
    const early = await readCookie(sessionId);
    await reply;
    const late = await readCookie(sessionId);
    expect(await follow(sessionId, early)).toBe(200);
    expect(await follow(sessionId, late)).toBe(204);
  });

  async function readCookie(sessionId: string): Promise<string> {
    const response = await fetch(`${product.url}/api/chat/${sessionId}/snapshot`);
    await response.arrayBuffer();
    return response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ');
  }
});
