import { z } from 'zod';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { OpenCalls } from '../../protocol/run.js';
import { fakeModel, parts, type Script } from '../support/fake-model.js';
import { fakeTool as tool } from '../support/fake-tool.js';
import { createLegHarness, openProcess } from '../support/leg-harness.js';
import { StepTable } from '../../activities/leg/run-leg.js';

/** Each step asks for these calls, and the last one says `done`. */
function asking(...steps: string[][]): Script {
  return (n) => {
    const names = steps[n];
    if (names === undefined) return parts.says('done');
    const calls = names.flatMap((name, at) =>
      parts.call(`${name}-${String(n + 1)}-${String(at)}`, name, {}),
    );
    return parts.asks(calls);
  };
}

const never = new Promise<never>(() => undefined);

describe('a leg', () => {
  it('carries a run of five steps with four calls to its end, and shows them in a table', async () => {
    const { begin, leg, record, asked } = createLegHarness({
      model: fakeModel(asking(['echo'], ['echo'], ['echo'], ['hang'])),
      tools: [tool('echo', () => 'ok'), tool('hang', () => never, { timeoutMs: 20 })],
    });
    const outcome = await leg(await begin());
    expect(outcome.at.next).toEqual({ do: 'done', step: 5, status: 'completed' });
    expect(outcome.steps.map(({ step, calls = [] }) => [step, calls.length])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 0],
    ]);
    expect(outcome.steps[0]).toMatchObject({
      input: 3,
      output: 2,
      calls: [{ tool: 'echo', outcome: 'ok' }],
    });
    expect(outcome.steps[3]?.calls).toMatchObject([{ tool: 'hang', outcome: 'tool_timeout' }]);
    expect((await record())?.status).toBe('completed');
    expect(asked).toHaveLength(5 * 2 + 4 * 2);
  });

  it('that is begun again starts at the first step that is not committed, and asks for each call', async () => {
    let isDead = false;
    const executed: string[] = [];
    const model = fakeModel((n, options) => {
      if (n < 3) return asking(['echo', 'echo'], ['echo', 'echo'], ['echo', 'echo'])(n, options);
      if (!isDead) return never;
      return parts.says('done');
    });
    const { begin, leg, asked } = createLegHarness({
      model,
      tools: [tool('echo', (_, { toolCallId }) => executed.push(toolCallId))],
    });
    const run = await begin();
    void leg(run).catch(() => undefined);
    while (model.doStreamCalls.length < 4) await new Promise(setImmediate);
    isDead = true;
    asked.length = 0;
    const outcome = await leg(run, openProcess(2));
    expect(outcome.at.next).toEqual({ do: 'done', step: 4, status: 'completed' });
    // With the first claim the record says that step 3 is the newest one, and its calls are settled.
    expect(asked).toEqual(['claim', 'claim', 'commit']);
    expect(executed).toHaveLength(6);
  });

  it('that is begun again knows how often a result did not fit', async () => {
    let isDead = false;
    const model = fakeModel((n) => {
      if (n === 2 && !isDead) return never;
      const wrong = parts.call(`f${String(n)}`, FINISH_TOOL_NAME, { answer: 'none' });
      return parts.asks(wrong);
    });
    const outputSchema = z.object({ answer: z.number() });
    const { begin, leg } = createLegHarness({ model, outputSchema });
    const run = await begin();
    void leg(run).catch(() => undefined);
    while (model.doStreamCalls.length < 3) await new Promise(setImmediate);
    isDead = true;
    const outcome = await leg(run, openProcess(2));
    expect(outcome.at.next).toMatchObject({
      do: 'done',
      status: 'failed',
      error: { code: 'invalid_output' },
    });
    expect(model.doStreamCalls).toHaveLength(4);
  });

  it('executes a call that may not be repeated once, whatever becomes of its process', async () => {
    let executions = 0;
    const { begin, leg, rows } = createLegHarness({
      model: fakeModel(asking(['charge'])),
      tools: [
        tool('charge', () => {
          executions += 1;
          return never;
        }),
      ],
    });
    const run = await begin();
    void leg(run).catch(() => undefined);
    while (executions < 1) await new Promise(setImmediate);
    const outcome = await leg(run, openProcess(2));
    expect(outcome.at.next).toEqual({ do: 'done', step: 2, status: 'completed' });
    expect(executions).toBe(1);
    expect(await rows(2, 3)).toMatchObject([{ errorCode: 'tool_outcome_unknown' }]);
  });

  it('executes the calls of a step beside each other, at most ten at once', async () => {
    const ends: (() => void)[] = [];
    const { begin, leg } = createLegHarness({
      model: fakeModel(asking(Array.from({ length: 25 }, () => 'echo'))),
      tools: [tool('echo', () => new Promise<void>((resolve) => ends.push(resolve)))],
    });
    const running = leg(await begin());
    for (const max of [10, 20, 25]) {
      while (ends.length < max) await new Promise(setImmediate);
      // Another call would begin now, beside those in progress.
      for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
      expect(ends).toHaveLength(max);
      for (const end of ends.slice(max - 10)) end();
    }
    const { steps } = await running;
    expect(steps[0]).toMatchObject({ more: 15 });
    expect(steps[0]?.calls).toHaveLength(10);
  });

  it('leaves what people, sub-agents or activities of their own are to do to the workflow', async () => {
    const tools = [
      tool('echo', () => 'ok'),
      tool('far', () => 'ok', { activity: { taskQueue: 'far' } }),
      tool('slow', () => 'ok', { timeoutMs: 3_600_000 }),
      tool('pausing', () => 'ok', { idempotent: true, retry: { attempts: 9 } }),
      tool('ask', 'client'),
    ];
    for (const name of ['far', 'slow', 'pausing']) {
      const { begin, leg } = createLegHarness({ model: fakeModel(asking(['echo', name])), tools });
      const { at } = await leg(await begin());
      expect(at.next).toMatchObject({
        do: 'open',
        machine: [expect.any(String), expect.any(String)],
        calls: [{ toolName: 'echo' }, { toolName: name, activity: {} }],
      });
    }
    const { begin, leg, record } = createLegHarness({
      model: fakeModel(asking(['echo', 'ask'])),
      tools,
    });
    const { at } = await leg(await begin());
    // In a step that asks people as well, what they release runs beside the other calls.
    expect(at.next).toMatchObject({
      do: 'open',
      machine: ['echo-1-0'],
      people: ['ask-1-1'],
      calls: [{ toolName: 'echo' }, { toolName: 'ask' }],
    });
    expect((await record())?.status).toBe('running');
  });

  it('begins no more calls of a step once its worker shuts down', async () => {
    let executed = 0;
    const twenty = Array.from({ length: 20 }, () => 'echo');
    const { begin, leg } = createLegHarness(
      { model: fakeModel(asking(twenty)), tools: [tool('echo', () => (executed += 1))] },
      { isDraining: () => executed > 0 },
    );
    const { next } = (await leg(await begin())).at;
    expect(executed).toBeLessThanOrEqual(10);
    const { machine = [], calls = [] } = next as OpenCalls;
    expect(machine).toHaveLength(20 - executed);
    expect(calls.map(({ activity }) => activity)).toEqual(machine.map(() => undefined));
  });

  it('hands over at a step boundary when its time is over, or its worker shuts down', async () => {
    const model = () => fakeModel(asking(['echo'], ['echo']));
    const tools = [tool('echo', () => 'ok')];
    let ms = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (ms += LIMITS.legMs));
    const timed = createLegHarness({ model: model(), tools });
    const first = await timed.leg(await timed.begin());
    clock.mockRestore();
    expect(first.at.next).toMatchObject({ do: 'open', machine: ['echo-1-0'] });
    let isDraining = false;
    const drained = createLegHarness(
      {
        model: model(),
        tools: [
          tool('echo', () => {
            isDraining = true;
          }),
        ],
      },
      { isDraining: () => isDraining },
    );
    const run = await drained.begin();
    const outcome = await drained.leg(run);
    const { at } = outcome;
    expect(at.next).toEqual({ do: 'model', step: 2 });
    isDraining = false;
    const rest = await drained.leg(run, openProcess(2), { at });
    expect(rest.at.next).toEqual({ do: 'model', step: 3 });
  });

  it('executes a tool that may be tried again in place, once it has paused', async () => {
    const attempts: number[] = [];
    const { begin, leg, rows } = createLegHarness({
      model: fakeModel(asking(['flaky'])),
      tools: [
        tool(
          'flaky',
          (_, { attempt }) => {
            attempts.push(attempt);
            if (attempt < 3) throw new Error('no');
            return 'ok';
          },
          { idempotent: true, retry: { attempts: 3, initialIntervalMs: 1 } },
        ),
      ],
    });
    await leg(await begin());
    expect(attempts).toEqual([1, 2, 3]);
    expect(await rows(2, 3)).toMatchObject([{ output: 'ok' }]);
  });

  it('leaves a tool that is to be tried again to the workflow once its worker shuts down', async () => {
    let executed = 0;
    const fails = (): never => {
      executed += 1;
      throw new Error('no');
    };
    const retry = { attempts: 3, initialIntervalMs: 1 };
    const { begin, leg } = createLegHarness(
      {
        model: fakeModel(asking(['flaky'])),
        tools: [tool('flaky', fails, { idempotent: true, retry })],
      },
      { isDraining: () => executed > 0 },
    );
    const { at } = await leg(await begin());
    expect(at.next).toMatchObject({ do: 'open', calls: [{ toolName: 'flaky', activity: {} }] });
    expect(executed).toBe(1);
  });

  it('waits for calls that have begun before its attempt fails', async () => {
    let isOver = false;
    const { begin, leg } = createLegHarness(
      {
        model: fakeModel(asking(['slow', 'faulty'])),
        tools: [
          tool('slow', async () => {
            await new Promise((resolve) => setTimeout(resolve, 30));
            isOver = true;
          }),
          tool('faulty', () => 'ok'),
        ],
      },
      {
        start: (start) => (input) =>
          input.toolCallId.startsWith('faulty') ? Promise.reject(new Error('away')) : start(input),
      },
    );
    const process = openProcess();
    const noteUnbegun = jest.fn();
    const attempt = { ...process.attempt, noteUnbegun };
    await expect(leg(await begin(), { ...process, attempt })).rejects.toThrow('away');
    expect(isOver).toBe(true);
    // The leg has begun: the other call did.
    expect(noteUnbegun).not.toHaveBeenCalled();
  });

  it('counts no call as its progress that an earlier attempt has settled', async () => {
    const { begin, leg } = createLegHarness({
      model: fakeModel(asking(['echo'])),
      tools: [tool('echo', () => 'ok')],
    });
    const run = await begin();
    await leg(run);
    const process = openProcess(2);
    const leaveProgress = jest.fn();
    const attempt = { ...process.attempt, leaveProgress };
    const calls = [{ toolCallId: 'echo-1-0', toolName: 'echo', kind: 'server' as const }];
    const next = { do: 'open' as const, step: 1, machine: ['echo-1-0'], calls };
    const outcome = await leg(
      run,
      { ...process, attempt },
      { at: { version: 0, sequence: 0, next } },
    );
    expect(outcome.at.next).toMatchObject({ do: 'done', status: 'completed' });
    expect(leaveProgress).not.toHaveBeenCalled();
  });

  it('that is stopped ends the run, and starts no further call', async () => {
    const started: string[] = [];
    const harness = createLegHarness({
      model: fakeModel(asking(Array.from({ length: 12 }, () => 'hang'))),
      tools: [
        tool('hang', (_, { toolCallId }) => {
          started.push(toolCallId);
          return never;
        }),
      ],
    });
    const running = harness.leg(await harness.begin());
    while (started.length < 10) await new Promise(setImmediate);
    await harness.deps.store.runs.stop(harness.session.id, { mode: 'interrupt' });
    const { next } = (await running).at;
    expect(next).toEqual({ do: 'done', step: 1, status: 'interrupted' });
    expect(started).toHaveLength(10);
  });
});

const DONE = () => parts.says('done');

it('a leg that replaces a lost one continues its table, and knows how far the log had come', async () => {
  const { begin, leg } = createLegHarness({ model: fakeModel(DONE) });
  const steps = [{ step: 0, model: 'a', ms: 5 }];
  const replaces = { token: 1, number: 1, progress: { known: 0, at: Date.now(), steps } };
  const outcome = await leg(await begin(), openProcess(), { replaces });
  expect(outcome.steps.map(({ step, model }) => [step, model === 'a'])).toEqual([
    [0, true],
    [1, false],
  ]);
  const ahead = { ...replaces, progress: { known: 1_000_000 } };
  const rewound = createLegHarness({ model: fakeModel(DONE) });
  expect(
    await rewound.leg(await rewound.begin(), openProcess(), { replaces: ahead }),
  ).toMatchObject({ at: { next: { error: { code: 'state_lost' } } } });
});

it('a leg ends a run whose record was restored from a copy', async () => {
  const { begin, leg } = createLegHarness({ model: fakeModel(DONE) });
  const at = { version: 1_000, sequence: 0, next: { do: 'open', step: 1 } } as const;
  const outcome = await leg(await begin(), openProcess(), { at });
  expect(outcome).toMatchObject({ at: { next: { error: { code: 'state_lost' } } } });
});

it('a leg whose conversation was erased ends, and nothing of it was lost', async () => {
  const { begin, leg, deps, session } = createLegHarness({ model: fakeModel(DONE) });
  const run = await begin();
  await deps.store.sessions.erase(session.id);
  const { at } = await leg(run);
  expect(at.next).toMatchObject({ do: 'done', status: 'superseded' });
});

it('calls that the lost one has reported are in the table once', () => {
  const call = { tool: 'echo', ms: 1, outcome: 'ok' };
  const table = new StepTable([{ step: 1 }, { step: 2, calls: [call] }]);
  // One was reported, one was settled and not reported, and one is executed now.
  for (const isNew of [false, false, true]) table.called(2, call, isNew);
  table.called(3, call, false);
  expect(table.lines.map(({ calls = [] }) => calls.length)).toEqual([0, 3, 1]);
});
