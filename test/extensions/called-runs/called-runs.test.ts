import { AgentRegistry } from '../../../agents/index.js';
import { readInput } from '../../../runs/agent-input.js';
import { createCalledRuns } from '../../../extensions/called-runs/called-runs.js';
import { MessageWaitsError, runOfMessage } from '../../../runs/refusals.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { CalledRunActivities, CalledRunRequest } from '../../../protocol/temporal.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { toStoredSessionId } from '../../../store/record/stored-session-id.js';
import {
  AGENT,
  drive,
  newCall,
  newSessionId,
  type SessionDriver,
} from '../../support/session-driver.js';
import { createIdleRuns, IDLE_WORKFLOWS } from '../../support/idle-workflows.js';
import { fakeAgent } from '../../support/fake-agent.js';

const agent = fakeAgent(AGENT, 'scripted');

const look = (runId: string) => {
  looked.push(runId);
  return IDLE_WORKFLOWS.look(runId);
};
const later = (): void => void jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
let stores: MemoryStores;
let called: CalledRunActivities;
let session: SessionDriver;
let noted: string[];
let looked: string[];
beforeEach(() => {
  stores = createMemoryStores();
  session = drive(stores, newSessionId());
  noted = [];
  looked = [];
  const { store, streamManager } = stores;
  const due = { ...store.due, of: () => due };
  due.note = async (sessionId: string) => void noted.push(sessionId);
  const agents = new AgentRegistry([agent]);
  const noting = { store: { ...store, due }, streamManager };
  const runs = createIdleRuns(noting, { agents, workflows: { look } });
  called = createCalledRuns({ store, agents, runs });
});

const begin = (request: Partial<CalledRunRequest> = {}) =>
  called.beginAgentRun({
    agent: AGENT,
    message: 'hello',
    messageId: 'm1',
    sessionId: session.id,
    userId: 'ann',
    ...request,
  });
const BUSY = { code: 'agent_already_running' };
const runIds = async (): Promise<string[]> =>
  (await stores.store.runs.list(session.id)).map(({ runId }) => runId);
const record = () => stores.store.sessions.read(session.id);
/** Begins a run that asks a person; returns its id. */
async function asks(): Promise<string> {
  const { runId } = await session.asked(newCall('c1', 'approval'));
  return runId;
}

it('a run that another person asks for in place of the owner says so', async () => {
  await begin({ by: 'bob' });
  expect(await record()).toMatchObject({ owner: 'ann', runBy: 'bob' });
  await expect(begin({ by: '', messageId: 'm2' })).rejects.toMatchObject({
    code: 'validation_error',
  });
});

describe('the run of a message', () => {
  it('a message that is sent again leads to its own run, whatever people wrote since', async () => {
    const { runId } = await begin();
    await session.end(runId, 'failed');
    await session.newRun('u2');
    expect((await begin()).runId).toBe(runId);
    await called.stopAgentRun({ sessionId: session.id, userId: 'ann', messageId: 'm1' });
    expect(await record()).toMatchObject({ status: 'starting' });
  });

  it('a message that is queued has no run until its turn comes', async () => {
    const first = await session.newRun('u1');
    await session.begin({ ...readInput('hello', { messageId: 'm1' }), policy: 'queue' });
    await expect(begin()).rejects.toBeInstanceOf(MessageWaitsError);
    await session.end(first.runId, 'completed');
    await session.beginNext();
    const [, second] = await runIds();
    expect((await begin()).runId).toBe(second);
  });

  it('a queued message of a cancelled caller is taken back, and that of others is not', async () => {
    await session.newRun('u1');
    await session.enqueue('m1');
    const ref = { sessionId: session.id, messageId: 'm1' };
    await called.stopAgentRun({ ...ref, userId: 'eve' });
    expect(await record()).toMatchObject({ queued: 1 });
    await stores.store.owners.fold(session.id);
    expect(await stores.store.owners.usage({ owner: 'ann' })).toMatchObject({ queued: 1 });
    await called.stopAgentRun({ ...ref, userId: 'ann' });
    expect(await record()).toMatchObject({ queued: 0, status: 'starting' });
    expect(await stores.store.owners.usage({ owner: 'ann' })).toMatchObject({ queued: 0 });
  });

  it('a message that was copied with its reply leads to no run of the other conversation', async () => {
    const first = await session.newRun('u1');
    await session.ask(first.runId, 1, []);
    const sessionId = newSessionId();
    await createIdleRuns(stores).branch({ sessionId: session.id, newSessionId: sessionId });
    await expect(runOfMessage(stores.store, sessionId, 'u1')).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a conversation that waits for people', () => {
  it('refuses a run, unless its caller abandons the question', async () => {
    const runId = await asks();
    for (const whenBusy of ['fail', 'wait'] as const) {
      await expect(begin({ whenBusy })).rejects.toMatchObject(BUSY);
    }
    expect(await record()).toMatchObject({ runId, status: 'waiting_approval' });
    const next = await begin({ whenBusy: 'abandon' });
    expect(await record()).toMatchObject({ runId: next.runId, status: 'starting' });
  });

  it('keeps the time of its next check, and strangers set none', async () => {
    await asks();
    await expect(begin()).rejects.toMatchObject(BUSY);
    await expect(begin({ userId: 'eve' })).rejects.toMatchObject({ code: 'not_found' });
    expect(noted).toEqual([]);
    await begin({ sessionId: newSessionId() });
    expect(noted).toHaveLength(1);
  });

  it('is not looked up in Temporal for each try, as a run that may be lost is', async () => {
    await asks();
    later();
    await expect(begin({ whenBusy: 'wait' })).rejects.toMatchObject(BUSY);
    expect(looked).toEqual([]);
    session = drive(stores, newSessionId());
    const { runId } = await session.newRun('u1');
    later();
    await expect(begin({ whenBusy: 'wait' })).rejects.toMatchObject(BUSY);
    expect(looked).toEqual([runId]);
  });

  it('a run of a try that died before it noted it is noted by the next one', async () => {
    await session.begin(readInput('hello', { messageId: 'm1' }));
    await begin();
    expect(noted).toEqual([session.id]);
  });
});

it('tenants do not share ids of conversations', async () => {
  // The second try of a message finds its own run.
  for (const tenantId of ['acme', 'other', 'acme']) {
    expect((await begin({ tenantId })).sessionId).toBe(toStoredSessionId(session.id, tenantId));
  }
});

it.each([
  ...[undefined, null, 5, { text: 'x' }, ['x']].map((message) => ({ message })),
  // The first would be in the conversations of a tenant.
  ...[toStoredSessionId('s', 'acme'), ''].map((sessionId) => ({ sessionId })),
  { userId: '' },
  { tenantId: 'x'.repeat(LIMITS.idChars + 1) },
])('a malformed request is refused: %j', async (request) => {
  const sent = begin(request as object);
  await expect(sent).rejects.toMatchObject({ code: 'validation_error' });
});

it('a run is stopped as its caller asks, and no run of another message', async () => {
  const { runId } = await begin();
  await session.claim(session.writer(runId, 1, 1));
  const ref = { sessionId: session.id, userId: 'ann' };
  await called.stopAgentRun({ ...ref, messageId: 'm2', mode: 'abort' });
  expect((await record())?.stop).toBeUndefined();
  await called.stopAgentRun({ sessionId: session.id, runId, reason: 'enough' });
  expect((await record())?.stop).toMatchObject({ mode: 'interrupt', reason: 'enough' });
});

it('the result of a run has the start of a long reply, or none if its caller wants none', async () => {
  const start = 'x'.repeat(LIMITS.calledTextChars - 1);
  const parts = [{ type: 'text' as const, text: `${start}😀` }];
  const ends = async (messageId: string, more: { output?: unknown }) => {
    const { runId } = await begin({ messageId });
    const ref = { sessionId: session.id, runId };
    expect(await called.lookAtAgentRun(ref)).toEqual({ kind: 'at_work' });
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const row = { role: 'assistant' as const, messageId: 'msg-1', runId, step: 1, parts };
    await session.commit(writer, { row, ...more });
    return { ...ref, status: 'completed' };
  };
  const long = await ends('m1', {});
  const result = { ...long, text: start, isCut: true };
  expect(await called.lookAtAgentRun(long)).toEqual({ kind: 'ended', result });
  const structured = await ends('m2', { output: { answer: 42 } });
  expect(await called.lookAtAgentRun({ ...structured, withoutReply: true })).toEqual({
    kind: 'ended',
    result: { ...structured, text: '' },
  });
});

it('a run that its conversation does not have is not waited for', async () => {
  await session.newRun('u1');
  const look = called.lookAtAgentRun({ sessionId: session.id, runId: `${session.id}:1-erased` });
  await expect(look).rejects.toMatchObject({ code: 'not_found' });
});
