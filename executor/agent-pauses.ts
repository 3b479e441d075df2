import type { Actor } from '../protocol/actor.js';
import { isTerminal } from '../protocol/run.js';
import { HelixError } from '../protocol/errors.js';
import { sessionOfRun } from '../protocol/ids.js';
import type { HeldCount, HeldRun, Pause, PauseScope, Pauses } from '../stores/contract/pauses.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import { toAct } from '../stores/record/acts.js';
import { logEntries, type AuditLogger } from '../stores/record/relay-after-acts.js';

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
  logger: AuditLogger;
}

/** Runs that are started within this time after their agent was resumed. */
const PACE = { most: 20, everyMs: 1_000 };
/** The lease stands beside those of the sweeper's shards. */
const LEASE = -1;

/** One look for held runs whose agents were resumed: they start in their order, 20 a second. */
export function createRelease(deps: ReleaseDeps): () => Promise<void> {
  const { pauses, store, startRun, holder, logger } = deps;
  return async () => {
    if (!(await store.due.lease(LEASE, holder, PACE.everyMs))) return;
    for (const held of await pauses.released(PACE.most)) {
      const record = await store.sessions.read(sessionOfRun(held.runId));
      // It was stopped or erased meanwhile, or another run is the newest.
      if (record?.runId === held.runId && !isTerminal(record.status)) {
        try {
          await startRun(record);
        } catch (error) {
          // Temporal is away: it keeps its place.
          if (HelixError.isInstance(error) && error.code === 'unavailable') return;
          logger.warn({ err: error, runId: held.runId }, 'a held run could not be started');
        }
      }
      await pauses.drop(held);
    }
  };
}
