import type { UserMessage } from '../queued-entry.js';
import type { RunRecord } from '../transitions.js';
import { takeInNotices } from './calls.js';
import { keepForEver } from './expiry.js';
import { trimLog } from './log.js';
import { writeOwn } from './own-chunks.js';
import { storeMessages } from './queue.js';
import type { MemoryRun, MemorySession, StoreContext } from './session.js';

interface NewRun {
  agent: string;
  nonce: string;
  now: number;
  messages: readonly UserMessage[];
  /** True if they had to wait: followers are told that their turn begins. */
  waited: boolean;
}

/** Makes a turn and its run for user messages. */
export function makeRun(session: MemorySession, input: NewRun, context: StoreContext): RunRecord {
  const { agent, nonce, now, messages } = input;
  takeInNotices(session);
  const startRow = session.rows.length;
  storeMessages(session, messages);
  trimOldTurns(session, context);
  keepForEver(session);
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
  const { runId, turn, messageId, startSequence } = run;
  if (input.waited) {
    const who = { agentId: session.id, agentType: agent, step: 0, now };
    const messageIds = messages.map(({ id }) => id);
    writeOwn(session, who, 'turn_started', { runId, messageId, messageIds, reason: 'queue' });
  }
  session.run = run;
  session.stream = 'active';
  session.streamError = undefined;
  session.snapshot = undefined;
  session.pauseSequence = startSequence;
  session.updatedAt = now;
  session.busy.clear();
  session.writers.clear();
  session.failures.clear();
  return { sessionId: session.id, runId, agent, turn, messageId, startSequence, startedAt: now };
}

/** Whole old turns only; the turn before this one stays, somebody may be reading its end. */
function trimOldTurns({ log, run }: MemorySession, { maxEntries }: StoreContext): void {
  if (maxEntries > 0 && log.entries.length > maxEntries) trimLog(log, run?.startSequence ?? 0);
}
