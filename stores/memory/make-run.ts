import type { UserMessage, BeginInput, RunRecord } from '../contract/runs.js';
import { takeInNotices } from './calls.js';
import { trimLog } from './log.js';
import { writeOwn } from './own-chunks.js';
import { storeMessages } from './queue.js';
import type { MemorySession, StoreContext } from './session.js';
import { formatNextRunId, startRun } from './start-run.js';

interface NewRun {
  agent: string;
  nonce: string;
  now: number;
  messages: readonly UserMessage[];
  /** True if they had to wait: followers are told that their turn begins. */
  waited: boolean;
  /** Present when they were given to go on after a run that has ended. */
  resumed?: BeginInput['resumed'];
}

/** Makes a turn and its run for user messages. */
export function makeRun(session: MemorySession, input: NewRun, context: StoreContext): RunRecord {
  const { agent, nonce, now, messages } = input;
  takeInNotices(session);
  const startRow = session.rows.length;
  storeMessages(session, messages);
  trimOldTurns(session, context);
  const startSequence = session.log.sequence;
  const messageId = `msg-${String(session.visibleMessages)}`;
  const runId = formatNextRunId(session, nonce);
  const who = { agentId: session.id, agentType: agent, step: 0, now };
  if (input.waited) {
    const messageIds = messages.map(({ id }) => id);
    writeOwn(session, who, 'turn_started', { runId, messageId, messageIds, reason: 'queue' });
  }
  if (input.resumed !== undefined) {
    writeOwn(session, who, 'run_resumed', {
      runId,
      fromCheckpointId: session.checkpointId ?? null,
      fromStepCount: session.run?.committedStep ?? 0,
      mode: 'with_message',
    });
  }
  const { turn } = startRun(session, {
    nonce,
    mode: input.resumed === undefined ? 'new' : 'with_message',
    by: input.resumed?.by,
    turn: (session.run?.turn ?? 0) + 1,
    messageId,
    startSequence,
    startRow,
    runSequence: startSequence,
    fromStep: 0,
    hasReplied: false,
    startedAt: now,
  });
  return { sessionId: session.id, runId, agent, turn, messageId, startSequence, startedAt: now };
}

/** Whole old turns only; the turn before this one stays, somebody may be reading its end. */
function trimOldTurns({ log, run }: MemorySession, { maxEntries }: StoreContext): void {
  if (maxEntries > 0 && log.entries.length > maxEntries) trimLog(log, run?.startSequence ?? 0);
}
