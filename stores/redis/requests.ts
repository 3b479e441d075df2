import { childPartOf, runNumberOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { toPerson } from '../../protocol/responder.js';
import type {
  BeginChildInput,
  BeginInput,
  EndInput,
  RewindInput,
  UserMessage,
} from '../contract/runs.js';
import type { StartCallInput } from '../contract/calls.js';
import type { ClaimInput, CommitInput } from '../contract/steps.js';
import type { NewCall, WaitCall } from '../contract/call-record.js';
import { toCallSpec } from '../record/call-spec.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { interruptBy } from '../record/interrupt-by.js';
import { formatUsage } from '../record/run-usage.js';
import { toBriefRow, toChildRef, toShownPart } from '../record/sub-agent-calls.js';
import { toStoredRow } from '../record/to-stored-row.js';
import type { RequestOf } from '../transitions/library.js';
import type { Contents } from './contents.js';
import { keepOutputApart } from './large-results.js';
import { toAskersText, toAskerText } from './stored-record.js';

/**
 * Translates inputs of the store into requests of the transitions, with user content apart. Pure
 * except for `contents`.
 */

export function beginRequest(
  input: BeginInput,
  cap: number,
  contents: Contents,
): RequestOf<'begin'> {
  const { agent, owner, tenant = '', nonce, now, policy = 'reject', by, resumed, startAt } = input;
  const sender = resumed?.by ?? by ?? owner;
  const askers = input.askers ?? [toPerson(sender, { tenantId: tenant })];
  return {
    agent,
    owner,
    tenant,
    nonce,
    now,
    cap,
    policy,
    interrupts: input.interrupts,
    mostQueued: LIMITS.queueEntries,
    mostQueuedBytes: LIMITS.queueBytes,
    stop: contents.addJson(interruptBy(input)),
    by,
    askers: toAskersText(askers),
    keepsQuestions: input.keepsQuestions,
    messages: toMessages(input.messages, contents),
    state: contents.addOptional(input.state),
    mode: resumed === undefined ? 'new' : 'with_message',
    resumedBy: resumed?.by,
    startAt,
  };
}

function toMessages(
  messages: readonly UserMessage[],
  contents: Contents,
): RequestOf<'begin'>['messages'] {
  return messages.map(({ id, hash, row, hidden }) => ({
    id,
    hash,
    row: contents.add(toStoredRow(row)),
    hidden,
  }));
}

export function beginChildRequest({
  child,
  parent,
  now,
}: BeginChildInput): RequestOf<'beginChild'> {
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

export function rewindRequest(input: RewindInput, contents: Contents): RequestOf<'rewind'> {
  const { runId, nonce, now, mode, by = '' } = input;
  const act = contents.addOptional(input.act);
  const isAuthor = input.mode === 'retry' && (input.messages?.length ?? 0) > 0;
  const asker = toAskerText(input, isAuthor);
  const fixed = { runId, nonce, now, mode, by, asker, act };
  if (input.mode === 'from_checkpoint') {
    return { ...fixed, checkpointId: input.checkpointId, messageId: undefined, messages: [] };
  }
  const messages = toMessages(input.messages ?? [], contents);
  return { ...fixed, checkpointId: undefined, messageId: input.messageId, messages };
}

export function claimRequest(input: ClaimInput): RequestOf<'claim'> {
  const { known, now, budget = LIMITS.attempts, perToken = 0, wants } = input;
  const { runId, name, token, agentType, step } = input.writer;
  const runN = runNumberOf(runId);
  const fixed = { runId, name, token, agentType, step, runN, known, now, wants };
  // Only what earlier attempts left is measured by the rest.
  return token === 1 ? fixed : { ...fixed, lost: { budget, perToken } };
}

export function startCallRequest(input: StartCallInput): RequestOf<'startCall'> {
  return { budget: LIMITS.attempts, ...input };
}

export function commitRequest(input: CommitInput, contents: Contents): RequestOf<'commit'> {
  const { writer, now, known, final, chunks } = input;
  const { runId, name, token, agentType, step } = writer;
  return {
    runId,
    name,
    token,
    agentType,
    step,
    now,
    known,
    row: input.row === undefined ? undefined : contents.add(toStoredRow(input.row)),
    outcome: contents.addJson(input.outcome),
    checkpointId: input.checkpointId,
    answersStop: input.answersStop,
    status: final?.status,
    error: contents.addOptional(final?.error),
    code: final?.status === 'failed' ? 'run_failed' : 'run_stopped',
    usage: formatUsage(input.usage),
    model: input.model,
    finishReason: input.finishReason,
    ...keepOutputApart(writer.runId, input.output, contents),
    chunks: contents.addAll(toCheckedJson(chunks)),
    chunkCount: chunks.length,
    calls: input.calls.map((call) => callRequest(call, input, contents)),
  };
}

type NewCallRequest = RequestOf<'commit'>['calls'][number];

export function callRequest(
  call: NewCall | WaitCall,
  { writer }: Pick<CommitInput, 'writer'>,
  contents: Contents,
): NewCallRequest {
  const { toolCallId, toolName, kind, row, idempotent, deadlineMs, ask, child, decision } = call;
  const fixed = {
    id: toolCallId,
    name: toolName,
    kind,
    // Nested values of the model are checked two levels deeper, since they are stored inside the
    // spec.
    spec: contents.addJson(toCallSpec(writer, call), 2),
    row: row === undefined ? undefined : contents.add(toStoredRow(row)),
    idempotent,
    automatic: contents.addOptional(decision),
    deadlineMs,
    guarded: call.approvers !== undefined || undefined,
  };
  const held = ask && {
    ask: contents.add(toTimeless(ask)),
    part: contents.addJson(toShownPart(call, writer.runId), 1),
  };
  const below = child && {
    child: childPartOf(child.sessionId),
    ref: contents.addJson(toChildRef(child)),
    brief: contents.add(toStoredRow(toBriefRow(toolCallId, child))),
  };
  return { ...fixed, ...held, ...below };
}

/** A chunk without step and time, which are known when it is written. */
function toTimeless(chunk: StreamChunk): string {
  const [json = ''] = toCheckedJson([chunk]);
  const { step: _step, timestamp: _timestamp, ...rest } = JSON.parse(json) as StreamChunk;
  return JSON.stringify(rest);
}

export function endRequest(input: EndInput, contents: Contents): RequestOf<'end'> {
  const { runId, agentType, step, status, now, floor = 0 } = input;
  return {
    runId,
    agentType,
    step,
    status,
    error: contents.addOptional(input.error),
    row: input.row === undefined ? undefined : contents.add(toStoredRow(input.row)),
    now,
    floor,
  };
}
