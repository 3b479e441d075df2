import { z } from 'zod';
import { createScriptedModel, defineAgent, defineTool } from '../../agents/index.js';
import { useRuns } from '../support/run-harness.js';

const executed: string[] = [];
const tool = (name: string, more: object) =>
  defineTool({
    name,
    description: name,
    inputSchema: z.object({}),
    execute: (_, { toolCallId }) => {
      executed.push(toolCallId);
      return name;
    },
    ...more,
  });
const agent = defineAgent({
  name: 'left',
  systemPrompt: '',
  tools: [
    tool('look', {}),
    tool('pay', { requireApproval: true }),
    tool('locate', { execute: 'client' }),
  ],
  llmConfig: { model: createScriptedModel() },
});

const { runs, stores } = useRuns([agent]);

describe('an unanswered question, when the next message comes', () => {
  it('the next message abandons an unanswered question: given answers are kept, and an approved call is not carried out', async () => {
    const sessionId = runs.newSessionId();
    const calls = [
      { tool: 'look', id: 'done' },
      { tool: 'pay', id: 'approved' },
      { tool: 'pay', id: 'denied' },
      { tool: 'pay', id: 'open' },
      { tool: 'locate', id: 'given' },
      { tool: 'locate', id: 'asked' },
    ];
    const old = await runs.begin(sessionId, agent.name, JSON.stringify({ script: [{ calls }] }));
    await runs.untilStatus(sessionId, 'waiting_approval');
    await runs.decide(old, 'approved', true);
    await runs.decide(old, 'denied', false);
    await runs.executor.submitToolResult({ sessionId, toolCallId: 'given', result: 'Rome' });

    const quote = JSON.stringify({ script: [{ quote: true }] });
    const next = await runs.begin(sessionId, agent.name, quote);
    expect(await runs.result(old)).toEqual({ status: 'superseded', steps: 1 });
    expect(await runs.result(next)).toEqual({ status: 'completed', steps: 1 });
    expect(executed).toEqual(['done']);
    const abandoned = { errorCode: 'client_tool_abandoned' };
    expect(await stores.store.sessions.rows(sessionId, 2)).toMatchObject([
      { toolCallId: 'done', output: 'look' },
      { toolCallId: 'approved', ...abandoned },
      { toolCallId: 'denied', denied: true },
      { toolCallId: 'open', ...abandoned },
      { toolCallId: 'given', output: 'Rome' },
      { toolCallId: 'asked', ...abandoned },
      { role: 'user' },
      { role: 'assistant' },
    ]);
    for (const id of ['approved', 'open', 'denied']) {
      expect(await runs.decide(old, id, true)).toBe('already_completed');
    }
    expect(executed).toEqual(['done']);
  });
});
