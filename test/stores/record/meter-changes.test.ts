import { allMeters, type RunEvent } from '../../../protocol/run-meter.js';
import { createMemoryStores } from '../../../stores/memory/index.js';
import { meterChanges } from '../../../stores/record/meter-changes.js';
import { createTallyMeter } from '../../../stores/record/tally-meter.js';
import { AGENT, drive, newCall, type SessionDriver } from '../../support/session-driver.js';

function setUp() {
  const bare = createMemoryStores();
  const events: RunEvent[] = [];
  const tally = createTallyMeter(bare.store.tallies);
  const meter = allMeters(tally.meter, (event) => void events.push(event));
  const store = meterChanges(bare.store, meter);
  return { bare, store, events, tally, session: drive({ ...bare, store }) };
}

const of = (events: readonly RunEvent[], kind: RunEvent['kind']): RunEvent[] =>
  events.filter((event) => event.kind === kind);

async function asking(session: SessionDriver): Promise<string> {
  const { runId } = await session.newRun();
  await session.ask(runId, 1, [newCall('c1', 'approval')]);
  return runId;
}

describe('what transitions report', () => {
  it('a run that ended counts once, however often its end is repeated', async () => {
    const { session, events } = setUp();
    const { runId } = await session.newRun();
    await session.end(runId, 'completed');
    await session.end(runId, 'completed');
    expect(of(events, 'run_ended')).toEqual([
      { kind: 'run_ended', agent: AGENT, status: 'completed', code: undefined },
    ]);
  });

  it('a commit that ends its run counts once, with the code of its failure', async () => {
    const { session, events } = setUp();
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const error = { code: 'provider_error', message: 'It failed.', retryable: true };
    const final = { status: 'failed', error } as const;
    const outcome = { kind: 'ended', step: 1, ...final } as const;
    await session.commit(writer, { final, outcome, answersStop: true });
    await session.commit(writer, { final, outcome, answersStop: true });
    expect(of(events, 'run_ended')).toEqual([
      { kind: 'run_ended', agent: AGENT, status: 'failed', code: 'provider_error' },
    ]);
    expect(of(events, 'attempt_ended')).toEqual([{ kind: 'attempt_ended', outcome: 'cut' }]);
  });

  it('a run that was stopped while it waited counts once, though its workflow ends it again', async () => {
    const { session, events } = setUp();
    const runId = await asking(session);
    await session.stop({ mode: 'interrupt' });
    await session.end(runId, 'interrupted');
    expect(of(events, 'run_ended')).toHaveLength(1);
  });

  it('metrics that cannot be read refuse neither an end nor a stop', async () => {
    const { bare, events } = setUp();
    const sessions = { ...bare.store.sessions, read: () => Promise.reject(new Error('away')) };
    const meter = (event: RunEvent): void => void events.push(event);
    const deaf = meterChanges({ ...bare.store, sessions }, meter);
    const session = drive({ ...bare, store: { ...deaf, sessions: bare.store.sessions } });
    const { runId } = await session.newRun();
    expect(await session.end(runId, 'completed')).toMatchObject({ kind: 'ended' });
    await session.newRun();
    expect(await session.stop({ mode: 'interrupt' })).toMatchObject({ kind: 'ended' });
    expect(of(events, 'run_ended')).toEqual([]);
  });

  it('a waiting run that a new message replaced has ended', async () => {
    const { session, events } = setUp();
    await asking(session);
    await session.newRun('u2');
    expect(of(events, 'run_ended')).toMatchObject([{ agent: AGENT, status: 'interrupted' }]);
  });

  it('an answer counts once, with how long the question waited', async () => {
    const { session, events } = setUp();
    const runId = await asking(session);
    await session.decide(runId, 'c1', true);
    await session.decide(runId, 'c1', false);
    const answers = of(events, 'call_answered');
    expect(answers).toMatchObject([{ asked: 'approval', decision: 'approved', source: 'api' }]);
    const [answer] = answers as Extract<RunEvent, { kind: 'call_answered' }>[];
    expect(answer?.waitedSeconds).toBeGreaterThanOrEqual(0);
  });

  it('an attempt that a newer one replaced is fenced, and did not commit', async () => {
    const { session, events } = setUp();
    const { runId } = await session.newRun();
    const old = session.writer(runId, 1, 1);
    await session.claim(old);
    await session.claim(session.writer(runId, 1, 2));
    await session.commit(old);
    expect(of(events, 'attempt_ended')).toEqual([{ kind: 'attempt_ended', outcome: 'fenced' }]);
  });
});

it('tallies are the sums of all processes', async () => {
  const { bare, session, tally } = setUp();
  const other = createTallyMeter(bare.store.tallies);
  const runId = await asking(session);
  await session.decide(runId, 'c1', false);
  await session.end(runId, 'completed');
  const failed = { agent: 'a', provider: 'p', model: 'm', seconds: 1, code: 'provider_error' };
  other.meter({ kind: 'model_called', ...failed });
  other.meter({ kind: 'model_called', ...failed });
  await Promise.all([tally.close(), other.close()]);
  expect(await bare.store.tallies?.read(60_000)).toEqual({
    'answer:denied': 1,
    'run:completed': 1,
    'model:provider_error': 2,
  });
});

it('a question that was answered is not the one that has waited longest', async () => {
  const { bare, session } = setUp();
  const runId = await asking(session);
  expect(await bare.store.waiting.standing()).toMatchObject({
    count: 1,
    oldest: expect.any(Number),
  });
  await session.decide(runId, 'c1', false);
  expect(await bare.store.waiting.standing()).toEqual({ count: 0 });
});
