import {
  APICallError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { ReadableStream } from 'node:stream/web';
import { MockLanguageModelV4 } from 'ai/test';

type Part = LanguageModelV4StreamPart;
type Metadata = Record<string, Record<string, string>>;

const USAGE: LanguageModelV4Usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};

export const parts = {
  text: (text: string, id = 't1', providerMetadata?: Metadata): Part[] => [
    { type: 'text-start', id },
    ...Array.from(text, (delta): Part => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id, ...(providerMetadata && { providerMetadata }) },
  ],
  call: (
    toolCallId: string,
    toolName: string,
    input: unknown,
    providerMetadata?: Metadata,
  ): Part[] => [
    {
      type: 'tool-call',
      toolCallId,
      toolName,
      input: typeof input === 'string' ? input : JSON.stringify(input),
      ...(providerMetadata && { providerMetadata }),
    },
  ],
  /** Arguments of a call, as far as they are written. */
  args: (id: string, toolName: string, ...pieces: string[]): Part[] => [
    { type: 'tool-input-start', id, toolName },
    ...pieces.map((delta): Part => ({ type: 'tool-input-delta', id, delta })),
  ],
  finish: (unified: LanguageModelV4FinishReason['unified'] = 'stop', usage = USAGE): Part[] => [
    { type: 'finish', finishReason: { unified, raw: undefined }, usage },
  ],
  /** A reply that says this text. */
  says: (text: string): Part[] => [...parts.text(text), ...parts.finish()],
  /** A reply that ends with its tool calls. */
  asks: (...replies: Part[][]): Part[] => [...replies.flat(), ...parts.finish('tool-calls')],
};

/** Returns the model's reply to its nth request, from 0. */
export type Script = (
  n: number,
  options: LanguageModelV4CallOptions,
) => AsyncIterable<Part> | Iterable<Part> | Promise<never>;

/** Creates a language model that streams what the script returns and records its calls. */
export function fakeModel(script: Script): MockLanguageModelV4 {
  let asked = 0;
  return new MockLanguageModelV4({
    supportedUrls: { '*/*': [/.*/] },
    doStream: async (options) => {
      const reply = await script(asked++, options);
      // The browser's type of this class has no `from` yet, so the code takes Node's.
      return { stream: ReadableStream.from(reply) as unknown as globalThis.ReadableStream<Part> };
    },
  });
}

/** A provider's refusal of a request. */
export function apiError(
  statusCode: number | undefined,
  more: Partial<ConstructorParameters<typeof APICallError>[0]> = {},
): APICallError {
  const request = { url: 'http://model', requestBodyValues: {} };
  return new APICallError({ message: 'no', ...request, statusCode, ...more });
}

/** Returns a script that gives these replies one after another. */
export function sayInTurn(...replies: Part[][]): Script {
  return (n) => replies[n] ?? [...parts.text('done'), ...parts.finish()];
}
