import { AgentRegistry } from '../../agents/index.js';
import type { RunInput } from '../../protocol/run.js';
import type { BeginInput } from '../../store/contract/runs.js';
import type { Due } from '../../store/contract/due.js';
import { approval } from '../../store/conformance/fixtures.js';
import { takeStep } from '../../store/conformance/session/played-turns.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { NOTHING, type WorkflowLook } from '../../runs/workflow-look.js';
import { createIdleRuns, IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { drive, newSessionId, userMessage } from '../support/session-driver.js';
import { until } from '../support/until.js';
import { fakeAgent } from '../support/fake-agent.js';

const agent = fakeAgent('tester', 'scripted');

/** Composes runs over a fake Temporal and a fake list of due sessions, which record their calls. */
function compose({
  startsNothing = false,
  refusal,
}: { startsNothing?: boolean; refusal?: () => Promise<never> } = {}) {
  const stores = createMemoryStores();
  const session = drive(stores);
  const [started, woken, noted]: [RunInput[], unknown[][], number[]] = [[], [], []];
  const look: { found?: WorkflowLook; count: number } = { found: NOTHING, count: 0 };
  const { due } = stores.store;
  const note: Due['note'] = (id, inMs) => {
    noted.push(inMs);
    return due.note(id, inMs);
  };
  const store = { ...stores.store, due: { ...due, of: (): Due => ({ ...due, note }) } };
  const runs = createIdleRuns(
    { ...stores, store },
    {
      agents: new AgentRegistry([agent]),
      workflows: {
        start: async (input) => {
          started.push(input);
          if (startsNothing) await new Promise(() => undefined);
          await refusal?.();
        },
        wake: async (runId, hint) => void woken.push([runId, ...(hint ? [hint] : [])]),
        look: async () => {
          look.count += 1;
          if (look.found === undefined) throw new Error('away');
          return look.found;
        },
      },
    },
  );
  const messageOf = (id: string, more: Partial<BeginInput> = {}) => ({
    sessionId: session.id,
    agent: agent.name,
    owner: 'ann',
    messages: [userMessage(id)],
    ...more,
  });
  const execute = (id: string, more?: Partial<BeginInput> & { startAt?: number }) =>
    runs.execute(messageOf(id, more));
  const prepare = (id: string, more?: Partial<BeginInput>) => runs.prepare(messageOf(id, more));
  return { ...stores, runs, session, started, woken, noted, look, execute, prepare };
}

describe('a begin that a workflow retries', () => {
  it('postpones no look at a run that is at work, and is noted while the run may be on no list', async () => {
    const { session, noted, execute, prepare } = compose();
    expect(await prepare('u1')).toMatchObject({ kind: 'begun' });
    expect(await prepare('u1')).toEqual({ kind: 'accepted' });
    expect(noted.splice(0)).toEqual([15_000, 15_000]);
    const { runId = '' } = (await session.record()) ?? {};
    await session.claim(session.writer(runId, 1, 1));
    expect(await prepare('u1')).toEqual({ kind: 'accepted' });
    expect(await prepare('u2')).toMatchObject({ kind: 'busy' });
    expect(noted).toEqual([]);
    expect(await execute('u2')).toMatchObject({ kind: 'busy' });
    expect(noted).toEqual([3_000]);
  });

  it('has what starts its workflow until the run has begun', async () => {
    const { session, runs, started, prepare } = compose();
    await prepare('u1');
    const { runId = '' } = (await session.record()) ?? {};
    expect(await runs.startOf(session.id, runId)).toMatchObject({ input: { runId } });
    expect(await runs.startOf(session.id, `${session.id}:1-older`)).toBeUndefined();
    await session.claim(session.writer(runId, 1, 1));
    expect(await runs.startOf(session.id, runId)).toBeUndefined();
    await runs.idle();
    expect(started).toEqual([]);
  });

  it('does not look at a run that waits for people, however long, as other messages do', async () => {
    const { session, look, execute, prepare } = compose();
    look.found = { ...NOTHING, state: 'running', isAtWork: true };
    await session.asked(approval('a'));
    const { now } = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
    const waits = { policy: 'queue', keepsQuestions: true } as const;
    expect(await prepare('u2', waits)).toMatchObject({ kind: 'queued' });
    expect(look.count).toBe(0);
    await execute('u3', waits);
    expect(look.count).toBe(1);
  });
});

describe('a message that comes while', () => {
  /** A conversation whose queued message no process has begun after the end of a run. */
  async function openLeft() {
    const composed = compose();
    const { session } = composed;
    const { runId } = await session.newRun();
    await session.enqueue('u2');
    await session.end(runId, 'completed');
    return composed;
  }

  it('queued messages are left begins their run', async () => {
    const { session, noted, prepare } = await openLeft();
    expect(await prepare('u3')).toMatchObject({ kind: 'busy' });
    expect(await session.record()).toMatchObject({ status: 'starting', turn: 2, queued: 0 });
    // The look notes the session, and the retried message does not.
    expect(noted).toEqual([3_000]);
  });

  it('queued messages are left starts their run, and waits behind them', async () => {
    const { session, runs, started, execute } = await openLeft();
    expect(await execute('u3', { policy: 'queue' })).toMatchObject({ kind: 'queued' });
    await runs.idle();
    const { runId } = (await session.record()) ?? {};
    expect(started).toMatchObject([{ runId, turn: 2 }]);
  });

  it('a run is lost ends that run and begins its own, once Temporal can be asked', async () => {
    const { session, look, execute } = compose();
    const { runId } = await session.claimed();
    const { now } = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
    delete look.found;
    expect(await execute('u2')).toMatchObject({ kind: 'busy' });
    look.found = { ...NOTHING, state: 'closed' };
    expect(await execute('u2')).toMatchObject({ kind: 'begun' });
    expect(await session.runs()).toMatchObject([{ runId, status: 'failed' }, { turn: 2 }]);
  });

  it('a model speaks stops it, if it is to interrupt', async () => {
    const { store, session, execute } = compose();
    const { runId } = await session.claimed();
    expect(await execute('u2', { policy: 'interrupt' })).toMatchObject({ kind: 'interrupting' });
    const workers = store.leases?.of(IDLE_WORKFLOWS.namespace);
    const { stops } = (await workers?.renew('worker', 1_000)) ?? {};
    expect(stops).toEqual([{ sessionId: session.id, runId }]);
  });

  it('a run waits for people tells that run that it has ended', async () => {
    const { session, runs, woken, execute } = compose();
    const { runId } = await session.asked(approval('a'));
    await execute('u2', { policy: 'interrupt' });
    await runs.idle();
    expect(woken).toEqual([[runId]]);
  });
});

describe('the start of a workflow', () => {
  it('that was lost is repeated as it was, with its time and what its turn had before', async () => {
    const { session, runs, started, execute } = compose();
    const startAt = Date.now() + 60_000;
    await execute('u1', { startAt });
    const repeat = async () => {
      const record = await session.record();
      if (record === undefined) throw new Error('no conversation');
      await runs.startRun(record);
      await runs.idle();
      return started.splice(0);
    };
    const [first, again] = await repeat();
    expect(first).toMatchObject({ startAt });
    expect(again).toEqual(first);
    const run = await session.newRun({ messages: [userMessage('u2')], policy: 'interrupt' });
    await takeStep(session, run, 1);
    await session.stop();
    await runs.resume({ sessionId: session.id });
    const [resumed, lost] = await repeat();
    expect(resumed).toMatchObject({ from: { step: 1, known: expect.any(Number) } });
    expect(lost).toEqual(resumed);
  });

  it('which Temporal refuses for good ends the run, unless it has begun after all', async () => {
    for (const hasBegun of [false, true]) {
      const { session, runs, execute } = compose({
        refusal: async () => {
          const { runId = '' } = (await session.record()) ?? {};
          if (hasBegun) await session.claim(session.writer(runId, 1, 1));
          throw Object.assign(new Error('invalid argument'), { code: 3 });
        },
      });
      await execute('u1');
      await runs.idle();
      expect(await session.record()).toMatchObject(
        hasBegun
          ? { status: 'running' }
          : { status: 'failed', error: { code: 'engine_unavailable' } },
      );
    }
  });

  it('is left to the sweeper while too many are in progress', async () => {
    const { started, execute } = compose({ startsNothing: true });
    for (let n = 0; n < 201; n += 1) await execute('u1', { sessionId: newSessionId() });
    await until('they are being started', () => Promise.resolve(started.length >= 200));
    await new Promise(setImmediate);
    expect(started).toHaveLength(200);
  });
});

describe('a stop', () => {
  it('that no writer confirms ends its run as asked, and no later one', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { session, runs } = compose();
    const first = await session.claimed();
    expect(await runs.stop(session.id, { mode: 'abort' })).toMatchObject({ kind: 'stopping' });
    await jest.advanceTimersByTimeAsync(1_900);
    expect(await session.record()).toMatchObject({ status: 'running' });
    await jest.advanceTimersByTimeAsync(200);
    expect(await session.record()).toMatchObject({ status: 'aborted', runId: first.runId });
    const second = await session.claimed();
    await runs.stop(session.id, { mode: 'interrupt' });
    await session.end(second.runId, 'interrupted');
    const third = await session.claimed();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await session.record()).toMatchObject({ status: 'running', runId: third.runId });
    await runs.stop(session.id, { mode: 'interrupt' });
    await jest.advanceTimersByTimeAsync(2_100);
    expect(await session.record()).toMatchObject({ status: 'interrupted', runId: third.runId });
  });

  it('counts, as a message does, although nothing can be reached behind it', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { store, streamManager } = createMemoryStores();
    const [working, waiting] = [drive({ store, streamManager }), drive({ store, streamManager })];
    const away = () => Promise.reject(new Error('away'));
    const leases = { of: () => ({ noteStop: away, holders: away }) } as never;
    const sessions = { ...store.sessions, read: away };
    const warn = jest.fn();
    const stores = {
      store: { ...store, leases, sessions },
      streamManager: { ...streamManager, inspect: away },
    };
    const runs = createIdleRuns(stores, { workflows: { wake: away }, logger: { warn } });
    const of = { sessionId: newSessionId(), agent: agent.name, owner: 'ann' };
    const begun = await runs.execute({ ...of, messages: [userMessage('u1')] });
    expect(begun).toMatchObject({ kind: 'begun' });
    await working.claimed();
    expect(await runs.stop(working.id, { mode: 'abort' })).toMatchObject({ kind: 'stopping' });
    await waiting.asked(approval('a'));
    expect(await runs.stop(waiting.id, { mode: 'abort' })).toMatchObject({ kind: 'ended' });
    await jest.advanceTimersByTimeAsync(2_100);
    expect(warn).toHaveBeenCalledTimes(4);
  });

  it.each([
    ['people', undefined],
    ['its provider', true],
  ])('wakes a run that waits for %s; that it is over: %j', async (whom, ended) => {
    const { store, session, runs, woken } = compose();
    const asks = whom === 'people';
    const { runId } = asks ? await session.asked(approval('a')) : await session.claimed();
    const wait = { failure: 1, reason: 'provider_overloaded', waitMs: 60_000, now: 1 } as const;
    if (!asks) await store.steps.discard({ writer: session.writer(runId, 1, 1), ...wait });
    expect(await runs.stop(session.id, { mode: 'interrupt' })).toMatchObject({ kind: 'ended' });
    expect(woken).toEqual([[runId, { ended }]]);
  });
});
