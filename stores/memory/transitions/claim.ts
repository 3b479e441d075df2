import { isTerminal } from '../../../protocol/run.js';
import { runNumberOf } from '../../../protocol/ids.js';
import type { ClaimInput, ClaimResult } from '../../contract/steps.js';
import { discardAttempt, ownWriter } from '../attempts.js';
import { hasUnsettledCalls, takeInNotices, takeInResults } from '../calls.js';
import { fromJson } from '../json.js';
import { outcomeOf } from '../outcome.js';
import { speakerOf } from '../own-chunks.js';
import { waitsForOthers } from '../pause.js';
import { takeSteering } from '../queue.js';
import type { MemorySession } from '../session.js';

/**
 * Makes a model writer the owner of its step; withdraws what earlier attempts left,
 * or takes in messages that steer the run.
 */
export function claim(session: MemorySession, { writer, known, now }: ClaimInput): ClaimResult {
  const { run, log } = session;
  const { runId, name, token, step } = writer;
  if (run?.runId === runId && run.committedStep >= step) return outcomeOf(run);
  if (log.sequence < known || session.runCount < runNumberOf(runId)) return { kind: 'rewound' };
  if (run?.runId !== runId || isTerminal(run.status)) return { kind: 'superseded' };
  if (run.stop !== undefined) return { kind: 'stopped', stop: fromJson(run.stop) };
  const owner = session.writers.get(name)?.token ?? 0;
  if (owner > token) return { kind: 'fenced' };
  if (run.committedStep !== step - 1) return { kind: 'rewound' };
  if (hasUnsettledCalls(session) || waitsForOthers(session)) return { kind: 'not_ready' };

  if (owner < token) {
    takeInResults(session);
    takeInNotices(session);
    if (owner > 0) discardAttempt(session, speakerOf(writer, now), name, 'attempt_lost');
    else takeSteering(session, run, speakerOf(writer, now));
    ownWriter(session, name, token);
    session.busy.add('model');
    session.root.stream = 'active';
    session.root.updatedAt = now;
    session.root.wakes.delete(session.id);
    session.updatedAt = now;
    run.status = 'running';
    run.claimedStep = step;
    run.resume = undefined;
    run.resumeTaken = false;
  }
  return {
    kind: 'claimed',
    rowCount: session.rows.length,
    sequence: log.sequence,
    failures: session.failures.get(step) ?? 0,
    messageId: run.messageId,
    born: session.identity?.born ?? '',
    ...(session.isRewound &&
      session.settled.size > 0 && { usedCalls: [...session.settled].sort() }),
    ...(run.usage !== undefined && { usage: { ...run.usage } }),
  };
}
