import type { SettleCall, StoredAnswer } from '../../session/answers.js';
import { childPartOf, formatApprovalId } from '../../protocol/ids.js';
import type { StreamChunk, StreamMessage } from '../../protocol/chunk.js';
import type { AssistantPart, Row } from '../../protocol/rows.js';
import type {
  Addressed,
  KeptRow,
  NewCall,
  StateChanges,
  Stored,
  StoredCall,
  UserMessage,
  WriterInput,
} from '../../session/input.js';
import { type CallSpec, toChildRef } from '../contract/call-record.js';
import {
  toCheckedJson,
  toCheckedText,
  toStoredChanges,
  toStoredJson,
  toStoredRow,
} from '../record/stored-json.js';
import { keepApart } from './stored-rows.js';

/** Converts callers' input to that of changes: content becomes checked JSON. Pure. */

/** Fields of an input that conversions of other fields need. */
interface Around {
  writer: WriterInput;
  toolCallId: string;
  now: number;
}

/** Conversions to stored values, by field name; other fields stay unchanged. */
const STORED: Readonly<Record<string, (value: never, around: Around) => unknown>> = {
  row: (row: Row) => toStoredRow(row),
  rows: (rows: readonly Row[]) => rows.map(toKept),
  chunks: (chunks: StreamMessage[]) => toCheckedJson(chunks),
  messages: (messages: readonly UserMessage[]) =>
    messages.map(({ id, hash, row, hidden }) => ({ id, hash, row: toStoredRow(row), hidden })),
  message: ({ id, hash, row }: UserMessage) => ({ id, hash, row: toStoredRow(row) }),
  calls: (calls: readonly NewCall[], { writer }) => calls.map((call) => toCall(call, writer)),
  changes: (patches: StateChanges, { toolCallId, now: timestamp }) =>
    patches.length === 0 ? undefined : toStoredChanges({ toolCallId, patches, timestamp }),
  act: (act: unknown) => toStoredJson(act),
  state: (state: unknown) => toStoredJson(state),
  output: (output: unknown) => toStoredJson(output),
  compaction: (compaction: unknown) => toStoredJson(compaction),
  tools: (tools: unknown) => toStoredJson(tools),
  approver: (person: unknown) => toStoredJson(person),
  // Inputs are nested in these.
  decision: (decision: unknown) => toStoredJson(decision, { around: 1 }),
  edit: (edit: unknown) => toStoredJson(edit, { around: 1 }),
};

/** @throws HelixError `validation_error`, `invalid_chunk`, `chunk_too_large` for what cannot be stored */
export function toStored<Input extends Addressed>(input: Input): Stored<Input> {
  const fields = Object.entries(input).map(([name, value]: [string, unknown]) => {
    const store = Object.hasOwn(STORED, name) ? STORED[name] : undefined;
    if (store === undefined || value === undefined) return [name, value];
    return [name, store(value as never, input as unknown as Around)];
  });
  return Object.fromEntries(fields) as Stored<Input>;
}

export function sessionOf(input: Addressed): string {
  if ('sessionId' in input) return input.sessionId;
  return 'writer' in input ? input.writer.sessionId : input.child.sessionId;
}

function toCall(call: NewCall, writer: WriterInput): StoredCall {
  const { toolCallId: id, toolName: name, kind, idempotent, deadlineMs, ask, child } = call;
  return {
    id,
    name,
    kind,
    idempotent,
    deadlineMs,
    // Nested values of the model are checked two levels deeper, since they are stored inside the spec.
    spec: toStoredJson(toCallSpec(writer, call), { around: 2 }),
    row: call.row && toStoredRow(call.row),
    automatic: call.decision && toStoredJson(call.decision),
    guarded: call.approvers !== undefined,
    ask: ask && toTimeless(ask),
    part: ask && toStoredJson(toShownPart(call, writer.runId), { around: 1 }),
    child: child && { ...toChildRef(child), part: childPartOf(child.sessionId) },
    brief:
      child && toStoredRow({ role: 'user', id, parts: [{ type: 'text', text: child.message }] }),
  };
}

/** Converts a chunk to JSON without step and time, which are known only when it is written. */
function toTimeless(chunk: StreamChunk): string {
  const checked = JSON.parse(toCheckedText(chunk)) as StreamChunk;
  const { step: _step, timestamp: _timestamp, ...rest } = checked;
  return JSON.stringify(rest);
}

function toKept(given: Row): KeptRow {
  if (given.role !== 'tool') return { row: toStoredRow(given) };
  const { row, output: result } = keepApart(given, []);
  return { row: toStoredRow(row), result };
}

/** Converts an answer for its change; a large output is stored separately. */
export function toSettle(input: SettleCall): StoredAnswer {
  const { row, chunks, output: result } = keepApart(input.row, input.chunks);
  const runId = input.source === 'tool' ? input.writer.runId : input.runId;
  const content = toStored({ sessionId: '', ...input, row, chunks });
  return {
    ...(content as Omit<StoredAnswer, 'runId' | 'isError' | 'isApproved'>),
    runId,
    result,
    isError: row?.error !== undefined,
    isApproved: 'decision' in input && input.decision?.approved === true,
    answer: factsOf(input),
  };
}

function factsOf(input: SettleCall): StoredAnswer['answer'] {
  const act = 'act' in input ? input.act : undefined;
  const decision = 'decision' in input ? input.decision : undefined;
  if (decision !== undefined)
    return {
      decision: decision.approved ? 'approved' : 'denied',
      isEdited: decision.input !== undefined,
      isAutomatic: decision.automatic === true,
      via: act?.via ?? decision.via,
    };
  if (input.source !== 'client') return undefined;
  const { error, via } = input.row;
  return {
    decision: error === undefined ? 'result' : 'error',
    isEdited: false,
    isAutomatic: false,
    via: act?.via ?? via,
  };
}

/** Returns the stored spec of a call that a step opens, the only authority for its execution. Pure. */
export function toCallSpec(
  { runId, step }: Pick<WriterInput, 'runId' | 'step'>,
  call: NewCall,
): CallSpec {
  const { row: _row, timeoutMs: _ms, idempotent: _safe, ask: _ask, child, ...asked } = call;
  return {
    ...asked,
    runId,
    step,
    ...approvalOf(call, runId),
    ...(child !== undefined && { child: toChildRef(child) }),
  };
}

function approvalOf({ kind, toolCallId }: NewCall, runId: string): { approvalId?: string } {
  return kind === 'approval' ? { approvalId: formatApprovalId(runId, toolCallId) } : {};
}

/** Returns a deferred call as the conversation's history shows it. */
function toShownPart(call: NewCall, runId: string): AssistantPart {
  const { toolCallId, toolName, input, kind, ask } = call;
  return {
    type: 'tool-call',
    toolCallId,
    toolName,
    input,
    kind,
    ...approvalOf(call, runId),
    ...(ask?.type === 'tool_start' && ask.byClient === true && { byClient: true }),
    ...(ask && 'providerMetadata' in ask && { providerMetadata: ask.providerMetadata }),
  };
}
