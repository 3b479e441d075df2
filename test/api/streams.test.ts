import { turnOf, type PlayedTurn } from '../support/played-turn.js';
import { say, startApi, type ApiServer } from './api-server.js';

let api: ApiServer;

describe('streams over HTTP', () => {
  it('a reader that got part of a dead attempt is told that it breaks off, and GET replays the whole turn', async () => {
    let turn: PlayedTurn | undefined;
    const play = (begun: PlayedTurn): Promise<void> => (turn = begun).say('half');
    api = await startApi({ defaultAgent: 'lab', play });
    const response = await api.post('/api/chat/s1', { messages: [say('u1', 'go')] });
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    for (let received = ''; !received.includes('half');) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) throw new Error(`it ended: ${received}`);
      received += decoder.decode(value);
    }
    await turn?.begin();
    const rest = await readAll(reader);
    expect(rest).toContain('"type":"data-stream-resync"');
    expect(rest).toContain('"type":"error"');
    expect(rest).not.toMatch(/^id: |"finish"|\[DONE\]/m);

    await turn?.say('whole');
    const again = await api.get('/api/chat/s1/stream');
    await turn?.finish();
    const text = await again.text();
    expect(text).toContain('"delta":"whole"');
    expect(text).not.toContain('half');
  });

  it('a HEAD gets the headers of a stream at once', async () => {
    api = await startApi({ defaultAgent: 'lab' });
    const running = await api.post('/api/chat/s1', { messages: [say('u1', 'go')] });
    const head = await fetch(`${api.url}/api/chat/s1`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-type')).toContain('text/event-stream');
    expect(await head.text()).toBe('');
    const none = await fetch(`${api.url}/api/chat/s2`, { method: 'HEAD' });
    expect(none.status).toBe(204);
    await running.body?.cancel();
  });

  it.each(['snapshot', 'messages'])('each viewer has a cookie of its own %s', async (loaded) => {
    api = await startApi({ defaultAgent: 'lab' });
    await (await api.post('/api/chat/s1', { messages: [say('u1', 'go')] })).body?.cancel();
    const active = await api.get(`/api/chat/s1/${loaded}`);
    const sawWork = active.headers.get('set-cookie') ?? '';
    expect(sawWork).toMatch(/^helix-snapshot=0; Path=\/api\/chat\/s1; .*HttpOnly/);
    const turn = await turnOf(api.stores, 's1');
    await turn.say('Done.');
    await turn.finish();
    // Without a cookie the newest load counts, and that load was made while the turn was active.
    expect(await (await api.get('/api/chat/s1')).text()).toContain('Done.');
    const ended = await api.get(`/api/chat/s1/${loaded}`);
    const sawEnd = ended.headers.get('set-cookie') ?? '';

    const toCookie = (header: string): { cookie: string } => ({
      cookie: header.split(';')[0] ?? '',
    });
    expect((await api.get('/api/chat/s1', toCookie(sawEnd))).status).toBe(204);
    const gap = await api.get('/api/chat/s1', toCookie(sawWork));
    expect(gap.status).toBe(200);
    expect(await gap.text()).toContain('Done.');
    // The newest load is of a turn that has ended.
    expect((await api.get('/api/chat/s1')).status).toBe(204);
  });

  it.each(['/snapshot/?x=;Domain=evil.test', '/Snapshot?x=;Path=/'])(
    'the cookie of a snapshot is for its session only, whatever the URL has: %s',
    async (asked) => {
      api = await startApi({ defaultAgent: 'lab' });
      await (await api.post('/api/chat/s1', { messages: [say('u1', 'go')] })).body?.cancel();
      const { headers } = await api.get(`/api/chat/s1${asked}`);
      expect(headers.get('set-cookie')).toBe(
        'helix-snapshot=0; Path=/api/chat/s1; Max-Age=60; HttpOnly; SameSite=Lax',
      );
    },
  );

  it('the page gets the agents and the links for operators', async () => {
    api = await startApi({
      defaultAgent: 'lab',
      temporalUi: 'http://127.0.0.1:8233',
    });
    expect(await (await api.get('/api/config')).json()).toEqual({
      agents: ['lab', 'support'],
      cards: ['lab', 'support'].map((name) => ({
        name,
        title: name,
        openers: [],
        listed: true,
        tools: [],
      })),
      defaultAgent: 'lab',
      files: { maxBytes: 10 * 1024 * 1024, types: expect.arrayContaining(['image/png']) },
      temporalUi: 'http://127.0.0.1:8233',
      namespace: 'default',
      roles: ['viewer', 'approver', 'operator'],
      separateApprovers: false,
    });
  });

  it('a stop is accepted, and so is a second one', async () => {
    api = await startApi({ defaultAgent: 'lab' });
    const response = await api.post('/api/chat/s1', { messages: [say('u1', 'go')] });
    const stop = await api.post('/api/chat/s1/stop', '', {});
    expect(stop.status).toBe(202);
    expect(await stop.json()).toEqual({ result: 'ended', runId: expect.stringMatching(/^s1:1-/) });
    const text = await response.text();
    expect(text).toContain('"type":"message-metadata"');
    expect(text).toContain('"finishReason":"other"');
    const again = await api.post('/api/chat/s1/stop', { mode: 'interrupt' });
    expect(again.status).toBe(202);
    expect(await again.json()).toMatchObject({ result: 'nothing' });
  });
});

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
}
