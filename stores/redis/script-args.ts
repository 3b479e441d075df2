import { toStoredJson } from '../record/to-stored-json.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { childPartOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { toCallSpec } from '../record/call-spec.js';
import type { ExtendDeadlineInput, SettleCallInput } from '../contract/calls.js';
import type { Writer } from '../contract/log.js';
import type {
  BeginChildInput,
  BeginInput,
  EndInput,
  ResumeRunInput,
  RewindInput,
  UserMessage,
} from '../contract/runs.js';
import type { BranchInput } from '../contract/sessions.js';
import type { StagedChanges } from '../contract/staging.js';
import type { CommitInput } from '../contract/steps.js';
import { interruptBy } from '../record/interrupt-by.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { formatUsage } from '../record/run-usage.js';
import { toBriefRow, toShownPart } from '../record/sub-agent-calls.js';
import { keepApart } from './large-results.js';

/** ARGV of the scripts, in the order that their headers give. Pure. */

export function writerArgs(writer: Writer, now: number): (string | number)[] {
  return [
    writer.sessionId,
    writer.runId,
    writer.name,
    writer.token,
    writer.agentType,
    writer.step,
    now,
  ];
}

export function beginArgs(input: BeginInput, maxEntries: number): (string | number)[] {
  return [
    input.sessionId,
    input.agent,
    input.owner,
    input.tenant ?? '',
    input.nonce,
    input.now,
    maxEntries,
    input.policy ?? 'reject',
    LIMITS.queueEntries,
    toStoredJson(interruptBy(input)),
    input.by ?? '',
    ...messageArgs(input.messages),
    input.state === undefined ? '' : toStoredJson(input.state),
    input.resumed === undefined ? 'new' : 'with_message',
    input.resumed?.by ?? '',
  ];
}

function messageArgs(messages: readonly UserMessage[]): (string | number)[] {
  const each = messages.map(({ id, hash, row, hidden }) => [
    id,
    hash,
    toStoredJson(row),
    hidden ? '1' : '',
  ]);
  return [messages.length, ...each.flat()];
}

export function resumeRunArgs(input: ResumeRunInput): (string | number)[] {
  const { sessionId, runId = '', nonce, now, mode, by = '' } = input;
  return [sessionId, runId, nonce, now, mode, by];
}

export function rewindArgs(input: RewindInput): (string | number)[] {
  const { sessionId, runId, nonce, now, mode, by = '' } = input;
  const checkpointId = input.mode === 'from_checkpoint' ? input.checkpointId : '';
  const { messageId = '', messages = [] } = input.mode === 'retry' ? input : {};
  const turn = [checkpointId, messageId, ...messageArgs(messages)];
  return [sessionId, runId, nonce, now, mode, by, ...turn];
}

export function branchArgs(input: BranchInput): (string | number)[] {
  const { turn, rows, messages } = input;
  const stored = rows.map((row) => (row.role === 'tool' ? keepApart(row, []) : { row }));
  const results = stored.flatMap((kept) =>
    kept.row?.role === 'tool' ? [{ ...kept, id: kept.row.toolCallId }] : [],
  );
  return [
    input.sessionId,
    input.agent,
    input.owner,
    input.tenant ?? '',
    input.nonce,
    input.now,
    input.by ?? '',
    turn.turn,
    turn.row,
    turn.messageId,
    turn.step,
    turn.hasReplied ? '1' : '',
    input.visibleMessages,
    input.state === undefined ? '' : toStoredJson(input.state),
    rows.length,
    ...stored.map(({ row }) => toStoredJson(row)),
    messages.length,
    ...messages.flatMap(({ id, hash }) => [id, hash]),
    results.length,
    ...results.flatMap((kept) => [kept.id, 'output' in kept ? (kept.output ?? '') : '']),
  ];
}

export function commitArgs(input: CommitInput): (string | number)[] {
  const { writer, final } = input;
  return [
    ...writerArgs(writer, input.now),
    input.row === undefined ? '' : toStoredJson(input.row),
    toStoredJson(input.outcome),
    input.checkpointId,
    input.answersStop ? '1' : '',
    final?.status ?? '',
    final?.error === undefined ? '' : toStoredJson(final.error),
    final?.status === 'failed' ? 'run_failed' : 'run_stopped',
    input.known,
    formatUsage(input.usage),
    input.finishReason ?? '',
    input.output === undefined ? '' : toStoredJson(input.output),
    input.chunks.length,
    ...toCheckedJson(input.chunks),
    input.calls.length,
    ...input.calls.flatMap((call) => [
      call.toolCallId,
      call.toolName,
      call.kind,
      toStoredJson(toCallSpec(writer, call)),
      call.row === undefined ? '' : toStoredJson(call.row),
      call.idempotent === true ? '1' : '',
      call.ask === undefined ? '' : toTimeless(call.ask),
      call.ask === undefined ? '' : toStoredJson(toShownPart(call, writer.runId)),
      call.child === undefined ? '' : childPartOf(call.child.sessionId),
      call.child === undefined ? '' : toStoredJson(toBriefRow(call.toolCallId, call.child)),
    ]),
  ];
}

export function settleArgs(input: SettleCallInput): (string | number)[] {
  const { row, chunks, output } = keepApart(input.row, input.chunks);
  const who =
    input.source === 'tool'
      ? writerArgs(input.writer, input.now)
      : [input.sessionId, input.runId, '', 0, input.agentType, 0, input.now];
  const decision = 'decision' in input ? input.decision : undefined;
  return [
    ...who,
    input.toolCallId,
    input.source,
    row === undefined ? '' : toStoredJson(row),
    decision === undefined ? '' : toStoredJson(decision),
    decision?.approved === true ? '1' : '',
    row?.error === undefined ? '' : '1',
    output ?? '',
    input.source === 'client' ? (input.late ?? '') : '',
    ...workArgs(input),
    chunks.length,
    ...toCheckedJson(chunks),
  ];
}

/** What a tool leaves beside its result. */
function workArgs(input: SettleCallInput): [string, string, string] {
  if (input.source !== 'tool') return ['', '', ''];
  const { toolCallId, changes = [], output, hasEvents, now } = input;
  const staged: StagedChanges = { toolCallId, patches: changes, timestamp: now };
  return [
    changes.length === 0 ? '' : toStoredJson(staged),
    output === undefined ? '' : toStoredJson(output),
    hasEvents === true ? '1' : '',
  ];
}

export function extendArgs(input: ExtendDeadlineInput): (string | number)[] {
  const { runId, toolCallId, byMs, now } = input;
  return [runId, toolCallId, byMs, LIMITS.deadlineAheadMs, now];
}

/** A chunk without what is known when it is written. */
function toTimeless(chunk: StreamChunk): string {
  const [json = ''] = toCheckedJson([chunk]);
  return toStoredJson({
    ...(JSON.parse(json) as StreamChunk),
    step: undefined,
    timestamp: undefined,
  });
}

export function beginChildArgs(input: BeginChildInput): (string | number)[] {
  const { child, parent, now } = input;
  return [
    child.runId,
    child.agent,
    childPartOf(parent.sessionId),
    parent.runId,
    parent.toolCallId,
    now,
    LIMITS.subAgents,
  ];
}

export function endArgs(input: EndInput): (string | number)[] {
  return [
    input.sessionId,
    input.runId,
    input.agentType,
    input.step,
    input.status,
    input.error === undefined ? '' : toStoredJson(input.error),
    input.row === undefined ? '' : toStoredJson(input.row),
    input.now,
    input.floor ?? 0,
  ];
}
