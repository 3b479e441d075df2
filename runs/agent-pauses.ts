import type { Actor } from '../protocol/actor.js';
import { isTerminal } from '../protocol/run.js';
import { HelixError } from '../protocol/errors.js';
import { sessionOfRun } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import type { HeldCount, HeldRun, Pause, PauseScope, Pauses } from '../store/contract/pauses.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';
import { toAct } from './record/acts.js';
import { logEntries, type AuditLogger } from './record/listeners.js';

/** Who pauses or resumes an agent, and why. */
export interface PauseRequest extends PauseScope, Omit<Actor, 'by'> {
  by: string;
  reason?: string | undefined;
}

/**
 * Paused agents. Runs that are active or wait for people continue; new ones, retries and resumptions
 * included, are begun in the record and start when the agent is resumed.
 */
export interface AgentPauses {
  /** Recorded before it takes effect. False if the agent was paused before. */
  pause: (request: PauseRequest) => Promise<boolean>;
  /** False if the agent was not paused so. */
  resume: (request: PauseRequest) => Promise<boolean>;
  list: () => Promise<Pause[]>;
  held: () => Promise<HeldCount[]>;
  /** True for a run that waits for its agent to be resumed. */
  isHeld: (record: SessionRecord) => Promise<boolean>;
}

export interface AgentPausesDeps {
  pauses: Pauses;
  store: Pick<Store, 'audit'>;
  logger: AuditLogger;
}

export function createAgentPauses({ pauses, store, logger }: AgentPausesDeps): AgentPauses {
  async function note(action: 'pause' | 'unpause', request: PauseRequest): Promise<void> {
    const { agent, everywhere, tenant, reason, ...actor } = request;
    const detail = { agent, everywhere };
    const act = toAct(action, actor, { tenant, reason, detail });
    logEntries(logger, await store.audit.record(act, {}));
  }

  return {
    pause: async (request) => {
      await note('pause', request);
      const { agent, everywhere, tenant, by, reason } = request;
      return pauses.set({ agent, everywhere, tenant, by, reason, at: Date.now() });
    },
    resume: async (request) => {
      await note('unpause', request);
      const { agent, everywhere, tenant } = request;
      return pauses.clear({ agent, everywhere, tenant });
    },
    list: pauses.list,
    held: pauses.held,
    isHeld: async (record) => record.status === 'starting' && pauses.isHeld(toHeld(record)),
  };
}

/** The newest run of a session. */
export function toHeld({ runId, agent, tenant, runStartedAt }: SessionRecord): HeldRun {
  return { runId, agent, tenant, startedAt: runStartedAt };
}

export interface ReleaseDeps {
  pauses: Pauses;
  store: Pick<Store, 'sessions' | 'due'>;
  /** Starts the workflow of a session's newest run. */
  startRun: (record: SessionRecord) => Promise<void>;
  /** Names this process: one at a time releases. */
  holder: string;
  /** Runs whose starts fail for this long after their release are left to the sweeper, which ends them. */
  startWithinMs?: number | undefined;
  logger: AuditLogger;
}

/** Runs that are started within this time after their agent was resumed. */
const PACE = { most: 20, everyMs: 1_000 };
/** Entries of runs that ended meanwhile are dropped without a start; a look drops up to this many. */
const MOST_SEEN = 1_000;
/** A run whose start failed is tried again after this long. */
const AGAIN_MS = 15_000;
/** The lease stands beside those of the sweeper's shards. */
const LEASE = -1;

/** One look for held runs whose agents were resumed: they start in their order, 20 a second. */
export function createRelease(deps: ReleaseDeps): () => Promise<void> {
  const { pauses, store, startRun, holder, logger } = deps;
  const { startWithinMs = LIMITS.startWithinMs } = deps;
  /** When this process failed first to start them: how long a run was held does not count. */
  const failing = new Map<string, number>();

  /** False while Temporal is away: the run keeps its place. */
  async function start(held: HeldRun, record: SessionRecord): Promise<boolean> {
    try {
      await startRun(record);
    } catch (error) {
      if (HelixError.isInstance(error) && error.code === 'unavailable') return false;
      logger.warn({ err: error, runId: held.runId }, 'a held run could not be started');
      const now = Date.now();
      const since = failing.get(held.runId) ?? now;
      if (now - since <= startWithinMs) {
        failing.set(held.runId, since);
        await pauses.postpone(held, now + AGAIN_MS);
        return true;
      }
    }
    failing.delete(held.runId);
    await pauses.drop(held);
    return true;
  }

  /** Undefined for one that was stopped or erased meanwhile, or is not the newest of its session. */
  async function stillHeld(held: HeldRun): Promise<SessionRecord | undefined> {
    const record = await store.sessions.read(sessionOfRun(held.runId));
    if (record?.runId === held.runId && !isTerminal(record.status)) return record;
    failing.delete(held.runId);
    await pauses.drop(held);
    return undefined;
  }

  return async () => {
    if (!(await store.due.lease(LEASE, holder, PACE.everyMs))) return;
    let starts = 0;
    for (let seen = 0; seen < MOST_SEEN && starts < PACE.most;) {
      const page = await pauses.released(PACE.most - starts);
      if (page.length === 0) return;
      seen += page.length;
      const records = await Promise.all(page.map(stillHeld));
      for (const [n, held] of page.entries()) {
        const record = records[n];
        if (record === undefined) continue;
        if (!(await start(held, record))) return;
        starts += 1;
      }
    }
  };
}
