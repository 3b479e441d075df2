import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { formatWebhookToken } from '../../protocol/answers.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { At } from '../../protocol/run.js';
import { createAnswers } from '../../runs/record/answers.js';
import { createRunWorkflows } from '../../runs/run-workflows.js';
import type { Due } from '../../store/contract/due.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { approval, server } from '../../store/conformance/fixtures.js';
import type { Case } from '../../store/conformance/suite.js';
import { grow, heldCall } from '../../store/conformance/tree.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { createIdleRuns, IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { changing, drive, userMessage } from '../support/session-driver.js';
import { until } from '../support/until.js';

it.each(['a person', 'a deadline'])(
  'what ends the last wait of a conversation wakes every run of it: %s',
  async (last) => {
    const stores = createMemoryStores();
    const woken = new Set<string>();
    const wake = async (runId: string) => void woken.add(runId);
    const { submitToolResult, expireCalls } = createIdleRuns(stores, { workflows: { wake } });
    const session = drive(stores);
    const setup = { ...stores, session } as Case;
    const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'r')]);
    const asking = [tree.runId];
    for (const [at, { driver, ref }] of tree.children.entries()) {
      const late = at === 1 && last === 'a deadline' ? { deadlineMs: 1 } : {};
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, `c${String(at)}`, 'approval', late)]);
      asking.push(ref.runId);
    }
    const ids = last === 'a person' ? ['c1', 'c0', 'r'] : ['c0', 'r'];
    for (const toolCallId of ids) {
      expect(woken.size).toBe(0);
      const { spec } = (await stores.store.calls.read(session.id, toolCallId)) ?? {};
      const approvalId = formatApprovalId(spec?.runId ?? '', toolCallId);
      const answer = { kind: 'approval-response', approved: false } as const;
      const of = { sessionId: session.id, toolCallId, approvalId, by: 'ann' };
      expect(await submitToolResult({ ...answer, ...of })).toMatchObject({ kind: 'stored' });
    }
    if (last === 'a deadline') await until('it is over', () => expireCalls(session.id));
    // No reply to an answer waits for the signals.
    await until('all are woken', () => woken.size >= asking.length);
    expect([...woken].sort()).toEqual(asking.sort());
  },
);

it('no reply to an answer waits for the signal to the run, but an exit does', async () => {
  const stores = createMemoryStores();
  let arrive: (() => void) | undefined;
  const wake = () => new Promise<void>((resolve) => (arrive = resolve));
  const { submitToolResult, idle } = createIdleRuns(stores, { workflows: { wake } });
  const session = drive(stores);
  await session.asked(approval('c1'));
  const answer = { kind: 'approval-response', approved: true, by: 'ann' } as const;
  const reply = await submitToolResult({ ...answer, sessionId: session.id, toolCallId: 'c1' });
  expect(reply).toMatchObject({ kind: 'stored' });
  await until('the run is signalled', () => Promise.resolve(arrive !== undefined));
  const later = new Promise((resolve) => setImmediate(resolve, 'at work'));
  expect(await Promise.race([idle(), later])).toBe('at work');
  arrive?.();
  await idle();
});

/** Starts a run whose call is about to wait for its webhook. */
async function hooked({ store, session }: Pick<Case, 'store' | 'session'>) {
  const { runId } = await session.asked(server('s'));
  const base = { writer: session.callWriter(runId, 1, 's', 1), toolCallId: 's', now: Date.now() };
  const secret = 'A'.repeat(43);
  await store.calls.start({ ...base, hook: secret });
  const token = formatWebhookToken({ sessionId: session.id, toolCallId: 's', secret });
  return { runId, token, suspend: () => store.calls.suspend(base) };
}

/** Starts a run whose call waits for its webhook. */
async function suspended(given: Pick<Case, 'store' | 'session'>) {
  const { suspend, ...call } = await hooked(given);
  await suspend();
  return call;
}

it('an answer that is repeated, or a resumption, wakes the run again until it has continued', async () => {
  const stores = createMemoryStores();
  const woken: string[] = [];
  const wake = async (runId: string) => void woken.push(runId);
  const { submitToolResult, resume, idle } = createIdleRuns(stores, { workflows: { wake } });
  const session = drive(stores);
  const { runId } = await session.asked(approval('c1'));
  const answer = { kind: 'approval-response', approved: true, by: 'ann' } as const;
  const again = async (): Promise<string[]> => {
    await submitToolResult({ ...answer, sessionId: session.id, toolCallId: 'c1' });
    await idle();
    expect(await resume({ sessionId: session.id })).toEqual({ kind: 'active', runId });
    return woken.splice(0);
  };
  expect(await again()).toEqual([runId, runId]);
  expect(await again()).toEqual([runId, runId]);
  await session.carryOut(runId, 1, 'c1', 'ok');
  await resume({ sessionId: session.id });
  expect(woken).toEqual([]);
});

it('a webhook wakes the run whose call it answers', async () => {
  const stores = createMemoryStores();
  const woken: string[] = [];
  const wake = async (runId: string) => void woken.push(runId);
  const { callWebhook } = createIdleRuns(stores, { workflows: { wake } });
  const { runId, token } = await suspended({ ...stores, session: drive(stores) });
  await callWebhook(token, { value: 1 });
  await until('the run is woken', () => woken.length > 0);
  expect(woken).toEqual([runId]);
});

it('a request to a webhook does not answer a call that begins to wait while it is checked', async () => {
  const stores = createMemoryStores();
  const { token, suspend } = await hooked({ ...stores, session: drive(stores) });
  const store = changing(stores.store, (changes) => {
    const settle: typeof changes.calls.settle = async (...input) => {
      await suspend();
      return changes.calls.settle(...input);
    };
    return { ...changes, calls: { ...changes.calls, settle } };
  });
  const logger = { warn: () => undefined };
  const agents = { get: () => undefined };
  const answers = createAnswers({ store, agents, host: 'api', holdMs: 1, logger });
  await expect(answers.callWebhook(token, 1)).rejects.toMatchObject({ code: 'unavailable' });
});

/** Opens runs whose notes to the sweeper about one conversation fail. */
function openUnnoted() {
  const stores = createMemoryStores();
  const session = drive(stores);
  let unnoted = session.id;
  const { due } = stores.store;
  const note: Due['note'] = (sessionId, ...more) =>
    sessionId === unnoted ? Promise.reject(new Error('not noted')) : due.note(sessionId, ...more);
  const of = (): Due => ({ ...due, note });
  const runs = createIdleRuns({ ...stores, store: { ...stores.store, due: { ...due, of } } });
  return { ...stores, session, runs, isAbout: (id: string) => (unnoted = id) };
}

type Unnoted = (stage: ReturnType<typeof openUnnoted>) => Promise<() => Promise<unknown>>;

// The process may die behind the change, and then only the sweeper does the rest.
it.each<[string, Unnoted]>([
  [
    'begins',
    async ({ runs, session }) => {
      const messages = [userMessage('u1')];
      return () => runs.execute({ sessionId: session.id, agent: 'a', owner: 'ann', messages });
    },
  ],
  [
    'begins its queued messages',
    async ({ runs, session }) => {
      const { runId } = await session.newRun();
      await session.enqueue('u2');
      await session.end(runId, 'completed');
      return () => runs.startNext(session.id);
    },
  ],
  [
    'continues',
    async ({ runs, session }) => {
      await session.newRun();
      await session.stop();
      return () => runs.resume({ sessionId: session.id });
    },
  ],
  [
    'is repeated',
    async ({ runs, session }) => {
      await session.newRun();
      await session.stop();
      return () => runs.retry({ sessionId: session.id });
    },
  ],
  [
    'is a copy',
    async ({ runs, session, isAbout }) => {
      await session.newRun();
      await session.stop();
      const newSessionId = isAbout('s-copy');
      return () => runs.branch({ sessionId: session.id, newSessionId });
    },
  ],
  [
    'is adopted',
    async ({ runs, session }) => {
      const { row } = userMessage('u1');
      return () => runs.adopt({ sessionId: session.id, agent: 'a', owner: 'ann', rows: [row] });
    },
  ],
  [
    'is stopped through a sub-agent',
    async (stage) => {
      const tree = await grow(stage, 1, () => []);
      const [child] = tree.children;
      return () => stage.runs.stop(child?.driver.id ?? '', { mode: 'abort' });
    },
  ],
  [
    'is answered',
    async ({ runs, session }) => {
      await session.asked(approval('a'));
      const answer = { kind: 'approval-response', approved: true, by: 'ann' } as const;
      return () => runs.submitToolResult({ ...answer, sessionId: session.id, toolCallId: 'a' });
    },
  ],
  [
    'has a request to a webhook',
    async (stage) => {
      const { token } = await suspended(stage);
      return () => stage.runs.callWebhook(token, 1);
    },
  ],
  [
    'has an overdue call',
    async ({ runs, session }) => {
      await session.asked(approval('a', { deadlineMs: 1 }));
      return () => until('it is over', () => runs.expireCalls(session.id));
    },
  ],
  [
    'has a later deadline',
    async ({ runs, session }) => {
      await session.asked(approval('a', { deadlineMs: 60_000 }));
      const call = { sessionId: session.id, toolCallId: 'a' };
      return () => runs.extendDeadline({ ...call, byMs: 1, by: 'ann' });
    },
  ],
  [
    'is erased',
    async ({ runs, session }) => {
      await session.newRun();
      return () => runs.deleteSession(session.id);
    },
  ],
])('nothing changes unless the sweeper knows of it: a conversation that %s', async (_, prepare) => {
  const stage = openUnnoted();
  const act = await prepare(stage);
  const before = await stage.session.view();
  await expect(act()).rejects.toThrow('not noted');
  expect(await stage.session.view()).toEqual(before);
});

it('a stop of a run whose model speaks is in the mailbox of the workers, too', async () => {
  const { store, streamManager } = createMemoryStores();
  const session = drive({ store, streamManager });
  const { runId } = await session.newRun();
  await session.claim(session.writer(runId, 1, 1));
  const { stop } = createIdleRuns({ store, streamManager });
  expect(await stop(session.id, { mode: 'interrupt' })).toMatchObject({ kind: 'stopping' });
  const workers = store.leases?.of(IDLE_WORKFLOWS.namespace);
  const renewed = await until('a renewal brings it', async () => {
    const { stops } = (await workers?.renew('worker', 1_000)) ?? { stops: [] };
    return stops.length > 0 ? stops : undefined;
  });
  expect(renewed).toEqual([{ sessionId: session.id, runId }]);
});

it('a repetition waits for the end of the reply that is given up for it', async () => {
  const stores = createMemoryStores();
  const session = drive(stores);
  const { runId } = await session.claimed();
  const stops: object[] = [];
  const store = changing(stores.store, (changes) => {
    const stop: typeof changes.runs.stop = (sessionId, request, noted) => {
      stops.push(request);
      return changes.runs.stop(sessionId, request, noted);
    };
    return { ...changes, runs: { ...changes.runs, stop } };
  });
  const { retry } = createIdleRuns({ ...stores, store });
  const again = retry({ sessionId: session.id, stops: runId, by: 'bob' });
  await until('it is to stop', async () => (await session.record())?.stop !== undefined);
  await session.end(runId, 'interrupted');
  expect(await again).toMatchObject({ turn: 1, messageId: 'msg-1' });
  const act = expect.objectContaining({ action: 'stop', by: 'bob' });
  expect(stops).toMatchObject([{ mode: 'interrupt', runId, reason: 'superseded', by: 'bob', act }]);
});

it('a repetition leaves a turn of another request that has begun and ended meanwhile', async () => {
  const stores = createMemoryStores();
  const session = drive(stores);
  const { runId } = await session.claimed();
  const streamManager: StreamManager = {
    ...stores.streamManager,
    follow: async function* (...from) {
      try {
        yield* stores.streamManager.follow(...from);
      } finally {
        const next = await session.newRun();
        await session.end(next.runId, 'completed');
      }
    },
  };
  const { retry } = createIdleRuns({ ...stores, streamManager });
  const again = retry({ sessionId: session.id, stops: runId });
  const refused = expect(again).rejects.toMatchObject({ code: 'stale_run' });
  await until('it is to stop', async () => (await session.record())?.stop !== undefined);
  await session.end(runId, 'interrupted');
  await refused;
  expect(await session.record()).toMatchObject({ turn: 2, status: 'completed' });
});

it('the sweep tells an open workflow that its run was stopped, and lists what asks again', async () => {
  const stores = createMemoryStores();
  const woken: unknown[] = [];
  const wake = async (runId: string, hint?: object) => void woken.push([runId, hint]);
  const { sweepSession } = createIdleRuns(stores, { workflows: { wake } });
  const session = drive(stores);
  const { runId } = await session.asked(approval('a'));
  // The process that paused the run died before it listed the question.
  await stores.store.waiting.forget(session.id);
  expect(await stores.store.waiting.standing()).toEqual({ count: 0 });
  expect(await sweepSession(session.id)).toMatchObject({ kind: 'waiting' });
  expect(await stores.store.waiting.standing()).toMatchObject({ count: 1 });
  await session.stop();
  expect(await sweepSession(session.id)).toEqual({ kind: 'idle' });
  expect(woken).toEqual([[runId, { ended: true }]]);
});

describe('a wake-up', () => {
  const at: At = { version: 3, sequence: 9, next: { do: 'model', step: 2 } };
  const closed = new WorkflowNotFoundError('it has ended', 'run:s:1-n', undefined);

  /** Wakes a run on a Temporal that fails these messages, or never answers; returns the sent ones. */
  async function wakeOn(
    failing: Record<string, Error | 'silent'>,
    hint?: { at: At },
    sent: unknown[] = [],
  ): Promise<unknown[]> {
    const send = async (how: string, name: string, content: unknown): Promise<void> => {
      sent.push([how, name, content]);
      const failure = failing[how];
      if (failure === 'silent') await new Promise(() => undefined);
      else if (failure !== undefined) throw failure;
    };
    const handle = {
      signal: (name: string, content: unknown) => send('signal', name, content),
      executeUpdate: (name: string, { args }: { args: unknown[] }) => send('update', name, args[0]),
    };
    const client = {
      options: { namespace: 'default' },
      connection: { withDeadline: <T>(_: unknown, call: () => Promise<T>) => call() },
      workflow: { getHandle: () => handle },
    };
    await createRunWorkflows(client as unknown as Client, 'q').wake('s:1-n', hint);
    return sent;
  }

  it('goes as an update if the next work is known, and else as a signal, which Temporal keeps', async () => {
    expect(await wakeOn({}, { at })).toEqual([['update', 'look', { at }]]);
    expect(await wakeOn({})).toEqual([['signal', 'look', {}]]);
  });

  it('is repeated as a signal if no worker takes the update', async () => {
    const late = new Error('no answer in time');
    expect(await wakeOn({ update: late }, { at })).toEqual([
      ['update', 'look', { at }],
      ['signal', 'look', { at }],
    ]);
    await expect(wakeOn({ update: late, signal: late }, { at })).rejects.toBe(late);
  });

  it('is repeated as a signal while a process that ends still waits, if no worker answers', async () => {
    jest.useFakeTimers();
    const sent: unknown[] = [];
    const woken = wakeOn({ update: 'silent' }, { at }, sent);
    // An API that ends waits a second.
    await jest.advanceTimersByTimeAsync(900);
    jest.useRealTimers();
    expect(sent).toEqual([
      ['update', 'look', { at }],
      ['signal', 'look', { at }],
    ]);
    await woken;
  });

  it('is not missed by a run that has ended', async () => {
    await wakeOn({ update: closed, signal: closed }, { at });
    await wakeOn({ signal: closed });
  });
});
