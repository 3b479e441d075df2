import { createRelease } from '../../runs/agent-pauses.js';
import { hashText } from '../../runs/record/acts.js';
import { NOTHING } from '../../runs/workflow-look.js';
import { HelixError } from '../../protocol/errors.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { newSessionId, userMessage } from '../support/session-driver.js';
import { createIdleRuns } from '../support/idle-workflows.js';
import { until } from '../support/until.js';
import type { RunWorkflows } from '../../runs/run-workflows.js';
import { fakeAgent } from '../support/fake-agent.js';

const logger = { warn: () => undefined };

/** Composes runs on stores in memory and a Temporal that notes started workflows. */
function compose() {
  const { store, streamManager } = createMemoryStores();
  const started: string[] = [];
  const temporal: { isAway: boolean; asked: number; fault?: Error | undefined; faulty?: string } = {
    isAway: false,
    asked: 0,
  };
  const agent = fakeAgent('guide', 'scripted');
  const start: RunWorkflows['start'] = async ({ sessionId }) => {
    temporal.asked += 1;
    if (temporal.isAway) throw new HelixError('unavailable', 'away');
    const { fault, faulty = sessionId } = temporal;
    if (fault !== undefined && faulty === sessionId) throw fault;
    started.push(sessionId);
  };
  const runs = createIdleRuns(
    { store, streamManager },
    { agents: [agent], workflows: { start, look: async () => NOTHING }, startWithinMs: -1 },
  );
  const pauses = store.pauses.of('test');
  const { startRun } = runs;
  /** Creates the looks of a process, each after the previous lease. */
  const createLook = (startWithinMs?: number, isLeased = true): (() => Promise<void>) => {
    const due = { ...store.due, lease: () => Promise.resolve(isLeased) };
    const of = { pauses, store: { sessions: store.sessions, due }, startRun };
    return createRelease({ ...of, holder: 'w', startWithinMs, logger });
  };
  const release = (): Promise<void> => createLook()();
  const begin = async (tenant?: string): Promise<string> => {
    const sessionId = newSessionId();
    await runs.execute({
      sessionId,
      agent: 'guide',
      owner: 'ann',
      tenant,
      messages: [userMessage('u1')],
    });
    await runs.idle();
    return sessionId;
  };
  const heldOf = async (sessionId: string): Promise<{ runId: string; agent: string }> => {
    const { runId = '' } = (await store.sessions.read(sessionId)) ?? {};
    return { runId, agent: 'guide' };
  };
  return {
    store,
    streamManager,
    runs,
    pauses,
    heldOf,
    agents: runs.pauses,
    started,
    temporal,
    createLook,
    release,
    begin,
  };
}

const REQUEST = { agent: 'guide', everywhere: false, by: 'olga', reason: 'a storm' };

it('a pause holds a run that is to begin later only if its workflow is not started', async () => {
  const { store, runs, pauses, agents, started } = compose();
  const later = { agent: 'guide', owner: 'ann', startAt: Date.now() + 3_600_000 };
  const waiting = { sessionId: newSessionId(), messages: [userMessage('u1')] };
  await runs.execute({ ...later, ...waiting });
  await runs.idle();
  await agents.pause(REQUEST);
  await runs.sweepSession(waiting.sessionId);
  expect(started).toEqual([waiting.sessionId]);
  expect(await pauses.held()).toEqual([]);
  // The process died before it started the workflow.
  const left = { sessionId: newSessionId(), messages: [userMessage('u2')] };
  await store.runs.begin({ ...later, ...left, nonce: 'n', now: Date.now() - 10_000 });
  await runs.sweepSession(left.sessionId);
  expect(started).toEqual([waiting.sessionId]);
  expect(await pauses.held()).toEqual([{ agent: 'guide', count: 1 }]);
});

it('no run of a paused agent is started or given up, and all start in their order', async () => {
  const { store, runs, agents, started, temporal, createLook, release, begin } = compose();
  await agents.pause(REQUEST);
  const ids: string[] = [];
  let before = 0;
  while (ids.length < 25) {
    // Runs of the same millisecond have no order.
    if (Date.now() > before) ids.push(await begin());
    before = Date.now();
  }
  const [first = '', stopped = ''] = ids;
  expect(await runs.sweepSession(first)).toEqual({ kind: 'active', againMs: 60_000 });
  const record = await store.sessions.read(first);
  expect(record?.status).toBe('starting');
  expect(record !== undefined && (await agents.isHeld(record))).toBe(true);
  await release();
  expect(started).toEqual([]);

  await agents.resume(REQUEST);
  temporal.isAway = true;
  temporal.asked = 0;
  await release();
  expect(temporal.asked).toBe(1);
  // The sweep neither starts the run out of turn nor gives it up.
  expect(await runs.sweepSession(first)).toEqual({ kind: 'active', againMs: 60_000 });
  temporal.isAway = false;
  // Its process dies before it removes the run from the list.
  await store.runs.stop(stopped, { mode: 'interrupt' });
  await createLook(undefined, false)();
  expect(started).toEqual([]);
  await release();
  const rest = ids.filter((id) => id !== stopped);
  expect(started).toEqual(rest.slice(0, 20));
  await release();
  expect(started).toEqual(rest);
  expect(await agents.held()).toEqual([]);
  const { entries } = await store.audit.page(undefined, { limit: 10 });
  const acts = entries.filter(({ entry }) => entry.action.endsWith('pause'));
  expect(acts.map(({ entry }) => [entry.action, entry.detail])).toEqual([
    ['unpause', { agent: 'guide', everywhere: false }],
    ['pause', { agent: 'guide', everywhere: false }],
  ]);
});

it('a pause of one tenant holds the runs of that tenant alone, until it is resumed', async () => {
  const { store, runs, agents, started, begin, release } = compose();
  const request = { ...REQUEST, tenant: 'acme' };
  const { reason, ...scope } = request;
  expect(await agents.pause(request)).toBe(true);
  expect(await agents.list()).toEqual([{ ...request, at: expect.any(Number) }]);
  const others = [await begin(), await begin('other')];
  expect(started.splice(0)).toEqual(others);
  const held = { sessionId: await begin('acme'), agent: 'guide', owner: 'ann', tenant: 'acme' };
  // The run that replaces it takes its place.
  await runs.execute({ ...held, messages: [userMessage('u2')], policy: 'interrupt' });
  await runs.idle();
  expect(await agents.held()).toEqual([{ agent: 'guide', tenant: 'acme', count: 1 }]);
  expect(await runs.sweepSession(held.sessionId)).toEqual({ kind: 'active', againMs: 60_000 });
  for (const tenant of [undefined, 'other'])
    expect(await agents.resume({ ...scope, tenant })).toBe(false);
  expect(await agents.resume({ ...scope, everywhere: true })).toBe(false);
  await release();
  expect(started).toEqual([]);
  expect(await agents.resume(scope)).toBe(true);
  await release();
  expect(started).toEqual([held.sessionId]);
  const { entries } = await store.audit.page('acme', { limit: 10 });
  const acts = entries.filter(({ entry }) => entry.action.endsWith('pause'));
  expect(acts.map(({ entry, name }) => [entry.action, name, entry.reasonHash])).toEqual([
    ['unpause', 'olga', undefined],
    ['unpause', 'olga', undefined],
    ['pause', 'olga', hashText(reason)],
  ]);
});

it('an agent is not paused by an act that cannot be recorded, nor resumed', async () => {
  const { store, agents } = compose();
  const record = jest.spyOn(store.audit, 'record');
  const fails = () => record.mockRejectedValueOnce(new Error('away'));
  fails();
  await expect(agents.pause(REQUEST)).rejects.toThrow('away');
  expect(await agents.list()).toEqual([]);
  await agents.pause(REQUEST);
  fails();
  await expect(agents.resume(REQUEST)).rejects.toThrow('away');
  expect(await agents.list()).toHaveLength(1);
});

it('a run whose process died before it held it is held by the sweeper', async () => {
  const { runs, agents, heldOf, started, temporal, begin, release } = compose();
  temporal.isAway = true;
  const sessionId = await begin();
  temporal.isAway = false;
  await agents.pause(REQUEST);
  expect(await runs.sweepSession(sessionId)).toEqual({ kind: 'active', againMs: 60_000 });
  expect(started).toEqual([]);
  // A parent workflow that began the run does not start it as a child, either.
  const { runId } = await heldOf(sessionId);
  expect(await runs.startOf(sessionId, runId)).toBeUndefined();
  await agents.resume(REQUEST);
  await release();
  expect(started).toEqual([sessionId]);
  expect(await runs.startOf(sessionId, runId)).toMatchObject({ input: { runId } });
});

it('a released run whose start fails keeps being held, and is tried again behind the others', async () => {
  const { runs, pauses, heldOf, agents, started, temporal, begin, release } = compose();
  await agents.pause(REQUEST);
  const begunAt = Date.now();
  const first = await begin();
  await until('runs have an order', () => Date.now() > begunAt);
  const second = await begin();
  await agents.resume(REQUEST);
  temporal.fault = new HelixError('agent_not_found', 'no such agent here');
  temporal.faulty = first;
  await release();
  temporal.fault = undefined;
  expect([temporal.asked, started.splice(0)]).toEqual([2, [second]]);
  // The pause has held the run for longer than a start may take.
  expect(await runs.sweepSession(first)).toEqual({ kind: 'active', againMs: 60_000 });
  await pauses.postpone(await heldOf(first), Date.now());
  await release();
  expect(started).toEqual([first]);
});

it('a released run whose starts keep failing is left to the sweeper, which ends it', async () => {
  const { pauses, heldOf, agents, temporal, begin, createLook } = compose();
  await agents.pause(REQUEST);
  const held = await heldOf(await begin());
  await agents.resume(REQUEST);
  temporal.fault = new Error('no such agent here');
  const look = createLook(1);
  await look();
  expect(await agents.held()).toEqual([{ agent: 'guide', count: 1 }]);
  const failedAt = Date.now();
  await until('the time for its start is over', () => Date.now() > failedAt + 1);
  await pauses.postpone(held, Date.now());
  await look();
  expect(await agents.held()).toEqual([]);
});

it('runs that ended while they were held neither count nor delay the others', async () => {
  const { store, runs, agents, started, begin, release } = compose();
  await agents.pause(REQUEST);
  await runs.stop(await begin(), { mode: 'interrupt' });
  await runs.deleteSession(await begin());
  expect(await agents.held()).toEqual([]);
  const replaced = { sessionId: await begin(), agent: 'guide', owner: 'ann' };
  const messages = [userMessage('u2')];
  await runs.execute({ ...replaced, messages, policy: 'interrupt' });
  await runs.idle();
  expect(await agents.held()).toEqual([{ agent: 'guide', count: 1 }]);
  await runs.stop(replaced.sessionId, { mode: 'interrupt' });
  // The processes that stopped these died before they removed them from the list.
  for (let n = 0; n < 45; n += 1) await store.runs.stop(await begin(), { mode: 'interrupt' });
  const last = await begin();
  await agents.resume(REQUEST);
  await release();
  expect(started).toEqual([last]);
  expect(await agents.held()).toEqual([]);
});

it('a stop and a replacement count even if their run cannot be removed from those that are held', async () => {
  const { store, streamManager, pauses, agents, begin } = compose();
  await agents.pause(REQUEST);
  const sessionId = await begin();
  const drop = (): Promise<never> => Promise.reject(new Error('away'));
  const failing = { ...store.pauses, of: () => ({ ...pauses, drop }) };
  const warn = jest.fn();
  const of = { workflows: { wake: drop }, logger: { warn } };
  const others = createIdleRuns({ store: { ...store, pauses: failing }, streamManager }, of);
  const whose = { agent: 'guide', owner: 'ann', policy: 'interrupt' } as const;
  const next = { ...whose, sessionId, messages: [userMessage('u2')] };
  expect(await others.execute(next)).toMatchObject({ kind: 'begun' });
  expect(await others.stop(sessionId, { mode: 'interrupt' })).toMatchObject({ kind: 'ended' });
  await others.idle();
  // For the replaced run and for the stopped one, neither the signal nor the removal from the pauses succeeds.
  expect(warn).toHaveBeenCalledTimes(4);
});
