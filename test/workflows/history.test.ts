import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { useRuns } from '../support/run-harness.js';

/** A word in everything that people, the model and tools say. */
const SECRET = 'xyzzy';
const SHAPES = ['single', 'leg'] as const;

function createTalkingAgent(shape: (typeof SHAPES)[number]): AgentDefinition {
  const args = { of: SECRET };
  const model = fakeModel((_, { prompt }) => {
    const text = parts.text(SECRET);
    if (prompt.some(({ role }) => role === 'tool')) return [...text, ...parts.finish()];
    const calls = ['look', 'pay', 'locate'].flatMap((name) => parts.call(name, name, args));
    return parts.asks(text, calls);
  });
  const tool = { description: SECRET, inputSchema: z.object({ of: z.string() }) };
  return defineAgent({
    name: `talking-${shape}`,
    systemPrompt: SECRET,
    tools: [
      defineTool({ ...tool, name: 'look', execute: (input) => input }),
      defineTool({ ...tool, name: 'pay', requireApproval: true, execute: (input) => input }),
      defineTool({ ...tool, name: 'locate', execute: 'client' }),
    ],
    llmConfig: { model },
    ...(shape === 'leg' && { activities: 'leg' as const }),
  });
}

const { runs, stores } = useRuns(SHAPES.map(createTalkingAgent));

it.each(SHAPES)('nothing that is said stands in the history of a run: %s', async (shape) => {
  const run = await runs.begin(runs.newSessionId(), `talking-${shape}`, SECRET);
  const { sessionId } = run;
  await runs.untilStatus(sessionId, 'waiting_approval');
  expect(await runs.decide(run, 'pay', true)).toBe('stored');
  const answer = { sessionId, toolCallId: 'locate', result: SECRET, by: 'ann' };
  expect(await runs.executor.submitToolResult(answer)).toMatchObject({ kind: 'stored' });
  expect(await runs.result(run)).toMatchObject({ status: 'completed' });
  const rows = JSON.stringify(await stores.store.sessions.rows(sessionId, 0));
  expect(rows.split(SECRET).length).toBeGreaterThan(8);
  const history = await runs.client.workflow.getHandle(workflowIdOf(run.runId)).fetchHistory();
  const texts: string[] = [];
  JSON.stringify(history, (name, value: unknown) => {
    if (typeof value !== 'string') return value;
    texts.push(name === 'data' ? Buffer.from(value, 'base64').toString() : value);
    return undefined;
  });
  expect(texts.join()).toContain(sessionId);
  expect(texts.filter((text) => text.includes(SECRET))).toEqual([]);
});
