import { createScriptedModel, defineAgent } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { useRuns } from '../support/run-harness.js';
import { userMessage } from '../support/session-driver.js';
import { until } from '../support/until.js';
import { fakeTool } from '../support/fake-tool.js';

/** Number of executions of the tool in progress. */
let working = 0;

const hold = fakeTool('hold', async (_, { abortSignal }) => {
  working += 1;
  await new Promise((resolve) => {
    abortSignal.addEventListener('abort', resolve, { once: true });
  });
  working -= 1;
});
const echo = fakeTool('echo', () => 'again');
const base = { systemPrompt: '', tools: [hold, echo], llmConfig: { model: createScriptedModel() } };
const agent = defineAgent({ name: 'many', ...base });
const wide = defineAgent({ name: 'wide', ...base, maxCallsPerStep: 1_000 });

const { runs, stores } = useRuns([agent, wide]);

async function ask(who: string, of: string, count: number, call: object): Promise<RunRecord> {
  const calls = Array.from({ length: count }, (_, n) => ({ id: `c${String(n)}`, ...call }));
  const script = count === 0 ? [{ say: 'Hello. ' }] : [{ calls }];
  const begun = await runs.executor.execute({
    sessionId: runs.newSessionId(),
    agent: of,
    owner: who,
    tenant: `of-${who}`,
    messages: [userMessage('u1', JSON.stringify({ script }))],
  });
  if (begun.kind !== 'begun') throw new Error(`begin replied ${begun.kind}`);
  return begun.run;
}

/** Measures the time from the message to the reply's first word, ms. */
async function firstToken(who: string): Promise<number> {
  const from = performance.now();
  const { sessionId } = await ask(who, 'many', 0, {});
  const spoken = async (): Promise<boolean> => {
    const chunks = await stores.streamManager.getAllChunks(sessionId);
    return chunks.some(({ type }) => type === 'text_delta');
  };
  await until('a first word', spoken);
  return performance.now() - from;
}

async function stopAll(all: readonly RunRecord[]): Promise<void> {
  for (const run of all) await runs.executor.stop(run.sessionId, { mode: 'abort' });
  for (const run of all) expect(await runs.result(run)).toMatchObject({ status: 'aborted' });
}

describe('many calls of one step', () => {
  it('calls beyond the agent’s number get an error as result, and the run continues and can be stopped', async () => {
    const quick = await ask('ann', 'many', 150, { tool: 'echo' });
    expect(await runs.result(quick)).toEqual({ status: 'completed', steps: 2 });
    const rows = await stores.store.sessions.rows(quick.sessionId, 2);
    const results = rows.filter((row) => row.role === 'tool');
    expect(results).toHaveLength(150);
    expect(results.filter(({ output }) => output === 'again')).toHaveLength(100);
    expect(results.filter(({ errorCode }) => errorCode === 'too_many_calls')).toHaveLength(50);
  });

  it('hundreds that last do not end in a workflow that nothing frees', async () => {
    const run = await ask('ann', 'wide', 700, { tool: 'hold' });
    await until('they are running', () => working >= 10);
    await stopAll([run]);
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });
});

it('a user of another tenant has the first word and tools, whatever one conversation or eight do', async () => {
  const alone = await firstToken('bob');
  const one = await ask('ann', 'many', 100, { tool: 'hold' });
  await until('they are running', () => working >= 10);
  const besideOne = await firstToken('bob');
  const eight: RunRecord[] = [];
  while (eight.length < 8) eight.push(await ask('ann', 'many', 20, { tool: 'hold' }));
  await until('the share is used up', () => working >= 50);
  const besideEight = await firstToken('bob');
  expect(working).toBe(50);
  const tools = await ask('bob', 'many', 10, { tool: 'echo' });
  expect(await runs.result(tools)).toEqual({ status: 'completed', steps: 2 });
  expect(working).toBe(50);
  const times = { alone, besideOne, besideEight };
  process.stdout.write(`first token, ms: ${JSON.stringify(times)}\n`);
  await stopAll([one, ...eight]);
});
