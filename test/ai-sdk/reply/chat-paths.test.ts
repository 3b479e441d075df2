import { handleChatStream } from '../../../ai-sdk/index.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { createGatedAgent } from '../../support/gated-agent.js';
import { snapshotOf } from '../../support/snapshot-of.js';
import { createBridge } from '../recorded/page.js';
import { createPlayer, type Player } from '../recorded/play-changes.js';
import { readRecordedTurns, splitAppends } from '../recorded/recorded-turns.js';
import { withoutLog } from '../recorded/without-log.js';
import {
  ask,
  createAsking,
  createScripted,
  get,
  runtimeOf,
  scripted,
  startAsking,
  user,
} from './ask.js';

describe('user messages (paths 1, 2, 4)', () => {
  it('a new message continues the same session', async () => {
    const runtime = createScripted();
    const first = await ask(runtime, [scripted('u1', { say: 'Hi.' })]);
    expect(parseFrames(first.text)[0]?.part).toEqual({ type: 'start', messageId: 'msg-1' });
    const existing = { 'x-existing-message-id': 'msg-1' };
    const second = await ask(runtime, [scripted('u2', { say: 'Hi.' })], existing);
    expect(parseFrames(second.text)[0]?.part).toEqual({ type: 'start', messageId: 'msg-3' });
  });

  it('posted again, it is accepted once and shows its turn again', async () => {
    const runtime = createAsking();
    const first = await ask(runtime, [user('u1')]);
    expect((await ask(runtime, [user('u1')])).text).toBe(first.text);
    const { rows = [] } = (await runtime.stateStore.sessions.view('s1')) ?? {};
    expect(rows.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it('one that never arrived is answered when its turn is asked for again', async () => {
    const messages = [scripted('u1', { say: 'Here.' })];
    const again = { sessionId: 's1', messages, trigger: 'regenerate-message' };
    const deps = { ...createScripted(), defaultAgent: 'lab' };
    expect(await (await handleChatStream(deps, again)).text()).toContain('Here.');
  });

  it('one of an older turn is not replayed into the page', async () => {
    const runtime = createScripted();
    const [first, second] = [scripted('u1', {}), scripted('u2', {})];
    await ask(runtime, [first]);
    await ask(runtime, [second]);
    expect((await ask(runtime, [first])).status).toBe(409);
  });

  it('the id of its pause comes with the last part, so that a reader that has the id has all parts', async () => {
    const { text } = await ask(createAsking(), [user('u1')]);
    const ids = parseFrames(text).map(({ id }) => id);
    expect([ids.at(-1), ids.indexOf(ids.at(-1))]).toEqual([expect.any(String), ids.length - 1]);
  });

  it('while a call waits, the new message supersedes it', async () => {
    const runtime = await startAsking();
    const reply = await ask(runtime, [user('u1'), { id: 'msg-1', role: 'assistant' }, user('u2')]);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-run-id')).toMatch(/^s1:2-/);
  });
});

it('an active turn refuses another message; a GET replays it from its beginning, and continues live', async () => {
  const gated = createGatedAgent(undefined, 'lab');
  const runtime = { ...runtimeOf(gated.agent), defaultAgent: 'lab' };
  const messages = [user('u1', 'speak up')];
  const running = await handleChatStream(runtime, { sessionId: 's1', messages });
  await gated.reached('up');
  const reply = await ask(runtime, [user('u2')]);
  expect(reply.status).toBe(409);
  expect(JSON.parse(reply.text)).toMatchObject({ code: 'agent_already_running' });
  const request = { method: 'GET', headers: new Headers() };
  const { body } = await handleChatStream(runtime, { sessionId: 's1', messages: [], request });
  const [seen, whole] = body?.tee() ?? [];
  // It has begun before the turn ends.
  await seen?.getReader().read();
  gated.open('up');
  for (const stream of [whole, running.body]) {
    const parts = parseFrames(await new Response(stream).text()).map(({ part }) => part);
    const types = parts.flatMap((part) => ('transient' in part ? [] : [part.type]));
    expect(types.slice(0, 3)).toEqual(['start', 'start-step', 'text-start']);
    expect(types.filter((type) => type === 'start')).toHaveLength(1);
    expect(types.slice(-3)).toEqual(['text-end', 'finish-step', 'finish']);
    const text = parts.map((part) => ('delta' in part ? part.delta : '')).join('');
    expect(text).toBe('Once upon a time');
  }
});

describe('GET of a turn at rest (paths 5, 6)', () => {
  it('has nothing, except for readers that report to be behind', async () => {
    const runtime = createAsking();
    const posted = await ask(runtime, [user('u1')]);
    const end = String((await runtime.stateStore.sessions.read('s1'))?.sequence);
    expect((await get(runtime)).status).toBe(204);
    expect((await get(runtime)).headers.get('x-run-id')).toMatch(/^s1:1-/);
    expect((await get(runtime, { 'x-resume-from-sequence': end })).status).toBe(204);
    expect((await get(runtime, { 'x-resume-from-sequence': 'junk' })).status).toBe(204);
    expect((await get(runtime, { 'x-resume-from-sequence': '3' })).text).toBe(posted.text);
    expect((await get(runtime, { 'x-resume-at': '3' })).text).toBe(posted.text);
  });

  it.each([
    ['paused', { say: 'May I?', calls: [{ tool: 'charge', id: 'c1', args: { amount: 1 } }] }],
    ['completed', { say: 'Hello.' }],
    ['failed', { say: 'Hello.', fail: { status: 400, afterDeltas: 1 } }],
  ])(
    'lets an EventSource, which reconnects with its newest id, stop: %s',
    async (status, script) => {
      const runtime = createScripted();
      const { text } = await ask(runtime, [scripted('u1', script)]);
      expect((await snapshotOf(runtime, 's1'))?.status).toBe(
        status === 'completed' ? 'ended' : status,
      );
      const idIn = (frames: string): string =>
        parseFrames(frames).findLast(({ id }) => id !== undefined)?.id ?? '';
      const end = idIn(text);
      expect(parseFrames(text).at(-1)).toMatchObject({ id: end, part: { type: 'finish' } });
      const again = await get(runtime, { 'last-event-id': end });
      expect([again.status, again.text]).toEqual([204, '']);
      // A reader whose connection broke before that gets the rest once.
      const { text: rest } = await get(runtime, { 'last-event-id': '2' });
      expect(idIn(rest)).toBe(end);
    },
  );

  it('reports a failed turn to a page whose snapshot was active, and to no other', async () => {
    const runtime = createScripted();
    const posted = await ask(runtime, [scripted('u1', { fail: { status: 400 } })]);
    const guard = ['start-step', 'message-metadata', 'finish-step'];
    expect(posted.types).toEqual(['start', ...guard, 'error', 'finish']);
    expect((await get(runtime, { 'x-resume-from-sequence': '0' })).types).toEqual(posted.types);
    const snapshot = await snapshotOf(runtime, 's1');
    const error = parseFrames(posted.text).find(({ part }) => part.type === 'error')?.part;
    expect(snapshot).toMatchObject({
      status: 'failed',
      messages: [{ id: 'u1' }, { id: 'msg-1', parts: [{ type: 'step-start' }] }],
      run: { error: { message: (error as { errorText?: string }).errorText } },
    });
    const sequence = String(snapshot?.streamSequence);
    expect((await get(runtime, { 'x-resume-from-sequence': sequence })).status).toBe(204);
    expect((await get(runtime)).status).toBe(204);
  });
});

describe('GET by a reader of raw events', () => {
  async function play(name: string): Promise<{
    player: Player;
    from: (sequence: number | undefined, lost?: number) => Promise<[number, string[], string]>;
    sequenceOf: (type: string) => Promise<number | undefined>;
  }> {
    const turn = readRecordedTurns().find((each) => each.name === name);
    const player = createPlayer(splitAppends(turn?.changes ?? []));
    while (player.ahead().length > 0) await player.play();
    const { sessionId, streamManager } = player;
    return {
      player,
      from: async (sequence, lost = 0) => {
        const headers = new Headers({ 'last-event-id': String(sequence) });
        const request = { method: 'GET', headers };
        const deps = { ...createBridge(player), streamManager: withoutLog(streamManager, lost) };
        const params = { sessionId, userId: 'ann', messages: [], request };
        const { status, body } = await handleChatStream(deps, params);
        const text = await new Response(body).text();
        return [status, parseFrames(text).map(({ part }) => part.type), text];
      },
      sequenceOf: async (type) => {
        const entries = await streamManager.read(sessionId, 0, 1_000);
        return entries.find(({ message }) => message.type === type)?.sequence;
      },
    };
  }

  it('continues exactly at its position', async () => {
    const { from, sequenceOf } = await play('streamed-arguments');
    const [, inText, text] = await from(await sequenceOf('text_delta'));
    expect(inText.slice(0, 4)).toEqual(['start', 'start-step', 'text-start', 'text-delta']);
    expect(text).not.toContain('Let');
    const [, inArguments] = await from(await sequenceOf('tool_arg_stream_delta'));
    const announced = ['start', 'start-step', 'tool-input-start', 'tool-input-delta'];
    expect(inArguments.slice(0, 4)).toEqual(announced);
  });

  it('has nothing once chunks that it has not seen are gone, or chunks that it has seen withdrawn', async () => {
    const { from, sequenceOf } = await play('streamed-arguments');
    const position = await sequenceOf('text_delta');
    const statuses = await Promise.all([from(position), from(position, 5)]);
    expect(statuses.map(([status]) => status)).toEqual([200, 204]);
    const taken = await play('attempt-taken-over');
    const resync = (await taken.sequenceOf('stream_resync')) ?? 0;
    expect((await taken.from(resync))[0]).toBe(200);
    expect((await taken.from(resync - 1))[0]).toBe(204);
    // A reader that has nothing of the turn holds nothing that was withdrawn.
    expect((await taken.from(0))[0]).toBe(200);
  });
});

it('a cut reply bears the same mark live, from the log, from rows and in history', async () => {
  const runtime = createScripted();
  const script = { say: 'Half a sentence', deltas: 3, fail: { status: 400, afterDeltas: 1 } };
  const posted = await ask(runtime, [scripted('u1', script)]);
  const entries = await runtime.streamManager.read('s1', 0, 100);
  const lost = entries.find(({ message }) => message.type === 'text_delta')?.sequence ?? 0;
  const cut = { ...runtime, streamManager: withoutLog(runtime.streamManager, lost) };
  const from = { 'x-resume-from-sequence': '0' };
  const mark = { helixInterrupted: { stop: 'failure' } };
  for (const { text } of [posted, await get(runtime, from), await get(cut, from)]) {
    expect(parseFrames(text).map(({ part }) => part)).toContainEqual({
      type: 'message-metadata',
      messageMetadata: mark,
    });
  }
  expect((await snapshotOf(runtime, 's1'))?.messages.at(-1)?.metadata).toEqual(mark);
});
