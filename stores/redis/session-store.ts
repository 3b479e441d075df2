import type { Redis } from 'ioredis';
import { LIMITS } from '../../protocol/limits.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import type { RunStatus, StepOutcome, StopRequest, TerminalStatus } from '../../protocol/run.js';
import { isTerminal } from '../../protocol/run.js';
import type {
  BeginInput,
  BeginResult,
  CallSpec,
  ClaimResult,
  CommitInput,
  CommitResult,
  DiscardResult,
  EndResult,
  SessionStore,
  SettleCallInput,
  SettleCallResult,
  StartCallResult,
  StopResult,
  Writer,
} from '../session-store.js';
import { reach } from './connection.js';
import { sessionKeys } from './keys.js';
import { createSessionReads } from './session-reads.js';
import { runScript, type ScriptName, type ScriptReply } from './scripts.js';

/** The record of sessions in Redis: each transition is one Lua file, this file is its calling form. */
export function createRedisSessionStore(redis: Redis): SessionStore {
  const run = (
    name: ScriptName,
    sessionId: string,
    args: (string | number)[],
  ): Promise<ScriptReply> => reach(runScript(redis, name, sessionKeys(sessionId).all, args));

  return {
    ...createSessionReads(redis),
    begin: async (input) =>
      toBeginResult(await run('begin', input.sessionId, beginArgs(input)), input),
    claim: async ({ writer, now }) =>
      toClaimResult(await run('claim', writer.sessionId, writerArgs(writer, now))),
    discard: async ({ writer, reason, failure, now }) =>
      toDiscardResult(
        await run('discard', writer.sessionId, [...writerArgs(writer, now), reason, failure]),
      ),
    commit: async (input) =>
      toCommitResult(await run('commit', input.writer.sessionId, commitArgs(input))),
    startCall: async ({ writer, toolCallId, now }) =>
      toStartCallResult(
        await run('start-call', writer.sessionId, [...writerArgs(writer, now), toolCallId]),
      ),
    settleCall: async (input) =>
      toSettleCallResult(
        await run(
          'settle-call',
          input.source === 'tool' ? input.writer.sessionId : input.sessionId,
          settleArgs(input),
        ),
      ),
    stop: async (sessionId, { runId, ...stop }) =>
      toStopResult(
        await run('stop', sessionId, [
          sessionId,
          runId ?? '',
          stop.mode,
          JSON.stringify(stop),
          stop.reason ?? '',
          Date.now(),
        ]),
      ),
    end: async (input) =>
      toEndResult(
        await run('end', input.sessionId, [
          input.sessionId,
          input.runId,
          input.agentType,
          input.step,
          input.status,
          input.error === undefined ? '' : JSON.stringify(input.error),
          input.row === undefined ? '' : JSON.stringify(input.row),
          input.now,
        ]),
      ),
  };
}

function writerArgs(writer: Writer, now: number): (string | number)[] {
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

function beginArgs(input: BeginInput): (string | number)[] {
  return [
    input.sessionId,
    input.agent,
    input.owner,
    input.tenant ?? '',
    input.nonce,
    input.now,
    LIMITS.streamEntries,
    input.messages.length,
    ...input.messages.flatMap((message) => [
      message.id,
      message.hash,
      JSON.stringify(message.row),
      message.hidden ? '1' : '',
    ]),
  ];
}

function commitArgs(input: CommitInput): (string | number)[] {
  const { writer, final } = input;
  return [
    ...writerArgs(writer, input.now),
    input.row === undefined ? '' : JSON.stringify(input.row),
    JSON.stringify(input.outcome),
    input.checkpointId,
    input.answersStop ? '1' : '',
    final?.status ?? '',
    final?.error === undefined ? '' : JSON.stringify(final.error),
    final?.status === 'failed' ? 'run_failed' : 'run_stopped',
    input.chunks.length,
    ...input.chunks.map((chunk) => JSON.stringify(chunk)),
    input.calls.length,
    ...input.calls.flatMap((call) => [
      call.toolCallId,
      call.toolName,
      call.kind,
      JSON.stringify({
        toolCallId: call.toolCallId,
        toolName: call.toolName,
        kind: call.kind,
        input: call.input,
        runId: writer.runId,
        step: writer.step,
        ...(call.kind === 'approval' && {
          approvalId: formatApprovalId(writer.runId, call.toolCallId),
        }),
        ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
      } satisfies CallSpec),
      call.row === undefined ? '' : JSON.stringify(call.row),
      call.idempotent === true ? '1' : '',
    ]),
  ];
}

function settleArgs(input: SettleCallInput): (string | number)[] {
  const row: Row | undefined = input.row;
  const who =
    input.source === 'tool'
      ? writerArgs(input.writer, input.now)
      : [input.sessionId, input.runId, '', 0, input.agentType, 0, input.now];
  return [
    ...who,
    input.toolCallId,
    input.source,
    row === undefined ? '' : JSON.stringify(row),
    input.source === 'approval' ? JSON.stringify(input.decision) : '',
    input.source === 'approval' && input.decision.approved ? '1' : '',
    input.chunks.length,
    ...input.chunks.map((chunk) => JSON.stringify(chunk)),
  ];
}

const parse = <T>(value: string | number | undefined): T => JSON.parse(String(value)) as T;

function toBeginResult(reply: ScriptReply, input: BeginInput): BeginResult {
  const [kind, a, turn, messageId, startSequence, superseded] = reply;
  switch (kind) {
    case 'BEGUN':
      return {
        kind: 'begun',
        run: {
          sessionId: input.sessionId,
          runId: String(a),
          agent: input.agent,
          turn: Number(turn),
          messageId: String(messageId),
          startSequence: Number(startSequence),
          startedAt: input.now,
          ...(superseded !== '' && { supersededRunId: String(superseded) }),
        },
      };
    case 'ACCEPTED':
      return { kind: 'accepted' };
    case 'BUSY':
      return { kind: 'busy' };
    case 'CONFLICT':
      return { kind: 'conflict', messageId: String(a) };
    case 'AGENT':
      return { kind: 'agent_mismatch', agent: String(a) };
    case 'FOREIGN':
      return { kind: 'foreign' };
    default:
      throw unexpected('begin', kind);
  }
}

/** A run that ended elsewhere has nothing more to do, whatever its last step had left. */
function doneOrSuperseded(
  outcome: string | number | undefined,
  status: string | number | undefined,
): { kind: 'done'; outcome: StepOutcome } | { kind: 'superseded' } {
  const parsed = parse<StepOutcome>(outcome);
  const ended = isTerminal(String(status) as RunStatus);
  return ended && parsed.kind !== 'ended'
    ? { kind: 'superseded' }
    : { kind: 'done', outcome: parsed };
}

function toClaimResult(reply: ScriptReply): ClaimResult {
  const [kind, a, b, failures, messageId] = reply;
  switch (kind) {
    case 'CLAIMED':
      return {
        kind: 'claimed',
        rowCount: Number(a),
        sequence: Number(b),
        failures: Number(failures),
        messageId: String(messageId),
      };
    case 'DONE':
      return doneOrSuperseded(a, b);
    case 'STOPPED':
      return { kind: 'stopped', stop: parse<StopRequest>(a) };
    case 'SUPERSEDED':
      return { kind: 'superseded' };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'NOT_READY':
      return { kind: 'not_ready' };
    default:
      throw unexpected('claim', kind);
  }
}

function toDiscardResult([kind, failures]: ScriptReply): DiscardResult {
  if (kind === 'DISCARDED') return { kind: 'discarded', failures: Number(failures) };
  if (kind === 'SUPERSEDED') return { kind: 'superseded' };
  if (kind === 'FENCED') return { kind: 'fenced' };
  throw unexpected('discard', kind);
}

function toCommitResult([kind, a, b]: ScriptReply): CommitResult {
  switch (kind) {
    case 'COMMITTED':
      return { kind: 'committed', sequence: Number(a), paused: b === 1 };
    case 'DONE':
      return doneOrSuperseded(a, b);
    case 'STOPPED':
      return { kind: 'stopped', stop: parse<StopRequest>(a) };
    case 'SUPERSEDED':
      return { kind: 'superseded' };
    case 'FENCED':
      return { kind: 'fenced' };
    default:
      throw unexpected('commit', kind);
  }
}

function toStartCallResult([kind, spec, execution]: ScriptReply): StartCallResult {
  switch (kind) {
    case 'EXECUTE':
      return { kind: 'execute', call: parse<CallSpec>(spec), execution: Number(execution) };
    case 'SETTLED':
      return { kind: 'settled' };
    case 'STOPPED':
      return { kind: 'stopped' };
    case 'SUPERSEDED':
      return { kind: 'superseded' };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'REFUSED':
      return { kind: 'refused' };
    default:
      throw unexpected('start-call', kind);
  }
}

function toSettleCallResult([kind, sequence, resume]: ScriptReply): SettleCallResult {
  switch (kind) {
    case 'STORED':
      return {
        kind: 'stored',
        sequence: Number(sequence),
        ...(resume !== '' && { resume: parse(resume) }),
      };
    case 'ALREADY':
      return { kind: 'already_completed' };
    case 'NOT_PENDING':
      return { kind: 'not_pending' };
    case 'KIND':
      return { kind: 'kind_mismatch' };
    case 'STALE':
      return { kind: 'stale_run' };
    case 'FENCED':
      return { kind: 'fenced' };
    default:
      throw unexpected('settle-call', kind);
  }
}

function toStopResult([kind, runId]: ScriptReply): StopResult {
  if (kind === 'NOTHING') return { kind: 'nothing' };
  if (kind === 'STOPPING') return { kind: 'stopping', runId: String(runId) };
  if (kind === 'ENDED') return { kind: 'ended', runId: String(runId) };
  throw unexpected('stop', kind);
}

function toEndResult([kind, status]: ScriptReply): EndResult {
  if (kind === 'ENDED') return { kind: 'ended', status: String(status) as TerminalStatus };
  if (kind === 'SUPERSEDED') return { kind: 'superseded' };
  throw unexpected('end', kind);
}

function unexpected(script: string, kind: unknown): Error {
  return new Error(`script ${script} replied ${String(kind)}`);
}
