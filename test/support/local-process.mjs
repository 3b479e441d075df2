// A process that executes runs itself, over Redis. As FIRST it begins three: a tool hangs, the
// model hangs, a person is asked. Otherwise it recovers them, approves open questions, and writes
// how each run ended. Each execution of a tool is a line in the file EFFECTS.
import { appendFileSync } from 'node:fs';
import { ReadableStream } from 'node:stream/web';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../dist/index.js';
import { createInProcessExecutor } from '../../dist/extensions/one-process/index.js';
import { createRedisStores } from '../../dist/store/redis/index.js';

const { EFFECTS, REDIS_URL, NAME, FIRST } = process.env;
const isFirst = FIRST === '1';
const never = () => new Promise(() => undefined);

const tool = (name, extra) =>
  defineTool({
    name,
    description: name,
    inputSchema: z.object({}),
    execute: () => {
      appendFileSync(EFFECTS, `${name}\n`);
      return isFirst ? never() : 'done';
    },
    ...extra,
  });

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finish = (unified) => ({ type: 'finish', finishReason: { unified, raw: undefined }, usage });
const call = (toolName) => ({ type: 'tool-call', toolCallId: toolName, toolName, input: '{}' });

async function* speak(prompt) {
  const asked = prompt.findLast(({ role }) => role === 'user').content[0].text;
  if (asked !== 'speak' && prompt.at(-1).role === 'user') {
    yield* asked.split(' ').map(call);
    yield finish('tool-calls');
    return;
  }
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'Once ' };
  if (isFirst) {
    appendFileSync(EFFECTS, 'spoke\n');
    await never();
  }
  yield { type: 'text-delta', id: 't', delta: 'and whole.' };
  yield { type: 'text-end', id: 't' };
  yield finish('stop');
}

const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => ({ stream: ReadableStream.from(speak(prompt)) }),
});
const desk = defineAgent({
  name: 'desk',
  systemPrompt: '',
  llmConfig: { model },
  tools: [
    tool('once', {}),
    tool('many', { idempotent: true }),
    tool('pay', { requireApproval: true }),
  ],
});
const stores = createRedisStores({ url: REDIS_URL, whenAway: 'wait' });
const executor = createInProcessExecutor({ agents: [desk], stores, name: NAME });
const sessions = ['once many', 'speak', 'pay'];
const idOf = (at) => `${NAME}-${at}`;

if (isFirst) {
  await Promise.all(
    sessions.map((text, at) => executor.execute('desk', text, { sessionId: idOf(at) })),
  );
  await never();
}
const recovered = await executor.recover();
const handles = await Promise.all(sessions.map((_, at) => executor.getHandle(idOf(at))));
await handles[2].approve('pay', { by: 'ann' });
const results = await Promise.all(handles.map((handle) => handle.result()));
const ends = results.map(({ status, text }) => [status, text]);
process.stdout.write(JSON.stringify({ recovered, ends }));
await executor.close();
await stores.close();
