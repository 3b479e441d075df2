import { MockActivityEnvironment } from '@temporalio/testing';
import { z } from 'zod';
import type { AgentScope, ToolContext } from '../../agents/index.js';
import { HelixError } from '../../protocol/errors.js';
import { attemptOf, createHarness, openHarness } from '../support/activity-harness.js';
import { apiError, fakeModel, parts, sayInTurn, type Script } from '../support/fake-model.js';
import { fakeTool } from '../support/fake-tool.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { userMessage } from '../support/session-driver.js';

const { call, says, asks } = parts;

/** Says something and then nothing more, until it is cut. */
const endless: Script = async function* () {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'x'.repeat(40) };
  await new Promise(() => undefined);
};

type Given = Awaited<ReturnType<typeof openHarness>>;

/** An attempt whose model speaks until Temporal cancels it. */
async function cutStep(given: Given, run: RunRecord, attempt: number, limitMs: number) {
  const environment = attemptOf(attempt, { startToCloseTimeoutMs: limitMs });
  const step = given.step(run, 1, attempt, environment);
  const spoken = until('the model has spoken', async () => {
    const texts = await given.session.messages('text_delta');
    return given.model.doStreamCalls.length === attempt && texts.length > 0;
  });
  await Promise.race([spoken, step]);
  environment.cancel('CANCELLED');
  return step.catch((error: unknown) => (error as Error).name);
}

describe('a model call that outlives its activity', () => {
  it('a model call that outlives its activity ends with a typed error after five attempts, and its partial reply has its price', async () => {
    const pricing = { inputPerMTok: 1, outputPerMTok: 5 };
    const given = await openHarness(endless, { more: { llmConfig: { pricing } } });
    const run = await given.begin();
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await cutStep(given, run, attempt, 0)).toBe('CancelledFailure');
    }
    expect(await given.step(run, 1, 6)).toMatchObject({
      kind: 'ended',
      status: 'failed',
      error: { code: 'attempts_exhausted', retryable: false },
    });
    expect(await given.record()).toMatchObject({
      status: 'failed',
      usage: { outputTokens: 40, costMicroUsd: 200 },
    });
    expect(await given.rows(1)).toMatchObject([
      { parts: [{ text: 'x'.repeat(40) }], interrupted: 'failure' },
    ]);
  });

  it("a model call that outlives its activity counts towards the run's cap", async () => {
    const given = await openHarness(endless, { more: { spendCap: { tokens: 15 } } });
    const run = await given.begin();
    await cutStep(given, run, 1, 0);
    await cutStep(given, run, 2, 0);
    expect(await given.step(run, 1, 3)).toMatchObject({ error: { code: 'spend_cap_reached' } });
  });
});

describe('attempts that hand over', () => {
  it('of workers that go do not count, however many they are', async () => {
    const given = await openHarness(endless);
    const run = await given.begin();
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      expect(await cutStep(given, run, attempt, 60_000)).toBe('CancelledFailure');
    }
  });

  it('attempts that hand over and wait for their provider do not count', async () => {
    const refused = apiError(429, {
      message: 'overloaded',
      responseHeaders: { 'retry-after': '30' },
    });
    const given = await openHarness(() => {
      throw refused;
    });
    const run = await given.begin();
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      const step = given.step(run, 1, attempt);
      await expect(step).rejects.toMatchObject({ type: 'provider_wait' });
    }
  });

  /** A run whose steps fail with this error before they call their model. */
  async function beginFailing(error: Error): Promise<[Given, RunRecord]> {
    let isDefined = false;
    const fail = (): number => {
      if (isDefined) throw error;
      return 1;
    };
    const stateSchema = z.object({ n: z.number().default(fail) });
    const given = await openHarness(endless, { more: { stateSchema } });
    isDefined = true;
    return [given, await given.begin()];
  }

  it('of code that throws end the run at the fifth, whatever went before', async () => {
    const [given, run] = await beginFailing(new TypeError('a fault'));
    for (const attempt of [7, 8, 9, 10]) {
      await expect(given.step(run, 1, attempt)).rejects.toThrow('a fault');
    }
    expect(await given.step(run, 1, 11)).toMatchObject({
      error: { code: 'framework_internal_error' },
    });
  });

  it('at a store that is full do not count', async () => {
    const [given, run] = await beginFailing(new HelixError('unavailable', 'full'));
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await expect(given.step(run, 1, attempt)).rejects.toThrow('full');
    }
  });
});

it('a call that waits for a slot gets no permission from a worker that shuts down', async () => {
  const stores = await openTestStores();
  let release: (() => void) | undefined;
  const hold = fakeTool('hold', () => new Promise<void>((resolve) => (release = resolve)));
  const calls = [...call('c1', 'hold', {}), ...call('c2', 'hold', {})];
  const given = createHarness(stores, {
    model: fakeModel(sayInTurn(asks(calls))),
    tools: [hold],
    toolSlots: { total: 1, perUser: 1 },
  });
  const run = await given.begin();
  await given.step(run, 1);
  const first = given.tool(run, 1, 'c1');
  await until('it is executed', () => release !== undefined);
  const environment = attemptOf(1);
  const second = given.tool(run, 1, 'c2', 1, { environment });
  environment.cancel('WORKER_SHUTDOWN');
  await expect(second).rejects.toMatchObject({ type: 'tools_busy' });
  expect(await stores.store.calls.read(given.session.id, 'c2')).toMatchObject({ state: 'open' });
  release?.();
  expect(await first).toBe('settled');
});

describe('a worker of another build', () => {
  const tool = (name: string) => fakeTool(name, () => name);
  const model = () => fakeModel(sayInTurn(asks(call('c1', 'newer', {}))));

  it('a worker that does not know the tool leaves the call untouched for one that does', async () => {
    const stores = await openTestStores();
    const newer = createHarness(stores, { model: model(), tools: [tool('newer')] });
    const older = createHarness(stores, { model: model(), tools: [tool('older')] }, newer.session);
    const run = await newer.begin();
    await newer.step(run, 1);
    const named = { toolName: 'newer' };
    for (const attempt of [1, 2, 3]) {
      await expect(older.tool(run, 1, 'c1', attempt, named)).rejects.toMatchObject({
        type: 'unknown_agent',
        nonRetryable: false,
      });
    }
    expect(await stores.store.calls.read(newer.session.id, 'c1')).toMatchObject({ state: 'open' });
    expect(await newer.tool(run, 1, 'c1', 4, named)).toBe('settled');
    expect(await stores.store.calls.read(newer.session.id, 'c1')).toMatchObject({
      row: { output: 'newer' },
    });
  });

  it('the model gets an error when no worker has known the tool for ten minutes', async () => {
    const stores = await openTestStores();
    const newer = createHarness(stores, { model: model(), tools: [tool('newer')] });
    const older = createHarness(stores, { model: model(), tools: [] }, newer.session);
    const run = await newer.begin();
    await newer.step(run, 1);
    const long = { toolName: 'newer', ageMs: 600_001 };
    expect(await older.tool(run, 1, 'c1', 1, long)).toBe('settled');
    expect(await stores.store.calls.read(newer.session.id, 'c1')).toMatchObject({
      row: { errorCode: 'unknown_tool' },
    });
  });

  it('a worker that does not know the agent leaves the step, unless the run is stopped', async () => {
    const stores = await openTestStores();
    const newer = createHarness(stores, { model: fakeModel(endless) });
    const older = createHarness(
      stores,
      { model: fakeModel(endless), name: 'another' },
      newer.session,
    );
    const run = await newer.begin();
    await expect(older.step(run, 1)).rejects.toMatchObject({ type: 'unknown_agent' });
    expect(await stores.store.sessions.read(newer.session.id)).toMatchObject({ claimedStep: 0 });
    await newer.session.stop();
    expect(await older.step(run, 1, 2)).toMatchObject({ kind: 'ended', status: 'interrupted' });
    const other = await newer.begin();
    const writer = newer.session.writer(other.runId, 1, 1);
    await newer.session.claim(writer);
    await stores.store.runs.stop(newer.session.id, { mode: 'interrupt' });
    expect(await older.step(other, 1, 2)).toMatchObject({ kind: 'ended', status: 'interrupted' });
  });

  it('no worker knows the agent: the run ends typed after ten minutes', async () => {
    const given = await openHarness(endless, { name: 'another' });
    const run = await given.begin();
    const late = new MockActivityEnvironment({ attempt: 9, scheduledTimestampMs: 1 });
    expect(await given.step(run, 1, 9, late)).toMatchObject({ error: { code: 'unknown_agent' } });
  });
});

it('a worker that shuts down says whether a call that it hands over had begun', async () => {
  let isExecuted = false;
  const hold = fakeTool('hold', (_, { abortSignal }) => {
    isExecuted = true;
    return new Promise((_resolve, reject) => {
      abortSignal.addEventListener('abort', () => {
        reject(new Error('cut'));
      });
    });
  });
  const calls = [...parts.call('c1', 'hold', {}), ...parts.call('c2', 'hold', {})];
  const { begin, step, outcome } = createHarness(createMemoryStores() as unknown as TestStores, {
    model: fakeModel(() => parts.asks(calls)),
    tools: [hold],
    toolSlots: { total: 1, perUser: 1 },
  });
  const run = await begin();
  await step(run, 1);
  const attempt = (toolCallId: string) => {
    const environment = attemptOf(1);
    const lost = outcome(run, 1, toolCallId, 1, { environment, isLeased: true });
    const shutDown = (): void => {
      environment.cancel('WORKER_SHUTDOWN');
    };
    return { lost, shutDown };
  };
  const first = attempt('c1');
  await until('it is executed', () => isExecuted);
  const second = attempt('c2');
  second.shutDown();
  expect(await second.lost).toMatchObject({ kind: 'lost', number: 1, begun: false });
  first.shutDown();
  expect(await first.lost).toEqual({ kind: 'lost', number: 1, token: expect.any(Number) });
});

it('a factory is given the session, the run and the user whose agent it makes, in steps and in calls', async () => {
  const stores = await openTestStores();
  const scopes: AgentScope[] = [];
  const tool = fakeTool('echo', () => 'again');
  const given = createHarness(stores, {
    model: fakeModel(sayInTurn(asks(call('c1', 'echo', {})))),
    tools: [tool],
    onScope: (scope) => scopes.push(scope),
  });
  const run = await given.begin();
  const record = await stores.store.sessions.read(given.session.id);
  const scope = { sessionId: given.session.id, runId: run.runId, userId: record?.owner };
  await given.step(run, 1);
  expect(scopes).toMatchObject([scope]);
  expect(await given.tool(run, 1, 'c1')).toBe('settled');
  expect(scopes).toMatchObject([scope, scope]);
});

it('the user is the one of this run, also where another one had a session of this id before', async () => {
  const stores = await openTestStores();
  const users: (string | undefined)[] = [];
  const say = says('hi');
  const given = createHarness(stores, {
    model: fakeModel(sayInTurn(say, say)),
    onScope: ({ userId }) => users.push(userId),
  });
  const { session } = given;
  for (const owner of ['ann', 'bob']) {
    const begun = await session.newRun({ owner, messages: [userMessage(`of-${owner}`)] });
    await given.step(begun, 1);
    await stores.store.sessions.erase(session.id);
  }
  expect([...new Set(users)]).toEqual(['ann', 'bob']);
});

it('a call gives its place and its subscription back, as a step does, also when it is tried again', async () => {
  const stores = await openTestStores();
  const { onStop } = stores.streamManager;
  let [listened, left] = [0, 0];
  const counted: typeof onStop = async (...of) => {
    const leave = await onStop(...of);
    listened += 1;
    return () => {
      left += 1;
      leave();
    };
  };
  const fails = (_: unknown, { attempt }: ToolContext): void => {
    if (attempt === 1) throw new Error('try again');
  };
  const retry = { attempts: 2, initialIntervalMs: 1 };
  const again = fakeTool('again', fails, { idempotent: true, retry });
  const { begin, step, tool } = createHarness(
    { ...stores, streamManager: { ...stores.streamManager, onStop: counted } },
    {
      model: fakeModel(sayInTurn(asks(call('c1', 'again', {})))),
      tools: [again],
      toolSlots: { total: 1, perUser: 1 },
    },
  );
  const run = await begin();
  await step(run, 1);
  await expect(tool(run, 1, 'c1', 1)).rejects.toMatchObject({ nextRetryDelay: 1 });
  expect(await tool(run, 1, 'c1', 2)).toBe('settled');
  await until('the step and both tries have left', () => left === 3);
  expect(listened).toBe(3);
});
