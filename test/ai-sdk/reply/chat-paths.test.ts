import { handleChatStream } from '../../../ai-sdk/index.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { createFakeRuntime } from '../../support/fake-runtime.js';
import { ask, asking, createAsking, get, GUARD, startAsking, user } from './ask.js';
import { snapshotOf } from '../../support/snapshot-of.js';

interface Part {
  type: string;
  transient?: true;
}

describe('user messages (paths 1, 2, 4)', () => {
  it('a new message continues the same session', async () => {
    const runtime = createFakeRuntime((session) => {
      session.step();
      session.say('Hi.');
      session.commit();
      session.end();
      return Promise.resolve();
    });
    const first = await ask(runtime, [user('u1')]);
    expect(parseFrames(first.text)[0]?.part).toEqual({ type: 'start', messageId: 'msg-1' });
    const second = await ask(runtime, [user('u2')], { 'x-existing-message-id': 'msg-1' });
    expect(parseFrames(second.text)[0]?.part).toEqual({ type: 'start', messageId: 'msg-3' });
  });

  it('posted again, it is accepted once and shows its turn again', async () => {
    const runtime = createAsking();
    const first = await ask(runtime, [user('u1')]);
    expect((await ask(runtime, [user('u1')])).text).toBe(first.text);
    const { rows = [] } = (await runtime.stateStore.sessions.view('s1')) ?? {};
    expect(rows.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it('one of an older turn is not replayed into the page', async () => {
    const runtime = createFakeRuntime((session) => {
      session.end();
      return Promise.resolve();
    });
    await ask(runtime, [user('u1')]);
    await ask(runtime, [user('u2')]);
    expect((await ask(runtime, [user('u1')])).status).toBe(409);
  });

  it('while a call waits, the new message supersedes it', async () => {
    const runtime = await startAsking();
    const reply = await ask(runtime, [user('u1'), { id: 'msg-1', role: 'assistant' }, user('u2')]);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-run-id')).toMatch(/^s1:2-/);
  });

  it('while the agent answers, another message is refused', async () => {
    const runtime = createFakeRuntime();
    const deps = { ...runtime, defaultAgent: 'lab' };
    const running = await handleChatStream(deps, { sessionId: 's1', messages: [user('u1')] });
    const reply = await ask(runtime, [user('u2')]);
    expect(reply.status).toBe(409);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'agent_already_running' });
    await running.body?.cancel();
  });
});

describe('GET (paths 5, 6)', () => {
  it('a GET replays the active turn from its beginning, and continues live', async () => {
    const runtime = createFakeRuntime(asking);
    await ask(runtime, [user('u1')]);
    const session = runtime.sessions.get('s1');
    session?.resume();
    const request = { method: 'GET', headers: new Headers() };
    const { body } = await handleChatStream(runtime, { sessionId: 's1', messages: [], request });
    const [seen, whole] = body?.tee() ?? [];
    // It has begun before the turn ends.
    await seen?.getReader().read();
    session?.end('interrupted');
    const parts = parseFrames(await new Response(whole).text()).map(({ part }) => part as Part);
    const types = parts.flatMap(({ type, transient }) => (transient === true ? [] : [type]));
    expect(types.slice(0, 3)).toEqual(['start', 'start-step', 'text-start']);
    expect(types.filter((type) => type === 'start')).toHaveLength(1);
    expect(types.slice(-4)).toEqual(GUARD);
  });

  it('a GET of a turn at rest has nothing, except for readers that report to be behind', async () => {
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

  it('a GET continues exactly at the position of a reader of raw events', async () => {
    const runtime = createFakeRuntime((session) => {
      session.step();
      session.say('Hello ');
      session.say('world');
      session.model({ type: 'tool_arg_stream_start', toolCallId: 'c1', toolName: 'echo' });
      session.model({ type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: '{}' });
      session.commit([{ id: 'c1', name: 'echo' }]);
      session.settle('c1', { output: 1 });
      session.end();
      return Promise.resolve();
    });
    await ask(runtime, [user('u1')]);
    // Sequence 1 is the step, 2 and 3 are text, 4 and 5 the arguments.
    const inText = await get(runtime, { 'last-event-id': '2' });
    expect(inText.types.slice(0, 5)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
    ]);
    expect(inText.text).not.toContain('Hello');
    const inArguments = await get(runtime, { 'last-event-id': '4' });
    expect(inArguments.types.slice(0, 4)).toEqual([
      'start',
      'start-step',
      'tool-input-start',
      'tool-input-delta',
    ]);
  });

  it.each(['paused', 'completed', 'failed'] as const)(
    'a GET lets an EventSource, which reconnects with its newest id, stop: %s',
    async (how) => {
      const runtime = createFakeRuntime((session, text, answers) => {
        if (how === 'paused') return asking(session, text, answers);
        session.step();
        session.say('Hello.');
        session.commit();
        if (how === 'failed')
          session.model({ type: 'error', error: 'no luck', recoverable: false });
        session.end(how);
        return Promise.resolve();
      });
      const { text } = await ask(runtime, [user('u1')]);
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

  it('a GET reports a failed turn to a page whose snapshot was active, and to no other', async () => {
    const runtime = createFakeRuntime((session) => {
      session.end('failed');
      return Promise.resolve();
    });
    const posted = await ask(runtime, [user('u1')]);
    const guard = ['start-step', 'message-metadata', 'finish-step'];
    expect(posted.types).toEqual(['start', ...guard, 'error', 'finish']);
    expect((await get(runtime, { 'x-resume-from-sequence': '0' })).text).toBe(posted.text);
    const snapshot = await snapshotOf(runtime, 's1');
    expect(snapshot).toMatchObject({
      status: 'failed',
      messages: [{ id: 'u1' }, { id: 'msg-1', parts: [{ type: 'step-start' }] }],
      run: { error: { message: 'The model provider failed.' } },
    });
    const sequence = String(snapshot?.streamSequence);
    expect((await get(runtime, { 'x-resume-from-sequence': sequence })).status).toBe(204);
    expect((await get(runtime)).status).toBe(204);
  });

  it('a GET sends the whole turn to a page whose snapshot was taken while it was active', async () => {
    const runtime = createFakeRuntime(asking);
    const posted = await ask(runtime, [user('u1')]);
    const session = runtime.sessions.get('s1');
    if (session === undefined) throw new Error('no session');
    session.record.stream = 'active';
    const snapshot = await snapshotOf(runtime, 's1');
    expect(snapshot).toMatchObject({
      status: 'active',
      messages: [{ id: 'u1' }],
      streamSequence: 0,
    });
    session.record.stream = 'paused';
    expect((await get(runtime)).text).toBe(posted.text);
  });

  it('a GET has nothing for a reader of single chunks once unseen chunks are gone', async () => {
    const runtime = createFakeRuntime(asking);
    await ask(runtime, [user('u1')]);
    expect((await get(runtime, { 'last-event-id': '2' })).status).toBe(200);
    runtime.sessions.get('s1')?.entries.splice(0, 3);
    expect((await get(runtime, { 'last-event-id': '2' })).status).toBe(204);
  });
});
