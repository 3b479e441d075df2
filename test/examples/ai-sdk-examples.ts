import * as mcp from '@ai-sdk/mcp';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as seven from 'ai';
import type { LanguageModel } from 'ai';
import * as six from 'ai-v6';
import { z } from 'zod';
import type * as agentsExample from '../../examples/ai-sdk/agents/agent.js';
import type * as approvalsExample from '../../examples/ai-sdk/approvals/agent.js';
import type * as mcpExample from '../../examples/ai-sdk/mcp/agent.js';
import type * as subAgentsExample from '../../examples/ai-sdk/sub-agents/agent.js';
import type * as toolsExample from '../../examples/ai-sdk/tools/agent.js';
import * as ours from '../../extensions/one-process/index.js';
import { createScriptedModel, type ScriptStep } from '../../testing/index.js';
import { runSource, sourceOf } from '../support/run-source.js';

interface Examples {
  tools: typeof toolsExample;
  agents: typeof agentsExample;
  approvals: typeof approvalsExample;
  mcp: typeof mcpExample;
  'sub-agents': typeof subAgentsExample;
}

/** The library of the example's tools, and the module of its runner. */
export const RUNNERS = {
  'AI SDK 7': { library: seven, runner: seven },
  'AI SDK 6': { library: six, runner: six },
  'this runtime, with tools of AI SDK 7': { library: seven, runner: ours },
  'this runtime, with tools of AI SDK 6': { library: six, runner: ours },
} as const;
export type Runner = keyof typeof RUNNERS;

/** Loads the example with one import changed. AI SDK 6 has another name for one field. */
export function load<Name extends keyof Examples>(name: Name, by: Runner): Examples[Name] {
  const source = sourceOf(`examples/ai-sdk/${name}/agent.ts`);
  const { library, runner } = RUNNERS[by];
  const isSix = runner === six;
  const modules = {
    ai: library,
    'helix-temporal/runtime-js': runner,
    zod: { z },
    '@ai-sdk/mcp': mcp,
  };
  const text = isSix ? source.replaceAll('responseMessages', 'response.messages') : source;
  return runSource(text, modules) as Examples[Name];
}

const SCRIPTS: Readonly<Record<keyof Examples, readonly ScriptStep[]>> = {
  tools: [
    { calls: [{ tool: 'weather', id: 'c1', args: { city: 'Rome' } }] },
    { say: 'One moment.', calls: [{ tool: 'toFahrenheit', id: 'c2', args: { celsius: 21 } }] },
    { say: 'It is 70 °F in Rome.' },
  ],
  agents: [
    ({ tools = [], toolChoice }) => ({
      say: `${tools.map(({ name }) => name).join()} ${toolChoice?.type ?? ''}. `,
      calls: [{ tool: 'search', id: 's1', args: { topic: 'tides' } }],
    }),
    ({ tools = [], prompt }) => ({
      say: `${tools.map(({ name }) => name).join()}. ${String(JSON.stringify(prompt).includes('The moon draws'))}`,
      calls: [{ tool: 'conclude', id: 's2', args: { confidence: 0.9 } }],
    }),
  ],
  approvals: [
    {
      calls: [
        { tool: 'remove', id: 'r1', args: { file: 'a.tmp' } },
        { tool: 'remove', id: 'r2', args: { file: 'b.txt' } },
        { tool: 'remove', id: 'r3', args: { file: 'c.txt' } },
      ],
    },
    // The model gets the outcome of each call.
    ({ prompt }) => ({ say: outcomesIn(prompt).join() }),
  ],
  mcp: [
    { calls: [{ tool: 'read', id: 'm1', args: { name: 'list' } }] },
    ({ prompt }) => ({ say: `The note: ${String(JSON.stringify(prompt).includes('Buy milk'))}` }),
  ],
  // Both agents use this model.
  'sub-agents': [
    ({ tools = [] }) =>
      tools[0]?.name === 'research'
        ? { calls: [{ tool: 'research', id: 'q1', args: { question: 'Why are there tides?' } }] }
        : { calls: [{ tool: 'search', id: 's1', args: { topic: 'tides' } }] },
    ({ tools = [], prompt }) =>
      tools[0]?.name === 'research'
        ? { say: `It is known: ${String(JSON.stringify(prompt).includes('"value":"The moon."'))}` }
        : { say: 'The moon.' },
  ],
};

/** Returns the model's script in an example. */
export const scriptOf = (name: keyof Examples): readonly ScriptStep[] => SCRIPTS[name];

function outcomesIn(prompt: readonly { role: string; content: unknown }[]): string[] {
  const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : [])) as {
    type: string;
    toolCallId: string;
    output?: { type: string };
  }[];
  return results
    .flatMap(({ toolCallId, output }) =>
      output === undefined ? [] : [`${toolCallId} ${output.type}`],
    )
    .sort();
}

/** jest's own clone makes another realm's objects, which AI SDK 6 finds unequal to the input. */
const cloneHere = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Maps all model ids to the example's script. AI SDK 6 takes models of the previous version. */
export function useScript(name: keyof Examples, by: Runner): void {
  const model = createScriptedModel(SCRIPTS[name]);
  const isSix = RUNNERS[by].runner === six;
  const specificationVersion = isSix ? 'v3' : 'v4';
  const languageModel = (): LanguageModel => ({ ...model, specificationVersion }) as LanguageModel;
  if (isSix) globalThis.structuredClone = cloneHere;
  globalThis.AI_SDK_DEFAULT_PROVIDER = { languageModel, specificationVersion } as never;
}

/** Opens a server with one note and returns a transport to it. */
export async function openNotes(): Promise<mcp.MCPTransport> {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const inputSchema = { name: z.string() };
  server.registerTool('read', { description: 'Reads a note.', inputSchema }, ({ name }) => ({
    content: [{ type: 'text', text: name === 'list' ? 'Buy milk' : 'There is no such note.' }],
  }));
  const [client, other] = InMemoryTransport.createLinkedPair();
  await server.connect(other);
  return client;
}
