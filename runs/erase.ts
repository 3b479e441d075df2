import type { Actor } from '../protocol/actor.js';
import { rootOf, toShownSessionId } from '../protocol/ids.js';
import type { ErasureReply } from '../protocol/replies.js';
import { isTerminal } from '../protocol/run.js';
import type { Erasure } from '../store/contract/erasures.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import { toAct } from './record/acts.js';
import { logEntries } from './record/listeners.js';
import { toHeld } from './agent-pauses.js';
import type { RunsCore } from './deps.js';

export interface Erasing {
  /**
   * Stops the session's run and erases the session with its stream, its workflows and their
   * histories. Undefined for an unknown id.
   *
   * @throws HelixError `unavailable` if a run that is active or waits cannot be reached; nothing is
   * erased then
   */
  deleteSession: (sessionId: string, by?: string | Actor) => Promise<ErasureReply | undefined>;
  /** Completes the erasures of a session id that were interrupted; false if something is left. */
  finishErasures: (sessionId: string) => Promise<boolean>;
  /** The same for all conversations of a person, and for files without a conversation. */
  finishErasuresOf: (who: SessionOwner) => Promise<boolean>;
}

/** Delay before the sweeper checks an erasure, in case this process dies. */
const CHECK_MS = 3_000;
/** The workflow of a run that was starting may appear in Temporal up to this long after the erasure. */
const APPEARS_MS = 15_000;

/**
 * Erases conversations. The change that removes a record notes the rest of the work: runs to
 * delete in Temporal, figures of the owner, the receipt. Each step can be repeated, by the sweeper
 * if this process dies.
 */
export function createErasing({ store, workflows, pauses, logger }: RunsCore): Erasing {
  const { sessions, runs, due, audit, erasures, files, owners } = store;

  /** @throws HelixError `unavailable`; it is repeated as a whole then */
  async function finish(sessionId: string, erasure: Erasure): Promise<ErasureReply> {
    const { act, starting } = erasure;
    await erasures.clear(sessionId, erasure);
    for (const fileId of erasure.files) await files.forget(sessionId, fileId);
    logEntries(logger, await audit.relay(sessionId));
    const { deleted, unknown } = await workflows.erase(sessionId, erasure);
    const mayAppear = starting !== undefined && unknown.includes(starting);
    const complete = !mayAppear || Date.now() - act.at > APPEARS_MS;
    if (complete) {
      // An erasure has one receipt, however often it is finished.
      const actor = { ...act, actId: `${act.id}-done` };
      const facts = { ...erasure.owner, detail: countsOf(erasure, deleted) };
      const receipt = toAct('erased', actor, facts, Math.max(act.at, Date.now()));
      logEntries(logger, await audit.record({ ...receipt, outcome: 'complete' }, { sessionId }));
      await erasures.done(sessionId, erasure);
    }
    return toReceipt(sessionId, erasure, { complete, workflows: deleted });
  }

  async function finishErasures(sessionId: string): Promise<boolean> {
    let isComplete = true;
    for (const erasure of await erasures.of(sessionId)) {
      const { complete } = await finish(sessionId, erasure);
      isComplete &&= complete;
    }
    return isComplete;
  }

  return {
    finishErasures,
    finishErasuresOf: async (who) => {
      let isComplete = true;
      for (const sessionId of await erasures.pending(who)) {
        const isDone = await finishErasures(sessionId).catch((error: unknown) => {
          logger.warn({ err: error, sessionId }, 'an erasure is not complete yet');
          return false;
        });
        isComplete &&= isDone;
      }
      for (const sessionId of await files.eraseUnclaimed(who)) {
        // The charge for the files ends, and the sweeper finds that nothing is left.
        await owners.fold(sessionId, who);
        if (files.reclaim !== undefined) await due.note(sessionId, 0);
      }
      return isComplete;
    },
    deleteSession: async (sessionId, who = {}) => {
      const actor: Actor = typeof who === 'string' ? { by: who } : who;
      const record = await sessions.read(sessionId);
      await due.note(rootOf(sessionId), CHECK_MS, record !== undefined);
      if (record !== undefined && !isTerminal(record.status)) {
        await runs.stop(sessionId, { mode: 'abort', reason: 'deleted', by: actor.by });
        // A starting run reads its record first, finds none and ends. Others must be within reach, but no
        // signal ends them: Temporal deletes a workflow late if it has just closed.
        if (record.status === 'starting') await pauses.drop(toHeld(record));
        else await workflows.state(record.runId);
      }
      const act = toAct('erase', actor);
      await sessions.erase(sessionId, act);
      const erasure = (await erasures.of(sessionId)).find((each) => each.act.id === act.id);
      // The record is gone; if Temporal is away, the sweeper does the rest.
      try {
        if (erasure !== undefined) return await finish(sessionId, erasure);
        await finishErasures(sessionId);
        return undefined;
      } catch (error) {
        logger.warn({ err: error, sessionId }, 'an erasure is not complete yet');
        return erasure && toReceipt(sessionId, erasure, { complete: false, workflows: 0 });
      }
    },
  };
}

function toReceipt(
  sessionId: string,
  erasure: Erasure,
  { complete, workflows }: Pick<ErasureReply, 'complete' | 'workflows'>,
): ErasureReply {
  const { at, by } = erasure.act;
  const counts = countsOf(erasure, workflows);
  return { sessionId: toShownSessionId(sessionId), at, by, complete, ...counts };
}

function countsOf({ parts, rows, entries, bytes }: Erasure, workflows: number) {
  return { sessions: 1 + parts.length, workflows, rows, entries, bytes };
}
