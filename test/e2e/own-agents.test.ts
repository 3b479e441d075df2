import { randomBytes } from 'node:crypto';
import { startCommand } from '../support/command-line.js';
import type { Program } from '../support/program.js';
import { createOwnProject, type OwnProject } from '../support/own-project.js';
import { postJson } from '../support/post-json.js';
import { sharedTemporal } from '../support/product.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const AGENTS = (name: string, prompt: string): string => `
import { defineAgent, modelFromSpec } from 'helix-temporal';
import { ToolLoopAgent } from 'ai';
import { tools } from './tools.js';

enum Names { Own = '${name}' }
const model = await modelFromSpec(process.env.MODEL, process.env);
export const own = defineAgent({ name: Names.Own, systemPrompt: '${prompt}', tools, llmConfig: { model } });
export default new ToolLoopAgent({ id: 'looping', model, instructions: '${prompt}', tools });
`;
const TOOLS = (says: string): string => `
import { tool } from 'ai';
import { z } from 'zod';

export const tools = {
  greet: tool({
    description: 'Greets.',
    inputSchema: z.object({ name: z.string() }),
    execute: ({ name }: { name: string }) => ({ greeting: '${says} ' + name }),
  }),
};
`;

let redis: RedisServer;
let project: OwnProject;
let command: Program;
let url: string;

beforeAll(async () => {
  redis = await startRedis();
  project = createOwnProject({ 'agents.ts': AGENTS('own', 'Greet.'), 'tools.ts': TOOLS('hello') });
  command = startCommand(['dev', './agents.ts'], {
    folder: project.folder,
    env: {
      REDIS_URL: redis.url,
      TEMPORAL_ADDRESS: sharedTemporal(),
      TASK_QUEUE: `own-${randomBytes(6).toString('hex')}`,
    },
  });
  await says(/Agents: looping, own\./);
  url = /Chat page +(\S+)/.exec(command.stdout())?.[1] ?? '';
});

afterAll(async () => {
  command.kill('SIGINT');
  expect((await command.ended).code).toBe(0);
  project.close();
  await redis.close();
});

const says = (pattern: RegExp): Promise<unknown> =>
  command.prints(String(pattern), (lines) => pattern.exec(lines));

/** Changes the tools; resolves when the product uses them. */
async function takeOver(tools: string): Promise<void> {
  const changes = (): number => command.stdout().split('was taken over').length;
  const before = changes();
  project.write('tools.ts', tools);
  await until('the change is taken over', () => changes() > before);
}

/** Starts a turn with a scripted model; resolves once the reply begins. */
async function post(id: string, script: unknown[], agent = 'own'): Promise<Response> {
  const text = JSON.stringify({ script });
  const response = await postJson(`${url}/api/chat/${id}`, {
    agent,
    messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }],
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/event-stream'),
  ]);
  return response;
}

/** Waits until the conversation rests and returns its reply. */
async function replyIn(id: string): Promise<string> {
  let text = '';
  await until(`${id} has ended`, async () => {
    // The API is away for a moment while the dev command replaces it.
    const response = await fetch(`${url}/api/chat/${id}/snapshot`).catch(() => undefined);
    if (response === undefined) return false;
    const { status, messages } = (await response.json()) as { status: string; messages?: unknown };
    text = JSON.stringify(messages);
    return status === 'ended' || status === 'failed';
  });
  return text;
}

const GREETING = [
  { calls: [{ tool: 'greet', id: 'c1', args: { name: 'Ann' } }] },
  { say: 'Done.' },
];

describe('helix-temporal dev', () => {
  it('agents in TypeScript with tools of the AI SDK answer at once, without a key', async () => {
    const response = await post('first', GREETING);
    expect(await response.text()).toContain('hello Ann');
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining('<div id="root"'),
    ]);
    const config = (await (await fetch(`${url}/api/config`)).json()) as Record<string, unknown>;
    expect(config).toMatchObject({ agents: ['looping', 'own'], defaultAgent: 'looping' });
  });

  it('an agent of the AI SDK that the file exports answers as it is', async () => {
    const response = await post('loop', GREETING, 'looping');
    expect(await response.text()).toContain('hello Ann');
    expect(await replyIn('loop')).toContain('Done.');
  });

  it('a file that cannot be loaded is named, and the agents run as before', async () => {
    project.write('tools.ts', 'export const tools = {;\n');
    await says(
      /agents\.ts cannot be loaded: .* \(tools\.ts:1:\d+\)\.\nThe agents run as they were/,
    );
    expect(await (await post('third', GREETING)).text()).toContain('hello Ann');
  });

  it('a change of an imported file is taken over, and a reply that is being written is finished', async () => {
    const words = Array.from({ length: 60 }, (_, n) => `word${String(n)}`);
    const response = await post('long', [{ say: words.join(' '), deltas: 60, everyMs: 50 }]);
    await response.body?.getReader().read();
    await takeOver(TOOLS('welcome'));
    expect(command.stdout()).toMatch(/agents\.ts was taken over in \d+ ms: looping, own/);
    expect(await (await post('second', GREETING)).text()).toContain('welcome Ann');
    const reply = await replyIn('long');
    for (const word of words) expect(reply.split(new RegExp(`\\b${word}\\b`))).toHaveLength(3);
  });
});
