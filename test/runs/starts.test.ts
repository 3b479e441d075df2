import { z } from 'zod';
import { AgentRegistry, type AgentFactory } from '../../agents/index.js';
import { HelixError } from '../../protocol/errors.js';
import type { AdmitInput } from '../../runs/extension.js';
import { hashText } from '../../runs/record/acts.js';
import { toAttributes, type RunLabels } from '../../runs/search-attributes.js';
import { NOTHING } from '../../runs/workflow-look.js';
import type { RunInput, RunNotices } from '../../protocol/run.js';
import { legSpan, type RequestTracer } from '../../protocol/telemetry.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';
import { FAKE_DELIVERIES } from '../api/fake-deliveries.js';
import { createIdleRuns, IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { drive, userMessage } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';

const { agent } = createTestAgent();

/** Composes runs over a Temporal that knows none of them and notes how they are started. */
function compose() {
  const stores = createMemoryStores();
  const started: (RunInput & Pick<RunLabels, 'tenant'>)[] = [];
  const start = async (input: RunInput, { tenant }: RunLabels) =>
    void started.push({ ...input, tenant });
  const workflows = { start, look: async () => NOTHING };
  const runs = createIdleRuns(stores, { agents: [agent], workflows });
  const session = drive(stores);
  const begin = (id: string, policy?: 'queue') =>
    runs.execute({
      sessionId: session.id,
      agent: agent.name,
      owner: 'ann',
      tenant: 'acme',
      messages: [userMessage(id)],
      policy,
    });
  return { stores, runs, session, begin, started };
}

it('every start of a run names its tenant, and who begins one again is in the trail', async () => {
  const { stores, runs, session, begin, started } = compose();
  const { id: sessionId } = session;
  const record = async () => {
    const found = await stores.store.sessions.read(sessionId);
    if (found === undefined) throw new Error('no conversation');
    return found;
  };
  const end = async (status: 'interrupted' | 'completed') =>
    session.end((await record()).runId, status);
  await begin('u1');
  const { runId } = await record();
  const carl = { by: 'carl', roles: ['operator' as const], via: 'cli' as const };
  const stop = { ...carl, mode: 'interrupt', reason: 'enough' } as const;
  const older = { ...stop, runId: `${sessionId}:1-older` };
  expect(await runs.stop(sessionId, older)).toMatchObject({ kind: 'nothing' });
  await runs.stop(sessionId, { ...stop, runId });
  const how = { ...carl, by: 'ann', reason: 'again' };
  const resumed = await runs.resume({ sessionId, ...how });
  await end('interrupted');
  const retried = await runs.retry({ sessionId, by: 'bob' });
  await begin('u2', 'queue');
  await end('completed');
  await runs.startNext(sessionId);
  await runs.startRun(await record());
  await runs.idle();
  expect(started.map(({ tenant }) => tenant)).toEqual(Array(5).fill('acme'));
  await stores.store.audit.relay(sessionId);
  const { entries } = await stores.store.audit.page('acme', { limit: 10 });
  const found = entries.map(({ entry, name }) => {
    const { action, target, via, reasonHash } = entry;
    return [action, name, target.runId, via, reasonHash];
  });
  expect(found.reverse()).toEqual([
    ['stop', 'carl', runId, 'cli', hashText('enough')],
    ['resume', 'ann', 'run' in resumed && resumed.run.runId, 'cli', hashText('again')],
    ['retry', 'bob', retried.runId, 'api', undefined],
  ]);
});

it('who continues or repeats a turn has asked for it, and names the newest run', async () => {
  const { runs, session, begin } = compose();
  const of = { sessionId: session.id };
  const as = (by: string) => ({ by, personId: `p-${by}` });
  const askers = async () => (await session.record())?.askers.map(({ personId }) => personId);
  await begin('u1');
  await session.stop();
  await runs.resume({ ...of, ...as('bob') });
  expect(await askers()).toContain('p-bob');
  await session.stop();
  await runs.retry({ ...of, ...as('carl') });
  expect(await askers()).toContain('p-carl');
  await session.stop();
  const messages = [userMessage('u2')];
  await runs.resume({ ...of, mode: 'with_message', messages, ...as('dora') });
  expect(await askers()).toEqual(['p-dora']);
  const runId = `${session.id}:1-older`;
  const back = { ...of, mode: 'from_checkpoint' } as const;
  for (const [work, code] of [
    [runs.retry({ ...of, runId }), 'stale_run'],
    [runs.resume({ ...back, checkpointId: 'c', runId }), 'stale_run'],
    [runs.resume(back), 'validation_error'],
    [runs.resume({ ...of, mode: 'with_message' }), 'nothing_to_do'],
    [runs.resume({ sessionId: 'none' }), 'not_found'],
  ] as const)
    await expect(work).rejects.toMatchObject({ code });
});

it('a run that is lost is announced before it ends, and ends also if its notice fails', async () => {
  const stores = createMemoryStores();
  const announced: object[] = [];
  const announceEnd = async (end: object): Promise<void> => {
    await new Promise(setImmediate);
    announced.push({ ...end, before: (await session.record())?.status });
    throw new Error('no Temporal');
  };
  const notify: RunNotices = { calls: [], ends: ['failed'] };
  const deliveries = { ...FAKE_DELIVERIES, announceEnd, notify };
  const extensions = [{ name: 'notify', deliveries: () => deliveries }];
  const { endLost } = createIdleRuns(stores, { extensions });
  const session = drive(stores);
  const { runId } = await session.newRun();
  const record = await session.record();
  if (record === undefined) throw new Error('no conversation');
  await endLost(record);
  const ref = { sessionId: session.id, runId, agent: record.agent };
  const code = 'framework_run_lost';
  expect(announced).toEqual([{ ...ref, status: 'failed', code, before: 'starting' }]);
  expect(await session.record()).toMatchObject({
    status: 'failed',
    error: { code, retryable: true },
  });
  await endLost({ ...record, parent: { sessionId: 's', runId: 's:1-x', toolCallId: 'd' } });
  notify.ends = [];
  await endLost(record);
  expect(announced).toHaveLength(1);
});

it('a workflow is started with what its agent, its process and its request say', async () => {
  const stores = createMemoryStores();
  const scopes: object[] = [];
  const started: [RunInput, RunLabels][] = [];
  const urlOf = (of: object) => `https://traces.test/${Object.values(of).join('/')}`;
  const tracer: RequestTracer = { serve: (_, work) => work(), request: () => '00-a-b-01', urlOf };
  const client = { options: { loadedDataConverter: { payloadCodecs: [{}] } } };
  const notify: RunNotices = { calls: ['approval'], ends: [] };
  const made: AgentFactory = (scope) => {
    scopes.push({ ...scope, env: undefined });
    return { ...agent, activities: 'leg', outputSchema: z.object({}), maxSteps: 7 };
  };
  const agents = new AgentRegistry();
  agents.registerFactory(agent.name, made);
  const runs = createIdleRuns(stores, {
    agents,
    workflows: { start: async (...of) => void started.push(of) },
    temporal: { client, searchAttributes: true } as never,
    modelName: 'm',
    sessionUrl: (...of) => `https://page.test/${of.join('/')}`,
    extensions: [{ name: 'all', tracer, deliveries: () => ({ ...FAKE_DELIVERIES, notify }) }],
  });
  const sessionId = toStoredSessionId('s', 'acme');
  const of = { sessionId, agent: agent.name, owner: 'ann', tenant: 'acme' };
  const begun = await runs.execute({ ...of, messages: [userMessage('u1')] });
  await runs.idle();
  const runId = begun.kind === 'begun' ? begun.run.runId : '';
  expect(scopes.at(-1)).toEqual({ sessionId, runId, userId: 'ann', tenantId: 'acme' });
  const { trace } = legSpan({ runId, rootRunId: runId, number: 1 });
  const [sessionUrl, traceUrl] = [`https://page.test/s/${runId}`, urlOf([trace, runId, 's'])];
  const run = { sessionId, runId, agent: agent.name, turn: 1 };
  const ofAgent = { maxSteps: 7, hasOutput: true, activities: 'leg' };
  const ofProcess = { model: 'm', notify, hasLeases: false, searchAttributes: true };
  const ofRequest = { sessionUrl, traceparent: '00-a-b-01', traceUrl, sealsFailures: true };
  const details = `Session \`${sessionId}\`\n\nRun \`${runId}\`\n\n[Conversation](${sessionUrl})\n\n[Trace](${traceUrl})`;
  const input = { ...run, ...ofAgent, ...ofProcess, ...ofRequest };
  expect(started).toEqual([[input, { details, tenant: 'acme' }]]);
});

it.each([
  [[], false],
  [['worker'], true],
])('with the holders %j of leases a run counts on them: %s', async (holders, hasLeases) => {
  const { stores, runs, begin, started } = compose();
  for (const id of holders) {
    await stores.store.leases?.of(IDLE_WORKFLOWS.namespace).renew(id, 60_000);
  }
  await begin('u1');
  await runs.idle();
  expect(started).toMatchObject([{ hasLeases }]);
});

it.each([
  [undefined, 'running'],
  [1, 'starting'],
])('a run has its search attributes, also one that begins at %s', (startAt, status) => {
  const input = { sessionId: 's', runId: 's:1-x', agent: 'guide', turn: 2, maxSteps: 5, startAt };
  const labels = { tenant: 'acme', details: '' };
  const attributes = toAttributes({ ...input, model: 'm', searchAttributes: true }, labels);
  const found = attributes.getAll().map(({ key, value }) => [key.name, value]);
  expect(Object.fromEntries(found)).toEqual({
    AgentSession: 's',
    AgentName: 'guide',
    AgentStatus: status,
    AgentTenant: 'acme',
    AgentModel: 'm',
    AgentTurn: 2,
  });
});

describe('an extension that admits what begins', () => {
  /** Composes runs with two extensions, of which the second may refuse. */
  function composeAdmitting() {
    const stores = createMemoryStores();
    const session = drive(stores);
    const asked: AdmitInput[] = [];
    let [released, refuses] = [0, false];
    const before = async (input: AdmitInput) => {
      asked.push(input);
      return () => void (released += 1);
    };
    const refuse = async (): Promise<undefined> => {
      if (refuses) throw new HelixError('quota_exceeded', 'Too many.');
      return undefined;
    };
    const extensions = [
      { name: 'first', before },
      { name: 'second', before: refuse },
    ];
    const runs = createIdleRuns(stores, { extensions });
    const of = { sessionId: session.id, agent: 'tester', owner: 'ann' };
    const begin = (ids: string[], policy?: 'queue' | 'reject') =>
      runs.execute({ ...of, messages: ids.map((id) => userMessage(id)), policy });
    const isReleased = async () => {
      await runs.idle();
      return released === asked.length;
    };
    const setRefusing = () => (refuses = true);
    return { stores, session, runs, asked, begin, isReleased, setRefusing };
  }

  it('is released whatever follows, and refuses no message that was accepted before', async () => {
    const { stores, begin, isReleased, setRefusing } = composeAdmitting();
    expect(await begin(['u1'])).toMatchObject({ kind: 'begun' });
    expect(await isReleased()).toBe(true);
    const { conversations } = await stores.store.owners.page({ owner: 'ann' }, { limit: 1 });
    expect(conversations).toMatchObject([{ title: 'hello from u1' }]);
    setRefusing();
    expect(await begin(['u1'])).toEqual({ kind: 'accepted' });
    for (const ids of [['u2'], ['u1', 'u2']])
      await expect(begin(ids)).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await isReleased()).toBe(true);
  });

  it('is told what a run, a repetition and a copy add, unless a run is active', async () => {
    const { session, runs, asked, begin } = composeAdmitting();
    const { id: sessionId } = session;
    await begin(['u1'], 'reject');
    await begin(['u2'], 'queue');
    await expect(runs.retry({ sessionId })).rejects.toMatchObject({
      code: 'agent_already_running',
    });
    await session.stop();
    await runs.resume({ sessionId });
    await session.stop();
    await runs.retry({ sessionId, messageId: 'u1', messages: [userMessage('u1', 'better')] });
    await session.claim(session.writer((await session.record())?.runId ?? '', 1, 1));
    const { runId = '' } = (await session.record()) ?? {};
    await expect(runs.retry({ sessionId, stops: runId })).rejects.toThrow();
    await runs.branch({ sessionId });
    expect(asked.map(({ purpose, bytes }) => [purpose, bytes > 0])).toEqual([
      ['alone', true],
      ['run', true],
      ['alone', false],
      ['alone', true],
      ['alone', false],
      ['copy', true],
    ]);
  });
});
