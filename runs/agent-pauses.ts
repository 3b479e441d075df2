import type { Actor } from '../protocol/actor.js';
import { isTerminal } from '../protocol/run.js';
import { hasCode } from '../protocol/errors.js';
import { sessionOfRun } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import type { HeldCount, HeldRun, Pause, PausedAgent, Pauses } from '../store/contract/pauses.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';
import { toAct } from './record/acts.js';
import { logEntries, type AuditLogger } from './record/listeners.js';

export interface PauseRequest extends PausedAgent, Actor {
  by: string;
  reason?: string | undefined;
}

/**
 * Pauses of agents. Active and waiting runs continue. New ones, retries and resumptions included,
 * are begun in the record and start when the agent is resumed.
 */
export interface AgentPauses {
  /** Records the pause before it takes effect. False if the agent was paused before. */
  pause: (request: PauseRequest) => Promise<boolean>;
  /** False if the agent had no such pause. */
  resume: (request: PauseRequest) => Promise<boolean>;
  list: () => Promise<Pause[]>;
  held: () => Promise<HeldCount[]>;
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

export function toHeld({ runId, agent, tenant, runStartedAt }: SessionRecord): HeldRun {
  return { runId, agent, tenant, startedAt: runStartedAt };
}

/** Rate at which held runs start once their agent is resumed. */
const PACE = { max: 20, everyMs: 1_000 };
/** A look drops up to this many entries of runs that ended meanwhile. */
const MAX_SEEN = 1_000;
const AGAIN_MS = 15_000;
/** Number of the lease, which no shard of the sweeper has. */
const LEASE = -1;

/** Creates a look for held runs of resumed agents: it starts them in order, 20 a second. */
export function createRelease(deps: {
  pauses: Pauses;
  store: Pick<Store, 'sessions' | 'due'>;
  startRun: (record: SessionRecord) => Promise<void>;
  /** Name of this process; one process at a time releases runs. */
  holder: string;
  /** A released run whose starts fail for this long is left to the sweeper, which ends it. */
  startWithinMs?: number | undefined;
  logger: AuditLogger;
}): () => Promise<void> {
  const { pauses, store, startRun, holder, logger } = deps;
  const { startWithinMs = LIMITS.startWithinMs } = deps;
  /** Time of each run's first failed start in this process; the pause does not count. */
  const failing = new Map<string, number>();

  /** Returns false while Temporal is away; the run keeps its place. */
  async function start(held: HeldRun, record: SessionRecord): Promise<boolean> {
    try {
      await startRun(record);
    } catch (error) {
      if (hasCode(error, 'unavailable')) return false;
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

  /** Returns undefined for a run that was stopped, erased or replaced meanwhile. */
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
    for (let seen = 0; seen < MAX_SEEN && starts < PACE.max;) {
      const page = await pauses.released(PACE.max - starts);
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
