import { createHash } from 'node:crypto';
import type { Actor } from '../protocol/actor.js';
import { HelixError, type ErrorCode } from '../protocol/errors.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';
import type { Branching } from './branch.js';
import { newNonce } from './starts.js';
import type { Runs } from './runs.js';
import { isUncontinued } from './sweep-session.js';

export interface ForkDeps {
  store: Pick<Store, 'sessions' | 'runs'>;
  branch: Branching;
  resume: Runs['resume'];
  deleteSession: Runs['deleteSession'];
  logger: { warn: (fields: object, message: string) => void };
}

export interface Forking extends Pick<Runs, 'fork'> {
  /**
   * Continues a fork's copy whose process died before it did so.
   *
   * @returns false for a copy that may not run yet, and is kept
   */
  continueCopy: (record: SessionRecord) => Promise<boolean>;
}

type Act = Actor & { reason?: string | undefined };

/** Refusals that pass with time. */
const PASSES = new Set<ErrorCode>(['quota_exceeded', 'budget_exceeded']);

/**
 * Forks a run: copies the conversation, then resumes the copy. If the process dies in between, the
 * sweeper continues the copy, and so does a repeat of the request with its key.
 */
export function createForks({ store, branch, resume, deleteSession, logger }: ForkDeps): Forking {
  const { sessions, runs } = store;

  /** @throws HelixError what `resume` throws */
  async function resumeCopy(
    { sessionId, runId }: Pick<SessionRecord, 'sessionId' | 'runId'>,
    actor: Act,
  ): Promise<string> {
    const result = await resume({ sessionId, runId, mode: 'with_confirmation', ...actor });
    return result.kind === 'resumed' ? result.run.runId : result.runId;
  }

  /**
   * Erases a copy whose run was refused: no run would continue it, and its id would be taken for a
   * repeat.
   *
   * @returns the run of a copy that was continued after all
   * @throws HelixError the refusal
   */
  async function dropRefused(sessionId: string, actor: Act, error: unknown): Promise<string> {
    // After an outage the run may have begun; the sweeper checks.
    if (!HelixError.isInstance(error) || error.code === 'unavailable') throw error;
    const record = await sessions.read(sessionId);
    if (record !== undefined && !isUncontinued(record)) return record.runId;
    await deleteSession(sessionId, actor).catch((err: unknown) => {
      logger.warn({ err, sessionId }, 'a copy without a run is left');
    });
    throw error;
  }

  return {
    fork: async ({ key, runId, step, reason, ...copy }) => {
      const { newSessionId, by, roles, via } = copy;
      const nonce = key === undefined ? newNonce() : toNonce(key, step);
      let made = await sessions.read(newSessionId);
      if (made === undefined || !(await isCopyOf(made, nonce))) {
        await branch({ ...copy, fork: { runId, step }, nonce });
        made = await sessions.read(newSessionId);
      }
      if (made === undefined) throw new HelixError('not_found', 'The copy was erased.');
      const actor = { by, roles, via, reason };
      if (!isUncontinued(made)) return { sessionId: newSessionId, runId: made.runId };
      const begun = await resumeCopy(made, actor).catch((error: unknown) =>
        // The client gets the refusal and may retry.
        dropRefused(newSessionId, actor, error),
      );
      return { sessionId: newSessionId, runId: begun };
    },
    continueCopy: async (record) => {
      const actor = { by: record.runBy, via: 'auto' } as const;
      try {
        await resumeCopy(record, actor);
        return true;
      } catch (error) {
        // No client gets this refusal, and it passes when other runs of the owner end.
        if (HelixError.isInstance(error) && PASSES.has(error.code)) return false;
        await dropRefused(record.sessionId, actor, error);
        return true;
      }
    },
  };

  async function isCopyOf({ sessionId }: SessionRecord, nonce: string): Promise<boolean> {
    const [first] = await runs.list(sessionId);
    return first?.runId.endsWith(`:0-${nonce}`) === true;
  }
}

/** Derives the nonce, so that a repeated request makes the same copy. */
function toNonce(key: string, step: number): string {
  return createHash('sha256')
    .update(JSON.stringify([key, step]))
    .digest('hex')
    .slice(0, newNonce().length);
}
