import { AgentRegistry } from '../../../agents/index.js';
import { decideReply, type ChatDeps, type ChatReply } from '../../../ai-sdk/index.js';
import type { PostedMessage } from '../../../protocol/http.js';
import type { Store } from '../../../store/contract/store.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { fakeModel, parts } from '../../support/fake-model.js';
import { AGENT, drive, newCall, type SessionDriver } from '../../support/session-driver.js';
import { attachReader } from '../../../ai-sdk/reply/attach-turn.js';
import { user } from './ask.js';
import { createIdleRuns } from '../../support/idle-workflows.js';
import { fakeAgent } from '../../support/fake-agent.js';

/** The store, and the names of the reads of sessions and calls that it was asked for. */
function countReads(store: Store): { store: Store; reads: string[] } {
  const reads: string[] = [];
  const { sessions, calls } = store;
  const noted = <Args extends unknown[], Result>(name: string, read: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      reads.push(name);
      return read(...args);
    };
  };
  return {
    reads,
    store: {
      ...store,
      sessions: {
        ...sessions,
        read: noted('read', sessions.read),
        view: noted('view', sessions.view),
        withCalls: noted('withCalls', sessions.withCalls),
        rows: noted('rows', sessions.rows),
      },
      calls: { ...calls, read: noted('call', calls.read) },
    },
  };
}

const agent = fakeAgent(
  AGENT,
  fakeModel(() => parts.says('hello')),
  { tools: [] },
);

describe('session reads of one request', () => {
  let deps: ChatDeps;
  let reads: string[];
  let session: SessionDriver;

  beforeEach(() => {
    const stores = createMemoryStores();
    session = drive(stores);
    const counted = countReads(stores.store);
    ({ reads } = counted);
    const agents = new AgentRegistry([agent]);
    const { streamManager } = stores;
    const executor = createIdleRuns({ store: counted.store, streamManager }, { agents });
    deps = { executor, stateStore: counted.store, streamManager, agents };
  });

  async function post(messages: PostedMessage[], userId = 'ann'): Promise<ChatReply> {
    reads.length = 0;
    const request = { method: 'POST', headers: new Headers() };
    return decideReply(deps, { sessionId: session.id, messages, userId, agent: AGENT, request });
  }

  /** A run that waits for answers to these calls. */
  async function asking(calls: Record<string, 'approval' | 'client'>): Promise<string> {
    const { runId } = await session.newRun('u1');
    const asked = Object.entries(calls).map(([id, kind]) => newCall(id, kind));
    await session.ask(runId, 1, asked);
    return runId;
  }

  const reply = (...answers: Record<string, unknown>[]): PostedMessage => ({
    id: 'msg-1',
    role: 'assistant',
    parts: [
      { type: 'step-start' },
      ...answers.map((answer) => ({ type: 'dynamic-tool', toolName: 'tool', ...answer })),
    ],
  });
  const approved = (runId: string, toolCallId: string): Record<string, unknown> => {
    const approval = { id: `${runId}::${toolCallId}`, approved: true };
    return { toolCallId, state: 'approval-responded', approval };
  };
  const result = (toolCallId: string): Record<string, unknown> => {
    return { toolCallId, state: 'output-available', output: 1 };
  };

  it('an approval takes one read of the session', async () => {
    const runId = await asking({ c1: 'approval' });
    const answer = await post([user('u1'), reply(approved(runId, 'c1'))]);
    expect([answer.kind, answer.runId]).toEqual(['stream', runId]);
    expect(reads).toEqual(['withCalls']);
    expect((await deps.stateStore.sessions.read(session.id))?.stream).toBe('active');
  });

  it('the answers to a whole batch take one read of the session', async () => {
    const runId = await asking({ c1: 'approval', c2: 'client', c3: 'approval' });
    const answers = [approved(runId, 'c1'), result('c2'), approved(runId, 'c3')];
    await post([user('u1'), reply(...answers)]);
    expect(reads).toEqual(['withCalls']);
    expect((await deps.stateStore.sessions.read(session.id))?.stream).toBe('active');
  });

  it('answers to part of a batch are followed by a second read, since another client may have answered the rest', async () => {
    const runId = await asking({ c1: 'approval', c2: 'approval' });
    await post([user('u1'), reply(approved(runId, 'c1'))]);
    expect(reads).toEqual(['withCalls', 'withCalls']);
  });

  it('a new message takes one read of the session', async () => {
    await post([user('u1')]);
    expect(reads).toEqual(['read']);
    const { runId } = (await deps.stateStore.sessions.read(session.id)) ?? { runId: '' };
    await session.stop();
    await session.end(runId, 'interrupted');
    const answer = await post([user('u1'), reply(), user('u2')]);
    expect(answer.kind).toBe('stream');
    expect(reads).toEqual(['read']);
  });

  it('a new message after an answered call takes one read of the session', async () => {
    const runId = await asking({ c1: 'client' });
    await session.stop();
    await session.end(runId, 'interrupted');
    await post([user('u1'), reply(result('c1')), user('u2')]);
    expect(reads).toEqual(['withCalls']);
  });

  it('a result of an earlier step takes the rows of the newest turn as well', async () => {
    const runId = await asking({ c1: 'client' });
    await post([user('u1'), reply(result('c1'))]);
    await session.ask(runId, 2, [newCall('c2', 'client')]);
    const step = { type: 'step-start' };
    const { parts: first = [] } = reply(result('c1'));
    const { parts: second = [] } = reply(result('c2'));
    const copy = { id: 'msg-1', role: 'assistant' as const, parts: [...first, step, ...second] };
    await post([user('u1'), copy]);
    expect(reads).toEqual(['withCalls', 'rows']);
    expect((await deps.stateStore.sessions.read(session.id))?.stream).toBe('active');
  });

  it('a stranger’s answer reads the record, and not the calls', async () => {
    const runId = await asking({ c1: 'approval' });
    const answer = await post([user('u1'), reply(approved(runId, 'c1'))], 'bob');
    expect(answer).toMatchObject({ kind: 'refused', error: { code: 'not_found' } });
    expect(answer.runId).toBeUndefined();
    expect(reads).toEqual(['withCalls']);
    const owner = { owner: 'bob' };
    const seen = await deps.stateStore.sessions.withCalls(session.id, owner);
    expect(seen?.openCalls).toEqual([]);
  });
});

const AT_END = { 'last-event-id': '9' };

it.each<[stream: string, headers: Record<string, string>, saw: number | null | undefined, boolean]>(
  [
    ['active', AT_END, undefined, true],
    ['ended', AT_END, undefined, false],
    ['ended', { 'last-event-id': '8' }, undefined, true],
    ['ended', {}, 5, true],
    ['ended', {}, 3, false],
    ['ended', {}, null, false],
  ],
)('a reader of an %s turn with %j that saw %s active reads it: %s', async (stream, ...rest) => {
  const [headers, sawActiveSince, isRead] = rest;
  const record = { sessionId: 's', runId: 'r', sequence: 9, turnStartSequence: 5, turn: 2, stream };
  const view = jest.fn(() => Promise.resolve(undefined));
  const params = { sawActiveSince, request: { headers: new Headers(headers) } };
  await attachReader(
    { deps: { stateStore: { sessions: { view } } }, params } as never,
    record as never,
  );
  expect(view).toHaveBeenCalledTimes(isRead ? 1 : 0);
});
