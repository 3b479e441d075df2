import type { BatchItem, BatchPageRef, BatchPart, BatchProblem } from '../protocol/batch-run.js';
import { HelixError } from '../protocol/errors.js';
import { formatApprovalId, rootOf, sessionOfRun, toShownSessionId } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import type { Responder } from '../protocol/responder.js';
import { sleep } from '../protocol/time.js';
import type { Store } from '../stores/contract/store.js';
import { logEntries, type AuditLogger } from '../stores/record/listeners.js';
import type { Runs } from './runs.js';

export interface BatchPageDeps {
  store: Pick<Store, 'audit' | 'sessions' | 'batches'>;
  runs: Pick<Runs, 'stop' | 'retry' | 'submitToolResult'>;
  logger: AuditLogger;
}

/** How the attempt is watched and cancelled. */
export interface PageWatch {
  signal: AbortSignal;
  /** Called after each item. */
  beat: () => void;
}

type Outcome = 'done' | 'skipped' | { refused: string };

const AT_ONCE = 8;

/** Refusals that mean that others were faster, or that the conversation was erased. */
const NOTHING_TO_DO = new Set([
  'not_found',
  'not_pending',
  'already_completed',
  'stale_run',
  'expired',
  'late',
  'agent_already_running',
  'nothing_to_do',
  'message_not_found',
]);

/**
 * Acts on some items of a batch. An attempt may die at any point and be repeated as a whole: every act
 * has an id of its own in the audit trail, written together with the act, so the next attempt finds
 * what was done.
 *
 * @throws HelixError `unavailable` while Redis or a rule of the host does not answer
 */
export function createBatchPage({
  store,
  runs,
  logger,
}: BatchPageDeps): (ref: BatchPageRef, watch: PageWatch) => Promise<BatchPart> {
  async function perform(ref: BatchPageRef, item: BatchItem, actId: string): Promise<Outcome> {
    const { act, actor, reason, mode = 'interrupt' } = ref;
    const { userId: by, roles, personId, via } = actor;
    const [runId, toolCallId = '', inputHash] = item;
    const sessionId = rootOf(sessionOfRun(runId));
    const how = { roles, personId, via, actId };
    if (act === 'stop') {
      const stop = await runs.stop(sessionId, { mode, runId, reason, by, ...how });
      return stop.kind === 'nothing' ? 'skipped' : 'done';
    }
    if (act === 'retry') {
      await runs.retry({ sessionId, runId, reason, by, ...how });
      return 'done';
    }
    const result = await runs.submitToolResult(
      {
        kind: 'approval-response',
        sessionId,
        toolCallId,
        by,
        reason,
        approvalId: formatApprovalId(runId, toolCallId),
        inputHash,
        approved: act === 'approve',
      },
      { actor: how, responder: toResponder(actor) },
    );
    return result.kind === 'stored' ? 'done' : outcomeOf(result.kind);
  }

  /** Whether an earlier attempt has done it. */
  async function wasDone(ref: BatchPageRef, [runId]: BatchItem, actId: string): Promise<boolean> {
    logEntries(logger, await store.audit.relay(rootOf(sessionOfRun(runId))));
    return store.audit.knows(ref.actor.tenantId, actId);
  }

  async function actOn(ref: BatchPageRef, item: BatchItem, n: number): Promise<Outcome> {
    const actId = `${toShownSessionId(ref.batchId)}.${String(n)}`;
    let outcome: Outcome;
    try {
      outcome = await perform(ref, item, actId);
    } catch (error) {
      if (!HelixError.isInstance(error)) {
        logger.warn({ err: error, runId: item[0] }, 'an act of a batch failed');
        outcome = { refused: 'internal_error' };
      } else if (error.code === 'unavailable') throw error;
      else outcome = outcomeOf(error.code);
    }
    if (outcome === 'done') return outcome;
    return (await wasDone(ref, item, actId)) ? 'done' : outcome;
  }

  return async (ref, { signal, beat }) => {
    const part = { tried: 0, done: 0, skipped: 0, failed: 0, problems: [] as BatchProblem[] };
    const wait = createPace(ref.rps, signal);
    /** One act could not be decided: the attempt fails, and the next one begins with the first item. */
    let hasFailed = false;
    const isOver = (): boolean => signal.aborted || hasFailed;
    const lane = async (): Promise<void> => {
      for (;;) {
        const n = part.tried;
        const item = ref.items[n];
        if (item === undefined || isOver()) return;
        part.tried += 1;
        await wait();
        // Turns come in the order of the items, so those that were tried come first.
        if (isOver()) {
          part.tried -= 1;
          return;
        }
        const outcome = await actOn(ref, item, ref.first + n).catch((error: unknown) => {
          hasFailed = true;
          throw error;
        });
        if (typeof outcome === 'string') part[outcome] += 1;
        else {
          part.failed += 1;
          if (part.problems.length < LIMITS.batchProblems) {
            part.problems.push({ target: targetOf(item), code: outcome.refused });
          }
        }
        beat();
      }
    };
    const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
    // No act is under way any more that the next attempt would meet.
    for (const each of lanes) if (each.status === 'rejected') throw each.reason;
    return part;
  };
}

/** Resolves so many times a second. */
function createPace(rps: number, signal: AbortSignal): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = Date.now();
    const at = Math.max(next, now);
    next = at + 1_000 / rps;
    if (at > now) await sleep(at - now, signal);
  };
}

function outcomeOf(code: string): Outcome {
  return NOTHING_TO_DO.has(code) ? 'skipped' : { refused: code };
}

function targetOf([runId, toolCallId]: BatchItem): string {
  return toolCallId === undefined ? runId : formatApprovalId(runId, toolCallId);
}

function toResponder(actor: BatchPageRef['actor']): Responder {
  const { userId, tenantId, roles, personId, isEveryone } = actor;
  return {
    userId,
    ...(tenantId !== undefined && { tenantId }),
    ...(roles !== undefined && { roles }),
    ...(personId !== undefined && { personId }),
    ...(isEveryone === true && { isEveryone }),
  };
}
