import type { HeldWork, Leases, LeaseThread } from '../../../store/contract/leases.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { TIMES } from '../../../protocol/limits.js';
import { createWorkerLease, type WorkerLease } from '../../../extensions/leases/worker-lease.js';
import { until } from '../../support/until.js';

const workOf = (id: string): HeldWork => ({
  id,
  taskToken: id,
  workflowId: `run:${id}`,
  runId: id,
  token: 1,
  number: 1,
});

/** Module of a store that never answers. */
const SILENT = `data:text/javascript,${encodeURIComponent(
  'const renew = () => new Promise(() => {});' +
    'export const openLeases = () => ({ leases: { of: () => ({ renew }) }, close() {} });',
)}`;

const opened: WorkerLease[] = [];
afterEach(async () => {
  for (const lease of opened.splice(0)) await lease.close();
});

function open(
  thread?: LeaseThread,
  isStarted = true,
  more: Partial<Leases> = {},
  unansweredMs = () => 0,
  warnings: unknown[] = [],
): { leases: Leases; lease: WorkerLease } {
  const leases = createMemoryStores().store.leases?.of('n');
  if (leases === undefined) throw new Error('the store in memory has leases');
  const lease = createWorkerLease({
    leases: { ...leases, ...(thread && { thread }), ...more },
    namespace: 'n',
    id: 'w',
    times: { ...TIMES, renewMs: 20 },
    unansweredMs,
    logger: { warn: (...line) => warnings.push(line) },
  });
  opened.push(lease);
  if (isStarted) lease.start();
  return { leases, lease };
}

it('holds what is in progress, and nothing after its end', async () => {
  const { leases, lease } = open();
  const held = lease.hold(workOf('a'));
  await held.registered;
  expect(await leases.work('w')).toEqual([workOf('a')]);
  const { noted, end } = held.becomePatient();
  await noted;
  expect(await leases.work('w')).toEqual([{ ...workOf('a'), isPatient: true }]);
  end();
  await until('it is impatient', async () => (await leases.work('w'))[0]?.isPatient !== true);
  held.release();
  await until('it is removed', async () => (await leases.work('w')).length === 0);
  await until('it is steady', () => lease.steadySince() !== undefined);
  await lease.close();
  expect(await leases.holders()).toEqual([]);
});

it('a call that must not be repeated is refused if the store does not take its note in time', async () => {
  let isSilent = false;
  const hold = (): Promise<void> => (isSilent ? new Promise(() => undefined) : Promise.resolve());
  const { lease } = open(undefined, true, { hold });
  const held = lease.hold(workOf('a'));
  await held.registered;
  isSilent = true;
  jest.useFakeTimers({ doNotFake: ['performance'] });
  const { noted } = held.becomePatient();
  await Promise.all([
    expect(noted).rejects.toMatchObject({ message: 'the store does not answer' }),
    jest.advanceTimersByTimeAsync(5_000),
  ]);
});

it('sees from its beginning on how others do, if its renewals follow without a gap', async () => {
  const { leases, lease } = open(undefined, false);
  expect(lease.steadySince()).toBeUndefined();
  lease.begin();
  const first = await until('it has begun', () => lease.steadySince());
  expect((await leases.look('w')).leftMs).toBeGreaterThan(TIMES.leaseMs);
  lease.start();
  // A running worker renews for short periods.
  await until('it runs', async () => (await leases.look('w')).leftMs <= TIMES.leaseMs);
  expect(lease.steadySince()).toBe(first);
});

it('keeps the newest that an attempt leaves for its successor, until it has ended', async () => {
  const { leases, lease } = open();
  const held = lease.hold(workOf('a'));
  await held.registered;
  const progress = { known: 1 };
  held.note(progress);
  progress.known = 2;
  await until('it is kept', async () => (await leases.work('w'))[0]?.progress !== undefined);
  expect(await leases.work('w')).toEqual([{ ...workOf('a'), progress: { known: 2 } }]);
  held.note(progress);
  held.release();
  await until('it is removed', async () => (await leases.work('w')).length === 0);
});

it('a worker that was judged keeps what was not taken, and lets go of the rest', async () => {
  const { leases, lease } = open();
  const ids = ['taken', 'kept', 'patient'];
  const held = ids.map((id) => lease.hold(workOf(id)));
  await Promise.all(held.map(({ registered }) => registered));
  await held[2]?.becomePatient().noted;
  await leases.judge('w', 60_000);
  await leases.release('w', 'taken');
  await until('it has another name', () => lease.holder() === 'w.1');
  await until('they are registered again', async () => (await leases.work('w.1')).length === 2);
  expect(await leases.work('w')).toEqual([]);
  const work = await leases.work('w.1');
  expect(work.map(({ id, isPatient }) => [id, isPatient])).toEqual([
    ['kept', undefined],
    ['patient', true],
  ]);
  // New work is registered under the new name.
  await lease.hold(workOf('next')).registered;
  expect(await leases.work('w.1')).toHaveLength(3);
  expect([lease.isOwn('w'), lease.isOwn('w.1'), lease.isOwn('w1')]).toEqual([true, true, false]);
});

it('a worker that ends with attempts in progress says so', async () => {
  const { leases, lease } = open();
  await lease.hold(workOf('a')).registered;
  await lease.close();
  expect(await leases.look('w')).toMatchObject({ leftMs: 0, isEnded: true });
  expect(await leases.work('w')).toEqual([workOf('a')]);
});

it('a store that is away at the end is told in a line without a stack, at the start not at all', async () => {
  const away = () => new Promise<never>(() => undefined);
  const [warned, never] = [[], []] as unknown[][];
  const { lease } = open(undefined, true, { forget: away }, undefined, warned);
  const { lease: unbegun } = open(undefined, true, { forget: away, renew: away }, undefined, never);
  await until('it is held', () => lease.steadySince() !== undefined);
  await Promise.all([lease.close(), unbegun.close()]);
  expect(warned).toEqual([[{}, 'the lease could not be returned, and expires']]);
  expect(never).toEqual([]);
});

it('is listed before anything is registered, also if its renewals have not begun', async () => {
  const { leases, lease } = open({ module: SILENT, data: {} });
  await lease.hold(workOf('a')).registered;
  expect(await leases.holders()).toEqual(['w']);
});

it('registers nothing before it is listed', async () => {
  const renewed: (() => void)[] = [];
  const renew: Leases['renew'] = async (...of) => {
    await new Promise<void>((resolve) => renewed.push(resolve));
    return leases.renew(...of);
  };
  const { leases, lease } = open(undefined, false, { renew });
  const held = lease.hold(workOf('a'));
  await until('it is about to be listed', () => renewed.length > 0);
  expect(await leases.work('w')).toEqual([]);
  for (const resolve of renewed) resolve();
  await held.registered;
  expect(await leases.holders()).toContain('w');
});

it('an attempt that ends before it is registered is not left behind', async () => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const hold: Leases['hold'] = async (...of) => {
    await answered;
    await leases.hold(...of);
  };
  const { leases, lease } = open(undefined, true, { hold });
  const held = lease.hold(workOf('a'));
  held.release();
  await new Promise(setImmediate);
  answer();
  await held.registered;
  await until('it is removed', async () => (await leases.work('w')).length === 0);
});

it('takes on no attempt if others do not see that it lives, whether it renewed before or never', async () => {
  const silent = { renew: () => new Promise<never>(() => undefined) };
  const { lease: never } = open(undefined, false, silent);
  never.begin();
  const { lease: before } = open();
  await until('it has renewed', () => before.steadySince() !== undefined);
  await before.close();
  expect([never.isHeld(), before.isHeld()]).toEqual([true, true]);
  const later = process.hrtime.bigint() + 6_000_000_000n;
  jest.spyOn(process.hrtime, 'bigint').mockImplementation(() => later);
  expect([never.isHeld(), before.isHeld()]).toEqual([false, false]);
});

it('a stop in the mailbox reaches the attempts of its conversation', async () => {
  const { leases, lease } = open();
  const heard: string[] = [];
  const end = lease.onStop('s1', (runId) => heard.push(runId));
  lease.onStop('s2', (runId) => heard.push(`of s2: ${runId}`));
  await leases.noteStop({ sessionId: 's1', runId: 's1:1-a' });
  await until('it is heard', () => heard.length > 0);
  expect(new Set(heard)).toEqual(new Set(['s1:1-a']));
  end();
});

it('the mailbox keeps the newest stops, since every renewal reads them all', async () => {
  const { leases } = open(undefined, false);
  const stops = Array.from({ length: 250 }, (_, n) => ({
    sessionId: 's',
    runId: `s:${String(n)}`,
  }));
  for (const stop of stops) await leases.noteStop(stop);
  expect((await leases.renew('w', 60_000)).stops).toEqual(stops.slice(50));
});

it('a stop of a conversation that this worker does not execute changes nothing, whatever its id is', async () => {
  const { leases, lease } = open();
  const heard: string[] = [];
  const ignore = lease.onStop('other', (runId) => heard.push(runId));
  // An emitter's events with these names throw or call its own listeners.
  for (const sessionId of ['error', 'newListener', '__proto__']) {
    await leases.noteStop({ sessionId, runId: `${sessionId}:1` });
  }
  await leases.noteStop({ sessionId: 'other', runId: 'other:1' });
  await until('the stops have come', () => heard.includes('other:1'));
  ignore();
  const gone = heard.length;
  await leases.noteStop({ sessionId: 'other', runId: 'other:2' });
  await until('it is renewed', async () => (await leases.look('w')).leftMs > 0);
  expect(heard.slice(gone)).toEqual([]);
  expect(lease.isHeld()).toBe(true);
});

it('accepts no attempt once its writes are unanswered for so long that it is not renewed', () => {
  let unansweredMs = TIMES.unresponsiveMs - 1;
  const { lease } = open(undefined, true, {}, () => unansweredMs);
  expect(lease.isHeld()).toBe(true);
  unansweredMs = TIMES.unresponsiveMs;
  expect(lease.isHeld()).toBe(false);
});

it('another thread renews the lease', async () => {
  const stops = '[{ sessionId: "s", runId: "r" }]';
  const leases = `{ of: () => ({ renew: async () => ({ isOver: false, stops: ${stops} }) }) }`;
  const module = `data:text/javascript,export const openLeases=()=>({leases:${leases},close(){}})`;
  const { lease } = open({ module, data: {} });
  const heard: string[] = [];
  lease.onStop('s', (runId) => heard.push(runId));
  await until('that thread reports a stop', () => heard.includes('r'));
});

it('the main thread renews the lease if another thread cannot', async () => {
  const broken = { module: 'data:text/javascript,throw new Error("no such file")', data: {} };
  const { leases, lease } = open(broken);
  // A running worker renews for short periods, a starting one for long ones.
  await until('it is steady', () => lease.steadySince() !== undefined);
  await until('it runs', async () => (await leases.look('w')).leftMs <= TIMES.leaseMs);
  expect((await leases.look('w')).leftMs).toBeGreaterThan(0);
});
