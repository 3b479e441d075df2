/** Text of the second model of `models` for the worker that takes over. */
export const SECOND = 'The second model says all of this, from its first word to its last.';
/** Size of the picture that the model of `painted` makes; no chunk can hold it. */
export const PICTURE_BYTES = 300 * 1024;

/**
 * Source of agents, each in both shapes of a run, whose first process hangs in one part: a call of
 * a server's tool, a model that took over from another, made a file, or works from notes. Models
 * write a line to their agent's file when they are reached. `flaky` has servers that die.
 */
export const HANGING_AGENTS = `
import { appendFileSync, readFileSync } from 'node:fs';
import { APICallError } from 'ai';
import { compaction, defineAgent, defineTool } from 'helix-temporal';
import { mcpServers } from 'helix-temporal/mcp';
import { z } from 'zod';

const hang = () => new Promise(() => undefined);
/** Notes that a part was reached; returns how often it has been. */
const noteIn = (agent) => (part) => {
  const file = new URL(agent + '.log', import.meta.url).pathname;
  appendFileSync(file, part + '\\n');
  return readFileSync(file, 'utf8').split('\\n').filter((line) => line === part).length;
};
const model = (modelId, says) => ({
  specificationVersion: 'v4', provider: 'test', modelId, supportedUrls: {},
  doStream: (options) => Promise.resolve({ stream: ReadableStream.from(says(options)) }),
});
const count = { total: 1 };
const finish = (unified) => ({
  type: 'finish', usage: { inputTokens: count, outputTokens: count }, finishReason: { unified, raw: undefined },
});
async function* text(...deltas) {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 't' };
  for (const delta of deltas) {
    yield { type: 'text-delta', id: 't', delta };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
async function* whole(...deltas) {
  yield* text(...deltas);
  yield { type: 'text-end', id: 't' };
  yield finish('stop');
}
function* calls(...names) {
  yield { type: 'stream-start', warnings: [] };
  for (const toolName of names) yield { type: 'tool-call', toolCallId: toolName, toolName, input: '{}' };
  yield finish('tool-calls');
}

async function* callsBoth({ prompt, tools }) {
  if (prompt.at(-1).role !== 'tool') return yield* calls('s_change', 's_look');
  const offered = ['s_change', 's_look'].map((name) => tools.find((tool) => tool.name === name));
  yield* whole(offered.map((tool) => tool?.description ?? 'Gone.').join(' '));
}
const servers = (name, more) => defineAgent({
  name, systemPrompt: 'Call.', llmConfig: { model: model('calls', callsBoth) },
  toolSources: [mcpServers({ s: { url: process.env.MCP_URL, allow: ['change'] } })], ...more,
});

async function* callsThrice({ prompt }) {
  const step = prompt.filter(({ role }) => role === 'tool').length;
  if (step === 0) yield* calls('p_die', 'h_die-once');
  else if (step === 1) yield* calls('p_look');
  else yield* whole('Done.');
}
const flaky = (name, more) => defineAgent({
  name, systemPrompt: 'Call.', llmConfig: { model: model('calls', callsThrice) },
  toolSources: [mcpServers({ p: JSON.parse(process.env.MCP_PROGRAM), h: { url: process.env.MCP_FLAKY_URL } })],
  ...more,
});

const models = (name, more) => {
  const note = noteIn(name);
  const first = model('first', async function* () {
    note('first');
    yield* text('The first model ', 'fails. ');
    throw new APICallError({
      message: 'no', url: '', requestBodyValues: {}, statusCode: 400, isRetryable: false,
    });
  });
  const second = model('second', async function* () {
    if (note('second') > 1) return yield* whole(...${JSON.stringify(SECOND)}.split(/(?<= )/));
    yield* text('The second model says all ', 'that its worker lives to say. ');
    note('half');
    await hang();
  });
  return defineAgent({ name, systemPrompt: 'Speak.', llmConfig: { model: [first, second] }, ...more });
};

const painted = (name, more) => {
  const note = noteIn(name);
  const paints = async function* () {
    const times = note('paints');
    yield* text('A picture: ');
    yield { type: 'text-end', id: 't' };
    const data = Buffer.alloc(${String(PICTURE_BYTES)}, times).toString('base64');
    yield { type: 'file', mediaType: 'image/png', data: { type: 'data', data } };
    if (times === 1) await hang();
    yield finish('stop');
  };
  return defineAgent({ name, systemPrompt: 'Paint.', llmConfig: { model: model('paints', paints) }, ...more });
};

const look = defineTool({
  name: 'look', description: 'Looks.', inputSchema: z.object({}), idempotent: true,
  execute: () => 'x'.repeat(400),
});
/** Twelve steps with a call each. The first process that is asked with a summary in the prompt never answers. */
const summed = (name, more) => {
  const note = noteIn(name);
  const looks = async function* ({ prompt, providerOptions }) {
    const { step } = providerOptions.helix;
    const [notes] = /NOTES \\d+/.exec(JSON.stringify(prompt)) ?? [];
    if (notes) note('asked ' + step + ' ' + notes);
    if (notes && note('asks') === 1) await hang();
    if (step > 12) return yield* whole('done');
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'tool-call', toolCallId: 'c' + step, toolName: 'look', input: '{}' };
    yield finish('tool-calls');
  };
  const summarize = () => 'NOTES ' + note('summary');
  return defineAgent({
    name, systemPrompt: 'Look.', tools: [look], llmConfig: { model: model('looks', looks) },
    prepareStep: compaction({ maxTokens: 600, keepTokens: 200, summarize }), ...more,
  });
};

const leg = { activities: 'leg' };
export const all = [servers, flaky, models, painted, summed].flatMap((define) => [
  define(define.name), define(define.name + '-leg', leg),
]);
`;
