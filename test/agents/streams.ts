import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';

type Part<T extends LanguageModelV4StreamPart['type']> = Extract<
  LanguageModelV4StreamPart,
  { type: T }
>;

/** A conversation of one user message. */
export function fromUser(content: unknown): LanguageModelV4Prompt {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return [{ role: 'user', content: [{ type: 'text', text }] }];
}

/** A conversation that begins with a script, at its first model call. */
export function fromScript(...script: unknown[]): LanguageModelV4CallOptions {
  return { prompt: fromUser({ script }) };
}

/** All parts of one model call, to the end of the stream. */
export async function readParts(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamPart[]> {
  const { stream } = await model.doStream(options);
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** The parts of one type. */
export function select<T extends LanguageModelV4StreamPart['type']>(
  parts: readonly LanguageModelV4StreamPart[],
  type: T,
): Part<T>[] {
  return parts.filter((part): part is Part<T> => part.type === type);
}

/** The text deltas of one model call. */
export function toDeltas(parts: readonly LanguageModelV4StreamPart[]): string[] {
  return select(parts, 'text-delta').map(({ delta }) => delta);
}

/** What a model says in one call. */
export async function readText(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<string> {
  return toDeltas(await readParts(model, options)).join('');
}
