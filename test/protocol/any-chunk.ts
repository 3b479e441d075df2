import fc from 'fast-check';
import { anyCharacter } from '../support/any-character.js';
import type { ChunkOf, ChunkType, StreamChunk } from '../../protocol/chunk.js';

/** Arbitrary chunks, written by hand from the protocol to test the schema against it. */
type Base = 'type' | 'agentId' | 'agentType' | 'timestamp' | 'step';
type Fields<T extends ChunkType> =
  ChunkOf<T> extends infer C ? (C extends StreamChunk ? Omit<C, Base> : never) : never;

/** Any well-formed text, often of line breaks. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom('\n', '\r', '\u0085', '\u2028', '\u2029', ':', ' ', 'a') }),
);
const id = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 256 })
  .filter((s) => s.length <= 256);
const count = fc.nat();
const json = fc.jsonValue({ stringUnit: anyCharacter });
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const pointer = fc
  .array(anyText)
  .map((parts) => parts.map((p) => `/${p.replace(/~/g, '~0').replace(/\//g, '~1')}`).join(''));

/** The required fields alone of chunks that may have more. */
const REQUIRED = new Map<unknown, fc.Arbitrary<object>>();

function fields<R extends object, O extends object = object>(
  required: { [K in keyof R]: fc.Arbitrary<R[K]> },
  optional?: { [K in keyof O]: fc.Arbitrary<O[K]> },
): fc.Arbitrary<R & Partial<O>> {
  const all = fc.record({ ...required, ...optional }, {
    requiredKeys: Object.keys(required),
  } as never) as unknown as fc.Arbitrary<R & Partial<O>>;
  REQUIRED.set(all, fc.record(required));
  return all;
}

const call = { toolCallId: id, toolName: id };
const patch = fc.oneof(
  fields({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value: json }),
  fields({ op: fc.constant('remove'), path: pointer }),
  fields({ op: fc.constantFrom('move', 'copy'), path: pointer, from: pointer }),
);
const detail = fields(
  { message: anyText },
  { code: anyText, category: anyText, cause: anyText, retryable: fc.boolean() },
);
const usage = fields(
  { inputTokens: count, outputTokens: count },
  { cachedTokens: count, cacheWriteTokens: count },
);
const child = fields({ subSessionId: id, subAgentType: id, callId: id });

const FIELDS: { [T in ChunkType]: fc.Arbitrary<Fields<T>> } = {
  text_delta: fields({ delta: anyText }),
  thinking: fields({ content: anyText, isComplete: fc.boolean() }),
  tool_arg_stream_start: fields(call),
  tool_arg_stream_delta: fields({ toolCallId: id, delta: anyText }),
  tool_arg_stream_end: fields({ toolCallId: id }),
  tool_start: fields(
    { ...call, arguments: fc.dictionary(fc.string(), json) },
    { providerExecuted: fc.boolean(), byProvider: fc.boolean() },
  ),
  tool_end: fields(
    { ...call, result: json },
    {
      error: anyText,
      errorCode: anyText,
      providerExecuted: fc.boolean(),
      byProvider: fc.boolean(),
      resultRef: id,
    },
  ),
  tool_input_error: fields({ ...call, error: anyText }, { partialInput: json }),
  tool_output_preliminary: fields({ ...call, result: json }, { providerExecuted: fc.boolean() }),
  tool_output_error: fields({ ...call, error: anyText }),
  tool_approval_request: fields(
    { ...call, approvalId: id, input: json },
    { isAutomatic: fc.boolean() },
  ),
  tool_approval_response: fields(
    { ...call, approvalId: id, approved: fc.boolean() },
    { reason: anyText, isAutomatic: fc.boolean() },
  ),
  subagent_start: fields({ subAgentType: id, subSessionId: id, callId: id }),
  subagent_end: fields({ subAgentType: id, subSessionId: id, callId: id, result: json }),
  custom: fields({ eventName: id, data: json }),
  state_patch: fields({ patches: fc.array(patch, { maxLength: 4 }) }),
  error: fields(
    { error: anyText, recoverable: fc.boolean() },
    { code: anyText, errorDetail: detail },
  ),
  output: fields({ output: json }),
  source_url: fields({ sourceId: anyText, url: anyText }, { title: anyText }),
  source_document: fields(
    { sourceId: anyText, mediaType: anyText, title: anyText },
    { filename: anyText },
  ),
  step_start: fields({}, { stepId: anyText }),
  step_end: fields(
    {},
    {
      stepId: anyText,
      usage,
      finishReason: fc.constantFrom(
        'stop',
        'length',
        'tool-calls',
        'content-filter',
        'error',
        'other',
      ),
    },
  ),
  file: fields({ url: anyText, mediaType: anyText }, { filename: anyText }),
  run_interrupted: fields(
    { runId: anyText, checkpointId: fc.option(anyText) },
    { reason: anyText },
  ),
  run_resumed: fields({
    runId: anyText,
    fromCheckpointId: fc.option(anyText),
    fromStepCount: count,
    mode: anyText,
  }),
  run_paused: fields(
    { runId: anyText, reason: anyText },
    { pendingToolName: anyText, pendingToolCallId: anyText },
  ),
  turn_started: fields({
    runId: anyText,
    messageId: anyText,
    messageIds: fc.array(id),
    reason: anyText,
  }),
  queue_changed: fields({ queued: count }, { removed: fc.array(id) }),
  executor_superseded: fields({}, { reason: anyText }),
  checkpoint_created: fields({ runId: anyText, checkpointId: anyText, stepCount: count }),
  step_committed: fields({ runId: anyText, stepId: anyText, checkpointId: anyText }),
  step_discarded: fields({ runId: anyText, stepId: anyText, reason: anyText }),
  stream_resync: fields({
    checkpointId: anyText,
    stepCount: count,
    messageCount: count,
    fromSequence: count,
    reason: fc.constantFrom('crash_recovery', 'rollback', 'branch', 'retry'),
  }),
  suspension_marker: fc.oneof(
    fields({
      kind: fc.constant('suspended_client_tool' as const),
      payload: fields({ toolCallIds: fc.array(id) }),
    }),
    fields({
      kind: fc.constant('suspended_step_partial' as const),
      payload: fields({ toolCallIds: fc.array(id), stepId: id }),
    }),
    fields({
      kind: fc.constant('suspended_awaiting_children' as const),
      payload: fields({ children: fc.array(child) }),
    }),
  ),
};

export const CHUNK_TYPE_NAMES = Object.keys(FIELDS) as ChunkType[];

/** Generates valid chunks of a type. */
function chunkOf<T extends ChunkType>(
  type: T,
  own: fc.Arbitrary<object> = FIELDS[type],
): fc.Arbitrary<ChunkOf<T>> {
  const base = fields({ agentId: id, agentType: id, timestamp: number, step: count });
  return fc
    .tuple(base, own)
    .map(([common, rest]) => ({ type, ...common, ...rest }) as unknown as ChunkOf<T>);
}

/** Valid chunks of all types, equally often. */
export const anyChunk: fc.Arbitrary<StreamChunk> = fc.oneof(
  ...CHUNK_TYPE_NAMES.map((type) => chunkOf(type)),
);

/** Draws a short valid chunk of a type, without optional fields. */
export function sampleOf<T extends ChunkType>(type: T): ChunkOf<T> {
  const [sample] = fc.sample(chunkOf(type, REQUIRED.get(FIELDS[type])), { numRuns: 1, seed: 1 });
  if (sample === undefined) throw new Error(`no sample of ${type}`);
  return sample;
}
