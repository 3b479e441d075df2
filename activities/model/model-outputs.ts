/* oxlint-disable typescript/no-deprecated -- Tools that exist have these forms. */
import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { ToolDefinition, ToModelOutput, ToolResultOutput } from '../../agents/definitions.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import type { ActivityDeps } from '../deps.js';
import { orAborted } from '../or-aborted.js';
import { toLoggedError } from './provider-failure.js';

type Output = LanguageModelV4ToolResultOutput;

/** Rows do not change, and every later step of the conversation needs their results again. */
const known = new WeakMap<ToolRow, Promise<Output>>();

/** Serialised; a larger one would be sent again with each later step. */
const MOST_BYTES = 4 * 1024 * 1024;
/** An author's function may leave out what the model must not see, so the plain result is no replacement. */
const UNWORDED: Output = {
  type: 'error-text',
  value: 'The call was carried out, but its result could not be put into words for you.',
};

interface WordScope {
  /** Names the provider that keeps a file. */
  provider?: () => string;
  /** Called for a function that threw, or made what cannot be used. */
  failed?: (error: unknown, row: ToolRow) => void;
}

/**
 * The results that tools word for the model themselves, by row. Errors and denials are worded by the
 * runtime.
 *
 * @throws when the signal fires, also while a tool's function is running
 */
export async function toModelOutputs(
  tools: readonly ToolDefinition[],
  rows: readonly Row[],
  signal: AbortSignal,
  { provider = () => '', failed = () => undefined }: WordScope = {},
): Promise<Map<ToolRow, Output>> {
  const outputs = new Map<ToolRow, Output>();
  const worded = new Map(
    tools.flatMap(({ name, toModelOutput }) => (toModelOutput ? [[name, toModelOutput]] : [])),
  );
  if (worded.size === 0) return outputs;
  const inputs = new Map<string, unknown>();
  for (const row of rows) {
    if (row.role === 'assistant') {
      for (const part of row.parts) {
        if (part.type === 'tool-call') inputs.set(part.toolCallId, part.input);
      }
    }
    if (row.role !== 'tool' || !isPlainResult(row)) continue;
    const toModelOutput = worded.get(row.toolName);
    if (toModelOutput === undefined) continue;
    let output = known.get(row);
    if (output === undefined) {
      output = word(toModelOutput, row, row.decision?.input ?? inputs.get(row.toolCallId), {
        // Another model may be asked next: what names a provider is worded again.
        provider: () => {
          known.delete(row);
          return provider();
        },
        failed,
      });
      known.set(row, output);
    }
    try {
      outputs.set(row, await orAborted(output, signal));
    } catch (error) {
      // A function that hung may answer the next attempt.
      known.delete(row);
      throw error;
    }
  }
  return outputs;
}

/** For authors alone: the error may have what the model must not see. */
export function logUnworded(
  logger: Pick<ActivityDeps['logger'], 'warn'>,
  { runId, step }: { runId: string; step: number },
): NonNullable<WordScope['failed']> {
  return (error, { toolName, toolCallId }) => {
    const err = toLoggedError(error);
    logger.warn(
      { err, runId, step, toolName, toolCallId },
      'a result was not worded for the model',
    );
  };
}

function isPlainResult({ denied, error }: ToolRow): boolean {
  return denied !== true && error === undefined;
}

async function word(
  toModelOutput: ToModelOutput,
  row: ToolRow,
  input: unknown,
  { provider, failed }: Required<WordScope>,
): Promise<Output> {
  const { toolCallId, output = null } = row;
  try {
    const worded = toProviderOutput(await toModelOutput({ toolCallId, input, output }), provider);
    if (Buffer.byteLength(JSON.stringify(worded)) <= MOST_BYTES) return worded;
    throw new Error(`it is larger than ${String(MOST_BYTES)} bytes`);
  } catch (error) {
    failed(error, row);
    return UNWORDED;
  }
}

type Content = Extract<ToolResultOutput, { type: 'content' }>['value'][number];
type ProviderContent = Extract<Output, { type: 'content' }>['value'][number];
type FileData = Extract<Content, { type: 'file' }>['data'];
type ProviderFileData = Extract<ProviderContent, { type: 'file' }>['data'];

function toProviderOutput(output: ToolResultOutput, provider: () => string): Output {
  return output.type === 'content'
    ? { ...output, value: output.value.map((part) => toProviderContent(part, provider)) }
    : output;
}

/** In version 6 alone. */
interface Media {
  readonly type: 'media';
  readonly data: string;
  readonly mediaType: string;
}

/** Images and files in the forms of AI SDK 6 and 7, in the one form that providers take. */
function toProviderContent(given: Content | Media, provider: () => string): ProviderContent {
  const part: Content = given.type === 'media' ? { ...given, type: 'file-data' } : given;
  const { providerOptions } = part;
  const toReference = (
    mediaType: string,
    reference: string | Readonly<Record<string, string>>,
  ): ProviderContent => ({
    type: 'file',
    mediaType,
    data: {
      type: 'reference',
      reference: typeof reference === 'string' ? { [provider()]: reference } : { ...reference },
    },
    ...(providerOptions !== undefined && { providerOptions }),
  });
  switch (part.type) {
    case 'text':
    case 'custom':
      return part;
    case 'file-id':
      return toReference('application', part.fileId);
    case 'image-file-id':
      return toReference('image', part.fileId);
    case 'file-reference':
      return toReference('application', part.providerReference);
    case 'image-file-reference':
      return toReference('image', part.providerReference);
    case 'file':
      return { ...part, data: toFileData(part.data) };
    case 'file-data':
    case 'image-data': {
      const { data, mediaType } = part;
      return { type: 'file', mediaType, data: { type: 'data', data }, providerOptions };
    }
    case 'file-url':
    case 'image-url': {
      const mediaType =
        ('mediaType' in part ? part.mediaType : undefined) ??
        (part.type === 'image-url' ? 'image' : 'application/octet-stream');
      const data = { type: 'url' as const, url: new URL(part.url) };
      return { type: 'file', mediaType, data, providerOptions };
    }
    default:
      throw new Error(`content of the type "${(part as Content).type}" is not known`);
  }
}

function toFileData(data: FileData): ProviderFileData {
  if (data.type !== 'data' || !(data.data instanceof ArrayBuffer)) return data as ProviderFileData;
  return { type: 'data', data: new Uint8Array(data.data) };
}
