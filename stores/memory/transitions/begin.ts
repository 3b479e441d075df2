import { isTerminal } from '../../../protocol/run.js';
import type { BeginInput, BeginResult, UserMessage } from '../../transitions.js';
import { hasUnsettledCalls, takeInNotices } from '../calls.js';
import { keepForEver } from '../expiry.js';
import { finish } from '../finish.js';
import { toJson } from '../json.js';
import { trimLog } from '../log.js';
import type { MemoryRun, MemorySession, StoreContext } from '../session.js';

/** Accepts user messages and makes a run for them; the only transition that creates a session. */
export function begin(
  session: MemorySession,
  input: BeginInput,
  context: StoreContext,
): BeginResult {
  const { identity, accepted } = session;
  if (identity !== undefined) {
    const isForeign = identity.owner !== input.owner || identity.tenant !== (input.tenant ?? '');
    if (isForeign) return { kind: 'foreign' };
    if (identity.agent !== input.agent) return { kind: 'agent_mismatch', agent: identity.agent };
  }
  const changed = input.messages.find(({ id, hash }) => (accepted.get(id) ?? hash) !== hash);
  if (changed !== undefined) return { kind: 'conflict', messageId: changed.id };
  const fresh = input.messages.filter(({ id }) => !accepted.has(id));
  if (fresh.length === 0) return { kind: 'accepted' };

  const previous = session.run;
  const isAbandoned = previous !== undefined && !isTerminal(previous.status);
  if (isAbandoned) {
    if (session.stream !== 'paused' || !hasUnsettledCalls(session)) return { kind: 'busy' };
    abandon(session, previous, input, context);
  }
  takeInNotices(session);
  const startRow = session.rows.length;
  accept(session, fresh);
  trimOldTurns(session, context);
  keepForEver(session);
  const run = startRun(session, input, startRow);
  return {
    kind: 'begun',
    run: {
      sessionId: session.id,
      runId: run.runId,
      agent: input.agent,
      turn: run.turn,
      messageId: run.messageId,
      startSequence: run.startSequence,
      startedAt: run.startedAt,
      ...(isAbandoned && { supersededRunId: previous.runId }),
    },
  };
}

/** Results that were given are kept, the rest is settled; the new message follows. */
function abandon(
  session: MemorySession,
  run: MemoryRun,
  { agent, now }: BeginInput,
  context: StoreContext,
): void {
  const who = { agentId: session.id, agentType: agent, step: run.committedStep, now };
  const ending = { status: 'interrupted', reason: 'abandoned' } as const;
  finish(session, run, who, { ...ending, code: 'client_tool_abandoned' }, context);
}

function accept(session: MemorySession, messages: readonly UserMessage[]): void {
  for (const { id, hash, row, hidden } of messages) {
    session.rows.push(toJson(row));
    session.accepted.set(id, hash);
    if (!hidden) session.visibleMessages += 1;
  }
}

/** Whole old turns only; the turn before this one stays, somebody may be reading its end. */
function trimOldTurns({ log, run }: MemorySession, { maxEntries }: StoreContext): void {
  if (maxEntries > 0 && log.entries.length > maxEntries) trimLog(log, run?.startSequence ?? 0);
}

function startRun(session: MemorySession, input: BeginInput, startRow: number): MemoryRun {
  const { agent, owner, tenant = '', nonce, now } = input;
  session.identity ??= { agent, owner, tenant, createdAt: now, born: nonce };
  session.runCount += 1;
  const run: MemoryRun = {
    runId: `${session.id}:${String(session.runCount)}-${nonce}`,
    turn: (session.run?.turn ?? 0) + 1,
    messageId: `msg-${String(session.visibleMessages)}`,
    startSequence: session.log.sequence,
    startRow,
    startedAt: now,
    status: 'starting',
    committedStep: 0,
    claimedStep: 0,
    hasReplied: false,
    resumeTaken: false,
    subAgents: 0,
  };
  session.run = run;
  session.stream = 'active';
  session.streamError = undefined;
  session.snapshot = undefined;
  session.pauseSequence = run.startSequence;
  session.updatedAt = now;
  session.busy.clear();
  session.writers.clear();
  session.failures.clear();
  return run;
}
