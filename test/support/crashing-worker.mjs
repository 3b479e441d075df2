// A worker whose agents kill its process, as the last thing that they do: one in its prompt function,
// one in an idempotent tool. Each time it writes a line with the session's id to the file CRASHES.
import { appendFileSync } from 'node:fs';
import { NativeConnection } from '@temporalio/worker';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { z } from 'zod';
import { AgentRegistry, defineAgent, defineTool } from '../../dist/index.js';
import { createRedisStores } from '../../dist/stores/redis/index.js';
import { createAgentWorker } from '../../dist/worker/index.js';

const { CRASHES, REDIS_URL, TEMPORAL_ADDRESS, TASK_QUEUE } = process.env;

function die(sessionId) {
  appendFileSync(CRASHES, `${sessionId}\n`);
  process.kill(process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finish = (unified) => ({ type: 'finish', finishReason: { unified, raw: undefined }, usage });

const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => ({
    stream: simulateReadableStream({
      chunks:
        prompt.at(-1).role === 'user'
          ? [
              { type: 'tool-call', toolCallId: 'c1', toolName: 'explode', input: '{}' },
              finish('tool-calls'),
            ]
          : [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: 'It survived me.' },
              { type: 'text-end', id: 't' },
              finish('stop'),
            ],
    }),
  }),
});

const explode = defineTool({
  name: 'explode',
  description: 'Ends the process.',
  inputSchema: z.object({}),
  idempotent: true,
  execute: (_, { sessionId }) => die(sessionId),
});

const agents = new AgentRegistry([
  defineAgent({ name: 'crashing-tool', systemPrompt: '', tools: [explode], llmConfig: { model } }),
]);
agents.registerFactory('crashing-prompt', ({ sessionId }) =>
  defineAgent({
    name: 'crashing-prompt',
    systemPrompt: () => die(sessionId),
    tools: [],
    llmConfig: { model },
  }),
);

const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS });
const worker = await createAgentWorker({
  connection,
  taskQueue: TASK_QUEUE,
  agents,
  stores: createRedisStores({ url: REDIS_URL, whenAway: 'wait' }),
  sweep: false,
});
process.once('disconnect', () => process.exit());
await worker.run();
