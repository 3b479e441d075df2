/* eslint-disable @typescript-eslint/no-deprecated -- Tools that exist have these forms. */
import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { ToolDefinition, ToModelOutput, ToolResultOutput } from '../../agents/definitions.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import { orAborted } from '../or-aborted.js';

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
      output = word(toModelOutput, row, row.decision?.input ?? inputs.get(row.toolCallId));
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

function isPlainResult({ denied, error }: ToolRow): boolean {
  return denied !== true && error === undefined;
}

async function word(toModelOutput: ToModelOutput, row: ToolRow, input: unknown): Promise<Output> {
  const { toolCallId, output = null } = row;
  try {
    const worded = toProviderOutput(await toModelOutput({ toolCallId, input, output }));
    return Buffer.byteLength(JSON.stringify(worded)) > MOST_BYTES ? UNWORDED : worded;
  } catch {
    return UNWORDED;
  }
}

type Content = Extract<ToolResultOutput, { type: 'content' }>['value'][number];
type ProviderContent = Extract<Output, { type: 'content' }>['value'][number];
type FileData = Extract<Content, { type: 'file' }>['data'];
type ProviderFileData = Extract<ProviderContent, { type: 'file' }>['data'];

function toProviderOutput(output: ToolResultOutput): Output {
  return output.type === 'content'
    ? { ...output, value: output.value.map(toProviderContent) }
    : output;
}

/** Images and files in the forms of AI SDK 6 and 7, in the one form that providers take. */
function toProviderContent(part: Content): ProviderContent {
  const { providerOptions } = part;
  switch (part.type) {
    case 'text':
      return part;
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
      throw new Error(`content of the type "${part.type}" is not supported`);
  }
}

function toFileData(data: FileData): ProviderFileData {
  if (data.type !== 'data' || !(data.data instanceof ArrayBuffer)) return data as ProviderFileData;
  return { type: 'data', data: new Uint8Array(data.data) };
}
