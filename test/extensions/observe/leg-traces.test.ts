import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { NO_METER, type FinishedSpan, type Tracer } from '../../../protocol/telemetry.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { createLegTraces } from '../../../extensions/observe/leg-traces.js';
import { serverOf } from '../../../extensions/observe/model-spans.js';
import { traceRuns } from '../../../extensions/observe/trace-runs.js';
import type { RunsHost } from '../../../runs/extension.js';
import { listenToChanges } from '../../../runs/record/listeners.js';
import {
  AGENT,
  drive,
  newCall,
  userMessage,
  type SessionDriver,
} from '../../support/session-driver.js';
import { until } from '../../support/until.js';

const USAGE = { inputTokens: 7, outputTokens: 3 };
const PAUSED = 'waiting_approval';

/** Sets up several processes on one store, each with its own traces. */
function setUp() {
  const bare = createMemoryStores();
  const spans: FinishedSpan[] = [];
  const tracer: Tracer = {
    write: (span) => void spans.push(span),
    within: (_span, work) => work(),
    serve: (_traceparent, work) => work(),
    request: () => undefined,
    urlOf: () => undefined,
  };
  const session = drive(bare);
  const open = () => {
    const { listener, work } = traceRuns(tracer);
    const store = listenToChanges(bare.store, {
      meter: NO_METER,
      others: [(id, events) => listener(id, events, { store: bare.store } as RunsHost)],
      startNext: () => Promise.resolve(),
      logger: { warn: () => undefined },
    });
    const own = drive({ ...bare, store }, session.id);
    const { run } = work(bare.store);
    /** Works as an activity of the run would. */
    const act = <T>(runId: string, act: (own: SessionDriver) => Promise<T>): Promise<T> =>
      run({ sessionId: session.id, runId, agent: AGENT }, () => act(own));
    return { session: own, act };
  };
  const legs = (): FinishedSpan[] => spans.filter(({ title }) => title === `invoke_agent ${AGENT}`);
  /** Waits until the spans that follow a change are written. */
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
  };
  return { bare: session, spans, legs, settle, open };
}

async function ask(own: SessionDriver, runId: string, step = 1): Promise<void> {
  const writer = own.writer(runId, step, step);
  await own.claim(writer);
  await own.commit(writer, { calls: [newCall(`c${String(step)}`, 'approval')], usage: USAGE });
}

describe('spans of legs', () => {
  it('a leg is written at its pause, and the next one at its end, each with its own usage', async () => {
    const { bare, legs, open } = setUp();
    const { act, session } = open();
    const { runId } = await bare.newRun();
    await act(runId, (own) => ask(own, runId));
    await until('the first leg is written', () => legs().length === 1);
    await session.decide(runId, 'c1', false);
    await act(runId, async (own) => {
      const writer = own.writer(runId, 2, 2);
      await own.claim(writer);
      await own.commit(writer, { usage: USAGE });
    });
    await until('the second leg is written', () => legs().length === 2);
    expect(legs()).toMatchObject([
      { id: { trace: `${runId}:1` }, attributes: { 'helix.run.status': PAUSED } },
      {
        id: { trace: `${runId}:2` },
        links: [{ trace: `${runId}:1`, span: `${runId}:1` }],
        attributes: { 'helix.run.status': 'completed' },
      },
    ]);
    for (const { attributes } of legs()) expect(attributes['gen_ai.usage.input_tokens']).toBe(7);
  });

  it('an attempt that finds its step stored writes what the one before could not', async () => {
    const { bare, legs, open } = setUp();
    const { runId } = await bare.newRun();
    // The process died once the record had the step.
    await ask(bare, runId);
    await open().act(runId, (own) => own.claim(own.writer(runId, 1, 5)));
    await until('the leg is written', () => legs().length === 1);
    expect(legs()).toMatchObject([
      { id: { span: `${runId}:1` }, attributes: { 'helix.run.status': PAUSED } },
    ]);
  });

  it('two processes that write a leg write the same span', async () => {
    const { bare, legs, open } = setUp();
    const { runId } = await bare.newRun();
    await open().act(runId, (own) => ask(own, runId));
    await open().act(runId, (own) => own.claim(own.writer(runId, 1, 5)));
    await until('both have written', () => legs().length === 2);
    expect(legs()[0]).toEqual(legs()[1]);
  });

  it('two attempts of one process that find the leg over write it once', async () => {
    const { bare, legs, settle, open } = setUp();
    const { act } = open();
    const { runId } = await bare.newRun();
    await ask(bare, runId);
    for (const token of [5, 6]) await act(runId, (own) => own.claim(own.writer(runId, 1, token)));
    await settle();
    expect(legs()).toHaveLength(1);
  });

  it('a run that is stopped while it waits has left its leg before', async () => {
    const { bare, legs, settle, open } = setUp();
    const [worker, api] = [open(), open()];
    const { runId } = await bare.newRun();
    await worker.act(runId, (own) => ask(own, runId));
    await until('the leg is written', () => legs().length === 1);
    await api.session.stop({ mode: 'interrupt' });
    // The workflow ends the run again.
    await open().act(runId, (own) => own.end(runId, 'interrupted'));
    await settle();
    expect(legs()).toHaveLength(1);
  });

  it('a run that is stopped between two steps is written by the process that stops it', async () => {
    const { bare, legs, open } = setUp();
    const { runId } = await bare.newRun();
    await open().session.stop({ mode: 'interrupt' });
    await until('the leg is written', () => legs().length === 1);
    expect(legs()).toMatchObject([
      { id: { trace: `${runId}:1` }, attributes: { 'helix.run.status': 'interrupted' } },
    ]);
  });

  it('a wait is written when its call is settled, once, in the trace of the leg that asked', async () => {
    const { bare, spans, open } = setUp();
    const { act, session } = open();
    const { runId } = await bare.newRun();
    await act(runId, (own) => ask(own, runId));
    await session.decide(runId, 'c1', true);
    await session.decide(runId, 'c1', false);
    const waits = spans.filter(({ title }) => title.startsWith('helix.wait'));
    expect(waits).toMatchObject([
      {
        id: { trace: `${runId}:1` },
        parent: `${runId}:1`,
        attributes: {
          'gen_ai.tool.call.id': 'c1',
          'helix.wait.kind': 'approval',
          'helix.wait.end': 'answered',
          'helix.approval.decision': 'approved',
        },
      },
    ]);
  });

  it.each([
    ['stopped', (one: SessionDriver) => one.stop({ mode: 'interrupt' })],
    ['abandoned', (one: SessionDriver) => one.begin({ messages: [userMessage('u2')] })],
    ['lost', (one: SessionDriver, runId: string) => one.end(runId, 'failed')],
  ] as const)(
    'a wait that is %s is written, in the trace of the leg that asked',
    async (how, end) => {
      const { bare, spans, open } = setUp();
      const { act, session } = open();
      const { runId } = await bare.newRun();
      const asked = [newCall('c1', 'approval'), newCall('c2', 'client')];
      await act(runId, async (own) => {
        const writer = own.writer(runId, 1, 1);
        await own.claim(writer);
        await own.commit(writer, { calls: asked });
      });
      await session.decide(runId, 'c1', false);
      await end(session, runId);
      const waits = spans.filter(({ title }) => title.startsWith('helix.wait'));
      expect(waits.map(({ id, attributes }) => [id.trace, attributes['helix.wait.end']])).toEqual([
        [`${runId}:1`, 'answered'],
        [`${runId}:1`, how],
      ]);
      expect(waits[1]?.attributes).toMatchObject({ 'gen_ai.tool.call.id': 'c2' });
    },
  );
});

it('a sub-agent that goes on in a later leg begins with that leg, below its parent', async () => {
  const records: Record<string, object> = {
    s: { runId: 's:2-b', agent: 'boss', turn: 2, leg: { number: 3, at: 5_000 } },
    's.c': {
      runId: 's.c:1-a',
      agent: 'helper',
      leg: { at: 1_000 },
      parent: { sessionId: 's', runId: 's:2-b', toolCallId: 'c1' },
    },
  };
  const store = { sessions: { read: async (id: string) => records[id] } } as never;
  const { within, current } = createLegTraces({ within: (_, work) => work() } as Tracer);
  const run = { sessionId: 's.c', runId: 's.c:1-a', agent: 'helper' };
  expect(await within(store, run, async () => current())).toMatchObject({
    beganAt: 5_000,
    number: 3,
    rootRunId: 's:2-b',
    above: { agent: 'boss', beganAt: 5_000 },
  });
  // A conversation that went on has another run.
  expect(await within(store, { ...run, runId: 's.c:9-z' }, async () => current())).toBeUndefined();
});

it('a model names the server that it calls, if it knows one', () => {
  const openai = createOpenAI({ apiKey: 'k', baseURL: 'http://proxy.test:8080/v1' });
  expect(serverOf(openai('m'))).toEqual({ address: 'proxy.test', port: 8080 });
  expect(serverOf(createAnthropic({ apiKey: 'k' })('m'))).toEqual({
    address: 'api.anthropic.com',
    port: 443,
  });
  expect(serverOf({})).toBeUndefined();
  expect(serverOf({ config: { url: () => 'nowhere' } })).toBeUndefined();
});
