import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOwnProject, type OwnProject } from '../support/own-project.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';
import { CLIENT_7, openChat, untilRests } from '../support/chat-client.js';

/**
 * Twelve steps with a call each. The first process that is asked with a summary in the prompt never
 * answers; each summary, and each request that has one, leaves a line in a file.
 */
const AGENTS = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { compaction, defineAgent, defineTool } from 'helix-temporal';
import { z } from 'zod';

const look = defineTool({
  name: 'look', description: 'Looks.', inputSchema: z.object({}), idempotent: true,
  execute: () => 'x'.repeat(400),
});
const agent = (name, more) => {
  const file = new URL(name + '.log', import.meta.url).pathname;
  const note = (line) => appendFileSync(file, line + '\\n');
  return defineAgent({
    name,
    systemPrompt: 'Look.',
    tools: [look],
    llmConfig: {
      model: {
        specificationVersion: 'v4',
        provider: 'test',
        modelId: 'test',
        supportedUrls: {},
        doStream: (options) => {
          const json = JSON.stringify(options.prompt);
          const step = options.providerOptions.helix.step;
          if (json.includes('NOTES')) note('asked ' + step + ' ' + /NOTES \\d+/.exec(json)[0]);
          const isFirst = readOr(file).split('asked').length === 2;
          if (json.includes('NOTES') && isFirst) return new Promise(() => undefined);
          return say(step > 12 ? [] : [step]);
        },
      },
    },
    prepareStep: compaction({
      maxTokens: 600,
      keepTokens: 200,
      summarize: () => {
        const text = 'NOTES ' + (readOr(file).split('summary').length);
        note('summary ' + text);
        return text;
      },
    }),
    ...more,
  });
};
const readOr = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const count = { total: 1 };
const say = (calls) => ({
  stream: ReadableStream.from([
    { type: 'stream-start', warnings: [] },
    ...(calls.length > 0
      ? [{ type: 'tool-call', toolCallId: 'c' + calls[0], toolName: 'look', input: '{}' }]
      : [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'done' },
          { type: 'text-end', id: 't' },
        ]),
    {
      type: 'finish',
      usage: { inputTokens: count, outputTokens: count },
      finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
    },
  ]),
});

export const steps = agent('steps');
export const leg = agent('leg', { activities: 'leg' });
`;

let project: OwnProject;
let product: Product;
beforeAll(async () => {
  project = createOwnProject({ 'agents.mjs': AGENTS });
  product = await startProduct({
    env: { AGENTS: join(project.folder, 'agents.mjs'), DEFAULT_AGENT: 'steps' },
  });
});
afterAll(async () => {
  await product.stop();
  project.close();
});

const linesOf = (agent: string): string[] => {
  try {
    return readFileSync(join(project.folder, `${agent}.log`), 'utf8')
      .trim()
      .split('\n');
  } catch {
    return [];
  }
};

it.each(['steps', 'leg'])(
  'in the shape %s, a worker that is killed after a summary leaves it to the next one',
  async (agent) => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId, agent });
    const reply = client.chat.sendMessage({ text: 'go' });
    await until('a model is asked with a summary', () =>
      linesOf(agent).some((line) => line.startsWith('asked')),
    );
    const before = linesOf(agent);
    await product.kill9Worker();
    await product.startWorker();
    await reply;
    await untilRests(client, url);
    expect(client.reply()).toBe('done');
    expect(before.map((line) => line.split(' ')[0])).toEqual(['summary', 'asked']);
    // The same step, with the same notes, and no other summary between the two.
    expect(linesOf(agent)[2]).toBe(before[1]);
  },
  60_000,
);
