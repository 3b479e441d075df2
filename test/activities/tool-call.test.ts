import { z } from 'zod';
import { defineTool, type ToolContext, type ToolDefinition } from '../../agents/index.js';
import { toRetryDelay, executeTool } from '../../activities/tool/execute-tool.js';
import { createHarness, openHarness } from '../support/activity-harness.js';
import { fakeTool } from '../support/fake-tool.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { createPreliminary } from '../../activities/tool/call-context.js';
import { toFailure } from '../../activities/tool/tool-outcome.js';
import { LIMITS } from '../../protocol/limits.js';
import { closedCall } from '../../runs/record/step-chunks.js';

type Execute = (input: unknown, context: ToolContext) => unknown;

/** A run whose first step has asked for one call of the tool. */
async function openCall(
  execute: Execute,
  extra: object = {},
  outputSchema?: z.ZodType,
  opened?: TestStores,
  others: ToolDefinition[] = [],
) {
  const inputSchema = z.object({ n: z.number().default(7) });
  const tool = fakeTool('tool', execute, { inputSchema, ...extra });
  const model = fakeModel(sayInTurn(parts.asks(parts.call('c1', 'tool', {}))));
  const harness = createHarness(opened ?? (await openTestStores()), {
    model,
    tools: [tool, ...others],
    ...(outputSchema !== undefined && { more: { outputSchema } }),
  });
  const run = await harness.begin();
  await harness.step(run, 1);
  const result = async (): Promise<unknown> => {
    const call = await harness.stores.store.calls.read(harness.session.id, 'c1');
    return call?.row;
  };
  return { ...harness, run, result };
}

function trap(): never {
  throw new Error('trap');
}

const throwing =
  (thrown: unknown): Execute =>
  () => {
    throw thrown;
  };
const withFields = (fields: object): Error => Object.assign(new Error('no'), fields);
const proxyOf = (traps: ProxyHandler<Error>): Error => new Proxy(new Error('x'), traps);
const hostile = { constructor: { prototype: 1 } };
const formless = Object.assign(Object.create(null) as object, { toJSON: () => undefined });

/** Resolves never, unless its call is cut. */
const hang: Execute = () => new Promise(() => undefined);

describe('tool call', () => {
  it('executes with what the schema made of the input, and settles the result', async () => {
    const seen: unknown[] = [];
    const { tool, run, result, session } = await openCall((input, context) => {
      seen.push(input, context.idempotencyKey, context.attempt);
      return { ok: true };
    });
    expect(await tool(run, 1, 'c1')).toBe('settled');
    expect(seen).toEqual([{ n: 7 }, `${run.runId}/c1`, 1]);
    expect(await result()).toMatchObject({ role: 'tool', toolCallId: 'c1', output: { ok: true } });
    expect(await session.messages('tool_end')).toMatchObject([
      { result: { ok: true }, providerExecuted: true },
    ]);
  });

  it('executes only the tool that the record names, whatever its activity is given', async () => {
    const other = fakeTool('other', trap);
    const { tool, run, result } = await openCall(() => 'done', {}, undefined, undefined, [other]);
    expect(await tool(run, 1, 'c1', 1, { toolName: 'other' })).toBe('settled');
    expect(await result()).toMatchObject({ output: 'done' });
  });

  const thrown = (error: unknown) => ({ error, errorCode: 'tool_execution_failed' });
  it.each<[string, Execute, object, object?]>([
    ['nothing', () => undefined, { output: null }],
    ['keys of prototypes', () => hostile, { output: expect.not.objectContaining(hostile) }],
    ['what is no JSON', () => 10n, { errorCode: 'tool_execution_failed' }],
    ['much', () => 'x'.repeat(200 * 1024), { output: 'x'.repeat(200 * 1024) }],
    ['too much', () => 'x'.repeat(1024 * 1024), { errorCode: 'tool_result_too_large' }],
    ['far too much', () => 'x'.repeat(10 << 20), { error: 'The result is too large.' }],
    ['another type', () => 'text', thrown(expect.any(String)), { outputSchema: z.number() }],
    ['an error', throwing(new Error('out of paper')), thrown('out of paper')],
    ['a thrown object', throwing({ code: 4 }), thrown('{"code":4}')],
    ['a thrown nothing', throwing(undefined), thrown('unknown error')],
    ['an error without a text', throwing(new TypeError()), thrown('TypeError')],
    ['an error with an object as its text', throwing(withFields({ message: [1] })), thrown('[1]')],
    ['an error without a stack', throwing(withFields({ stack: null })), thrown('no')],
    ['a thrown value without a form', throwing(formless), thrown('unknown error')],
    ['what throws itself', throwing(proxyOf({ get: trap })), thrown('unknown error')],
    ['what has no class', throwing(proxyOf({ getPrototypeOf: trap })), thrown('unknown error')],
  ])('tells the model of a tool that gives %s', async (_what, execute, row, extra = {}) => {
    const { tool, run, result } = await openCall(execute, extra);
    expect(await tool(run, 1, 'c1')).toBe('settled');
    expect(await result()).toMatchObject(row);
  });

  it('is carried out once however often Temporal tries, as long as the first try lives', async () => {
    let times = 0;
    let release: (() => void) | undefined;
    const { tool, run, result } = await openCall(async () => {
      times += 1;
      await new Promise<void>((resolve) => (release = resolve));
    });
    const first = tool(run, 1, 'c1', 1);
    await until('it runs', () => times === 1);
    expect(await tool(run, 1, 'c1', 2)).toBe('settled');
    expect(times).toBe(1);
    release?.();
    expect(await first).toBe('settled');
    expect(await result()).toMatchObject({ errorCode: 'tool_outcome_unknown' });
  });

  it('is carried out again when it is idempotent, and the first try is refused', async () => {
    let times = 0;
    let release: (() => void) | undefined;
    const { tool, run, result, session, rows } = await openCall(
      async () => {
        times += 1;
        const mine = times;
        if (mine === 1) await new Promise<void>((resolve) => (release = resolve));
        return `try ${String(mine)}`;
      },
      { idempotent: true },
    );
    const first = tool(run, 1, 'c1', 1).catch((error: unknown) => error);
    await until('it runs', () => times === 1);
    const second = tool(run, 1, 'c1', 2);
    expect(await second).toBe('settled');
    release?.();
    expect(await first).toBe('settled');
    expect(await result()).toMatchObject({ output: 'try 2' });
    expect(await session.messages('tool_end')).toHaveLength(1);
    expect(await rows(0)).toHaveLength(2);
  });

  it('that has held up a worker is not carried out again, although it is idempotent', async () => {
    let executions = 0;
    const { tool, run, result } = await openCall(
      () => {
        executions += 1;
        return new Promise(() => undefined);
      },
      { idempotent: true },
    );
    tool(run, 1, 'c1', 1).catch(() => undefined);
    await until('it is executed', () => executions === 1);
    const replaces = { token: 1, number: 1, blockedBy: 'c1' };
    expect(await tool(run, 1, 'c1', 2, { isLeased: true, replaces })).toBe('settled');
    expect(executions).toBe(1);
    expect(await result()).toMatchObject({
      error: '"tool" held up its worker for too long.',
      errorCode: 'tool_timeout',
    });
  });

  it('that takes longer than allowed says so', async () => {
    const { tool, run, result } = await openCall(hang, { timeoutMs: 20 });
    await tool(run, 1, 'c1');
    expect(await result()).toMatchObject({ errorCode: 'tool_timeout' });
  });

  const UNKNOWN = { errorCode: 'tool_outcome_unknown' };
  it.each<[string, () => unknown, object, number]>([
    ['done', () => ({ outcome: 'done', result: 'sent' }), { output: 'sent' }, 1],
    ['not done', () => ({ outcome: 'not_done' }), { output: 2 }, 2],
    ['unknown', () => ({ outcome: 'unknown' }), UNKNOWN, 1],
    ['nothing', () => undefined, UNKNOWN, 1],
    ['an error', trap, UNKNOWN, 1],
  ])('whose execution was lost is settled by what its tool says: %s', async (_, verify, row, n) => {
    let times = 0;
    const execute = (): unknown => ((times += 1) === 1 ? new Promise(() => undefined) : times);
    const { tool, run, result } = await openCall(execute, { verify });
    void tool(run, 1, 'c1', 1).catch(() => undefined);
    await until('it runs', () => times === 1);
    expect(await tool(run, 1, 'c1', 2)).toBe('settled');
    expect([await result(), times]).toMatchObject([row, n]);
  });

  it('is cut by a stop, whether or not the tool listens', async () => {
    let signal: AbortSignal | undefined;
    const { tool, run, stores, session } = await openCall((input, context) => {
      signal = context.abortSignal;
      return hang(input, context);
    });
    const running = tool(run, 1, 'c1');
    await until('it runs', () => signal !== undefined);
    await stores.store.runs.stop(session.id, { mode: 'interrupt' });
    expect(await running).toBe('stopped');
    expect(signal?.aborted).toBe(true);
    expect(await stores.store.sessions.rows(session.id, 2)).toMatchObject([
      { toolCallId: 'c1', errorCode: 'tool_outcome_unknown' },
    ]);
  });

  it('is cut by a stop that comes between its permission and its subscription', async () => {
    const stores = await openTestStores();
    let subscribe: (() => void) | undefined;
    const subscribable = new Promise<void>((resolve) => {
      subscribe = resolve;
    });
    const streamManager: typeof stores.streamManager = {
      ...stores.streamManager,
      onStop: async (...args) => {
        await subscribable;
        return stores.streamManager.onStop(...args);
      },
    };
    let isRunning = false;
    const { tool, run, session } = await openCall(
      (input, context) => {
        isRunning = true;
        return hang(input, context);
      },
      {},
      undefined,
      { ...stores, streamManager },
    );
    const running = tool(run, 1, 'c1');
    await until('it runs', () => isRunning);
    await stores.store.runs.stop(session.id, { mode: 'interrupt' });
    subscribe?.();
    expect(await running).toBe('stopped');
  });

  it('emits events before its result, in order', async () => {
    const { tool, run, session } = await openCall(async (_, { emit }) => {
      await emit('progress', { done: 1 });
      await emit('progress', { done: 2 });
      return 'done';
    });
    await tool(run, 1, 'c1');
    const types = (await session.log()).map(({ message }) => message.type);
    expect(types.slice(-3)).toEqual(['custom', 'custom', 'tool_end']);
    expect(await session.messages('custom')).toMatchObject([
      { eventName: 'progress', data: { done: 1 } },
      { data: { done: 2 } },
    ]);
  });

  it('of an approval is not carried out before it is approved', async () => {
    let times = 0;
    const { tool, run, session } = await openCall(() => (times += 1), { requireApproval: true });
    expect(await tool(run, 1, 'c1')).toBe('settled');
    expect(times).toBe(0);
    await session.decide(run.runId, 'c1', true);
    await tool(run, 1, 'c1', 2);
    await tool(run, 1, 'c1', 3);
    expect(times).toBe(1);
    // A call that a person approved counts as the client's.
    expect((await session.messages('tool_end'))[0]).not.toHaveProperty('providerExecuted');
  });

  it('that throws is tried again by its policy, under one key, and then gives up', async () => {
    const seen: string[] = [];
    const { tool, run, result } = await openCall(
      (_, { attempt, idempotencyKey }) => {
        seen.push(`${String(attempt)} ${idempotencyKey}`);
        throw new Error(`try ${String(attempt)}`);
      },
      { idempotent: true, retry: { attempts: 3, initialIntervalMs: 10, coefficient: 3 } },
    );
    await expect(tool(run, 1, 'c1', 1)).rejects.toMatchObject({ nextRetryDelay: 10 });
    await expect(tool(run, 1, 'c1', 2)).rejects.toMatchObject({ nextRetryDelay: 30 });
    expect(await result()).toBeUndefined();
    expect(await tool(run, 1, 'c1', 3)).toBe('settled');
    expect(await result()).toMatchObject({ error: 'try 3', errorCode: 'tool_execution_failed' });
    expect(seen).toEqual([1, 2, 3].map((n) => `${String(n)} ${run.runId}/c1`));
  });

  it('acts in each of its attempts for who asked and who approved, and its row has neither’s roles', async () => {
    const seen: unknown[] = [];
    const pay = fakeTool(
      'pay',
      (_, { attempt, requester, approver }: ToolContext) => {
        seen.push({ attempt, requester, approver });
        if (attempt === 1) throw new Error('try again');
        return 'paid';
      },
      { requireApproval: true, idempotent: true, retry: { attempts: 2, initialIntervalMs: 1 } },
    );
    const { session, step, tool, rows } = await openHarness(
      sayInTurn(parts.asks(parts.call('c1', 'pay', {}))),
      { tools: [pay] },
    );
    const requester = { userId: 'ann', tenantId: 'acme', roles: ['viewer'] } as const;
    const approver = { userId: 'bob', tenantId: 'hq', roles: ['approver'] } as const;
    const run = await session.newRun({ askers: [{ ...requester, personId: 'p-ann' }] });
    await step(run, 1);
    await session.decide(run.runId, 'c1', true, { approver: { ...approver, personId: 'p-bob' } });
    await expect(tool(run, 1, 'c1', 1)).rejects.toMatchObject({ nextRetryDelay: 1 });
    expect(await tool(run, 1, 'c1', 2)).toBe('settled');
    expect(seen).toEqual([1, 2].map((attempt) => ({ attempt, requester, approver })));
    const stored = JSON.stringify(await rows(0));
    for (const trace of ['p-ann', 'p-bob', 'roles']) expect(stored).not.toContain(trace);
  });

  it('waits longer each time, up to a limit', () => {
    const policy = { attempts: 9, initialIntervalMs: 100, maximumIntervalMs: 500 };
    expect([1, 2, 3, 4, 9].map((n) => toRetryDelay(policy, n))).toEqual([100, 200, 400, 500, 500]);
  });

  it('that ends the run says so, also when it is asked again', async () => {
    const { outcome, run, stores, session } = await openCall(() => 2, {
      finishWith: (n: number) => ({ twice: n * 2 }),
    });
    expect(await outcome(run, 1, 'c1')).toMatchObject({ kind: 'settled' });
    expect(await outcome(run, 1, 'c1', 2)).toEqual({ kind: 'settled' });
    expect((await stores.store.sessions.read(session.id))?.output).toEqual({ twice: 4 });
  });

  it('that ends the run with something else than the agent promises tells the model', async () => {
    const extra = { finishWith: true };
    const { outcome, run, result } = await openCall(() => 'text', extra, z.number());
    expect(await outcome(run, 1, 'c1')).not.toHaveProperty('finish');
    expect(await result()).toMatchObject({
      errorCode: 'invalid_output',
      error: expect.stringContaining('The tool was carried out'),
    });
  });

  it('is carried out with what a person changed its input to, checked again', async () => {
    for (const [input, expected] of [
      [{ n: 8 }, { output: { n: 8 } }],
      [{ n: 'eight' }, { errorCode: 'invalid_tool_input' }],
    ]) {
      const { tool, run, result, stores, session } = await openCall((given) => given, {
        requireApproval: true,
      });
      await stores.store.calls.settle({
        source: 'approval',
        sessionId: session.id,
        agentType: 'lab',
        toolCallId: 'c1',
        runId: run.runId,
        decision: { approved: true, at: 1, by: 'ann', input },
        permitted: true,
        chunks: [],
        now: 1,
      });
      await tool(run, 1, 'c1');
      expect(await result()).toMatchObject({ ...expected, decision: { by: 'ann', input } });
    }
  });
});

async function logOf(thrown: unknown): Promise<{ logged: string; outcome: unknown }> {
  const lines: unknown[] = [];
  const outcome = await executeTool({
    tool: fakeTool('tool', throwing(thrown)),
    input: {},
    number: 1,
    attempt: {
      cancelled: () => false,
      cutReason: () => undefined,
      executing: () => () => undefined,
    } as never,
    signal: new AbortController().signal,
    context: { runId: 'r', toolCallId: 'c' } as ToolContext,
    webhookUrl: '',
    logger: { info: (...line) => void lines.push(line), warn: () => undefined },
  });
  return { logged: JSON.stringify(lines), outcome };
}

it('a call that waits for a webhook tells the deadline, also beside a call at work', async () => {
  const hook = defineTool({
    name: 'hook',
    description: 'Asks.',
    inputSchema: z.object({}),
    deadlineMs: 60_000,
    execute: 'webhook',
    send: () => undefined,
  });
  const asks = parts.asks(parts.call('c1', 'hook', {}), parts.call('c2', 'busy', {}));
  const tools = [hook, fakeTool('busy', hang)];
  const { begin, step, session, tool, told } = await openHarness(sayInTurn(asks), { tools });
  const run = await begin();
  await step(run, 1);
  await session.start(run.runId, 1, 'c2');
  expect(await tool(run, 1, 'c1')).toBe('suspended');
  const dueInMs = expect.closeTo(60_000, -4) as unknown;
  expect(told()?.next).toMatchObject({ asleep: ['c1'], dueInMs });
});

it('a call whose lost attempt has passed its webhook on, as its tool finds, waits for the answer', async () => {
  let sent = 0;
  const hook = defineTool({
    name: 'hook',
    description: 'Asks.',
    inputSchema: z.object({}),
    execute: 'webhook',
    send: () => ((sent += 1) === 1 ? new Promise<void>(() => undefined) : undefined),
    verify: () => ({ outcome: 'done', result: null }),
  });
  const asks = parts.asks(parts.call('c1', 'hook', {}));
  const { begin, step, tool } = await openHarness(sayInTurn(asks), { tools: [hook] });
  const run = await begin();
  await step(run, 1);
  void tool(run, 1, 'c1', 1).catch(() => undefined);
  await until('it passes its address on', () => sent === 1);
  expect([await tool(run, 1, 'c1', 2), sent]).toEqual(['suspended', 1]);
});

it('the error text of a call has whole characters, also where it is cut', () => {
  const max = LIMITS.errorTextBytes / 4;
  const long = 'x'.repeat(max - 1);
  for (const [text, kept] of [
    ['a\ud800', 'a\ufffd'],
    [`${long}🙂`, long],
  ] as const) {
    expect(toFailure(text, 'c')).toEqual({ error: kept, errorCode: 'c' });
    const scope = { agentId: 's', agentType: 'a', step: 1, runId: 'r' };
    const call = { toolCallId: 'c1', toolName: 't' };
    const { chunks } = closedCall(scope, call, {}, { code: 'c', text }, 0);
    expect(chunks).toMatchObject([{ error: kept }]);
  }
});

describe('the log of a tool that throws', () => {
  it('the log of a tool that throws names the call, the error and its place, and none of its text', async () => {
    const secret = 'alice@example.com\n    at home she is not';
    const { logged, outcome } = await logOf(new TypeError(`no account for ${secret}`));
    expect(logged).toContain('"runId":"r","toolCallId":"c"');
    expect(logged).toContain('"name":"TypeError"');
    expect(logged).toContain('tool-call.test');
    expect(logged).not.toMatch(/alice|at home/);
    expect(JSON.stringify(outcome)).toContain('alice@example.com');
  });

  it.each([['alice@example.com'], [{ toString: (): string => 'alice' }], [undefined]])(
    'the log leaves out the thrown value %j, which is no error',
    async (thrown) => {
      expect((await logOf(thrown)).logged).not.toContain('alice');
    },
  );
});

/** Shows values with the clock in the test's hands. */
function withClock(play: (shown: unknown[], show: (value: unknown) => void) => void): void {
  jest.useFakeTimers();
  const shown: unknown[] = [];
  const preliminary = createPreliminary((value) => shown.push(value));
  play(shown, preliminary.show);
  preliminary.close();
  const { length } = shown;
  preliminary.show('late');
  jest.advanceTimersByTime(10_000);
  expect(shown).toHaveLength(length);
}

describe('preliminary results', () => {
  it('none is shown once the call is over', () => withClock(() => undefined));

  it('the first is shown at once, and later ones at a pace, the newest each time', () => {
    withClock((shown, show) => {
      for (let n = 0; n < 50; n += 1) show(n);
      expect(shown).toEqual([0]);
      jest.advanceTimersByTime(LIMITS.preliminaryEveryMs);
      expect(shown).toEqual([0, 49]);
      jest.advanceTimersByTime(LIMITS.preliminaryEveryMs);
      show('after a pause');
      expect(shown).toEqual([0, 49, 'after a pause']);
    });
  });

  it('what is shown does not change when the tool changes its value', () => {
    withClock((shown, show) => {
      const value = { list: [1] };
      show(value);
      value.list.push(2);
      expect(shown).toEqual([{ list: [1] }]);
    });
  });

  it('what is no JSON or too large is left out, and one call may show so much in all', () => {
    withClock((shown, show) => {
      const cycle: { own?: object } = {};
      cycle.own = cycle;
      for (const value of [undefined, 1n, cycle, 'x'.repeat(LIMITS.preliminaryBytes)]) show(value);
      expect(shown).toEqual([]);
      for (let n = 0; n < 100; n += 1) {
        show('y'.repeat(LIMITS.preliminaryBytes - 2));
        jest.advanceTimersByTime(LIMITS.preliminaryEveryMs);
      }
      expect(shown).toHaveLength(LIMITS.callPreliminaryBytes / LIMITS.preliminaryBytes);
    });
  });
});
