import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import {
  stepCountIs,
  streamText,
  tool,
  type LanguageModel,
  type ModelMessage,
  type ToolSet,
} from 'ai';
import { z } from 'zod';
import { defineTool } from '../../agents/index.js';
import type { UserPart } from '../../protocol/rows.js';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';

const inputs = {
  echo: z.object({ value: z.string().describe('what to say'), times: z.number().optional() }),
  boom: z.object({}),
  text: z.object({}),
  nothing: z.object({}),
};
const carriedOut: Record<keyof typeof inputs, (input: never) => unknown> = {
  echo: ({ value }: { value: string }) => ({ value, list: [1, null, { deep: true }] }),
  boom: () => {
    // oxlint-disable-next-line typescript/only-throw-error -- of an Error, streamText tells the class too
    throw 'it went wrong';
  },
  text: () => 'plain text',
  nothing: () => null,
};
const names = Object.keys(inputs) as (keyof typeof inputs)[];
export const ourTools = names.map((name) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    inputSchema: inputs[name] as z.ZodType,
    execute: carriedOut[name] as (input: unknown) => unknown,
  }),
);
export const theirTools = Object.fromEntries(
  names.map((name) => [
    name,
    tool({
      description: `Does ${name}.`,
      inputSchema: inputs[name] as z.ZodType<Record<string, unknown>>,
      execute: carriedOut[name] as (input: Record<string, unknown>) => unknown,
    }),
  ]),
) as ToolSet;

interface Asked {
  theirs: LanguageModelV4CallOptions[];
  ours: LanguageModelV4CallOptions[];
}

/** What a model is asked, call by call, by `streamText` and by the runtime. */
export async function ask(
  replies: LanguageModelV4StreamPart[][],
  content: UserPart[] = [{ type: 'text', text: 'hi' }],
  posted: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
): Promise<Asked> {
  const theirs = fakeModel(sayInTurn(...replies));
  const result = streamText({
    model: theirs,
    instructions: 'Be brief.',
    messages: posted,
    tools: theirTools,
    stopWhen: stepCountIs(10),
    onError: () => undefined,
  });
  await result.consumeStream();

  const ours = fakeModel(sayInTurn(...replies));
  const harness = createHarness(await openTestStores(), { model: ours, tools: ourTools });
  await harness.play(await harness.begin(...content));
  return { theirs: theirs.doStreamCalls, ours: ours.doStreamCalls };
}

/** Lets `streamText` ask in two turns. */
export async function speakTwice(settings: {
  model: LanguageModel;
  tools: ToolSet;
}): Promise<void> {
  const user = (text: string): ModelMessage => ({
    role: 'user',
    content: [{ type: 'text', text }],
  });
  const own = { instructions: 'Be brief.', stopWhen: stepCountIs(9), onError: () => undefined };
  const first = streamText({ ...settings, ...own, messages: [user('hi')] });
  await first.consumeStream();
  const spoken = (await first.steps).flatMap(({ response }) => response.messages);
  const messages = [user('hi'), ...spoken, user('more')];
  await streamText({ ...settings, ...own, messages }).consumeStream();
}

// For a provider, absent and undefined are the same.
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

export async function expectSame(...conversation: Parameters<typeof ask>): Promise<void> {
  const { theirs, ours } = await ask(...conversation);
  expect(ours).toHaveLength(theirs.length);
  for (const [n, call] of theirs.entries()) {
    expect(plain(ours[n]?.prompt)).toEqual(plain(call.prompt));
    expect(plain(ours[n]?.tools)).toEqual(plain(call.tools));
    expect(ours[n]?.toolChoice).toEqual(call.toolChoice);
  }
}
