import { z } from 'zod';
import { defineAgent, defineTool, type ToolContext } from '../../../agents/index.js';
import type { Role } from '../../../protocol/actor.js';
import type { Runs } from '../../../executor/runs.js';
import { createCallWebhook } from '../../../executor/call-webhook.js';
import { createTestRuntime, type TestRuntime } from '../../../testing/index.js';

const HOUR = 3_600_000;
const Answer = z.object({ limit: z.number() });

let runtime: TestRuntime | undefined;
afterEach(async () => {
  await runtime?.close();
});

/** A conversation whose model calls the tool once. */
async function begin(
  execute: (context: ToolContext) => unknown,
  extra: object = {},
  pay?: () => unknown,
) {
  const tool = defineTool({
    name: 'transfer',
    description: 'Transfers.',
    inputSchema: z.object({}),
    execute: (_, context) => execute(context),
    ...extra,
  });
  const payment = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: z.object({}),
    requireApproval: true,
    execute: () => pay?.(),
  });
  const agent = defineAgent({
    name: 'bank',
    systemPrompt: 'Help.',
    tools: [tool, payment],
    llmConfig: { model: 'openai/gpt-5' },
    stateSchema: z.object({ seen: z.array(z.string()).default([]) }),
  });
  const second = pay === undefined ? [] : [{ tool: 'pay', args: {}, id: 'c2' }];
  const calls = [{ tool: 'transfer', args: {}, id: 'c1' }, ...second];
  const script = [{ calls }, { say: 'done' }];
  runtime = await createTestRuntime({ agents: [agent], models: { bank: script } });
  return { runtime, run: await runtime.run('bank', 'go') };
}

describe('a tool that waits', () => {
  it('a recorded step is carried out once, however often the tool begins again', async () => {
    const done: string[] = [];
    const { runtime, run } = await begin(async ({ step, sleep, suspend }) => {
      done.push('begins');
      const first = await step('first', () => done.push('first'));
      await sleep(Date.now() + HOUR);
      const { limit } = await suspend({ name: 'choose_limit', schema: Answer });
      const second = await step('second', () => done.push('second'));
      return { first, limit, second };
    });
    run.expectStatus('suspended_client_tool');
    await runtime.advance(HOUR + 1_000);
    const asked = await run.next();
    asked.expectPending('choose_limit');
    const ended = await asked.answer('choose_limit', { result: { limit: 7 } });
    ended.expectStatus('completed').expectText('done');
    await ended.expectCalls([{ tool: 'transfer', output: { first: 2, limit: 7, second: 5 } }]);
    expect(done).toEqual(['begins', 'first', 'begins', 'begins', 'second']);
  });

  it('what the tool emitted and changed before it waited stays, once', async () => {
    const { run } = await begin(async ({ emit, updateState, getState, suspend }) => {
      await emit('note', { n: 1 });
      updateState<{ seen: string[] }>(({ seen }) => void seen.push('before'));
      await suspend({ schema: Answer });
      updateState<{ seen: string[] }>(({ seen }) => void seen.push('after'));
      await emit('note', { n: 2 });
      return getState();
    });
    const ended = await run.answer('suspend', { result: { limit: 1 } });
    await ended.expectCalls([{ tool: 'transfer', output: { seen: ['before', 'after'] } }]);
    expect(await ended.state()).toEqual({ seen: ['before', 'after'] });
  });

  it('a question of a tool may be for others than the one who asked', async () => {
    const { run, runtime } = await begin(async ({ suspend }) =>
      suspend({ schema: Answer, approvers: ['approver'], separateApprover: true }),
    );
    const [question] = run.pending;
    expect(question).toMatchObject({ approvers: ['approver'], separateApprover: true });
    const { toolCallId = '', approvalId, inputHash } = question ?? {};
    const result = { toolCallId, sessionId: run.sessionId, result: { limit: 99 } };
    const named = { ...result, approvalId, inputHash };
    const as = (userId: string, role: Role) => ({ responder: { userId, roles: [role] } });
    const { runs } = runtime.executor as unknown as { runs: Pick<Runs, 'submitToolResult'> };
    const record = await runtime.stores.store.sessions.read(run.sessionId);
    for (const [answer, who, code] of [
      [named, as(record?.owner ?? '', 'operator'), 'not_allowed'],
      [named, as('vera', 'viewer'), 'not_allowed'],
      [result, as('lea', 'approver'), 'not_pending'],
    ] as const) {
      await expect(runs.submitToolResult(answer, who)).rejects.toMatchObject({ code });
    }
    expect(await runs.submitToolResult(named, as('lea', 'approver'))).toMatchObject({
      kind: 'stored',
    });
    await (await run.current()).expectCalls([{ tool: 'transfer', output: { limit: 99 } }]);
  });

  it('roles that no person can have are refused where the tool asks', async () => {
    const { run } = await begin(async ({ suspend }) =>
      suspend({ schema: Answer, approvers: ['boss' as Role] }),
    );
    await run.expectCalls([{ tool: 'transfer', error: /approvers is a list of roles/ }]);
  });

  it('an answer that does not fit is refused, and the question stays', async () => {
    const { run } = await begin(({ suspend }) => suspend({ schema: Answer }));
    await expect(run.answer('suspend', { result: { limit: 'many' } })).rejects.toMatchObject({
      code: 'invalid_result',
    });
    const ended = await run.answer('suspend', { result: { limit: 2 } });
    await ended.expectCalls([{ tool: 'transfer', output: { limit: 2 } }]);
  });

  it('a deadline that passes is an error that the tool may catch', async () => {
    const { runtime, run } = await begin(async ({ suspend }) => {
      try {
        return await suspend({ schema: Answer, deadlineMs: HOUR });
      } catch (error) {
        return { code: (error as { code?: string }).code };
      }
    });
    await runtime.advance(HOUR + 1_000);
    const ended = await run.next();
    await ended.expectCalls([{ tool: 'transfer', output: { code: 'wait_expired' } }]);
  });

  it('a tool whose order has changed fails, whatever it catches', async () => {
    let version = 1;
    const { run } = await begin(async ({ step, suspend }) => {
      await step(version === 1 ? 'old' : 'new', () => 1).catch(() => 2);
      await suspend({ schema: Answer });
      return 'unreachable';
    });
    version = 2;
    const ended = await run.answer('suspend', { result: { limit: 1 } });
    await ended.expectCalls([{ tool: 'transfer', error: /step "old" and is step "new"/ }]);
  });

  it('a webhook that is called before its tool waits is to be called again', async () => {
    let finish: () => void = () => undefined;
    const upload = new Promise<void>((resolve) => (finish = resolve));
    let sent: (url: string) => void = () => undefined;
    const given = new Promise<string>((resolve) => (sent = resolve));
    const begun = begin(({ step, waitForWebhook }) =>
      Promise.all([step('upload', () => upload), waitForWebhook({ deadlineMs: HOUR, send: sent })]),
    );
    const token = (await given).split('/').at(-1) ?? '';
    if (runtime === undefined) throw new Error('there is no runtime');
    const { stores, executor } = runtime;
    const early = createCallWebhook({
      store: stores.store,
      holdMs: 0,
      stored: () => Promise.resolve(),
    });
    await expect(early(token, 1)).rejects.toMatchObject({ code: 'unavailable' });
    finish();
    const { run } = await begun;
    await executor.runs.callWebhook(token, 2);
    const ended = await run.next();
    await ended.expectCalls([{ tool: 'transfer', output: [null, 2] }]);
  });

  it.each([
    ['two operations of one name', 'duplicate', (c: ToolContext) => twice(c)],
    ['a sleep that takes a duration', 'Date', (c: ToolContext) => c.sleep(5_000)],
    [
      'a name that no page can show',
      'name',
      (c: ToolContext) => c.suspend({ name: 'a b', schema: Answer }),
    ],
  ])('%s is refused', async (_what, _why, execute) => {
    const { run } = await begin(async (context) => execute(context));
    run.expectStatus('completed');
    await run.expectCalls([{ tool: 'transfer', error: /./ }]);
  });

  it.each([true, false])('a sleep and an approval hold nothing back (%s)', async (isSleepFirst) => {
    const done: string[] = [];
    const execute = async ({ sleep }: ToolContext): Promise<void> => {
      await sleep(Date.now() + HOUR);
      done.push('slept');
    };
    const { runtime, run } = await begin(execute, {}, () => done.push('paid'));
    if (isSleepFirst) await runtime.advance(HOUR + 1_000);
    const rested = isSleepFirst ? await run.next() : await run.approve('pay');
    rested.expectStatus('suspended_step_partial');
    expect(done).toEqual([isSleepFirst ? 'slept' : 'paid']);
    if (!isSleepFirst) await runtime.advance(HOUR + 1_000);
    const ended = isSleepFirst ? await rested.approve('pay') : await rested.next();
    ended.expectStatus('completed');
    expect(done).toHaveLength(2);
  });

  it('a new message abandons the question and the call behind it', async () => {
    const { run } = await begin(({ suspend }) => suspend({ schema: Answer }));
    const next = await run.send('never mind');
    await next.expectCalls([{ tool: 'transfer', error: /continued without/ }]);
  });

  it('a stop settles both', async () => {
    const { run } = await begin(({ suspend }) => suspend({ schema: Answer }));
    const stopped = await run.stop();
    stopped.expectStatus('interrupted');
    await stopped.expectCalls([{ tool: 'transfer', error: /recorded took effect/ }]);
  });
});

async function twice({ step }: ToolContext): Promise<void> {
  await step('same', () => 1);
  await step('same', () => 1);
}
