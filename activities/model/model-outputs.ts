import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import { mapToolResultOutput } from 'ai/internal';
import type { ToolDefinition } from '../../agents/definitions.js';
import type { ToModelOutput, ToolResultOutput } from '../../agents/tool-config.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import { orAborted } from '../attempt.js';

type Output = LanguageModelV4ToolResultOutput;

/** Cache: rows do not change, and every later step needs their results again. */
const known = new WeakMap<ToolRow, Promise<Output>>();

/** Limit of a serialised output; every later step sends it again. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Replaces a failed output. The raw result is no substitute: the function may hide parts of it. */
const FAILED: Output = {
  type: 'error-text',
  value: 'The call was carried out, but its result could not be put into words for you.',
};

interface OutputOptions {
  /** Provider whose file references apply. */
  provider?: string;
  /** Called if a function throws or returns an unusable output. */
  failed?: ((error: unknown, row: ToolRow) => void) | undefined;
}

/**
 * Returns, by row, the results that tools word for the model; the runtime words errors and denials.
 *
 * @throws when the signal fires, even while a tool's function is running
 */
export async function toModelOutputs(
  tools: readonly ToolDefinition[],
  rows: readonly Row[],
  signal: AbortSignal,
  scope: OutputOptions = {},
): Promise<Map<ToolRow, Output>> {
  const outputs = new Map<ToolRow, Output>();
  const functions = new Map(
    tools.flatMap(({ name, toModelOutput }) => (toModelOutput ? [[name, toModelOutput]] : [])),
  );
  if (functions.size === 0) return outputs;
  const calls = rows.flatMap((row) => (row.role === 'assistant' ? row.parts : []));
  const inputs = new Map(
    calls.flatMap((part) => (part.type === 'tool-call' ? [[part.toolCallId, part.input]] : [])),
  );
  for (const row of rows) {
    if (row.role !== 'tool' || row.denied === true || row.error !== undefined) continue;
    const toModelOutput = functions.get(row.toolName);
    if (toModelOutput === undefined) continue;
    const input = row.decision?.input ?? inputs.get(row.toolCallId);
    const made = known.get(row) ?? toOutput(toModelOutput, row, input, scope);
    known.set(row, made);
    try {
      const output = await orAborted(made, signal);
      outputs.set(row, output);
      // The next model's provider may name the file differently.
      if (namesProvider(output)) known.delete(row);
    } catch (error) {
      // A function that hung may answer in the next attempt.
      known.delete(row);
      throw error;
    }
  }
  return outputs;
}

async function toOutput(
  toModelOutput: ToModelOutput,
  row: ToolRow,
  input: unknown,
  { provider = '', failed }: OutputOptions,
): Promise<Output> {
  const { toolCallId, output = null } = row;
  try {
    const made = toProviderOutput(await toModelOutput({ toolCallId, input, output }), provider);
    if (Buffer.byteLength(JSON.stringify(made)) <= MAX_BYTES) return made;
    throw new Error(`it is larger than ${String(MAX_BYTES)} bytes`);
  } catch (error) {
    failed?.(error, row);
    return FAILED;
  }
}

const CONTENT: ReadonlySet<string> = new Set(['text', 'file', 'custom']);

/** Converts images and files of AI SDK 6 and 7 to the form that providers take. */
function toProviderOutput(given: ToolResultOutput, provider: string): Output {
  if (given.type !== 'content') return given;
  // Only AI SDK 6 has `media`.
  const value = given.value.map((part: { type: string }) =>
    part.type === 'media' ? { ...part, type: 'file-data' } : part,
  ) as typeof given.value;
  const output = mapToolResultOutput({
    output: { ...given, value },
    provider,
    downloadedAssets: {},
  });
  const unknown = output.type === 'content' && output.value.find(({ type }) => !CONTENT.has(type));
  if (unknown) throw new Error(`content of the type "${unknown.type}" is not known`);
  return output;
}

function namesProvider(output: Output): boolean {
  if (output.type !== 'content') return false;
  return output.value.some((part) => part.type === 'file' && part.data.type === 'reference');
}
