import {
  isTerminal,
  type RunStatus,
  type StepOutcome,
  type StopRequest,
  type TerminalStatus,
} from '../../protocol/run.js';
import { parseUsage } from '../record/run-usage.js';
import type { BeginQueuedInput, BeginQueuedResult, EditQueuedResult } from '../contract/queue.js';
import type {
  BeginInput,
  BeginResult,
  EndResult,
  RunRecord,
  StopResult,
} from '../contract/runs.js';
import type {
  ClaimResult,
  CommitResult,
  DiscardResult,
  TakeOverResult,
} from '../contract/steps.js';
import { parse, unexpected } from './parse-reply.js';
import type { ScriptReply } from './scripts.js';

/** Replies of the scripts → results of the transitions. Pure. */

/** The part of a reply that tells of a run which was made. */
function toRun(
  [runId, turn, messageId, startSequence, superseded]: ScriptReply,
  { sessionId, agent, now }: Pick<BeginInput, 'sessionId' | 'agent' | 'now'>,
): RunRecord {
  return {
    sessionId,
    runId: String(runId),
    agent,
    turn: Number(turn),
    messageId: String(messageId),
    startSequence: Number(startSequence),
    startedAt: now,
    ...(superseded !== '' && { supersededRunId: String(superseded) }),
  };
}

export function toBeginResult(reply: ScriptReply, input: BeginInput): BeginResult {
  const [kind, a, b] = reply;
  switch (kind) {
    case 'BEGUN':
      return { kind: 'begun', run: toRun(reply.slice(1), input) };
    case 'QUEUED':
      return {
        kind: 'queued',
        sequence: Number(a),
        ...(b !== '' && { begun: toRun(reply.slice(2), input) }),
      };
    case 'STEERED':
      return { kind: 'steered', runId: String(a), sequence: Number(b) };
    case 'INTERRUPTING':
      return { kind: 'interrupting', runId: String(a), sequence: Number(b) };
    case 'QUEUE_FULL':
      return { kind: 'queue_full' };
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

export function toBeginQueuedResult(
  reply: ScriptReply,
  { sessionId, now }: BeginQueuedInput,
): BeginQueuedResult {
  const [kind, runId, turn, messageId, startSequence, agent, tenant] = reply;
  if (kind === 'EMPTY') return { kind: 'empty' };
  if (kind === 'BUSY') return { kind: 'busy' };
  if (kind !== 'BEGUN') throw unexpected('begin-queued', kind);
  const made = [runId ?? '', turn ?? 0, messageId ?? '', startSequence ?? 0, ''];
  return {
    kind: 'begun',
    run: toRun(made, { sessionId, agent: String(agent), now }),
    ...(tenant !== '' && { tenant: String(tenant) }),
  };
}

export function toEditQueuedResult([kind]: ScriptReply): EditQueuedResult {
  if (kind === 'EDITED') return { kind: 'edited' };
  if (kind === 'STALE') return { kind: 'stale' };
  if (kind === 'NOT_QUEUED') return { kind: 'not_queued' };
  throw unexpected('edit-queued', kind);
}

/** A run that ended elsewhere has nothing more to do, whatever its last step had left. */
function doneOrSuperseded(
  outcome: string | number | undefined,
  status: string | number | undefined,
): { kind: 'done'; outcome: StepOutcome } | { kind: 'superseded' } {
  // A run that goes on behind earlier steps knows nothing of what they left.
  if (outcome === '') return { kind: 'superseded' };
  const parsed = parse(outcome) as StepOutcome;
  const ended = isTerminal(String(status) as RunStatus);
  return ended && parsed.kind !== 'ended'
    ? { kind: 'superseded' }
    : { kind: 'done', outcome: parsed };
}

export function toClaimResult(reply: ScriptReply): ClaimResult {
  const [kind, a, b, failures, messageId, born, used, calls] = reply;
  switch (kind) {
    case 'CLAIMED': {
      const usage = parseUsage(String(used));
      return {
        kind: 'claimed',
        rowCount: Number(a),
        sequence: Number(b),
        failures: Number(failures),
        messageId: String(messageId),
        born: String(born),
        ...(usage !== undefined && { usage }),
        ...(calls !== '' && { usedCalls: (parse(calls) as string[]).sort() }),
      };
    }
    case 'DONE':
      return doneOrSuperseded(a, b);
    case 'STOPPED':
      return { kind: 'stopped', stop: parse(a) as StopRequest };
    case 'SUPERSEDED':
      return { kind: 'superseded' };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'NOT_READY':
      return { kind: 'not_ready' };
    case 'REWOUND':
      return { kind: 'rewound' };
    default:
      throw unexpected('claim', kind);
  }
}

export function toDiscardResult([kind, failures]: ScriptReply): DiscardResult {
  if (kind === 'DISCARDED') return { kind: 'discarded', failures: Number(failures) };
  if (kind === 'SUPERSEDED') return { kind: 'superseded' };
  if (kind === 'FENCED') return { kind: 'fenced' };
  throw unexpected('discard', kind);
}

export function toCommitResult([kind, a, b, next]: ScriptReply): CommitResult {
  switch (kind) {
    case 'COMMITTED':
      return {
        kind: 'committed',
        sequence: Number(a),
        paused: b === 1,
        ...(next === 1 && { next: true }),
      };
    case 'STEERED':
      return { kind: 'steered', sequence: Number(a) };
    case 'DONE':
      return doneOrSuperseded(a, b);
    case 'STOPPED':
      return { kind: 'stopped', stop: parse(a) as StopRequest };
    case 'SUPERSEDED':
      return { kind: 'superseded' };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'REWOUND':
      return { kind: 'rewound' };
    default:
      throw unexpected('commit', kind);
  }
}

export function toStopResult([kind, runId, next]: ScriptReply): StopResult {
  if (kind === 'NOTHING') return { kind: 'nothing' };
  if (kind === 'STOPPING') return { kind: 'stopping', runId: String(runId) };
  if (kind === 'ENDED') {
    return { kind: 'ended', runId: String(runId), ...(next === 1 && { next: true }) };
  }
  throw unexpected('stop', kind);
}

export function toTakeOverResult([kind, token, first]: ScriptReply): TakeOverResult {
  if (kind === 'TAKEN') return { kind: 'taken', token: Number(token), first: Number(first) };
  if (kind === 'NOTHING') return { kind: 'nothing' };
  if (kind === 'SUPERSEDED') return { kind: 'superseded' };
  throw unexpected('take-over', kind);
}

export function toEndResult([kind, status, next]: ScriptReply): EndResult {
  if (kind === 'ENDED') {
    const ended = { kind: 'ended', status: String(status) as TerminalStatus } as const;
    return { ...ended, ...(next === 1 && { next: true }) };
  }
  if (kind === 'SUPERSEDED') return { kind: 'superseded' };
  throw unexpected('end', kind);
}
