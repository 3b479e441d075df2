import { createParser } from 'eventsource-parser';
import { charge } from '../../support/lab-calls.js';
import { postJson } from '../../support/post-json.js';
import { useLocalProduct } from '../../support/local-product.js';
import { newSessionId } from '../../support/product.js';
import { until } from '../../support/until.js';

const product = useLocalProduct();

interface SeenEvent {
  id: number | undefined;
  event: { type: string; [key: string]: unknown };
}

function script(...entries: object[]): string {
  return JSON.stringify({ script: entries });
}

async function post(path: string, body: object): Promise<{ status: number; body: Reply }> {
  const response = await postJson(`${product.url}/api/agent/${path}`, body);
  return { status: response.status, body: (await response.json()) as Reply };
}

type Reply = Record<string, unknown>;

async function status(sessionId: string): Promise<Reply> {
  const response = await fetch(`${product.url}/api/agent/status?sessionId=${sessionId}`);
  return (await response.json()) as Reply;
}

/** Reads a session's events in the background. */
function listen(
  sessionId: string,
  headers: Record<string, string> = {},
  query = '',
  onEvent?: () => void,
) {
  const seen: SeenEvent[] = [];
  const leaving = new AbortController();
  const parser = createParser({
    onEvent: ({ id, data }) => {
      const event = JSON.parse(data) as SeenEvent['event'];
      seen.push({ id: id === undefined ? undefined : Number(id), event });
      onEvent?.();
    },
  });
  const done = (async (): Promise<'ended' | 'cut' | number> => {
    const url = `${product.url}/api/agent/sse?sessionId=${sessionId}${query}`;
    const response = await fetch(url, { headers, signal: leaving.signal });
    if (!response.ok) return response.status;
    const decoder = new TextDecoder();
    try {
      for await (const bytes of response.body ?? []) {
        parser.feed(decoder.decode(bytes, { stream: true }));
      }
      return 'ended';
    } catch {
      return 'cut';
    }
  })();
  const leave = (): void => {
    leaving.abort();
  };
  return { seen, done, leave };
}

const textOf = (seen: SeenEvent[]): string =>
  seen
    .map(({ event }) => event['chunk'] as { type: string; delta?: string } | undefined)
    .map((chunk) => (chunk?.type === 'text_delta' ? chunk.delta : ''))
    .join('');

const typesOf = (seen: SeenEvent[]): string[] => seen.map(({ event }) => event.type);

describe('the agent server', () => {
  it('the agent server starts a run once per message, and refuses another message while it is active', async () => {
    const sessionId = newSessionId();
    const body = {
      sessionId,
      agentType: 'lab',
      message: script({ hangMs: 60_000 }),
      messageId: 'm1',
    };
    const first = await post('start', body);
    expect(first).toMatchObject({ status: 202, body: { sessionId, streamId: sessionId } });
    expect(await post('start', body)).toEqual(first);
    expect(await post('start', { ...body, messageId: 'm2' })).toMatchObject({
      status: 409,
      body: { code: 'agent_already_running' },
    });
    expect(await post('start', { ...body, message: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'message_conflict' },
    });
    expect(await post('resume', { sessionId })).toMatchObject({
      status: 202,
      body: { runId: first.body['runId'] },
    });
    expect((await post('abort', { sessionId, reason: 'enough' })).status).toBe(202);
    await until('it has ended', async () => (await status(sessionId))['status'] === 'aborted');
    expect(await status(sessionId)).toMatchObject({
      stream: 'failed',
      run: { status: 'aborted', turn: 1 },
      messageId: 'msg-1',
      turnStartSequence: 0,
    });
    expect(await post('resume', { sessionId })).toMatchObject({
      status: 409,
      body: { code: 'not_resumable' },
    });
  });

  it('an event stream stays open across a pause, continues after the answer, and ends with the run', async () => {
    const started = await post('start', {
      agent: 'lab',
      message: script({ calls: [charge('c1')] }, { say: 'ok' }),
    });
    const sessionId = String(started.body['sessionId']);
    const reader = listen(sessionId);
    await until('it pauses', () => typesOf(reader.seen).includes('status'));
    const paused = await status(sessionId);
    expect(paused).toMatchObject({
      status: 'waiting_approval',
      stream: 'paused',
      pending: [{ toolCallId: 'c1', toolName: 'charge' }],
    });
    const asked = { sessionId, toolCallId: 'c1' };
    expect(await post('submit-tool-result', { ...asked, result: 1 })).toMatchObject({
      status: 400,
      body: { code: 'kind_mismatch', error: expect.stringContaining('{"approved": true}') },
    });
    const approvalId = `${String(started.body['runId'])}::c1`;
    const answer = { ...asked, approvalId, approved: true };
    expect(await post('submit-tool-result', answer)).toMatchObject({
      status: 202,
      body: { resumed: true },
    });
    const kind = 'approval-response';
    expect((await post('submit-tool-result', { ...answer, kind })).status).toBe(409);
    expect(await post('submit-tool-result', { ...asked, kind })).toMatchObject({
      body: { code: 'validation_error', error: expect.stringContaining('approved: ') },
    });
    expect(await reader.done).toBe('ended');
    expect(textOf(reader.seen)).toBe('ok');
    expect(reader.seen.at(-1)?.event.type).toBe('end');
    const ended = await status(sessionId);
    expect(ended).toMatchObject({ status: 'completed', text: 'ok', pending: [] });
    // A log that was restored has less than such a reader has.
    const beyond = String(Number(ended['latestSequence']) + 1);
    expect(await listen(sessionId, { 'last-event-id': beyond }).done).toBe(409);
  });

  it('the agent server accepts the result of a client tool', async () => {
    const started = await post('start', {
      agent: 'lab',
      message: script({ calls: [{ tool: 'locate', id: 'l1', args: {} }] }, { say: 'found' }),
    });
    const sessionId = String(started.body['sessionId']);
    const reader = listen(sessionId);
    await until('it pauses', () => typesOf(reader.seen).includes('status'));
    const result = { sessionId, toolCallId: 'l1' };
    expect(await post('submit-tool-result', result)).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
    expect(await post('submit-tool-result', { ...result, result: { place: 'x' } })).toMatchObject({
      status: 202,
      body: { resumed: true },
    });
    expect(await reader.done).toBe('ended');
    expect(textOf(reader.seen)).toBe('found');
  });

  it("an event stream continues after the reader's last event, also after the end", async () => {
    const started = await post('start', { agent: 'lab', message: script({ say: 'one' }) });
    const sessionId = String(started.body['sessionId']);
    const first = listen(sessionId);
    expect(await first.done).toBe('ended');
    const middle = first.seen.find(({ event }) => event.type === 'chunk')?.id ?? 0;
    const rest = listen(sessionId, { 'last-event-id': String(middle) });
    expect(await rest.done).toBe('ended');
    expect(rest.seen).toEqual(first.seen.filter(({ id = 0 }) => id > middle));
    const after = listen(sessionId, {}, `&fromSequence=${String(first.seen.at(-1)?.id ?? 0)}`);
    expect(await after.done).toBe('ended');
    expect(typesOf(after.seen)).toEqual(['end']);
    expect(await listen(sessionId, { 'last-event-id': '100000' }).done).toBe(409);
    for (const cursor of ['x', '0x1', '1e0', '-1']) {
      expect(await listen(sessionId, { 'last-event-id': cursor }).done).toBe(400);
    }
  });

  it('an event stream does not end with an earlier turn', async () => {
    const started = await post('start', { agent: 'lab', message: script({ say: 'one' }) });
    const sessionId = String(started.body['sessionId']);
    await listen(sessionId).done;
    await post('resume', { sessionId, message: script({ say: 'two' }) });
    const all = listen(sessionId, {}, '&fromSequence=0');
    expect(await all.done).toBe('ended');
    expect(textOf(all.seen)).toBe('onetwo');
    expect(typesOf(all.seen).filter((type) => type === 'end')).toHaveLength(1);
  });

  it('the agent server reports a failure, and a reader that was cut loses nothing of the rest', async () => {
    const failing = await post('start', {
      agent: 'lab',
      message: script({ fail: { status: 400 } }),
    });
    const failed = listen(String(failing.body['sessionId']));
    expect(await failed.done).toBe('ended');
    expect(failed.seen.at(-1)?.event.type).toBe('fail');

    const started = await post('start', {
      agent: 'lab',
      message: script({ say: 'a long reply', deltas: 4, everyMs: 1_000 }),
    });
    const sessionId = String(started.body['sessionId']);
    const reader = listen(sessionId, {}, '', () => {
      if (textOf(reader.seen) !== '') reader.leave();
    });
    expect(await reader.done).toBe('cut');
    const last = reader.seen.findLast(({ id }) => id !== undefined)?.id ?? 0;
    const rest = listen(sessionId, { 'last-event-id': String(last) });
    expect(await rest.done).toBe('ended');
    expect(textOf([...reader.seen, ...rest.seen])).toBe('a long reply');
  });
});
