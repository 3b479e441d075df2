import * as ai from 'ai';
import { z } from 'zod';
import * as helix from '../../index.js';
import type { AgentDefinition } from '../../agents/index.js';
import { programsIn, runSource } from '../support/run-source.js';

const programs = programsIn('docs/from-ai-sdk.md');
const modules = { ai, zod: { z }, 'helix-temporal': helix };
const context = {
  toolCallId: 'c1',
  idempotencyKey: 'key',
  abortSignal: new AbortController().signal,
  showPreliminary: () => undefined,
};

it.each([
  [0, { celsius: 21 }, []],
  [1, { key: 'key' }, ['book']],
])('the guide for users of the AI SDK has programs that run: %i', async (at, result, asks) => {
  const { agent } = runSource(programs[at] ?? '', modules) as { agent: AgentDefinition };
  expect(agent).toMatchObject({
    name: 'guide',
    systemPrompt: 'You plan day trips.',
    llmConfig: { model: 'openai/gpt-5' },
  });
  const stops = agent.stopWhen as (of: object) => unknown;
  expect(await stops({ steps: Array(5).fill({ toolCalls: [{ toolName: 'book' }] }) })).toBe(true);
  const asking = agent.tools.filter(({ requireApproval }) => requireApproval === true);
  expect(asking.map(({ name }) => name)).toEqual(asks);
  const execute = agent.tools[0]?.execute as (input: object, context: object) => unknown;
  expect(await execute({ city: 'Rome' }, context)).toEqual({ city: 'Rome', ...result });
});
