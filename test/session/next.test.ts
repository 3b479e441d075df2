import type { At, Next, OpenCalls, StepOutcome } from '../../protocol/run.js';
import { newCall } from '../../store/conformance/fixtures.js';
import { childAt, grow, heldCall } from '../../store/conformance/tree.js';
import type { NewCall } from '../../store/contract/call-record.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { drive, newSessionId } from '../support/session-driver.js';

/** Opens a conversation whose run made these calls in its first step. */
async function begin(...calls: NewCall[]) {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const { runId } = await session.newRun();
  const read = (wants = {}): Promise<At> =>
    stores.store.runs.next({ sessionId: session.id, runId }, wants);
  const next = async (wants = {}): Promise<Next> => (await read(wants)).next;
  if (calls.length > 0) await session.ask(runId, 1, calls);
  return { ...stores, session, runId, read, next };
}

const OPEN = { do: 'open', step: 1 };
const [server, approval, client] = [
  newCall('s', 'server'),
  newCall('a', 'approval'),
  newCall('c', 'client', { deadlineMs: 60_000 }),
];

describe('what a run does next', () => {
  it('is its first step, until that is committed, and then the next one', async () => {
    const { session, runId, next } = await begin();
    expect(await next()).toEqual({ do: 'model', step: 1, isFirst: true });
    await session.claim(session.writer(runId, 1, 1));
    expect(await next()).toEqual({ do: 'model', step: 1, isFirst: true });
    const outcome: StepOutcome = { kind: 'calls', step: 1, calls: [], finish: 'missing' };
    await session.commit(session.writer(runId, 1, 1), { outcome, final: undefined });
    expect(await next()).toEqual({ do: 'model', step: 2, mustFinish: true });
  });

  it('is all that is open: machines execute calls while people answer others', async () => {
    const { session, runId, next } = await begin(server, approval, client);
    const lists = { machine: ['s'], people: ['a', 'c'] };
    expect(await next({ lists: true })).toEqual({ ...OPEN, ...lists });
    const { calls } = (await next({ lists: true, calls: true })) as OpenCalls;
    expect(calls?.map(({ toolCallId }) => toolCallId)).toEqual(['s', 'a', 'c']);
    await session.start(runId, 1, 's');
    expect(await next({ lists: true })).toMatchObject({ ...OPEN, ...lists });
    await session.finishCall(runId, 1, 's', 1);
    const asked = (await next()) as OpenCalls;
    expect(asked).toEqual({ ...OPEN, people: ['a', 'c'], dueInMs: expect.any(Number) });
  });

  it('is the approved calls once the last question is answered, and not before', async () => {
    const { session, runId, next } = await begin(approval, client);
    await session.decide(runId, 'a', true);
    expect(await next()).toMatchObject({ ...OPEN, people: ['c'] });
    await session.answer(runId, 'c', { output: 1 });
    expect(await next({ lists: true })).toEqual({ ...OPEN, machine: ['a'] });
    await session.carryOut(runId, 1, 'a', 1);
    expect(await next()).toEqual({ do: 'model', step: 2 });
  });

  it('is to end once the result is there and the calls beside it are settled', async () => {
    const { session, runId, next } = await begin();
    const by = session.writer(runId, 1, 1);
    await session.claim(by);
    const refs = [{ toolCallId: 's', toolName: 'server-tool', kind: 'server' as const }];
    const outcome: StepOutcome = { kind: 'calls', step: 1, calls: refs, finish: 'valid' };
    await session.commit(by, { calls: [server], outcome, output: 42 });
    expect(await next({ lists: true })).toEqual({ ...OPEN, machine: ['s'] });
    await session.carryOut(runId, 1, 's', 1);
    expect(await next()).toEqual({ do: 'end', step: 1 });
  });

  it('is to end also if a tool has given the result', async () => {
    const { session, store, runId, next } = await begin(server);
    await session.start(runId, 1, 's');
    const writer = session.callWriter(runId, 1, 's', 1);
    const row = { role: 'tool', toolCallId: 's', toolName: 'server-tool', output: 1 } as const;
    const result = { writer, toolCallId: 's', row, chunks: [], output: 42, now: 1 };
    await store.calls.settle({ source: 'tool', ...result });
    expect(await next()).toEqual({ do: 'end', step: 1 });
  });

  it('is a first step again if a run continues the turn of another', async () => {
    const { session, store, runId } = await begin(server);
    await session.carryOut(runId, 1, 's', 1);
    await session.stop();
    const resumed = await session.resume();
    const run = { sessionId: session.id, runId: 'run' in resumed ? resumed.run.runId : '' };
    const { next } = await store.runs.next(run, {});
    expect(next).toEqual({ do: 'model', step: 2, isFirst: true });
  });

  it('is due at the earliest deadline, be it of people or of a webhook', async () => {
    const later = newCall('later', 'client', { deadlineMs: 90_000 });
    const hook = newCall('h', 'server', { deadlineMs: 30_000 });
    const { session, store, runId, next } = await begin(client, later, hook);
    const by = { writer: session.callWriter(runId, 1, 'h', 1), toolCallId: 'h', now: 1 };
    await store.calls.start({ ...by, hook: 'secret' });
    await store.calls.suspend(by);
    const due = async (): Promise<number> => ((await next()) as OpenCalls).dueInMs ?? 0;
    expect(await next()).toMatchObject({ people: ['c', 'later'], asleep: ['h'] });
    expect(await due()).toBeLessThanOrEqual(30_000);
    await session.stop();
  });

  it('is nothing once it is over, or another run has taken its place', async () => {
    const { session, runId, next } = await begin(approval);
    await session.stop();
    expect(await next()).toEqual({ do: 'done', step: 1, status: 'interrupted' });
    await session.newRun('u2');
    expect(await next()).toEqual({ do: 'done', step: 0, status: 'superseded' });
    const failed = await begin();
    const error = { code: 'broken', message: 'It is broken.', retryable: false };
    await failed.session.end(failed.runId, 'failed', { error });
    expect(await failed.next()).toMatchObject({ do: 'done', status: 'failed', error });
    expect(runId).not.toBe(failed.runId);
  });

  it('leaves lists out while calls are at work, unless they are asked for', async () => {
    const ids = ['t1', 't2'];
    const { session, runId, next } = await begin(...ids.map((id) => newCall(id, 'server')));
    expect(await next()).toEqual({ ...OPEN, isPartial: true });
    expect(await next({ lists: true })).toEqual({ ...OPEN, machine: ids });
    for (const id of ids) {
      await session.start(runId, 1, id);
      await session.finishCall(runId, 1, id, 1);
    }
    expect(await next()).toEqual({ do: 'model', step: 2 });
  });

  it('is a later step for a sub-agent only when its conversation has continued', async () => {
    const stores = createMemoryStores();
    const session = drive(stores, newSessionId());
    const own = (runId: string): NewCall[] => [heldCall(runId, 'own')];
    const tree = await grow({ ...stores, session }, 2, own);
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    const next = async (runId: string, sessionId = session.id): Promise<Next> =>
      (await stores.store.runs.next({ sessionId, runId }, { lists: true })).next;
    const nextOf = ({ ref }: typeof one): Promise<Next> => next(ref.runId, ref.sessionId);
    expect(await nextOf(one)).toEqual({ do: 'model', step: 1, isFirst: true });
    await one.driver.ask(one.ref.runId, 1, [heldCall(one.ref.runId, 'x')]);
    await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'y')]);
    expect(await next(tree.runId)).toEqual({ ...OPEN, children: ['d1', 'd2'], people: ['own'] });
    await session.decide(one.ref.runId, 'x', false);
    // The sub-agent's own questions are answered, but others of the conversation are open.
    expect(await nextOf(one)).toEqual(OPEN);
    await session.decide(two.ref.runId, 'y', true);
    await session.decide(tree.runId, 'own', true);
    expect(await nextOf(one)).toEqual({ do: 'model', step: 2 });
    expect(await nextOf(two)).toEqual({ ...OPEN, machine: ['y'] });
    expect(await next(tree.runId)).toEqual({ ...OPEN, children: ['d1', 'd2'], machine: ['own'] });
  });

  it('looks less and less often at calls that people have not been asked about yet', async () => {
    let now = Date.now();
    const stores = createMemoryStores({ now: () => now });
    const session = drive(stores, newSessionId());
    const tree = await grow({ ...stores, session }, 2, () => []);
    const { driver, ref } = childAt(tree, 0);
    const call = heldCall(ref.runId, 'x', 'client', { deadlineMs: 1_000 });
    await driver.ask(ref.runId, 1, [call]);
    const dueInMs = async (): Promise<unknown> => {
      const { next } = await stores.store.runs.next(ref);
      return 'dueInMs' in next ? next.dueInMs : undefined;
    };
    const waits: unknown[] = [];
    for (const ms of [0, 1_000, 3_000, 3_600_000]) {
      now += ms;
      waits.push(await dueInMs());
    }
    expect(waits).toEqual([1_000, 1_000, 4_000, 600_000]);
  });

  it('is in the reply to each change that stores a step or the result of a call', async () => {
    const { session, runId, read } = await begin();
    const by = session.writer(runId, 1, 1);
    await session.claim(by);
    const committed = await session.commit(by, { calls: [server, approval] });
    expect(committed).toMatchObject({ at: await read({ lists: true, calls: true }) });
    await session.start(runId, 1, 's');
    expect(await session.finishCall(runId, 1, 's', 1)).toMatchObject({ at: await read() });
    const decided = await session.decide(runId, 'a', true);
    expect(decided).toMatchObject({ at: await read({ lists: true }) });
    // A repeated request changes nothing, so it leaves the read to its sender.
    await session.start(runId, 1, 'a');
    await session.finishCall(runId, 1, 'a', 1);
    expect(await session.finishCall(runId, 1, 'a', 1)).not.toHaveProperty('at');
  });

  it('has a version that grows with each change of the conversation, and with nothing else', async () => {
    const { session, runId, read } = await begin(server, approval);
    const { version } = await read();
    expect(await read()).toEqual(await read());
    await session.start(runId, 1, 's');
    const begun = await read();
    expect(begun.version).toBe(version + 1);
    await session.start(runId, 1, 's');
    expect((await read()).version).toBe(version + 1);
    await session.finishCall(runId, 1, 's', 1);
    expect((await read()).version).toBe(version + 2);
  });
});
