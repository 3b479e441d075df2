import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { z } from 'zod';
import { createScriptedModel, defineAgent, defineTool } from '../../agents/index.js';
import { createAgentWorker } from '../../extensions/worker.js';
import type { Take } from '../bench.js';
import { performLongRun, readHistory } from '../client/runs.js';
import { openStores } from '../client/seed-turn.js';
import { row } from '../report.js';

const QUEUE = 'bench-long';
const STEPS = 1_000;
const QUICK_STEPS = 100;
/** Limit for a thousand model calls. */
const HISTORY_MB = 5;
/** One step adds about 200 tokens to the transcript. */
const WORDS = 'so it goes '.repeat(36);
const RESULT = 'and so on '.repeat(20);
/** Rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;

/** A thousand model calls in one turn, whose transcript grows to 200k tokens. */
export const take: Take = async (bench) => {
  const { servers, temporal, say, quick } = bench;
  const steps = quick ? QUICK_STEPS : STEPS;
  const agent = createTalkativeAgent(steps);
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const stores = openStores(servers.redisUrl);
  const connection = await NativeConnection.connect({ address: servers.temporalAddress });
  try {
    say(`long-conversation: ${String(steps)} steps`);
    const worker = await createAgentWorker({
      connection,
      taskQueue: QUEUE,
      agents: [agent],
      stores,
    });
    const { workflowId, sessionId } = await worker.runUntil(
      performLongRun(bench, agent, QUEUE, 'Talk to me.'),
    );
    const rows = await stores.store.sessions.rows(sessionId, 0);
    const tokens = JSON.stringify(rows).length / CHARACTERS_PER_TOKEN;
    const { bytes } = await readHistory(temporal, workflowId);
    const aim = { p50: (HISTORY_MB * steps) / STEPS };
    return [
      row(`${String(steps)} model calls: history in Temporal`, 'MB', bytes / 1e6, { aim }),
      row('  transcript in the end', 'k tokens', tokens / 1_000),
    ];
  } finally {
    await connection.close();
    await stores.close();
  }
};

/** Creates an agent that talks and calls a tool in each step except the last. */
function createTalkativeAgent(steps: number) {
  const script = Array.from({ length: steps - 1 }, (_, at) => ({
    say: WORDS,
    deltas: 8,
    calls: [{ tool: 'look', id: `l${String(at)}`, args: { for: `thing ${String(at)}` } }],
  }));
  return defineAgent({
    name: 'talkative',
    systemPrompt: 'Talk.',
    tools: [
      defineTool({
        name: 'look',
        description: 'Looks something up.',
        inputSchema: z.object({ for: z.string() }),
        execute: () => RESULT,
        idempotent: true,
      }),
    ],
    llmConfig: { model: createScriptedModel([...script, { say: WORDS }]) },
    maxSteps: Infinity,
  });
}
