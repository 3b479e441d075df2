import { sayWords } from './shared/words.mjs';

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A provider whose model says the prompt's words and then calls `echo`. */
export const scriptedProvider = {
  specificationVersion: 'v4',
  languageModel: (modelId) => ({
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId,
    supportedUrls: {},
    doStream: ({ prompt }) => Promise.resolve({ stream: ReadableStream.from(say(prompt)) }),
  }),
};

async function* say(prompt) {
  const work = JSON.parse(prompt.find(({ role }) => role === 'user').content[0].text);
  const step = prompt.filter(({ role }) => role === 'assistant').length + 1;
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 't' };
  for await (const word of sayWords(step, work)) {
    yield { type: 'text-delta', id: 't', delta: `${word} ` };
  }
  yield { type: 'text-end', id: 't' };
  const isLast = step === work.steps;
  if (!isLast) {
    const input = JSON.stringify({ value: step });
    yield { type: 'tool-call', toolCallId: `c${step}`, toolName: 'echo', input };
  }
  const unified = isLast ? 'stop' : 'tool-calls';
  yield { type: 'finish', finishReason: { unified, raw: unified }, usage: USAGE };
}
