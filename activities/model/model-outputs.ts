import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import { mapToolResultOutput } from 'ai/internal';
import type { ToolDefinition } from '../../agents/definitions.js';
import type { ToModelOutput, ToolResultOutput } from '../../agents/tool-config.js';
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

/** Images and files in the forms of AI SDK 6 and 7, in the one form that providers take. */
function toProviderOutput(given: ToolResultOutput, provider: () => string): Output {
  if (given.type !== 'content') return given;
  // AI SDK 6 alone has `media`.
  const value = given.value.map((part: { type: string }) =>
    part.type === 'media' ? { ...part, type: 'file-data' } : part,
  ) as typeof given.value;
  const isNamed = value.some((part) => 'fileId' in part && typeof part.fileId === 'string');
  const output = mapToolResultOutput({
    output: { ...given, value },
    ...(isNamed && { provider: provider() }),
    downloadedAssets: {},
  });
  const unknown = output.type === 'content' && output.value.find(({ type }) => !KNOWN.has(type));
  if (unknown) throw new Error(`content of the type "${unknown.type}" is not known`);
  return output;
}

const KNOWN: ReadonlySet<string> = new Set(['text', 'file', 'custom']);
