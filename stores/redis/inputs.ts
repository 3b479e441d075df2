import type { SettleCall } from '../../session/answers.js';
import type { Begin } from '../../session/begin.js';
import type { NewCall as StoredCall } from '../../session/calls.js';
import type { BeginChild } from '../../session/children.js';
import type { End } from '../../session/end.js';
import type { RecordStep, SuspendCall } from '../../session/journal.js';
import type { Message } from '../../session/messages.js';
import type { Rewind } from '../../session/rerun.js';
import { joinAskers } from '../../session/turns.js';
import type { Claim, Commit } from '../../session/steps.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { childPartOf, runNumberOf } from '../../protocol/ids.js';
import { toPerson, type KnownPerson } from '../../protocol/responder.js';
import { LIMITS } from '../../protocol/limits.js';
import type { NewCall, WaitCall } from '../contract/call-record.js';
import type { SettleCallInput } from '../contract/calls.js';
import type { RecordStepInput, SuspendCallInput } from '../contract/journal.js';
import type { Writer } from '../contract/log.js';
import type {
  BeginChildInput,
  BeginInput,
  EndInput,
  RewindInput,
  UserMessage,
} from '../contract/runs.js';
import type { StagedChanges } from '../contract/staging.js';
import type { ClaimInput, CommitInput } from '../contract/steps.js';
import { toCallSpec } from '../record/call-spec.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { interruptBy } from '../record/interrupt-by.js';
import { toBriefRow, toChildRef, toShownPart } from '../record/sub-agent-calls.js';
import { toUsage } from '../record/run-usage.js';
import { toStoredChanges } from '../record/to-stored-changes.js';
import { toStoredJson } from '../record/to-stored-json.js';
import { toStoredRow } from '../record/to-stored-row.js';
import { keepApart } from './large-results.js';

/** One who asks: the author of messages, with the roles of this time, or one who asks as well; nobody for a rule. */
export function toAsker(
  { asker, by = '' }: { asker?: KnownPerson | undefined; by?: string },
  isAuthor = false,
): readonly KnownPerson[] {
  if (asker === undefined && by === '') return [];
  const { roles, ...person } = asker ?? toPerson(by);
  return [isAuthor && roles !== undefined ? { ...person, roles } : person];
}

/** What callers give, as changes take it: content as JSON, checked. Pure. */

/** Half characters are stored as U+FFFD, and compared as such. */
export function wellFormed<Value>(value: Value): Value {
  if (typeof value === 'string')
    return (value.isWellFormed() ? value : value.toWellFormed()) as Value;
  if (Array.isArray(value)) {
    const items = value.map(wellFormed);
    return (items.every((item, at) => item === value[at]) ? value : items) as Value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([name, each]) => [wellFormed(name), wellFormed(each)] as const,
  );
  const isSame = entries.every(([name, each]) => (value as Record<string, unknown>)[name] === each);
  return isSame ? value : (Object.fromEntries(entries) as Value);
}

export function json(value: unknown, around = 0): string | undefined {
  return value === undefined ? undefined : toStoredJson(value, { around });
}

export function toBegin(input: BeginInput, cap: number): Begin {
  const { agent, owner, tenant = '', nonce, now, policy = 'reject', by, resumed } = input;
  const sender = resumed?.by ?? by ?? owner;
  return {
    ...{ agent, owner, tenant, nonce, now, cap, policy },
    interrupts: input.interrupts,
    mostQueued: LIMITS.queueEntries,
    mostQueuedBytes: LIMITS.queueBytes,
    stop: interruptBy(input),
    by,
    askers: joinAskers(input.askers ?? [toPerson(sender, { tenantId: tenant })]),
    keepsQuestions: input.keepsQuestions,
    messages: toMessages(input.messages),
    state: json(input.state),
    mode: resumed === undefined ? 'new' : 'with_message',
    resumedBy: resumed?.by,
    startAt: input.startAt,
  };
}

function toMessages(messages: readonly UserMessage[]): Message[] {
  return messages.map(({ id, hash, row, hidden }) => ({ id, hash, row: toStoredRow(row), hidden }));
}

export function toBeginChild({ child, parent, now }: BeginChildInput): BeginChild {
  return {
    runId: child.runId,
    agent: child.agent,
    parent: childPartOf(parent.sessionId),
    parentRunId: parent.runId,
    toolCallId: parent.toolCallId,
    now,
    most: LIMITS.subAgents,
  };
}

export function toRewind(input: RewindInput): Rewind {
  const { runId, nonce, now, mode, by = '' } = input;
  const isAuthor = input.mode === 'retry' && (input.messages?.length ?? 0) > 0;
  const fixed = {
    runId,
    nonce,
    now,
    mode,
    by,
    asker: toAsker(input, isAuthor),
    act: json(input.act),
  };
  if (input.mode === 'from_checkpoint')
    return { ...fixed, checkpointId: input.checkpointId, messages: [] };
  return { ...fixed, messageId: input.messageId, messages: toMessages(input.messages ?? []) };
}

export function toClaim({
  writer,
  known,
  now,
  budget = LIMITS.attempts,
  perToken = 0,
}: ClaimInput): Claim {
  return { writer, runN: runNumberOf(writer.runId), known, now, budget, perToken };
}

export function toCommit(input: CommitInput): Commit {
  const { writer, now, known, final, outcome, checkpointId, answersStop, model, finishReason } =
    input;
  return {
    ...{ writer, now, known, final, outcome, checkpointId, answersStop, model, finishReason },
    row: input.row === undefined ? undefined : toStoredRow(input.row),
    usage: toUsage(input.usage),
    output: json(input.output),
    chunks: toCheckedJson(input.chunks),
    calls: input.calls.map((call) => toCall(call, writer)),
  };
}

function toCall(call: NewCall | WaitCall, writer: Writer): StoredCall {
  const {
    toolCallId: id,
    toolName: name,
    kind,
    row,
    idempotent,
    deadlineMs,
    ask,
    child,
    decision,
  } = call;
  return {
    ...{ id, name, kind, idempotent, deadlineMs },
    // Nested values of the model are checked two levels deeper, since they are stored inside the spec.
    spec: toStoredJson(toCallSpec(writer, call), { around: 2 }),
    row: row === undefined ? undefined : toStoredRow(row),
    automatic: json(decision),
    guarded: call.approvers !== undefined,
    ask: ask && toTimeless(ask),
    part: ask && toStoredJson(toShownPart(call, writer.runId), { around: 1 }),
    child: child && { ...toChildRef(child), part: childPartOf(child.sessionId) },
    brief: child && toStoredRow(toBriefRow(id, child)),
  };
}

/** A chunk without step and time, which are known when it is written. */
function toTimeless(chunk: StreamChunk): string {
  const [checked = ''] = toCheckedJson([chunk]);
  const { step: _step, timestamp: _timestamp, ...rest } = JSON.parse(checked) as StreamChunk;
  return JSON.stringify(rest);
}

export function toEnd({
  row,
  floor = 0,
  runId,
  agentType,
  step,
  status,
  error,
  now,
}: EndInput): End {
  return {
    runId,
    agentType,
    step,
    status,
    error,
    now,
    floor,
    row: row === undefined ? undefined : toStoredRow(row),
  };
}

export function toSettle(input: SettleCallInput): SettleCall {
  const { row, chunks, output: result } = keepApart(input.row, input.chunks);
  const decision = 'decision' in input ? input.decision : undefined;
  return {
    source: input.source,
    runId: input.source === 'tool' ? input.writer.runId : input.runId,
    toolCallId: input.toolCallId,
    now: input.now,
    row: row === undefined ? undefined : toStoredRow(row),
    isError: row?.error !== undefined,
    decision: json(decision, 1),
    isApproved: decision?.approved === true,
    ...answerOf(input),
    result,
    permitted: 'permitted' in input ? input.permitted : undefined,
    late: input.source === 'client' ? input.late : undefined,
    hasEvents: input.source === 'tool' && input.hasEvents === true,
    ...workOf(input),
    chunks: toCheckedJson(chunks),
    act: 'act' in input ? json(input.act) : undefined,
    answer: factsOf(input),
  };
}

function factsOf(input: SettleCallInput): SettleCall['answer'] {
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

/** Who answers, and by what that person was shown. */
function answerOf(input: SettleCallInput): Pick<SettleCall, 'approver' | 'edit' | 'shownEdit'> {
  if (input.source === 'client') return { shownEdit: input.shownEdit };
  if (input.source !== 'approval') return {};
  return { approver: json(input.approver), edit: json(input.edit, 1), shownEdit: input.shownEdit };
}

/** What a tool leaves besides its result. */
function workOf(input: SettleCallInput): Pick<SettleCall, 'writer' | 'changes' | 'output'> {
  if (input.source !== 'tool') return {};
  const { toolCallId, changes = [], output, now, writer } = input;
  return {
    writer,
    changes: toChanges({ toolCallId, patches: changes, timestamp: now }),
    output: json(output),
  };
}

function toChanges(changes: StagedChanges): string | undefined {
  return changes.patches.length === 0 ? undefined : toStoredChanges(changes);
}

export function toRecordStep(input: RecordStepInput): RecordStep {
  const { writer, toolCallId, at, now, operation, failed, changes = [] } = input;
  return {
    ...{ writer, toolCallId, at, now, failed },
    operation: json(operation, 2),
    changes: toChanges({ toolCallId, patches: changes, timestamp: now }),
    most: LIMITS.journal,
  };
}

export function toSuspend(input: SuspendCallInput): SuspendCall {
  const { writer, toolCallId, at, now, operation, wait, dueInMs, changes = [] } = input;
  return {
    ...{ writer, toolCallId, at, now, dueInMs },
    operation: toStoredJson(operation, { around: 2 }),
    wait: toCall(wait, writer),
    changes: toChanges({ toolCallId, patches: changes, timestamp: now }),
    most: LIMITS.journal,
  };
}
