import { randomUUID } from 'node:crypto';
import { AgentNotFoundError } from '../../agents/index.js';
import type { Runs } from '../../runs/runs.js';
import { createRelease } from '../../runs/agent-pauses.js';
import { createSweep } from '../../runs/sweep.js';
import { HelixError } from '../../protocol/errors.js';
import { isTerminal, type RunError } from '../../protocol/run.js';
import type { Store } from '../../store/contract/store.js';
import type { AuditLogger } from '../../runs/record/listeners.js';
import { DUE_SHARDS } from '../../store/contract/due.js';
import type { LocalRuns } from './local-runs.js';

const INTERVAL_MS = 1_000;
/** Sessions per read of the due list. */
const PAGE = 100;
const AGENT_UNKNOWN: RunError = {
  code: 'agent_not_found',
  message: "This conversation's agent is not available.",
  retryable: false,
};

export interface Upkeep {
  /**
   * Revives every session of the due list; returns the number of sessions with a run. A run with an unknown
   * agent is ended; a run that fails otherwise stays in the record.
   *
   * @throws HelixError `unavailable` while the store is away
   */
  recover: (revive: (sessionId: string) => Promise<boolean>) => Promise<number>;
  stop: () => void;
}

/**
 * Removes ended sessions from the due list, completes erasures, and starts runs whose paused agents were
 * resumed. Its timer does not keep the process alive.
 */
export function createUpkeep({
  store,
  runs,
  local,
  logger,
}: {
  store: Pick<Store, 'due' | 'waiting' | 'owners' | 'audit' | 'sessions' | 'pauses' | 'files'>;
  runs: Runs;
  local: LocalRuns;
  logger: AuditLogger;
}): Upkeep {
  const holder = randomUUID();
  const { startRun, endLost } = runs;
  const pauses = store.pauses.of(local.fleet);
  const sweep = createSweep({ store, runs, holder, logger });
  const release = createRelease({ pauses, store, startRun, holder, logger });
  let isAtWork = false;
  const timer = setInterval(() => {
    if (isAtWork) return;
    isAtWork = true;
    Promise.all([sweep(), release()])
      .catch((error: unknown) => {
        logger.warn({ err: error, fleet: local.fleet }, 'sweep failed');
      })
      .finally(() => {
        isAtWork = false;
      });
  }, INTERVAL_MS).unref();

  async function endOfUnknown(sessionId: string): Promise<void> {
    const record = await store.sessions.read(sessionId);
    if (record !== undefined && !isTerminal(record.status)) await endLost(record, AGENT_UNKNOWN);
  }

  return {
    recover: async (revive) => {
      let found = 0;
      for (const sessionId of await listAll(store.due)) {
        try {
          if (await revive(sessionId)) found += 1;
        } catch (error) {
          if (HelixError.isInstance(error) && error.code === 'unavailable') throw error;
          // One failing run must not prevent the recovery of the others.
          logger.warn({ err: error, sessionId }, 'a run could not be carried on');
          if (error instanceof AgentNotFoundError) await endOfUnknown(sessionId);
        }
      }
      return found;
    },
    stop: () => {
      clearInterval(timer);
    },
  };
}

/** Reads all due sessions up front, because reviving one moves sessions between the shards' lists. */
async function listAll(due: Store['due']): Promise<ReadonlySet<string>> {
  const all = new Set<string>();
  for (let shard = 0; shard < DUE_SHARDS; shard += 1) {
    for (const list of ['urgent', 'routine'] as const) {
      for (let from = 0; ; from += PAGE) {
        const page = await due.listed(list, shard, from, PAGE);
        for (const sessionId of page) all.add(sessionId);
        if (page.length < PAGE) break;
      }
    }
  }
  return all;
}
