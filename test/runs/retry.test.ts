import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { fakeModel, parts } from '../support/fake-model.js';
import { useRuns } from '../support/run-harness.js';
import { drive, newCall, userMessage } from '../support/session-driver.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

/** Prompts of the model, by session. */
const asked = new Map<string, LanguageModelV4Prompt[]>();
const executed: string[] = [];

/** Calls `count` twice, then says its number of prompts; the provider reuses call ids. */
const model = fakeModel((_, { prompt, providerOptions }) => {
  const { sessionId = '' } = (providerOptions?.['helix'] ?? {}) as { sessionId?: string };
  const prompts = [...(asked.get(sessionId) ?? []), prompt];
  asked.set(sessionId, prompts);
  const since = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user'));
  const results = since.filter(({ role }) => role === 'tool').length;
  if (results < 2) {
    return parts.asks(parts.call(`call-${String(results)}`, 'count', {}));
  }
  return parts.says(`Asked ${String(prompts.length)} times.`);
});

const agent = fakeAgent('counter', model, {
  tools: [
    fakeTool('count', async (_input, { toolCallId, sessionId }) => {
      executed.push(toolCallId);
      const { customState = {}, version = 0 } =
        (await stores.store.documents.load(sessionId)) ?? {};
      const n = Number(customState['n'] ?? 0) + 1;
      await stores.store.documents.save(sessionId, { customState: { n }, version });
      return n;
    }),
  ],
});

const { runs, stores } = useRuns([agent]);

async function play(text = 'count'): Promise<string> {
  const id = runs.newSessionId();
  const run = await runs.begin(id, agent.name, text);
  expect(await runs.result(run)).toEqual({ status: 'completed', steps: 3 });
  return id;
}

describe('retry', () => {
  it('retry repeats a turn with tools: calls are executed again, and the state is undone', async () => {
    const id = await play();
    expect(await stores.store.documents.load(id)).toMatchObject({ customState: { n: 2 } });
    const before = executed.length;
    const run = await runs.executor.retry({ sessionId: id, by: 'ann' });
    expect(run).toMatchObject({ turn: 1, messageId: 'msg-1' });
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 3 });
    expect(executed.slice(before)).toEqual(['call-0_1', 'call-1_1']);
    expect(asked.get(id)?.[3]).toEqual(asked.get(id)?.[0]);
    const rows = await stores.store.sessions.rows(id, 0);
    expect(rows.map(({ role }) => role).join(' ')).toBe(
      'user assistant tool assistant tool assistant',
    );
    expect(JSON.stringify(rows)).toContain('Asked 6 times.');
    expect(await stores.store.documents.load(id)).toMatchObject({ customState: { n: 2 } });
    expect(await stores.store.runs.list(id)).toMatchObject([
      { mode: 'new', rewound: true },
      { mode: 'retry', by: 'ann', status: 'completed' },
    ]);
  });

  it('retry refuses turns and checkpoints that do not exist', async () => {
    const sessionId = runs.newSessionId();
    const { executor } = runs;
    await expect(executor.retry({ sessionId })).rejects.toMatchObject({ code: 'not_found' });
    const id = await play();
    await expect(executor.retry({ sessionId: id, messageId: 'x' })).rejects.toMatchObject({
      code: 'message_not_found',
      statusCode: 404,
    });
    const mode = 'from_checkpoint' as const;
    const older = { sessionId: id, runId: `${id}:1-older` };
    const stale = { code: 'stale_run', statusCode: 409 };
    await expect(executor.retry(older)).rejects.toMatchObject(stale);
    const from = { ...older, mode, checkpointId: 'cpv1-x' };
    await expect(executor.resume(from)).rejects.toMatchObject(stale);
    await expect(executor.resume({ sessionId: id, mode })).rejects.toMatchObject({
      code: 'validation_error',
    });
    const other = await play();
    const { id: checkpointId = '' } = (await stores.store.checkpoints.latest(other)) ?? {};
    await expect(executor.resume({ sessionId: id, mode, checkpointId })).rejects.toMatchObject({
      code: 'checkpoint_not_found',
      statusCode: 404,
    });
  });

  it('a turn that asks is not repeated while messages wait: its end would begin theirs', async () => {
    const session = drive(stores);
    await session.asked(newCall('c1', 'approval'));
    const unknown = { sessionId: session.id, messageId: 'x' };
    await expect(runs.executor.retry(unknown)).rejects.toMatchObject({ code: 'message_not_found' });
    // Workflows send messages in this way, and the question stays.
    const waits = { policy: 'queue', keepsQuestions: true } as const;
    await session.begin({ messages: [userMessage('u2')], ...waits });
    const retry = runs.executor.retry({ sessionId: session.id });
    await expect(retry).rejects.toMatchObject({ code: 'agent_already_running' });
    const asks = { status: 'waiting_approval', stream: 'paused', queued: 1 };
    expect(await stores.store.sessions.read(session.id)).toMatchObject(asks);
  });
});

describe('branch', () => {
  it('branch copies up to a checkpoint in the middle, and both sessions continue', async () => {
    const id = await play();
    const { checkpoints } = await stores.store.checkpoints.list(id);
    const checkpointId = checkpoints.find(({ stepCount }) => stepCount === 1)?.id ?? '';
    const before = await stores.store.sessions.view(id);
    const { sessionId } = await runs.executor.branch({ sessionId: id, checkpointId, by: 'ann' });
    expect(await stores.store.sessions.view(id)).toEqual(before);
    expect(await stores.store.sessions.rows(sessionId, 0)).toEqual(before?.rows.slice(0, 3));
    expect(await stores.store.documents.load(sessionId)).toMatchObject({
      owner: 'ann',
      tenant: 'acme',
      status: 'completed',
      customState: { n: 1 },
    });
    for (const [session, n] of [
      [id, 4],
      [sessionId, 3],
    ] as const) {
      const run = await runs.begin(session, agent.name, 'and again');
      expect(await runs.result(run)).toEqual({ status: 'completed', steps: 3 });
      expect(await stores.store.documents.load(session)).toMatchObject({ customState: { n } });
    }
    expect(await stores.store.runs.list(sessionId)).toMatchObject([
      { mode: 'branch', status: 'completed' },
      { mode: 'new', status: 'completed', turn: 2 },
    ]);
  });

  it('branch copies up to a message or everything, and copied turns can be repeated', async () => {
    const id = await play();
    const next = await runs.begin(id, agent.name, 'more');
    await runs.result(next);
    const all = await runs.executor.branch({ sessionId: id });
    expect(await stores.store.sessions.rows(all.sessionId, 0)).toEqual(
      await stores.store.sessions.rows(id, 0),
    );
    const newSessionId = runs.newSessionId();
    const input = { sessionId: id, messageIndex: 1, newSessionId };
    expect(await runs.executor.branch(input)).toEqual({ sessionId: newSessionId });
    expect(await stores.store.sessions.rows(newSessionId, 0)).toHaveLength(6);
    expect(await stores.store.documents.load(newSessionId)).toMatchObject({
      customState: { n: 2 },
    });
    await expect(runs.executor.branch(input)).rejects.toMatchObject({
      code: 'session_exists',
      statusCode: 409,
    });
    const run = await runs.executor.retry({ sessionId: newSessionId });
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 3 });
    await expect(runs.executor.branch({ sessionId: id, messageIndex: 4 })).rejects.toMatchObject({
      code: 'message_not_found',
    });
    await expect(
      runs.executor.branch({ sessionId: id, checkpointId: 'cpv1-x' }),
    ).rejects.toMatchObject({ code: 'checkpoint_not_found' });
  });
});
